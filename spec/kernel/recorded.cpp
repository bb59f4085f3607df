// Printing recorded trees, collecting what they access, and checking the laws of protocol code on them.
#include "spec/kernel/recorded.hpp"

#include <string>

namespace lockstep::recorded {

namespace {

std::string joined(const std::vector<Expression>& expressions) {
  std::string text;
  for (const Expression& e : expressions) text += (text.empty() ? "" : ", ") + print(e);
  return text;
}

std::string_view symbol(Op op) {
  switch (op) {
    case Op::and_:
      return " && ";
    case Op::or_:
      return " || ";
    case Op::equal:
      return " == ";
    case Op::not_equal:
      return " != ";
    case Op::less:
      return " < ";
    case Op::less_equal:
      return " <= ";
    case Op::add:
      return " + ";
    case Op::subtract:
      return " - ";
    case Op::multiply:
      return " * ";
    case Op::bit_and:
      return " & ";
    case Op::bit_or:
      return " | ";
    case Op::bit_xor:
      return " ^ ";
    default:
      return " ? ";
  }
}

bool is_binary(Op op) {
  return (op >= Op::and_ && op <= Op::bit_xor);
}

// A child of a chain of one associative operator needs no parentheses.
std::string operand(const Expression& e, Op parent) {
  const bool bare = !is_binary(e->op) || (e->op == parent && (parent == Op::and_ || parent == Op::or_)) ||
                    ((parent == Op::and_ || parent == Op::or_) && e->op >= Op::equal);
  return bare ? print(e) : "(" + print(e) + ")";
}

}  // namespace

std::string print(const Path& path) {
  std::string text;
  for (const Segment& segment : path) {
    if (!text.empty()) text += ".";
    text += segment.name;
    if (!segment.index.empty()) text += "(" + joined(segment.index) + ")";
  }
  return text;
}

std::string print(const Expression& e) {
  switch (e->op) {
    case Op::constant:
    case Op::parameter:
    case Op::local:
      return e->text;
    case Op::read:
      return print(e->path);
    case Op::apply:
      return e->text + "(" + joined(e->children) + ")";
    case Op::not_:
      return "!" +
             (is_binary(e->children[0]->op) ? "(" + print(e->children[0]) + ")" : print(e->children[0]));
    case Op::select:
      return "select(" + joined(e->children) + ")";
    case Op::some:
      return print(e->children[0]);
    case Op::has:
      return "has(" + print(e->children[0]) + ")";
    case Op::value_of:
      return "value(" + print(e->children[0]) + ")";
    case Op::forall:
      return "forall(" + e->text + ": " + print(e->children[0]) + ")";
    case Op::exists:
      return "exists(" + e->text + ": " + print(e->children[0]) + ")";
    case Op::count:
      return "count(" + e->text + ": " + print(e->children[0]) + ")";
    case Op::contains:
      return print(e->path) + ".contains(" + print(e->children[0]) + ")";
    default:
      return operand(e->children[0], e->op) + std::string(symbol(e->op)) + operand(e->children[1], e->op);
  }
}

std::string print(const std::vector<Statement>& block, const std::string& indent) {
  std::string text;
  for (const Statement& s : block) {
    switch (s.kind) {
      case Statement::Kind::assign:
        text += indent + print(s.target) + " = " + print(s.value) + "\n";
        break;
      case Statement::Kind::let:
        text += indent + "let " + s.name + " = " + print(s.value) + "\n";
        break;
      case Statement::Kind::when:
        text += indent + "when " + print(s.value) + "\n" + print(s.then, indent + "  ");
        if (!s.otherwise.empty()) text += indent + "otherwise\n" + print(s.otherwise, indent + "  ");
        break;
      case Statement::Kind::for_each:
        text += indent + "for each " + s.name + "\n" + print(s.then, indent + "  ");
        break;
      case Statement::Kind::pop:
        text += indent + print(s.target) + ".pop()\n";
        break;
      case Statement::Kind::push:
      case Statement::Kind::push_front: {
        std::string row;
        for (const auto& [name, value] : s.row) row += (row.empty() ? "" : ", ") + name + " " + print(value);
        text += indent + print(s.target) + (s.kind == Statement::Kind::push ? ".push(" : ".push_front(") +
                row + ")\n";
        break;
      }
    }
  }
  return text;
}

void collect_reads(const Expression& e, std::set<std::string>& reads) {
  if (!e) return;
  if (e->op == Op::read) reads.insert(print(e->path));
  if (e->op == Op::contains) reads.insert(print(e->path));
  for (const Segment& segment : e->path) {
    for (const Expression& index : segment.index) collect_reads(index, reads);
  }
  for (const Expression& child : e->children) collect_reads(child, reads);
}

void collect_accesses(const std::vector<Statement>& block, std::set<std::string>& reads,
                      std::set<std::string>& writes) {
  for (const Statement& s : block) {
    collect_reads(s.value, reads);
    for (const auto& [name, value] : s.row) collect_reads(value, reads);
    for (const Segment& segment : s.target) {
      for (const Expression& index : segment.index) collect_reads(index, reads);
    }
    if (!s.target.empty()) writes.insert(print(s.target));
    collect_accesses(s.then, reads, writes);
    collect_accesses(s.otherwise, reads, writes);
  }
}

namespace {

// Interchangeable indices may be compared, chosen, passed on and used as indices; nothing else.
bool admits(Op op) {
  return op == Op::equal || op == Op::not_equal || op == Op::select || op == Op::apply || op == Op::some ||
         op == Op::has || op == Op::value_of || op == Op::forall || op == Op::exists || op == Op::count;
}

void check_tree(const Expression& e, RecordedRule& rule) {
  if (!e) return;
  for (const Expression& child : e->children) {
    if (child->type.interchangeable && !admits(e->op)) {
      rule.problems.push_back("asks more than equality of the interchangeable index " + print(child) +
                              " in " + print(e));
    }
    check_tree(child, rule);
  }
}

void check_block(const std::vector<Statement>& block, RecordedRule& rule) {
  for (const Statement& s : block) {
    check_tree(s.value, rule);
    for (const auto& [name, value] : s.row) check_tree(value, rule);
    check_block(s.then, rule);
    check_block(s.otherwise, rule);
  }
}

}  // namespace

void check_laws(RecordedRule& rule) {
  check_tree(rule.guard, rule);
  check_block(rule.action, rule);
}

// ---- reading lists ----------------------------------------------------------------------------------------

namespace {

std::vector<Expression> variables(const std::vector<RuleParameter<RecordedErased>>& parameters,
                                  Recorder& recorder, std::vector<std::string>& names) {
  std::vector<Expression> members;
  for (const auto& parameter : parameters) {
    names.emplace_back(parameter.name);
    members.push_back(make(Op::parameter, parameter.type, {}, recorder.fresh(parameter.name)));
  }
  return members;
}

}  // namespace

void read_rules(const std::vector<RuleValue<RecordedErased>>& rules, const MakeState& make_state,
                std::vector<RecordedRule>& out) {
  for (const RuleValue<RecordedErased>& value : rules) {
    RecordedRule rule;
    rule.name = value.rule.name;
    rule.unit = value.rule.unit;
    rule.source = value.rule.source;
    rule.fairness = value.rule.fairness;
    rule.instruction = value.rule.instruction;
    rule.thread = value.rule.thread;
    Recorder recorder;
    const std::shared_ptr<void> state = make_state();
    const std::vector<Expression> members = variables(value.parameters, recorder, rule.parameters);
    recorder.begin_guard();
    if (value.trigger) rule.trigger = value.trigger(state.get(), members.data());
    rule.guard = value.guard(state.get(), members.data());
    recorder.end_guard();
    value.action(state.get(), members.data());
    rule.action = recorder.take_action();
    rule.problems = recorder.take_problems();
    collect_reads(rule.guard, rule.reads);
    collect_accesses(rule.action, rule.reads, rule.writes);
    if (!rule.trigger.empty()) rule.writes.insert(print(rule.trigger));
    check_laws(rule);
    out.push_back(std::move(rule));
  }
}

void read_invariants(const std::vector<InvariantValue<RecordedErased>>& invariants,
                     const MakeState& make_state, std::vector<RecordedInvariant>& out) {
  for (const InvariantValue<RecordedErased>& value : invariants) {
    Recorder recorder;
    recorder.begin_guard();
    const std::shared_ptr<void> state = make_state();
    RecordedInvariant invariant;
    invariant.name = value.name;
    // Local variables of an invariant may be assigned; fields may not.
    invariant.predicate = value.predicate(state.get(), nullptr);
    collect_reads(invariant.predicate, invariant.reads);
    out.push_back(std::move(invariant));
  }
}

void read_starts(const std::vector<StartValue<RecordedErased>>& starts, const MakeState& make_state,
                 std::vector<RecordedStart>& out) {
  for (const StartValue<RecordedErased>& value : starts) {
    Recorder recorder;
    const std::shared_ptr<void> state = make_state();
    RecordedStart start;
    const std::vector<Expression> members = variables(value.parameters, recorder, start.parameters);
    value.action(state.get(), members.data());
    start.action = recorder.take_action();
    out.push_back(std::move(start));
  }
}

void read_claims(const std::vector<AtOnceValue<RecordedErased>>& claims, const MakeState& make_state,
                 std::vector<RecordedClaim>& out) {
  for (const AtOnceValue<RecordedErased>& value : claims) {
    Recorder recorder;
    recorder.begin_guard();
    const std::shared_ptr<void> state = make_state();
    std::vector<std::string> names;
    const std::vector<Expression> members = variables(value.parameters, recorder, names);
    RecordedClaim claim{std::string(value.rule), value.why, value.where(state.get(), members.data()), {}};
    collect_reads(claim.where, claim.reads);
    out.push_back(std::move(claim));
  }
}

}  // namespace lockstep::recorded
