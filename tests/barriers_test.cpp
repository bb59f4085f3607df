// Barriers with numbers, participants and arrivals on memory systems, held against the models, which decide
// by other means who meets whom (checker/axiomatic/rounds.hpp).
#include "spec/program/barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "checker/axiomatic/model.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/races/races.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/trace/trace.hpp"

using namespace lockstep;

namespace {

std::string placed(const std::string& scopes, int threads) {
  std::string line;
  for (int t = 0; t < threads; ++t) line += fmt::format("{} P{}@{}", t > 0 ? " |" : "", t, scopes);
  return line + " ;\n";
}
LitmusTest ptx(int threads, const std::string& columns, const std::string& initial = "") {
  return parse_litmus("PTX t\n{ x = 0; y = 0; " + initial + " }\n" + placed("cta 0,gpu 0", threads) +
                          columns + "\nlocations [x; y]\nforall (true)\n",
                      "t.litmus");
}
LitmusTest hrf(int threads, const std::string& columns, const std::string& shown = "x; y; P1:r0") {
  return parse_litmus("HRF t\n{ x = 0; y = 0; }\n" + placed("wg 0,agent 0", threads) + columns +
                          "\nlocations [" + shown + "]\nforall (true)\n",
                      "t.litmus");
}
// With the registers that the rows name.
LitmusTest observing(LitmusTest test) {
  test.observed.clear();
  for (std::size_t t = 0; t < test.program.threads.size(); ++t) {
    for (std::size_t r = 0; r < test.program.threads[t].registers.size(); ++r) {
      if (!test.program.threads[t].registers[r].starts_with("r")) continue;
      ConditionTerm term;
      term.kind = ConditionTerm::Kind::register_;
      term.thread = static_cast<int>(t);
      term.index = static_cast<int>(r);
      test.observed.push_back(term);
    }
  }
  return test;
}

std::vector<Outcome> allowed(const LitmusTest& test, const std::string& model) {
  const ModelRun run = judge(test, AxiomaticModel(model));
  INFO(run.message);
  REQUIRE(run.status == RunStatus::complete);
  std::vector<Outcome> outcomes;
  for (const AllowedOutcome& one : run.outcomes) outcomes.push_back(one.outcome);
  return outcomes;
}

// Each of three threads or more, two of which meet at a time.
const std::vector<std::pair<int, std::string>> programs{
    {3,
     " st.weak x, 1           | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
     " bar.cta.arrive 1, 1, 2 | ld.weak r0, x        | ld.weak r0, x ;"},
    {2, " st.weak x, 1           | bar.cta.sync 1, 1, 2 ;\n bar.cta.arrive 1, 1, 2 | ld.weak r0, x ;"},
    {3,
     " st.weak x, 1         | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
     " bar.cta.sync 1, 1, 2 | ld.weak r0, x        | ld.weak r0, x ;\n"
     " ld.weak r1, y | mov r1, 1 | st.weak y, 1 ;"},
    {4,
     " st.weak x, 1         | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
     " bar.cta.sync 1, 1, 2 | ld.weak r0, x        | | ld.weak r0, x ;"},
    {3,
     " bar.cta.sync 1, 1, 2 | st.weak x, 1         | bar.cta.sync 1, 1, 2 ;\n"
     " bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | ld.weak r0, x ;\n ld.weak r0, x | | ;"},
    // Two numbers, of which each thread has one, or both.
    {4,
     " st.weak x, 1 | st.weak y, 1 | bar.sync 1 | bar.sync 2 ;\n"
     " bar.sync 1 | bar.sync 2 | ld.weak r0, x | ld.weak r0, x ;\n | | ld.weak r1, y | ld.weak r1, y ;"},
    {3,
     " st.weak x, 1 | bar.sync 1 | bar.sync 2 ;\n bar.sync 1 | bar.sync 2 | ld.weak r0, x ;\n"
     " ld.weak r0, y | st.weak y, 1 | ;"},
    // Everybody in turn: an arrival counts for its own time only.
    {2,
     " bar.arrive 1 | bar.sync 1 ;\n st.weak x, 1 | ld.weak r0, x ;\n bar.arrive 1 | bar.sync 1 ;\n"
     " | ld.weak r1, x ;"},
    {2,
     " bar.arrive 1 | bar.sync 1 ;\n st.weak x, 1 | ld.weak r0, x ;\n bar.sync 1 | bar.sync 1 ;\n"
     " ld.weak r0, y | ld.weak r1, x ;\n | st.weak y, 1 ;"},
    // The number is a register's.
    {2, " st.weak x, 1 | bar.cta.sync 3, 2 ;\n bar.cta.sync 3, r2 | ld.weak r0, x ;"},
};

LitmusTest program_of(const std::pair<int, std::string>& one) {
  const bool named = one.second.find("r2") != std::string::npos;
  return observing(ptx(one.first, one.second, named ? "P0:r2 = 2;" : ""));
}

}  // namespace

