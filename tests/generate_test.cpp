// Generated tests: what is enumerated, that nothing is twice, and what conform makes of it.
#include "checker/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

#include "checker/generate/conform.hpp"
#include "checker/generate/screen.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

using namespace lockstep;
using namespace lockstep::generate;

namespace {

namespace fs = std::filesystem;

constexpr GenerateOptions cycles_up_to(int n) {
  return {n, false};
}

// Every test of the families that `wanted` picks.
template <class Wanted, class Take>
void for_each_of(const Generator& generator, Wanted&& wanted, Take&& take) {
  for (const Family& family : generator.families()) {
    if (wanted(family)) generator.enumerate(family, take);
  }
}
template <class Take>
void for_each(const GenerateOptions& options, Take&& take) {
  const Generator generator(options);
  for_each_of(
      generator, [](const Family&) { return true; }, take);
}

bool seated(const Family& family, const std::string& seats) {
  std::string text;
  for (const Seat& seat : family.seats)
    text += seat.host ? "h" : fmt::format("{}{}", static_cast<char>('a' + seat.group), seat.agent);
  return text == seats;
}

std::shared_ptr<const LitmusTest> generated(const GenerateOptions& options, const std::string& name) {
  const Generator generator(options);
  std::shared_ptr<const LitmusTest> found;
  const std::string seats = name.substr(name.rfind('.') + 1);
  for_each_of(
      generator, [&](const Family& family) { return seated(family, seats); },
      [&](const Blueprint& blueprint) {
        if (name_of(blueprint) == name) found = to_test(blueprint);
      });
  INFO(name);
  REQUIRE(found);
  return found;
}

// ---- renaming, once more ---------------------------------------------------------------------------------

// The text of a program whose threads and locations are taken in a given order; work-groups, agents and the
// values of each location are renamed as they turn up. Knows nothing of blueprints.
std::string renamed(const Program& program, const std::vector<std::size_t>& threads,
                    const std::vector<std::size_t>& locations) {
  std::map<int, int> agents;
  std::map<std::pair<int, int>, int> groups;
  std::map<int, int> blocks;
  std::vector<std::map<int, int>> values(program.locations.size(), {{0, 0}});
  const auto number = [](auto& names, const auto& key) {
    return names.try_emplace(key, static_cast<int>(names.size())).first->second;
  };
  std::vector<std::size_t> place(locations.size());
  for (std::size_t i = 0; i < locations.size(); ++i) place[locations[i]] = i;
  std::string text;
  for (const std::size_t l : locations)
    text += fmt::format("{} ", number(blocks, program.locations[l].block));
  for (const std::size_t t : threads) {
    const Thread& thread = program.threads[t];
    const Placement& at = thread.placement;
    text += at.host ? fmt::format("| host {} ", at.kernel)
                    : fmt::format("| {} {} {} ", number(agents, at.agent),
                                  number(groups, std::pair(at.agent, at.wg)), at.kernel);
    std::map<int, std::size_t> filled_from;  // register: the location that it was read from
    for (const Instruction& i : thread.code) {
      text += fmt::format("; {} {} {} ", static_cast<int>(i.opcode), static_cast<int>(i.order),
                          i.order == Order::plain ? 0 : static_cast<int>(i.scope));
      if (i.opcode == Opcode::branch) {
        text += fmt::format("guard {}", number(values[filled_from.at(i.a.value)], i.b.value));
      } else if (i.opcode == Opcode::arithmetic) {
        text += fmt::format("add {}", i.b.value);
      } else if (is_memory(i.opcode)) {
        const auto location = static_cast<std::size_t>(i.location);
        text += fmt::format("at {} {} ", place[location], static_cast<int>(i.rmw));
        if (i.opcode != Opcode::load)
          text += i.a.is_register ? "data" : std::to_string(number(values[location], i.a.value));
        if (i.destination >= 0) filled_from[i.destination] = location;
      }
    }
  }
  return text;
}

std::string least_renaming(const Program& program) {
  std::vector<std::size_t> threads(program.threads.size());
  std::vector<std::size_t> locations(program.locations.size());
  std::iota(threads.begin(), threads.end(), 0);
  std::string least;
  do {
    std::iota(locations.begin(), locations.end(), 0);
    do {
      std::string text = renamed(program, threads, locations);
      if (least.empty() || text < least) least = std::move(text);
    } while (std::next_permutation(locations.begin(), locations.end()));
  } while (std::next_permutation(threads.begin(), threads.end()));
  return least;
}

// ---- conform ---------------------------------------------------------------------------------------------

ConformOptions conform_options(const std::string& system, int up_to,
                               const std::vector<std::string>& faults = {}) {
  ConformOptions options;
  options.generate = cycles_up_to(up_to);
  options.system = subject_named(system);
  options.system.options.faults = faults;
  options.limits.threads = 2;
  return options;
}

class TemporaryFile {
 public:
  [[nodiscard]] std::string name() const { return path_.string(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream in(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void write(const std::string& text) const { std::ofstream(path_) << text; }

 private:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "journal";
};

// A report without what depends on the clock.
nlohmann::json timeless(const ConformReport& report) {
  nlohmann::json all = conform_json(report);
  const auto strip = [](auto&& self, nlohmann::json& value) -> void {
    if (value.is_object()) {
      for (const char* key : {"seconds", "thread_seconds", "resumed"}) value.erase(key);
    }
    if (value.is_structured()) {
      for (auto& inner : value) self(self, inner);
    }
  };
  strip(strip, all);
  return all;
}

std::string refusal(const ConformOptions& options, RaceModel model = RaceModel::hrf_direct) {
  try {
    conform(options, *race_free_model(model));
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return {};
}

}  // namespace

// ---- what is generated -----------------------------------------------------------------------------------

TEST_CASE("generated tests are read again from their files") {
  std::size_t seen = 0;
  for_each(cycles_up_to(5), [&](const Blueprint& blueprint) {
    if (++seen % 41 != 0) return;
    const auto test = to_test(blueprint);
    const LitmusTest again = parse_litmus(print_test(*test), test->file);
    INFO(print_test(*test));
    REQUIRE(same_program(again.program, test->program));
    REQUIRE(again.name == test->name);
    REQUIRE(again.condition_text == test->condition_text);
    REQUIRE(again.observed.size() == test->observed.size());
  });
  CHECK(seen > 400000);
}

TEST_CASE("no two generated programs are equal up to renaming, and no two have one name") {
  const Generator generator({4, true});
  std::set<std::string> programs;
  std::set<std::string> names;
  for_each_of(
      generator,
      [](const Family& family) { return family.kind == Family::Kind::cycle || seated(family, "a0b0"); },
      [&](const Blueprint& blueprint) {
        const auto test = to_test(blueprint);
        const bool fresh = programs.insert(least_renaming(test->program)).second;
        const bool fresh_name = names.insert(test->name).second;
        if (!fresh || !fresh_name) FAIL(print_test(*test));
      });
  CHECK(programs.size() > 100000);
}

TEST_CASE("keys agree with renaming on the extras, too") {
  const Generator generator(cycles_up_to(5));
  std::map<Key, std::string> programs;
  std::set<std::string> distinct;
  for_each_of(
      generator, [](const Family& family) { return family.extras > 0 && seated(family, "a0b0"); },
      [&](const Blueprint& blueprint) {
        const std::string text = least_renaming(to_test(blueprint)->program);
        REQUIRE(programs.try_emplace(canonical_key(blueprint), text).first->second == text);
        distinct.insert(text);
      });
  CHECK(programs.size() == distinct.size());
  CHECK(programs.size() > 1000);
}

TEST_CASE("the known shapes are all generated") {
  const Generator generator(cycles_up_to(6));
  std::set<std::string> shapes;
  for_each_of(
      generator,
      [](const Family& family) {
        return family.extras == 0 && std::all_of(family.seats.begin(), family.seats.end(),
                                                 [](const Seat& seat) { return seat == Seat{}; });
      },
      [&](const Blueprint& blueprint) { shapes.insert(shape_of(blueprint)); });
  for (const std::string shape :
       {"MP",   "SB",    "LB",   "S",    "R",    "2+2W",   "WRC",   "RWC",    "WWC",    "IRIW",
        "ISA2", "W+RWC", "3.SB", "3.LB", "3.2W", "Z6.0",   "Z6.1",  "Z6.2",   "Z6.3",   "Z6.4",
        "Z6.5", "CoRR",  "CoWR", "CoRW", "CoWW", "IRRWIW", "IRWIW", "WRW+2W", "WRW+WR", "WRR+2W"}) {
    CAPTURE(shape);
    CHECK(shapes.contains(shape));
  }
}

TEST_CASE("how many there are does not change by accident") {
  struct Count {
    std::size_t tests = 0;
    std::size_t duplicates = 0;
    std::size_t race_free = 0;
    bool operator==(const Count&) const = default;
  };
  std::map<std::pair<int, int>, Count> counts;
  const Generator generator({5, false});
  for (const Family& family : generator.families()) {
    Count& count = counts[{family.edges, family.extras}];
    count.duplicates += generator.enumerate(family, [&](const Blueprint& blueprint) {
      ++count.tests;
      if (!surely_races(blueprint, RaceModel::hrf_indirect)) ++count.race_free;
    });
  }
  CHECK(counts.at({3, 0}) == Count{2188, 0, 322});
  CHECK(counts.at({4, 0}) == Count{12842, 4886, 1141});
  CHECK(counts.at({3, 1}) == Count{32624, 0, 4006});
  CHECK(counts.at({5, 0}) == Count{451264, 0, 4176});
}

TEST_CASE("a guard makes message passing race-free") {
  const auto model = race_free_model(RaceModel::hrf_indirect);
  const auto guarded = generated(cycles_up_to(4), "W-po-Wag+rf+Rag-guard-R+fr.a0b0");
  CHECK(model->obligation(*guarded, {}).owed == Owed::outcomes);
  const auto straight = generated(cycles_up_to(4), "W-po-Wag+rf+Rag-po-R+fr.a0b0");
  CHECK(model->obligation(*straight, {}).owed == Owed::nothing);
}

TEST_CASE("a witness is what the cycle says, and SC never shows it") {
  for_each(cycles_up_to(4), [&, seen = 0](const Blueprint& blueprint) mutable {
    if (++seen % 7 != 0) return;
    const auto test = to_test(blueprint);
    const SystemRun run = run_on_system(*test, subject_named("sc"), {});
    INFO(print_test(*test));
    REQUIRE(run.status == RunStatus::complete);
    REQUIRE(run.tally.positive == 0);
  });
}

TEST_CASE("what a glance dismisses races, and without fences and kernels it sees every race") {
  std::size_t compared = 0;
  const auto compare = [&](const Blueprint& blueprint) {
    const auto test = to_test(blueprint);
    const bool fenced = std::any_of(blueprint.thread.begin(), blueprint.thread.end(),
                                    [](const PlannedThread& t) { return t.link.fenced || t.kernel >= 0; });
    for (const RaceModel model :
         {RaceModel::drf, RaceModel::hrf_direct, RaceModel::hrf_indirect, RaceModel::hrf_relaxed_indirect}) {
      const RaceReport report = analyse_races(
          test->program, {.models = {model}, .readings = {SyncReading::any_location}, .explore = {}});
      const bool races = report.of(model, SyncReading::any_location).answer == RaceAnswer::race;
      const bool seen = surely_races(blueprint, model);
      if (seen && !races) FAIL("dismissed under " << name(model) << "\n" << print_test(*test));
      const bool exact = !fenced && model != RaceModel::hrf_relaxed_indirect;
      if (exact && races && !seen) FAIL("missed under " << name(model) << "\n" << print_test(*test));
      ++compared;
    }
  };
  const Generator generator({6, true});
  int seen = 0;
  for_each_of(
      generator,
      [](const Family& family) {
        return family.edges <= 4 && (family.extras == 0 || seated(family, "a0b1"));
      },
      [&](const Blueprint& blueprint) {
        ++seen;
        const int every = blueprint.edges == 0 ? 211 : blueprint.extras > 0 ? 23 : 3;
        if (seen % every == 0) compare(blueprint);
      });
  for_each_of(
      generator, [](const Family& family) { return family.edges == 5 && seated(family, "a0a0b0"); },
      [&](const Blueprint& blueprint) {
        if (++seen % 17 == 0) compare(blueprint);
      });
  CHECK(compared > 10000);
}

TEST_CASE("the two readings of so_S differ on a generated test") {
  // P1 learns of the release by an RMW that does not acquire, and acquires on the data itself.
  const auto test = generated(cycles_up_to(6), "W-po-Wag+rf+Rrmwrelag-guard-Rag+fr.a0b0");
  const Obligation obligation = race_free_model(RaceModel::hrf_indirect)->obligation(*test, {});
  CHECK(obligation.owed == Owed::outcomes);
  CHECK(obligation.by_one_reading);
}

TEST_CASE("lengths that are out of reach are refused") {
  CHECK_THROWS_AS(Generator(cycles_up_to(longest_cycle + 1)), BadInput);
  CHECK_THROWS_AS(Generator(cycles_up_to(-1)), BadInput);
}

// ---- conform ---------------------------------------------------------------------------------------------

TEST_CASE("write-through conforms to HRF-direct on every cycle up to 4") {
  const ConformReport report =
      conform(conform_options("write-through", 4), *race_free_model(RaceModel::hrf_direct));
  CHECK(exit_status(report) == 0);
  CHECK(report.complete());
  const Tallies all = report.all_tallies();
  CHECK(all.race_free == 1463);
  CHECK(all.racy == 0);
  CHECK(report.all_counts().generated == 15030);
  CHECK_FALSE(report.culprit);
}

TEST_CASE("a fault is convicted, with the shortest test and an execution that replays") {
  const ConformReport report = conform(conform_options("write-through", 4, {"early-acknowledgement"}),
                                       *race_free_model(RaceModel::hrf_indirect));
  CHECK(exit_status(report) == 1);
  REQUIRE(report.culprit);
  CHECK(report.culprit->name == "W+ke+R+fr.a0b1");
  REQUIRE(report.evidence);
  CHECK(replay(*report.evidence).difference.empty());
  CHECK(conform_text(report).find("does not conform") != std::string::npos);
}

TEST_CASE("a report does not depend on the number of threads") {
  ConformOptions options = conform_options("write-through", 3, {"cpu-not-invalidated"});
  const auto model = race_free_model(RaceModel::hrf_direct);
  const ConformReport two = conform(options, *model);
  options.limits.threads = 1;
  CHECK(timeless(conform(options, *model)) == timeless(two));
}

TEST_CASE("a resumed run reports what an uninterrupted one does") {
  const TemporaryFile file;
  ConformOptions options = conform_options("write-through", 3, {"cpu-not-invalidated"});
  options.journal = file.name();
  options.build = "b1";
  const auto model = race_free_model(RaceModel::hrf_direct);
  const ConformReport whole = conform(options, *model);
  CHECK(whole.resumed == 0);
  const std::vector<std::string> lines = file.lines();
  REQUIRE(lines.size() > 10);

  // The first half, and a line that was cut off while it was written.
  std::string half;
  for (std::size_t i = 0; i < lines.size() / 2; ++i) half += lines[i] + "\n";
  file.write(half + lines.back().substr(0, lines.back().size() / 2));
  const ConformReport resumed = conform(options, *model);
  CHECK(resumed.resumed > 0);
  CHECK(resumed.resumed < resumed.candidates);
  CHECK(timeless(resumed) == timeless(whole));

  // By then the journal is whole again.
  const ConformReport again = conform(options, *model);
  CHECK(again.resumed == again.candidates);
  CHECK(timeless(again) == timeless(whole));
}

TEST_CASE("a journal of another run, and a damaged one, are refused") {
  const TemporaryFile file;
  ConformOptions options = conform_options("write-through", 3);
  options.journal = file.name();
  options.build = "b1";
  REQUIRE(refusal(options).empty());
  const std::vector<std::string> lines = file.lines();

  ConformOptions other = options;
  other.build = "b2";
  CHECK(refusal(other).find("build: it has 'b1', this run 'b2'") != std::string::npos);
  other = options;
  other.generate.up_to = 4;
  CHECK(refusal(other).find("cycles up to 3") != std::string::npos);
  other = options;
  other.system = subject_named("quick-release");
  CHECK(refusal(other).find("quick-release") != std::string::npos);
  CHECK(refusal(options, RaceModel::drf).find("model: it has 'hrf-direct', this run 'drf'") !=
        std::string::npos);
  CHECK(file.lines() == lines);  // none of them touched it

  file.write(lines[0] + "\n" + lines[1].substr(5) + "\n" + lines[2] + "\n");
  CHECK(refusal(options).find(":2:") != std::string::npos);
  file.write(lines[0] + "\n{\"part\": 100000, \"tallies\": {}, \"notable\": []}\n");
  CHECK(refusal(options).find("damaged") != std::string::npos);
  file.write("my shopping list\n");
  CHECK(refusal(options).find("no journal") != std::string::npos);
  CHECK(file.lines() == std::vector<std::string>{"my shopping list"});
}

TEST_CASE("an interrupted run says so, and its journal is of use") {
  const TemporaryFile file;
  std::atomic<bool> stop{false};
  ConformOptions options = conform_options("write-through", 3);
  options.journal = file.name();
  options.limits.interrupted = &stop;
  options.on_progress = [&](const ConformProgress& now) { stop = stop || now.done >= 100; };
  const auto model = race_free_model(RaceModel::hrf_direct);
  const ConformReport cut = conform(options, *model);
  CHECK(exit_status(cut) == 130);
  CHECK_FALSE(cut.complete());
  stop = false;
  options.on_progress = nullptr;
  const ConformReport rest = conform(options, *model);
  CHECK(exit_status(rest) == 0);
  CHECK(rest.complete());
}

TEST_CASE("the faults of write-through that concern kernels and the CPU are killed by the shortest tests") {
  const FaultKills kills = kill_faults(
      conform_options("write-through", 3), *race_free_model(RaceModel::hrf_indirect),
      {"release-does-not-wait", "early-acknowledgement", "marker-overtakes-writes", "cpu-not-invalidated"});
  CHECK(exit_status(kills) == 0);
  REQUIRE(kills.faults.size() == 4);
  std::map<std::string, std::string> killers;
  for (const FaultKill& one : kills.faults) {
    REQUIRE(one.killer);
    killers[one.fault] = one.killer->name;
  }
  CHECK(killers["release-does-not-wait"] == "W+ke+R+fr.a0b0");
  CHECK(killers["early-acknowledgement"] == "W+ke+R+fr.a0b1");
  CHECK(killers["marker-overtakes-writes"] == "W+ke+R+fr.a0b0");
}

TEST_CASE("a fault that nothing kills is alive, and the status says so") {
  const FaultKills kills = kill_faults(conform_options("write-through", 3),
                                       *race_free_model(RaceModel::hrf_indirect), {"acquire-keeps-l1"});
  CHECK(exit_status(kills) == 1);
  CHECK_FALSE(kills.faults.at(0).test);
  CHECK(fault_kills_text(kills).find("ALIVE") != std::string::npos);
}
