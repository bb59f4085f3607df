// Counts firings by system and name of rule.
#include "checker/runs/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

void RuleCoverage::add(const std::string& system, std::span<const RuleDescription> rules,
                       std::span<const std::uint64_t> fired) {
  std::vector<Counted>& counted = systems_[system];
  for (std::size_t i = 0; i < rules.size() && i < fired.size(); ++i) {
    if (rules[i].of_program || rules[i].name.empty()) continue;
    auto found = std::find_if(counted.begin(), counted.end(),
                              [&](const Counted& one) { return one.rule.name == rules[i].name; });
    if (found == counted.end()) found = counted.insert(found, {rules[i], 0});
    found->firings += fired[i];
  }
}

std::vector<std::string> RuleCoverage::systems() const {
  std::vector<std::string> names;
  for (const auto& [name, counted] : systems_) names.push_back(name);
  return names;
}

std::vector<RuleDescription> RuleCoverage::never_fired(const std::string& system) const {
  std::vector<RuleDescription> silent;
  const auto found = systems_.find(system);
  if (found == systems_.end()) return silent;
  for (const Counted& one : found->second) {
    if (one.firings == 0) silent.push_back(one.rule);
  }
  return silent;
}

std::string rules_text(std::span<const RuleDescription> rules) {
  std::string text;
  for (const RuleDescription& rule : rules) {
    text += "  " + rule.name;
    if (!rule.unit.empty())
      text += fmt::format("  [{}{}{}]", rule.unit, rule.source.empty() ? "" : "; ", rule.source);
    text += '\n';
  }
  return text;
}

}  // namespace lockstep
