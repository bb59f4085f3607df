// Traces as JSON, schema lockstep.trace/2: the subject (with its program's text), the claim about the last
// state, and for each step the rule, its parameters, what changed, and the packed state in hexadecimal.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checker/language/test.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep {

namespace {

using nlohmann::json;

constexpr std::string_view schema = "lockstep.trace/2";
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;

std::string_view end_word(TraceEnd end) {
  switch (end) {
    case TraceEnd::invariant:
      return "invariant";
    case TraceEnd::deadlock:
      return "deadlock";
    case TraceEnd::outcome:
      return "outcome";
    case TraceEnd::cycle:
      return "cycle";
    case TraceEnd::broken:
      return "broken";
    case TraceEnd::state:
      return "state";
  }
  return {};
}

// ---- writing ----------------------------------------------------------------------------------------------

std::string hex(const std::vector<std::uint64_t>& state) {
  std::string text;
  for (const std::uint64_t word : state) text += fmt::format("{:016x}", word);
  return text;
}

json step_json(const RecordedTrace::Step& step) {
  json fired = json::array();
  for (const NarratedStep& one : step.narration) {
    json changes = json::array();
    for (const FieldChange& change : one.changes) {
      changes.push_back({{"field", change.path}, {"before", change.before}, {"after", change.after}});
    }
    fired.push_back(
        {{"rule", one.rule}, {"unit", one.unit}, {"source", one.source}, {"changes", std::move(changes)}});
  }
  return {{"rule", step.rule},
          {"parameters", step.parameters},
          {"fired", std::move(fired)},
          {"state", hex(step.state)}};
}

std::string program_text(const Program& program) {
  std::string name = program.name;
  std::erase(name, ' ');
  return fmt::format("HRF {}\n{}{}forall (true)\n", name, print_claims(program), print_program(program));
}

// ---- reading ----------------------------------------------------------------------------------------------

// What json throws on a missing or mistyped field becomes a BadInput in parse_trace.
std::vector<std::uint64_t> parse_hex(const std::string& text) {
  if (text.size() % 16 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw BadInput("a step's state is not words of 16 hexadecimal digits");
  }
  std::vector<std::uint64_t> state;
  for (std::size_t at = 0; at < text.size(); at += 16)
    state.push_back(std::stoull(text.substr(at, 16), nullptr, 16));
  return state;
}

TraceEnd parse_end(const std::string& word) {
  std::vector<std::string> words;
  for (const TraceEnd end : {TraceEnd::invariant, TraceEnd::deadlock, TraceEnd::outcome, TraceEnd::cycle,
                             TraceEnd::broken, TraceEnd::state}) {
    if (word == end_word(end)) return end;
    words.emplace_back(end_word(end));
  }
  throw BadInput(fmt::format("unknown end '{}'", word), suggestion(word, words));
}

Subject parse_subject(const json& from, const std::string& file) {
  Subject subject;
  subject.system = &find_system(from.at("system").get<std::string>());
  subject.options.variant = from.at("variant").get<std::string>();
  subject.options.faults = from.at("faults").get<std::vector<std::string>>();
  subject.options.sizes = from.at("sizes").get<std::map<std::string, int>>();
  const json& reductions = from.at("reductions");
  subject.options.reductions = {reductions.at("moves").get<bool>(), reductions.at("stubborn").get<bool>(),
                                reductions.at("dead").get<bool>(), reductions.at("at_once").get<bool>(),
                                reductions.value("invariants", false)};
  if (from.contains("values")) {
    subject.options.value_range = ValueRange{from.at("values").at("low").get<std::int32_t>(),
                                             from.at("values").at("high").get<std::int32_t>()};
  }
  subject.options.memory_observed = from.at("memory_observed").get<bool>();
  if (from.contains("scheduler")) {
    subject.options.scheduler = scheduler_named(from.at("scheduler").get<std::string>());
    for (const json& setting : from.at("scheduler_settings"))
      apply_setting(*subject.options.scheduler, setting.get<std::string>());
  }
  if (from.contains("launches")) {
    subject.launches = parse_litmus(from.at("launches").get<std::string>(), file + " (launches)").launches;
    if (subject.launches == nullptr) throw BadInput("\"launches\" is not a sequence of launches");
  }
  const json& program = from.at("program");
  if (!program.is_null()) {
    subject.program =
        std::make_shared<Program>(parse_litmus(program.get<std::string>(), file + " (program)").program);
  }
  return subject;
}

RecordedTrace::Step parse_step(const json& from) {
  RecordedTrace::Step step;
  step.rule = from.at("rule").get<std::string>();
  step.parameters = from.at("parameters").get<std::vector<std::string>>();
  for (const json& one : from.at("fired")) {
    NarratedStep& fired = step.narration.emplace_back();
    fired.rule = one.at("rule").get<std::string>();
    fired.unit = one.at("unit").get<std::string>();
    fired.source = one.at("source").get<std::string>();
    for (const json& change : one.at("changes")) {
      fired.changes.push_back({change.at("field").get<std::string>(), change.at("before").get<std::string>(),
                               change.at("after").get<std::string>()});
    }
  }
  step.state = parse_hex(from.at("state").get<std::string>());
  return step;
}

RecordedTrace parse_document(const json& from, const std::string& file) {
  if (!from.is_object() || !from.contains("schema"))
    throw BadInput("this is not a trace: it has no \"schema\"");
  const auto found = from.at("schema").get<std::string>();
  if (found != schema)
    throw BadInput(fmt::format("the schema is '{}'; this build reads '{}'", found, schema));
  RecordedTrace trace;
  trace.subject = parse_subject(from, file);
  trace.end = parse_end(from.at("end").get<std::string>());
  trace.what = from.at("what").get<std::string>();
  trace.state_bits = from.at("state_bits").get<unsigned>();
  const auto initial = from.at("initial").get<std::int64_t>();
  if (initial < 0) throw BadInput("\"initial\" is negative");
  trace.initial = static_cast<std::size_t>(initial);
  for (const json& step : from.at("steps")) trace.steps.push_back(parse_step(step));
  if (trace.steps.empty()) throw BadInput("the trace has no steps");
  if (from.contains("loop_start")) trace.loop_start = from.at("loop_start").get<std::size_t>();
  if ((trace.end == TraceEnd::cycle) != trace.loop_start.has_value() ||
      trace.loop_start.value_or(0) + 1 > trace.steps.size()) {
    throw BadInput("\"loop_start\" is not a step of the trace");
  }
  return trace;
}

// A json exception's text without its "[json.exception.parse_error.101] " and the like.
std::string plain_message(const json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

nlohmann::json whole_subject_json(const Subject& subject) {
  const SystemOptions& options = subject.options;
  json out;
  out["system"] = subject.system->name;
  out["variant"] = options.variant;
  out["faults"] = options.faults;
  out["sizes"] = options.sizes;
  out["reductions"] = {{"moves", options.reductions.moves},
                       {"stubborn", options.reductions.stubborn},
                       {"dead", options.reductions.dead},
                       {"at_once", options.reductions.at_once},
                       {"invariants", options.reductions.invariants}};
  if (options.value_range)
    out["values"] = {{"low", options.value_range->low}, {"high", options.value_range->high}};
  out["memory_observed"] = options.memory_observed;
  if (options.scheduler) {
    out["scheduler"] = name_of(*options.scheduler);
    out["scheduler_settings"] = settings_of(*options.scheduler);
  }
  out["program"] = subject.program ? json(program_text(*subject.program)) : json();
  if (subject.launches) out["launches"] = subject.launches->text;
  return out;
}

nlohmann::json trace_json(const RecordedTrace& trace) {
  json out = whole_subject_json(trace.subject);
  out["schema"] = schema;
  out["end"] = end_word(trace.end);
  out["what"] = trace.what;
  out["state_bits"] = trace.state_bits;
  out["initial"] = trace.initial;
  if (trace.loop_start) out["loop_start"] = *trace.loop_start;
  out["steps"] = json::array();
  for (const RecordedTrace::Step& step : trace.steps) out["steps"].push_back(step_json(step));
  return out;
}

RecordedTrace parse_trace(const std::string& text, const std::string& file) {
  try {
    return parse_document(json::parse(text), file);
  } catch (const json::exception& error) {
    throw BadInput(Diagnostic{file, {}, "not a trace: " + plain_message(error), {}, {}});
  } catch (const BadInput& error) {
    Diagnostic diagnostic = error.diagnostic();
    if (diagnostic.file.empty()) diagnostic.file = file;
    throw BadInput(std::move(diagnostic));
  }
}

RecordedTrace read_trace(const std::string& file) {
  const auto refuse = [&](std::string why) { throw BadInput(Diagnostic{file, {}, std::move(why), {}, {}}); };
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse("no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("not a regular file");
  if (std::filesystem::file_size(file, error) > largest_file || error) refuse("larger than 1 GiB");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::ostringstream text;
  text << stream.rdbuf();
  if (text.view().empty()) refuse("the file is empty");
  return parse_trace(std::move(text).str(), file);
}

void write_trace(const RecordedTrace& trace, const std::string& file) {
  std::ofstream stream(file, std::ios::binary);
  stream << json_text(trace_json(trace), 1) << '\n';
  stream.close();
  if (!stream) {
    throw BadInput(
        Diagnostic{file, {}, fmt::format("cannot write the trace: {}", std::strerror(errno)), {}, {}});
  }
}

}  // namespace lockstep
