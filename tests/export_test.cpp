// Exports: that Rumur, SPIN and the search of exports to C++ count what Lockstep counts, that they say so
// where an export is broken, and that nothing but a complete count is taken for agreement.
#include <fmt/format.h>

#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/export/crosscheck.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/process.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/kernel/rules.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

bool installed(Checker checker) {
  const TemporaryFolder folder;
  const std::string version = checker == Checker::rumur ? "--version" : "-V";
  const ProcessResult result =
      run_process({{std::string(word(checker)), version}, folder.path(), std::chrono::seconds(30), nullptr});
  if (result.end != ProcessResult::End::missing) return true;
  WARN(word(checker) << " is not installed: nothing is asked of it");
  return false;
}
std::vector<Checker> installed_checkers() {
  std::vector<Checker> all;
  for (const Checker checker : {Checker::rumur, Checker::spin}) {
    if (installed(checker)) all.push_back(checker);
  }
  all.push_back(Checker::cplusplus);
  return all;
}

Subject german(int nodes, std::vector<std::string> faults = {}) {
  Subject subject = subject_named("german");
  subject.options.sizes["node"] = nodes;
  subject.options.faults = std::move(faults);
  return subject;
}

std::shared_ptr<const LitmusTest> test_named(const std::string& name) {
  const std::vector<std::string> names{name};
  return read_tests(names, std::string(LOCKSTEP_SOURCE_DIR) + "/litmus", Clients::include).tests.at(0);
}
Subject running(const std::string& system, const LitmusTest& test, std::vector<std::string> faults = {}) {
  Subject subject = subject_named(system);
  subject.program = std::make_shared<const Program>(test.program);
  subject.options.faults = std::move(faults);
  return subject;
}
// A test as the HRF dialect writes it.
std::shared_ptr<const LitmusTest> test_of(const std::string& text) {
  return std::make_shared<const LitmusTest>(parse_litmus(text, "here.litmus"));
}

CrosscheckRun run(const Subject& subject, const std::shared_ptr<const LitmusTest>& test,
                  std::vector<Checker> with) {
  CrosscheckOptions options;
  options.with = std::move(with);
  options.limits.time = std::chrono::seconds(240);
  return crosscheck(subject, test, options);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// A folder with programs of ours, which is all that PATH holds while it lives.
class OnlyPath {
 public:
  OnlyPath() : before_(std::getenv("PATH")) { setenv("PATH", folder_.path().c_str(), 1); }
  ~OnlyPath() { setenv("PATH", before_.c_str(), 1); }
  OnlyPath(const OnlyPath&) = delete;
  OnlyPath& operator=(const OnlyPath&) = delete;
  void add(const std::string& name, const std::string& script) const {
    const fs::path file = folder_.path() / name;
    write_file(file, "#!/bin/sh\nPATH=/bin:/usr/bin\n" + script);
    fs::permissions(file, fs::perms::owner_all);
  }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

Count count_of_text(Checker checker, const std::string& text, CountOptions options = {}) {
  if (options.time.count() == 0) options.time = std::chrono::seconds(60);
  return count_text(checker, text, {1, 1}, 0, options);
}

Count complete(std::uint64_t states, std::uint64_t firings, std::vector<std::uint64_t> claims) {
  Count count;
  count.states = states;
  count.firings = firings;
  count.claims = std::move(claims);
  return count;
}

// Lamps that are switched on and off, and somebody who looks at them: what an action asks about is a plain
// field.
struct LampTag {
  static constexpr std::string_view name = "lamp";
  static constexpr int capacity = 3;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};
inline constexpr LampTag lamps{};

template <class K>
struct Lamps {
  using Kind = K;
  using Bool = typename K::Bool;
  using Lamp = typename K::template Ix<LampTag>;
  struct State {
    typename K::template Table<Bool, LampTag> lit;
    Bool some;
    Bool all;
    BOOST_DESCRIBE_CLASS(State, (), (lit, some, all), (), ())
  };
  K k;

  [[nodiscard]] const K& kind() const { return k; }
  void start(StartList<K, State>& s) const {
    s.start(over(), [](State&) {});
  }
  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "switches", .unit = "lamp"}, over(lamps), [](const State&, Lamp) { return Bool(true); },
        [](State& s, Lamp l) { s.lit(l) = !s.lit(l); });
    r.rule(
        {.name = "looks", .unit = "watcher"}, over(), [](const State&) { return Bool(true); },
        [this](State& s) {
          s.some = k.exists(lamps, [&](Lamp l) { return s.lit(l); });
          s.all = k.forall(lamps, [&](Lamp l) {
            const Bool lit = s.lit(l);
            return lit;
          });
        });
  }
  void invariants(InvariantList<K, State>& v) const {
    v.invariant("all are some", [](const State& s) { return !s.all || s.some; });
  }
  void restore(State&) const {}
  [[nodiscard]] auto proper_end(const State&) const {
    if constexpr (requires { K::truth(Bool(true)); }) {
      return true;
    } else {
      return Bool(true);
    }
  }
};

}  // namespace

