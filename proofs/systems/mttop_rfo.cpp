#include "spec/memory/mttop_rfo.hpp"

#include "proofs/lemmas/rfo.hpp"
#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"mttop-rfo", "a single writer or many readers, and whatever completes has found the newest write",
          "any number of threads, CUs and blocks", [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<mttop_rfo::Info, rfo::History, rfo::Lemmas>(
                find_system(mttop_rfo::Info::name), options, any_size,
                {.proved = Watch::nothing, .explored = Watch::nothing, .words = symbolic::Words::any});
          }};
}

const RegisteredProof registered(origin<mttop_rfo::Info>("proofs/systems/mttop_rfo.cpp"), entry);

}  // namespace

}  // namespace lockstep
