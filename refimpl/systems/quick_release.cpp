#include "spec/memory/quick_release.hpp"

#include "refimpl/engine.hpp"

namespace lockstep {

TimedSystem timed_quick_release() {
  return timed_system<quick_release::Info>();
}

}  // namespace lockstep
