#include "proofs/lemmas/quick_release.hpp"

#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  return build_memory_proof<quick_release::Info, quick_release::History, quick_release::Lemmas>(
      find_system(quick_release::Info::name), options, any_size);
}

ProofEntry entry() {
  return {"quick-release", "a release leaves no older copy that its scope may read, in a cache or in flight",
          "", build};
}

const RegisteredProof registered(origin<quick_release::Info>("proofs/systems/quick_release.cpp"), entry);

}  // namespace

}  // namespace lockstep
