// What the translation unit of a system's simulation registers. Included by such units only.
#pragma once

#include "refimpl/engine.hpp"
#include "refimpl/launch_engine.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

// A memory system runs threads, a system whose client launches kernels runs launches; no other has time.
template <class Info>
struct RegisteredSimulation {
  RegisteredSimulation() {
    if constexpr (requires { Info::client; }) {
      register_launched(Info::place, launched_system<Info>());
    } else if constexpr (requires {
                           typename Info::template Memory<
                               Timed<typename Info::template Sizes<TimedCapacities>>>;
                         }) {
      register_timed(Info::place, timed_system<Info>());
    }
  }
};

}  // namespace lockstep
