// What a question means: formulas over outcomes, counts, and herd's words.
#include "checker/language/condition.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "checker/language/test.hpp"

using namespace lockstep;

namespace {

// A test with registers P0:r0 and P0:r1 and a location x; outcomes are listed as {a, b, x}.
LitmusTest asking(const std::string& question) {
  return parse_litmus(
      "HRF t\n{ x = 0; P0:r0 = 0; P0:r1 = 0; }\n P0@wg 0,agent 0 ;\n st x, 1 ;\nlocations [P0:r0; P0:r1; "
      "x;]\n" +
          question + "\n",
      "t.litmus");
}

Outcome outcome(const LitmusTest& test, std::int32_t a, std::int32_t b, std::int32_t x) {
  Outcome values;
  for (const ConditionTerm& term : test.observed) {
    values.push_back(term.kind == ConditionTerm::Kind::location ? x : (term.index == 0 ? a : b));
  }
  return values;
}

bool holds(const std::string& formula, std::int32_t a, std::int32_t b, std::int32_t x) {
  const LitmusTest test = asking("exists (" + formula + ")");
  return satisfies(test.condition, test, outcome(test, a, b, x));
}

}  // namespace

TEST_CASE("a comparison in a condition compares final values") {
  CHECK(holds("P0:r0 == 1", 1, 0, 0));
  CHECK_FALSE(holds("P0:r0 == 1", 2, 0, 0));
  CHECK(holds("P0:r0 != 1", 2, 0, 0));
  CHECK_FALSE(holds("P0:r0 != 1", 1, 0, 0));
  CHECK(holds("P0:r0 < 1", 0, 0, 0));
  CHECK_FALSE(holds("P0:r0 < 1", 1, 0, 0));
  CHECK(holds("P0:r0 >= 1", 1, 0, 0));
  CHECK_FALSE(holds("P0:r0 >= 1", 0, 0, 0));
  CHECK(holds("P0:r0 == -1", -1, 0, 0));
}

TEST_CASE("a condition may compare registers and locations with each other") {
  CHECK(holds("P0:r0 == P0:r1", 3, 3, 0));
  CHECK_FALSE(holds("P0:r0 == P0:r1", 3, 2, 0));
  CHECK(holds("x == P0:r1", 0, 7, 7));
  CHECK_FALSE(holds("x == P0:r1", 0, 7, 6));
}

TEST_CASE("and binds more tightly than or, and not applies to what follows it") {
  CHECK(holds("P0:r0 == 1 \\/ P0:r1 == 1 /\\ x == 1", 1, 0, 0));
  CHECK_FALSE(holds("(P0:r0 == 1 \\/ P0:r1 == 1) /\\ x == 1", 1, 0, 0));
  CHECK(holds("~(P0:r0 == 1 /\\ x == 1)", 1, 0, 0));
  CHECK_FALSE(holds("~(P0:r0 == 1)", 1, 0, 0));
  CHECK(holds("true", 0, 0, 0));
  CHECK_FALSE(holds("false", 0, 0, 0));
}

TEST_CASE("a condition over what is not observed is a mistake, not false") {
  LitmusTest test = asking("exists (P0:r0 == 1)");
  const Outcome seen = outcome(test, 1, 0, 0);
  test.observed.clear();
  CHECK_THROWS_AS(satisfies(test.condition, test, seen), std::logic_error);
}

TEST_CASE("the filter leaves outcomes aside") {
  const LitmusTest test = asking("filter (x == 1)\nexists (P0:r0 == 1)");
  const std::vector<Outcome> outcomes{outcome(test, 1, 0, 0), outcome(test, 0, 0, 1), outcome(test, 1, 1, 1)};
  const Tally counts = tally(test, outcomes);
  CHECK(counts.positive == 1);
  CHECK(counts.negative == 1);
}

TEST_CASE("the observation is never, sometimes or always, and never where nothing was reached") {
  CHECK(Tally{0, 3}.observation() == Observation::never);
  CHECK(Tally{1, 3}.observation() == Observation::sometimes);
  CHECK(Tally{2, 0}.observation() == Observation::always);
  CHECK(Tally{0, 0}.observation() == Observation::never);
}

TEST_CASE("a question validates by its quantifier") {
  CHECK(Tally{1, 3}.validates(Quantifier::exists));
  CHECK_FALSE(Tally{0, 3}.validates(Quantifier::exists));
  CHECK(Tally{0, 3}.validates(Quantifier::not_exists));
  CHECK_FALSE(Tally{1, 3}.validates(Quantifier::not_exists));
  CHECK(Tally{2, 0}.validates(Quantifier::forall));
  CHECK_FALSE(Tally{2, 1}.validates(Quantifier::forall));
}

TEST_CASE("memory is observed where the question or its locations name a location") {
  CHECK(observes_memory(asking("exists (P0:r0 == 1)")));  // through `locations`
  const std::string program = "HRF t\n{ x = 0; P0:r0 = 0; }\n P0@wg 0,agent 0 ;\n st x, 1 ;\n";
  CHECK_FALSE(observes_memory(parse_litmus(program + "exists (P0:r0 == 1)\n", "t.litmus")));
  CHECK(observes_memory(parse_litmus(program + "exists (x == 1)\n", "t.litmus")));
  CHECK(observes_memory(parse_litmus(program + "filter (x == 1)\nexists (P0:r0 == 1)\n", "t.litmus")));
}

TEST_CASE("an outcome is printed as herd prints a final state") {
  const LitmusTest test = parse_litmus(
      "HRF t\n{ x = 0; P0:r0 = 0; }\n P0@wg 0,agent 0 ;\n st x, 1 ;\nexists (P0:r0 == 1 /\\ x == 2)\n",
      "t.litmus");
  REQUIRE(test.observed.size() == 2);
  CHECK(outcome_text(test, {1, 2}) == "P0:r0=1; [x]=2;");
}
