// What the page in the browser is told: runs with what enabled what, messages, explorations that links bring
// back, and a site that answers nobody but its own page.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "checker/axiomatic/model.hpp"
#include "checker/check/check.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/litmus/report.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/needs/placement.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/systems/trees.hpp"
#include "checker/view/execution.hpp"
#include "checker/view/exploration.hpp"
#include "checker/view/machine.hpp"
#include "checker/view/matrix.hpp"
#include "checker/view/page.hpp"
#include "checker/view/run.hpp"
#include "checker/view/site.hpp"
#include "checker/view/state_condition.hpp"

using namespace lockstep;
using namespace lockstep::view;
using nlohmann::json;

namespace {

std::shared_ptr<const LitmusTest> shipped_test(const std::string& name) {
  return read_test(name, shipped("litmus").string(), "");
}

Subject running(const std::string& system, const std::string& test,
                const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  return with_client(subject, *shipped_test(test));
}

// A shortest run to an outcome, with all reductions.
RecordedTrace run_to(const std::string& system, const std::string& test, const std::string& outcome,
                     const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  const auto read = shipped_test(test);
  const auto trace = find_outcome(*read, subject, {},
                                  [&](const Outcome& one) { return outcome_text(*read, one) == outcome; });
  REQUIRE(trace);
  return *trace;
}

std::string per(const std::string& system, const std::string& unit) {
  const Anatomy anatomy(trees_of(*subject_named(system).system, subject_named(system).options),
                        rigid_functions({}));
  for (const Unit& one : anatomy.units()) {
    if (one.name == unit) return one.per;
  }
  FAIL(system << " has no unit " << unit);
  return {};
}

std::string refused(const std::string& condition, const Fields& fields, const Program* program = nullptr) {
  try {
    const StateCondition read(condition, fields, program);
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "accepted";
}

const std::string token = "0123456789abcdef0123456789abcdef";
const std::string host = "127.0.0.1:8417";

SiteOptions site_options() {
  SiteOptions options;
  options.token = token;
  options.hosts = {host, "localhost:8417"};
  options.page = "<script id=\"lockstep-data\" type=\"application/json\">null</script>";
  for (const char* name : {"mp-agent", "sb-agent"}) options.tests.push_back(shipped_test(name));
  options.models = {"sc", "tso"};
  options.systems = {"sc", "write-through"};
  options.first = json::array();
  options.limits.time = std::chrono::seconds(20);
  return options;
}

Request get(const std::string& what, std::multimap<std::string, std::string> parameters = {}) {
  return {"/" + token + "/api/" + what, std::move(parameters), host, false};
}

json answered(Site& site, const Request& request) {
  const Answer answer = site.answer(request);
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  return json::parse(answer.body);
}

std::string error_of(Site& site, const Request& request, int status = 400) {
  const Answer answer = site.answer(request);
  INFO(answer.body);
  CHECK(answer.status == status);
  return json::parse(answer.body).at("error");
}

}  // namespace

// ---- machines ---------------------------------------------------------------------------------------------

TEST_CASE("of which units there are several follows from what they keep") {
  CHECK(per("write-through", "L1") == "cu");
  CHECK(per("write-through", "L2") == "agent");
  CHECK(per("write-through", "directory").empty());
  CHECK(per("quick-release", "L1") == "cu");
  CHECK(per("halcone", "L1") == "cu");
  CHECK(per("halcone", "TSU").empty());
  CHECK(per("rfo", "L1") == "cu");
  CHECK(per("rfo", "home").empty());
  CHECK(per("german", "node") == "node");
  CHECK(per("german", "home").empty());
}

TEST_CASE("a machine's channels lead from who sends to who takes") {
  const json machine = machine_document(subject_named("write-through"));
  std::set<std::string> channels;
  for (const json& one : machine.at("connections")) {
    if (one.at("channel").get<bool>())
      channels.insert(one.at("from").get<std::string>() + " " + one.at("field").get<std::string>() + " " +
                      one.at("to").get<std::string>());
  }
  CHECK(channels == std::set<std::string>{"L1 link1 L2", "L2 link2 directory"});
  // Each rule stands in full.
  CHECK(
      machine.at("rules").size() ==
      trees_of(*subject_named("write-through").system, subject_named("write-through").options).rules.size());
}

// ---- runs -------------------------------------------------------------------------------------------------

TEST_CASE("a run is retraced rule by rule, to the end that was recorded, on every system") {
  for (const SystemEntry& system : systems()) {
    if (!system.runs_programs) continue;
    INFO(system.name);
    const RecordedTrace trace = run_to(std::string(system.name), "mp-agent", "P1:r0=1; P1:r1=1;");
    const Retraced retraced = retrace(trace);
    CHECK(retraced.difference.empty());
    std::size_t fired = 0;
    for (const auto& step : trace.steps) fired += step.narration.size();
    CHECK(retraced.walk.rows().size() == fired);
    CHECK(retraced.numbers.back() == trace.steps.size() - 1);
    // What nobody reads any more need not have been drained.
    CHECK(retraced.walk.model().facts(retraced.walk.state().data()).ended == 3);
  }
}

TEST_CASE("a row is enabled by the row after which it has been enabled ever since") {
  const Retraced retraced = retrace(run_to("quick-release", "mp-agent", "P1:r0=1; P1:r1=1;"));
  const Walk& walk = retraced.walk;
  const auto enabled_after = [&](std::size_t row, const Firing& firing) {
    Successors successors;
    successors.clear(walk.model().words());
    walk.model().expand(walk.state_after(row).data(), successors);
    for (std::size_t i = 0; i < successors.size(); ++i) {
      if (successors.firing(i) == firing) return true;
    }
    return false;
  };
  std::size_t told = 0;
  for (std::size_t row = 1; row < walk.rows().size(); ++row) {
    const Row& one = walk.rows()[row];
    const std::size_t since = one.by.value_or(0);
    INFO(row << " " << one.narrated.rule);
    REQUIRE(since < row);
    for (std::size_t i = since; i < row; ++i) CHECK(enabled_after(i, one.firing));
    if (since > 0 && walk.rows()[since].firing != one.firing)
      CHECK_FALSE(enabled_after(since - 1, one.firing));
    told += one.by ? 1 : 0;
  }
  CHECK(told > walk.rows().size() / 2);
}

TEST_CASE("messages are taken in the order in which they were sent, by who takes from that channel") {
  const Retraced retraced = retrace(run_to("write-through", "mp-agent", "P1:r0=1; P1:r1=1;"));
  const Walk& walk = retraced.walk;
  REQUIRE(walk.messages().size() > 4);
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < walk.messages().size(); ++i) {
    const Message& message = walk.messages()[i];
    REQUIRE(message.taken);
    CHECK(*message.taken > message.sent);
    CHECK(walk.rows()[*message.taken].taken == i);
    CHECK(*message.taken > last[message.channel]);
    last[message.channel] = *message.taken;
    const std::string unit = walk.rows()[*message.taken].narrated.unit;
    CHECK(unit == (message.channel.find("link1") != std::string::npos ? "L2" : "directory"));
    CHECK(message.content.front().first == "kind");
  }
}

