#include "spec/memory/write_through.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

SystemEntry write_through_entry() {
  return program_system_entry<write_through::Info, write_through_entry>();
}

const RegisteredSystem registered(10, write_through_entry);

}  // namespace

}  // namespace lockstep
