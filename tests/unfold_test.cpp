// Why a model forbids an execution, unfolded: each chain leads from where the check says to where it says,
// over pairs that really are in the relations that it names.
#include "checker/axiomatic/unfold.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "checker/axiomatic/graph.hpp"
#include "checker/axiomatic/model.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/support/home.hpp"

using namespace lockstep;

namespace {

using Pair = std::pair<int, int>;
using Pairs = std::set<Pair>;

Pairs closed(Pairs pairs) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : Pairs(pairs)) {
      for (const auto& [c, d] : Pairs(pairs)) {
        if (b == c) changed = pairs.insert({a, d}).second || changed;
      }
    }
  }
  return pairs;
}

// Relations of a candidate that can be told without the model's evaluation.
std::map<std::string, Pairs> plain_relations(const Candidate& c) {
  const Execution& e = c.execution;
  std::map<std::string, Pairs> all;
  for (int a = 0; a < e.size(); ++a) {
    for (int b = 0; b < e.size(); ++b) {
      const ProgramEvent& first = e.events[static_cast<std::size_t>(a)];
      const ProgramEvent& second = e.events[static_cast<std::size_t>(b)];
      if (first.thread >= 0 && first.thread == second.thread && a < b) all["po"].insert({a, b});
      if (e.partner[static_cast<std::size_t>(a)] == b && a < b) all["rmw"].insert({a, b});
    }
  }
  all["rf"] = Pairs(c.rf.begin(), c.rf.end());
  all["co"] = closed(Pairs(c.co.begin(), c.co.end()));
  for (const auto& [write, read] : all["rf"]) {
    for (const auto& [first, second] : all["co"]) {
      if (first == write && second != read) all["fr"].insert({read, second});
    }
  }
  const auto thread = [&](int event) { return e.events[static_cast<std::size_t>(event)].thread; };
  for (const std::string name : {"rf", "co", "fr"}) {
    for (const auto& [a, b] : all[name]) all[name + (thread(a) == thread(b) ? "i" : "e")].insert({a, b});
  }
  return all;
}

struct Checked {
  std::size_t chains = 0;
  std::size_t leaves = 0;
};

void check_failure(const Candidate& c, const Candidate::Failure& failure, Checked& checked) {
  const auto relations = plain_relations(c);
  std::map<std::string, Pairs> of_model;
  for (const auto* list : {&c.shown, &c.named}) {
    for (const auto& [name, pairs] : *list) of_model[name].insert(pairs.begin(), pairs.end());
  }
  const std::size_t edges = failure.cycle.size();
  for (std::size_t i = 0; i < failure.pairs.size(); ++i) {
    const Derivation& pair = failure.pairs[i];
    REQUIRE(pair.from == failure.cycle[i]);
    REQUIRE(pair.to == failure.cycle[(i + 1) % edges]);
    std::vector<const Derivation*> open{&pair};
    while (!open.empty()) {
      const Derivation& one = *open.back();
      open.pop_back();
      // What has parts is a chain, and what has a name is in the relation of that name.
      int at = one.from;
      for (const Derivation& part : one.parts) {
        REQUIRE(part.from == at);
        at = part.to;
        open.push_back(&part);
      }
      if (!one.parts.empty()) REQUIRE(at == one.to);
      const Pair held = one.inverted ? Pair{one.to, one.from} : Pair{one.from, one.to};
      if (one.parts.empty()) {
        ++checked.leaves;
        INFO("leaf " << one.name << " from " << one.from << " to " << one.to);
        const auto plain = relations.find(one.name);
        if (plain != relations.end()) REQUIRE(plain->second.contains(held));
      } else if (const auto named = of_model.find(one.name); named != of_model.end()) {
        INFO("relation " << one.name << " from " << one.from << " to " << one.to);
        REQUIRE(named->second.contains(held));
      }
    }
  }
  checked.chains += failure.pairs.empty() ? 0 : 1;
}

