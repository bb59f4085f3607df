// Recording a trace, and printing it for people.
#include "checker/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

namespace {

std::vector<std::string> parameters_of(const Firing& firing, const std::vector<std::string>& index_types) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < firing.parameter_count; ++i) {
    const std::string type = i < index_types.size() ? index_types[i] : "index";
    texts.push_back(fmt::format("{} {}", type, firing.parameters[i]));
  }
  return texts;
}

std::string fired_text(const NarratedStep& fired) {
  std::string text = fired.rule;
  std::string notes = fired.unit;
  if (!fired.source.empty()) notes += (notes.empty() ? "" : "; ") + fired.source;
  if (!notes.empty()) text += fmt::format("  [{}]", notes);
  text += '\n';
  std::size_t width = 0;
  for (const FieldChange& change : fired.changes) width = std::max(width, change.path.size());
  for (const FieldChange& change : fired.changes) {
    text += fmt::format("        {:<{}}  {} -> {}\n", change.path, width, change.before, change.after);
  }
  return text;
}

}  // namespace

RecordedTrace record(const Subject& subject, const Model& model, const Trace& trace, TraceEnd end,
                     std::string what) {
  RecordedTrace recorded{subject, end, std::move(what), model.state_bits(), trace.initial, {}, {}};
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    RecordedTrace::Step& taken = recorded.steps.emplace_back();
    if (i == 0) {
      taken.rule = "starts";
    } else {
      const RuleDescription& rule = model.rules().at(step.firing.rule);
      taken.rule = rule.name;
      taken.parameters = parameters_of(step.firing, rule.parameters);
    }
    taken.narration = step.narration;
    taken.state = step.state;
  }
  return recorded;
}

std::string trace_text(const RecordedTrace& trace) {
  std::string text;
  std::size_t number = 0;
  for (const RecordedTrace::Step& step : trace.steps) {
    if (trace.loop_start && number == *trace.loop_start + 1) text += "  round and round:\n";
    bool first = true;
    for (const NarratedStep& fired : step.narration) {
      // What was taken at once with a step has no number of its own.
      text += first ? fmt::format("{:>4}. ", number) : std::string("      ");
      text += fired_text(fired);
      first = false;
    }
    ++number;
  }
  return text;
}

std::string trace_end_text(const RecordedTrace& trace) {
  switch (trace.end) {
    case TraceEnd::invariant:
      return "violated: " + trace.what;
    case TraceEnd::deadlock:
      return "deadlock";
    case TraceEnd::outcome:
      return "ends with " + trace.what;
    case TraceEnd::cycle:
      return fmt::format("{}: steps {} to {} go round for ever", trace.what, trace.loop_start.value_or(0) + 1,
                         trace.steps.size() - 1);
    case TraceEnd::broken:
      return "broken: " + trace.what;
    case TraceEnd::state:
      return trace.what;
  }
  return {};
}

}  // namespace lockstep
