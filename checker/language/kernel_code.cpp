// From C to instructions: each operator becomes one, and each access becomes one.
//
// Values live in registers. What the source computes stays data: a comparison that is used as a value is an
// arithmetic instruction, and only if, while, && and || that guard an access become branches. Intermediate
// values take temporaries, which are used again as soon as they are free.
#include "checker/language/kernel_code.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "checker/language/kernel_functions.hpp"
#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/values.hpp"

namespace lockstep::litmus {
namespace {

using Index = std::size_t;

constexpr int first_named_barrier = 1 << 15;  // labels other than B1, B2, ... are numbered from here

// An order's part for what only reads: a load, or a compare-and-swap that fails. C calls a load that releases
// undefined; herd and the suites take it for one that does not.
Order reading_part(Order order) {
  if (order == Order::acq_rel) return Order::acquire;
  return order == Order::release ? Order::relaxed : order;
}

// The same for a store.
Order writing_part(Order order) {
  if (order == Order::acq_rel) return Order::release;
  return order == Order::acquire ? Order::relaxed : order;
}

// ---- Operators ----

struct Operator {
  std::string_view symbol;
  ArithmeticFunction function = ArithmeticFunction::add;
  bool swapped = false;  // a > b is b < a
  bool truth = false;    // the value is 0 or 1
};
constexpr std::array operators{
    Operator{"+", ArithmeticFunction::add},
    Operator{"-", ArithmeticFunction::subtract},
    Operator{"*", ArithmeticFunction::multiply},
    Operator{"&", ArithmeticFunction::bit_and},
    Operator{"|", ArithmeticFunction::bit_or},
    Operator{"^", ArithmeticFunction::bit_xor},
    Operator{"==", ArithmeticFunction::equal, false, true},
    Operator{"!=", ArithmeticFunction::not_equal, false, true},
    Operator{"<", ArithmeticFunction::less, false, true},
    Operator{"<=", ArithmeticFunction::less_equal, false, true},
    Operator{">", ArithmeticFunction::less, true, true},
    Operator{">=", ArithmeticFunction::less_equal, true, true},
};

const Operator* find_operator(std::string_view symbol) {
  const auto* const found =
      std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return o.symbol == symbol; });
  return found == operators.end() ? nullptr : found;
}

constexpr Operand constant_of(std::int32_t value) {
  return {false, value};
}
constexpr Operand in_register(int index) {
  return {true, index};
}

// A place in memory: a location, and how many behind it.
struct Address {
  int location = -1;
  Operand index;
};

// ---- The writer ----

class CodeWriter {
 public:
  CodeWriter(const Source& source, const Kernel& kernel, KernelRules& rules, Program& program)
      : source_(source),
        kernel_(kernel),
        rules_(rules),
        program_(program),
        thread_(program.threads[kernel.thread]) {
    declare_variables();
  }

  void write() {
    end_ = new_label();
    statement(kernel_.body);
    bind(end_);
    for (Instruction& instruction : thread_.code) {
      if (instruction.target >= 0) instruction.target = labels_[static_cast<Index>(instruction.target)];
    }
  }

 private:
  [[nodiscard]] const Expression& at(Index expression) const { return kernel_.expressions[expression]; }

  // -- Variables and temporaries --

  // Variables are registers of the thread whatever block they stand in, as in herd.
  void declare_variables() {
    const auto begins_with_it = [&](const Statement& s) {
      return s.kind == Statement::Kind::declare && s.word.text.starts_with(temporary_);
    };
    while (std::any_of(kernel_.statements.begin(), kernel_.statements.end(), begins_with_it))
      temporary_ += "_";
    for (const Statement& statement : kernel_.statements) {
      if (statement.kind != Statement::Kind::declare) continue;
      if (find_parameter(statement.word.text) != nullptr) {
        source_.fail(statement.word.place,
                     in_quotes(statement.word.text) + " is a parameter of " + thread_.name + " already",
                     "give the variable another name");
      }
      declared_.push_back(register_named(statement.word));
    }
  }

  int register_named(const Word& word) {
    const auto known = std::find(thread_.registers.begin(), thread_.registers.end(), word.text);
    if (known != thread_.registers.end()) return static_cast<int>(known - thread_.registers.begin());
    if (thread_.registers.size() == Capacity::registers) {
      source_.fail(word.place, "a thread has at most " + count_of(Capacity::registers, "register"),
                   "intermediate values take some of them");
    }
    thread_.registers.emplace_back(word.text);
    thread_.initial_values.push_back(0);
    return static_cast<int>(thread_.registers.size()) - 1;
  }

