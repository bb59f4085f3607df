#include "spec/memory/cpcoh.hpp"

#include "checker/explore/adaptor.hpp"
#include "checker/systems/closed_system.hpp"
#include "proofs/lemmas/cpcoh.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

using cpcoh::Info;

template <class Protocol>
using Proved = WithLemmas<Protocol, cpcoh::Lemmas>;

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  using Sizes = Info::Sizes<FullCapacities>;
  const SystemEntry& entry = find_system(cpcoh::Info::name);
  Sizes explored;
  Info::default_sizes(explored, variant_index(entry, options.variant));
  Sizes sizes = explored;
  sizes.set<cpcoh::ChipletTag>(3);
  sizes.set<cpcoh::StructureTag>(3);  // of which a kernel may label two
  sizes.set<cpcoh::WordTag>(4);
  apply_sizes(sizes, options, [](auto) { return false; });
  apply_sizes(explored, options, [](auto) { return false; });
  using Terms = FromTrees<Info::Closed<Symbolic<Sizes>>>;
  using Numbers = Info::Closed<Concrete<Sizes>>;
  return std::make_unique<CompiledProof<Proved<Terms>>>(
      [=, &entry](Trees trees) {
        return Proved<Terms>(
            Terms(closed_protocol<Info>(Symbolic<Sizes>(sizes), entry, options, PlaceByName{}),
                  rule_trees(entry.describe, options, sizes, trees), ""));
      },
      [=]() -> std::unique_ptr<Model> {
        Concrete<Sizes> k;
        k.sizes = explored;
        return std::make_unique<CompiledModel<Proved<Numbers>>>(
            Proved<Numbers>(closed_protocol<Info>(k, entry, options, PlaceByNumber{})), Reductions::none());
      },
      explored, any_size, ProofCover{.placed = {std::string(cpcoh::LineWordTag::name)}});
}

ProofEntry entry() {
  return {"cpcoh", "whatever a running kernel or the host may read is current, and no dirty word is lost",
          "any number of chiplets, structures and words, and any lines", build};
}

const RegisteredProof registered(origin<cpcoh::Info>("proofs/systems/cpcoh.cpp"), entry);

}  // namespace

}  // namespace lockstep
