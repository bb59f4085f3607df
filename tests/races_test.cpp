// What races, under which model and reading, and by what evidence. The last part judges the detector by the
// definition, on every interleaving of small random programs.
#include "checker/races/races.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/races/monitor.hpp"
#include "tests/race_definition.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

constexpr auto any_location = SyncReading::any_location;
constexpr auto same_location = SyncReading::same_location;

Program program_of(const std::string& initial, const std::string& columns) {
  return parse_litmus("HRF t\n{ " + initial + " }\n" + columns + "\nexists (true)\n", "t.litmus").program;
}

RaceAnswer answer(const Program& program, RaceModel model, SyncReading reading = any_location) {
  return analyse_races(program, {.models = {model}, .readings = {reading}, .explore = {}})
      .of(model, reading)
      .answer;
}

Race race_of(const Program& program, RaceModel model, SyncReading reading = any_location) {
  const RaceReport report = analyse_races(program, {.models = {model}, .readings = {reading}, .explore = {}});
  REQUIRE(report.of(model, reading).answer == RaceAnswer::race);
  return report.of(model, reading).race.value();
}

// The models under which a program races, in both readings; a REQUIRE fails where the readings differ.
std::set<std::string> races_under(const Program& program) {
  const RaceReport report = analyse_races(program);
  std::set<std::string> found;
  for (const RaceModel model : race_models) {
    const RaceAnswer any = report.of(model, any_location).answer;
    REQUIRE(any == report.of(model, same_location).answer);
    REQUIRE((any == RaceAnswer::race || any == RaceAnswer::race_free));
    if (any == RaceAnswer::race) found.emplace(name(model));
  }
  return found;
}

const std::set<std::string> every_model{"drf", "hrf-direct", "hrf-indirect", "hrf-relaxed-direct",
                                        "hrf-relaxed-indirect"};
const std::set<std::string> no_model;

std::vector<fs::path> litmus_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "litmus")) {
    if (entry.path().extension() != ".litmus") continue;
    if (read_litmus(entry.path().string()).launches == nullptr) files.push_back(entry.path());
  }
  return files;
}

// P1 reads the data only if it saw the flag. The two accesses to the flag are the arguments.
Program message_passing(const std::string& store, const std::string& load, const std::string& reader) {
  return program_of("x = 0; flag = 0;", " P0@wg 0,agent 0 | P1@" + reader + " ;\n st x, 1 | " + load +
                                            " ;\n " + store +
                                            " | bne r0, 1, END ;\n | ld r1, x ;\n | END: ;");
}

}  // namespace

// ---- The suite -------------------------------------------------------------------------------------------

TEST_CASE("the suite's Race lines are what the detector finds, in both readings") {
  int compared = 0;
  for (const fs::path& file : litmus_files()) {
    const LitmusTest test = read_litmus(file.string());
    if (test.expected_races.empty()) continue;
    const RaceReport report = analyse_races(test.program);
    INFO(file.string());
    REQUIRE(report.judged);
    for (const ExpectedRace& expected : test.expected_races) {
      for (const RaceVerdict& verdict : report.verdicts) {
        if (name(verdict.model) != expected.model) continue;
        INFO(file.string() << ": " << expected.model << ", " << name(verdict.reading));
        if (verdict.race) INFO(print(*verdict.race, test.program));
        CHECK(verdict.answer == (expected.race ? RaceAnswer::race : RaceAnswer::race_free));
        ++compared;
      }
    }
  }
  CHECK(compared >= 3000);
}

TEST_CASE("a race's evidence is two conflicting steps of an execution that ends with the second") {
  for (const fs::path& file : litmus_files()) {
    const LitmusTest test = read_litmus(file.string());
    for (const RaceVerdict& verdict : analyse_races(test.program).verdicts) {
      if (!verdict.race) continue;
      INFO(file.string() << ": " << print(*verdict.race, test.program));
      const Race& race = *verdict.race;
      const auto instruction = [&](const PerformedOperation& o) {
        return test.program.threads[static_cast<std::size_t>(o.thread)]
            .code[static_cast<std::size_t>(o.instruction)];
      };
      CHECK(race.first.thread != race.second.thread);
      CHECK(instruction(race.first).location == race.location);
      CHECK(instruction(race.second).location == race.location);
      CHECK((race.first.writes || race.second.writes));
      const bool plain =
          instruction(race.first).order == Order::plain || instruction(race.second).order == Order::plain;
      CHECK((race.kind == ConflictKind::ordinary) == plain);
      REQUIRE(race.execution.size() >= 2);
      CHECK(race.execution.back() == race.second);
      CHECK(std::find(race.execution.begin(), race.execution.end() - 1, race.first) !=
            race.execution.end() - 1);
    }
  }
}

// ---- Evidence --------------------------------------------------------------------------------------------