TEST_CASE(
    "a run that the system does not do any more is shown as far as it does, and then as it was recorded") {
  RecordedTrace trace = run_to("write-through", "sb-agent", "P0:r0=1; P1:r0=1;");
  trace.subject.options.faults = {"atomic-overtakes-writes"};
  trace.steps.at(3).narration.front().rule = "some rule of old (cu 0)";
  const json document = run_document(trace, "old");
  CHECK(document.at("difference") == "step 3, 'some rule of old (cu 0)', is not enabled now");
  std::size_t fired = 0;
  for (const auto& step : trace.steps) fired += step.narration.size();
  CHECK(document.at("rows").size() == fired);
  CHECK(document.at("rows").back().value("recorded_only", false));
  CHECK_FALSE(document.at("rows").at(1).value("recorded_only", false));
}

TEST_CASE("a lasso, and a run under a scheduler, are retraced") {
  // Busy waiting with too few slots.
  Subject subject = running("sc", "mp-agent");
  Exploration exploration(subject, shipped_test("mp-agent"), true);
  CHECK(exploration.document().at("choices").size() == 2);
}

// ---- explorations -----------------------------------------------------------------------------------------

TEST_CASE("every path of choices leads to the ends that exploring finds") {
  const auto test = shipped_test("sb-agent");
  Exploration exploration(running("sc", "sb-agent"), test, true);
  std::set<std::string> outcomes;
  std::vector<Decisions> open{{}};
  while (!open.empty()) {
    const Decisions path = open.back();
    open.pop_back();
    exploration.go(path);
    const json document = exploration.document();
    if (document.contains("outcome")) outcomes.insert(document.at("outcome").get<std::string>());
    for (std::size_t i = 0; i < document.at("choices").size(); ++i) {
      open.push_back(path);
      open.back().push_back(i);
    }
  }
  std::set<std::string> explored;
  for (const Outcome& outcome : run_on_system(*test, subject_named("sc"), {}).outcomes)
    explored.insert(outcome_text(*test, outcome));
  CHECK(outcomes == explored);
}

