// The synchronization programs: what is printed fails where it is said to, what is repaired does not, and
// every deliberate fault is found.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/check/check.hpp"
#include "checker/language/test.hpp"
#include "checker/liveness/liveness.hpp"
#include "checker/races/races.hpp"
#include "checker/scheduling/setup.hpp"
#include "spec/program/lower_waiting.hpp"
#include "spec/sync/catalogue.hpp"

using namespace lockstep;

namespace {

using Values = std::map<std::string, int, std::less<>>;

Program built(const std::string& name, const std::string& variant = "", const Values& values = {},
              const std::string& fault = "") {
  return sync_program(name).build({variant, fault, values});
}

// "holds", the claim that fails, "deadlock", or why there is no verdict.
std::string safety(const Program& program, const std::string& system = "sc") {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(program);
  subject.options.reductions = reductions_for_invariants(*subject.system, {});
  const CheckRun run = check(subject, {});
  if (run.status == CheckStatus::holds) return "holds";
  if (run.status != CheckStatus::violated) return "no verdict: " + run.message;
  return run.exploration.verdict == Verdict::deadlock ? "deadlock" : run.counterexample->what;
}

std::string progress(const Program& program, const std::string& scheduler = "fair",
                     const std::string& system = "sc", CycleFairness fairness = CycleFairness::weak) {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(program);
  subject.options.scheduler = scheduler_named(scheduler);
  LivenessOptions options;
  options.traces = false;
  options.fairness = fairness;
  return std::string(word(judge_termination(subject, options).termination));
}

bool races(const Program& program) {
  RaceOptions options;
  options.models = {RaceModel::hrf_relaxed_indirect};
  options.readings = {SyncReading::any_location};
  const RaceAnswer answer = analyse_races(program, options).verdicts.front().answer;
  REQUIRE((answer == RaceAnswer::race || answer == RaceAnswer::race_free));
  return answer == RaceAnswer::race;
}

// Whether an assertion of the program fails in some execution that the model allows.
bool fails_under(const std::string& model, const Program& program) {
  const std::string text = "HRF t\n" + print_program(program) + "forall (true)";
  const ModelRun run = judge(parse_litmus(text, "printed.litmus"), AxiomaticModel(model));
  REQUIRE(run.status == RunStatus::complete);
  return run.assertion_fails;
}

// Whether some execution that the model allows ends so.
bool allows(const std::string& model, const Program& program, const std::string& end) {
  const std::string text = "HRF t\n" + print_program(program) + "exists (" + end + ")";
  const ModelRun run = judge(parse_litmus(text, "printed.litmus"), AxiomaticModel(model));
  REQUIRE(run.status == RunStatus::complete);
  return run.observation() != Observation::never;
}

const std::string no_early = "nobody leaves the barrier early";
const std::string too_many = "no more are inside than there are permits";
const std::string not_alone = "one is in the critical section";
const std::string lost = "every increment counts";

const Values one_task{{"tasks", 1}};
const std::string taken_otherwise = "~taken0 == 1";  // by nobody, or twice
const Values one_cu{{"cus", 1}, {"work-groups-per-cu", 2}};
const Values three_cus{{"cus", 3}};

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

// ---- What is repaired -------------------------------------------------------------------------------------

TEST_CASE("the default variant of every program keeps its claims, and every fair run of it ends") {
  for (const SyncProgram& program : sync_programs()) {
    INFO(program.name);
    CHECK(program.variants.front().name == "default");
    const Program built = program.build({});
    CHECK(safety(built) == "holds");
    // A lock for whose word two threads contend, or whose holder may be overtaken for ever, is another
    // matter.
    if (program.name != "spin-sem") CHECK(progress(built) == "terminates");
    CHECK_FALSE(races(built));
  }
}

TEST_CASE("locks exclude others and hand over their data on every memory system") {
  for (const std::string name : {"test-and-set", "ticket-lock", "decentralized-ticket-lock"}) {
    INFO(name);
    CHECK(safety(built(name, "", {{"threads", 3}, {"rounds", 2}})) == "holds");
    CHECK(safety(built(name, "", {{"rounds", 0}})) == "holds");
    CHECK(safety(built(name), "write-through") == "holds");
    CHECK(safety(built(name, "", {{"rounds", 2}}), "write-through") == "holds");
    CHECK(safety(built(name), "quick-release") == "holds");
  }
}

TEST_CASE("semaphores keep to their permits on every memory system") {
  CHECK(safety(built("spin-sem", "", {{"readers", 2}, {"writers", 1}})) == "holds");
  CHECK(safety(built("spin-sem"), "write-through") == "holds");
  CHECK(safety(built("spin-sem"), "quick-release") == "holds");
  for (const std::string variant : {"default", "counted", "flag"}) {
    INFO(variant);
    CHECK(safety(built("prior-sem", variant, {{"readers", 2}, {"writers", 1}})) == "holds");
    CHECK(safety(built("prior-sem", variant), "write-through") == "holds");
  }
}

TEST_CASE("barriers keep everybody on every memory system") {
  const Values two_by_two{{"work-groups-per-cu", 2}, {"episodes", 2}};
  for (const std::string name : {"tree-barrier", "g-srb", "g-cpusrb"}) {
    INFO(name);
    CHECK(safety(built(name, "", two_by_two)) == "holds");
    CHECK(safety(built(name, "", {{"grid", 3}})) == "holds");
    CHECK(safety(built(name, "", {{"grid", 1}})) == "holds");
    CHECK(safety(built(name, "", one_cu), "write-through") == "holds");
    CHECK(safety(built(name), "write-through") == "holds");
  }
  CHECK(safety(built("tree-barrier", "", one_cu), "quick-release") == "holds");
  CHECK(safety(built("g-cpusrb", "single-level"), "quick-release") == "holds");
}

// ---- What is printed --------------------------------------------------------------------------------------

TEST_CASE("as printed, a thread enters the semaphore without a permit") {
  CHECK(safety(built("spin-sem", "as-printed")) == too_many);
  CHECK(safety(built("spin-sem", "as-printed-unlock-in-loop")) == too_many);
  for (const std::string variant : {"as-printed", "as-printed-17", "as-printed-18", "as-printed-20"}) {
    INFO(variant);
    CHECK(safety(built("prior-sem", variant)) == too_many);
  }
}

TEST_CASE("progress is judged although a claim fails on the way, where that is asked") {
  const auto judged = [](const Program& program) {
    Subject subject = subject_named("sc");
    subject.program = std::make_shared<const Program>(program);
    subject.options.scheduler = scheduler_named("fair");
    LivenessOptions options;
    options.traces = false;
    options.despite_unsafe = true;
    const LivenessRun run = judge_termination(subject, options);
    return std::pair(std::string(word(run.termination)), run.unsafe);
  };
  CHECK(progress(built("spin-sem", "as-printed")) == "unsafe");
  CHECK(judged(built("spin-sem", "as-printed")) == std::pair(std::string("terminates"), too_many));
  const Program truncates = built("g-srb", "truncates", {{"grid", 3}});
  CHECK(progress(truncates) == "unsafe");
  CHECK(judged(truncates) == std::pair(std::string("trap"), no_early));
  CHECK(judged(built("spin-sem")).second.empty());
}

TEST_CASE("a lock that everybody releases loses permits") {
  CHECK(safety(built("spin-sem", "unlock-in-loop")) == too_many);
  CHECK(safety(built("prior-sem", "unlock-in-loop", {{"readers", 2}, {"writers", 0}})) ==
        "all permits are back");
}

TEST_CASE("SpinSem livelocks where one leaves and one enters, and a flag set once does not help for long") {
  const auto contended = [](int leaving, int readers, int writers) {
    return Values{{"leaving", leaving}, {"size", leaving}, {"readers", readers}, {"writers", writers}};
  };
  CHECK(progress(built("spin-sem", "", contended(1, 1, 0))) == "livelock");
  CHECK(progress(built("spin-sem", "", contended(1, 0, 1))) == "livelock");
  for (int leaving = 1; leaving <= 2; ++leaving) {
    INFO(leaving);
    CHECK(progress(built("prior-sem", "flag", contended(leaving, 1, 1))) == "livelock");
    CHECK(progress(built("prior-sem", "default", contended(leaving, 1, 1))) == "terminates");
    CHECK(progress(built("prior-sem", "counted", contended(leaving, 1, 1))) == "terminates");
  }
}

TEST_CASE("as printed, all but one wait for ever at a counter that one has put back") {
  CHECK(safety(built("tree-barrier", "as-printed", one_cu)) == "holds");
  CHECK(progress(built("tree-barrier", "as-printed", one_cu)) == "trap");
  CHECK(progress(built("tree-barrier", "as-printed")) == "trap");
}

TEST_CASE("one counter for two barriers in a row is one too few") {
  CHECK(progress(built("tree-barrier", "one-counter", one_cu)) == "trap");
  CHECK(progress(built("tree-barrier", "default", one_cu)) == "terminates");
}

TEST_CASE("gridDim.x / NUM_SM is the number of work-groups on a CU only where it divides") {
  for (const std::string name : {"tree-barrier", "g-srb"}) {
    INFO(name);
    CHECK(safety(built(name, "truncates")) == "holds");
    CHECK(safety(built(name, "truncates", {{"grid", 3}})) == no_early);
    CHECK(progress(built(name, "truncates", {{"grid", 1}})) == "trap");
  }
}

TEST_CASE("a leader that joins before its siblings lets others leave without them") {
  const Values values{{"cus", 1}, {"work-groups-per-cu", 2}, {"waves", 2}};
  CHECK(safety(built("g-srb", "leader-first", values)) == no_early);
  CHECK(safety(built("g-srb", "default", values)) == "holds");
  // The second barrier of each pair makes up for it.
  CHECK(safety(built("tree-barrier", "default", values)) == "holds");
}

TEST_CASE("a wave may skip the barrier inside the loop of the lock with a wait instruction") {
  CHECK(safety(built("decentralized-ticket-lock", "wait-instruction", {{"waves", 2}})) == "deadlock");
  CHECK(safety(built("decentralized-ticket-lock", "default", {{"waves", 2}})) == "holds");
}

TEST_CASE("without a fence on leaving, data from before the barrier races with what is behind it") {
  CHECK(races(built("g-srb", "leaves-unfenced")));
  CHECK(races(built("g-srb", "as-printed")));
}

TEST_CASE("a launch with fewer work-groups than CUs leaves the senses of G-SRB apart") {
  CHECK(safety(built("g-srb", "default", {{"launched-before", 1}})) == no_early);
  CHECK(safety(built("g-srb", "own-senses", {{"launched-before", 1}})) == "holds");
  CHECK(safety(built("g-srb", "default", {{"launched-before", 2}})) == "holds");
  CHECK(safety(built("tree-barrier", "default", {{"launched-before", 1}})) == "holds");
}

TEST_CASE("a work-group that reads its SM's number again after it has moved breaks the barrier") {
  CHECK(progress(built("tree-barrier", "", {{"migrates", 1}})) == "trap");
  CHECK(safety(built("tree-barrier", "", {{"migrates", 1}, {"work-groups-per-cu", 2}})) == no_early);
  CHECK(progress(built("g-srb", "", {{"migrates", 1}, {"work-groups-per-cu", 2}, {"episodes", 2}})) ==
        "trap");
}

TEST_CASE("a barrier that is one counter is right when it overflows, and after any launch before") {
  for (const std::string variant : {"default", "fenced"}) {
    INFO(variant);
    for (const Values& values :
         {Values{{"cus", 1}}, Values{{"cus", 3}}, Values{{"cus", 3}, {"episodes", 2}}, Values{{"waves", 2}},
          Values{{"launched-before", 1}}, Values{{"launched-before", 2}, {"episodes", 2}}}) {
      CHECK(safety(built("ccg-barrier", variant, values)) == "holds");
      CHECK(progress(built("ccg-barrier", variant, values)) == "terminates");
    }
    CHECK_FALSE(races(built("ccg-barrier", variant, {{"episodes", 2}})));
  }
  CHECK(message_of([] {
          built("ccg-barrier", "", {{"waiting", 1}});
        }) == "CCG's barrier waits for a bit, and waiting atomics for a word: no waiting=1");
}

TEST_CASE("the hybrid barrier holds where all choose alike, and waits for ever where each CU chooses") {
  for (const Values& values : {Values{}, Values{{"work-groups-per-cu", 2}}, Values{{"grid", 3}},
                               Values{{"work-groups-per-cu", 2}, {"launched-before", 2}},
                               Values{{"work-groups-per-cu", 2}, {"episodes", 2}}}) {
    CHECK(safety(built("hybrid-barrier", "", values)) == "holds");
    CHECK(progress(built("hybrid-barrier", "", values)) == "terminates");
  }
  CHECK(progress(built("hybrid-barrier", "by-cu", {{"work-groups-per-cu", 2}})) == "terminates");
  CHECK(progress(built("hybrid-barrier", "by-cu", {{"grid", 3}})) == "trap");
}

TEST_CASE("a semaphore without a lock needs one atomic for its check and its update, or to look again") {
  CHECK(safety(built("sleep-sem", "", {{"readers", 2}, {"writers", 1}})) == "holds");
  CHECK(safety(built("sleep-sem"), "write-through") == "holds");
  CHECK(safety(built("sleep-sem", "as-described", {{"readers", 2}, {"writers", 0}, {"size", 1}})) ==
        too_many);
  CHECK(safety(built("sleep-sem", "gives-back", {{"readers", 2}, {"writers", 1}})) == "holds");
  // Neither livelocks, also where SpinSem does; in endless rounds a thread may be kept out.
  for (const std::string variant : {"default", "gives-back"}) {
    INFO(variant);
    for (const Values& values :
         {Values{{"readers", 2}, {"writers", 2}}, Values{{"leaving", 1}, {"size", 1}},
          Values{{"leaving", 2}, {"readers", 2}, {"writers", 1}}, Values{{"rounds", 2}}})
      CHECK(progress(built("sleep-sem", variant, values)) == "terminates");
    CHECK(progress(built("sleep-sem", variant, {{"rounds", 0}})) == "starvation");
  }
}

TEST_CASE("SpinSem as released keeps its permits, and livelocks as the figure does") {
  for (const Values& values :
       {Values{{"readers", 2}, {"writers", 1}}, Values{{"readers", 1}, {"writers", 2}}}) {
    CHECK(safety(built("spin-sem", "as-released", values)) == "holds");
    CHECK_FALSE(races(built("spin-sem", "as-released", values)));
  }
  const Values contended{{"leaving", 1}, {"readers", 2}, {"size", 2}};
  CHECK(progress(built("spin-sem", "as-released", contended)) == "livelock");
}

TEST_CASE("SleepSem as released is for readers alone") {
  const Values readers{{"readers", 3}, {"writers", 0}};
  CHECK(safety(built("sleep-sem", "as-released", readers)) == "holds");
  CHECK(progress(built("sleep-sem", "as-released", readers)) == "terminates");
  // A writer waits for its own permits, also where nobody else is.
  CHECK(progress(built("sleep-sem", "as-released", {{"readers", 0}})) == "trap");
  // It goes in where readers fill the semaphore.
  CHECK(safety(built("sleep-sem", "as-released", {{"readers", 2}})) == too_many);
}

TEST_CASE("a loop that waits with one barrier lets a wave go on, and a round later in, without the lock") {
  const Values two{{"waves", 2}, {"rounds", 2}};
  CHECK(safety(built("ticket-lock", "as-released", two)) == "one second wave is in the critical section");
  CHECK(safety(built("ticket-lock", "as-released", {{"waves", 2}})) == "deadlock");
  CHECK(safety(built("ticket-lock", "as-released", {{"rounds", 2}, {"threads", 3}})) == "holds");
  CHECK(safety(built("ticket-lock", "default", two)) == "holds");
  CHECK(progress(built("ticket-lock", "default", two)) == "terminates");
}

TEST_CASE("a ticket lock whose tickets wrap and whose turns do not stops when they have") {
  CHECK(progress(built("ticket-lock", "turn-not-wrapped")) == "terminates");
  CHECK(progress(built("ticket-lock", "turn-not-wrapped", {{"rounds", 2}})) == "trap");
}

TEST_CASE("HeteroSync's local locks order nothing between work-groups") {
  const std::string counts = "every increment counts";
  for (const std::string name : {"test-and-set", "ticket-lock", "decentralized-ticket-lock"}) {
    INFO(name);
    const Values narrow{{"narrow", 1}, {"rounds", 2}};
    CHECK(races(built(name, "as-released", {{"narrow", 1}})));
    CHECK(safety(built(name, "as-released", narrow), "write-through") == counts);
    CHECK(safety(built(name, "as-released", narrow)) == "holds");
    CHECK(allows("ptx-v6.0", built(name, "as-released", {{"narrow", 1}}), "~data == 2"));
    CHECK(message_of([&] { built(name, "", narrow); }) == "narrow=1 needs the variant as-released");
  }
  for (const std::string name : {"test-and-set", "ticket-lock"}) {
    INFO(name);
    CHECK_FALSE(races(built(name, "as-released")));
    CHECK(safety(built(name, "as-released", {{"rounds", 2}}), "write-through") == "holds");
    CHECK(safety(built(name, "as-released"), "mttop") == "holds");
    for (const std::string model : {"ptx-v6.0", "rc11", "opencl", "rmo"})
      CHECK_FALSE(allows(model, built(name, "as-released"), "~data == 2"));
  }
}

TEST_CASE("a ring with fewer entries than work-groups lets two in; with more it goes round") {
  const std::string name = "decentralized-ticket-lock";
  CHECK(safety(built(name, "", {{"threads", 3}, {"entries", 2}})) == not_alone);
  CHECK(safety(built(name, "", {{"threads", 2}, {"entries", 1}})) == not_alone);
  CHECK(safety(built(name, "", {{"threads", 3}, {"entries", 4}, {"rounds", 2}})) == "holds");
  CHECK(progress(built(name, "", {{"threads", 3}, {"entries", 4}, {"rounds", 2}})) == "terminates");
}

TEST_CASE("HeteroSync's fences behind what hands over publish nothing") {
  const std::string end = "~data == 2";
  CHECK(races(built("decentralized-ticket-lock", "as-released")));
  CHECK(safety(built("decentralized-ticket-lock", "as-released"), "mttop") != "holds");
  CHECK(safety(built("decentralized-ticket-lock", "default"), "mttop") == "holds");
  for (const std::string model : {"ptx-v6.0", "rmo"}) {
    INFO(model);
    CHECK(allows(model, built("decentralized-ticket-lock", "as-released"), end));
    CHECK_FALSE(allows(model, built("decentralized-ticket-lock", "default"), end));
  }
  for (const std::string model : {"ptx-v6.0", "rc11", "opencl"}) {
    INFO(model);
    CHECK(fails_under(model, built("flag-barrier", "main-unfenced", three_cus)));
    CHECK_FALSE(fails_under(model, built("flag-barrier", "default", three_cus)));
  }
}

TEST_CASE("a barrier of flags keeps everybody, and waits for ever for work-groups that are not there") {
  for (const Values& values :
       {Values{{"cus", 1}}, Values{{"cus", 3}}, Values{{"work-groups-per-cu", 2}}, Values{{"episodes", 2}},
        Values{{"grid", 3}}, Values{{"waves", 2}}, Values{{"launched-before", 3}}, Values{{"waiting", 1}}}) {
    CHECK(safety(built("flag-barrier", "", values)) == "holds");
    CHECK(progress(built("flag-barrier", "", values)) == "terminates");
  }
  CHECK(safety(built("flag-barrier"), "write-through") == "holds");
  // A flag that is cleared after it has been raised for the next barrier.
  const Values twice{{"episodes", 2}};
  CHECK(progress(built("flag-barrier", "", twice), "fair", "mttop") == "terminates");
  CHECK(progress(built("flag-barrier", "main-unfenced", twice), "fair", "mttop") == "trap");
  CHECK(safety(built("flag-barrier", "siblings-not-met", {{"waves", 2}})) == no_early);
  CHECK(progress(built("flag-barrier", "rounds-up", {{"work-groups-per-cu", 2}})) == "terminates");
  CHECK(progress(built("flag-barrier", "rounds-up", {{"grid", 3}})) == "trap");
}

TEST_CASE("G-SRB as released waits for a leader that has been there to be gone") {
  CHECK(progress(built("g-srb", "default", one_cu)) == "terminates");
  CHECK(progress(built("g-srb", "as-released", one_cu)) == "trap");
}

TEST_CASE(
    "THE's deque needs two fences where stores wait, and its tasks to be published where loads overtake") {
  const auto kept = [](const std::string& model, const std::string& variant,
                       const std::string& without = "") {
    return !allows(model, built("the-deque", variant, one_task, without), taken_otherwise);
  };
  for (const std::string model : {"sc", "tso", "rmo", "rc11", "ptx-v6.0", "opencl"}) {
    INFO(model);
    CHECK(kept(model, "default"));
    CHECK(kept(model, "as-printed") == (model == "sc"));
    for (const std::string fence : {"pop-unfenced", "steal-unfenced"})
      CHECK(kept(model, "default", fence) == (model == "sc"));
    for (const std::string order : {"push-relaxed", "steal-relaxed"})
      CHECK(kept(model, "default", order) == (model == "sc" || model == "tso"));
  }
  CHECK(races(built("the-deque", "as-printed")));
}

TEST_CASE("words that are handed on from barrier to barrier are all counted, and show a barrier that fails") {
  for (const std::string name : {"tree-barrier", "g-srb", "g-cpusrb", "flag-barrier", "ccg-barrier"}) {
    INFO(name);
    const Values values{{"cus", 2}, {"accesses", 1}, {"episodes", 2}};
    CHECK(safety(built(name, "", values)) == "holds");
    CHECK_FALSE(races(built(name, "", values)));
  }
  CHECK(races(built("tree-barrier", "", {{"accesses", 1}, {"episodes", 2}}, "unfenced")));
}

TEST_CASE("work-groups of a CU exchange words where the grid divides, and race with another CU where not") {
  for (const std::string name : {"tree-barrier", "flag-barrier"}) {
    INFO(name);
    const Values even{{"cus", 1}, {"work-groups-per-cu", 2}, {"accesses", 1}, {"exchange", 1}};
    CHECK(safety(built(name, "", even)) == "holds");
    CHECK_FALSE(races(built(name, "", even)));
    CHECK(races(built(name, "", {{"cus", 2}, {"grid", 3}, {"accesses", 1}, {"exchange", 1}})));
  }
  const Values waves{{"cus", 1}, {"work-groups-per-cu", 2}, {"accesses", 1}, {"exchange", 1}, {"waves", 2}};
  CHECK(safety(built("tree-barrier", "", waves)) == "holds");
}

TEST_CASE("backoff changes no verdict") {
  const Values two{{"backoff", 4}};
  for (const std::string name : {"tree-barrier", "g-srb", "g-cpusrb", "prior-sem", "sleep-sem", "spin-sem"}) {
    INFO(name);
    CHECK(safety(built(name, "", two)) == "holds");
    CHECK(progress(built(name, "", two)) == progress(built(name)));
  }
  const Values contended{{"leaving", 1}, {"readers", 2}, {"size", 2}, {"backoff", 2}};
  CHECK(progress(built("spin-sem", "", contended)) == "livelock");
  CHECK(progress(built("prior-sem", "", contended)) == "terminates");
  CHECK(safety(built("spin-sem", "", {{"readers", 2}, {"backoff", 4}, {"accesses", 2}})) == "holds");
}

TEST_CASE("an atomic at L2 gets its turn where its block is not replaced before it") {
  const Program barrier = built("g-srb", "", {{"cus", 1}, {"work-groups-per-cu", 2}});
  for (const Program& program : {built("test-and-set"), barrier}) {
    INFO(program.name);
    CHECK(progress(program, "fair", "write-through", CycleFairness::strong) == "livelock");
    CHECK(progress(program, "fair", "write-through/atomics-hold", CycleFairness::strong) == "terminates");
  }
  CHECK(progress(built("ticket-lock"), "fair", "write-through") == "livelock");
  CHECK(progress(built("ticket-lock"), "fair", "write-through/atomics-hold") == "terminates");
}

// ---- Faults -----------------------------------------------------------------------------------------------

TEST_CASE("every fault of every program is found") {
  struct Conviction {
    std::string program, fault, system;
    Values values;
    std::string claim;
  };
  const std::vector<Conviction> convictions{
      {"test-and-set", "unlock-relaxed", "quick-release", {}, lost},
      {"test-and-set", "lock-relaxed", "write-through", {{"rounds", 2}}, lost},
      {"test-and-set", "test-then-set", "sc", {}, not_alone},
      {"ticket-lock", "two-tickets", "sc", {}, not_alone},
      {"ticket-lock", "turn-relaxed", "quick-release", {}, lost},
      {"ticket-lock", "turn-not-read-to-acquire", "write-through", {{"rounds", 2}}, lost},
      {"decentralized-ticket-lock", "entry-not-reset", "sc", {{"rounds", 2}}, not_alone},
      {"decentralized-ticket-lock", "two-entries-unlocked", "sc", {}, not_alone},
      {"decentralized-ticket-lock", "handed-over-relaxed", "races", {}, ""},
      {"spin-sem", "writer-takes-one", "sc", {}, too_many},
      {"spin-sem", "leaves-without-lock", "sc", {{"readers", 2}}, too_many},
      {"spin-sem", "unlock-unfenced", "quick-release", {}, too_many},
      {"prior-sem", "writer-takes-one", "sc", {}, too_many},
      {"prior-sem", "leaves-without-lock", "sc", {{"readers", 2}}, too_many},
      {"prior-sem", "unlock-unfenced", "quick-release", {}, too_many},
      {"prior-sem", "priority-never-cleared", "sc", {}, "nobody has priority"},
      {"sleep-sem", "writer-takes-one", "sc", {}, too_many},
      {"sleep-sem", "enters-unfenced", "races", {}, ""},
      {"sleep-sem", "leaves-unfenced", "races", {}, ""},
      {"flag-barrier", "last-not-awaited", "sc", {}, no_early},
      {"flag-barrier", "joins-unfenced", "races", three_cus, ""},
      {"flag-barrier", "leaves-unfenced", "races", three_cus, ""},
      {"flag-barrier",
       "flag-not-cleared",
       "sc",
       {{"episodes", 2}},
       "nobody leaves the barrier of episode 2 early"},
      {"hybrid-barrier", "expects-one-less", "sc", {}, no_early},
      {"hybrid-barrier", "joins-off-by-one", "sc", {{"work-groups-per-cu", 2}}, no_early},
      {"tree-barrier", "joins-off-by-one", "sc", {}, no_early},
      {"tree-barrier", "last-barrier-skipped", "sc", {{"work-groups-per-cu", 2}}, no_early},
      {"tree-barrier", "unfenced", "races", {}, ""},
      {"g-srb", "joins-off-by-one", "sc", {}, no_early},
      {"g-srb", "counter-not-reset", "sc", {}, "globalBarr is 0 in the end"},
      {"g-srb", "unfenced", "races", {}, ""},
      {"g-cpusrb", "joins-off-by-one", "sc", {}, no_early},
      {"g-cpusrb", "counter-not-reset", "sc", {}, "globalBarr is 0 in the end"},
      {"g-cpusrb", "unfenced", "races", {}, ""},
      {"ccg-barrier", "expects-one-less", "sc", {}, no_early},
      {"ccg-barrier", "nobody-turns", "ends", {}, ""},
      {"ccg-barrier", "joins-relaxed", "races", {}, ""},
      {"ccg-barrier", "leaves-relaxed", "races", {}, ""},
      {"ccg-barrier", "bit-alone", "sc", {{"episodes", 2}}, "nobody leaves the barrier of episode 2 early"},
      {"the-deque", "pop-unfenced", "tso", one_task, taken_otherwise},
      {"the-deque", "steal-unfenced", "tso", one_task, taken_otherwise},
      {"the-deque", "push-relaxed", "rmo", one_task, taken_otherwise},
      {"the-deque", "steal-relaxed", "rmo", one_task, taken_otherwise},
      {"the-deque", "pop-without-lock", "sc", {}, "no assertion of the program fails"},
      {"the-deque", "steal-without-lock", "sc", {{"thieves", 2}}, "taken0 is 1 in the end"},
  };
  std::set<std::pair<std::string, std::string>> found;
  for (const Conviction& c : convictions) {
    INFO(c.program << ", " << c.fault << " on " << c.system);
    const Program faulty = built(c.program, "", c.values, c.fault);
    const Program sound = built(c.program, "", c.values);
    if (c.system == "races") {
      CHECK(races(faulty));
      CHECK_FALSE(races(sound));
    } else if (c.system == "ends") {
      CHECK(progress(faulty) != "terminates");
      CHECK(progress(sound) == "terminates");
    } else if (c.system == "tso" || c.system == "rmo") {
      CHECK(allows(c.system, faulty, c.claim));
      CHECK_FALSE(allows(c.system, sound, c.claim));
    } else {
      CHECK(safety(faulty, c.system) == c.claim);
    }
    found.insert({c.program, c.fault});
  }
  for (const SyncProgram& program : sync_programs()) {
    CHECK(program.faults.size() >= 2);
    for (const Fault& fault : program.faults) {
      INFO(program.name << ", " << fault.name);
      CHECK(found.contains({std::string(program.name), std::string(fault.name)}));
    }
  }
}

// ---- The catalogue ----------------------------------------------------------------------------------------

TEST_CASE("a program is named after what differs from the standard") {
  CHECK(built("ticket-lock").name == "ticket-lock/default");
  CHECK(built("ticket-lock", "", {{"threads", 3}}).name == "ticket-lock/default, threads=3");
  CHECK(built("spin-sem", "as-printed", {{"size", 2}}).name == "spin-sem/as-printed");
}

TEST_CASE("what a program does not have is refused with what it has") {
  CHECK(message_of([] { sync_program("ticket"); }).starts_with("no synchronization program is called"));
  CHECK(message_of([] {
          built("ticket-lock", "", {{"readers", 1}});
        }) == "ticket-lock has no parameter 'readers'; it has: threads, rounds, waves, narrow");
  CHECK(message_of([] {
          built("ticket-lock", "", {{"threads", 4097}});
        }) == "threads=4097 of ticket-lock is not between 1 and 4096");
  CHECK(message_of([] { built("ticket-lock", "printed"); }) ==
        "ticket-lock has no variant 'printed'; it has: default, as-released, turn-not-wrapped");
  CHECK(message_of([] {
          built("spin-sem", "", {{"backoff", 12}});
        }) == "backoff=12 is no power of two from 2 on");
  CHECK(message_of([] {
          built("tree-barrier", "", {{"exchange", 1}});
        }) == "exchange=1 needs words to exchange: accesses=1");
  CHECK(message_of([] {
          built("g-srb", "", {{"exchange", 1}, {"accesses", 1}});
        }) == "exchange=1 is for tree-barrier and flag-barrier");
  CHECK(message_of([] {
          built("spin-sem", "", {{"leaving", 3}});
        }) == "leaving=3 is more than there are permits: size=2");
}

TEST_CASE("every program in every variant prints, and reads back as the same") {
  for (const SyncProgram& program : sync_programs()) {
    for (const Variant& variant : program.variants) {
      const Program built = program.build({std::string(variant.name), "", {}});
      INFO(built.name);
      const std::string text = "HRF t\n" + print_claims(built) + print_program(built);
      const Program again = parse_litmus(text, "printed.litmus").program;
      CHECK(same_program(built, again));
      CHECK(print_claims(again) + print_program(again) == print_claims(built) + print_program(built));
    }
  }
}

TEST_CASE("a program without its waiting atomics does the same") {
  for (const std::string name : {"test-and-set", "ticket-lock", "decentralized-ticket-lock", "prior-sem"}) {
    INFO(name);
    const Program waiting = built(name);
    const Program looping = without_waiting_atomics(waiting);
    CHECK(has_waiting_atomics(waiting));
    CHECK_FALSE(has_waiting_atomics(looping));
    CHECK(safety(looping) == "holds");
    CHECK(progress(looping) == "terminates");
  }
  CHECK(safety(without_waiting_atomics(built("ticket-lock", "", {}, "two-tickets"))) == not_alone);
  CHECK(safety(without_waiting_atomics(built("prior-sem", "", {}, "priority-never-cleared"))) ==
        "nobody has priority");
}

// ---- The suite --------------------------------------------------------------------------------------------

TEST_CASE("the files of litmus/sync are what the catalogue prints") {
  struct Shipped {
    std::string file, program, variant;
    Values values;
  };
  const std::vector<Shipped> shipped{
      {"sync-test-and-set", "test-and-set", "", {}},
      {"sync-test-and-set-local", "test-and-set", "as-released", {{"narrow", 1}}},
      {"sync-ticket-lock", "ticket-lock", "", {}},
      {"sync-decentralized-ticket-lock", "decentralized-ticket-lock", "", {}},
      {"sync-spin-sem", "spin-sem", "", {}},
      {"sync-prior-sem", "prior-sem", "", {{"size", 1}, {"writers", 0}, {"leaving", 1}}},
      {"sync-tree-barrier", "tree-barrier", "", one_cu},
      {"sync-g-srb", "g-srb", "", one_cu},
      {"sync-g-cpusrb-single-level", "g-cpusrb", "single-level", {}},
      {"sync-spin-sem-as-printed", "spin-sem", "as-printed", {}},
      {"sync-prior-sem-flag", "prior-sem", "flag", {{"size", 1}, {"leaving", 1}}},
      {"sync-tree-barrier-as-printed", "tree-barrier", "as-printed", one_cu},
      {"sync-tree-barrier-one-counter", "tree-barrier", "one-counter", one_cu},
      {"sync-g-srb-truncates", "g-srb", "truncates", {{"grid", 1}}},
      {"sync-ccg-barrier", "ccg-barrier", "", {{"episodes", 2}}},
      {"sync-sleep-sem", "sleep-sem", "", {}},
      {"sync-sleep-sem-as-released", "sleep-sem", "as-released", {{"readers", 2}}},
      {"sync-flag-barrier", "flag-barrier", "", three_cus},
      {"sync-flag-barrier-main-unfenced", "flag-barrier", "main-unfenced", three_cus},
      {"sync-decentralized-ticket-lock-as-released", "decentralized-ticket-lock", "as-released", {}},
      {"sync-hybrid-barrier-by-cu", "hybrid-barrier", "by-cu", {{"grid", 3}}},
      {"sync-the-deque", "the-deque", "", one_task},
      {"sync-the-deque-as-printed", "the-deque", "as-printed", one_task},
  };
  const std::filesystem::path folder = LOCKSTEP_SOURCE_DIR "/litmus/sync";
  std::set<std::string> names;
  for (const Shipped& one : shipped) {
    INFO(one.file);
    names.insert(one.file + ".litmus");
    const LitmusTest test = read_litmus((folder / (one.file + ".litmus")).string());
    CHECK(test.name == one.file);
    CHECK(same_program(test.program, built(one.program, one.variant, one.values)));
    std::ifstream stream(folder / (one.file + ".litmus"));
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    CHECK(text.find(print_claims(test.program) + print_program(test.program)) != std::string::npos);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK(names.contains(entry.path().filename().string()));
  }
}
