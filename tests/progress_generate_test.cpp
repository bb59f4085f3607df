// Progress litmus tests: the classics under each progress model, that every program is enumerated once, and
// that the claims which the tables check can fail.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "checker/generate/blueprint.hpp"
#include "checker/generate/progress_table.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;
using namespace lockstep::generate;

namespace {

constexpr std::int8_t x = 0;
constexpr std::int8_t y = 1;

constexpr Axb store(std::int8_t location, std::int8_t value) {
  return {location, -1, value, -1};
}
// Goes to `target` when it reads `value`.
constexpr Axb load(std::int8_t location, std::int8_t value, std::int8_t target) {
  return {location, value, -1, target};
}
constexpr Axb exchange(std::int8_t location, std::int8_t value, std::int8_t written, std::int8_t target) {
  return {location, value, written, target};
}

ProgressProgram program_of(const std::vector<std::vector<Axb>>& threads) {
  ProgressProgram program;
  program.threads = static_cast<std::int8_t>(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    program.sizes.at(t) = static_cast<std::int8_t>(threads[t].size());
    std::copy(threads[t].begin(), threads[t].end(), program.code.at(t).begin());
  }
  return program;
}

ProgressVerdicts verdicts_of(const ProgressProgram& program) {
  const auto verdicts = judge(program, owes_of_models(program.threads), {});
  REQUIRE(verdicts);
  return *verdicts;
}

// "hsa hsa-obe lobe fair"
std::string terminates(const ProgressProgram& program,
                       TerminationQuestion question = TerminationQuestion::weak_fairness) {
  const ModelSet set = verdicts_of(program).terminates_under(question);
  std::string text;
  for (std::size_t m = 0; m < model_count; ++m) {
    if (!set[m]) continue;
    if (!text.empty()) text += ' ';
    text += progress_models.at(m).name;
  }
  return text;
}

std::vector<ProgressProgram> programs_in(const ProgressSpace& space) {
  const ProgressPrograms programs(space);
  std::vector<ProgressProgram> all;
  programs.enumerate(0, programs.candidates(), [&](const ProgressProgram& p) { all.push_back(p); });
  return all;
}

// A program as plain numbers, to be counted by other means: thread by thread location, check, exchange and
// target of each instruction.
using Numbers = std::vector<std::vector<std::array<int, 4>>>;

Numbers numbers_of(const ProgressProgram& program) {
  Numbers numbers(static_cast<std::size_t>(program.threads));
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    for (int i = 0; i < program.sizes.at(t); ++i) {
      const Axb& a = program.code.at(t).at(static_cast<std::size_t>(i));
      numbers[t].push_back({a.location, a.check, a.exchange, a.target});
    }
  }
  return numbers;
}

// Of all renamings of locations and of the values behind 0 the least.
Numbers least_renaming(const Numbers& program, const ProgressSpace& space) {
  std::vector<int> locations(static_cast<std::size_t>(space.locations));
  std::iota(locations.begin(), locations.end(), 0);
  std::vector<std::vector<int>> orders_of_values;
  std::vector<int> values(static_cast<std::size_t>(space.values));
  std::iota(values.begin(), values.end(), 0);
  do orders_of_values.push_back(values);
  while (std::next_permutation(values.begin() + 1, values.end()));
  Numbers least;
  do {
    std::vector<std::size_t> chosen(locations.size(), 0);  // the order of the values of each location
    while (true) {
      Numbers renamed = program;
      for (auto& thread : renamed) {
        for (auto& [location, check, written, target] : thread) {
          if (location < 0) continue;
          const auto& value = orders_of_values[chosen[static_cast<std::size_t>(location)]];
          if (check >= 0) check = value[static_cast<std::size_t>(check)];
          if (written >= 0) written = value[static_cast<std::size_t>(written)];
          location = locations[static_cast<std::size_t>(location)];
        }
      }
      if (least.empty() || renamed < least) least = renamed;
      std::size_t next = 0;
      while (next < chosen.size() && ++chosen[next] == orders_of_values.size()) chosen[next++] = 0;
      if (next == chosen.size()) break;
    }
  } while (std::next_permutation(locations.begin(), locations.end()));
  return least;
}

