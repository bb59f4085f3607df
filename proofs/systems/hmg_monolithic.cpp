#include "proofs/lemmas/hmg.hpp"
#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"hmg-monolithic", "a copy in an L2 is what memory holds, but for what is on its way", "",
          [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<hmg_monolithic::Info, NoHistory, hmg_monolithic::Lemmas>(
                find_system(hmg_monolithic::Info::name), options, any_size,
                {.proved = Watch::nothing, .explored = Watch::nothing, .words = symbolic::Words::any});
          }};
}

const RegisteredProof registered(origin<hmg_monolithic::Info>("proofs/systems/hmg_monolithic.cpp"), entry);

}  // namespace

}  // namespace lockstep
