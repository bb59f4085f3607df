// Comparing systems and models: what differs is found, the smallest of it is shown, and what does not differ
// is not said to.
#include "checker/compare/compare.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/compare/counters.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"

using namespace lockstep;
using namespace lockstep::compare;
using Names = std::vector<std::string>;

namespace {

Subject system_named(const std::string& name, const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named(name);
  subject.options.faults = faults;
  return subject;
}

CompareOptions only_generated(int up_to) {
  CompareOptions options;
  options.generate.up_to = up_to;
  options.invariants = false;
  return options;
}

CompareOptions only_tests(const Names& names) {
  CompareOptions options = only_generated(0);
  SuiteFiles files = read_tests(names, shipped("litmus").string(), Clients::include);
  REQUIRE(files.errors.empty());
  options.tests = std::move(files.tests);
  return options;
}

Both<std::shared_ptr<const AxiomaticModel>> models(const std::string& left, const std::string& right) {
  return {std::make_shared<const AxiomaticModel>(left), std::make_shared<const AxiomaticModel>(right)};
}

}  // namespace

TEST_CASE("a fault is told from the system by a test that does not race, whose run the system leaves") {
  const CompareReport report = compare_systems(
      {system_named("write-through"), system_named("write-through", {"early-acknowledgement"})},
      only_generated(3));
  const OutcomeReport& o = report.outcomes;
  CHECK(o.compared == o.generated);
  CHECK(o.same + o.differing == o.compared);
  CHECK(o.differing > 0);
  CHECK(o.race_free > 0);
  CHECK(o.more == Both<std::size_t>{0, o.differing});
  REQUIRE(o.smallest);
  CHECK(o.smallest->race_free == true);
  CHECK(o.smallest->only(0).empty());
  REQUIRE(o.smallest->only(1).size() == 1);
  CHECK(std::count(o.smallest->allowed.begin(), o.smallest->allowed.end(), o.smallest->only(1).front()) == 0);
  REQUIRE(o.evidence);
  CHECK(o.evidence->side == 1);
  REQUIRE(o.evidence->trace);
  CHECK(o.evidence->trace->end == TraceEnd::outcome);
  CHECK(o.evidence->shared_steps > 0);
  CHECK_THAT(o.evidence->parting, Catch::Contains("answers a marker") && Catch::Contains("is not enabled"));
  CHECK(exit_status(report) == 1);
  REQUIRE(report.texts);
  CHECK(report.texts->changed_rules == Names{"L2 answers a marker", "L2 passes a marker on"});
  CHECK(report.texts->only_rules == Both<Names>{});
  const std::string text = compare_text(report);
  CHECK_THAT(text, Catch::Contains("forbidden by hrf-indirect") &&
                       Catch::Contains("write-through goes along for") && Catch::Contains("they differ"));
}

TEST_CASE("the side that shows more may be the first") {
  const CompareReport report = compare_systems(
      {system_named("write-through", {"early-acknowledgement"}), system_named("write-through")},
      only_generated(3));
  CHECK(report.outcomes.more == Both<std::size_t>{report.outcomes.differing, 0});
  REQUIRE(report.outcomes.evidence);
  CHECK(report.outcomes.evidence->side == 0);
}

