#include "proofs/lemmas/halcone.theorem.hpp"

#include <limits>

#include "proofs/registry.hpp"
#include "proofs/theorem_system.hpp"

namespace lockstep {

namespace {

std::unique_ptr<ProofSubject> build(const SystemOptions& options) {
  SystemOptions timeless = options;
  timeless.sizes.try_emplace(std::string(halcone::TimestampTag::name), std::numeric_limits<int>::max());
  return build_theorem<halcone::Info, halcone::TheoremHistory, halcone::TheoremLemmas, AnyAmounts,
                       symbolic::Words::any>(timeless);
}

const RegisteredTheorem registered(origin<halcone::Info>("proofs/systems/halcone.theorem.cpp"), build);

}  // namespace

}  // namespace lockstep