TEST_CASE("a link brings back the state that it was made of, whatever was looked at before") {
  Exploration one(running("quick-release", "mp-agent"), shipped_test("mp-agent"), true);
  one.go({0, 1, 0, 0, 1});
  const json before = one.document();
  one.go({1, 0});
  one.go({0, 1, 0, 0, 1});
  CHECK(one.document() == before);
  Exploration other(running("quick-release", "mp-agent"), shipped_test("mp-agent"), true);
  other.go({0, 1, 0, 0, 1});
  CHECK(other.document() == before);
  CHECK_THROWS_AS(other.go({0, 99}), BadInput);
}

TEST_CASE("what a choice says that it changes is what it changes") {
  Exploration exploration(running("write-through", "mp-agent"), shipped_test("mp-agent"), true);
  for (int step = 0; step < 12; ++step) {
    const json document = exploration.document();
    if (document.at("choices").empty()) break;
    const json choice = document.at("choices").back();
    Decisions path = document.at("path").get<Decisions>();
    path.push_back(document.at("choices").size() - 1);
    const std::size_t row = document.at("rows").size();
    exploration.go(path);
    const json taken = exploration.document().at("rows").at(row);
    CHECK(taken.at("rule") == choice.at("rule"));
    CHECK(taken.at("changes") == choice.at("changes"));
    CHECK(taken.at("performer") == choice.at("performer"));
  }
}

TEST_CASE("a jump finds the nearest state in which the condition holds, or says that there is none") {
  Exploration exploration(running("write-through", "mp-agent"), shipped_test("mp-agent"), true);
  exploration.go({0});
  const Found found = exploration.find("P1:r0 = 1 /\\ end", {});
  REQUIRE(found.path);
  CHECK(exploration.document().at("path") == json{0});
  exploration.go(*found.path);
  CHECK(exploration.document().at("outcome") == "P1:r0=1; P1:r1=1;");
  exploration.go({0});
  const Found none = exploration.find("P1:r0 = 1 /\\ P1:r1 = 0 /\\ end", {});
  CHECK_FALSE(none.path);
  CHECK(none.status == RunStatus::complete);
  CHECK(none.states > 20);
  // One step on is the nearest that anything is.
  const Found near = exploration.find("enabled \"write passes L2\"", {});
  REQUIRE(near.path);
  CHECK(near.path->size() == 1);
  RunLimits short_time;
  short_time.time = std::chrono::milliseconds(1);
  Exploration large(running("quick-release", "mp-agent"), shipped_test("mp-agent"), true);
  CHECK(inconclusive(large.find("deadlock", short_time).status));
}

TEST_CASE("with a fault a jump finds the violation, and the trace that is saved replays") {
  Exploration exploration(running("write-through", "mp-agent", {"l2-copy-not-updated"}),
                          shipped_test("mp-agent"), true);
  const Found found = exploration.find("violated", {});
  if (found.path) exploration.go(*found.path);
  const RecordedTrace trace = exploration.trace();
  const Replay replayed = replay(parse_trace(trace_json(trace).dump(), "saved"));
  CHECK(replayed.difference.empty());
  CHECK(replayed.trace.steps.size() == trace.steps.size());
  // From its last row but two it goes on as it went.
  Exploration again(trace, trace.steps.size() - 2, false);
  CHECK(again.document().at("rows").size() == trace.steps.size() - 2);
  CHECK_THROWS_AS(Exploration(trace, 1000, false), BadInput);
}

