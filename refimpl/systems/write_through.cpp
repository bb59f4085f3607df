#include "spec/memory/write_through.hpp"

#include "refimpl/engine.hpp"

namespace lockstep {

TimedSystem timed_write_through() {
  return timed_system<write_through::Info>();
}

}  // namespace lockstep
