// What a local atomic buffer may do to a program: nothing at all to one that puts an ordering point between
// an update and any access of another sort, whatever it does; and what 3.2.3.2 says, and more, to others.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"
#include "spec/program/values.hpp"

using namespace lockstep;

namespace {

using Texts = std::vector<std::string>;

SystemRun run(const LitmusTest& test, const std::string& system, const Texts& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  SystemRun result = run_on_system(test, std::move(subject), {});
  INFO(test.name << " on " << system << ": " << word(result.status) << " " << result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result;
}

LitmusTests folder(const std::string& name, Clients clients = Clients::leave_out) {
  SuiteFiles files = read_tests(std::vector<std::string>{LOCKSTEP_SOURCE_DIR "/litmus/" + name},
                                LOCKSTEP_SOURCE_DIR "/litmus", clients);
  REQUIRE(files.errors.empty());
  return files.tests;
}

const LitmusTests& suite() {
  static const LitmusTests tests = folder("lab");
  return tests;
}

bool breaks_the_rule(const LitmusTest& test) {
  return test.name.starts_with("lab-broken-");
}

// Differs from what the test expects of the system.
bool strays(const LitmusTest& test, const SystemRun& run) {
  return std::any_of(test.expected.begin(), test.expected.end(), [&](const ExpectedObservation& expected) {
    return expected.system == run.system && expected.observation != run.tally.observation();
  });
}

LitmusTest parsed(const std::string& text) {
  return parse_litmus(text, "generated.litmus");
}

// Plain numbers, as a kind.
struct Plain {
  using Value = std::int32_t;
  template <class E>
  using Enum = E;
  static Value select(bool condition, Value a, Value b) { return condition ? a : b; }
  static RmwFunction select(bool condition, RmwFunction a, RmwFunction b) { return condition ? a : b; }
};

// ---- programs from an alphabet ----------------------------------------------------------------------------

// One access of x, or an ordering point.
struct Letter {
  char name;
  std::string text;  // with {} for the register that it reads into, where it reads
  bool update = false;
  bool orders = false;
};
const std::vector<Letter> alphabet{{'U', "red.comm.agent.add x, 1", true},
                                   {'M', "red.comm.agent.max x, 9", true},
                                   {'L', "ld r{}, x"},
                                   {'A', "ld.relaxed.agent r{}, x"},
                                   {'S', "st x, 5"},
                                   {'X', "red.relaxed.agent.exch x, 6"},
                                   {'R', "atom.comm.agent.add r{}, x, 1"},
                                   {'F', "fence.release.agent", false, true}};
using Letters = std::vector<Letter>;

Letters of(const std::string& names) {
  Letters letters;
  for (const char name : names) {
    letters.push_back(*std::find_if(alphabet.begin(), alphabet.end(),
                                    [&](const Letter& letter) { return letter.name == name; }));
  }
  return letters;
}
// Every word of up to so many of the letters.
std::vector<Letters> words_of(const Letters& letters, std::size_t longest) {
  std::vector<Letters> all{{}};
  for (std::size_t first = 0, length = 0; length < longest; ++length) {
    const std::size_t end = all.size();
    for (std::size_t i = first; i < end; ++i) {
      for (const Letter& letter : letters) {
        Letters longer = all[i];
        longer.push_back(letter);
        all.push_back(std::move(longer));
      }
    }
    first = end;
  }
  return all;
}

// The rule, for one thread: behind an update an ordering point comes before anything but updates.
bool obeys(const Letters& word) {
  bool buffered = false;
  for (const Letter& letter : word) {
    if (buffered && !letter.update && !letter.orders) return false;
    buffered = (buffered || letter.update) && !letter.orders;
  }
  return true;
}
bool any_update(const Letters& word) {
  return std::any_of(word.begin(), word.end(), [](const Letter& letter) { return letter.update; });
}

// The column of a thread, and what it reads into; registers count up from `next`.
struct Column {
  Texts rows;
  Texts read;
  int next = 0;
  void add(const Letters& word, int thread) {
    for (const Letter& letter : word) {
      if (letter.text.find("{}") == std::string::npos) {
        rows.push_back(letter.text);
        continue;
      }
      read.push_back(fmt::format("P{}:r{} == 0", thread, next));
      rows.push_back(fmt::format(fmt::runtime(letter.text), next++));
    }
  }
};
LitmusTest program_of(const std::vector<std::pair<std::string, Column>>& columns) {
  std::size_t rows = 0;
  std::string condition = "x == 0";
  std::string text = "HRF generated\n{ x = 2; flag = 0; }\n";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text += fmt::format("{} P{}@{}", i == 0 ? "" : " |", i, columns[i].first);
    rows = std::max(rows, columns[i].second.rows.size());
    for (const std::string& read : columns[i].second.read) condition += " /\\ " + read;
  }
  text += " ;\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Texts& column = columns[i].second.rows;
      text += (i == 0 ? " " : " | ") + (row < column.size() ? column[row] : "");
    }
    text += " ;\n";
  }
  return parsed(text + "exists (" + condition + ")\n");
}

