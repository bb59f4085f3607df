#include "checker/systems/tree_rules.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace lockstep {

recorded::WholeDescription with_mutation(recorded::WholeDescription whole, const SystemOptions& options,
                                         std::string_view part) {
  if (!options.mutation) return whole;
  for (recorded::RecordedRule& rule : whole.rules) {
    if (rule.name == options.mutation->rule) rule = mutated(rule, *options.mutation, part);
  }
  return whole;
}

std::vector<std::shared_ptr<const TreeRule>> tree_rules(const recorded::WholeDescription& whole,
                                                        std::vector<footprint::Place> places,
                                                        std::vector<std::byte> defaults) {
  const auto run = std::make_shared<const TreeRule::Run>(whole, std::move(places), std::move(defaults));
  std::vector<std::shared_ptr<const TreeRule>> rules;
  for (const recorded::RecordedRule& rule : whole.rules) {
    try {
      rules.push_back(std::make_shared<const TreeRule>(run, rule));
    } catch (const std::logic_error& error) {
      throw std::logic_error(fmt::format("the tree of '{}' cannot be walked: {}", rule.name, error.what()));
    }
  }
  return rules;
}

}  // namespace lockstep
