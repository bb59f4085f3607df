#include "spec/memory/halcone.hpp"

#include "refimpl/engine.hpp"

namespace lockstep {

TimedSystem timed_halcone() {
  return timed_system<halcone::Info>();
}

}  // namespace lockstep