// Every program of the space: every instruction in every place, dismissing those that are said in two ways.
std::vector<Numbers> brute_force(const ProgressSpace& space) {
  std::vector<Numbers> all;
  Numbers program(static_cast<std::size_t>(space.threads));
  const auto fill = [&](auto&& self, std::size_t thread, std::size_t at) -> void {
    if (thread == program.size()) {
      all.push_back(program);
      return;
    }
    if (at == program[thread].size()) return self(self, thread + 1, 0);
    const int size = static_cast<int>(program[thread].size());
    for (int location = -1; location < space.locations; ++location) {
      for (int check = -1; check < space.values; ++check) {
        for (int written = -1; written < space.values; ++written) {
          for (int target = -1; target <= size; ++target) {
            if ((check < 0) != (target < 0) || target == static_cast<int>(at) + 1) continue;
            if ((location < 0) != (check < 0 && written < 0)) continue;
            program[thread][at] = {location, check, written, target};
            self(self, thread, at + 1);
          }
        }
      }
    }
  };
  const auto share = [&](auto&& self, std::size_t thread, int left) -> void {
    if (thread == program.size()) {
      if (left == 0) fill(fill, 0, 0);
      return;
    }
    for (int size = 1; size <= left; ++size) {
      program[thread].resize(static_cast<std::size_t>(size));
      self(self, thread + 1, left - size);
    }
  };
  share(share, 0, space.instructions);
  return all;
}

ProgressTable table_of(const ProgressSpace& space, std::optional<OwesOfModels> owes = {}) {
  ProgressTableOptions options;
  options.workers = 2;
  options.owes = std::move(owes);
  return tabulate(space, options);
}

constexpr std::size_t index_of(ProgressModel model) {
  return static_cast<std::size_t>(model);
}

}  // namespace

TEST_CASE("a consumer's id decides whether HSA and LOBE wake its producer") {
  CHECK(terminates(program_of({{store(x, 1)}, {load(x, 0, 0)}})) == "hsa hsa-obe lobe fair");
  CHECK(terminates(program_of({{load(x, 0, 0)}, {store(x, 1)}})) == "fair");
}

TEST_CASE("a spin lock is safe where whoever has begun goes on") {
  const std::vector<Axb> client{exchange(x, 1, 1, 0), store(x, 0)};
  CHECK(terminates(program_of({client, client})) == "obe hsa-obe lobe fair");
  CHECK(terminates(program_of({client, client}), TerminationQuestion::by_paths) ==
        "unfair obe hsa-obe lobe fair");
  // The simplified mutex of the paper's Fig. 8, with the waiting thread first and last.
  CHECK(terminates(program_of({{load(x, 1, 0)}, {store(x, 1), store(x, 0)}})) == "obe hsa-obe lobe fair");
  CHECK(terminates(program_of({{store(x, 1), store(x, 0)}, {load(x, 1, 0)}})) == "hsa obe hsa-obe lobe fair");
}

TEST_CASE("a barrier needs everybody: nothing short of fairness will do") {
  CHECK(terminates(program_of({{store(x, 1), load(y, 0, 1)}, {store(y, 1), load(x, 0, 1)}})) == "fair");
  CHECK(terminates(program_of({{store(x, 1), load(x, 1, 1)}, {load(x, 0, 0), store(x, 0)}})) == "fair");
}

TEST_CASE("philosophers who change places for ever end by some path, and on no weakly fair promise") {
  const ProgressProgram philosophers = program_of({{exchange(x, 1, 0, 0)}, {exchange(x, 0, 1, 0)}});
  CHECK(terminates(philosophers).empty());
  CHECK(verdicts_of(philosophers).can_always_end);
  CHECK(terminates(philosophers, TerminationQuestion::by_paths) == "unfair hsa obe hsa-obe lobe fair");
}

TEST_CASE("a wait for what nobody writes is a trap under every model, one for what is there is none") {
  const ProgressVerdicts trapped = verdicts_of(program_of({{load(x, 0, 0)}, {store(x, 0)}}));
  CHECK_FALSE(trapped.can_always_end);
  CHECK(trapped.expectation() == "unfair:trap, hsa:trap, obe:trap, hsa-obe:trap, lobe:trap, fair:trap");
  CHECK(terminates(program_of({{load(x, 1, 0)}, {store(x, 0)}})) == "unfair hsa obe hsa-obe lobe fair");
}

TEST_CASE("who is owed execution, given who has begun and who has ended") {
  const auto owed = [](ProgressModel model, ThreadSet begun, ThreadSet ended) {
    return OwedThreads(model, 3)(ThreadStanding{begun, ended});
  };
  CHECK(owed(ProgressModel::unfair, 0b111, 0) == 0);
  CHECK(owed(ProgressModel::fair, 0, 0b010) == 0b101);
  CHECK(owed(ProgressModel::hsa, 0b110, 0b001) == 0b010);
  CHECK(owed(ProgressModel::obe, 0b110, 0b010) == 0b100);
  CHECK(owed(ProgressModel::hsa_obe, 0b100, 0) == 0b101);
  CHECK(owed(ProgressModel::lobe, 0b010, 0b010) == 0b001);
  CHECK(owed(ProgressModel::lobe, 0, 0) == 0b001);
  CHECK(owed(ProgressModel::lobe, 0b100, 0) == 0b111);
}