TEST_CASE("a reader that does not look at the flag races, and the evidence names both accesses") {
  const Program program = program_of("x = 0; flag = 0;", R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 ;
 st x, 1               | ld.acquire.wg r0, flag ;
 st.release.wg flag, 1 | ld r1, x               ;)");
  CHECK(races_under(program) == every_model);
  const Race race = race_of(program, RaceModel::hrf_indirect);
  CHECK(race.kind == ConflictKind::ordinary);
  CHECK(race.location == 0);
  CHECK(print(race, program) == "ordinary race on x: P1 'ld r1, x' and P0 'st x, 1'");
  CHECK(race.first ==
        PerformedOperation{.thread = 1, .instruction = 1, .reads = true, .writes = false, .value = 0});
  CHECK(race.second ==
        PerformedOperation{.thread = 0, .instruction = 0, .reads = false, .writes = true, .value = 1});
}

TEST_CASE("knowing an earlier access does not order the latest, which is the evidence") {
  // P1 acquires what P0 knew after its first store, and from y it learns of the second without acquiring it.
  const Program program = program_of("x = 0; flag = 0; y = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1                          | ld.acquire.agent r0, flag       ;
 st.release.agent flag, 1         | bne r0, 1, END                  ;
 st x, 2                          | atom.release.agent.add r1, y, 0 ;
 atom.acquire.agent.exch r0, y, 1 | bne r1, 1, END                  ;
                                  | ld r2, x                        ;
                                  | END:                            ;)");
  CHECK(races_under(program) == every_model);
  CHECK(print(race_of(program, RaceModel::hrf_indirect), program) ==
        "ordinary race on x: P0 'st x, 2' and P1 'ld r2, x'");
}

TEST_CASE("atomics at unequal scopes are a synchronization conflict") {
  const Program program = program_of(
      "flag = 0;",
      " P0@wg 0,agent 0 | P1@wg 0,agent 0 ;\n st.release.wg flag, 1 | ld.acquire.agent r0, flag ;");
  const Race race = race_of(program, RaceModel::hrf_direct);
  CHECK(race.kind == ConflictKind::synchronization);
  CHECK(race.location == 0);
}

// ---- Scopes ----------------------------------------------------------------------------------------------

TEST_CASE("data handed over at a scope that includes both threads does not race") {
  CHECK(races_under(message_passing("st.release.wg flag, 1", "ld.acquire.wg r0, flag", "wg 0,agent 0")) ==
        no_model);
  CHECK(races_under(message_passing("st.release.agent flag, 1", "ld.acquire.agent r0, flag",
                                    "wg 1,agent 0")) == no_model);
  CHECK(races_under(message_passing("st.release.system flag, 1", "ld.acquire.system r0, flag", "host")) ==
        no_model);
}

TEST_CASE("a scope too narrow races everywhere but in DRF, which knows no scopes") {
  const std::set<std::string> scoped{"hrf-direct", "hrf-indirect", "hrf-relaxed-direct",
                                     "hrf-relaxed-indirect"};
  CHECK(races_under(message_passing("st.release.wg flag, 1", "ld.acquire.wg r0, flag", "wg 1,agent 0")) ==
        scoped);
  CHECK(races_under(message_passing("st.release.agent flag, 1", "ld.acquire.agent r0, flag",
                                    "wg 1,agent 1")) == scoped);
  CHECK(races_under(message_passing("st.release.wave flag, 1", "ld.acquire.wave r0, flag", "wg 0,agent 0")) ==
        scoped);
}

TEST_CASE("work-groups of the same number on two agents are two") {
  CHECK(races_under(message_passing("st.release.wg flag, 1", "ld.acquire.wg r0, flag", "wg 0,agent 1"))
            .contains("hrf-indirect"));
}

TEST_CASE("unequal scopes that include each other's thread synchronize in HRF-relaxed only") {
  CHECK(races_under(message_passing("st.release.wg flag, 1", "ld.acquire.system r0, flag", "wg 0,agent 0")) ==
        std::set<std::string>{"hrf-direct", "hrf-indirect"});
  // The writer's work-group does not include the reader, although the reader's agent includes the writer.
  CHECK(races_under(message_passing("st.release.wg flag, 1", "ld.acquire.agent r0, flag", "wg 1,agent 0"))
            .contains("hrf-relaxed-indirect"));
  CHECK(races_under(message_passing("st.release.agent flag, 1", "ld.acquire.wg r0, flag", "wg 1,agent 0"))
            .contains("hrf-relaxed-indirect"));
}