TEST_CASE("conditions on states say where they cannot be read") {
  const Fields fields{
      {"memory.l1(0,1).present", "true"}, {"memory.count", "3"}, {"context(0).registers(0)", "7"}};
  const auto holds = [&](const std::string& text, bool end = false) {
    static const std::string fill = "fill reaches L1";
    Situation situation{fields, {&fill}};
    situation.end = end;
    const auto test = shipped_test("mp-agent");
    return StateCondition(text, fields, &test->program).holds(situation);
  };
  CHECK(holds("memory.l1(0,1).present = true"));
  CHECK_FALSE(holds("~memory.l1(0,1).present = true"));
  CHECK(holds("memory.count >= 3 /\\ memory.count < 4 \\/ end"));
  CHECK(holds("(memory.count != 3 \\/ enabled \"fill\") /\\ ~enabled \"store\""));
  CHECK_FALSE(holds("end"));
  CHECK(holds("end", true));
  CHECK_FALSE(holds("memory.count = 30"));
  CHECK(refused("memory.l1(0,1).presnt = true", fields).find("did you mean 'memory.l1(0,1).present'?") !=
        std::string::npos);
  CHECK(refused("memory.count =", fields).find("condition:1:15: error") != std::string::npos);
  CHECK(refused("memory.count = 3 /\\", fields) != "accepted");
  CHECK(refused("", fields) != "accepted");
  CHECK(refused("enabled fill", fields) != "accepted");
  CHECK(refused(std::string(5000, '('), fields) != "accepted");
  CHECK(refused(std::string(5000, '~') + "end", fields) != "accepted");
}

// ---- executions and matrices ------------------------------------------------------------------------------

TEST_CASE("what a model says of a test has every outcome, with what forbids those that it forbids") {
  const json document = executions_document(*shipped_test("mp-agent"), AxiomaticModel("sc"), {});
  CHECK(document.at("observation") == "never");
  std::size_t forbidden = 0;
  for (const json& outcome : document.at("outcomes")) {
    const bool allowed = outcome.at("allowed").get<bool>();
    CHECK(outcome.at("candidate").at("failures").empty() == allowed);
    if (allowed) continue;
    ++forbidden;
    CHECK(outcome.at("text") == "P1:r0=1; P1:r1=0;");
    CHECK_FALSE(outcome.at("candidate").at("failures").at(0).at("chain").get<std::string>().empty());
  }
  CHECK(forbidden == 1);
}

TEST_CASE("a matrix says what the tables of the command say") {
  MatrixOptions options;
  for (const char* name : {"mp-agent", "mp-relaxed-agent"}) options.tests.push_back(shipped_test(name));
  options.systems = {subject_named("sc"), subject_named("quick-release")};
  options.models = {std::make_shared<const AxiomaticModel>("tso")};
  options.limits.threads = 2;
  Matrix matrix(options);
  CHECK(matrix.document().at("rows").at(0).at("cells") == json{nullptr, nullptr, nullptr});
  matrix.run();
  const json document = matrix.document();
  CHECK(document.at("finished") == true);
  CHECK(document.at("done") == document.at("all"));
  std::vector<std::string> cells;
  for (const json& row : document.at("rows")) {
    for (const json& cell : row.at("cells")) cells.push_back(cell.at("text"));
  }
  CHECK(cells == std::vector<std::string>{"never", "never", "never", "never", "sometimes~", "never"});
}

// ---- the site ---------------------------------------------------------------------------------------------

TEST_CASE("nobody is answered without the token, or by another name") {
  Site site(site_options());
  CHECK(site.answer({"/" + token + "/", {}, host, false}).status == 200);
  CHECK(site.answer({"/" + token + "/", {}, "localhost:8417", false}).status == 200);
  for (const std::string& path :
       std::vector<std::string>{"/", "", "/api/machine", "//", "/0123/", "/../" + token, "/" + token + "0/",
                                "/" + token.substr(1) + "/", std::string("/\0", 2)}) {
    INFO(path);
    CHECK(site.answer({path, {}, host, false}).status == 403);
  }
  CHECK(site.answer({"/" + token + "/", {}, "evil.example:8417", false}).status == 403);
  CHECK(site.answer({"/" + token + "/", {}, "", false}).status == 403);
  for (const std::string rest : {"/x", "/../../etc/passwd", "/api/", "/api/nothing", "/api/../page.html"}) {
    INFO(rest);
    CHECK(site.answer({"/" + token + rest, {}, host, false}).status == 404);
  }
  CHECK(site.answer({"/" + token, {}, host, false}).status == 404);
  CHECK(site.answer({"/" + token + "/", {}, host, true}).status == 404);
}