TEST_CASE("a work-group's id is its number, wherever its threads stand in the text") {
  const auto under_hsa = [](const std::string& placed) {
    const std::string code = "L0: ld.acquire.agent r0, x | st.release.agent x, 1 ;\n beq r0, 0, L0 | ;\n";
    const auto test = std::make_shared<const LitmusTest>(
        parse_litmus("HRF ids\n{ x = 0; }\n " + placed + " ;\n " + code + "forall (true)\n", "ids.litmus"));
    Subject subject;
    subject.system = &find_system("sc");
    subject.program = std::shared_ptr<const Program>(test, &test->program);
    subject.options.scheduler = scheduler_named("hsa");
    return judge_termination(subject, {}).termination;
  };
  CHECK(under_hsa("P0@wg 0,agent 0 | P1@wg 1,agent 0") == Termination::livelock);
  CHECK(under_hsa("P0@wg 1,agent 0 | P1@wg 0,agent 0") == Termination::terminates);
  CHECK(under_hsa("P0@wg 7,agent 0 | P1@wg 3,agent 1") == Termination::terminates);
}

TEST_CASE("one graph for all models says what a graph for each says") {
  const auto compare = [](const ProgressSpace& space, std::size_t each) {
    const auto programs = programs_in(space);
    for (std::size_t i = 0; i < programs.size(); i += each) {
      INFO(name_of(programs[i]));
      const ProgressVerdicts shared = verdicts_of(programs[i]);
      const auto test = to_test(programs[i]);
      for (std::size_t m = 0; m < model_count; ++m) {
        Subject subject;
        subject.system = &find_system("sc");
        subject.program = std::shared_ptr<const Program>(test, &test->program);
        subject.options.scheduler = scheduler_named(progress_models.at(m).name);
        for (std::size_t q = 0; q < termination_questions.size(); ++q) {
          LivenessOptions options;
          options.traces = false;
          options.by_paths = termination_questions.at(q) == TerminationQuestion::by_paths;
          const LivenessRun own = judge_termination(subject, options);
          INFO(progress_models.at(m).name << ", question " << q);
          CHECK(word(own.termination) == word(shared.verdict.at(q).at(m)));
        }
      }
    }
  };
  compare({2, 2, 2, 2}, 1);
  compare({2, 3, 2, 2}, 29);
  compare({3, 3, 2, 2}, 17);
}

TEST_CASE("every program is enumerated once") {
  const auto space = GENERATE(ProgressSpace{2, 2, 2, 2}, ProgressSpace{3, 3, 2, 2}, ProgressSpace{2, 2, 2, 3},
                              ProgressSpace{2, 3, 1, 2}, ProgressSpace{2, 2, 3, 2});
  INFO(space.threads << " threads, " << space.instructions << " instructions, " << space.locations
                     << " locations, " << space.values << " values");
  const std::vector<Numbers> candidates = brute_force(space);
  CHECK(ProgressPrograms(space).candidates() == candidates.size());
  std::set<Numbers> expected;
  for (const Numbers& program : candidates) expected.insert(least_renaming(program, space));
  const std::vector<ProgressProgram> programs = programs_in(space);
  std::set<Numbers> found;
  std::set<std::string> names;
  for (const ProgressProgram& program : programs) {
    found.insert(least_renaming(numbers_of(program), space));
    names.insert(name_of(program));
  }
  CHECK(programs.size() == expected.size());
  CHECK(names.size() == programs.size());
  CHECK(found == expected);
}

TEST_CASE("programs that differ in the order of threads alone are counted once") {
  const ProgressProgram up = program_of({{store(x, 1)}, {load(x, 0, 0)}});
  const ProgressProgram down = program_of({{load(x, 0, 0)}, {store(x, 1)}});
  CHECK(unordered(up) == unordered(down));
  CHECK(unordered(up) != unordered(program_of({{store(x, 1)}, {load(x, 1, 0)}})));
  std::set<ProgressProgram> classes;
  for (const ProgressProgram& program : programs_in({3, 3, 2, 2})) classes.insert(unordered(program));
  CHECK(table_of({3, 3, 2, 2}).unordered == classes.size());
}

TEST_CASE("programs that are not run, for they have no loop, terminate under every scheduler") {
  std::size_t without = 0;
  for (const ProgressSpace& space :
       {ProgressSpace{2, 2, 2, 2}, ProgressSpace{2, 3, 2, 2}, ProgressSpace{3, 3, 2, 2}}) {
    for (const ProgressProgram& program : programs_in(space)) {
      if (has_loop(program)) continue;
      ++without;
      INFO(name_of(program));
      CHECK(verdicts_of(program).terminates_under(TerminationQuestion::weak_fairness).all());
    }
  }
  CHECK(without == 13 + 426 + 63);
}

