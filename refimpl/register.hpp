// What the translation unit of a system's simulation registers. Included by such units only.
#pragma once

#include "checker/systems/contract.hpp"
#include "refimpl/engine.hpp"
#include "refimpl/launch_engine.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

// A memory system runs threads, a system whose client launches kernels runs launches; no other has time.
template <class Info>
struct RegisteredSimulation {
  static_assert(is_described<Info, Timed>());
  explicit RegisteredSimulation(std::string_view header) {
    if constexpr (requires { Info::kernel; }) {
      register_launched(origin<Info>(header), launched_system<Info>());
    } else if constexpr (RunsPrograms<Info, Timed, TimedCapacities>) {
      register_timed(origin<Info>(header), timed_system<Info>());
    }
  }
};

}  // namespace lockstep
