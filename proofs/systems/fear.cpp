#include "proofs/lemmas/fear.hpp"

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"fear", "a mutex has one holder, and every table says so that no update is on its way to", "",
          [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<fear::Info, NoHistory, fear::Lemmas>(
                find_system(fear::Info::name), options, any_size,
                {.proved = Watch::nothing, .explored = Watch::nothing, .words = symbolic::Words::any});
          }};
}

const RegisteredProof registered(origin<fear::Info>("proofs/systems/fear.cpp"), entry);

}  // namespace

}  // namespace lockstep