// ---- agreement -------------------------------------------------------------------------------------------

TEST_CASE("all checkers count what the specification of German's protocol says") {
  const CrosscheckRun german2 = run(german(2), nullptr, installed_checkers());
  CHECK(german2.ours.states == 3390);
  CHECK(german2.ours.firings == 9912);
  for (const OtherCount& other : german2.others) {
    INFO(word(other.checker) << ": " << other.count.message);
    CHECK(other.count.status == CountStatus::complete);
    CHECK(other.count.states == 3390);
    CHECK(other.count.firings == 9912);
  }
  if (!german2.others.empty()) CHECK(german2.agreement == Agreement::agree);
}

TEST_CASE("with a fault the checkers agree on how many states fail, or that some do") {
  const std::vector<Checker> with = installed_checkers();
  if (with.empty()) return;
  const CrosscheckRun counted = run(german(2, {"drop-write-back"}), nullptr, with);
  CHECK(counted.purpose == Purpose::count);
  CHECK(counted.agreement == Agreement::agree);
  CHECK(counted.ours.claims.at(1) > 0);
  CHECK(crosscheck_text(counted).find("violated") != std::string::npos);

  CrosscheckOptions options;
  options.with = with;
  options.past_failure = 1000;
  const CrosscheckRun found = crosscheck(german(2, {"keep-copy"}), nullptr, options);
  CHECK(found.purpose == Purpose::verdict);
  CHECK(found.agreement == Agreement::agree);
  for (const OtherCount& other : found.others) CHECK(other.count.failed);
}

TEST_CASE("a litmus test's ends are counted by all checkers alike") {
  const std::vector<Checker> with = installed_checkers();
  if (with.empty()) return;
  const auto test = test_named("mp-agent");
  const CrosscheckRun run_sc = run(running("sc", *test), test, with);
  CHECK(run_sc.agreement == Agreement::agree);
  CHECK(run_sc.claims.back().kind == Claim::Kind::missed);
  CHECK(run_sc.ours.claims.back() > 0);
  CHECK(run_sc.ours.claims.at(run_sc.claims.size() - 2) == 0);
}

TEST_CASE("read-modify-writes compute the same in all checkers, with negative words too") {
  const std::vector<Checker> with = installed_checkers();
  if (with.empty()) return;
  const auto test = test_of(
      "HRF arithmetic\n"
      "{ x = -3; y = 5; z = 6; }\n"
      " P0@wg 0,agent 0                   | P1@wg 1,agent 0                  ;\n"
      " atom.relaxed.agent.add r0, x, -2  | atom.relaxed.agent.and r0, y, -4 ;\n"
      " atom.relaxed.agent.xor r1, y, -1  | atom.relaxed.agent.or r1, x, 4   ;\n"
      " atom.relaxed.agent.min r2, z, -7  | atom.relaxed.agent.inc r2, z, 6  ;\n"
      "exists (P0:r0 == -3)\n");
  const CrosscheckRun compared = run(running("sc", *test), test, with);
  INFO(crosscheck_text(compared));
  CHECK(compared.agreement == Agreement::agree);
}