  [[nodiscard]] const Parameter* find_parameter(std::string_view name) const {
    const auto found = std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                                    [&](const Parameter& p) { return p.name.text == name; });
    return found == kernel_.parameters.end() ? nullptr : &*found;
  }

  // The register of a variable, declared or initialised.
  int variable(const Word& word) {
    const auto known = std::find(thread_.registers.begin(), thread_.registers.end(), word.text);
    const bool is_temporary = known != thread_.registers.end() &&
                              std::find(temporaries_.begin(), temporaries_.end(),
                                        known - thread_.registers.begin()) != temporaries_.end();
    if (known != thread_.registers.end() && !is_temporary) {
      return static_cast<int>(known - thread_.registers.begin());
    }
    Names names;
    for (const int index : declared_) names.push_back(thread_.registers[static_cast<Index>(index)]);
    for (const Parameter& parameter : kernel_.parameters) names.emplace_back(parameter.name.text);
    const std::string meant = nearest(word.text, names);
    source_.fail(
        word.place, "unknown variable " + in_quotes(word.text) + " in " + thread_.name,
        meant.empty() ? "declare it: int " + std::string(word.text) + ";" : "did you mean '" + meant + "'?");
  }

  int temporary(const Word& word) {
    for (Index i = 0; i < temporaries_.size(); ++i) {
      if (busy_[i]) continue;
      busy_[i] = true;
      return temporaries_[i];
    }
    const std::string name = temporary_ + std::to_string(temporaries_.size());
    temporaries_.push_back(register_named({name, word.place}));
    busy_.push_back(true);
    return temporaries_.back();
  }

  void release(const Operand& operand) {
    if (!operand.is_register) return;
    for (Index i = 0; i < temporaries_.size(); ++i) {
      if (temporaries_[i] == operand.value) busy_[i] = false;
    }
  }

  // Where a result goes: where it is wanted, or to a temporary.
  int place_for(std::optional<int> into, const Word& word) { return into ? *into : temporary(word); }

  // -- Instructions and labels --

  Instruction& emit(Opcode opcode, const Word& word) {
    if (thread_.code.size() == Capacity::instructions) {
      source_.fail(word.place, "a thread has at most " + count_of(Capacity::instructions, "instruction"));
    }
    Instruction& instruction = thread_.code.emplace_back();
    instruction.opcode = opcode;
    instruction.place = word.place;
    return instruction;
  }

  int new_label() {
    labels_.push_back(-1);
    return static_cast<int>(labels_.size()) - 1;
  }
  void bind(int label) { labels_[static_cast<Index>(label)] = static_cast<int>(thread_.code.size()); }

  void jump(int label, const Word& word) { emit(Opcode::jump, word).target = label; }

  void branch(Comparison comparison, const Operand& a, const Operand& b, int label, const Word& word) {
    Instruction& instruction = emit(Opcode::branch, word);
    instruction.comparison = comparison;
    instruction.a = a;
    instruction.b = b;
    instruction.target = label;
  }

  Operand arithmetic(ArithmeticFunction function, const Operand& a, const Operand& b, std::optional<int> into,
                     const Word& word) {
    if (!a.is_register && !b.is_register) return constant_of(compute(function, a.value, b.value));
    release(a);
    release(b);
    const int destination = place_for(into, word);
    Instruction& instruction = emit(Opcode::arithmetic, word);
    instruction.arithmetic = function;
    instruction.a = a;
    instruction.b = b;
    instruction.destination = static_cast<std::int16_t>(destination);
    return in_register(destination);
  }

  // -- Statements --

  void statement(Index index) {
    const Statement& s = kernel_.statements[index];
    if (!s.label.text.empty() && !is_barrier(s)) {
      source_.fail(s.label.place, "only barriers have labels", "write loops with while");
    }
    switch (s.kind) {
      case Statement::Kind::block:
        for (const Index inner : s.statements) statement(inner);
        return;
      case Statement::Kind::declare:
        if (!s.expressions.empty()) assign(variable(s.word), s.expressions[0], s.word);
        return;
      case Statement::Kind::evaluate:
        return evaluate(s);
      case Statement::Kind::assign:
        return assign(s);
      case Statement::Kind::step:
        return step(s);
      case Statement::Kind::choose:
        return choose(s);
      case Statement::Kind::repeat:
      case Statement::Kind::until:
      case Statement::Kind::count:
        return loop(s);
      case Statement::Kind::leave:
      case Statement::Kind::proceed:
        return leave(s);
      case Statement::Kind::end:
        return jump(end_, s.word);
    }
  }

  [[nodiscard]] bool is_barrier(const Statement& s) const {
    if (s.kind != Statement::Kind::evaluate) return false;
    const Expression& e = at(s.expressions[0]);
    return e.kind == Expression::Kind::call &&
           (e.word.text == "barrier" || e.word.text == "work_group_barrier");
  }

  void evaluate(const Statement& s) {
    const Expression& e = at(s.expressions[0]);
    if (e.kind == Expression::Kind::call) {
      if (const auto result = call(e, s.label, std::nullopt, false)) release(*result);
      return;
    }
    release(value(s.expressions[0]));
  }

  void assign(int variable, Index expression, const Word& word) {
    const Operand result = value(expression, variable);
    release(result);
    if (result == in_register(variable)) return;
    Instruction& move = emit(Opcode::move, word);
    move.destination = static_cast<std::int16_t>(variable);
    move.a = result;
  }

  void assign(const Statement& s) {
    const Expression& target = at(s.expressions[0]);
    const std::string_view symbol = s.word.text.substr(0, s.word.text.size() - 1);  // "+" of "+="
    if (target.kind == Expression::Kind::name && find_parameter(target.word.text) == nullptr) {
      const int known = variable(target.word);
      if (symbol.empty()) return assign(known, s.expressions[1], s.word);
      const Operand operand = value(s.expressions[1]);
      combine(in_register(known), symbol, operand, known, s.word);
      return;
    }
    const Address address = lvalue(s.expressions[0]);
    if (symbol.empty()) {
      const Operand stored = value(s.expressions[1]);
      store(address, stored, target.word);
      return;
    }
    const Operand old = load_keeping(address, target.word);
    const Operand operand = value(s.expressions[1]);
    store(address, combine(old, symbol, operand, std::nullopt, s.word), target.word);
  }

  // x++ and x--, as statements.
  void step(const Statement& s) {
    const Expression& target = at(s.expressions[0]);
    const std::string_view symbol = s.word.text.substr(0, 1);
    if (target.kind == Expression::Kind::name && find_parameter(target.word.text) == nullptr) {
      const int known = variable(target.word);
      combine(in_register(known), symbol, constant_of(1), known, s.word);
      return;
    }
    const Address address = lvalue(s.expressions[0]);
    const Operand old = load_keeping(address, target.word);
    store(address, combine(old, symbol, constant_of(1), std::nullopt, s.word), target.word);
  }

  void choose(const Statement& s) {
    const int otherwise = new_label();
    branch_unless(s.expressions[0], otherwise);
    statement(s.statements[0]);
    if (s.statements.size() == 1) return bind(otherwise);
    const int end = new_label();
    jump(end, s.word);
    bind(otherwise);
    statement(s.statements[1]);
    bind(end);
  }

  void loop(const Statement& s) {
    const int head = new_label();
    const int next = new_label();
    const int end = new_label();
    const bool counts = s.kind == Statement::Kind::count;
    if (counts) statement(s.statements[0]);
    bind(head);
    if (s.kind != Statement::Kind::until) branch_unless(s.expressions[0], end);
    loops_.emplace_back(next, end);
    statement(s.statements.back());
    loops_.pop_back();
    bind(next);
    if (counts) statement(s.statements[1]);
    if (s.kind == Statement::Kind::until) {
      branch_if(s.expressions[0], head);
    } else {
      jump(head, s.word);
    }
    bind(end);
  }

  void leave(const Statement& s) {
    if (loops_.empty()) source_.fail(s.word.place, in_quotes(s.word.text) + " stands outside a loop");
    jump(s.kind == Statement::Kind::leave ? loops_.back().second : loops_.back().first, s.word);
  }

  // -- Conditions --

  void branch_unless(Index expression, int label) { branch_on(expression, label, false); }
  void branch_if(Index expression, int label) { branch_on(expression, label, true); }

  // Goes to the label where the truth of the expression is `wanted`, else on.
  void branch_on(Index index, int label, bool wanted) {
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::unary && e.word.text == "!") {
      return branch_on(e.operands[0], label, !wanted);
    }
    if (is_logical(e)) {
      // The second operand is reached where the first one does not decide.
      const bool decides = e.word.text == "||";
      if (decides == wanted) {
        branch_on(e.operands[0], label, wanted);
        return branch_on(e.operands[1], label, wanted);
      }
      const int end = new_label();
      branch_on(e.operands[0], end, decides);
      branch_on(e.operands[1], label, wanted);
      return bind(end);
    }
    const Operator* const known = e.kind == Expression::Kind::binary ? find_operator(e.word.text) : nullptr;
    if (known == nullptr || !known->truth) {
      const Operand truth = value(index);
      return compare_and_go(ArithmeticFunction::not_equal, truth, constant_of(0), label, wanted, e.word);
    }
    const Operand left = value(e.operands[0]);
    const Operand right = value(e.operands[1]);
    if (known->swapped) return compare_and_go(known->function, right, left, label, wanted, e.word);
    compare_and_go(known->function, left, right, label, wanted, e.word);
  }

  void compare_and_go(ArithmeticFunction function, const Operand& a, const Operand& b, int label, bool wanted,
                      const Word& word) {
    release(a);
    release(b);
    if (!a.is_register && !b.is_register) {
      if ((compute(function, a.value, b.value) != 0) == wanted) jump(label, word);
      return;
    }
    switch (function) {
      case ArithmeticFunction::equal:
        return branch(wanted ? Comparison::equal : Comparison::not_equal, a, b, label, word);
      case ArithmeticFunction::not_equal:
        return branch(wanted ? Comparison::not_equal : Comparison::equal, a, b, label, word);
      case ArithmeticFunction::less:
        return branch(wanted ? Comparison::less : Comparison::greater_equal, a, b, label, word);
      default:  // a <= b is not b < a
        return branch(wanted ? Comparison::greater_equal : Comparison::less, b, a, label, word);
    }
  }

  [[nodiscard]] static bool is_logical(const Expression& e) {
    return e.kind == Expression::Kind::binary && (e.word.text == "&&" || e.word.text == "||");
  }

  // Whether an expression only computes on registers and constants.
  [[nodiscard]] bool is_pure(Index index) const {
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::call || e.kind == Expression::Kind::element) return false;
    if (e.kind == Expression::Kind::unary && e.word.text == "*") return false;
    return std::all_of(e.operands.begin(), e.operands.end(), [&](Index operand) { return is_pure(operand); });
  }

  // -- Values --

  // The value of an expression: a constant, a variable's register, or a temporary, which the caller
  // releases. What has to be computed is put into the register `into` where one is given.
  Operand value(Index index, std::optional<int> into = std::nullopt) {
    const Expression& e = at(index);
    switch (e.kind) {
      case Expression::Kind::number:
        return constant_of(number(e.word));
      case Expression::Kind::name:
        return named_value(e.word);
      case Expression::Kind::element:
        return load(lvalue(index), into, e.word);
      case Expression::Kind::call: {
        const auto result = call(e, {}, into, true);
        if (result) return *result;
        source_.fail(e.word.place, in_quotes(e.word.text) + " has no value");
      }
      case Expression::Kind::unary:
        return unary(e, index, into);
      case Expression::Kind::binary:
        break;
    }
    if (is_logical(e)) return logical(e, index, into);
    if (is_address(index)) refuse_address(e.word);
    const Operand left = value(e.operands[0]);
    const Operand right = value(e.operands[1]);
    return combine(left, e.word.text, right, into, e.word);
  }

  Operand named_value(const Word& word) {
    if (word.text == "true") return constant_of(1);
    if (word.text == "false") return constant_of(0);
    if (find_parameter(word.text) != nullptr) refuse_address(word);
    return in_register(variable(word));
  }

  [[noreturn]] void refuse_address(const Word& word) const {
    source_.fail(word.place, "a pointer is used as a value: pointers are not supported as values",
                 "read what it points to: *x, or atomic_load(x)");
  }

  std::int32_t number(Word word) const {
    const Word whole = word;
    while (word.text.size() > 1 &&
           std::string_view("uUlL").find(word.text.back()) != std::string_view::npos) {
      word.text.remove_suffix(1);
    }
    if (const auto value = to_int32(word.text)) return *value;
    return source_.constant(whole);
  }

  Operand unary(const Expression& e, Index index, std::optional<int> into) {
    const std::string_view symbol = e.word.text;
    if (symbol == "*") return load(lvalue(index), into, e.word);
    if (symbol == "&") refuse_address(e.word);
    if (symbol == "!") {
      const Operand operand = value(e.operands[0]);
      return arithmetic(ArithmeticFunction::equal, operand, constant_of(0), into, e.word);
    }
    const Operand operand = value(e.operands[0]);
    if (symbol == "-") return arithmetic(ArithmeticFunction::subtract, constant_of(0), operand, into, e.word);
    if (symbol == "~") return arithmetic(ArithmeticFunction::bit_xor, operand, constant_of(-1), into, e.word);
    return operand;
  }

  Operand combine(const Operand& left, std::string_view symbol, const Operand& right, std::optional<int> into,
                  const Word& word) {
    const Operator* const known = find_operator(symbol);
    if (known == nullptr) {
      source_.fail(word.place, in_quotes(symbol) + " is not supported: programs do not divide or shift",
                   "use + - * & | ^ and comparisons");
    }
    if (known->swapped) return arithmetic(known->function, right, left, into, word);
    return arithmetic(known->function, left, right, into, word);
  }

  // && and || as values. C evaluates the second operand only where the first does not decide; where that
  // cannot be told from outside, the result is computed and nothing is guarded.
  Operand logical(const Expression& e, Index index, std::optional<int> into) {
    if (is_pure(e.operands[1])) {
      const Operand left = truth(e.operands[0]);
      const Operand right = truth(e.operands[1]);
      const bool both = e.word.text == "&&";
      return arithmetic(both ? ArithmeticFunction::bit_and : ArithmeticFunction::bit_or, left, right, into,
                        e.word);
    }
    const int result = temporary(e.word);
    const int end = new_label();
    const auto set = [&](std::int32_t value) {
      Instruction& move = emit(Opcode::move, e.word);
      move.destination = static_cast<std::int16_t>(result);
      move.a = constant_of(value);
    };
    set(0);
    branch_unless(index, end);
    set(1);
    bind(end);
    return in_register(result);
  }

  // The value of an expression as 0 or 1.
  Operand truth(Index index) {
    const Expression& e = at(index);
    const Operator* const known = e.kind == Expression::Kind::binary ? find_operator(e.word.text) : nullptr;
    const bool is_truth = (known != nullptr && known->truth) || is_logical(e) ||
                          (e.kind == Expression::Kind::unary && e.word.text == "!");
    const Operand operand = value(index);
    if (is_truth) return operand;
    return arithmetic(ArithmeticFunction::not_equal, operand, constant_of(0), std::nullopt, e.word);
  }

  // -- Addresses --

  [[nodiscard]] bool is_address(Index index) const {
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::name) return find_parameter(e.word.text) != nullptr;
    if (e.kind == Expression::Kind::unary) return e.word.text == "&";
    if (e.kind != Expression::Kind::binary || (e.word.text != "+" && e.word.text != "-")) return false;
    return is_address(e.operands[0]) || is_address(e.operands[1]);
  }

  // The place that *p or p[i] names.
  Address lvalue(Index index) {
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::element) {
      const Address base = address(e.operands[0]);
      return moved(base, value(e.operands[1]), ArithmeticFunction::add, e.word);
    }
    if (e.kind == Expression::Kind::unary && e.word.text == "*") return address(e.operands[0]);
    source_.fail(e.word.place, in_quotes(e.word.text) + " is nothing that can be assigned to",
                 find_parameter(e.word.text) != nullptr ? "write *" + std::string(e.word.text) : "");
  }

  // The place that a pointer points to.
  Address address(Index index) {
    const Expression& e = at(index);
    if (const Parameter* const parameter = find_parameter(e.word.text);
        e.kind == Expression::Kind::name && parameter != nullptr) {
      return {location_of(*parameter), {}};
    }
    if (e.kind == Expression::Kind::unary && e.word.text == "&") {
      const Expression& of = at(e.operands[0]);
      if (of.kind == Expression::Kind::name && find_parameter(of.word.text) != nullptr) {
        source_.fail(e.word.place, "'&" + std::string(of.word.text) + "' is a pointer to a parameter",
                     "the parameter is a pointer itself: write " + std::string(of.word.text));
      }
      return lvalue(e.operands[0]);
    }
    if (is_address(index)) {
      const bool first = is_address(e.operands[0]);
      const Address base = address(e.operands[first ? 0 : 1]);
      const bool adds = e.word.text == "+";
      if (!adds && !first) refuse_address(e.word);
      return moved(base, value(e.operands[first ? 1 : 0]),
                   adds ? ArithmeticFunction::add : ArithmeticFunction::subtract, e.word);
    }
    fail_pointer(e);
  }

  [[noreturn]] void fail_pointer(const Expression& e) const {
    Names names;
    for (const Parameter& parameter : kernel_.parameters) names.emplace_back(parameter.name.text);
    const bool is_variable =
        e.kind == Expression::Kind::name &&
        std::find(thread_.registers.begin(), thread_.registers.end(), e.word.text) != thread_.registers.end();
    if (is_variable || e.kind != Expression::Kind::name) {
      source_.fail(e.word.place, "expected a pointer, found " + in_quotes(e.word.text),
                   "pointers are the parameters of the thread; they are not kept in variables or memory");
    }
    source_.fail(e.word.place, thread_.name + " has no parameter " + in_quotes(e.word.text),
                 suggestion(e.word.text, names));
  }

  [[nodiscard]] int location_of(const Parameter& parameter) const {
    const auto found = std::find_if(program_.locations.begin(), program_.locations.end(),
                                    [&](const Location& l) { return l.name == parameter.name.text; });
    return static_cast<int>(found - program_.locations.begin());
  }

  // So many elements behind a place.
  Address moved(const Address& base, const Operand& by, ArithmeticFunction function, const Word& word) {
    const bool at_start = base.index == constant_of(0) && function == ArithmeticFunction::add;
    const Operand index = at_start ? by : arithmetic(function, base.index, by, std::nullopt, word);
    if (index.is_register) return {base.location, index};
    const Location& first = program_.locations[static_cast<Index>(base.location)];
    if (index.value < 0 || index.value >= first.array) {
      source_.fail(word.place, in_quotes(first.name) + " has no element " + std::to_string(index.value),
                   "it has " + count_of(static_cast<Index>(first.array), "element") + "; { int " +
                       first.name + "[2]; } makes an array of it");
    }
    return {base.location, index};
  }

  void set_address(Instruction& instruction, const Address& address) const {
    instruction.location = address.location + (address.index.is_register ? 0 : address.index.value);
    if (address.index.is_register) instruction.index = address.index;
  }

  // -- Accesses --

  Operand load(const Address& address, std::optional<int> into, const Word& word,
               std::pair<Order, Scope> how = {Order::plain, Scope::system}) {
    release(address.index);
    const int destination = place_for(into, word);
    Instruction& instruction = emit(Opcode::load, word);
    set_address(instruction, address);
    instruction.destination = static_cast<std::int16_t>(destination);
    std::tie(instruction.order, instruction.scope) = how;
    return in_register(destination);
  }

  void store(const Address& address, const Operand& stored, const Word& word,
             std::pair<Order, Scope> how = {Order::plain, Scope::system}) {
    Instruction& instruction = emit(Opcode::store, word);
    set_address(instruction, address);
    instruction.a = stored;
    std::tie(instruction.order, instruction.scope) = how;
    release(stored);
    release(address.index);
  }

  // -- Functions --

  // The arguments after the first ones: orders and a scope.
  struct How {
    Order order = Order::sc;
    Order failure = Order::sc;
    Scope scope = Scope::system;
  };

  // A call's result, or nothing where it has none. Where nobody wants the result of an RMW it has none.
  std::optional<Operand> call(const Expression& e, const Word& label, std::optional<int> into, bool wanted) {
    std::string_view base = e.word.text;
    const bool is_explicit = base.ends_with("_explicit");
    if (is_explicit) base.remove_suffix(std::string_view("_explicit").size());
    const auto* const function = find_in(functions, base);
    const bool fences =
        function != functions.end() && (function->act == Act::fence || function->act == Act::barrier ||
                                        function->act == Act::initialise || base == "SCAS" || base == "WCAS");
    if (function == functions.end() || (is_explicit && fences)) fail_function(e.word);
    switch (function->act) {
      case Act::fence:
        fence(e, base == "atomic_work_item_fence");
        return std::nullopt;
      case Act::barrier:
        barrier(e, label);
        return std::nullopt;
      case Act::load: {
        const How how = read_how(e, 1, is_explicit);
        return load(address(e.operands[0]), into, e.word, {reading_part(how.order), how.scope});
      }
      case Act::initialise:
      case Act::store:
      case Act::clear: {
        const bool clears = function->act == Act::clear;
        const bool initialises = function->act == Act::initialise;
        const How how = read_how(e, clears ? 1 : 2, is_explicit);
        const Address to = address(e.operands[0]);
        const Operand stored = clears ? constant_of(0) : value(e.operands[1]);
        store(
            to, stored, e.word,
            {initialises ? Order::plain : writing_part(how.order), initialises ? Scope::system : how.scope});
        return std::nullopt;
      }
      case Act::rmw:
      case Act::test_and_set:
        return rmw(e, *function, is_explicit, into, wanted);
      case Act::compare_swap:
        return compare_swap(e, *function, is_explicit, into, wanted);
    }
    return std::nullopt;
  }

  [[noreturn]] void fail_function(const Word& word) const {
    Names names = names_of(functions);
    for (const Function& function : functions) {
      if (function.name.starts_with("atomic_")) names.push_back(std::string(function.name) + "_explicit");
    }
    const std::string meant = nearest(word.text, names);
    source_.fail(word.place, "unknown function " + in_quotes(word.text),
                 meant.empty()
                     ? "functions are those of C11's and OpenCL's atomics, such as atomic_load_explicit"
                     : "did you mean '" + meant + "'?");
  }

  How read_how(const Expression& e, Index first, bool is_explicit, bool updates = false) const {
    const Index count = e.operands.size();
    const bool wrong = is_explicit ? count != first + 1 && count != first + 2 : count != first;
    if (wrong) {
      fail_count(e, std::to_string(first) + (is_explicit  ? " arguments, an order and perhaps a scope"
                                             : first == 1 ? " argument"
                                                          : " arguments"));
    }
    How how;
    how.scope = rules_.scope;
    if (!is_explicit) return how;
    how.order = order(e.operands[first], updates);
    if (count == first + 2) how.scope = scope(e.operands[first + 1]);
    return how;
  }

  [[noreturn]] void fail_count(const Expression& e, const std::string& wanted) const {
    source_.fail(e.word.place, in_quotes(e.word.text) + " takes " + wanted + ", found " +
                                   std::to_string(e.operands.size()));
  }

  // The entry of a table that an argument names.
  template <typename Table>
  const auto& entry(Index index, const Table& table, const std::string& thing) const {
    const Expression& e = at(index);
    const auto found = find_in(table, e.word.text);
    if (e.kind == Expression::Kind::name && found != table.end()) return *found;
    source_.fail(e.word.place, "expected " + thing + ", found " + in_quotes(e.word.text),
                 suggestion(e.word.text, names_of(table)));
  }
  [[nodiscard]] Order order(Index index, bool updates = false) const {
    const Order named = entry(index, orders, "a memory order").order;
    if (named == Order::comm && !updates) {
      source_.fail(at(index).word.place, "memory_order_comm is for updates that commute",
                   "such as atomic_fetch_add_explicit");
    }
    return named;
  }
  [[nodiscard]] Scope scope(Index index) const { return entry(index, scopes, "a memory scope").scope; }

  std::optional<Operand> rmw(const Expression& e, const Function& function, bool is_explicit,
                             std::optional<int> into, bool wanted) {
    const bool sets = function.act == Act::test_and_set;
    const How how = read_how(e, sets ? 1 : 2, is_explicit, function.act == Act::rmw);
    const Address to = address(e.operands[0]);
    const Operand operand = sets ? constant_of(1) : value(e.operands[1]);
    release(operand);
    release(to.index);
    const int destination = wanted ? place_for(into, e.word) : -1;
    Instruction& instruction = emit(Opcode::rmw, e.word);
    set_address(instruction, to);
    instruction.rmw = function.rmw;
    instruction.order = how.order;
    instruction.scope = how.scope;
    instruction.a = operand;
    instruction.destination = static_cast<std::int16_t>(destination);
    if (!wanted) return std::nullopt;
    return in_register(destination);
  }

  // What a compare-and-swap compares with, and where it puts the old value if it fails.
  struct Expected {
    std::optional<int> variable;
    Address address;
  };

  Expected expected(Index index) {
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::unary && e.word.text == "&") {
      const Expression& of = at(e.operands[0]);
      if (of.kind == Expression::Kind::name && find_parameter(of.word.text) == nullptr) {
        return {variable(of.word), {}};
      }
    }
    return {std::nullopt, address(index)};
  }

  // success = object == *expected; on success object = desired, else *expected = object: the plain accesses
  // to what holds the expected value are part of it.
  std::optional<Operand> compare_swap(const Expression& e, const Function& function, bool is_explicit,
                                      std::optional<int> into, bool wanted) {
    const How how = compare_swap_how(e, is_explicit);
    const Address to = address(e.operands[0]);
    const Expected with = expected(e.operands[1]);
    const Operand desired = value(e.operands[2]);
    const Operand compared = with.variable ? in_register(*with.variable) : load_keeping(with.address, e.word);
    release(desired);
    release(to.index);
    const Operand old = in_register(temporary(e.word));
    Instruction& instruction = emit(Opcode::rmw, e.word);
    set_address(instruction, to);
    instruction.rmw = RmwFunction::compare_swap;
    instruction.order = how.order;
    instruction.failure_order = how.failure == reading_part(how.order) ? Order::plain : how.failure;
    instruction.scope = how.scope;
    instruction.a = compared;
    instruction.b = desired;
    instruction.destination = static_cast<std::int16_t>(old.value);
    instruction.spurious = function.weak;
    const std::size_t swap = thread_.code.size() - 1;
    const int end = new_label();
    std::optional<Operand> success;
    if (wanted) {
      // What is needed after the success is known must not be overwritten by it.
      const bool aside = into && (with.variable == into || with.address.index == in_register(*into));
      success = in_register(place_for(aside ? std::nullopt : into, e.word));
      if (function.weak) {
        // The values do not tell.
        thread_.code[swap].status = static_cast<std::int16_t>(success->value);
      } else {
        Instruction& compare = emit(Opcode::arithmetic, e.word);
        compare.arithmetic = ArithmeticFunction::equal;
        compare.a = old;
        compare.b = compared;
        compare.destination = static_cast<std::int16_t>(success->value);
      }
      branch(Comparison::not_equal, *success, constant_of(0), end, e.word);
    } else {
      branch(Comparison::equal, old, compared, end, e.word);
    }
    release(compared);
    if (with.variable) {
      Instruction& move = emit(Opcode::move, e.word);
      move.destination = static_cast<std::int16_t>(*with.variable);
      move.a = old;
      release(old);
    } else {
      store(with.address, old, e.word);
    }
    bind(end);
    return success;
  }

  // A plain load whose address is needed again.
  Operand load_keeping(const Address& address, const Word& word) {
    const int destination = temporary(word);
    Instruction& instruction = emit(Opcode::load, word);
    set_address(instruction, address);
    instruction.destination = static_cast<std::int16_t>(destination);
    return in_register(destination);
  }

  How compare_swap_how(const Expression& e, bool is_explicit) const {
    const Index count = e.operands.size();
    const bool short_name = e.word.text == "SCAS" || e.word.text == "WCAS";
    const bool ordered = is_explicit || (short_name && count > 3);
    if (ordered ? count != 5 && count != 6 : count != 3) {
      fail_count(e, ordered ? "3 arguments, two orders and perhaps a scope" : "3 arguments");
    }
    How how;
    how.scope = rules_.scope;
    if (!ordered) return how;
    how.order = order(e.operands[3]);
    how.failure = reading_part(order(e.operands[4]));
    if (count == 6) how.scope = scope(e.operands[5]);
    return how;
  }

  void fence(const Expression& e, bool has_flags) {
    const Index first = has_flags ? 1 : 0;
    const Index count = e.operands.size();
    if (count != first + 1 && count != first + 2) {
      fail_count(e, has_flags ? "flags, an order and a scope" : "an order");
    }
    const Region region = has_flags ? flags(e.operands[0]) : Region::all;
    const Order strength = order(e.operands[first]);
    const Scope reach = count == first + 2 ? scope(e.operands[first + 1]) : rules_.scope;
    if (strength == Order::relaxed) return;  // has no effect, says the standard of each language
    Instruction& instruction = emit(Opcode::fence, e.word);
    instruction.order = strength;
    instruction.scope = reach;
    instruction.region = region;
  }

  void barrier(const Expression& e, const Word& label) {
    if (e.operands.empty() || e.operands.size() > 2) fail_count(e, "flags and perhaps a scope");
    const Region region = flags(e.operands[0]);
    if (e.operands.size() == 2 && scope(e.operands[1]) != Scope::wg) {
      source_.fail(at(e.operands[1]).word.place,
                   "a barrier of scope " + in_quotes(at(e.operands[1]).word.text) + " is not supported",
                   "a barrier synchronizes its work-group; put fences of the wider scope on either side");
    }
    Instruction& instruction = emit(Opcode::barrier, e.word);
    instruction.region = region;
    instruction.a = constant_of(barrier_number(label));
  }

  // Barriers of the same label meet; those without one are all the same barrier, met in order.
  int barrier_number(const Word& label) {
    if (label.text.empty()) return 0;
    const std::string_view digits = label.text.substr(1);
    if (label.text.front() == 'B' && is_digits(digits)) {
      const auto number = to_int32(digits);
      if (number && *number < first_named_barrier) return *number;
    }
    const auto next = first_named_barrier + static_cast<int>(rules_.barriers.size());
    return rules_.barriers.try_emplace(std::string(label.text), next).first->second;
  }

  // CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE.
  [[nodiscard]] Region flags(Index index) const {
    static const Names known{"CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE"};
    const Expression& e = at(index);
    if (e.kind == Expression::Kind::binary && e.word.text == "|") {
      const auto both =
          static_cast<unsigned>(flags(e.operands[0])) | static_cast<unsigned>(flags(e.operands[1]));
      return static_cast<Region>(both);
    }
    return source_.one_of(e.word, "fence flag", known) == known[0] ? Region::global : Region::local;
  }

  const Source& source_;
  const Kernel& kernel_;
  KernelRules& rules_;
  Program& program_;
  Thread& thread_;

  std::vector<int> declared_;    // registers of variables
  std::string temporary_ = "_";  // what the names of temporaries begin with
  std::vector<int> temporaries_;
  std::vector<bool> busy_;                  // for each temporary
  std::vector<int> labels_;                 // where each stands
  std::vector<std::pair<int, int>> loops_;  // labels of the next round and of the end, innermost last
  int end_ = 0;
};

}  // namespace

bool is_type_word(std::string_view word) {
  constexpr auto known = std::to_array<std::string_view>(
      {"int",        "unsigned",    "signed",      "long",         "short",       "char",
       "bool",       "_Bool",       "__int128",    "uint",         "ulong",       "ushort",
       "uchar",      "volatile",    "const",       "register",     "restrict",    "_Atomic",
       "global",     "local",       "private",     "__global",     "__local",     "__private",
       "atomic_int", "atomic_uint", "atomic_long", "atomic_ulong", "atomic_bool", "atomic_flag"});
  if (std::find(known.begin(), known.end(), word) != known.end()) return true;
  return word.ends_with("_t");  // uint32_t, atomic_size_t
}

void write_code(const Source& source, const Kernel& kernel, KernelRules& rules, Program& program) {
  CodeWriter(source, kernel, rules, program).write();
}

}  // namespace lockstep::litmus
