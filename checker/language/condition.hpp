// What a test's question means: outcomes, the formula over them, and herd's words for the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/language/test.hpp"

namespace lockstep {

// The final values of a test's `observed` terms, in their order.
using Outcome = std::vector<std::int32_t>;

// The outcome of a final state of which location(index) and register(thread, index) tell the values.
template <class Location, class Register>
Outcome outcome_from(const LitmusTest& test, Location&& location, Register&& register_) {
  Outcome outcome;
  outcome.reserve(test.observed.size());
  for (const ConditionTerm& term : test.observed) {
    outcome.push_back(term.kind == ConditionTerm::Kind::location ? location(term.index)
                                                                 : register_(term.thread, term.index));
  }
  return outcome;
}

// Whether an outcome satisfies a formula over the test's observed terms. A term that is not observed is a
// mistake of the caller's and throws std::logic_error.
bool satisfies(const Formula& formula, const LitmusTest& test, const Outcome& outcome);

// Whether a question asks for the final value of a location, so that what is in memory at the end matters.
bool observes_memory(const LitmusTest& test);

// How many of the outcomes that pass the filter satisfy the condition, and how many do not.
struct Tally {
  std::size_t positive = 0;
  std::size_t negative = 0;
  // never: none does (there may be no outcome at all); always: all do; else sometimes.
  [[nodiscard]] Observation observation() const;
  // The answer to the question as it was put: exists some, exists none, all.
  [[nodiscard]] bool validates(Quantifier quantifier) const;
};
Tally tally(const LitmusTest& test, std::span<const Outcome> outcomes);

// The word for a term's value, an index into `observed`, where its values have words: "dirty".
std::optional<std::string_view> value_word(const LitmusTest& test, std::size_t term, std::int32_t value);

// "P1:r0=1; P1:r1=0;", as herd prints a final state.
std::string outcome_text(const LitmusTest& test, const Outcome& outcome);

// Of an expectation: whether some outcome is one that ought not to be there.
constexpr bool excludes(Observation expected) {
  return expected == Observation::never || expected == Observation::always;
}
// Whether the file says that on the system, or under the model, something that the program claims does not
// hold.
bool is_expected_to_fail(const LitmusTest& test, std::string_view on);

std::string_view word(Observation observation);            // "never"
std::string_view herd_word(Observation observation);       // "Never"
std::string_view herd_expectation(Quantifier quantifier);  // "Allowed", "Forbidden", "Required"
std::string_view word(Quantifier quantifier);              // "exists", "~exists", "forall"

}  // namespace lockstep
