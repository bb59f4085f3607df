#include "spec/memory/cpcoh.hpp"

#include "checker/systems/closed_system.hpp"
#include "spec/kernel/concrete.hpp"

namespace lockstep {

namespace {

SystemEntry cpcoh_entry() {
  return closed_system_entry<cpcoh::Info, cpcoh_entry>();
}

const RegisteredSystem registered(40, cpcoh_entry);

}  // namespace

}  // namespace lockstep