TEST_CASE("a hand-over that changes scope on the way is ordered where closures are taken together") {
  CHECK(
      races_under(program_of("x = 0; a = 0; b = 0;", R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 | P2@wg 1,agent 0 ;
 st x, 1            | ld.acquire.wg r0, a   | ld.acquire.agent r0, b ;
 st.release.wg a, 1 | bne r0, 1, END        | bne r0, 1, END         ;
                    | st.release.agent b, 1 | ld r1, x               ;
                    | END:                  | END:                   ;)")) ==
      std::set<std::string>{"hrf-direct", "hrf-relaxed-direct"});
}

TEST_CASE("in HRF-relaxed-direct a pair of unequal scopes is part of the closures of both") {
  // P0 to P1 is a pair (wg, agent), P1 to P2 is at agent: together in the closure of agent.
  const std::string chain_by_agent = R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 | P2@wg 1,agent 0 ;
 st x, 1            | ld.acquire.agent r0, a | ld.acquire.agent r0, b ;
 st.release.wg a, 1 | bne r0, 1, END         | bne r0, 1, END         ;
                    | st.release.agent b, 1  | ld r1, x               ;
                    | END:                   | END:                   ;)";
  CHECK(answer(program_of("x = 0; a = 0; b = 0;", chain_by_agent), RaceModel::hrf_relaxed_direct) ==
        RaceAnswer::race_free);
  // The same with (system, wg) first: no instance is in both pairs. Where locations don't matter, P0's
  // release pairs with P2's acquire besides.
  const std::string chain_apart = R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 | P2@wg 1,agent 0 ;
 st x, 1                | ld.acquire.wg r0, a   | ld.acquire.agent r0, b ;
 st.release.system a, 1 | bne r0, 1, END        | bne r0, 1, END         ;
                        | st.release.agent b, 1 | ld r1, x               ;
                        | END:                  | END:                   ;)";
  const Program apart = program_of("x = 0; a = 0; b = 0;", chain_apart);
  CHECK(answer(apart, RaceModel::hrf_relaxed_direct, same_location) == RaceAnswer::race);
  CHECK(answer(apart, RaceModel::hrf_relaxed_direct, any_location) == RaceAnswer::race_free);
  CHECK(answer(apart, RaceModel::hrf_relaxed_indirect, same_location) == RaceAnswer::race_free);
  // (wg, system), then (agent, system): nothing is released at the instance that both share.
  const std::string chain_by_acquires = R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 | P2@wg 1,agent 0 ;
 st x, 1            | ld.acquire.system r0, a | ld.acquire.system r0, b ;
 st.release.wg a, 1 | bne r0, 1, END          | bne r0, 1, END          ;
                    | st.release.agent b, 1   | ld r1, x                ;
                    | END:                    | END:                    ;)";
  CHECK(answer(program_of("x = 0; a = 0; b = 0;", chain_by_acquires), RaceModel::hrf_relaxed_direct) ==
        RaceAnswer::race_free);
}

// ---- The two readings of synchronization order ------------------------------------------------------------

TEST_CASE("the readings differ where a release is observed by an RMW that does not acquire") {
  // P1 knows from `a` that P0 has released, but acquires on `b`, which nobody ever writes.
  const Program program = program_of("x = 0; a = 0; b = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1               | atom.release.agent.add r0, a, 0 ;
 st.release.agent a, 1 | bne r0, 1, END                  ;
                       | ld.acquire.agent r1, b          ;
                       | ld r2, x                        ;
                       | END:                            ;)");
  for (const RaceModel model : race_models) {
    CHECK(answer(program, model, any_location) == RaceAnswer::race_free);
    CHECK(answer(program, model, same_location) == RaceAnswer::race);
  }
}

TEST_CASE("the readings differ where a kernel begins after a release that is no kernel's end") {
  // P0 passes on to P2 that P1 has released, without acquiring from it.
  const Program program = program_of(
      "a = 0; x = 0; b = 0;", R"( P0@wg 0,agent 0,kernel 0 | P1@wg 1,agent 0 | P2@wg 2,agent 0,kernel 1 ;
 atom.release.system.add r0, a, 0  | st x, 1                | atom.release.system.add r0, b, 0 ;
 atom.acquire.system.exch r1, b, r0 | st.release.system a, 1 | bne r0, 1, END                   ;
                                   |                        | ld r1, x                         ;
                                   |                        | END:                             ;)");
  CHECK(answer(program, RaceModel::hrf_indirect, any_location) == RaceAnswer::race_free);
  CHECK(answer(program, RaceModel::hrf_indirect, same_location) == RaceAnswer::race);
}

TEST_CASE(
    "what races in the reading with more synchronization races in the other, and so between the models") {
  for (const fs::path& file : litmus_files()) {
    INFO(file.string());
    const RaceReport report = analyse_races(read_litmus(file.string()).program);
    const auto races = [&](RaceModel model, SyncReading reading) {
      return report.of(model, reading).answer == RaceAnswer::race;
    };
    for (const RaceModel model : race_models)
      CHECK(races(model, any_location) <= races(model, same_location));
    if (!report.judged) continue;
    for (const SyncReading reading : sync_readings) {
      CHECK(races(RaceModel::drf, reading) <= races(RaceModel::hrf_relaxed_indirect, reading));
      CHECK(races(RaceModel::hrf_indirect, reading) <= races(RaceModel::hrf_direct, reading));
      CHECK(races(RaceModel::hrf_relaxed_indirect, reading) <= races(RaceModel::hrf_relaxed_direct, reading));
      CHECK(races(RaceModel::hrf_relaxed_indirect, reading) <= races(RaceModel::hrf_indirect, reading));
      CHECK(races(RaceModel::hrf_relaxed_direct, reading) <= races(RaceModel::hrf_direct, reading));
    }
  }
}

// ---- Operations ------------------------------------------------------------------------------------------

