// The proof of a system that has no program: a protocol that is its own client. Included by the translation
// unit of each such system in proofs/systems only.
#pragma once

#include <memory>
#include <utility>

#include "checker/explore/adaptor.hpp"
#include "checker/systems/closed_system.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

// Proved at one size, its lemmas explored at another.
template <class Info, template <class> class Lemmas,
          class Sizes = typename Info::template Sizes<FullCapacities>>
std::unique_ptr<ProofSubject> closed_proof(const SystemOptions& options, bool any_size, const Sizes& proved,
                                           const Sizes& explored, ProofCover cover = {}) {
  using Terms = FromTrees<typename Info::template Closed<Symbolic<Sizes>>>;
  using Numbers = typename Info::template Closed<Concrete<Sizes>>;
  const SystemEntry& entry = find_system(Info::name);
  return std::make_unique<CompiledProof<WithLemmas<Terms, Lemmas>>>(
      [=, &entry](Trees trees) {
        return WithLemmas<Terms, Lemmas>(
            Terms(closed_protocol<Info>(Symbolic<Sizes>(proved), entry, options, PlaceByName{}),
                  rule_trees(entry.describe, options, proved, trees), ""));
      },
      [=, &entry]() -> std::unique_ptr<Model> {
        Concrete<Sizes> k;
        k.sizes = explored;
        return std::make_unique<CompiledModel<WithLemmas<Numbers, Lemmas>>>(
            WithLemmas<Numbers, Lemmas>(closed_protocol<Info>(k, entry, options, PlaceByNumber{})),
            Reductions::none());
      },
      explored, any_size, std::move(cover));
}

// Both at the sizes of a run.
template <class Info, template <class> class Lemmas>
std::unique_ptr<ProofSubject> closed_proof(const SystemOptions& options, bool any_size) {
  const auto sizes = closed_sizes<Info>(find_system(Info::name), options);
  return closed_proof<Info, Lemmas>(options, any_size, sizes, sizes);
}

}  // namespace lockstep