TEST_CASE("the table of 2 threads with 3 instructions") {
  const ProgressTable table = table_of({2, 3, 2, 2});
  CHECK(table.violations.empty());
  CHECK(exit_status({table}) == 0);
  CHECK(table.programs == 14298);
  CHECK(table.unordered == 7149);
  CHECK(table.progress_tests == 1486);
  const auto count = [&](TerminationQuestion question, const std::string& set) {
    const auto& rows = table.rows.at(static_cast<std::size_t>(question));
    const auto row = rows.find(ModelSet(set).to_ulong());
    return row == rows.end() ? 0 : row->second.programs;
  };
  // fair, lobe, hsa-obe, obe, hsa, unfair
  constexpr auto weak = TerminationQuestion::weak_fairness;
  CHECK(count(weak, "000000") == 7256);
  CHECK(count(weak, "100000") == 595);
  CHECK(count(weak, "111010") == 581);
  CHECK(count(weak, "111100") == 30);
  CHECK(count(weak, "111110") == 30);
  CHECK(count(weak, "111111") == 5380);
  CHECK(table.rows.at(0).at(0).trapped == 7006);
  CHECK(table.rows.at(0).at(0).strong == 250);
  // The unfair model owes nobody anything, so it is not asked.
  constexpr auto paths = TerminationQuestion::by_paths;
  CHECK(count(paths, "000001") == 7006);
  CHECK(count(paths, "100001") == 606);
  CHECK(count(paths, "111001") == 1);
  CHECK(count(paths, "111011") == 585);
  CHECK(count(paths, "111101") == 30);
  CHECK(count(paths, "111111") == 5644);
}

TEST_CASE("a model that owes less than it should breaks the order, and the table says where") {
  OwesOfModels owes = owes_of_models(2);
  owes.at(index_of(ProgressModel::lobe)) = [](const ThreadStanding& s) { return s.begun & 0b10U; };
  const ProgressTable table = table_of({2, 2, 2, 2}, owes);
  REQUIRE_FALSE(table.violations.empty());
  CHECK(std::find(table.violations.begin(), table.violations.end(),
                  "Wx1+Rx0.0 terminates under hsa-obe, and not under lobe, which owes more (weak)") !=
        table.violations.end());
  CHECK(exit_status({table}) == 1);
  CHECK_THAT(table_text(table), Catch::Contains("VIOLATION: Wx1+Rx0.0"));
}

TEST_CASE("a model that looks at ids although it should not is found out") {
  OwesOfModels owes = owes_of_models(2);
  owes.at(index_of(ProgressModel::fair)) = OwedThreads(ProgressModel::hsa_obe, 2);
  const ProgressTable table = table_of({2, 2, 2, 2}, owes);
  REQUIRE_FALSE(table.violations.empty());
  CHECK_THAT(table.violations.front(), Catch::Contains("but for the order of threads"));
  CHECK(exit_status({table}) == 1);
}

TEST_CASE("an interrupted table, and one that runs out of time, say so") {
  std::atomic<bool> interrupted = true;
  ProgressTableOptions options;
  options.limits.interrupted = &interrupted;
  const ProgressTable stopped = tabulate({2, 3, 2, 2}, options);
  CHECK(stopped.enumerated == 0);
  CHECK(exit_status({stopped}) == 130);
  options.limits.interrupted = nullptr;
  options.limits.time = std::chrono::milliseconds(1);
  const ProgressTable late = tabulate({2, 4, 2, 2}, options);
  CHECK(late.enumerated < late.candidates);
  CHECK(exit_status({late}) == 3);
}

TEST_CASE("a progress test's file reads back as the same program") {
  for (const ProgressProgram& program : programs_in({2, 2, 2, 2})) {
    const auto test = to_test(program);
    INFO(test->name);
    const LitmusTest read = parse_litmus(print_test(*test), test->file);
    CHECK(read.name == test->name);
    CHECK(same_program(read.program, test->program));
  }
  const ProgressProgram producer = program_of({{store(x, 1)}, {load(x, 0, 0)}});
  CHECK_THAT(
      print_test(*to_test(producer), verdicts_of(producer).expectation()),
      Catch::Contains("\"\nProgress=unfair:livelock, hsa:terminates, obe:livelock, hsa-obe:terminates, "
                      "lobe:terminates, fair:terminates\n{"));
}

TEST_CASE("a space out of bounds is refused") {
  CHECK_THROWS_AS(ProgressPrograms({4, 4, 2, 2}), BadInput);
  CHECK_THROWS_AS(ProgressPrograms({3, 2, 2, 2}), BadInput);
  CHECK_THROWS_AS(ProgressPrograms({2, 7, 2, 2}), BadInput);
  CHECK_THROWS_AS(ProgressPrograms({2, 3, 4, 2}), BadInput);
  CHECK_THROWS_AS(ProgressPrograms({2, 3, 2, 1}), BadInput);
}