TEST_CASE("a compare-and-swap that fails is a load: it acquires, and releases nothing") {
  const auto chained = [](const std::string& swap) {
    return program_of("x = 0; a = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1               | atom.acq_rel.agent.cas r0, a, )" +
                                           swap + R"( ;
 st.release.agent a, 1 | bne r0, 1, END ;
                       | ld r1, x       ;
                       | END:           ;)");
  };
  CHECK(races_under(chained("1, 2")) == no_model);
  CHECK(races_under(chained("7, 8")) == no_model);

  // P1 learns from b, without acquiring there, that P0's swap is over; only a swap that succeeds released x.
  // (Acquiring on a, where the swap was.)
  const auto released = [](const std::string& swap) {
    return program_of("x = 0; a = 0; b = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1                               | atom.release.agent.add r0, b, 0 ;
 atom.acq_rel.agent.cas r0, a, )" + swap + R"( | bne r0, 1, END ;
 atom.acquire.agent.exch r1, b, 1      | ld.acquire.agent r1, a ;
                                       | ld r2, x ;
                                       | END: ;)");
  };
  CHECK(races_under(released("0, 1")) == no_model);
  CHECK(races_under(released("7, 8")) == every_model);
}

TEST_CASE("failed compare-and-swaps at unequal scopes don't conflict with each other") {
  const std::string columns =
      " P0@wg 0,agent 0 | P1@wg 0,agent 0 ;\n"
      " atom.acq_rel.wg.cas r0, a, 7, 8 | atom.acq_rel.agent.cas r0, a, 7, 8 ;";
  CHECK(races_under(program_of("a = 0;", columns)) == no_model);
  CHECK(races_under(program_of("a = 7;", columns)) == std::set<std::string>{"hrf-direct", "hrf-indirect"});
}

TEST_CASE("a barrier orders what its work-group does around it") {
  const std::string columns = " st x, 1 | barrier ;\n barrier | ld r0, x ;";
  CHECK(races_under(program_of("x = 0;", " P0@wg 0,agent 0 | P1@wg 0,agent 0 ;\n" + columns)) == no_model);
  CHECK(races_under(program_of("x = 0;", " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n" + columns)) == every_model);
}

