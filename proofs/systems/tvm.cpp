#include "spec/tasks/tvm.hpp"

#include "checker/explore/adaptor.hpp"
#include "checker/systems/closed_system.hpp"
#include "proofs/lemmas/tvm.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

using tvm::Info;

template <class Protocol>
using Proved = WithLemmas<Protocol, tvm::Lemmas>;

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  using Sizes = Info::Sizes<FullCapacities>;
  const SystemEntry& entry = find_system(tvm::Info::name);
  const Sizes sizes = closed_sizes<Info>(entry, options);
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
        k.sizes = sizes;
        return std::make_unique<CompiledModel<Proved<Numbers>>>(
            Proved<Numbers>(closed_protocol<Info>(k, entry, options, PlaceByNumber{})), Reductions::none());
      },
      sizes, any_size);
}

ProofEntry entry() {
  return {"tvm",
          "every task runs once, its continuation after all that it forked, and results are kept until then",
          "any number of cores, and every program that nests no deeper than there are masks", build};
}

const RegisteredProof registered(origin<tvm::Info>("proofs/systems/tvm.cpp"), entry);

}  // namespace

}  // namespace lockstep
