// Claims about waiting policies: who runs again, who never does, and what each mistake costs.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/liveness/liveness.hpp"
#include "checker/scheduling/setup.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep {
namespace {

using Settings = std::vector<std::string>;

Program program_of(const std::string& text) {
  return parse_litmus(text, "test").program;
}

// Makes an atomic a waiting one.
void waits(Program& program, std::size_t thread, std::size_t pc, std::int32_t expected) {
  Instruction& i = program.threads[thread].code[pc];
  i.waits = true;
  (i.opcode == Opcode::load || i.rmw == RmwFunction::compare_swap ? i.a : i.b) = {false, expected};
}

// P0 waits for P1's store.
Program one_waits() {
  Program program = program_of(R"(HRF one-waits
{ x = 0; }
 P0@wg 0,agent 0           | P1@wg 1,agent 0        ;
 ld.acquire.agent r0, x    | st.release.agent x, 1  ;
forall (true)
)");
  waits(program, 0, 0, 1);
  return program;
}

// P0 and P1 wait for different values of one location, which P2 stores one after the other.
Program two_values() {
  Program program = program_of(R"(HRF two-values
{ x = 0; }
 P0@wg 0,agent 0           | P1@wg 1,agent 0           | P2@wg 2,agent 0        ;
 ld.acquire.agent r0, x    | ld.acquire.agent r0, x    | st.release.agent x, 1  ;
 st.release.agent y, 1     |                           | ld.acquire.agent r0, y ;
                           |                           | st.release.agent x, 2  ;
forall (true)
)");
  waits(program, 0, 0, 1);
  waits(program, 1, 0, 2);
  waits(program, 2, 1, 1);
  return program;
}

// P0 and P1 wait for the same value.
Program two_wait() {
  Program program = program_of(R"(HRF two-wait
{ x = 0; }
 P0@wg 0,agent 0           | P1@wg 1,agent 0           | P2@wg 2,agent 0        ;
 ld.acquire.agent r0, x    | ld.acquire.agent r0, x    | st.release.agent x, 1  ;
forall (true)
)");
  waits(program, 0, 0, 1);
  waits(program, 1, 0, 1);
  return program;
}

// A lock taken by a waiting compare-and-swap; who has it stores and reads back.
Program lock() {
  Program program = program_of(R"(HRF lock
{ lock = 0; x = 0; }
 P0@wg 0,agent 0                            | P1@wg 1,agent 0                            ;
 atom.acquire.agent.cas r0, lock, 0, 1      | atom.acquire.agent.cas r0, lock, 0, 1      ;
 st x, 1                                    | st x, 2                                    ;
 ld r0, x                                   | ld r0, x                                   ;
 assert r0 == 1                             | assert r0 == 2                             ;
 mov r0, 0                                  | mov r0, 0                                  ;
 st.release.agent lock, 0                   | st.release.agent lock, 0                   ;
forall (true)
)");
  waits(program, 0, 0, 0);
  waits(program, 1, 0, 0);
  return program;
}

// The same between three.
Program lock_of_three() {
  Program program = program_of(R"(HRF lock-of-three
{ lock = 0; x = 0; }
 P0@wg 0,agent 0                       | P1@wg 1,agent 0                       | P2@wg 2,agent 0                       ;
 atom.acquire.agent.cas r0, lock, 0, 1 | atom.acquire.agent.cas r0, lock, 0, 1 | atom.acquire.agent.cas r0, lock, 0, 1 ;
 st x, 1                               | st x, 2                               | st x, 3                               ;
 ld r0, x                              | ld r0, x                              | ld r0, x                              ;
 assert r0 == 1                        | assert r0 == 2                        | assert r0 == 3                        ;
 st.release.agent lock, 0              | st.release.agent lock, 0              | st.release.agent lock, 0              ;
forall (true)
)");
  for (std::size_t t = 0; t < 3; ++t) waits(program, t, 0, 0);
  return program;
}

std::string verdict_on(const std::string& system, const std::string& scheduler, Program program,
                       const Settings& settings = {}, CycleFairness fairness = CycleFairness::strong) {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(std::move(program));
  subject.options.scheduler = scheduler_named(scheduler);
  for (const std::string& setting : settings) apply_setting(*subject.options.scheduler, setting);
  LivenessOptions options;
  options.fairness = fairness;
  const LivenessRun run = judge_termination(subject, options);
  if (run.termination == Termination::error) return run.message;
  return std::string(word(run.termination));
}
std::string verdict(const std::string& scheduler, Program program, const Settings& settings = {}) {
  return verdict_on("sc", scheduler, std::move(program), settings, CycleFairness::weak);
}

}  // namespace