TEST_CASE("a request names systems, tests and models, and is told the nearest where there is none") {
  Site site(site_options());
  CHECK(error_of(site, get("machine", {{"system", "quick-relase"}})).find("did you mean 'quick-release'") !=
        std::string::npos);
  CHECK(error_of(site, get("machine")).find("lacks 'system'") != std::string::npos);
  CHECK(error_of(site, get("explore", {{"system", "sc"}, {"test", "mp-agnt"}})).find("mp-agent") !=
        std::string::npos);
  CHECK(error_of(site, get("explore", {{"system", "sc"}, {"test", "/etc/passwd"}})).find("no test") !=
        std::string::npos);
  CHECK(error_of(site, get("executions", {{"test", "mp-agent"}, {"model", "../../mine.cat"}}))
            .find("no model") != std::string::npos);
  CHECK(error_of(site, get("explore", {{"system", "sc"}, {"test", "mp-agent"}, {"path", "0.x"}})) != "");
  CHECK(error_of(site, get("explore",
                           {{"system", "sc"}, {"test", "mp-agent"}, {"path", "99999999999999999999"}})) !=
        "");
  CHECK(error_of(site, get("run", {{"trace", "3"}})).find("no run number 3") != std::string::npos);
  CHECK(error_of(site, get("explore", {{"system", "\xff"}, {"test", "mp-agent"}})).find("unknown system") !=
        std::string::npos);
  CHECK(error_of(site, get("explore", {{"system", "sc"}, {"test", "mp-agent"}, {"fault", "no"}})) != "");
  CHECK(error_of(site, get("matrix", {{"job", "m"}})) != "");
  // After a refusal the same session goes on.
  CHECK(answered(site, get("explore", {{"system", "sc"}, {"test", "mp-agent"}, {"path", "0"}})).at("path") ==
        json{0});
}

TEST_CASE("two explore at once, and each sees its own") {
  Site site(site_options());
  const auto walk = [&](const std::string& path) {
    for (int i = 0; i < 20; ++i) {
      const Answer answer =
          site.answer(get("explore", {{"system", "write-through"}, {"test", "mp-agent"}, {"path", path}}));
      if (answer.status != 200 || json::parse(answer.body).at("path").size() != (path.size() + 1) / 2)
        return false;
    }
    return true;
  };
  bool left = false;
  std::thread other([&] { left = walk("0.0.0"); });
  const bool right = walk("1.0");
  other.join();
  CHECK(left);
  CHECK(right);
}

TEST_CASE(
    "outcomes are shown with a shortest run to each, matrices fill, and what is not wanted any more stops") {
  Site site(site_options());
  const json shown = answered(site, get("outcomes", {{"system", "write-through"}, {"test", "mp-agent"}}));
  CHECK(shown.at("observation") == "never");
  REQUIRE(shown.at("outcomes").size() == 2);
  const json run = answered(site, get("outcomes", {{"system", "write-through"},
                                                   {"test", "mp-agent"},
                                                   {"outcome", shown.at("outcomes").at(1).at("text")}}));
  CHECK(run.at("kind") == "run");
  CHECK(run.at("end") == "ends with " + shown.at("outcomes").at(1).at("text").get<std::string>());

  const std::multimap<std::string, std::string> asked{{"job", "m1"}, {"system", "sc"}, {"model", "tso"}};
  json matrix = answered(site, get("matrix", asked));
  for (int i = 0; i < 400 && !matrix.at("finished").get<bool>(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    matrix = answered(site, get("matrix", asked));
  }
  CHECK(matrix.at("finished") == true);
  CHECK(matrix.at("rows").size() == 2);
  Request stop = get("stop", {{"job", "m1"}});
  CHECK(site.answer(stop).status == 404);
  stop.posts = true;
  CHECK(site.answer(stop).status == 200);
}

TEST_CASE("what is being searched for ends when the site does") {
  Site site(site_options());
  std::string status;
  std::thread searching([&] {
    // Nowhere in a space that takes minutes.
    const Answer answer = site.answer(
        get("explore", {{"system", "halcone"}, {"test", "sb-agent"}, {"find", "deadlock /\\ ~deadlock"}}));
    if (answer.status == 200) status = json::parse(answer.body).at("found").at("status").get<std::string>();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  site.stop();
  searching.join();
  CHECK((status == "interrupted" || status == "complete"));
}

TEST_CASE("nothing in a document ends the script that it stands in") {
  const std::string page = "<p>x</p><script id=\"lockstep-data\" type=\"application/json\">null</script><b>";
  const std::string text = page_with(page, {{"doc", "</script><script>alert(1)</script><!--"}});
  CHECK(text.find("</script><b>") != std::string::npos);
  CHECK(text.find("<script>alert") == std::string::npos);
  CHECK(text.find("<!--") == std::string::npos);
  const std::size_t begin = text.find("json\">") + 6;
  CHECK(json::parse(text.substr(begin, text.find("</script>") - begin)).at("doc") ==
        "</script><script>alert(1)</script><!--");
  CHECK_THROWS_AS(page_with("<p>", nullptr), std::logic_error);
}
