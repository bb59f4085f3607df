#include "checker/view/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "checker/needs/placement.hpp"
#include "checker/systems/trees.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

// Whether a rule looks at a thread's port, which its threads hand requests to.
bool serves_threads(const recorded::RecordedRule& rule) {
  std::set<std::string> reads;
  recorded::collect_reads(rule.guard, reads);
  return std::any_of(reads.begin(), reads.end(), [](const std::string& path) {
    return path.starts_with("port(") || path.find(".port(") != std::string::npos;
  });
}

}  // namespace

json machine_json(const recorded::Description& description, const Anatomy& anatomy) {
  json units = json::array();
  for (const Unit& unit : anatomy.units()) {
    const bool serves = std::any_of(
        description.rules.begin(), description.rules.end(),
        [&](const auto& rule) { return rule.unit == unit.name && rule.thread < 0 && serves_threads(rule); });
    units.push_back({{"name", unit.name},
                     {"per", unit.per},
                     {"rules", unit.rules},
                     {"keeps", unit.fields},
                     {"serves_threads", serves}});
  }
  json connections = json::array();
  for (const Connection& one : anatomy.connections()) {
    connections.push_back(
        {{"from", one.from}, {"to", one.to}, {"field", one.field}, {"channel", one.channel}});
  }
  json rules = json::array();
  for (const recorded::RecordedRule& rule : description.rules) {
    if (rule.thread >= 0) continue;
    rules.push_back({{"name", rule.name},
                     {"unit", rule.unit},
                     {"source", rule.source},
                     {"fair", rule.fairness == Fairness::fair},
                     {"parameters", rule.parameters},
                     {"trigger", print(rule.trigger)},
                     {"guard", print(rule.guard)},
                     {"action", print(rule.action, "")}});
  }
  json invariants = json::array();
  for (const recorded::RecordedInvariant& one : description.invariants)
    invariants.push_back({{"name", one.name}, {"predicate", print(one.predicate)}});
  return {{"units", std::move(units)},
          {"connections", std::move(connections)},
          {"rules", std::move(rules)},
          {"invariants", std::move(invariants)}};
}

json machine_document(const Subject& subject) {
  const recorded::Description& description = trees_of(*subject.system, subject.options);
  json document = machine_json(description, Anatomy(description, rigid_functions({})));
  document["kind"] = "machine";
  document["title"] = subject.description();
  document["what"] = subject.system->what;
  return document;
}

}  // namespace lockstep::view
