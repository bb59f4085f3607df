// Runs that do not end, told from executions that models allow: held against exploration of all interleavings
// wherever both answer.
#include "checker/liveness/model_progress.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/generate/progress.hpp"
#include "checker/generate/progress_table.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/home.hpp"

using namespace lockstep;

namespace {

std::vector<ProgressModel> all_schedulers() {
  std::vector<ProgressModel> all;
  for (const NamedProgressModel& one : progress_models) all.push_back(one.model);
  return all;
}

LitmusTest program(const std::string& threads, const std::string& columns,
                   const std::string& initial = "x = 0; y = 0;") {
  return parse_litmus(threads + "\n{ " + initial + " }\n" + columns + "\nforall (true)\n", "t.litmus");
}
LitmusTest two(const std::string& dialect, const std::string& columns) {
  const std::string places =
      dialect == "PTX" ? " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n" : " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n";
  return program(dialect + " t", places + columns);
}

// "unfair:livelock hsa:terminates ..."
std::string verdicts(const LitmusTest& test, const std::string& model) {
  const ModelProgress found = judge_progress(test, AxiomaticModel(model), all_schedulers());
  INFO(found.message);
  CHECK(found.status == RunStatus::complete);
  std::string text;
  for (std::size_t i = 0; i < found.verdicts.size(); ++i) {
    text += text.empty() ? "" : " ";
    text += std::string(progress_models.at(i).name) + ":" + std::string(word(found.verdicts[i].termination));
  }
  return text;
}
ModelProgress::Verdict fairly(const LitmusTest& test, const std::string& model) {
  const std::vector<ProgressModel> fair{ProgressModel::fair};
  const ModelProgress found = judge_progress(test, AxiomaticModel(model), fair);
  INFO(found.message);
  REQUIRE(found.verdicts.size() == 1);
  return found.verdicts.front();
}

// How many verdicts both ways gave; they have to be the same.
std::size_t compare_with_interleavings(const generate::ProgressSpace& space, const std::string& model) {
  const AxiomaticModel axioms(model);
  const std::vector<ProgressModel> schedulers = all_schedulers();
  const generate::ProgressPrograms programs(space);
  const generate::OwesOfModels owes = generate::owes_of_models(space.threads);
  JudgeOptions options;
  options.unroll.iterations = 3;
  std::size_t both = 0;
  programs.enumerate(0, programs.candidates(), [&](const generate::ProgressProgram& one) {
    const auto explored = generate::judge(one, owes, {});
    REQUIRE(explored);
    const ModelProgress found = judge_progress(*generate::to_test(one), axioms, schedulers, options);
    const auto ends = explored->terminates_under(TerminationQuestion::weak_fairness);
    for (std::size_t i = 0; i < schedulers.size(); ++i) {
      const Termination said = found.verdicts[i].termination;
      if (said == Termination::inconclusive) continue;
      ++both;
      if ((said == Termination::terminates) == ends[i]) continue;
      INFO(name_of(one) << " under " << progress_models.at(i).name << ": " << word(said));
      CHECK((said == Termination::terminates) == ends[i]);
    }
  });
  return both;
}

}  // namespace

TEST_CASE("what goes round under a model does so in some interleaving, under each scheduler", "[axiomatic]") {
  CHECK(compare_with_interleavings({.threads = 2, .instructions = 2}, "sc") > 100);
  // All accesses synchronize, so weaker models say the same.
  CHECK(compare_with_interleavings({.threads = 2, .instructions = 2}, "hrf-relaxed") > 100);
}

