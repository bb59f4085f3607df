#include "spec/examples/german.hpp"

#include "checker/systems/closed_system.hpp"
#include "spec/kernel/concrete.hpp"

namespace lockstep {

namespace {

SystemEntry german_entry() {
  return closed_system_entry<german::Info, german_entry>();
}

const RegisteredSystem registered(90, german_entry);

}  // namespace

}  // namespace lockstep