TEST_CASE("who meets whom on SC is what the model says") {
  for (const auto& one : programs) {
    CAPTURE(one.second);
    const LitmusTest test = program_of(one);
    const SystemRun run = run_on_system(test, subject_named("sc"), {});
    INFO(run.message << failure_text(run));
    REQUIRE(run.status == RunStatus::complete);
    CHECK(run.outcomes == allowed(test, "sc"));
    Subject plain = subject_named("sc");
    plain.options.reductions = Reductions::none();
    CHECK(run_on_system(test, plain, {}).outcomes == run.outcomes);
  }
}

TEST_CASE("caches show nothing at counted barriers that PTX forbids") {
  const std::string system = GENERATE("write-through", "quick-release");
  for (const auto& one : programs) {
    CAPTURE(system, one.second);
    const LitmusTest test = program_of(one);
    const SystemRun run = run_on_system(test, subject_named(system), {});
    INFO(run.message << failure_text(run));
    REQUIRE(run.status == RunStatus::complete);
    const std::vector<Outcome> may = allowed(test, "ptx-v6.0");
    CHECK(std::includes(may.begin(), may.end(), run.outcomes.begin(), run.outcomes.end()));
  }
}

TEST_CASE("barriers one after the other order what precedes the first before what follows the last") {
  const std::string model = GENERATE("sc", "tso", "rmo", "ptx-v6.0");
  CAPTURE(model);
  const std::vector<Outcome> read{{1}};
  CHECK(allowed(observing(ptx(2, " st.weak x, 1 | bar.sync 1 ;\n bar.sync 1 | ld.weak r0, x ;")), model) ==
        read);
  CHECK(allowed(observing(ptx(3,
                              " st.weak x, 1 | bar.sync 1 | bar.sync 2 ;\n"
                              " bar.sync 1   | bar.sync 2 | ld.weak r0, x ;")),
                model) == read);
}

TEST_CASE("a barrier that nobody has ever met at leaves nobody behind: it is a deadlock") {
  const LitmusTest alone = ptx(2, " bar.cta.sync 1, 1, 2 | ;\n st.weak x, 1 | ;");
  const SystemRun run = run_on_system(alone, subject_named(GENERATE("sc", "write-through")), {});
  CHECK(run.status == RunStatus::deadlock);
  REQUIRE(run.failure);
  CHECK(replay(*run.failure).difference.empty());
  // Each waits at the barrier that the other has still to reach.
  const LitmusTest crossed = ptx(2, " bar.sync 1 | bar.sync 2 ;\n bar.sync 2 | bar.sync 1 ;");
  CHECK(run_on_system(crossed, subject_named("sc"), {}).status == RunStatus::deadlock);
}

TEST_CASE("in HRF a barrier is everybody's unless it says how many take part") {
  const LitmusTest all = hrf(3, " st x, 1  | barrier 1 | ;\n barrier 1 | ld r0, x  | ;");
  CHECK(run_on_system(all, subject_named("sc"), {}).status == RunStatus::deadlock);
  const LitmusTest two = hrf(3, " st x, 1     | barrier 1, 2 | st y, 1 ;\n barrier 1, 2 | ld r0, x | ;");
  const SystemRun run = run_on_system(two, subject_named("quick-release"), {});
  REQUIRE(run.status == RunStatus::complete);
  CHECK(run.outcomes == std::vector<Outcome>{{1, 1, 1}});
}

TEST_CASE("groups whose barriers are counted leave the others' as they are") {
  const LitmusTest test = parse_litmus(
      "HRF t\n{ x = 0; y = 0; }\n"
      " P0@wg 0,agent 0 | P1@wg 0,agent 0 | P2@wg 1,agent 0 | P3@wg 1,agent 0 ;\n"
      " st x, 1 | barrier.arrive 3 | st y, 1 | barrier ;\n barrier 3 | | barrier | ld r0, y ;\n"
      "locations [P3:r0]\nforall (P3:r0 == 1)\n",
      "t.litmus");
  for (const std::string system : {"sc", "write-through"}) {
    CAPTURE(system);
    const SystemRun run = run_on_system(test, subject_named(system), {});
    INFO(run.message << failure_text(run));
    REQUIRE(run.status == RunStatus::complete);
    CHECK(run.outcomes == std::vector<Outcome>{{1}});
  }
}

TEST_CASE("what is not known of a barrier beforehand is refused, and so are races and disagreement") {
  const auto message = [](const LitmusTest& test) {
    return run_on_system(test, subject_named("sc"), {}).message;
  };
  CHECK_THAT(message(ptx(1, " ld.weak r0, x ;\n bar.cta.sync r0 ;")), Catch::Contains("known beforehand"));
  CHECK_THAT(message(ptx(2, " bar.cta.sync 1, 1, r1 | bar.cta.sync 1, 1, r1 ;", "P0:r1 = 1; P1:r1 = 2;")),
             Catch::Contains("has a barrier 1 with 1 participants, and with 2"));
  CHECK_THROWS_WITH(analyse_races(hrf(3, " barrier 1, 2 | barrier 1, 2 | ;", "x").program),
                    Catch::Contains("who meets there is not followed"));
}
