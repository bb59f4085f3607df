#include "proofs/lemmas/halcone.hpp"

#include <limits>

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  SystemOptions timeless = options;
  timeless.sizes.try_emplace(std::string(halcone::TimestampTag::name), std::numeric_limits<int>::max());
  return build_memory_proof<halcone::Info, halcone::History, halcone::Lemmas, AnyAmounts>(
      find_system(halcone::Info::name), timeless, any_size,
      {.proved = Watch::nothing,
       .explored = Watch::nothing,
       .words = symbolic::Words::numbers,
       .amounts = 3});
}

ProofEntry entry() {
  return {"halcone", "every read returns what memory held at its logical time", "", build};
}

const RegisteredProof registered(origin<halcone::Info>("proofs/systems/halcone.cpp"), entry);

}  // namespace

}  // namespace lockstep