LitmusTests quick_tests() {
  SuiteFiles files = read_tests(std::vector<std::string>{shipped("litmus").string()}, "");
  std::erase_if(files.tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  return files.tests;
}

Candidate forbidden(const std::string& text, const std::string& model, const Outcome& outcome) {
  const LitmusTest test = parse_litmus(text, "t.litmus");
  auto candidate = find_candidate(test, AxiomaticModel(model), outcome);
  REQUIRE(candidate != nullptr);
  REQUIRE_FALSE(candidate->failures.empty());
  return std::move(*candidate);
}

const char* const message_passing = R"(HRF mp
{ x = 0; flag = 0; }
 P0@wg 0,agent 0          | P1@wg 1,agent 0            ;
 st x, 1                  | ld.acquire.agent r0, flag  ;
 st.release.agent flag, 1 | ld r1, x                   ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

}  // namespace

TEST_CASE("every forbidden outcome of the quick tests is unfolded into pairs that hold", "[axiomatic]") {
  Checked checked;
  for (const std::string name : {"sc", "tso", "rmo", "ptx-v6.0", "rc11", "opencl", "vulkan"}) {
    const AxiomaticModel model(name);
    for (const auto& test : quick_tests()) {
      INFO(name << " on " << test->name);
      for (const auto& [outcome, candidate] : find_candidates(*test, model, {}, 40).by_outcome) {
        for (const Candidate::Failure& failure : candidate->failures)
          check_failure(*candidate, failure, checked);
      }
    }
  }
  CHECK(checked.chains > 500);
  CHECK(checked.leaves > 2 * checked.chains);
}

TEST_CASE("a check of one event with itself is unfolded into the way round", "[axiomatic]") {
  const Candidate c = forbidden(message_passing, "ptx-v6.0", {1, 0});
  const Candidate::Failure& failure = c.failures.front();
  CHECK(failure.label == "Causality");
  REQUIRE(failure.cycle.size() == 1);
  REQUIRE(failure.pairs.size() == 1);
  std::string chain;
  for (const Derivation& leaf : leaves(failure.pairs.front())) chain += leaf.name + " ";
  CHECK(chain == "fr po rf po ");
  // As the model's definitions have it, too.
  const std::string tree = candidate_json(parse_litmus(message_passing, "t"), c).dump();
  for (const char* name : {"causality", "base-causality", "synchronizes", "observation"})
    CHECK(tree.find(name) != std::string::npos);
}

TEST_CASE("nothing is derived from itself, however a recursion is written", "[axiomatic]") {
  const AxiomaticModel model("round", R"("round"
let rec far = far | far; near
and near = po | rf | far
let com = rf | co | fr
acyclic near | fr as round
)",
                             {});
  const LitmusTest test = parse_litmus(message_passing, "t.litmus");
  const auto candidate = find_candidate(test, model, {1, 0});
  REQUIRE(candidate != nullptr);
  REQUIRE_FALSE(candidate->failures.empty());
  Checked checked;
  check_failure(*candidate, candidate->failures.front(), checked);
  CHECK(checked.chains == 1);
}

TEST_CASE("what narrows a relation down is not what is told of it", "[axiomatic]") {
  const AxiomaticModel model("narrow", R"("narrow"
let mine = loc & (po \ rmw) & int
let theirs = (W * R) & rf & ext
acyclic mine | theirs | fr | (po & ~loc) as narrow
)",
                             {});
  const LitmusTest test = parse_litmus(message_passing, "t.litmus");
  const auto candidate = find_candidate(test, model, {1, 0});
  REQUIRE(candidate != nullptr);
  REQUIRE_FALSE(candidate->failures.empty());
  std::set<std::string> names;
  for (const Derivation& pair : candidate->failures.front().pairs) {
    for (const Derivation& leaf : leaves(pair)) names.insert(leaf.name);
  }
  CHECK(names == std::set<std::string>{"fr", "po", "rf"});
}
