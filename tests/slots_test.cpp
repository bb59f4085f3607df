// Accesses that a thread hands to its slots: what may overtake what, and that memory systems order them like
// those of other threads of its work-group.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "checker/litmus/runner.hpp"
#include "checker/races/races.hpp"
#include "checker/runs/subject.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

// The last thread gets slots, and awaits them at its end. `handed` are instructions of it: the nth goes to
// the nth slot. Another await comes in front of instruction `await_before`, if that is not negative.
LitmusTest slotted(const std::string& text, const std::vector<std::size_t>& handed, int await_before) {
  LitmusTest test = parse(text);
  Thread& last = test.program.threads.back();
  const int number = static_cast<int>(test.program.threads.size()) - 1;
  for (std::size_t n = 0; n < handed.size(); ++n)
    last.code.at(handed[n]).slot = static_cast<std::int16_t>(n + 1);
  Instruction await;
  await.opcode = Opcode::await;
  await.a.value = (1 << handed.size()) - 1;
  if (await_before >= 0) last.code.insert(last.code.begin() + await_before, await);
  last.code.push_back(await);
  Thread slot;
  slot.placement = last.placement;
  slot.slot_of = number;
  for (std::size_t n = 1; n <= handed.size(); ++n) {
    slot.name = "P" + std::to_string(number) + "." + std::to_string(n);
    test.program.threads.push_back(slot);
  }
  return test;
}

SystemRun run(const LitmusTest& test, const std::string& system, const Reductions& reductions = {}) {
  Subject subject = subject_named(system);
  subject.options.reductions = reductions;
  SystemRun run = run_on_system(test, subject, {}, Derive::always);
  INFO(system << ": " << run.message);
  REQUIRE(run.status == RunStatus::complete);
  return run;
}

const std::string store_buffering = R"(HRF sb
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | st y, 1 ;
 ld r0, y | ld r0, x ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)";
const std::string reads = R"(HRF mp
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1 | ld r0, y ;
 st y, 1 | ld r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";
// The sender comes last.
const std::string message = R"(HRF mp
{ x = 0; y = 0; f = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 ld.acquire.agent r0, f | ld r0, x ;
 ld r1, x | st x, 1 ;
 ld r2, y | st y, 1 ;
 | st.release.agent f, 1 ;
exists (P0:r0 == 1 /\ (P0:r1 == 0 \/ P0:r2 == 0))
)";
// The waves of a work-group meet.
const std::string meeting = R"(HRF barrier
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 0,agent 0 ;
 st x, 1 | st y, 1 ;
 barrier | barrier ;
 ld r0, y | ld r0, x ;
 barrier | barrier ;
exists (P0:r0 == 0 \/ P1:r0 == 0)
)";

}  // namespace

TEST_CASE("what a thread has handed to a slot is overtaken by what follows, unless it awaits it") {
  for (const auto& [text, name] : {std::pair{store_buffering, "stores"}, std::pair{reads, "loads"}}) {
    INFO(name);
    CHECK(run(slotted(text, {}, -1), "sc").tally.observation() == Observation::never);
    CHECK(run(slotted(text, {0}, -1), "sc").tally.observation() == Observation::sometimes);
    CHECK(run(slotted(text, {0}, 1), "sc").tally.observation() == Observation::never);
    CHECK(run(slotted(text, {0, 1}, -1), "sc").tally.observation() == Observation::sometimes);
  }
}

TEST_CASE("a slot performs what its instruction's registers were when it was handed over") {
  // The registers change at once, while the slots perform.
  const std::string values = R"(HRF values
{ x = 0; y = 5; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 ld r0, x | mov r0, 3 ;
 ld r1, y | mov r1, 5 ;
 | mov r2, 9 ;
 | st x, r0 ;
 | atom.relaxed.agent.cas r3, y, r1, r2 ;
 | mov r0, 1 ;
 | mov r1, 1 ;
 | mov r2, 1 ;
exists (x == 3 /\ y == 9 /\ P1:r3 == 5)
)";
  for (const std::string system : {"sc", "write-through", "quick-release"}) {
    for (const Reductions& reductions : {Reductions{}, Reductions::none()}) {
      INFO(system);
      CHECK(run(slotted(values, {3, 4}, -1), system, reductions).tally.observation() == Observation::always);
    }
  }
}

TEST_CASE("a release covers what its thread's slots have completed, on every memory system") {
  CHECK(run_on_system(slotted(message, {1, 2}, 3), subject_named("quick-release/split-fifo"), {}).status ==
        RunStatus::error);
  for (const std::string system : {"sc", "write-through", "quick-release", "quick-release/lean", "lab"}) {
    INFO(system);
    CHECK(run(slotted(message, {1, 2}, 3), system).tally.observation() == Observation::never);
    CHECK(run(slotted(message, {1, 2}, -1), system).tally.observation() == Observation::sometimes);
  }
}

TEST_CASE("a barrier opens when its threads have come, whatever their slots do") {
  for (const std::string system : {"sc", "write-through", "quick-release"}) {
    INFO(system);
    CHECK(run(slotted(meeting, {0}, 1), system).tally.observation() == Observation::never);
    CHECK(run(slotted(meeting, {0, 2}, 1), system).tally.observation() == Observation::never);
    CHECK(run(slotted(meeting, {0}, -1), system).tally.observation() == Observation::sometimes);
  }
}

TEST_CASE("no reduction changes what programs with slots may see") {
  const std::string system = GENERATE("sc", "write-through", "quick-release");
  const int await_before = GENERATE(-1, 1);
  CAPTURE(system, await_before);
  for (const std::string& text : {store_buffering, reads, meeting}) {
    const LitmusTest test = slotted(text, {0}, await_before);
    const std::vector<Outcome> full = run(test, system, Reductions::none()).outcomes;
    CHECK_FALSE(full.empty());
    CHECK(run(test, system).outcomes == full);
    for (const std::string reduction : {"moves", "stubborn", "dead", "at-once"})
      CHECK(run(test, system, reductions_without(std::vector{reduction})).outcomes == full);
  }
}

TEST_CASE("a thread that may end before its slots have is refused") {
  LitmusTest test = slotted(reads, {0}, -1);
  test.program.threads[1].code.pop_back();
  const SystemRun refused = run_on_system(test, subject_named("sc"), {});
  CHECK(refused.status == RunStatus::error);
  CHECK_THAT(refused.message, Catch::Contains("may end before its slots have"));
}

TEST_CASE("races are of program order, so that programs with slots are refused") {
  const Program program = slotted(reads, {0}, -1).program;
  CHECK_THROWS_WITH(analyse_races(program), Catch::Contains("has accesses in slots"));
}
