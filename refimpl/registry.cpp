// The systems that can be simulated, by name.
#include "checker/systems/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/support/diagnostic.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

namespace {

Registrations<TimedSystem>& registered() {
  static Registrations<TimedSystem> all;
  return all;
}
const std::vector<std::pair<std::string_view, TimedSystem>>& timed_systems() {
  static const auto systems = registered().in_order();
  return systems;
}

}  // namespace

void register_timed(const Origin& origin, TimedSystem system) {
  registered().add(origin, system);
}

std::vector<std::string> timed_system_names() {
  std::vector<std::string> names;
  for (const auto& [system_name, system] : timed_systems()) names.emplace_back(system_name);
  return names;
}

TimedSystem find_timed_system(std::string_view name, SimulationOptions& options) {
  const auto slash = name.find('/');
  const std::string_view plain = name.substr(0, slash);
  for (const auto& [system_name, system] : timed_systems()) {
    if (system_name != plain) continue;
    if (slash == std::string_view::npos) return system;
    options.variant = std::string(name.substr(slash + 1));
    if (!system.takes_policies) return system;
    std::vector<std::string> names;
    for (const Variant& variant : find_system(plain).variants) names.emplace_back(variant.name);
    const bool is_variant = std::find(names.begin(), names.end(), options.variant) != names.end();
    for (const NamedWaitingPolicy& policy : waiting_policies) {
      names.emplace_back(policy.name);
      if (is_variant || policy.name != options.variant) continue;
      options.variant = "default";
      options.policy = policy.policy;
    }
    if (!is_variant && !options.policy)
      throw BadInput(fmt::format("{} has no variant and no waiting policy '{}'", plain, options.variant),
                     suggestion(options.variant, names));
    return system;
  }
  throw BadInput(fmt::format("no system '{}' can be simulated", plain),
                 suggestion(plain, timed_system_names()));
}

}  // namespace lockstep
