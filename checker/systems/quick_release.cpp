#include "spec/memory/quick_release.hpp"

#include "checker/systems/program_system.hpp"

namespace lockstep {

SystemEntry quick_release_entry() {
  return program_system_entry<quick_release::Info, quick_release_entry>();
}

namespace {
const RegisteredSystem registered(20, quick_release_entry);
}  // namespace

}  // namespace lockstep
