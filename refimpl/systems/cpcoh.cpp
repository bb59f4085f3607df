#include "spec/memory/cpcoh.hpp"

#include "refimpl/launch_engine.hpp"

namespace lockstep {

LaunchedSystem timed_cpcoh() {
  return launched_system<cpcoh::Info>();
}

}  // namespace lockstep
