// From C to steps. Each value is a register of all lanes; && and || leave out the lanes that they decide
// early, as if and loops do.
#include "refimpl/kernels/lane_code.hpp"

#include <algorithm>
#include <utility>

#include "checker/language/kernel_functions.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::kernels {

namespace {

using litmus::Expression;
using litmus::in_quotes;
using litmus::Source;
using litmus::Statement;
using litmus::Word;

constexpr int most_registers = 1000;

struct Symbol {
  std::string_view text;
  Calculation calculation;
  bool swapped = false;  // a > b is b < a
};
constexpr std::array symbols{
    Symbol{"+", Calculation::add},          Symbol{"-", Calculation::subtract},
    Symbol{"*", Calculation::multiply},     Symbol{"/", Calculation::divide},
    Symbol{"%", Calculation::remainder},    Symbol{"<<", Calculation::shift_left},
    Symbol{">>", Calculation::shift_right}, Symbol{"&", Calculation::bit_and},
    Symbol{"|", Calculation::bit_or},       Symbol{"^", Calculation::bit_xor},
    Symbol{"==", Calculation::equal},       Symbol{"!=", Calculation::not_equal},
    Symbol{"<", Calculation::less},         Symbol{"<=", Calculation::less_equal},
    Symbol{">", Calculation::less, true},   Symbol{">=", Calculation::less_equal, true},
};

struct Asked {
  std::string_view name;
  Identity which;
};
constexpr std::array identities{
    Asked{"get_global_id", global_id},   Asked{"get_local_id", local_id},
    Asked{"get_group_id", group_id},     Asked{"get_global_size", global_size},
    Asked{"get_local_size", local_size}, Asked{"get_num_groups", groups},
};

struct Update {
  std::string_view name;
  RmwFunction rmw;
};
// OpenCL 1.2: relaxed, and of the device.
constexpr std::array older_updates{
    Update{"atomic_add", RmwFunction::add},
    Update{"atomic_sub", RmwFunction::subtract},
    Update{"atomic_inc", RmwFunction::add},
    Update{"atomic_dec", RmwFunction::subtract},
    Update{"atomic_min", RmwFunction::minimum},
    Update{"atomic_max", RmwFunction::maximum},
    Update{"atomic_and", RmwFunction::bit_and},
    Update{"atomic_or", RmwFunction::bit_or},
    Update{"atomic_xor", RmwFunction::bit_xor},
    Update{"atomic_xchg", RmwFunction::exchange},
    Update{"atomic_cmpxchg", RmwFunction::compare_swap},
};

class Writer {
 public:
  Writer(const Source& source, const litmus::Kernel& kernel, const Names& names)
      : source_(source), kernel_(kernel), names_(names) {
    if (names.is_kernel) free_ = identity_registers;
    for (const std::string_view name : names.given) variables_.push_back({name, free_++, 0});
    most_ = std::max<int>(most_, free_);
  }

  LaneCode function(std::string name) {
    statement(kernel_.body);
    return done(std::move(name), -1);
  }
  LaneCode expression(std::size_t e) {
    const std::int16_t result = value(e);
    return done({}, result);
  }

 private:
  struct Variable {
    std::string_view name;
    std::int16_t place;
    int depth;
  };

  LaneCode done(std::string name, std::int16_t result) {
    code_.name = std::move(name);
    code_.registers = most_;
    code_.result = result;
    return std::move(code_);
  }

  [[nodiscard]] const Expression& at(std::size_t e) const { return kernel_.expressions[e]; }

  // ---- registers ----

  std::int16_t fresh(const Word& word) {
    if (free_ >= most_registers) source_.fail(word.place, "a function has too many variables");
    const std::int16_t place = free_++;
    most_ = std::max<int>(most_, free_);
    return place;
  }
  [[nodiscard]] const Variable* find_variable(std::string_view name) const {
    const auto found = std::find_if(variables_.rbegin(), variables_.rend(),
                                    [&](const Variable& v) { return v.name == name; });
    return found == variables_.rend() ? nullptr : &*found;
  }
  std::int16_t variable(const Word& word) {
    if (const Variable* v = find_variable(word.text)) return v->place;
    for (const ArrayName& array : names_.arrays) {
      if (array.name == word.text)
        source_.fail(word.place, in_quotes(word.text) + " is an array",
                     "say which element: " + array.name + "[i]");
    }
    for (const Constant& constant : names_.constants) {
      if (constant.name == word.text)
        source_.fail(word.place, in_quotes(word.text) + " is a size, which stays as it is");
    }
    std::vector<std::string> known;
    for (const Variable& v : variables_) known.emplace_back(v.name);
    for (const Constant& c : names_.constants) known.push_back(c.name);
    const std::string meant = nearest(word.text, known);
    source_.fail(
        word.place, "unknown variable " + in_quotes(word.text),
        meant.empty() ? "declare it: int " + std::string(word.text) + ";" : "did you mean '" + meant + "'?");
  }

