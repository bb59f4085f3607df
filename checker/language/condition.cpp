// Evaluates formulas on outcomes, and counts.
#include "checker/language/condition.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "spec/program/values.hpp"

namespace lockstep {

namespace {

bool same_term(const ConditionTerm& left, const ConditionTerm& right) {
  return left.kind == right.kind && left.thread == right.thread && left.index == right.index;
}

std::int32_t value_of(const ConditionTerm& term, const LitmusTest& test, const Outcome& outcome) {
  if (term.kind == ConditionTerm::Kind::constant) return term.value;
  for (std::size_t i = 0; i < test.observed.size(); ++i) {
    if (same_term(test.observed[i], term)) return outcome.at(i);
  }
  throw std::logic_error("a condition names what its test does not observe");
}

template <class Enum, std::size_t N>
std::string_view pick(Enum value, const std::array<std::string_view, N>& words) {
  return words.at(static_cast<std::size_t>(value));
}

}  // namespace

bool satisfies(const Formula& formula, const LitmusTest& test, const Outcome& outcome) {
  const auto child_holds = [&](const Formula& child) { return satisfies(child, test, outcome); };
  const std::vector<Formula>& children = formula.children;
  switch (formula.kind) {
    case Formula::Kind::truth:
      return formula.truth;
    case Formula::Kind::compare:
      return compare(formula.comparison, value_of(formula.left, test, outcome),
                     value_of(formula.right, test, outcome));
    case Formula::Kind::not_:
      return !child_holds(children.at(0));
    case Formula::Kind::and_:
      return std::all_of(children.begin(), children.end(), child_holds);
    case Formula::Kind::or_:
      return std::any_of(children.begin(), children.end(), child_holds);
  }
  return false;
}

bool observes_memory(const LitmusTest& test) {
  return std::any_of(test.observed.begin(), test.observed.end(),
                     [](const ConditionTerm& term) { return term.kind == ConditionTerm::Kind::location; });
}

Observation Tally::observation() const {
  if (positive == 0) return Observation::never;
  return negative == 0 ? Observation::always : Observation::sometimes;
}

bool Tally::validates(Quantifier quantifier) const {
  switch (quantifier) {
    case Quantifier::exists:
      return positive > 0;
    case Quantifier::not_exists:
      return positive == 0;
    case Quantifier::forall:
      return negative == 0;
  }
  return false;
}

Tally tally(const LitmusTest& test, std::span<const Outcome> outcomes) {
  Tally counts;
  for (const Outcome& outcome : outcomes) {
    if (!satisfies(test.filter, test, outcome)) continue;
    ++(satisfies(test.condition, test, outcome) ? counts.positive : counts.negative);
  }
  return counts;
}

std::optional<std::string_view> value_word(const LitmusTest& test, std::size_t term, std::int32_t value) {
  const ConditionTerm& observed = test.observed.at(term);
  if (observed.kind != ConditionTerm::Kind::shown) return std::nullopt;
  const LaunchTerm& shown = test.launches->observed.at(static_cast<std::size_t>(observed.index));
  if (shown.kind != LaunchTerm::Kind::state) return std::nullopt;
  return listed_states.at(static_cast<std::size_t>(value));
}

std::string outcome_text(const LitmusTest& test, const Outcome& outcome) {
  std::string text;
  for (std::size_t i = 0; i < test.observed.size(); ++i) {
    if (i > 0) text += ' ';
    const auto named = value_word(test, i, outcome.at(i));
    text += print(test.observed[i], test.program) + "=" +
            (named ? std::string(*named) : std::to_string(outcome.at(i))) + ";";
  }
  return text;
}

bool is_expected_to_fail(const LitmusTest& test, std::string_view on) {
  return std::any_of(test.expected.begin(), test.expected.end(), [&](const ExpectedObservation& one) {
    return one.system == on && one.observation == Observation::fails;
  });
}

std::string_view word(Observation observation) {
  return pick(observation, std::array<std::string_view, 4>{"never", "sometimes", "always", "fails"});
}
std::string_view herd_word(Observation observation) {
  return pick(observation, std::array<std::string_view, 4>{"Never", "Sometimes", "Always", "Fails"});
}
std::string_view herd_expectation(Quantifier quantifier) {
  return pick(quantifier, std::array<std::string_view, 3>{"Allowed", "Forbidden", "Required"});
}
std::string_view word(Quantifier quantifier) {
  return pick(quantifier, std::array<std::string_view, 3>{"exists", "~exists", "forall"});
}

}  // namespace lockstep
