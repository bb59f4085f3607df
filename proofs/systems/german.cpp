#include "spec/examples/german.hpp"

#include "checker/explore/adaptor.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/lemmas/german.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

using german::Info;

template <class K>
using Proved = WithLemmas<german::Protocol<K>, german::Lemmas>;

std::unique_ptr<ProofSubject> build(const SystemOptions& options, bool any_size) {
  using Sizes = Info::Sizes<FullCapacities>;
  const SystemEntry& entry = find_system(german::Info::name);
  Sizes sizes;
  Info::default_sizes(sizes, variant_index(entry, options.variant));
  apply_sizes(sizes, options, [](auto) { return false; });
  const std::uint64_t faults = fault_mask(entry, options.faults);
  return std::make_unique<CompiledProof<Proved<Symbolic<Sizes>>>>(
      [=] {
        return Proved<Symbolic<Sizes>>(german::Protocol<Symbolic<Sizes>>(Symbolic<Sizes>(sizes), faults));
      },
      [=]() -> std::unique_ptr<Model> {
        german::Protocol<Concrete<Sizes>> protocol;
        protocol.k.sizes = sizes;
        protocol.fault_bits = faults;
        return std::make_unique<CompiledModel<Proved<Concrete<Sizes>>>>(
            Proved<Concrete<Sizes>>(std::move(protocol)), Reductions::none());
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
