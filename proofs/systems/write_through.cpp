#include "proofs/lemmas/write_through.hpp"

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"write-through", "a release leaves no older copy where its scope looks, an acquire none nearer",
          "any number of threads, CUs, agents and blocks", [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<write_through::Info, write_through::History, write_through::Lemmas>(
                find_system(write_through::Info::name), options, any_size);
          }};
}

const RegisteredProof registered(origin<write_through::Info>("proofs/systems/write_through.cpp"), entry);

}  // namespace

}  // namespace lockstep
