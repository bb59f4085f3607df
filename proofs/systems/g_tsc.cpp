#include "proofs/lemmas/g_tsc.hpp"

#include <limits>

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  SystemOptions timeless = options;
  timeless.sizes.try_emplace(std::string(g_tsc::TimestampTag::name), std::numeric_limits<int>::max());
  return build_memory_proof<g_tsc::Info, g_tsc::History, g_tsc::Lemmas, AnyAmounts>(
      find_system(g_tsc::Info::name), timeless, any_size,
      {.proved = Watch::nothing,
       .explored = Watch::nothing,
       .words = symbolic::Words::numbers,
       .amounts = 3});
}

ProofEntry entry() {
  return {"g-tsc", "every load returns what its block held at its logical time", "", build};
}

const RegisteredProof registered(origin<g_tsc::Info>("proofs/systems/g_tsc.cpp"), entry);

}  // namespace

}  // namespace lockstep