TEST_CASE("two stores between the same barriers race") {
  CHECK(races_under(program_of("x = 0;", R"( P0@wg 0,agent 0 | P1@wg 0,agent 0 ;
 barrier | barrier ;
 st x, 1 | st x, 2 ;
 barrier | barrier ;)")) == every_model);
}

TEST_CASE("a kernel's end comes before the next kernel's begin") {
  const std::string columns = " st x, 1 | ld r0, x ;";
  CHECK(races_under(program_of(
            "x = 0;", " P0@wg 0,agent 0,kernel 0 | P1@wg 0,agent 1,kernel 1 ;\n" + columns)) == no_model);
  CHECK(races_under(program_of(
            "x = 0;", " P0@wg 0,agent 0,kernel 0 | P1@wg 0,agent 1,kernel 0 ;\n" + columns)) == every_model);
}

// ---- Fences, and relaxed atomics --------------------------------------------------------------------------

TEST_CASE("DRF and HRF do not judge relaxed atomics, and say so; HRF-relaxed does") {
  const Program program =
      message_passing("st.relaxed.agent flag, 1", "ld.relaxed.agent r0, flag", "wg 1,agent 0");
  const RaceReport report = analyse_races(program);
  CHECK_FALSE(report.judged);
  CHECK(report.reason == "it has a relaxed atomic: P0 'st.relaxed.agent flag, 1'");
  for (const SyncReading reading : sync_readings) {
    for (const RaceModel model : {RaceModel::drf, RaceModel::hrf_direct, RaceModel::hrf_indirect}) {
      CHECK(report.of(model, reading).answer == RaceAnswer::not_judged);
      CHECK(report.of(model, reading).reason == report.reason);
    }
    CHECK(report.of(RaceModel::hrf_relaxed_direct, reading).answer == RaceAnswer::race);
    CHECK(report.of(RaceModel::hrf_relaxed_indirect, reading).answer == RaceAnswer::race);
  }
  CHECK_FALSE(report.inconclusive());
}

TEST_CASE("fences synchronize through the relaxed atomics next to them") {
  const auto fenced = [](const std::string& release, const std::string& acquire, const std::string& reader) {
    return program_of("x = 0; flag = 0;", " P0@wg 0,agent 0 | P1@" + reader +
                                              " ;\n st x, 1 | ld.relaxed.agent r0, flag ;\n " + release +
                                              " | bne r0, 1, END ;\n st.relaxed.agent flag, 1 | " + acquire +
                                              " ;\n | ld r1, x ;\n | END: ;");
  };
  for (const RaceModel model : {RaceModel::hrf_relaxed_direct, RaceModel::hrf_relaxed_indirect}) {
    for (const SyncReading reading : sync_readings) {
      const auto judge = [&](const std::string& release, const std::string& acquire,
                             const std::string& reader) {
        return answer(fenced(release, acquire, reader), model, reading);
      };
      CHECK(judge("fence.release.agent", "fence.acquire.agent", "wg 1,agent 0") == RaceAnswer::race_free);
      CHECK(judge("fence.sc.agent", "fence.sc.agent", "wg 1,agent 0") == RaceAnswer::race_free);
      CHECK(judge("fence.acquire.agent", "fence.acquire.agent", "wg 1,agent 0") == RaceAnswer::race);
      CHECK(judge("fence.release.agent", "fence.release.agent", "wg 1,agent 0") == RaceAnswer::race);
      CHECK(judge("fence.release.wg", "fence.acquire.agent", "wg 1,agent 0") == RaceAnswer::race);
      CHECK(judge("fence.release.wg", "fence.acquire.agent", "wg 0,agent 0") == RaceAnswer::race_free);
    }
  }
}

TEST_CASE("a release fence releases what was known at the fence, not what came after it") {
  const Program program = program_of("x = 0; flag = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 fence.release.agent      | ld.relaxed.agent r0, flag ;
 st x, 1                  | bne r0, 1, END            ;
 st.relaxed.agent flag, 1 | fence.acquire.agent       ;
                          | ld r1, x                  ;
                          | END:                      ;)");
  for (const SyncReading reading : sync_readings) {
    CHECK(answer(program, RaceModel::hrf_relaxed_indirect, reading) == RaceAnswer::race);
  }
}

TEST_CASE("an acquire fence acquires what was released when the thread read, not when it passes the fence") {
  // P1 knows from y, read without acquiring, that P0 has released on flag; its own read of flag was earlier.
  const auto program = [](const std::string& again) {
    return program_of("x = 0; flag = 0; y = 0;", R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1                  | ld.relaxed.agent r0, flag       ;
 st.release.agent flag, 1 | atom.release.agent.add r1, y, 0 ;
 st.relaxed.agent y, 1    | bne r1, 1, END                  ;
                          | )" + again + R"( ;
                          | fence.acquire.agent             ;
                          | ld r2, x                        ;
                          | END:                            ;)");
  };
  CHECK(answer(program("mov r3, 0"), RaceModel::hrf_relaxed_indirect, same_location) == RaceAnswer::race);
  CHECK(answer(program("ld.relaxed.agent r3, flag"), RaceModel::hrf_relaxed_indirect, same_location) ==
        RaceAnswer::race_free);
}

// ---- Programs that never end, limits ----------------------------------------------------------------------

TEST_CASE("a program that never ends is judged in a finite space") {
  const std::string loop = R"( P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 L: atom.acquire.agent.cas r0, m, 0, 1 | L: atom.acquire.agent.cas r0, m, 0, 1 ;
 bne r0, 0, L                          | bne r0, 0, L                          ;
 st x, 1                               | st x, 2                               ;
 )";
  CHECK(races_under(program_of(
            "x = 0; m = 0;", loop + "st.release.agent m, 0 | st.release.agent m, 0 ;\n goto L | goto L ;")) ==
        no_model);
  // One of the two forgets to release.
  CHECK(races_under(program_of(
            "x = 0; m = 0;",
            loop + "st.release.agent m, 0 | atom.acquire.agent.exch r1, m, 0 ;\n goto L | goto L ;")) ==
        every_model);
}

TEST_CASE("a program in which no two accesses conflict needs no exploration") {
  const RaceReport report =
      analyse_races(program_of("x = 0; y = 0;", " P0@wg 0 | P1@wg 1 ;\n st x, 1 | st y, 1 ;"));
  for (const RaceVerdict& verdict : report.verdicts) {
    CHECK(verdict.answer == RaceAnswer::race_free);
    CHECK(verdict.states == 0);
  }
}

namespace {

// Many interleavings, and a store that would race if it were ever reached.
Program large_program() {
  std::string columns = " P0@wg 0 | P1@wg 1 | P2@wg 2 | P3@wg 3 ;\n";
  for (int i = 0; i < 20; ++i) columns += " ld r0, x | ld r0, x | ld r0, y | ld r0, y ;\n";
  columns += " ld.acquire.agent r0, z | | | ;\n bne r0, 1, END | | | ;\n st x, 1 | | | ;\n END: | | | ;";
  return program_of("x = 0; y = 0; z = 0;", columns);
}

}  // namespace

TEST_CASE("an analysis that is interrupted or at a limit says so instead of judging") {
  const Program program = large_program();
  const auto report_of = [&](const ExploreOptions& explore) {
    return analyse_races(
        program, {.models = {RaceModel::hrf_indirect}, .readings = {any_location}, .explore = explore});
  };
  const auto reason_of = [&](const RaceReport& report) {
    CHECK(report.inconclusive());
    CHECK(report.verdicts[0].answer == RaceAnswer::inconclusive);
    CHECK_FALSE(report.verdicts[0].race);
    return report.verdicts[0].reason;
  };
  std::atomic<bool> interrupted = true;
  ExploreOptions explore;
  explore.interrupted = &interrupted;
  CHECK(reason_of(report_of(explore)) == "it was interrupted");
  interrupted = false;
  explore.memory_limit = 1;
  CHECK(reason_of(report_of(explore)) == "the memory limit was reached");
  explore.memory_limit = 0;
  explore.time_limit = std::chrono::milliseconds(1);
  CHECK(reason_of(report_of(explore)) == "the time limit was reached");
}

TEST_CASE("the answer does not depend on the number of workers") {
  ExploreOptions explore;
  explore.threads = 2;
  const Program racy = message_passing("st.release.wg flag, 1", "ld.acquire.agent r0, flag", "wg 0,agent 0");
  const RaceReport alone = analyse_races(racy);
  const RaceReport shared = analyse_races(racy, {.explore = explore});
  REQUIRE(alone.verdicts.size() == shared.verdicts.size());
  for (std::size_t i = 0; i < alone.verdicts.size(); ++i) {
    CHECK(alone.verdicts[i].answer == shared.verdicts[i].answer);
    if (!alone.verdicts[i].race) CHECK(alone.verdicts[i].states == shared.verdicts[i].states);
  }
}

TEST_CASE("a time limit leaves every verdict of a large program inconclusive") {
  ExploreOptions explore;
  explore.time_limit = std::chrono::milliseconds(20);
  for (const RaceVerdict& verdict : analyse_races(large_program(), {.explore = explore}).verdicts) {
    CHECK(verdict.answer == RaceAnswer::inconclusive);
  }
}

TEST_CASE("a value beyond the run's range makes the analysis inconclusive") {
  const Program program = program_of("x = 1;", R"( P0@wg 0,agent 0,kernel 0 | P1@wg 1,agent 0,kernel 1 ;
 L: ld r0, x    | ld r0, x ;
 mul r0, r0, 60 |          ;
 st x, r0       |          ;
 goto L         |          ;)");
  const RaceReport report =
      analyse_races(program, {.models = {RaceModel::drf}, .readings = {any_location}, .explore = {}});
  CHECK(report.inconclusive());
  CHECK(report.verdicts[0].reason ==
        "the program computes 216000, this run holds values from -32768 to 32767");
}

namespace {

// Four kernels load and store nine locations in turn, but for one load; a host thread loads the last location
// out of turn.
Program many_accesses() {
  Program program;
  program.name = "many";
  constexpr std::int16_t count = 9;
  for (int l = 0; l < count; ++l) program.locations.push_back({"x" + std::to_string(l), 0, l / 4, l % 4});
  const auto step = [](Opcode opcode, int location) {
    Instruction i;
    i.opcode = opcode;
    i.location = static_cast<std::int16_t>(location);
    if (opcode == Opcode::load) i.destination = 0;
    return i;
  };
  for (int t = 0; t < 4; ++t) {
    std::vector<Instruction> code{step(Opcode::kernel_begin, -1)};
    for (int l = 0; l < count; ++l) {
      if (t + l > 0) code.push_back(step(Opcode::load, l));
      code.push_back(step(Opcode::store, l));
    }
    code.push_back(step(Opcode::kernel_end, -1));
    const Placement place{.host = false, .wave = t, .wg = t, .agent = 0, .kernel = t};
    program.threads.push_back({"P" + std::to_string(t), place, {"r0"}, {0}, code});
  }
  const Placement host{.host = true, .wave = 4, .wg = 0, .agent = 0, .kernel = -1};
  program.threads.push_back({"P4", host, {"r0"}, {0}, {step(Opcode::load, count - 1)}});
  return program;
}

}  // namespace

TEST_CASE("a race is found beyond the accesses that one monitor can hold") {
  const Program program = many_accesses();
  const auto monitors = Monitor::monitors_of(program, RaceModel::drf, any_location);
  REQUIRE(monitors.size() == 2);
  CHECK(monitors[0].classes().size() + monitors[1].classes().size() == 4 * 2 * 9 - 1 + 1);
  const Race race = race_of(program, RaceModel::drf);
  CHECK(race.location == 8);
  CHECK((race.first.thread == 4 || race.second.thread == 4));
}

TEST_CASE("a monitor's sets survive packing, whatever words they straddle") {
  std::mt19937_64 random(7);
  bool straddling = false;
  for (const Monitor& monitor : Monitor::monitors_of(many_accesses(), RaceModel::drf, any_location)) {
    const Monitor::Classes mask = ~Monitor::Classes{0} >> (64 - monitor.classes().size());
    Monitor::Sets sets = monitor.initial();
    for (Monitor::Classes& set : sets) set = random() & mask;
    std::vector<std::uint64_t> words((monitor.bits() + 63) / 64, ~std::uint64_t{0});
    monitor.pack(sets, words.data());
    Monitor::Sets unpacked;
    monitor.unpack(words.data(), unpacked);
    CHECK(unpacked == sets);
    straddling |= monitor.bits() > 64 && 64 % monitor.classes().size() != 0;
  }
  CHECK(straddling);
}

// ---- By the definition ------------------------------------------------------------------------------------

namespace {

// All interleavings of a loop-free program on a flat memory of its own: loads, stores, exchanges,
// compare-and-swaps, fences, barriers and `bne` forward.
class Interleavings {
 public:
  Interleavings(const Program& program, const std::function<void(const by_definition::Run&)>& visit)
      : program_(program), visit_(visit) {
    Point start;
    for (const Thread& thread : program.threads)
      start.threads.push_back({0, false, false, thread.initial_values});
    start.memory.resize(program.locations.size(), 0);
    go(start);
  }

 private:
  struct At {
    std::size_t pc = 0;
    bool arrived = false;  // at the barrier where it stands
    bool opened = false;   // and may depart
    std::vector<std::int32_t> registers;
  };
  struct Point {
    std::vector<At> threads;
    std::vector<std::int32_t> memory;
    by_definition::Run run;
  };

  void go(const Point& point) {
    bool moved = false;
    for (std::size_t t = 0; t < program_.threads.size(); ++t) {
      Point next = point;
      if (!step(next, t)) continue;
      moved = true;
      go(next);
    }
    if (!moved) visit_(point.run);
  }

  // Takes the thread's next step, with the branches before it, if it has one and need not wait.
  bool step(Point& point, std::size_t t) const {
    const auto& code = program_.threads[t].code;
    At& at = point.threads[t];
    const auto value = [&](const Operand& o) {
      return o.is_register ? at.registers[static_cast<std::size_t>(o.value)] : o.value;
    };
    while (at.pc < code.size() && code[at.pc].opcode == Opcode::branch) {
      const bool taken = value(code[at.pc].a) != value(code[at.pc].b);
      at.pc = taken ? static_cast<std::size_t>(code[at.pc].target) : at.pc + 1;
    }
    if (at.pc == code.size()) return false;
    const Instruction& i = code[at.pc];
    by_definition::Step step{static_cast<int>(t), &i, false, false, point.run.size()};
    if (i.opcode == Opcode::barrier) {
      if (at.arrived && !at.opened) return false;
      step.reads = at.opened;
      step.writes = !at.opened;
      if (at.opened) {
        ++at.pc;
        at.arrived = at.opened = false;
      } else {
        at.arrived = true;
        open(point, t);
      }
    } else {
      if (i.location >= 0) {
        std::int32_t& word = point.memory[static_cast<std::size_t>(i.location)];
        const bool swaps = i.rmw != RmwFunction::compare_swap || word == value(i.a);
        step.reads = i.opcode != Opcode::store;
        step.writes = i.opcode == Opcode::store || (i.opcode == Opcode::rmw && swaps);
        const std::int32_t old = word;
        if (step.writes)
          word = value(i.opcode == Opcode::rmw && i.rmw == RmwFunction::compare_swap ? i.b : i.a);
        if (i.destination >= 0) at.registers[static_cast<std::size_t>(i.destination)] = old;
      }
      ++at.pc;
    }
    point.run.push_back(step);
    return true;
  }
  void open(Point& point, std::size_t t) const {
    const Placement& self = program_.threads[t].placement;
    std::vector<At*> members;
    for (std::size_t u = 0; u < program_.threads.size(); ++u) {
      const Placement& other = program_.threads[u].placement;
      if (!other.host && other.agent == self.agent && other.wg == self.wg)
        members.push_back(&point.threads[u]);
    }
    for (const At* member : members) {
      if (!member->arrived || member->opened) return;
    }
    for (At* member : members) member->opened = true;
  }

  const Program& program_;
  const std::function<void(const by_definition::Run&)>& visit_;
};

// Small programs: a hand-over of x by way of y, or of y and z through another thread, with scopes, orders and
// now and then whole instructions drawn at random.
class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {}

  Program next() {
    relaxed_ = chance(4);
    fences_ = relaxed_ || chance(4);
    for (Scope& scope : usual_) scope = any_scope();
    Program program;
    program.name = "random";
    for (int l = 0; l < 3; ++l)
      program.locations.push_back({std::string(1, static_cast<char>('x' + l)), 0, l, 0});
    const bool relayed = chance(2);
    add_thread(program, {store(x), hand_over(y)});
    if (relayed) add_thread(program, {take(y), guard(), hand_over(z)});
    std::vector<Instruction> reader{take(relayed ? z : y), guard(), chance(2) ? load(x) : store(x)};
    if (!relayed || chance(3)) reader.insert(reader.begin() + 2, take(static_cast<std::int16_t>(below(3))));
    add_thread(program, reader);
    return program;
  }

 private:
  static constexpr std::int16_t x = 0, y = 1, z = 2;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }

  void add_thread(Program& program, const std::vector<Instruction>& code) {
    Thread thread;
    thread.name = "P" + std::to_string(program.threads.size());
    thread.registers = {"r0"};
    thread.initial_values = {0};
    const int wave = static_cast<int>(program.threads.size());
    thread.placement = {chance(8), wave, chance(3) ? 1 : 0, chance(4) ? 1 : 0, -1};
    for (const Instruction& usual : code) {
      if (fences_ && chance(6)) thread.code.push_back(fence());
      thread.code.push_back(!chance(10) ? usual : chance(3) ? barrier() : chance(2) ? take(x) : hand_over(x));
    }
    for (Instruction& i : thread.code) {
      if (i.opcode == Opcode::branch) i.target = static_cast<std::int16_t>(thread.code.size());
      if (!thread.placement.host) continue;
      i.scope = Scope::system;
      if (i.opcode == Opcode::barrier) i = load(x);
    }
    program.threads.push_back(std::move(thread));
  }

  Scope any_scope() {
    return chance(12) ? Scope::wave : chance(2) ? Scope::wg : chance(2) ? Scope::agent : Scope::system;
  }
  // Mostly one scope a location.
  Scope scope(std::int16_t location) {
    return chance(5) || location < 0 ? any_scope() : usual_[static_cast<std::size_t>(location)];
  }
  Instruction instruction(Opcode opcode, Order order, std::int16_t location = -1) {
    Instruction i;
    i.opcode = opcode;
    i.order = order;
    i.scope = order == Order::plain ? Scope::system : scope(location);
    i.location = location;
    if (opcode == Opcode::load || opcode == Opcode::rmw) i.destination = 0;
    return i;
  }
  Instruction load(std::int16_t location) { return instruction(Opcode::load, Order::plain, location); }
  Instruction store(std::int16_t location) {
    Instruction i = instruction(Opcode::store, Order::plain, location);
    i.a = {false, 1};
    return i;
  }
  Instruction guard() {
    Instruction i;
    i.opcode = Opcode::branch;
    i.comparison = Comparison::not_equal;
    i.a = {true, 0};
    i.b = {false, 1};
    return i;
  }
  Instruction barrier() {
    Instruction i;
    i.opcode = Opcode::barrier;
    return i;
  }
  Instruction fence() {
    return instruction(Opcode::fence, std::array{Order::acquire, Order::release, Order::sc}[below(3)]);
  }
  Instruction rmw(std::int16_t location) {
    const Order order = std::array{Order::acquire, Order::release, Order::acq_rel}[below(3)];
    Instruction i = instruction(Opcode::rmw, order, location);
    i.rmw = chance(2) ? RmwFunction::exchange : RmwFunction::compare_swap;
    i.a = {false, static_cast<std::int32_t>(below(2))};
    i.b = {false, 1};
    return i;
  }
  Instruction hand_over(std::int16_t location) {
    if (chance(5)) return rmw(location);
    Instruction i = store(location);
    i.order = relaxed_ && chance(2) ? Order::relaxed : Order::release;
    i.scope = scope(location);
    return i;
  }
  Instruction take(std::int16_t location) {
    if (chance(4)) return rmw(location);
    return instruction(Opcode::load, relaxed_ && chance(2) ? Order::relaxed : Order::acquire, location);
  }

  std::mt19937 random_;
  bool relaxed_ = false;
  bool fences_ = false;
  std::array<Scope, 3> usual_{};
};

}  // namespace

