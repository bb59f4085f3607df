#include "checker/compare/executions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/support/diagnostic.hpp"

namespace lockstep::compare {

bool ExecutionReport::open() const {
  return std::any_of(found.begin(), found.end(),
                     [&](const auto& one) { return one.test == nullptr && one.decided < up_to; });
}

ExecutionReport read_executions(const nlohmann::json& document) {
  try {
    ExecutionReport report;
    report.up_to = document.at("up_to");
    report.interrupted = document.at("interrupted");
    report.seconds = document.at("seconds");
    const std::vector<std::string> models = document.at("models");
    for (const nlohmann::json& finding : document.at("findings")) {
      FoundExecution one;
      one.by_flags = finding.at("by") == "flags";
      one.decided = finding.at("decided_up_to");
      if (const nlohmann::json& difference = finding.at("difference"); !difference.is_null()) {
        const std::string name = difference.at("test");
        one.test = std::make_shared<const LitmusTest>(
            parse_litmus(difference.at("text").get<std::string>(), name + ".litmus"));
        one.events = difference.at("events");
        one.allows = difference.at("allows");
        one.other = models.at(one.allows == models.at(0) ? 1 : 0);
      }
      report.found.push_back(std::move(one));
    }
    return report;
  } catch (const nlohmann::json::exception& e) {
    throw BadInput(fmt::format("no report of executions: {}", e.what()),
                   "`lockstep distinguish A B --json` writes one");
  }
}

std::string executions_text(const ExecutionReport& report) {
  std::string text =
      fmt::format("\nExecutions of up to {} events, with Z3, {:.1f} s\n", report.up_to, report.seconds);
  for (const FoundExecution& one : report.found) {
    const std::string_view what = one.by_flags ? "flags" : "outcomes";
    if (one.test != nullptr) {
      text += fmt::format("  by {:<9} {} events{}: {}\n", what, one.events,
                          one.decided == one.events - 1 ? ", and no fewer" : "", one.test->name);
    } else if (one.decided == report.up_to) {
      text += fmt::format("  by {:<9} none tells them apart\n", what);
    } else {
      text += fmt::format("  by {:<9} none of up to {} does; not all of {} were decided{}\n", what,
                          one.decided, report.up_to, report.interrupted ? ", interrupted" : "");
    }
  }
  return text;
}

nlohmann::json executions_json(const ExecutionReport& report) {
  nlohmann::json found = nlohmann::json::array();
  for (const FoundExecution& one : report.found) {
    nlohmann::json entry{
        {"by", one.by_flags ? "flags" : "outcomes"}, {"decided_up_to", one.decided}, {"test", nullptr}};
    if (one.test != nullptr) {
      entry["test"] = one.test->name;
      entry["events"] = one.events;
      entry["allows"] = one.allows;
    }
    found.push_back(std::move(entry));
  }
  return {{"up_to", report.up_to}, {"found", std::move(found)}, {"seconds", report.seconds}};
}

}  // namespace lockstep::compare
