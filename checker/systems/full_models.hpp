// Models of a system at its full capacities. Included by a translation unit of the system's own, which names
// the system: `template struct FullModels<Info>;`.
#pragma once

#include <memory>
#include <utility>

#include "checker/systems/closed_system.hpp"
#include "checker/systems/contract.hpp"
#include "checker/systems/launched_system.hpp"
#include "checker/systems/program_system.hpp"

namespace lockstep {

template <class Info, template <class> class Claims>
std::unique_ptr<ProgramModel> full_model_of_program(
    const typename Info::template Sizes<FullCapacities>& sizes, std::shared_ptr<const Program> program,
    const PlacementTable& placement, const SystemOptions& options, const SystemEntry& entry) {
  return model_of_program<Info, Claims>(sizes, std::move(program), placement, options, entry);
}

template <class Info>
std::unique_ptr<Model> full_closed_model(const typename Info::template Sizes<FullCapacities>& sizes,
                                         const SystemEntry& self, const SystemOptions& options) {
  return closed_model<Info>(sizes, self, options);
}

template <class Info>
std::unique_ptr<LaunchesModel> full_launched_model(const LaunchSizes<Info, FullCapacities>& sizes,
                                                   const SystemEntry& self, const SystemOptions& options,
                                                   std::shared_ptr<const Launches> launches) {
  return launched_model<Info>(sizes, self, options, std::move(launches));
}

// Makes those that the system has.
template <class Info, template <class> class Claims = NoClaims>
struct FullModels {
  static constexpr auto made = [] {
    if constexpr (RunsPrograms<Info, Concrete>) {
      return &full_model_of_program<Info, Claims>;
    } else if constexpr (TakesLaunches<Info, Concrete>) {
      return std::pair{&full_closed_model<Info>, &full_launched_model<Info>};
    } else {
      return &full_closed_model<Info>;
    }
  }();
};

}  // namespace lockstep