  Step& emit(Act act, const Word& word) {
    Step& step = code_.steps.emplace_back();
    step.act = act;
    step.place = word.place;
    return step;
  }
  std::int16_t constant(std::int32_t n, const Word& word) {
    const std::int16_t to = fresh(word);
    Step& step = emit(Act::constant, word);
    step.to = to;
    step.n = n;
    return to;
  }
  std::int16_t compute(Calculation calculation, std::int16_t a, std::int16_t b, const Word& word) {
    const std::int16_t to = fresh(word);
    Step& step = emit(Act::compute, word);
    step.calculation = calculation;
    step.to = to;
    step.a = a;
    step.b = b;
    return to;
  }
  void copy(std::int16_t to, std::int16_t from, const Word& word) {
    // What comes from memory goes there at once: to copy it, the wave would have to wait for it.
    if (!code_.steps.empty() && code_.steps.back().to == from && from >= first_temporary() &&
        (code_.steps.back().act == Act::load || code_.steps.back().act == Act::update)) {
      code_.steps.back().to = to;
      return;
    }
    Step& step = emit(Act::copy, word);
    step.to = to;
    step.a = from;
  }

  // Behind all variables.
  [[nodiscard]] std::int16_t first_temporary() const {
    std::int16_t first = names_.is_kernel ? std::int16_t{identity_registers} : std::int16_t{0};
    for (const Variable& v : variables_) first = std::max(first, static_cast<std::int16_t>(v.place + 1));
    return first;
  }

  // ---- arrays ----

  struct Element {
    std::int32_t array = 0;
    std::int16_t index = 0;
  };
  Element element(std::size_t e) {
    const Expression& x = at(e);
    if (x.kind != Expression::Kind::element || at(x.operands[0]).kind != Expression::Kind::name)
      source_.fail(x.word.place, "an element of an array is wanted", "such as x[i]");
    if (!names_.is_kernel) source_.fail(x.word.place, "only kernels access memory");
    const Word& word = at(x.operands[0]).word;
    const auto found = std::find_if(names_.arrays.begin(), names_.arrays.end(),
                                    [&](const ArrayName& a) { return a.name == word.text; });
    if (found == names_.arrays.end()) {
      std::vector<std::string> known;
      for (const ArrayName& a : names_.arrays) known.push_back(a.name);
      source_.fail(word.place, "unknown array " + in_quotes(word.text), suggestion(word.text, known));
    }
    code_.meets |= found->local;
    return {static_cast<std::int32_t>(found - names_.arrays.begin()), value(x.operands[1])};
  }
  // Of "&x[i]".
  Element addressed(std::size_t e, const Word& function) {
    const Expression& x = at(e);
    if (x.kind != Expression::Kind::unary || x.word.text != "&")
      source_.fail(x.word.place, std::string(function.text) + " takes an address first", "such as &x[i]");
    return element(x.operands[0]);
  }

  // A work-group's own memory is there at once, and orders nothing else.
  void check_order(const Element& of, Order order, const Word& word) const {
    if (!names_.arrays[static_cast<std::size_t>(of.array)].local || (!acquires(order) && !releases(order)))
      return;
    source_.fail(word.place, "barriers order a work-group's own memory here, and atomics there are relaxed",
                 "say memory_order_relaxed, by " + std::string(word.text) +
                     (word.text.ends_with("_explicit") ? "" : "_explicit"));
  }

  // ---- expressions ----

