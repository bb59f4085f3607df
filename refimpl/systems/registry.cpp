// The systems that can be simulated, by name.
#include <fmt/format.h>

#include <array>

#include "checker/support/diagnostic.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

namespace {

const std::array<TimedSystem, 5>& timed_systems() {
  static const std::array systems{timed_sc(), timed_write_through(), timed_quick_release(), timed_lab(),
                                  timed_halcone()};
  return systems;
}

}  // namespace

std::vector<std::string> timed_system_names() {
  std::vector<std::string> names;
  for (const TimedSystem& system : timed_systems()) names.emplace_back(system.name);
  return names;
}

TimedSystem find_timed_system(std::string_view name, SimulationOptions& options) {
  const auto slash = name.find('/');
  const std::string_view plain = name.substr(0, slash);
  for (const TimedSystem& system : timed_systems()) {
    if (system.name != plain) continue;
    if (slash != std::string_view::npos) options.variant = std::string(name.substr(slash + 1));
    return system;
  }
  throw BadInput(fmt::format("no system '{}' can be simulated", plain),
                 suggestion(plain, timed_system_names()));
}

}  // namespace lockstep
