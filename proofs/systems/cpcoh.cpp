#include "proofs/lemmas/cpcoh.hpp"

#include "proofs/closed_proof.hpp"

namespace lockstep {

namespace {

using cpcoh::Info;

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  const auto explored = closed_sizes<Info>(find_system(Info::name), options);
  Info::Sizes<FullCapacities> sizes;
  Info::default_sizes(sizes, 0);
  sizes.set<cpcoh::ChipletTag>(3);
  sizes.set<cpcoh::StructureTag>(3);  // of which a kernel may label two
  sizes.set<cpcoh::WordTag>(4);
  apply_sizes(sizes, options, [](auto) { return false; });
  return closed_proof<Info, cpcoh::Lemmas>(options, any_size, sizes, explored,
                                           {.placed = {std::string(cpcoh::LineWordTag::name)}});
}

ProofEntry entry() {
  return {"cpcoh", "whatever a running kernel or the host may read is current, and no dirty word is lost",
          "any number of chiplets, structures and words, and any lines", build};
}

const RegisteredProof registered(origin<cpcoh::Info>("proofs/systems/cpcoh.cpp"), entry);

}  // namespace

}  // namespace lockstep
