#include "spec/memory/quick_release.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

namespace {

SystemEntry quick_release_entry() {
  return program_system_entry<quick_release::Info, quick_release_entry>();
}

const RegisteredSystem registered(20, quick_release_entry);

}  // namespace

}  // namespace lockstep