  std::int16_t value(std::size_t e) {
    const Expression& x = at(e);
    switch (x.kind) {
      case Expression::Kind::number:
        return constant(source_.constant(x.word), x.word);
      case Expression::Kind::name:
        return named(x.word);
      case Expression::Kind::unary:
        return unary(x);
      case Expression::Kind::binary:
        return binary(x);
      case Expression::Kind::element: {
        const Element of = element(e);
        return load(of, x.word).to;
      }
      case Expression::Kind::call: {
        const std::int16_t result = call(x, true);
        if (result < 0) source_.fail(x.word.place, in_quotes(x.word.text) + " gives no value");
        return result;
      }
    }
    return 0;
  }
  std::int16_t named(const Word& word) {
    if (find_variable(word.text) == nullptr) {
      for (const Constant& c : names_.constants) {
        if (c.name == word.text) return constant(c.value, word);
      }
    }
    return variable(word);
  }
  std::int16_t unary(const Expression& x) {
    const std::string_view op = x.word.text;
    if (op == "*" || op == "&")
      source_.fail(x.word.place, "pointers are not supported", "arrays are accessed as x[i]");
    const std::int16_t a = value(x.operands[0]);
    if (op == "+") return a;
    if (op == "-") return compute(Calculation::subtract, constant(0, x.word), a, x.word);
    if (op == "~") return compute(Calculation::bit_xor, a, constant(-1, x.word), x.word);
    return compute(Calculation::equal, a, constant(0, x.word), x.word);
  }
  std::int16_t binary(const Expression& x) {
    const std::string_view op = x.word.text;
    if (op == "&&" || op == "||") return shortened(x, op == "&&");
    const auto found =
        std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.text == op; });
    if (found == symbols.end()) source_.fail(x.word.place, "unknown operator " + in_quotes(op));
    const std::int16_t a = value(x.operands[0]);
    const std::int16_t b = value(x.operands[1]);
    return found->swapped ? compute(found->calculation, b, a, x.word)
                          : compute(found->calculation, a, b, x.word);
  }
  // The right operand is for lanes that the left one does not decide.
  std::int16_t shortened(const Expression& x, bool both) {
    const std::int16_t result = fresh(x.word);
    const auto truth_of = [&](std::size_t e) {
      return compute(Calculation::not_equal, value(e), constant(0, x.word), x.word);
    };
    copy(result, truth_of(x.operands[0]), x.word);
    const std::int16_t undecided =
        both ? result : compute(Calculation::equal, result, constant(0, x.word), x.word);
    const std::size_t begin = code_.steps.size();
    emit(Act::begin_if, x.word).a = undecided;
    copy(result, truth_of(x.operands[1]), x.word);
    end_if(begin, x.word);
    return result;
  }
  void end_if(std::size_t begin, const Word& word) {
    code_.steps[begin].n = static_cast<std::int32_t>(code_.steps.size());
    emit(Act::end_if, word);
  }

  // ---- functions ----

  void arguments(const Expression& x, std::size_t least, std::size_t most) const {
    if (x.operands.size() >= least && x.operands.size() <= most) return;
    source_.fail(x.word.place, std::string(x.word.text) + " takes " + litmus::count_of(least, "argument") +
                                   (most > least ? " or more" : "") + ", not " +
                                   std::to_string(x.operands.size()));
  }

  // Returns its result, or -1 where it has none.
  std::int16_t call(const Expression& x, bool wanted) {
    const std::string_view name = x.word.text;
    if (name == "min" || name == "max") {
      arguments(x, 2, 2);
      const std::int16_t a = value(x.operands[0]);
      return compute(name == "min" ? Calculation::minimum : Calculation::maximum, a, value(x.operands[1]),
                     x.word);
    }
    if (name == "random" && names_.may_draw) {
      arguments(x, 1, 1);
      const std::int16_t a = value(x.operands[0]);
      const std::int16_t to = fresh(x.word);
      Step& step = emit(Act::random, x.word);
      step.to = to;
      step.a = a;
      return to;
    }
    if (name == "launch" && names_.may_launch) return launch(x);
    if (names_.is_kernel) return call_in_kernel(x, wanted);
    unknown(x);
  }
  [[noreturn]] void unknown(const Expression& x) const {
    std::vector<std::string> known{"min", "max"};
    if (names_.may_draw) known.emplace_back("random");
    if (names_.may_launch) known.emplace_back("launch");
    if (names_.is_kernel) {
      known.emplace_back("compute");
      for (const Asked& asked : identities) known.emplace_back(asked.name);
      for (const Update& update : older_updates) known.emplace_back(update.name);
      for (const litmus::Function& function : litmus::functions) {
        known.emplace_back(function.name);
        known.push_back(std::string(function.name) + "_explicit");
      }
    }
    source_.fail(x.word.place, "unknown function " + in_quotes(x.word.text), suggestion(x.word.text, known));
  }

  std::int16_t call_in_kernel(const Expression& x, bool wanted) {
    const std::string_view name = x.word.text;
    for (const Asked& asked : identities) {
      if (asked.name != name) continue;
      arguments(x, 0, 1);
      if (!x.operands.empty()) {
        const Expression& dimension = at(x.operands[0]);
        if (dimension.kind != Expression::Kind::number || dimension.word.text != "0")
          source_.fail(dimension.word.place, "work-items have one dimension", std::string(name) + "(0)");
      }
      return asked.which;
    }
    if (name == "compute") {
      arguments(x, 1, 1);
      const std::int16_t cycles = value(x.operands[0]);
      emit(Act::pass_time, x.word).a = cycles;
      return -1;
    }
    for (const Update& older : older_updates) {
      if (older.name == name) return update(x, older.rmw, Order::relaxed, Scope::agent, wanted);
    }
    const bool is_explicit = name.ends_with("_explicit");
    const std::string_view base = is_explicit ? name.substr(0, name.size() - 9) : name;
    const auto found = litmus::find_in(litmus::functions, base);
    if (found == litmus::functions.end()) unknown(x);
    switch (found->act) {
      case litmus::Act::barrier:
        code_.meets = true;
        emit(Act::barrier, x.word);
        return -1;
      case litmus::Act::fence: {
        const How how = read_how(x, base == "atomic_work_item_fence" ? 1 : 0);
        Step& step = emit(Act::fence, x.word);
        if (!acquires(how.order) && !releases(how.order))
          source_.fail(x.word.place, "a fence acquires, releases, or both");
        step.order = how.order;
        step.scope = how.scope;
        return -1;
      }
      case litmus::Act::load: {
        const How how = is_explicit ? read_how(x, 1) : How{};
        if (!is_explicit) arguments(x, 1, 1);
        if (how.order == Order::release || how.order == Order::acq_rel)
          source_.fail(x.word.place, "a load does not release", "memory_order_acquire, or relaxed");
        const Element of = addressed(x.operands[0], x.word);
        check_order(of, how.order, x.word);
        Step& step = load(of, x.word);
        step.order = how.order == Order::sc ? Order::acquire : how.order;
        step.scope = how.scope;
        return step.to;
      }
      case litmus::Act::store: {
        const How how = is_explicit ? read_how(x, 2) : How{};
        if (!is_explicit) arguments(x, 2, 2);
        if (how.order == Order::acquire || how.order == Order::acq_rel)
          source_.fail(x.word.place, "a store does not acquire", "memory_order_release, or relaxed");
        const Element of = addressed(x.operands[0], x.word);
        check_order(of, how.order, x.word);
        const std::int16_t b = value(x.operands[1]);
        Step& step = store(of, b, x.word);
        step.order = how.order == Order::sc ? Order::release : how.order;
        step.scope = how.scope;
        return -1;
      }
      case litmus::Act::rmw: {
        const How how = is_explicit ? read_how(x, 2) : How{};
        if (!is_explicit) arguments(x, 2, 2);
        return update(x, found->rmw, how.order == Order::sc ? Order::acq_rel : how.order, how.scope, wanted);
      }
      default:
        source_.fail(x.word.place, in_quotes(name) + " is not supported in kernels that are simulated",
                     "atomic_cmpxchg(&x[i], expected, desired) gives the old value");
    }
  }

  struct How {
    Order order = Order::sc;
    Scope scope = Scope::agent;
  };
  template <class Table>
  [[nodiscard]] const auto& named_in(const Table& table, const Word& word, const std::string& thing) const {
    static_cast<void>(source_.one_of(word, thing, litmus::names_of(table)));
    return *litmus::find_in(table, word.text);
  }
  // The order and the scope behind so many arguments.
  How read_how(const Expression& x, std::size_t behind) const {
    arguments(x, behind + 1, behind + 2);
    How how;
    how.order = named_in(litmus::orders, at(x.operands[behind]).word, "memory order").order;
    if (x.operands.size() > behind + 1)
      how.scope = named_in(litmus::scopes, at(x.operands[behind + 1]).word, "memory scope").scope;
    return how;
  }

  std::int16_t update(const Expression& x, RmwFunction rmw, Order order, Scope scope, bool wanted) {
    const bool counts = x.word.text == "atomic_inc" || x.word.text == "atomic_dec";
    const bool swaps = rmw == RmwFunction::compare_swap;
    if (!x.word.text.ends_with("_explicit")) {
      const std::size_t needed = counts ? 1 : swaps ? 3 : 2;
      arguments(x, needed, needed);
    }
    const Element of = addressed(x.operands[0], x.word);
    check_order(of, order, x.word);
    const std::int16_t b = counts ? constant(1, x.word) : value(x.operands[1]);
    const std::int16_t c = swaps ? value(x.operands[2]) : std::int16_t{-1};
    const std::int16_t to = wanted ? fresh(x.word) : std::int16_t{-1};
    Step& step = emit(Act::update, x.word);
    step.rmw = rmw;
    step.order = order;
    step.scope = scope;
    step.to = to;
    step.a = of.index;
    step.b = b;
    step.c = c;
    step.n = of.array;
    return to;
  }

  std::int16_t launch(const Expression& x) {
    if (x.operands.size() < 3)
      source_.fail(x.word.place,
                   "launch takes a kernel, how many work-items, and how many of them a work-group has",
                   "such as launch(copy, n, 256)");
    const Word& word = at(x.operands[0]).word;
    const auto found = std::find(names_.kernels.begin(), names_.kernels.end(), word.text);
    if (found == names_.kernels.end())
      source_.fail(word.place, "unknown kernel " + in_quotes(word.text),
                   suggestion(word.text, names_.kernels));
    const auto number = static_cast<std::size_t>(found - names_.kernels.begin());
    if (x.operands.size() - 3 != names_.parameters[number]) {
      source_.fail(word.place, std::string(word.text) + " has " +
                                   litmus::count_of(names_.parameters[number], "parameter") + ", not " +
                                   std::to_string(x.operands.size() - 3));
    }
    std::vector<std::int16_t> values;
    for (std::size_t i = 1; i < x.operands.size(); ++i) values.push_back(value(x.operands[i]));
    const std::int16_t first = free_;
    for (std::size_t i = 2; i < values.size(); ++i) copy(fresh(x.word), values[i], x.word);
    Step& step = emit(Act::launch, x.word);
    step.n = static_cast<std::int32_t>(number);
    step.a = values[0];
    step.b = values[1];
    step.c = values.size() > 2 ? first : std::int16_t{-1};
    return -1;
  }

  // ---- statements ----

  void statement(std::size_t number) {
    const Statement& s = kernel_.statements[number];
    const std::int16_t before = free_;
    switch (s.kind) {
      case Statement::Kind::block: {
        // Of "int a, b;" too, whose variables are for the statements behind.
        const bool scoped = s.word.text == "{";
        const std::size_t known = variables_.size();
        if (scoped) ++depth_;
        for (const std::size_t inner : s.statements) statement(inner);
        if (!scoped) return;
        --depth_;
        variables_.resize(known);
        break;
      }
      case Statement::Kind::declare:
        declare(s);
        return;  // the variable's register stays
      case Statement::Kind::evaluate: {
        const Expression& x = at(s.expressions[0]);
        if (x.kind == Expression::Kind::call) {
          static_cast<void>(call(x, false));
        } else {
          static_cast<void>(value(s.expressions[0]));
        }
        break;
      }
      case Statement::Kind::assign:
        assign(s);
        break;
      case Statement::Kind::step: {
        const Word& word = s.word;
        change(
            s.expressions[0], word.text == "++" ? Calculation::add : Calculation::subtract,
            [&] { return constant(1, word); }, word);
        break;
      }
      case Statement::Kind::choose:
        choose(s);
        break;
      case Statement::Kind::repeat:
      case Statement::Kind::until:
      case Statement::Kind::count:
        loop(s);
        break;
      case Statement::Kind::leave:
      case Statement::Kind::proceed:
        if (loops_ == 0) source_.fail(s.word.place, in_quotes(s.word.text) + " is within no loop");
        emit(s.kind == Statement::Kind::leave ? Act::leave : Act::proceed, s.word);
        break;
      case Statement::Kind::end:
        emit(Act::end, s.word);
        break;
    }
    free_ = before;
  }

  void declare(const Statement& s) {
    const Variable* known = find_variable(s.word.text);
    if (known != nullptr && known->depth == depth_)
      source_.fail(s.word.place, in_quotes(s.word.text) + " is declared twice");
    for (const ArrayName& array : names_.arrays) {
      if (array.name == s.word.text)
        source_.fail(s.word.place, in_quotes(s.word.text) + " is an array", "give the variable another name");
    }
    const std::int16_t place = fresh(s.word);
    copy(place, s.expressions.empty() ? constant(0, s.word) : value(s.expressions[0]), s.word);
    free_ = static_cast<std::int16_t>(place + 1);
    variables_.push_back({s.word.text, place, depth_});
  }

  void assign(const Statement& s) {
    if (s.word.text == "=") {
      if (at(s.expressions[0]).kind == Expression::Kind::element) {
        const Element of = element(s.expressions[0]);
        store(of, value(s.expressions[1]), s.word);
      } else {
        copy(variable_of(s.expressions[0]), value(s.expressions[1]), s.word);
      }
      return;
    }
    const std::string_view op = s.word.text.substr(0, s.word.text.size() - 1);
    const auto found =
        std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& one) { return one.text == op; });
    change(
        s.expressions[0], found->calculation, [&] { return value(s.expressions[1]); }, s.word);
  }
  std::int16_t variable_of(std::size_t e) {
    const Expression& x = at(e);
    if (x.kind != Expression::Kind::name)
      source_.fail(x.word.place, "only variables and elements of arrays are assigned to");
    return variable(x.word);
  }
  template <class Operand>
  void change(std::size_t e, Calculation calculation, Operand&& operand, const Word& word) {
    if (at(e).kind != Expression::Kind::element) {
      const std::int16_t place = variable_of(e);
      const std::int16_t by = operand();
      copy(place, compute(calculation, place, by, word), word);
      return;
    }
    const Element of = element(e);
    const std::int16_t old = load(of, word).to;
    const std::int16_t by = operand();
    store(of, compute(calculation, old, by, word), word);
  }
  Step& load(const Element& of, const Word& word) {
    const std::int16_t to = fresh(word);
    Step& step = emit(Act::load, word);
    step.to = to;
    step.a = of.index;
    step.n = of.array;
    return step;
  }
  Step& store(const Element& of, std::int16_t from, const Word& word) {
    Step& step = emit(Act::store, word);
    step.a = of.index;
    step.b = from;
    step.n = of.array;
    return step;
  }

  void choose(const Statement& s) {
    const std::int16_t condition = value(s.expressions[0]);
    std::size_t begin = code_.steps.size();
    emit(Act::begin_if, s.word).a = condition;
    inner(s.statements[0]);
    if (s.statements.size() > 1) {
      code_.steps[begin].n = static_cast<std::int32_t>(code_.steps.size());
      begin = code_.steps.size();
      emit(Act::otherwise, s.word);
      inner(s.statements[1]);
    }
    end_if(begin, s.word);
  }
  // A statement whose declarations end with it.
  void inner(std::size_t number) {
    const std::size_t known = variables_.size();
    ++depth_;
    statement(number);
    --depth_;
    variables_.resize(known);
  }

  void loop(const Statement& s) {
    const bool counts = s.kind == Statement::Kind::count;
    const bool tests_last = s.kind == Statement::Kind::until;
    const std::size_t known = variables_.size();
    ++depth_;
    if (counts) statement(s.statements[0]);
    emit(Act::begin_loop, s.word);
    ++loops_;
    const auto top = static_cast<std::int32_t>(code_.steps.size());
    std::size_t test = 0;
    const auto write_test = [&] {
      const std::int16_t before = free_;
      const std::int16_t condition = value(s.expressions[0]);
      test = code_.steps.size();
      emit(Act::test, s.word).a = condition;
      free_ = before;
    };
    if (!tests_last) write_test();
    inner(s.statements[counts ? 2 : 0]);
    emit(Act::next_round, s.word);
    if (counts) statement(s.statements[1]);
    if (tests_last) write_test();
    emit(Act::repeat, s.word).n = top;
    code_.steps[test].n = static_cast<std::int32_t>(code_.steps.size());
    --loops_;
    --depth_;
    variables_.resize(known);
  }

  const Source& source_;
  const litmus::Kernel& kernel_;
  const Names& names_;
  LaneCode code_;
  std::vector<Variable> variables_;
  std::int16_t free_ = 0;
  int most_ = identity_registers;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

LaneCode code_of_function(const Source& source, std::string name, const litmus::Kernel& kernel,
                          const Names& names) {
  return Writer(source, kernel, names).function(std::move(name));
}

LaneCode code_of_expression(const Source& source, const litmus::Kernel& kernel, std::size_t expression,
                            const Names& names) {
  return Writer(source, kernel, names).expression(expression);
}

}  // namespace lockstep::kernels
