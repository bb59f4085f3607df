#include "proofs/lemmas/quick_release.theorem.hpp"

#include <fmt/format.h>

#include "checker/support/diagnostic.hpp"
#include "proofs/registry.hpp"
#include "proofs/theorem_system.hpp"

namespace lockstep {

namespace {

std::unique_ptr<ProofSubject> build(const SystemOptions& options) {
  for (const auto& [name, size] : options.sizes) {
    if ((name == quick_release::Link1Slot::name || name == quick_release::Link2Slot::name) && size != 1)
      throw BadInput(fmt::format("the theorem at the port is stated for one message a link, not {}", size),
                     fmt::format("--size {}=1", name));
  }
  return build_theorem<quick_release::Info, quick_release::TheoremHistory, quick_release::TheoremLemmas,
                       FullCapacities, symbolic::Words::any>(options);
}

const RegisteredTheorem registered(origin<quick_release::Info>("proofs/systems/quick_release.theorem.cpp"),
                                   build);

}  // namespace

}  // namespace lockstep
