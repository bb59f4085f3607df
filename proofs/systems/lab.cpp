#include "proofs/lemmas/lab.hpp"

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"lab", "memory, messages and buffers together hold exactly the updates that were issued", "",
          [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<lab::Info, lab::History, lab::Lemmas>(
                find_system(lab::Info::name), options, any_size,
                {.proved = Watch::sum, .explored = Watch::parity, .words = symbolic::Words::numbers});
          }};
}

const RegisteredProof registered(origin<lab::Info>("proofs/systems/lab.cpp"), entry);

}  // namespace

}  // namespace lockstep