TEST_CASE("queues, ports and placement mean in Promela and C++ what they mean here, with a fault as well") {
  std::vector<Checker> with{Checker::cplusplus};
  if (installed(Checker::spin)) with.push_back(Checker::spin);
  const auto test = test_named("mp-host-reads");
  for (const std::vector<std::string>& faults :
       {std::vector<std::string>{}, std::vector<std::string>{"marker-overtakes-writes"},
        std::vector<std::string>{"release-does-not-wait"}}) {
    const CrosscheckRun compared = run(running("write-through", *test, faults), test, with);
    INFO(crosscheck_text(compared));
    CHECK(compared.agreement == Agreement::agree);
  }
}

// Its guards negate questions that begin with a negation, which SPIN would take for another operator.
TEST_CASE("what is negated twice is negated twice in Promela") {
  if (!installed(Checker::spin)) return;
  const auto test = test_named("mp-host-reads");
  const CrosscheckRun compared = run(running("hmg", *test), test, {Checker::spin});
  INFO(crosscheck_text(compared));
  CHECK(compared.agreement == Agreement::agree);
}

TEST_CASE("a question in an action means in all checkers what it means here") {
  using Sizes = DynamicSizes<LampTag>;
  const CompiledModel<Lamps<Concrete<Sizes>>> model(Lamps<Concrete<Sizes>>{}, Reductions::none());
  const ExploreResult ours = explore(model, {});
  // The lamps as they are, beside any that they were when somebody looked, or nobody has.
  CHECK(ours.states == 8 * 3);
  recorded::WholeDescription whole;
  const Lamps<Recorded<Sizes>> trees{Recorded<Sizes>(Sizes{})};
  recorded::describe_system(trees, trees.kind(), whole);
  for (const recorded::RecordedRule& rule : whole.rules) CHECK(rule.problems.empty());
  const std::vector<Claim> claims = claims_of(whole, nullptr);
  for (const Checker checker : installed_checkers()) {
    INFO(word(checker));
    const ExportOptions how{"lamps", Purpose::count};
    const std::string text = export_for(checker, whole, claims, how);
    const Count count = count_text(checker, text, promela_start(whole), claims.size(), {});
    INFO(count.message);
    CHECK(count.status == CountStatus::complete);
    CHECK(count.states == ours.states);
    CHECK(count.firings == ours.transitions);
  }
}

// ---- disagreement ----------------------------------------------------------------------------------------

TEST_CASE("an export with one guard turned around is found out") {
  const Subject subject = german(2);
  const recorded::WholeDescription whole = subject.system->describe_whole(nullptr, subject.options);
  const std::vector<Claim> claims = claims_of(whole, nullptr);
  const Count ours = run(subject, nullptr, {}).ours;
  const std::map<Checker, std::pair<std::string, std::string>> slips{
      {Checker::rumur, {".copy != Permission_exclusive", ".copy = Permission_invalid"}},
      {Checker::spin, {".copy != Permission_exclusive", ".copy == Permission_invalid"}},
      {Checker::cplusplus, {".copy != Permission_exclusive", ".copy == Permission_invalid"}}};
  for (const Checker checker : installed_checkers()) {
    const ExportOptions how{"broken", Purpose::count};
    const std::string text = export_for(checker, whole, claims, how);
    const auto& [right, wrong] = slips.at(checker);
    const std::vector<OtherCount> sound{
        {checker, count_text(checker, text, promela_start(whole), claims.size(), {})}};
    CHECK(judge(Purpose::count, ours, sound) == Agreement::agree);
    const std::vector<OtherCount> broken{{checker, count_text(checker, replaced(text, right, wrong),
                                                              promela_start(whole), claims.size(), {})}};
    CHECK(broken.front().count.status == CountStatus::complete);
    CHECK(judge(Purpose::count, ours, broken) == Agreement::differ);
  }
}

