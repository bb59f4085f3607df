#include "spec/memory/lab.hpp"

#include "refimpl/engine.hpp"

namespace lockstep {

TimedSystem timed_lab() {
  return timed_system<lab::Info>();
}

}  // namespace lockstep