TEST_CASE("with a slot for everybody, the baseline and the waiting atomics let a waiter go on", "[waiting]") {
  for (const char* policy : {"busy-waiting", "timeout", "monnr-all", "monnr-one", "awg"}) {
    CAPTURE(policy);
    CHECK(verdict(policy, one_waits()) == "terminates");
    CHECK(verdict(policy, two_wait()) == "terminates");
    CHECK(verdict(policy, lock()) == "terminates");
  }
}

TEST_CASE("with a slot too few, the baseline's waiter keeps out whom it waits for", "[waiting]") {
  CHECK(verdict("busy-waiting", one_waits(), {"slots=1"}) == "trap");
  CHECK(verdict("busy-waiting", lock(), {"slots=1"}) == "terminates");
  CHECK(verdict("busy-waiting", lock(), {"taken=1"}) == "trap");
  for (const char* policy : {"timeout", "monnr-all", "monnr-one", "awg"}) {
    CAPTURE(policy);
    CHECK(verdict(policy, one_waits(), {"slots=1"}) == "terminates");
    CHECK(verdict(policy, lock(), {"slots=1"}) == "terminates");
    CHECK(verdict(policy, lock(), {"taken=1"}) == "terminates");
  }
}

TEST_CASE("a wait instruction that comes behind the store waits for ever, unless it times out", "[waiting]") {
  for (const char* policy : {"monrs-all", "monr-all"}) {
    CAPTURE(policy);
    CHECK(verdict(policy, one_waits()) == "deadlock");
    CHECK(verdict(policy, one_waits(), {"timeouts=stalled"}) == "terminates");
    CHECK(verdict(policy, one_waits(), {"slots=1", "timeouts=stalled"}) == "terminates");
  }
}

TEST_CASE("who waits for another value of the address is lost with the monitored bit", "[waiting]") {
  CHECK(verdict("monnr-all", two_values()) == "deadlock");
  CHECK(verdict("monnr-all", two_values(), {"reading=keeps-monitoring"}) == "terminates");
  CHECK(verdict("monnr-all", two_values(), {"timeouts=all"}) == "terminates");
}

TEST_CASE("AWG's timeouts reach stalled work-groups only: whoever is switched out stays lost", "[waiting]") {
  CHECK(verdict("awg", two_values()) == "terminates");
  CHECK(verdict("awg", two_values(), {"slots=2"}) == "deadlock");
  CHECK(verdict("awg", two_values(), {"slots=2", "timeouts=all"}) == "terminates");
  CHECK(verdict("awg", two_values(), {"slots=2", "reading=keeps-monitoring"}) == "terminates");
}

TEST_CASE("a prediction of one waiter too few loses the others, if they are switched out", "[waiting]") {
  CHECK(verdict("awg", two_wait()) == "terminates");
  CHECK(verdict("awg", two_wait(), {"timeouts=none"}) == "deadlock");
  CHECK(verdict("awg", two_wait(), {"slots=2"}) == "deadlock");
  CHECK(verdict("awg", two_wait(), {"slots=2", "timeouts=all"}) == "terminates");
  CHECK(verdict("monnr-all", two_wait(), {"slots=2"}) == "terminates");
}

TEST_CASE("who is resumed when its time is up, though others want its slot, may keep it for ever",
          "[waiting]") {
  for (const char* policy : {"timeout", "monnr-one", "awg"}) {
    CAPTURE(policy);
    CHECK(verdict(policy, one_waits(), {"slots=1", "reading=expiry-resumes"}) == "livelock");
  }
}

