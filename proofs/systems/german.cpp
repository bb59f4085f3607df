#include "spec/examples/german.hpp"

#include "checker/explore/adaptor.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/lemmas/german.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

using german::Info;

template <class Protocol>
using Proved = WithLemmas<Protocol, german::Lemmas>;

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  using Sizes = Info::Sizes<FullCapacities>;
  const SystemEntry& entry = find_system(german::Info::name);
  Sizes sizes;
  Info::default_sizes(sizes, variant_index(entry, options.variant));
  apply_sizes(sizes, options, [](auto) { return false; });
  const std::uint64_t faults = fault_mask(entry, options.faults);
  using Terms = FromTrees<german::Protocol<Symbolic<Sizes>>>;
  using Numbers = german::Protocol<Concrete<Sizes>>;
  return std::make_unique<CompiledProof<Proved<Terms>>>(
      [=, &entry](Trees trees) {
        return Proved<Terms>(Terms(german::Protocol<Symbolic<Sizes>>(Symbolic<Sizes>(sizes), faults),
                                   rule_trees(entry.describe, options, sizes, trees), ""));
      },
      [=]() -> std::unique_ptr<Model> {
        Numbers protocol;
        protocol.k.sizes = sizes;
        protocol.fault_bits = faults;
        return std::make_unique<CompiledModel<Proved<Numbers>>>(Proved<Numbers>(std::move(protocol)),
                                                                Reductions::none());
      },
      sizes, any_size);
}

ProofEntry entry() {
  return {"german", "an exclusive copy is the only copy, and every copy is current",
          "any number of nodes and of data values", build};
}

const RegisteredProof registered(origin<german::Info>("proofs/systems/german.cpp"), entry);

}  // namespace

}  // namespace lockstep
