// From trees to Murphi, as Rumur reads it.
//
// The state keeps its shape: records, arrays, and queues as a count with slots, of which the unused ones hold
// default rows, so that equal queues are equal. Each rule's guard is a function, which the deadlock claim
// uses as well.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checker/export/export.hpp"
#include "checker/export/indented_text.hpp"
#include "checker/export/names.hpp"
#include "checker/export/terms.hpp"
#include "checker/export/trees.hpp"

namespace lockstep {

namespace {

using recorded::Declaration;
using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::Sort;
using recorded::Statement;
using recorded::Type;
using recorded::WholeDescription;

// Where the exports of arithmetic need a type of their own.
constexpr std::string_view integers = "-1073741824 .. 1073741823";

struct Murphi : Vocabulary {
  std::string message;  // the local variable that holds what a rule has consumed
  std::string entry;    // the slot that a `contains` is asking about

  static constexpr std::string_view equal = "=", and_ = "&", or_ = "|";

  [[nodiscard]] std::string apply(const recorded::Node& e) const { return applied(e, *this, "{}({})"); }
  [[nodiscard]] static std::string bits(Op op, const std::string& a, const std::string& b) {
    const std::string_view name = op == Op::bit_and ? "bits_and" : op == Op::bit_or ? "bits_or" : "bits_xor";
    return fmt::format("{}({}, {})", name, a, b);
  }
  [[nodiscard]] std::string index_type(const std::string& index) const {
    return names->scalar({index, false, Sort::index});
  }
  [[nodiscard]] std::string quantifier(const recorded::Node& e) const {
    if (e.op == Op::count) throw std::logic_error("Murphi has no count");
    return fmt::format("({} {}: {} do {} end)", e.op == Op::forall ? "forall" : "exists",
                       names->variable(e.text), index_type(e.over), term(e.children[0], *this));
  }
  [[nodiscard]] std::string contains(const recorded::Node& e) const {
    Murphi inner = *this;
    inner.entry = entry.empty() ? names->variable("slot") : entry + "_";
    const Place queue = place_of(e.path, *whole);
    return fmt::format("(exists {0}: 0 .. {1} do {0} < {2}.count & ({3}) end)", inner.entry,
                       whole->extents.at(queue.declaration->over.front()) - 1, place(e.path),
                       term(e.children[0], inner));
  }
  [[nodiscard]] std::string place(const Path& path) const {
    std::string text;
    bool of_variable = true;
    for (const Step& step : place_of(path, *whole).steps) {
      if (step.kind >= Step::Kind::head) of_variable = false;
      switch (step.kind) {
        case Step::Kind::field:
          text += (text.empty() ? "" : of_variable ? "_" : ".") + names->field(step.name);
          break;
        case Step::Kind::rows:
          of_variable = false;
          for (const Expression& index : step.index) text += "[" + term(index, *this) + "]";
          break;
        case Step::Kind::message:
          text = message;
          break;
        default:
          text = in_queue(step, text, *this);
          break;
      }
    }
    return text;
  }
};

class Writer : private IndentedText {
 public:
  Writer(const WholeDescription& whole, const std::vector<Claim>& claims, const ExportOptions& options)
      : whole_(whole),
        claims_(claims),
        options_(options),
        names_(whole, Names::Scoping::lexical),
        murphi_{{&whole, &names_}, "message", {}} {}

  std::string write() {
    records();
    variables();
    functions();
    queues();
    initial_states();
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) rule(i);
    properties();
    // What all this needs of types comes before it.
    const std::string rest = std::exchange(text_, {});
    heading();
    constants();
    scalar_types(rest);
    text_ += rest;
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string expression(const Expression& e) const {
    return term(folded(e, {}, whole_), murphi_);
  }
  [[nodiscard]] std::string place(const Path& path) const { return murphi_.place(folded(path, {}, whole_)); }

  // Of a guard or a property, in a function's body.
  [[nodiscard]] std::string body(const Expression& e) const {
    return wrapped(folded(e, {}, whole_), murphi_, "\n    ");
  }

  void heading() {
    line("-- {}", options_.title);
    line("-- Written by `lockstep export` from the rules that Lockstep itself explores: the same states and");
    line(
        "-- firings. For Rumur, without symmetry reduction and with its deadlock detection off (an optional");
    line("-- rule is no way out of a deadlock; the claim at the end knows).");
    gap();
  }

  void constants() {
    if (names_.maybes().empty()) return;
    line("const");
    for (const Type& maybe : names_.maybes()) line("  {}: 0;  -- else the member plus 1", names_.none(maybe));
    gap();
  }