TEST_CASE("only complete and equal counts agree") {
  const Count ours = complete(10, 20, {0, 3});
  const auto judged = [&](const Count& count) {
    const std::vector<OtherCount> others{{Checker::rumur, complete(10, 20, {0, 3})}, {Checker::spin, count}};
    return judge(Purpose::count, ours, others);
  };
  CHECK(judged(complete(10, 20, {0, 3})) == Agreement::agree);
  CHECK(judged(complete(11, 20, {0, 3})) == Agreement::differ);
  CHECK(judged(complete(10, 21, {0, 3})) == Agreement::differ);
  CHECK(judged(complete(10, 20, {3, 0})) == Agreement::differ);
  CHECK(judged(complete(10, 20, {})) == Agreement::differ);
  const std::map<CountStatus, Agreement> verdicts{{CountStatus::missing, Agreement::error},
                                                  {CountStatus::too_old, Agreement::error},
                                                  {CountStatus::crashed, Agreement::error},
                                                  {CountStatus::unexpected, Agreement::error},
                                                  {CountStatus::out_of_time, Agreement::inconclusive},
                                                  {CountStatus::out_of_memory, Agreement::inconclusive},
                                                  {CountStatus::interrupted, Agreement::interrupted}};
  for (const auto& [status, verdict] : verdicts) {
    Count count = complete(10, 20, {0, 3});
    count.status = status;
    INFO(word(status));
    CHECK(judged(count) == verdict);
  }
  CHECK(judge(Purpose::count, ours, {}) == Agreement::error);
  Count failed;
  failed.failed = true;
  const std::vector<OtherCount> sound{{Checker::rumur, Count{}}};
  CHECK(judge(Purpose::verdict, failed, sound) == Agreement::differ);
}

// ---- checkers that do not do as they should --------------------------------------------------------------

TEST_CASE("a checker or a compiler that is missing is named") {
  {
    const OnlyPath path;
    const Count rumur = count_of_text(Checker::rumur, "");
    CHECK(rumur.status == CountStatus::missing);
    CHECK(rumur.message == "rumur is not installed (Debian package rumur)");
  }
  const OnlyPath path;
  path.add("spin", "echo 'Spin Version 6.5.2 -- 6 December 2019'\ntouch pan.m\n");
  const Count spin = count_of_text(Checker::spin, "");
  CHECK(spin.status == CountStatus::missing);
  CHECK(spin.message.find("is not installed") != std::string::npos);
}

TEST_CASE("a checker that is too old is refused") {
  CHECK(too_old(Checker::rumur, "Rumur version v2019.04.28"));
  CHECK_FALSE(too_old(Checker::rumur, "Rumur version v2022.08.20-1"));
  CHECK_FALSE(too_old(Checker::rumur, "Rumur version v2024.1.1"));
  CHECK(too_old(Checker::spin, "Spin Version 6.4.9 -- 17 December 2018"));
  CHECK_FALSE(too_old(Checker::spin, "Spin Version 6.5.2 -- 6 December 2019"));
  CHECK(too_old(Checker::spin, "not what it used to print"));
  const OnlyPath path;
  path.add("rumur", "echo 'Rumur version v2019.04.28'\n");
  CHECK(count_of_text(Checker::rumur, "").status == CountStatus::too_old);
}

TEST_CASE("a checker that hangs, crashes or talks nonsense gets a verdict of its own") {
  const OnlyPath path;
  const std::string version = "[ \"$1\" = --version ] && { echo 'Rumur version v2022.08.20'; exit; }\n";
  path.add("rumur", version + "sleep 60\n");
  CountOptions options;
  options.time = std::chrono::milliseconds(300);
  CHECK(count_of_text(Checker::rumur, "", options).status == CountStatus::out_of_time);
  path.add("rumur", version + "kill -SEGV $$\n");
  CHECK(count_of_text(Checker::rumur, "").status == CountStatus::crashed);
  path.add("rumur", version + "echo 'model.m:3: error: what?' >&2; exit 1\n");
  const Count refused = count_of_text(Checker::rumur, "");
  CHECK(refused.status == CountStatus::unexpected);
  CHECK(refused.message == "rumur ended with status 1: model.m:3: error: what?");
  const std::atomic<bool> interrupted{true};
  path.add("rumur", version + "sleep 60\n");
  options.interrupted = &interrupted;
  CHECK(count_of_text(Checker::rumur, "", options).status == CountStatus::interrupted);
}

// ---- the search of exports to C++ ------------------------------------------------------------------------

