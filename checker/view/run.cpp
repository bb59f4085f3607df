#include "checker/view/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/language/test.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/view/machine.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

std::string placement_text(const Placement& at) {
  if (at.host) return "host";
  return fmt::format("wg {}, agent {}", at.wg, at.agent);
}

json program_json(const Program& program) {
  json threads = json::array();
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    json code = json::array();
    for (const Instruction& instruction : thread.code)
      code.push_back(print_instruction(instruction, program, static_cast<int>(t)));
    threads.push_back({{"name", thread.name},
                       {"at", placement_text(thread.placement)},
                       {"registers", thread.registers},
                       {"code", std::move(code)}});
  }
  json locations = json::array();
  for (const Location& location : program.locations)
    locations.push_back({{"name", location.name}, {"block", location.block}, {"word", location.word}});
  return {{"name", program.name}, {"threads", std::move(threads)}, {"locations", std::move(locations)}};
}

json narrated_json(const NarratedStep& narrated) {
  return {{"rule", narrated.rule},
          {"unit", narrated.unit},
          {"source", narrated.source},
          {"changes", changes_json(narrated)}};
}

}  // namespace

json subject_json(const Subject& subject) {
  const SystemOptions& options = subject.options;
  json out{{"system", subject.name()},
           {"faults", options.faults},
           {"sizes", options.sizes},
           {"description", subject.description()},
           {"client", subject.client()}};
  if (options.scheduler) out["scheduler"] = name_of(*options.scheduler);
  if (subject.program != nullptr) out["program"] = program_json(*subject.program);
  if (subject.launches != nullptr) out["launches"] = subject.launches->text;
  return out;
}

json changes_json(const NarratedStep& narrated) {
  json changes = json::array();
  for (const FieldChange& change : narrated.changes)
    changes.push_back({change.path, change.before, change.after});
  return changes;
}

json walk_json(const Walk& walk, const std::vector<std::size_t>& numbers) {
  json rows = json::array();
  for (std::size_t i = 0; i < walk.rows().size(); ++i) {
    const Row& row = walk.rows()[i];
    json out = narrated_json(row.narrated);
    out["performer"] = row.performer;
    out["fair"] = row.fair;
    out["number"] = i < numbers.size() ? numbers[i] : i;
    if (row.by) out["by"] = *row.by;
    if (!row.sent.empty()) out["sent"] = row.sent;
    if (row.taken) out["taken"] = *row.taken;
    rows.push_back(std::move(out));
  }
  json messages = json::array();
  for (const Message& message : walk.messages()) {
    json out{{"channel", message.channel}, {"content", message.content}, {"sent", message.sent}};
    if (message.taken) out["taken"] = *message.taken;
    messages.push_back(std::move(out));
  }
  return {{"subject", subject_json(walk.subject())},
          {"columns", walk.performers()},
          {"machine", machine_json(walk.description(), walk.anatomy())},
          {"initial", walk.fields(0)},
          {"rows", std::move(rows)},
          {"messages", std::move(messages)}};
}

Retraced retrace(const RecordedTrace& trace) {
  Retraced result{Walk(trace.subject), {}, {}};
  if (!result.walk.start(trace.initial)) {
    result.difference = fmt::format("there is no initial state number {} now", trace.initial);
    result.walk.start(0);
    result.numbers.push_back(0);
    return result;
  }
  result.numbers.push_back(0);
  for (std::size_t number = 0; number < trace.steps.size(); ++number) {
    const RecordedTrace::Step& step = trace.steps[number];
    for (std::size_t i = number == 0 ? 1 : 0; i < step.narration.size(); ++i) {
      if (!result.walk.follow(step.narration[i])) {
        result.difference = fmt::format("step {}, '{}', is not enabled now", number, step.narration[i].rule);
        return result;
      }
      result.numbers.push_back(number);
    }
  }
  return result;
}

json run_document(const RecordedTrace& trace, const std::string& title) {
  const Retraced retraced = retrace(trace);
  json document = walk_json(retraced.walk, retraced.numbers);
  document["kind"] = "run";
  document["title"] = title;
  document["end"] = trace_end_text(trace);
  if (trace.loop_start) document["loop_start"] = *trace.loop_start;
  if (!retraced.difference.empty()) {
    document["difference"] = retraced.difference;
    std::size_t passed = 0;
    for (std::size_t number = 0; number < trace.steps.size(); ++number) {
      for (const NarratedStep& narrated : trace.steps[number].narration) {
        if (passed++ < retraced.numbers.size()) continue;
        json row = narrated_json(narrated);
        row["performer"] = narrated.unit;
        row["fair"] = true;
        row["number"] = number;
        row["recorded_only"] = true;
        document["rows"].push_back(std::move(row));
        json& columns = document["columns"];
        if (std::find(columns.begin(), columns.end(), json(narrated.unit)) == columns.end())
          columns.push_back(narrated.unit);
      }
    }
  }
  return document;
}

}  // namespace lockstep::view
