#include "spec/memory/lab.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

SystemEntry lab_entry() {
  return program_system_entry<lab::Info, lab_entry>();
}

const RegisteredSystem registered(15, lab_entry);

}  // namespace

}  // namespace lockstep
