#include "spec/memory/sc.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

SystemEntry sc_entry() {
  return program_system_entry<SequentialConsistencyInfo, sc_entry>();
}

const RegisteredSystem registered(0, sc_entry);

}  // namespace

}  // namespace lockstep