// Two programs side by side on both systems.
bool same_outcomes(const LitmusTest& test, const std::string& system) {
  return run(test, system).outcomes == run(test, "write-through").outcomes;
}

}  // namespace

// ---- runs of updates --------------------------------------------------------------------------------------

TEST_CASE("a run of updates leaves what its updates leave one after the other") {
  const Plain k;
  const std::vector<RmwFunction> functions{RmwFunction::add,
                                           RmwFunction::subtract,
                                           RmwFunction::increment,
                                           RmwFunction::decrement,
                                           RmwFunction::bit_and,
                                           RmwFunction::bit_or,
                                           RmwFunction::bit_xor,
                                           RmwFunction::minimum,
                                           RmwFunction::maximum,
                                           RmwFunction::minimum_unsigned,
                                           RmwFunction::maximum_unsigned};
  std::size_t checked = 0;
  for (const RmwFunction function : functions) {
    CHECK(commutes(function));
    for (std::int32_t old = -3; old <= 7; ++old) {
      for (std::int32_t first = -2; first <= 4; ++first) {
        if (is_bounded(function) && first < 0) continue;  // too large to be counted
        for (int length = 1; length <= 9; ++length) {
          std::int32_t one_by_one = old;
          std::int32_t run = 0;
          for (int i = 0; i < length; ++i) {
            // Operands differ within a run, the bounds of inc and dec don't.
            const std::int32_t a = is_bounded(function) ? first : first + i % 3;
            const Update<RmwFunction, std::int32_t> update{function, a, 0};
            one_by_one = rmw_result(k, update, one_by_one);
            run = i == 0 ? first_of_run(k, update) : longer_run(k, update, run);
          }
          INFO(static_cast<int>(function) << " from " << old << ", operand " << first << ", " << length);
          REQUIRE(run_result(k, function, first, run, old) == one_by_one);
          ++checked;
        }
      }
    }
  }
  CHECK(checked > 5000);
  CHECK_FALSE(commutes(RmwFunction::exchange));
  CHECK_FALSE(commutes(RmwFunction::compare_swap));
}

// ---- the suite --------------------------------------------------------------------------------------------

TEST_CASE("the LAB's suite shows what each of its tests expects, of every variant") {
  std::map<std::string, int> expectations;
  for (const auto& test : suite()) {
    for (const ExpectedObservation& expected : test->expected) {
      INFO(test->name << " on " << expected.system);
      CHECK_FALSE(strays(*test, run(*test, expected.system)));
      ++expectations[expected.system];
    }
  }
  for (const Variant& variant : find_system("lab").variants) {
    const std::string name = variant.name == "default" ? "lab" : "lab/" + std::string(variant.name);
    CHECK(expectations[name] > 0);
  }
}

TEST_CASE("programs that obey the rule have the outcomes that they have without a LAB") {
  int obeying = 0;
  for (const auto& test : suite()) {
    INFO(test->name);
    CHECK(same_outcomes(*test, "lab") != breaks_the_rule(*test));
    obeying += breaks_the_rule(*test) ? 0 : 1;
  }
  CHECK(obeying >= 40);
}

TEST_CASE("programs without updates have the states that they have without a LAB") {
  for (const auto& test : folder("mp")) {
    INFO(test->name);
    const SystemRun with = run(*test, "lab");
    const SystemRun without = run(*test, "write-through");
    CHECK(with.exploration.states == without.exploration.states);
    CHECK(with.outcomes == without.outcomes);
  }
}

TEST_CASE("each mistake in LAB is convicted by a test that LAB passes") {
  const std::vector<std::pair<std::string, std::string>> kills{
      {"runs-by-own-function", "lab-sub"},
      {"sign-ignored", "lab-min-umin-own"},
      {"result-buffered", "lab-result"},
      {"l1-copy-kept", "lab-own-load-after-fence"},
      {"operation-ignored", "lab-add-sub-own"},
      {"mismatch-overwrites", "lab-add-sub-own"},
      {"flush-keeps-line", "lab-xor"},
      {"release-keeps-lab", "lab-mp-release-agent"},
      {"barrier-keeps-lab", "lab-barrier-wg"},
      {"one-line-left", "lab-mp-two-words-agent"},
      {"first-update-lost", "lab-add"},
      {"hit-overwrites", "lab-words-both"},
      {"mask-ignored", "lab-words"},
      {"flush-overwrites", "lab-or"},
      {"flush-overtakes-writes", "lab-store-before"},
      {"release-does-not-wait", "lab-kernel-sum-apart"},
      {"early-acknowledgement", "lab-kernel-sum-apart"},
      {"acquire-keeps-l1", "lab-mp-stale-agent"},
      {"l2-copy-not-updated", "lab-mp-stale-agent"},
      {"marker-overtakes-writes", "lab-kernel-sum"},
  };
  const std::span<const Fault> listed = find_system("lab").faults;
  for (const auto& [fault, name] : kills) {
    const auto test = std::find_if(suite().begin(), suite().end(),
                                   [&, wanted = name](const auto& one) { return one->name == wanted; });
    INFO(fault << ", by " << name);
    REQUIRE(test != suite().end());
    CHECK_FALSE(strays(**test, run(**test, "lab")));
    CHECK(strays(**test, run(**test, "lab", {fault})));
    CHECK(std::any_of(listed.begin(), listed.end(),
                      [&, wanted = fault](const Fault& one) { return one.name == wanted; }));
  }
}

