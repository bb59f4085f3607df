// What the translation unit of a system's model registers. Included by such units only.
#pragma once

#include "checker/systems/closed_system.hpp"
#include "checker/systems/contract.hpp"
#include "checker/systems/launched_system.hpp"
#include "checker/systems/program_system.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

template <class Info, template <class> class Claims = NoClaims>
struct RegisteredModel {
  static_assert(is_described<Info, Concrete>());
  explicit RegisteredModel(std::string_view header) {
    const Origin here = origin<Info>(header);
    if constexpr (RunsPrograms<Info, Concrete>) {
      const RegisteredSystem system(here, program_system_entry<Info, Claims>);
    } else {
      const RegisteredSystem system(here, [] {
        SystemEntry entry = closed_system_entry<Info>();
        if constexpr (TakesLaunches<Info, Concrete>) entry.build_launched = build_launched_model<Info>;
        return entry;
      });
    }
  }
};

}  // namespace lockstep