namespace {

void check_told_apart(const std::vector<std::string>& faults) {
  CompareOptions options = only_tests({shipped("litmus").string()});
  std::erase_if(options.tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  options.limits.threads = 2;
  for (const std::string& fault : faults) {
    CAPTURE(fault);
    const CompareReport report =
        compare_systems({system_named("write-through"), system_named("write-through", {fault})}, options);
    CHECK(report.outcomes.race_free > 0);
    REQUIRE(report.outcomes.evidence);
    const std::string& parting = report.outcomes.evidence->parting;
    CAPTURE(parting);
    const Names& changed = report.texts->changed_rules;
    CHECK(std::any_of(changed.begin(), changed.end(), [&](const std::string& rule) {
      return parting.starts_with("'" + rule) || parting.find("is not enabled") != std::string::npos;
    }));
  }
}

}  // namespace

TEST_CASE("faults of write-through are told apart, and runs part at a rule that they change") {
  check_told_apart({"acquire-keeps-l1", "marker-overtakes-writes"});
}
TEST_CASE("each fault of write-through is told apart", "[.][nightly]") {
  std::vector<std::string> faults;
  for (const Fault& fault : subject_named("write-through").system->faults) faults.emplace_back(fault.name);
  check_told_apart(faults);
}

TEST_CASE("systems with other rules and the same outcomes are not said to differ") {
  const CompareReport report = compare_systems(
      {system_named("write-through"), system_named("write-through/no-l1")}, only_generated(3));
  CHECK(report.outcomes.differing == 0);
  CHECK(report.outcomes.same == report.outcomes.generated);
  CHECK_FALSE(report.outcomes.smallest);
  CHECK(exit_status(report) == 0);
  REQUIRE(report.texts);
  CHECK(report.texts->alike());
  const Names& lost = report.texts->only_rules[0];
  CHECK(std::count(lost.begin(), lost.end(), "load hits L1") == 1);
  CHECK_THAT(compare_text(report), Catch::Contains("no difference was found"));
}

TEST_CASE("a variant that a race-free program tells apart is found, past those that race") {
  CompareOptions options = only_tests({"release-after-barrier-agent", "mp-agent"});
  options.generate.up_to = 0;
  const CompareReport report =
      compare_systems({system_named("quick-release"), system_named("quick-release/split-fifo")}, options);
  CHECK(report.outcomes.compared == 2);
  CHECK(report.outcomes.same == 1);
  CHECK(report.outcomes.race_free_names == Names{"release-after-barrier-agent"});
  REQUIRE(report.outcomes.evidence);
  CHECK_THAT(report.outcomes.evidence->parting, Catch::Contains("release queues its marker (thread 1)"));
  CHECK(report.texts->changed_invariants == Names{"S-FIFO1 lists every dirty block of its wL1"});
}

TEST_CASE("on request tests that race are passed over, and a difference of theirs is none") {
  // Synchronization of too small a scope: the program races under HRF.
  const auto racy_only = [](bool race_free) {
    CompareOptions options = only_tests({"scope-wg-sync-across-agent"});
    options.race_free = race_free;
    return compare_systems({system_named("sc"), system_named("quick-release")}, options);
  };
  const CompareReport all = racy_only(false);
  CHECK(all.outcomes.differing == 1);
  CHECK(all.outcomes.race_free == 0);
  REQUIRE(all.outcomes.smallest);
  CHECK(all.outcomes.smallest->race_free == false);
  const CompareReport race_free = racy_only(true);
  CHECK(race_free.outcomes.passed_over == 1);
  CHECK(race_free.outcomes.differing == 0);
  CHECK(exit_status(race_free) == 0);
}

TEST_CASE("protocols that have little in common are compared by outcomes alone") {
  const CompareReport report = compare_systems({system_named("sc"), system_named("quick-release")},
                                               only_tests({"scope-wg-sync-across-agent"}));
  REQUIRE(report.texts);
  CHECK_FALSE(report.texts->alike());
  CHECK_THAT(compare_text(report), Catch::Contains("those of different protocols"));
}

TEST_CASE("invariants are compared, also of systems that run no programs") {
  CompareOptions options;
  options.generate.up_to = 0;
  Subject left = system_named("german");
  Subject right = system_named("german", {"keep-copy"});
  for (Subject* subject : {&left, &right}) subject->options.sizes["node"] = 2;
  const CompareReport report = compare_systems({left, right}, options);
  REQUIRE(report.invariants);
  REQUIRE(report.invariants->differences.size() == 1);
  const InvariantDifference& one = report.invariants->differences.front();
  CHECK(one.status == Both<CheckStatus>{CheckStatus::holds, CheckStatus::violated});
  REQUIRE(one.counterexample);
  CHECK(one.counterexample->subject.options.faults == Names{"keep-copy"});
  CHECK(exit_status(report) == 1);
  CHECK(exit_status(compare_systems({left, system_named("german", {})}, options)) == 0);
}

TEST_CASE("a run that reaches a limit decides nothing") {
  CompareOptions options;
  options.limits.memory = 1 << 20;
  Subject larger = system_named("german");
  larger.options.sizes["node"] = 5;
  const CompareReport report = compare_systems({system_named("german"), larger}, options);
  CHECK(report.invariants->counts[0].at(CheckStatus::inconclusive) == 1);
  CHECK(report.open());
  CHECK(exit_status(report) == 3);
  CHECK_THAT(compare_text(report), Catch::Contains("not all was decided"));
}

TEST_CASE("models are told apart by a test with the execution that one forbids, and why") {
  const CompareReport report = compare_models(models("tso", "rmo"), only_generated(4));
  REQUIRE(report.outcomes.smallest);
  CHECK_THAT(report.outcomes.smallest->test->doc, Catch::Contains("CoRR"));
  REQUIRE(report.outcomes.evidence);
  CHECK(report.outcomes.evidence->side == 1);
  CHECK_THAT(report.outcomes.evidence->views[0], Catch::Contains("uniproc fails"));
  CHECK_THAT(report.outcomes.evidence->views[1], !Catch::Contains("fails"));
  CHECK(report.outcomes.more == Both<std::size_t>{0, report.outcomes.differing});
}

TEST_CASE("accesses of a dialect without proxies are generic ones") {
  const CompareReport report = compare_models(models("ptx-v6.0", "ptx-v7.5"), only_generated(4));
  CHECK(report.outcomes.differing == 0);
  CHECK(report.outcomes.same > 15000);
}

TEST_CASE("faults that tests notice on one side alone are told") {
  CompareOptions options = only_tests({"mp-two-blocks-agent", "release-after-barrier-agent", "mp-agent"});
  const Subject one_entry = [] {
    Subject subject = system_named("quick-release");
    subject.options.sizes["s-fifo1-entries"] = 1;
    return subject;
  }();
  const CompareReport report = compare_systems({system_named("quick-release"), one_entry}, options);
  REQUIRE(report.faults);
  CHECK(report.faults->common > 20);
  const auto& differences = report.faults->differences;
  const auto lost = std::find_if(differences.begin(), differences.end(),
                                 [](const FaultDifference& one) { return one.fault == "entry-lost"; });
  REQUIRE(lost != differences.end());
  CHECK(lost->noticed == Both<std::string>{"mp-two-blocks-agent (deadlock)", ""});
  CHECK_THAT(compare_text(report), Catch::Contains("noticed on quick-release alone\n    entry-lost: mp-two"));

  const CompareReport other = compare_systems(
      {system_named("quick-release"), system_named("quick-release", {"entry-lost"})}, options);
  REQUIRE(other.faults);
  CHECK(other.faults->only == Both<Names>{Names{"entry-lost"}, Names{}});
}

TEST_CASE("a model that flags a program differs from one that does not") {
  const CompareReport report =
      compare_models(models("sc", "hrf-indirect"), only_tests({"scope-wg-sync-across-agent"}));
  CHECK(report.outcomes.differing == 1);
  REQUIRE(report.outcomes.smallest);
  CHECK(report.outcomes.smallest->shown[0].flags.empty());
  CHECK_FALSE(report.outcomes.smallest->shown[1].flags.empty());
  CHECK_THAT(compare_text(report), Catch::Contains("hrf-indirect leaves it undefined"));
}

TEST_CASE("what cannot be compared is refused") {
  const CompareOptions options = only_generated(3);
  CHECK_THROWS_WITH(compare_systems({system_named("sc"), system_named("sc")}, options),
                    Catch::Contains("sc twice"));
  CHECK_THROWS_WITH(compare_systems({system_named("sc"), system_named("cpcoh")}, options),
                    Catch::Contains("clients of different kinds"));
  CHECK_THROWS_WITH(compare_models(models("tso", "tso"), options), Catch::Contains("nothing to compare"));
}

TEST_CASE("a comparison as JSON says what its text says") {
  const CompareReport report = compare_systems(
      {system_named("write-through"), system_named("write-through", {"early-acknowledgement"})},
      only_generated(3));
  const nlohmann::json json = compare_json(report);
  CHECK(json.at("schema") == "lockstep.compare/1");
  CHECK(json.at("differ") == true);
  CHECK(json.at("outcomes").at("differing") == report.outcomes.differing);
  CHECK(json.at("outcomes").at("evidence").at("side") == 1);
  CHECK(json.at("rules").at("differ").size() == 2);
}

TEST_CASE("counters of simulations that moved are told apart by what they count, run time first") {
  const auto run = [](double cycles, double replaced, const char* end, int wrong) {
    return nlohmann::json{{"workload", "copy"},
                          {"system", "s"},
                          {"end", end},
                          {"seed", 1},
                          {"cycles", cycles},
                          {"words_wrong", wrong},
                          {"dram", {{"bytes", 64}}},
                          {"caches",
                           {{{"table", "l1"}, {"replaced", replaced}, {"installed", 3}},
                            {{"table", "l2"}, {"replaced", 2 * replaced}, {"installed", 3}}}}};
  };
  const auto document = [](nlohmann::json one) {
    return nlohmann::json{{"machine", "apu"}, {"runs", {std::move(one)}}};
  };
  const CounterReport moved =
      compare_counters({document(run(100, 4, "finished", 0)), document(run(110, 0, "stuck", 2))}, {"s", "s"});
  REQUIRE(moved.workloads.size() == 1);
  const WorkloadCounters& one = moved.workloads.front();
  CHECK(one.counters == 6);
  REQUIRE(one.moved.size() == 3);
  CHECK(one.moved[0].counter == "cycles");
  CHECK(one.moved[0].by() == Approx(0.1));
  CHECK(one.moved[1].counter == "caches l1 replaced");
  CHECK(one.moved[2].values == Both<double>{8, 0});
  CHECK(moved.differ());
  CHECK_THAT(counters_text(moved), Catch::Contains("+10.0 %") && Catch::Contains("s is stuck") &&
                                       Catch::Contains("2 words wrong on s") &&
                                       Catch::Contains("3 of 6 counters moved"));
  CHECK(counters_json(moved).at("workloads").at(0).at("moved").size() == 3);

  const auto same = document(run(100, 4, "finished", 0));
  const CounterReport none = compare_counters({same, same}, {"s", "s"});
  CHECK_FALSE(none.differ());
  CHECK_THROWS_AS(compare_counters({nlohmann::json::object(), same}, {"s", "s"}), BadInput);
}
