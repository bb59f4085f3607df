// What the translation unit of a system's model registers. Included by such units only.
#pragma once

#include "checker/systems/closed_system.hpp"
#include "checker/systems/program_system.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/scheduled_system.hpp"

namespace lockstep {

template <class Info>
struct RegisteredModel {
  RegisteredModel() {
    if constexpr (MemorySystem<Info>) {
      const RegisteredSystem system(Info::place, program_system_entry<Info>);
      if constexpr (requires { Info::performs_at_once; })
        const RegisteredScheduled scheduled(Info::name, build_scheduled_model<Info>);
    } else {
      const RegisteredSystem system(Info::place, closed_system_entry<Info>);
    }
  }
};

}  // namespace lockstep
