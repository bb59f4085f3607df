// What is asked of every state of an export.
#include <stdexcept>

#include "checker/export/export.hpp"

namespace lockstep {

namespace {

using recorded::Expression;
using recorded::Op;

Expression expression_of(const ConditionTerm& term, const recorded::WholeDescription& whole) {
  switch (term.kind) {
    case ConditionTerm::Kind::constant:
      return recorded::constant(recorded::value_type, std::to_string(term.value));
    case ConditionTerm::Kind::register_:
      return whole.final_registers.at(static_cast<std::size_t>(term.thread))
          .at(static_cast<std::size_t>(term.index));
    case ConditionTerm::Kind::location:
      return whole.final_locations.at(static_cast<std::size_t>(term.index));
    case ConditionTerm::Kind::shown:
      return whole.final_registers.at(0).at(static_cast<std::size_t>(term.index));
  }
  throw std::logic_error("a condition's term of no kind");
}

Expression comparison(Comparison how, const Expression& a, const Expression& b) {
  switch (how) {
    case Comparison::equal:
      return recorded::comparison(Op::equal, a, b);
    case Comparison::not_equal:
      return recorded::comparison(Op::not_equal, a, b);
    case Comparison::less:
      return recorded::comparison(Op::less, a, b);
    case Comparison::greater_equal:
      return recorded::comparison(Op::less_equal, b, a);
    case Comparison::greater:
      return recorded::comparison(Op::less, b, a);
    case Comparison::less_equal:
      return recorded::comparison(Op::less_equal, a, b);
  }
  throw std::logic_error("a comparison of no kind");
}

Expression formula(const Formula& f, const recorded::WholeDescription& whole) {
  const auto combined = [&](const char* neutral, auto&& combine) {
    Expression all = recorded::constant(recorded::bool_type, neutral);
    for (const Formula& child : f.children) all = combine(all, formula(child, whole));
    return all;
  };
  switch (f.kind) {
    case Formula::Kind::truth:
      return recorded::constant(recorded::bool_type, f.truth ? "true" : "false");
    case Formula::Kind::compare:
      return comparison(f.comparison, expression_of(f.left, whole), expression_of(f.right, whole));
    case Formula::Kind::not_:
      return recorded::negation(formula(f.children.at(0), whole));
    case Formula::Kind::and_:
      return combined("true", recorded::conjunction);
    case Formula::Kind::or_:
      return combined("false", recorded::disjunction);
  }
  throw std::logic_error("a formula of no kind");
}

}  // namespace

std::vector<Claim> claims_of(const recorded::WholeDescription& whole, const LitmusTest* test) {
  std::vector<Claim> claims;
  for (const auto* properties : {&whole.assertions, &whole.invariants}) {
    for (const auto& property : *properties) {
      claims.push_back({Claim::Kind::property, property.name, property.predicate});
    }
  }
  claims.push_back({Claim::Kind::deadlock, "deadlock", nullptr});
  // A program that never ends has no outcomes to ask about.
  if (test == nullptr || test->observed.empty()) return claims;
  const Expression filter = formula(test->filter, whole);
  const Expression condition = formula(test->condition, whole);
  claims.push_back({Claim::Kind::reached, "an end with " + test->condition_text,
                    recorded::conjunction(filter, condition)});
  claims.push_back({Claim::Kind::missed, "an end without " + test->condition_text,
                    recorded::conjunction(filter, recorded::negation(condition))});
  return claims;
}

PromelaStart promela_start(const recorded::WholeDescription& whole) {
  PromelaStart start;
  for (const recorded::RecordedStart& family : whole.starts) {
    std::size_t members = 1;
    for (const std::string& index : family.parameters) {
      members *= static_cast<std::size_t>(whole.extents.at(index));
    }
    start.starts += members;
  }
  return start;
}

std::string promela_mark(std::size_t claim) {
  return "claim " + std::to_string(claim);
}

}  // namespace lockstep