TEST_CASE("AWG's own prediction is one of those that it may make, and loses who arms late", "[waiting]") {
  const Settings predicts{"reading=predictor"};
  const Settings no_timeouts{"reading=predictor", "timeouts=none"};
  for (const Program& program : {one_waits(), two_wait(), two_values(), lock(), lock_of_three()}) {
    INFO(program.name);
    CHECK(verdict("awg", program, predicts) == "terminates");
  }
  CHECK(verdict("awg", one_waits(), no_timeouts) == "terminates");
  CHECK(verdict("awg", two_wait(), no_timeouts) == "deadlock");
  CHECK(verdict("awg", two_wait(), {"reading=predictor", "timeouts=stalled", "slots=2"}) == "deadlock");
  // Of a barrier's updates those count that are made while somebody waits for its end.
  const Program barrier =
      sync_program("tree-barrier").build({"", "", {{"cus", 1}, {"work-groups-per-cu", 4}, {"waiting", 1}}});
  CHECK(verdict("awg", barrier, no_timeouts) == "deadlock");
  CHECK(verdict("monnr-all", barrier, {"timeouts=none"}) == "terminates");
}

TEST_CASE("AWG's own prediction lets a barrier of four go on, since it times out", "[.][nightly]") {
  const Program barrier =
      sync_program("tree-barrier").build({"", "", {{"cus", 1}, {"work-groups-per-cu", 4}, {"waiting", 1}}});
  CHECK(verdict("awg", barrier, {"reading=predictor"}) == "terminates");
}

TEST_CASE("a full SyncMon and a full Monitor Log lose nobody", "[waiting]") {
  for (const Settings& room : {Settings{"conditions=1", "waiters=1", "log=1"}, Settings{"waiters=1", "log=1"},
                               Settings{"conditions=1", "log=1"}, Settings{"waiters=1", "log=0"}}) {
    Settings settings = room;
    settings.emplace_back("timeouts=none");
    settings.emplace_back("reading=keeps-monitoring");
    CAPTURE(room);
    CHECK(verdict("awg", two_values(), settings) == "terminates");
    settings.emplace_back("slots=2");
    CHECK(verdict("awg", two_values(), settings) == "terminates");
  }
}

TEST_CASE("whichever sets of the condition cache are full, nobody is lost", "[waiting]") {
  for (const Settings& settings : {Settings{"timeouts=none", "reading=keeps-monitoring"},
                                   Settings{"timeouts=none", "reading=keeps-monitoring", "slots=2"},
                                   Settings{"timeouts=none", "reading=keeps-monitoring", "log=0"},
                                   Settings{"timeouts=all"}, Settings{}}) {
    Settings full = settings;
    full.emplace_back("reading=any-set-full");
    CAPTURE(settings);
    for (const Program& program : {one_waits(), two_wait(), two_values(), lock(), lock_of_three()}) {
      INFO(program.name);
      CHECK(verdict("awg", program, full) == verdict("awg", program, settings));
    }
  }
  // Whom a set has no room for goes to the log, though his condition is the only one.
  const Settings lossy{"timeouts=none", "reading=keeps-monitoring", "fault=drained-entry-lost"};
  Settings full = lossy;
  full.emplace_back("reading=any-set-full");
  CHECK(verdict("awg", one_waits(), lossy) == "terminates");
  CHECK(verdict("awg", one_waits(), full) == "deadlock");
}

TEST_CASE("an oracle loses nobody", "[waiting]") {
  for (const Settings& settings : {Settings{}, Settings{"slots=1"}, Settings{"taken=1"}}) {
    CAPTURE(settings);
    for (const Program& program : {one_waits(), two_wait(), two_values(), lock(), lock_of_three()}) {
      CHECK(verdict("min-resume", program, settings) == "terminates");
    }
  }
}

TEST_CASE("in front of caches a monitor at L2 resumes whom it resumes at one memory", "[waiting]") {
  for (const char* system : {"write-through", "write-through/no-l1", "remote-atomics"}) {
    for (const NamedWaitingPolicy& named : waiting_policies) {
      const std::string policy(named.name);
      CAPTURE(system, policy);
      for (const Program& program : {one_waits(), two_wait(), two_values(), lock()}) {
        CAPTURE(program.name);
        CHECK(verdict_on(system, policy, program) == verdict(policy, program));
      }
      CHECK(verdict_on(system, policy, one_waits(), {"slots=1"}) ==
            verdict(policy, one_waits(), {"slots=1"}));
      CHECK(verdict_on(system, policy, two_wait(), {"slots=2"}) == verdict(policy, two_wait(), {"slots=2"}));
      CHECK(verdict_on(system, policy, lock(), {"taken=1"}) == verdict(policy, lock(), {"taken=1"}));
    }
  }
  for (const char* system : {"g-tsc", "halcone"}) {
    for (const char* policy : {"busy-waiting", "monnr-all", "monr-all", "awg", "min-resume"}) {
      CAPTURE(system, policy);
      CHECK(verdict_on(system, policy, one_waits()) == verdict(policy, one_waits()));
      CHECK(verdict_on(system, policy, one_waits(), {"slots=1"}) ==
            verdict(policy, one_waits(), {"slots=1"}));
    }
  }
}