  // Whether there are words of data or numbers to compute with.
  [[nodiscard]] bool computes() const {
    return whole_.program != nullptr || has_leaf(whole_.state, [](const Declaration& leaf) {
             return leaf.type.sort == Sort::word || leaf.type.sort == Sort::integer;
           });
  }
  template <class Is>
  static bool has_leaf(const Declaration& d, Is&& is) {
    if (d.kind == Declaration::Kind::leaf) return is(d);
    return std::any_of(d.parts.begin(), d.parts.end(),
                       [&](const Declaration& part) { return has_leaf(part, is); });
  }

  void scalar_types(const std::string& rest) {
    line("type");
    for (const auto& [index, extent] : whole_.extents) {
      if (rest.find(murphi_.index_type(index)) == std::string::npos) continue;
      line("  {}: 0 .. {};", murphi_.index_type(index), extent - 1);
    }
    for (const Type& maybe : names_.maybes()) {
      line("  {}: 0 .. {};", names_.scalar(maybe), whole_.extents.at(index_of(maybe)));
    }
    if (computes()) {
      line("  {}: {} .. {};", names_.scalar(recorded::value_type), whole_.value_low, whole_.value_high);
      line("  {}: {};", names_.scalar(recorded::int_type), integers);
    }
    for (const Declaration& enumeration : names_.enumerations()) {
      std::vector<std::string> members;
      for (const std::string& m : enumeration.members)
        members.push_back(names_.enumerator(enumeration.type, m));
      line("  {}: enum {{ {} }};", names_.scalar(enumeration.type), fmt::join(members, ", "));
    }
  }

  // The rest of the types, which go on where the scalar ones end.
  void records() {
    for (const Declaration& composite : names_.composites()) {
      if (!used(composite)) continue;
      line("  {}: record", names_.composite(composite));
      if (composite.kind == Declaration::Kind::queue) {
        const int capacity = whole_.extents.at(composite.over.front());
        line("    count: 0 .. {};", capacity);
        line("    slots: array [0 .. {}] of {};", capacity - 1, type(composite.parts.front()));
      } else {
        for (std::size_t i = 0; i < composite.parts.size(); ++i) {
          line("    {}: {};", names_.field(composite.names[i]), type(composite.parts[i]));
        }
      }
      line("  end;");
    }
    gap();
  }

  // Whether a type is more than what the variables' names say already.
  [[nodiscard]] bool used(const Declaration& composite) const {
    bool found = false;
    for_each_variable(whole_.state, "",
                      [&](const Declaration& d, const std::string&) { found |= holds(d, composite); });
    return found;
  }
  static bool holds(const Declaration& d, const Declaration& composite) {
    return d == composite || std::any_of(d.parts.begin(), d.parts.end(),
                                         [&](const Declaration& part) { return holds(part, composite); });
  }

  [[nodiscard]] std::string type(const Declaration& d) const {
    switch (d.kind) {
      case Declaration::Kind::leaf:
        if (d.type.sort == Sort::integer) return fmt::format("{} .. {}", d.low, d.high);
        return names_.scalar(d.type);
      case Declaration::Kind::table: {
        std::string text;
        for (const std::string& index : d.over)
          text += fmt::format("array [{}] of ", murphi_.index_type(index));
        return text + type(d.parts.front());
      }
      default:
        return names_.composite(d);
    }
  }

  // Records of which there is one become variables of their own: Rumur copies a variable's whole type at each
  // mention, and takes minutes over one that holds everything.
  template <class F>
  void for_each_variable(const Declaration& d, const std::string& name, F&& f) const {
    if (d.kind != Declaration::Kind::record) return f(d, name);
    for (std::size_t i = 0; i < d.parts.size(); ++i) {
      for_each_variable(d.parts[i], (name.empty() ? "" : name + "_") + names_.field(d.names[i]), f);
    }
  }

  void variables() {
    line("var");
    for_each_variable(whole_.state, "", [&](const Declaration& d, const std::string& name) {
      line("  {}: {};", name, type(d));
    });
    gap();
  }

  // What the placement of a program fixes, and the operations on bits that Murphi lacks.
  void functions() {
    for (const recorded::RigidFunction& f : whole_.functions) {
      line("function {}(i: {}): {};", names_.function(f), murphi_.index_type(f.from),
           f.to.empty() ? "boolean" : murphi_.index_type(f.to));
      line("begin");
      line("  switch i");
      for (std::size_t i = 0; i < f.image.size(); ++i) {
        const std::string value =
            f.to.empty() ? std::string(f.image[i] != 0 ? "true" : "false") : std::to_string(f.image[i]);
        line("  case {}: return {};", i, value);
      }
      line("  end;");
      line("end;");
      gap();
    }
    if (computes()) bit_functions();
  }

