// Counterexamples on file: written, read, fired again, and told apart from a system that has changed.
#include "checker/trace/trace.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "checker/check/check.hpp"
#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

using namespace lockstep;

namespace {

RecordedTrace german_counterexample() {
  Subject german = subject_named("german");
  german.options.reductions = Reductions::none();
  german.options.faults = {"grant-without-invalidating"};
  german.options.sizes = {{"node", 3}};
  CheckRun run = check(german, {});
  REQUIRE(run.counterexample);
  return *run.counterexample;
}

RecordedTrace program_counterexample() {
  Subject subject = subject_named("quick-release");
  subject.program = std::make_shared<Program>(
      parse_litmus(
          "HRF wrong\n{ x = 1; }\n P0@wg 0,agent 0 | P1@host ;\n ld r0, x | st x, 2 ;\n assert r0 == 1 | ;\n"
          "forall (true)\n",
          "wrong.litmus")
          .program);
  CheckRun run = check(subject, {});
  REQUIRE(run.counterexample);
  return *run.counterexample;
}

// A trace whose JSON was changed by `edit`.
template <class Edit>
RecordedTrace edited(const RecordedTrace& trace, Edit&& edit) {
  nlohmann::json json = trace_json(trace);
  edit(json);
  return parse_trace(json.dump(), "edited.json");
}

std::string message_of(const std::string& text) {
  try {
    parse_trace(text, "file.json");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a trace written to a file and read back fires every step and violates what it violated") {
  const RecordedTrace trace = GENERATE(0, 1) == 0 ? german_counterexample() : program_counterexample();
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "trace").string();
  write_trace(trace, file);
  const RecordedTrace read = read_trace(file);
  const Replay again = replay(read);
  CHECK(again.difference == "");
  CHECK(trace_text(again.trace) == trace_text(trace));
  CHECK(trace_json(again.trace) == trace_json(trace));
  CHECK_THAT(replay_text(read, again), Catch::Contains("As recorded"));
}

TEST_CASE("a trace names each step's rule, unit and changed fields") {
  const std::string text = trace_text(german_counterexample());
  CHECK_THAT(text, Catch::Contains("   0. starts"));
  CHECK_THAT(text, Catch::Contains("asks for the exclusive copy (node 1)  [node]\n"
                                   "        node(1).request  none -> exclusive\n"));
}

TEST_CASE("when the fault is mended, replay says at which step the system does otherwise") {
  const Replay again = replay(edited(german_counterexample(), [](auto& json) { json["faults"].clear(); }));
  CHECK_THAT(again.difference, Catch::Contains("not enabled"));
  CHECK(again.different_step > 0);
  CHECK(again.trace.steps.size() == again.different_step);
}

TEST_CASE("a step that leads elsewhere is found, with the field that differs") {
  const RecordedTrace trace = german_counterexample();
  const std::size_t last = trace.steps.size() - 1;
  const Replay again = replay(edited(trace, [&](auto& json) {
    auto& step = json["steps"][last];
    step["state"] = std::string(step["state"].template get<std::string>().size(), '0');
    step["fired"][0]["changes"][0]["after"] = "unheard-of";
  }));
  CHECK(again.different_step == last);
  CHECK_THAT(again.difference, Catch::Contains("leads elsewhere") && Catch::Contains("unheard-of"));
}

TEST_CASE("a trace from a build that lays states out otherwise is compared by fields") {
  const RecordedTrace trace = german_counterexample();
  CHECK(replay(edited(trace, [](auto& json) { json["state_bits"] = 1; })).difference == "");
  const Replay other = replay(edited(trace, [](auto& json) {
    json["state_bits"] = 1;
    json["steps"][1]["fired"][0]["changes"][0]["after"] = "unheard-of";
  }));
  CHECK(other.different_step == 1);
}

TEST_CASE("the claim about the last state is checked") {
  const RecordedTrace trace = german_counterexample();
  const std::size_t last = trace.steps.size() - 1;
  const auto difference = [&](const std::string& end, const std::string& what) {
    const Replay again = replay(edited(trace, [&](auto& json) {
      json["end"] = end;
      json["what"] = what;
    }));
    CHECK(again.different_step == last);
    return again.difference;
  };
  CHECK_THAT(difference("deadlock", ""), Catch::Contains("no deadlock"));
  CHECK_THAT(difference("outcome", "P0:r0=1;"), Catch::Contains("not an end"));
  CHECK_THAT(difference("invariant", "pigs fly"), Catch::Contains("does not violate 'pigs fly'"));
}

TEST_CASE("a broken trace file is bad input, however it is broken") {
  const std::string good = trace_json(program_counterexample()).dump();
  for (std::size_t length = 0; length < good.size(); length += 97) {
    CAPTURE(length);
    CHECK_THAT(message_of(good.substr(0, length)), Catch::StartsWith("file.json: error: "));
  }
  for (const std::string text :
       {"[]", "null", "7", "{}", "\x01\xff", R"({"schema": 7})", R"({"schema": "other/1"})"}) {
    CAPTURE(text);
    CHECK_THAT(message_of(text), Catch::StartsWith("file.json: error: "));
  }
  nlohmann::json json = nlohmann::json::parse(good);
  for (const auto& [key, value] : json.items()) {
    CAPTURE(key);
    nlohmann::json without = json;
    without.erase(key);
    CHECK_THAT(message_of(without.dump()), Catch::Contains("error: "));
    nlohmann::json mistyped = json;
    mistyped[key] = nlohmann::json::array({nlohmann::json::object()});
    CHECK_THAT(message_of(mistyped.dump()), Catch::Contains("error: "));
  }
  json["system"] = "quick-relase";
  CHECK_THAT(message_of(json.dump()), Catch::Contains("did you mean 'quick-release'?"));
}

TEST_CASE("a trace with options that the system does not know is bad input") {
  const RecordedTrace trace = german_counterexample();
  CHECK_THROWS_AS(replay(edited(trace, [](auto& json) { json["variant"] = "x"; })), BadInput);
  CHECK_THROWS_AS(replay(edited(trace, [](auto& json) { json["faults"][0] = "x"; })), BadInput);
  CHECK_THROWS_AS(replay(edited(trace, [](auto& json) { json["sizes"]["node"] = 1000; })), BadInput);
  CHECK_THROWS_AS(replay(edited(trace, [](auto& json) { json["system"] = "sc"; })), BadInput);
}

TEST_CASE("a trace that cannot be read or written says why") {
  CHECK_THROWS_AS(read_trace("/no/such/file"), BadInput);
  CHECK_THROWS_AS(read_trace("/tmp"), BadInput);
  CHECK_THROWS_AS(write_trace(german_counterexample(), "/no/such/folder/file"), BadInput);
}