TEST_CASE("what goes round under SC does so in some interleaving, of every program of three instructions",
          "[.][nightly]") {
  CHECK(compare_with_interleavings({.threads = 2, .instructions = 3}, "sc") > 5'000);
  CHECK(compare_with_interleavings({.threads = 3, .instructions = 3}, "sc") > 1'000);
}

TEST_CASE("files that say what they expect of schedulers are right under models", "[axiomatic]") {
  SuiteFiles files = read_tests(std::vector{(shipped("litmus") / "waiting").string()}, "", Clients::include);
  REQUIRE(files.errors.empty());
  std::size_t checked = 0;
  for (const auto& test : files.tests) {
    CAPTURE(test->name);
    const ModelProgress found = judge_progress(*test, AxiomaticModel("sc"), all_schedulers());
    INFO(found.message);
    REQUIRE(found.status == RunStatus::complete);
    for (const ExpectedProgress& line : test->expected_progress) {
      const SchedulerSetup setup = scheduler_named(line.scheduler);
      if (setup.is_policy) continue;
      for (const ModelProgress::Verdict& verdict : found.verdicts) {
        if (verdict.scheduler != setup.model) continue;
        CAPTURE(line.scheduler);
        CHECK(word(verdict.termination) == line.verdict);
        ++checked;
      }
    }
  }
  CHECK(checked > 10);
}

TEST_CASE("locks and semaphores go round for ever under SC where they do in interleavings", "[axiomatic]") {
  const std::string folder = (shipped("litmus") / "sync").string();
  std::size_t both = 0;
  for (const std::string name : {"sync-ticket-lock", "sync-test-and-set", "sync-g-srb-truncates",
                                 "sync-decentralized-ticket-lock", "sync-spin-sem-as-printed"}) {
    SuiteFiles files = read_tests(std::vector{name}, folder, Clients::include);
    REQUIRE(files.tests.size() == 1);
    const LitmusTest& test = *files.tests.front();
    const ModelProgress found = judge_progress(test, AxiomaticModel("sc"), all_schedulers());
    INFO(name << found.message);
    REQUIRE(found.status == RunStatus::complete);
    for (const ModelProgress::Verdict& verdict : found.verdicts) {
      Subject subject = subject_named("sc");
      subject.program = std::make_shared<const Program>(for_memory_systems(test));
      subject.options.scheduler = scheduler_named(name_of(verdict.scheduler));
      const Termination explored = judge_termination(subject, {}).termination;
      CAPTURE(name_of(verdict.scheduler));
      if (verdict.termination == Termination::inconclusive) continue;
      ++both;
      CHECK(verdict.termination == (explored == Termination::trap ? Termination::livelock : explored));
    }
  }
  CHECK(both > 24);
}

TEST_CASE("a flag that is written is seen, and one that nobody owes is not waited for in vain",
          "[axiomatic]") {
  const LitmusTest flag = two("PTX",
                              " st.relaxed.gpu x, 1 | L: ld.relaxed.gpu r0, x ;\n"
                              "                     | beq r0, 0, L ;");
  const std::string expected =
      "unfair:livelock hsa:terminates obe:livelock hsa-obe:terminates lobe:terminates fair:terminates";
  for (const std::string model : {"ptx-v6.0", "sc", "tso"}) CHECK(verdicts(flag, model) == expected);
  const ModelProgress one = judge_progress(flag, AxiomaticModel("ptx-v6.0"), std::vector{ProgressModel::obe});
  CHECK(one.verdicts.front().run ==
        std::vector<std::string>{"P0 never begins",
                                 "P1 goes round for ever, where `ld.relaxed.agent r0, x` reads 0"});
  CHECK_THAT(progress_text(std::vector{one}), Catch::Contains("Verdict      livelock\n  P0 never begins\n"));
  CHECK(progress_json(std::vector{one}).at("programs").at(0).at("verdicts").at("obe").at("verdict") ==
        "livelock");
}

TEST_CASE("order that a model does not keep is what makes a loop endless", "[axiomatic]") {
  // Two locks, taken in turn: who sees the first flag sees the second, if the model orders the stores.
  const auto handed = [](const std::string& store, const std::string& load) {
    return two("PTX", " st.weak x, 1        | " + load + " r0, y ;\n " + store +
                          " y, 1 | bne r0, 1, E ;\n | L: ld.relaxed.gpu r1, x ;\n | beq r1, 0, L ;\n | E: ;");
  };
  // The store to x becomes visible in the end, whatever the order.
  CHECK(fairly(handed("st.relaxed.gpu", "ld.relaxed.gpu"), "ptx-v6.0").termination ==
        Termination::terminates);
  // Who looks once, and waits for what the other does only if it saw nothing: store buffering.
  const LitmusTest both = two("PTX",
                              " st.relaxed.gpu x, 1    | st.relaxed.gpu y, 1 ;\n"
                              " ld.relaxed.gpu r0, y   | ld.relaxed.gpu r0, x ;\n"
                              " bne r0, 0, E           | bne r0, 0, E ;\n"
                              " L: ld.relaxed.gpu r1, z | L: ld.relaxed.gpu r1, w ;\n"
                              " beq r1, 0, L           | beq r1, 0, L ;\n"
                              " E: st.relaxed.gpu w, 1 | E: st.relaxed.gpu z, 1 ;");
  CHECK(fairly(both, "sc").termination == Termination::terminates);
  CHECK(fairly(both, "ptx-v6.0").termination == Termination::livelock);
}

TEST_CASE("threads that wait at barriers for ever are a deadlock, and with them others may go round",
          "[axiomatic]") {
  const auto in_one_group = [](const std::string& columns) {
    return program("PTX t", " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n" + columns);
  };
  const LitmusTest parted = in_one_group(
      " ld.relaxed.gpu r0, x | st.relaxed.gpu x, 1 ;\n bne r0, 0, E | bar.sync 0 ;\n bar.sync 0 | ;\n E: | "
      ";");
  const ModelProgress::Verdict hangs = fairly(parted, "ptx-v6.0");
  CHECK(hangs.termination == Termination::deadlock);
  CHECK(hangs.run.at(1) == "P1 waits for ever at `barrier`");
  const LitmusTest behind = in_one_group(
      " L: ld.relaxed.gpu r0, x | bar.sync 0 ;\n beq r0, 0, L | st.relaxed.gpu x, 1 ;\n bar.sync 0 | ;");
  CHECK(fairly(behind, "ptx-v6.0").termination == Termination::livelock);
  const LitmusTest before = in_one_group(
      " L: ld.relaxed.gpu r0, x | st.relaxed.gpu x, 1 ;\n beq r0, 0, L | bar.sync 0 ;\n bar.sync 0 | ;");
  CHECK(fairly(before, "ptx-v6.0").termination == Termination::terminates);
}

TEST_CASE("loops that write are not followed for ever, and assertions come first", "[axiomatic]") {
  const LitmusTest grows = two("HRF", " L: atom.relaxed.agent.add r0, x, 1 | ld r0, y ;\n beq r0, r0, L | ;");
  CHECK(fairly(grows, "rc11").termination == Termination::inconclusive);
  const LitmusTest fails =
      two("HRF", " ld r0, x | L: ld.relaxed.agent r0, x ;\n assert r0 == 1 | beq r0, 0, L ;");
  CHECK(fairly(fails, "rc11").termination == Termination::unsafe);
}