  void bit_functions() {
    const std::string& integer = names_.scalar(recorded::int_type);
    line("function bits_and(a: {0}; b: {0}): {0};", integer);
    line("var");
    line("  both: {};", integer);
    line("begin");
    line("  both := (a < 0 & b < 0) ? -65536 : 0;");
    line("  for i: 0 .. 15 do");
    line("    if (a >> i) % 2 != 0 & (b >> i) % 2 != 0 then both := both + (1 << i); end;");
    line("  end;");
    line("  return both;");
    line("end;");
    gap();
    line("function bits_or(a: {0}; b: {0}): {0};", integer);
    line("begin");
    line("  return a + b - bits_and(a, b);");
    line("end;");
    gap();
    line("function bits_xor(a: {0}; b: {0}): {0};", integer);
    line("begin");
    line("  return a + b - 2 * bits_and(a, b);");
    line("end;");
    gap();
  }

  void queues() {
    for (const Declaration& queue : names_.composites()) {
      if (queue.kind != Declaration::Kind::queue) continue;
      const std::string& name = names_.composite(queue);
      const int capacity = whole_.extents.at(queue.over.front());
      const std::string row = type(queue.parts.front());
      line("procedure push_{0}(var queue: {0}; row: {1});", name, row);
      line("begin");
      line("  queue.slots[queue.count] := row;");
      line("  queue.count := queue.count + 1;");
      line("end;");
      gap();
      line("procedure push_front_{0}(var queue: {0}; row: {1});", name, row);
      line("begin");
      for (int i = capacity - 1; i > 0; --i) line("  queue.slots[{}] := queue.slots[{}];", i, i - 1);
      line("  queue.slots[0] := row;");
      line("  queue.count := queue.count + 1;");
      line("end;");
      gap();
      line("procedure pop_{0}(var queue: {0});", name);
      line("begin");
      line("  queue.count := queue.count - 1;");
      for (int i = 0; i + 1 < capacity; ++i) line("  queue.slots[{}] := queue.slots[{}];", i, i + 1);
      indented([&] { defaults(queue.parts.front(), fmt::format("queue.slots[{}]", capacity - 1), 0); });
      line("end;");
      gap();
    }
  }

  [[nodiscard]] std::string default_of(const Declaration& leaf) const {
    switch (leaf.type.sort) {
      case Sort::boolean:
        return "false";
      case Sort::integer:
        return std::to_string(lockstep::default_of(leaf));
      case Sort::maybe:
        return names_.none(leaf.type);
      case Sort::enumeration:
        return names_.enumerator(leaf.type, leaf.members.front());
      default:
        return "0";
    }
  }

  // Statements that give every field its default.
  void defaults(const Declaration& d, const std::string& at, int depth) {
    switch (d.kind) {
      case Declaration::Kind::leaf:
        line("{} := {};", at, default_of(d));
        return;
      case Declaration::Kind::record:
        for (std::size_t i = 0; i < d.parts.size(); ++i) {
          defaults(d.parts[i], at + "." + names_.field(d.names[i]), depth);
        }
        return;
      case Declaration::Kind::queue:
        line("{}.count := 0;", at);
        for (int i = 0; i < whole_.extents.at(d.over.front()); ++i) {
          defaults(d.parts.front(), fmt::format("{}.slots[{}]", at, i), depth);
        }
        return;
      case Declaration::Kind::table:
        over_rows(d, 0, at, depth,
                  [&](const std::string& row, int inner) { defaults(d.parts.front(), row, inner); });
        return;
    }
  }
  template <class Body>
  void over_rows(const Declaration& table, std::size_t dimension, const std::string& at, int depth,
                 Body&& body) {
    if (dimension == table.over.size()) return body(at, depth);
    const std::string variable = fmt::format("i{}", depth);
    line("for {}: {} do", variable, murphi_.index_type(table.over[dimension]));
    indented([&] { over_rows(table, dimension + 1, fmt::format("{}[{}]", at, variable), depth + 1, body); });
    line("end;");
  }
  // The same for derived fields only.
  void derived_defaults(const Declaration& d, const std::string& at, int depth) {
    if (d.derived) return defaults(d, at, depth);
    if (d.kind == Declaration::Kind::record) {
      for (std::size_t i = 0; i < d.parts.size(); ++i) {
        derived_defaults(d.parts[i], at + "." + names_.field(d.names[i]), depth);
      }
    } else if (d.kind == Declaration::Kind::table && has_derived(d)) {
      over_rows(d, 0, at, depth,
                [&](const std::string& row, int inner) { derived_defaults(d.parts.front(), row, inner); });
    }
  }
  static bool has_derived(const Declaration& d) {
    return d.derived || std::any_of(d.parts.begin(), d.parts.end(), has_derived);
  }

