#include "spec/memory/halcone.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

SystemEntry halcone_entry() {
  return program_system_entry<halcone::Info, halcone_entry>();
}

const RegisteredSystem registered(30, halcone_entry);

}  // namespace

}  // namespace lockstep
