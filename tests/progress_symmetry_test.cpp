// Claims about progress up to renaming: verdicts are those of all states, and their runs are runs.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/liveness/liveness.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/trace/trace.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep {
namespace {

using Values = std::map<std::string, int, std::less<>>;

std::shared_ptr<const Program> program_of(const std::string& name, const Values& values,
                                          const std::string& variant = "") {
  return std::make_shared<const Program>(sync_program(name).build({variant, "", values}));
}

LivenessRun judged(const std::string& system, const std::string& scheduler,
                   const std::shared_ptr<const Program>& program,
                   std::optional<std::vector<std::string>> symmetry) {
  Subject subject = subject_named(system);
  subject.program = program;
  subject.options.scheduler = scheduler_named(scheduler);
  LivenessOptions options;
  options.symmetry = std::move(symmetry);
  return judge_termination(subject, options);
}

// The verdict of all states, which is also that up to symmetry; the run that shows it is one.
Termination agreed(const std::string& system, const std::string& scheduler,
                   const std::shared_ptr<const Program>& program, bool reduces) {
  CAPTURE(system, scheduler, program->name);
  const LivenessRun all = judged(system, scheduler, program, std::nullopt);
  const LivenessRun some = judged(system, scheduler, program, std::vector<std::string>{});
  CAPTURE(all.message, some.message);
  CHECK(word(some.termination) == word(all.termination));
  CHECK((reduces ? some.states < all.states : some.states == all.states));
  REQUIRE(some.symmetry);
  CHECK((some.symmetry->renamings > 1) == reduces);
  CHECK(some.counterexample.has_value() == all.counterexample.has_value());
  if (some.counterexample && all.counterexample) {
    CHECK(replay(*some.counterexample).difference.empty());
    CHECK(some.counterexample->loop_start.has_value() == all.counterexample->loop_start.has_value());
  }
  return all.termination;
}

Program program_in(const std::string& text) {
  return parse_litmus(text, "test").program;
}

// Each adds and takes away again, until it finds the other's.
Program dance() {
  return program_in(R"(HRF dance
{ a = 0; }
 P0@wg 0,agent 0                    | P1@wg 1,agent 0                    ;
 L: atom.acq_rel.agent.add r0, a, 1 | L: atom.acq_rel.agent.add r0, a, 1 ;
 atom.acq_rel.agent.sub r1, a, 1    | atom.acq_rel.agent.sub r1, a, 1    ;
 bne r0, 1, L                       | bne r0, 1, L                       ;
forall (true)
)");
}

// Who comes first goes round, through places in front of the other's and behind it; the other, as soon as it
// takes a step, ends that. So in the state that stands for them now the one has the lower name and now the
// other.
Program around() {
  return program_in(R"(HRF around
{ c = 0; done = 0; }
 P0@wg 0,agent 0                      | P1@wg 1,agent 0                      ;
 mov r2, 0                            | mov r2, 0                            ;
 beq r2, 0, M                         | beq r2, 0, M                         ;
 L1: ld.relaxed.agent r1, done        | L1: ld.relaxed.agent r1, done        ;
 bne r1, 0, E                         | bne r1, 0, E                         ;
 beq r2, 0, L2                        | beq r2, 0, L2                        ;
 M: atom.relaxed.agent.add r0, c, 1   | M: atom.relaxed.agent.add r0, c, 1   ;
 beq r0, 1, S                         | beq r0, 1, S                         ;
 L2: ld.relaxed.agent r1, done        | L2: ld.relaxed.agent r1, done        ;
 beq r1, 0, L1                        | beq r1, 0, L1                        ;
 beq r2, 0, E                         | beq r2, 0, E                         ;
 S: st.relaxed.agent done, 1          | S: st.relaxed.agent done, 1          ;
 E: mov r2, 0                         | E: mov r2, 0                         ;
forall (true)
)");
}

}  // namespace

TEST_CASE("progress up to symmetry is what it is of all states", "[liveness][symmetry]") {
  const Values readers{{"readers", 2}, {"writers", 0}, {"leaving", 2}, {"size", 2}};
  const Values mixed{{"readers", 2}, {"writers", 1}, {"size", 2}};
  CHECK(agreed("sc", "fair", program_of("spin-sem", readers), true) == Termination::livelock);
  CHECK(agreed("sc", "fair", program_of("prior-sem", readers, "flag"), true) == Termination::livelock);
  CHECK(agreed("sc", "fair", program_of("prior-sem", readers, "counted"), true) == Termination::terminates);
  CHECK(agreed("sc", "fair", program_of("prior-sem", mixed), true) == Termination::terminates);
  CHECK(agreed("sc", "fair", program_of("spin-sem", mixed, "as-printed"), true) == Termination::unsafe);
  CHECK(agreed("sc", "fair", program_of("ticket-lock", {{"threads", 3}}), true) == Termination::terminates);
  CHECK(agreed("sc", "unfair", program_of("ticket-lock", {{"threads", 3}}), true) == Termination::livelock);
  CHECK(agreed("sc", "obe", program_of("ticket-lock", {{"threads", 3}}), true) == Termination::terminates);
  // Ids tell work-groups apart.
  CHECK(agreed("sc", "hsa", program_of("ticket-lock", {{"threads", 3}}), false) == Termination::livelock);
  CHECK(agreed("sc", "lobe", program_of("ticket-lock", {{"threads", 3}}), false) == Termination::terminates);
  CHECK(agreed("sc", "fair", std::make_shared<const Program>(dance()), true) == Termination::trap);
  const auto one_goes_round = std::make_shared<const Program>(around());
  CHECK(agreed("sc", "fair", one_goes_round, true) == Termination::terminates);
  CHECK(agreed("sc", "unfair", one_goes_round, true) == Termination::livelock);
}

TEST_CASE("progress up to symmetry is what it is of all states, also of caches", "[liveness][symmetry]") {
  const auto lock = program_of("test-and-set", {{"threads", 2}});
  CHECK(agreed("write-through", "fair", lock, true) == Termination::livelock);
  CHECK(agreed("write-through/atomics-hold", "fair", program_of("ticket-lock", {{"threads", 2}}), true) ==
        Termination::terminates);
  // Some of its rules name members.
  CHECK(agreed("rfo", "fair", lock, false) == Termination::livelock);
}

TEST_CASE("what renaming loses is not judged up to symmetry", "[liveness][symmetry]") {
  const auto endless = program_of("ticket-lock", {{"threads", 3}, {"rounds", 0}});
  const LivenessRun rounds = judged("sc", "fair", endless, std::vector<std::string>{});
  CHECK(rounds.termination == Termination::error);
  CHECK_THAT(rounds.message, Catch::Contains("programs have an end"));
  const auto lock = program_of("ticket-lock", {{"threads", 3}});
  CHECK_THAT(judged("sc", "fair", lock, std::vector<std::string>{"block"}).message,
             Catch::Contains("no symmetry") && Catch::Contains("--symmetry all"));
  CHECK_THAT(judged("sc", "fair", lock, std::vector<std::string>{"thred"}).message,
             Catch::Contains("did you mean 'thread'?"));
  CHECK_THAT(judged("sc", "awg", lock, std::vector<std::string>{}).message,
             Catch::Contains("queues of a waiting policy"));
  CHECK_THAT(judged("write-through", "obe", lock, std::vector<std::string>{}).message,
             Catch::Contains("under a scheduler but fair"));
}

}  // namespace lockstep
