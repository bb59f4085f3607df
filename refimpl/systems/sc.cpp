#include "spec/memory/sc.hpp"

#include "refimpl/engine.hpp"

namespace lockstep {

TimedSystem timed_sc() {
  return timed_system<SequentialConsistencyInfo>();
}

}  // namespace lockstep