namespace {

// A search that was compiled here, in a folder of its own.
class Searched {
 public:
  explicit Searched(const std::string& text) {
    write_file(folder_.path() / "model.cu", text);
    const ProcessResult compiled =
        run_in({"c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror",
                "-pthread", "-x", "c++", "model.cu", "-o", "search"});
    INFO(compiled.output);
    REQUIRE(compiled.status == 0);
  }
  [[nodiscard]] ProcessResult operator()(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{(folder_.path() / "search").string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_in(std::move(command));
  }

 private:
  [[nodiscard]] ProcessResult run_in(std::vector<std::string> command) const {
    return run_process({std::move(command), folder_.path(), std::chrono::seconds(120), nullptr});
  }
  TemporaryFolder folder_;
};

std::string searched_text(const Subject& subject, Purpose purpose) {
  const recorded::WholeDescription whole = subject.system->describe_whole(nullptr, subject.options);
  return export_cuda(whole, claims_of(whole, nullptr), {"the title", purpose});
}

}  // namespace

TEST_CASE("a search stops at the first depth with a failure, and prints a shortest run to it") {
  const Subject subject = german(2, {"keep-copy"});
  const auto model = subject.build();
  const ExploreResult ours = explore(*model, {});
  const Searched search(searched_text(subject, Purpose::verdict));
  for (const std::string threads : {"1", "3"}) {
    const ProcessResult found = search({"--states", "20000", "--threads", threads});
    INFO(found.output);
    CHECK(found.status == 1);
    CHECK_THAT(found.output, Catch::EndsWith("\nfailed\n"));
    CHECK_THAT(found.output, Catch::Contains(fmt::format("by {} firings:", ours.trace.steps.size() - 1)));
    CHECK_THAT(found.output, Catch::Contains(fmt::format("\n{:>6}. ", ours.trace.steps.size() - 1)));
  }
}

TEST_CASE("a search says where it ends early, and what it does not understand") {
  const Searched search(searched_text(german(2), Purpose::count));
  const ProcessResult full = search({"--states", "500", "--threads", "2"});
  CHECK(full.status == 3);
  CHECK_THAT(full.output, Catch::Contains("the table is full"));
  CHECK(read_search(full.output, 4).status == CountStatus::out_of_memory);
  const ProcessResult bounded = search({"--states", "5000", "--depth", "3"});
  CHECK(bounded.status == 0);
  CHECK_THAT(bounded.output, Catch::Contains("\ndepth 3\n") && Catch::EndsWith("\nbounded\n"));
  CHECK(read_search(bounded.output, 4).status == CountStatus::unexpected);
  const ProcessResult complete = search({"--memory", "10"});
  CHECK(complete.status == 0);
  CHECK(read_search(complete.output, 4).status == CountStatus::complete);
  CHECK(read_search(complete.output, 3).status == CountStatus::unexpected);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--memory"}, {"--memory", "x"}, {"--depth", "0"}, {"--tables", "3"}}) {
    CHECK(search(wrong).status == 2);
  }
}

TEST_CASE("a search stops where a value leaves its range") {
  const std::string text = searched_text(german(2), Purpose::verdict);
  const Searched search(replaced(text, "state_.auxiliary = (value + 1);", "state_.auxiliary = (value + 5);"));
  const ProcessResult broken = search({"--states", "20000"});
  INFO(broken.output);
  CHECK(broken.status == 2);
  CHECK_THAT(broken.output, Catch::Contains("leaves the range of its types"));
}

TEST_CASE("what Rumur prints is read with suspicion") {
  const std::string covers =
      "<cover_result message=\"deadlock\" count=\"0\"/>\n<cover_result message=\"x\" count=\"4\"/>\n";
  const Count good =
      read_rumur(covers + "<summary states=\"8\" rules_fired=\"9\" errors=\"1\" duration_seconds=\"0\"/>", 2);
  CHECK(good.status == CountStatus::complete);
  CHECK(good.states == 8);
  CHECK(good.firings == 9);
  CHECK(good.claims == std::vector<std::uint64_t>{0, 4});
  for (const std::string& bad :
       {std::string(), covers, covers + "<summary states=\"8\" rules_fired=\"9\" errors=\"2\"/>",
        std::string("<summary states=\"8\" rules_fired=\"9\" errors=\"0\"/>"),
        "<error includes_trace=\"false\">\n<message>write of out-of-range value</message>\n</error>\n" +
            covers + "<summary states=\"8\" rules_fired=\"9\" errors=\"1\"/>"}) {
    INFO(bad);
    CHECK(read_rumur(bad, 2).status == CountStatus::unexpected);
  }
  CHECK(read_rumur_verdict("<message>invariant &quot;x&quot; failed</message> <summary states=\"8\" "
                           "rules_fired=\"9\" errors=\"1\"/>")
            .failed);
  CHECK(read_rumur_verdict("<message>write of out-of-range value</message> <summary states=\"8\" "
                           "rules_fired=\"9\" errors=\"1\"/>")
            .status == CountStatus::unexpected);
}