  void initial_states() {
    line("procedure reset();");
    line("begin");
    indented([&] {
      for_each_variable(whole_.state, "",
                        [&](const Declaration& d, const std::string& name) { defaults(d, name, 0); });
    });
    line("end;");
    gap();
    if (has_derived(whole_.state)) {
      line("-- Fields that follow from the others.");
      line("procedure restore();");
      locals(whole_.restore, {});
      line("begin");
      indented([&] {
        for_each_variable(whole_.state, "", [&](const Declaration& d, const std::string& name) {
          derived_defaults(d, name, 0);
        });
        block(whole_.restore);
      });
      line("end;");
      gap();
    }
    for (const recorded::RecordedStart& family : whole_.starts) {
      over(family.parameters, [&] {
        line("startstate \"starts\"");
        locals(family.action, {});
        line("begin");
        indented([&] {
          line("reset();");
          block(family.action);
        });
        line("end;");
      });
    }
  }

  // A ruleset around the body where there are parameters.
  template <class Body>
  void over(const std::vector<std::string>& index_types, Body&& body) {
    if (index_types.empty()) {
      body();
    } else {
      line("ruleset {} do", parameters(index_types));
      indented(body);
      line("end;");
    }
    gap();
  }
  [[nodiscard]] std::string parameters(const std::vector<std::string>& index_types) const {
    std::vector<std::string> declared;
    const std::vector<std::string> variables = parameter_names(index_types);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      declared.push_back(names_.variable(variables[i]) + ": " + murphi_.index_type(index_types[i]));
    }
    return fmt::format("{}", fmt::join(declared, "; "));
  }
  [[nodiscard]] std::string guard_call(std::size_t i) const {
    std::vector<std::string> arguments;
    for (const std::string& variable : parameter_names(whole_.rules[i].parameters)) {
      arguments.push_back(names_.variable(variable));
    }
    return fmt::format("can_{}({})", names_.rule(i), fmt::join(arguments, ", "));
  }

  void rule(std::size_t i) {
    const recorded::RecordedRule& rule = whole_.rules[i];
    line("-- {}{}{}{}", rule.unit, rule.source.empty() ? "" : "; ", rule.source,
         rule.fairness == Fairness::optional ? "; optional" : "");
    line("function can_{}({}): boolean;", names_.rule(i), parameters(rule.parameters));
    line("begin");
    line("  return {};", body(rule.guard));
    line("end;");
    over(rule.parameters, [&] {
      line("rule \"{}\"", rule_title(rule, whole_));
      line("  {}", guard_call(i));
      line("==>");
      const Place trigger = rule.trigger.empty() ? Place{} : place_of(rule.trigger, whole_);
      const Declaration* queue = trigger.declaration;
      locals(rule.action, queue == nullptr ? std::string() : type(queue->parts.front()));
      line("begin");
      indented([&] {
        if (queue != nullptr) {
          line("{} := {}.slots[0];", murphi_.message, place(rule.trigger));
          line("pop_{}({});", names_.composite(*queue), place(rule.trigger));
        }
        block(rule.action);
        if (touches_derived(rule.action, whole_)) line("restore();");
      });
      line("end;");
    });
  }