TEST_CASE("a monitor does not see what an L1 answers, so who polls a copy keeps its slot", "[waiting]") {
  Program within = program_of(R"(HRF within
{ x = 0; y = 0; }
 P0@wg 0,agent 0     | P1@wg 0,agent 0      | P2@wg 1,agent 0       ;
 ld.acquire.wg r0, x | st.release.wg x, 1   | st.release.agent y, 1 ;
forall (true)
)");
  waits(within, 0, 0, 1);
  // Both have a slot, and nobody is stalled.
  CHECK(verdict_on("write-through", "monnr-all", within, {"slots=1"}) == "terminates");
  CHECK(verdict_on("g-tsc", "monnr-all", one_waits(), {"slots=1"}) == "terminates");
  CHECK(verdict_on("g-tsc/polls-leases", "monnr-all", one_waits(), {"slots=1"}) == "livelock");
}

TEST_CASE("a policy is refused where no one monitor sees what it would have to see", "[waiting]") {
  Program two_gpus = program_of(R"(HRF two-gpus
{ x = 0; }
 P0@wg 0,agent 0           | P1@wg 1,agent 1        ;
 ld.acquire.system r0, x   | st.release.system x, 1 ;
forall (true)
)");
  waits(two_gpus, 0, 0, 1);
  CHECK_THAT(verdict_on("write-through", "awg", two_gpus), Catch::Contains("one GPU"));
  CHECK_THAT(verdict_on("lab", "awg", one_waits()), Catch::Contains("nowhere in lab"));
  CHECK_THAT(verdict_on("write-through", "awg", one_waits(), {"reading=observes-plain-stores"}),
             Catch::Contains("observes-plain-stores"));
  CHECK(verdict_on("write-through", "obe", two_gpus) == "livelock");
  CHECK(verdict_on("lab", "fair", one_waits(), {"slots=2"}) == "terminates");
}

TEST_CASE("each fault of a scheduler keeps somebody waiting, or lets in two", "[waiting]") {
  const auto killed = [](const std::string& fault, const Program& program, Settings settings,
                         const std::string& expected, const std::string& policy = "awg") {
    settings.emplace_back("reading=keeps-monitoring");
    settings.emplace_back("timeouts=none");
    Settings broken = settings;
    broken.push_back("fault=" + fault);
    CAPTURE(fault);
    CHECK(verdict(policy, program, settings) == "terminates");
    CHECK(verdict(policy, program, broken) == expected);
    const char* const caches = "write-through/atomics-hold";
    CHECK(verdict_on(caches, policy, program, settings) == "terminates");
    CHECK(verdict_on(caches, policy, program, broken) == expected);
  };
  const Settings tight{"slots=2"};
  const Settings spilling{"waiters=1", "log=1"};
  killed("wake-up-dropped", two_wait(), tight, "deadlock", "monnr-all");
  killed("compares-old-value", one_waits(), {}, "deadlock");
  killed("log-overwritten", two_values(), {"waiters=1", "log=1", "conditions=1"}, "deadlock");
  killed("no-recheck", lock_of_three(), {}, "unsafe");
  killed("arms-late", one_waits(), {}, "deadlock");
  killed("slot-leaked", one_waits(), {"slots=1"}, "deadlock");
  killed("ready-lost", one_waits(), {"slots=1"}, "deadlock");
  killed("drained-entry-lost", two_values(), spilling, "deadlock");
  killed("switch-out-waits", lock(), {"taken=1"}, "deadlock");
  killed("condition-not-checked", two_values(), spilling, "deadlock");
}

}  // namespace lockstep