TEST_CASE("the detector agrees with the definition on random programs") {
  RandomPrograms programs(20140301);
  std::map<std::string, int> seen;
  for (int n = 0; n < 3000; ++n) {
    const Program program = programs.next();
    INFO(print_program(program));
    const RaceReport report = analyse_races(program);
    std::map<std::pair<RaceModel, SyncReading>, bool> races;
    std::vector<std::pair<const RaceVerdict*, by_definition::Races>> judges;
    for (const RaceVerdict& verdict : report.verdicts) {
      if (verdict.answer != RaceAnswer::not_judged)
        judges.emplace_back(&verdict, by_definition::Races(program, verdict.model, verdict.reading));
      races[{verdict.model, verdict.reading}] = false;
    }
    const Interleavings all(program, [&](const by_definition::Run& run) {
      for (const auto& [verdict, definition] : judges) {
        bool& found = races[{verdict->model, verdict->reading}];
        found = found || definition.in(run);
      }
    });
    for (const auto& [verdict, definition] : judges) {
      const bool race = races.at({verdict->model, verdict->reading});
      INFO(name(verdict->model) << ", " << name(verdict->reading));
      CHECK(verdict->answer == (race ? RaceAnswer::race : RaceAnswer::race_free));
      ++seen[race ? "races" : "race-free"];
    }
    const auto differ = [&](RaceModel m, SyncReading r, RaceModel other, SyncReading other_reading) {
      return races.at({m, r}) != races.at({other, other_reading});
    };
    if (report.judged) {
      seen["models differ"] += differ(RaceModel::drf, any_location, RaceModel::hrf_indirect, any_location);
      seen["closures differ"] +=
          differ(RaceModel::hrf_direct, any_location, RaceModel::hrf_indirect, any_location);
    }
    seen["relaxed closures differ"] +=
        differ(RaceModel::hrf_relaxed_direct, any_location, RaceModel::hrf_relaxed_indirect, any_location);
    seen["readings differ"] +=
        differ(RaceModel::hrf_relaxed_indirect, any_location, RaceModel::hrf_relaxed_indirect, same_location);
  }
  // The comparison says something only if all of this comes up.
  for (const char* what : {"races", "race-free", "models differ", "closures differ",
                           "relaxed closures differ", "readings differ"}) {
    INFO(what);
    CHECK(seen[what] >= 10);
  }
}

TEST_CASE("races between elements that registers name are found, and told of the access as it was written") {
  const auto program = [](const std::string& element) {
    return parse_litmus(
               "HRF t\n{ x[2] = {0, 0}; y = " + element +
                   "; }\n P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n ld r0, y | st x[1], 2 ;\n st x[r0], 1 | ;\n"
                   "exists (true)\n",
               "t.litmus")
        .program;
  };
  const RaceReport apart = analyse_races(program("0"));
  const RaceReport same = analyse_races(program("1"));
  for (const RaceVerdict& verdict : apart.verdicts) CHECK(verdict.answer == RaceAnswer::race_free);
  for (const RaceVerdict& verdict : same.verdicts) {
    REQUIRE(verdict.answer == RaceAnswer::race);
    const PerformedOperation& store =
        verdict.race->first.thread == 0 ? verdict.race->first : verdict.race->second;
    CHECK(store.instruction == 1);
  }
}
