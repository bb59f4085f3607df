// The systems that can be simulated, by name.
#include <fmt/format.h>

#include <map>

#include "checker/support/diagnostic.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

namespace {

std::multimap<int, TimedSystem>& timed_systems() {
  static std::multimap<int, TimedSystem> systems;
  return systems;
}

}  // namespace

void register_timed(int place, TimedSystem system) {
  timed_systems().emplace(place, system);
}

std::vector<std::string> timed_system_names() {
  std::vector<std::string> names;
  for (const auto& [place, system] : timed_systems()) names.emplace_back(system.name);
  return names;
}

TimedSystem find_timed_system(std::string_view name, SimulationOptions& options) {
  const auto slash = name.find('/');
  const std::string_view plain = name.substr(0, slash);
  for (const auto& [place, system] : timed_systems()) {
    if (system.name != plain) continue;
    if (slash != std::string_view::npos) options.variant = std::string(name.substr(slash + 1));
    return system;
  }
  throw BadInput(fmt::format("no system '{}' can be simulated", plain),
                 suggestion(plain, timed_system_names()));
}

}  // namespace lockstep