TEST_CASE("what SPIN prints is read with suspicion, and its own steps are taken off") {
  const auto report = [](const std::string& marks, const std::string& errors) {
    return marks + "Full statespace search for:\nState-vector 44 byte, depth reached 8, errors: " + errors +
           "\n        9 states, stored\n        6 states, matched\n"
           "       15 transitions (= stored+matched)\n";
  };
  const Count good = read_spin(report("claim 1\nclaim 1\nclaim 0\n", "0"), {1, 2}, 2);
  CHECK(good.status == CountStatus::complete);
  CHECK(good.states == 8);
  CHECK(good.firings == 15 - 1 - 2 - 3);
  CHECK(good.claims == std::vector<std::uint64_t>{1, 2});
  CHECK(good.note.find("9 states") != std::string::npos);
  CHECK(read_spin("", {1, 2}, 2).status == CountStatus::unexpected);
  CHECK(read_spin(report("", "1"), {1, 2}, 2).status == CountStatus::unexpected);
  CHECK(read_spin(report("claim 2\n", "0"), {1, 2}, 2).status == CountStatus::unexpected);
  CHECK(read_spin("error: max search depth too small\n" + report("", "0"), {1, 2}, 2).status ==
        CountStatus::out_of_memory);
  CHECK(read_spin("pan: reached -DMEMLIM bound\n" + report("", "0"), {1, 2}, 2).status ==
        CountStatus::out_of_memory);
  CHECK(read_spin_verdict("pan:1: assertion violated 0 (at depth 3)\n" + report("", "1")).failed);
  CHECK(read_spin_verdict("pan:1: invalid end state\n" + report("", "1")).status == CountStatus::unexpected);
}

// ---- what an export says ---------------------------------------------------------------------------------

TEST_CASE("an export names every rule, its unit and source, and says what it is") {
  const auto test = test_named("mp-agent");
  for (const std::string system : {"sc", "write-through", "quick-release"}) {
    const Subject subject = running(system, *test);
    const recorded::WholeDescription whole = subject.system->describe_whole(subject.program, subject.options);
    const std::vector<Claim> claims = claims_of(whole, test.get());
    const std::string murphi = export_murphi(whole, claims, {"the title", Purpose::verdict});
    const std::string promela = export_promela(whole, claims, {"the title", Purpose::verdict});
    for (const std::string& text : {murphi, promela}) {
      CHECK(text.find("the title") != std::string::npos);
      for (const recorded::RecordedRule& rule : whole.rules) {
        CHECK(text.find(rule.name) != std::string::npos);
        CHECK(text.find(rule.source) != std::string::npos);
      }
      for (const Claim& claim : claims) {
        if (claim.kind == Claim::Kind::property) CHECK(text.find(claim.name) != std::string::npos);
      }
    }
    CHECK(murphi.find("rule \"P0 issues st") != std::string::npos);
  }
}

TEST_CASE("sizes, variants and faults reach the export") {
  const auto test = test_named("mp-agent");
  const auto text = [&](const Subject& subject) {
    const recorded::WholeDescription whole = subject.system->describe_whole(subject.program, subject.options);
    return export_murphi(whole, claims_of(whole, nullptr), {"", Purpose::count});
  };
  const std::string plain = text(running("quick-release", *test));
  CHECK(text(running("quick-release", *test, {"entry-lost"})) != plain);
  Subject variant = running("quick-release", *test);
  variant.options.variant = "lean";
  CHECK(text(variant) != plain);
  Subject larger = running("quick-release", *test);
  larger.options.sizes["s-fifo1-entries"] = 3;
  CHECK(text(larger) != plain);
}