  // `message_type`: of a triggered rule.
  void locals(const std::vector<Statement>& action, const std::string& message_type) {
    std::vector<std::string> declared;
    if (!message_type.empty()) declared.push_back(murphi_.message + ": " + message_type);
    std::vector<Local> bound;
    collect_locals(action, bound);
    for (const Local& local : bound) {
      declared.push_back(names_.variable(local.name) + ": " + names_.scalar(local.type));
    }
    std::set<std::string> rows;
    collect_rows(action, rows);
    declared.insert(declared.end(), rows.begin(), rows.end());
    if (declared.empty()) return;
    line("var");
    for (const std::string& one : declared) line("  {};", one);
  }
  void collect_rows(const std::vector<Statement>& action, std::set<std::string>& rows) const {
    for (const Statement& s : action) {
      if (s.kind == Statement::Kind::push || s.kind == Statement::Kind::push_front) {
        const Declaration& queue = *place_of(s.target, whole_).declaration;
        rows.insert(fmt::format("{}: {}", row_variable(queue), type(queue.parts.front())));
      }
      collect_rows(s.then, rows);
      collect_rows(s.otherwise, rows);
    }
  }
  [[nodiscard]] std::string row_variable(const Declaration& queue) const {
    return "row_" + names_.composite(queue);
  }

  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }
  void statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::assign:
        line("{} := {};", place(s.target), expression(s.value));
        return;
      case Statement::Kind::let:
        line("{} := {};", names_.variable(s.name), expression(s.value));
        return;
      case Statement::Kind::when:
        line("if {} then", expression(s.value));
        indented([&] { block(s.then); });
        if (!s.otherwise.empty()) {
          line("else");
          indented([&] { block(s.otherwise); });
        }
        line("end;");
        return;
      case Statement::Kind::for_each:
        line("for {}: {} do", names_.variable(s.name), murphi_.index_type(s.over));
        indented([&] { block(s.then); });
        line("end;");
        return;
      case Statement::Kind::push:
      case Statement::Kind::push_front: {
        const Declaration& queue = *place_of(s.target, whole_).declaration;
        for (const auto& [field, value] : s.row) {
          line("{}{} := {};", row_variable(queue), names_.row_field(field), expression(value));
        }
        line("push_{}{}({}, {});", s.kind == Statement::Kind::push ? "" : "front_", names_.composite(queue),
             place(s.target), row_variable(queue));
        return;
      }
      case Statement::Kind::pop:
        line("pop_{}({});", names_.composite(*place_of(s.target, whole_).declaration), place(s.target));
        return;
    }
  }
  // ---- claims --------------------------------------------------------------------------------------------

  void properties() {
    line("-- Some rule that is not optional is enabled.");
    line("function live(): boolean;");
    line("begin");
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
      if (whole_.rules[i].fairness == Fairness::optional) continue;
      std::string enabled = guard_call(i);
      const std::vector<std::string> variables = parameter_names(whole_.rules[i].parameters);
      for (std::size_t p = variables.size(); p-- > 0;) {
        enabled = fmt::format("exists {}: {} do {} end", names_.variable(variables[p]),
                              murphi_.index_type(whole_.rules[i].parameters[p]), enabled);
      }
      line("  if {} then return true; end;", enabled);
    }
    line("  return false;");
    line("end;");
    gap();
    line("function at_end(): boolean;");
    line("begin");
    line("  return {};", body(whole_.proper_end));
    line("end;");
    gap();
    std::string before;
    for (std::size_t i = 0; i < claims_.size(); ++i) claim(claims_[i], i, before);
  }

  // `before`: that the properties so far hold.
  void claim(const Claim& claim, std::size_t number, std::string& before) {
    switch (claim.kind) {
      case Claim::Kind::property: {
        line("-- {}", claim.name);
        line("function holds_{}(): boolean;", number);
        line("begin");
        line("  return {};", body(claim.predicate));
        line("end;");
        const std::string holds = fmt::format("holds_{}()", number);
        states(claim.name, holds, fmt::format("{}!{}", before, holds));
        before += holds + " & ";
        break;
      }
      case Claim::Kind::deadlock:
        states(claim.name, "live() | at_end()", "!live() & !at_end()");
        break;
      case Claim::Kind::reached:
      case Claim::Kind::missed:
        line("cover \"{}\" !live() & at_end() & ({});", title(claim.name), expression(claim.predicate));
        break;
    }
    gap();
  }
  void states(const std::string& name, const std::string& holds, const std::string& fails) {
    if (options_.purpose == Purpose::verdict) {
      line("invariant \"{}\" {};", title(name), holds);
    } else {
      line("cover \"{}\" {};", title(name), fails);
    }
  }
  // Murphi's strings have no way to hold these.
  static std::string title(std::string name) {
    std::replace(name.begin(), name.end(), '"', '\'');
    std::replace(name.begin(), name.end(), '\\', '|');
    return name;
  }

  const WholeDescription& whole_;
  const std::vector<Claim>& claims_;
  const ExportOptions& options_;
  Names names_;
  Murphi murphi_;
};

}  // namespace

std::string export_murphi(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                          const ExportOptions& options) {
  const WholeDescription kept = without_empty_records(whole);
  return Writer(kept, claims, options).write();
}

}  // namespace lockstep