// ---- the rule, by exhaustion ------------------------------------------------------------------------------

TEST_CASE("a thread alone is told from one without a LAB only if it breaks the rule") {
  std::size_t obeying = 0;
  std::size_t told = 0;
  for (const Letters& word : words_of(alphabet, 3)) {
    Column column;
    column.add(word, 0);
    const LitmusTest test = program_of({{"wg 0,agent 0", column}});
    INFO(fmt::format("{}", fmt::join(column.rows, " ; ")));
    const bool same = same_outcomes(test, "lab");
    if (obeys(word)) CHECK(same);
    CHECK(same_outcomes(test, "lab/checked"));
    obeying += obeys(word) ? 1 : 0;
    told += same ? 0 : 1;
  }
  CHECK(obeying > 300);
  CHECK(told > 50);
}

TEST_CASE("each access of another sort that follows an update at once can tell") {
  for (const Letter& letter : of("LASXR")) {
    Column column;
    column.add(of("U"), 0);
    column.add({letter}, 0);
    INFO(letter.text);
    CHECK_FALSE(same_outcomes(program_of({{"wg 0,agent 0", column}}), "lab"));
  }
}

TEST_CASE("two threads that obey the rule have the outcomes that they have without a LAB") {
  const std::string placement = GENERATE("wg 1,agent 0", "wg 0,agent 0");
  std::size_t obeying = 0;
  for (const Letters& before : words_of(of("UMLSF"), 2)) {
    for (const Letters& after : words_of(of("UL"), 1)) {
      for (const Letters& other : words_of(of("UMLS"), 1)) {
        // Behind the flag the two go on side by side: only updates of one function may.
        const bool apart = !any_update(after) || other.empty() || other.front().name == after.front().name;
        const bool updated = any_update(other) && !after.empty() && !any_update(after);
        if (!obeys(before) || !apart || updated) continue;
        Column first;
        first.add(before, 0);
        first.rows.push_back("st.release.agent flag, 1");
        first.add(after, 0);
        Column second{{"ld.acquire.agent r0, flag", "bne r0, 1, END"}, {"P1:r0 == 0"}, 1};
        second.add(other, 1);
        second.rows.push_back("END:");
        INFO(fmt::format("{} | {}", fmt::join(first.rows, " ; "), fmt::join(second.rows, " ; ")));
        CHECK(same_outcomes(program_of({{"wg 0,agent 0", first}, {placement, second}}), "lab"));
        ++obeying;
      }
    }
  }
  CHECK(obeying > 150);
}

// ---- clients ----------------------------------------------------------------------------------------------

namespace {

ExploreResult check_client(const LitmusTest& client, const std::string& system, const Texts& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  subject.program = std::make_shared<const Program>(client.program);
  subject.options.reductions = reductions_for_invariants(*subject.system, {});
  const auto model = subject.build();
  return explore(*model, {});
}
const LitmusTest& client_named(const std::string& name) {
  static const LitmusTests clients = folder("clients", Clients::include);
  const auto found =
      std::find_if(clients.begin(), clients.end(), [&](const auto& one) { return one->name == name; });
  REQUIRE(found != clients.end());
  return **found;
}

}  // namespace

TEST_CASE("no update is lost or performed twice under clients that never end") {
  const std::string system = GENERATE("lab", "lab/checked", "lab/any-scope");
  for (const std::string name : {"updates-barrier-wg", "updates-line-agent", "updates-parity-agent",
                                 "updates-rounds-agent", "updates-sum-agent", "updates-wrap-agent"}) {
    INFO(name << " on " << system);
    CHECK(check_client(client_named(name), system).verdict == Verdict::holds);
  }
}

TEST_CASE("clients fail where a reading leaves something out") {
  const auto verdict = [](const std::string& name, const std::string& system) {
    INFO(name << " on " << system);
    return check_client(client_named(name), system).verdict;
  };
  CHECK(verdict("updates-wrap-agent", "lab/as-printed") == Verdict::invariant);
  CHECK(verdict("updates-barrier-wg", "lab/as-printed") == Verdict::invariant);
  CHECK(verdict("updates-parity-agent", "lab/as-printed") == Verdict::holds);
  CHECK(verdict("updates-line-agent", "lab/unmasked") == Verdict::invariant);
  // Who updates, acquires and reads its own word relies on acquires.
  CHECK(verdict("updates-rounds-agent", "lab/flush-on-release") == Verdict::invariant);
  CHECK(verdict("updates-parity-agent", "lab/flush-on-release") == Verdict::holds);
}

TEST_CASE("clients notice what is lost and what is performed twice") {
  for (const std::string fault :
       {"flush-keeps-line", "first-update-lost", "hit-overwrites", "flush-overwrites", "release-keeps-lab"}) {
    INFO(fault);
    CHECK(check_client(client_named("updates-parity-agent"), "lab", {fault}).verdict == Verdict::invariant);
  }
}
