// A memory system with the most general client and a history, as something to be proved. Included by the
// translation unit of each system in proofs/systems only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "checker/explore/adaptor.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/capacities.hpp"
#include "proofs/client_text.hpp"
#include "proofs/history.hpp"
#include "proofs/proof_system.hpp"
#include "spec/program/client.hpp"

namespace lockstep {

// What of a word the client is asked to watch, what words are, and the largest amount that is explored.
struct Watched {
  Watch proved = Watch::first_word;
  Watch explored = Watch::first_word;
  symbolic::Words words = symbolic::Words::bits;
  int amounts = std::numeric_limits<int>::max();
};

// What is explored beside a proof: a thread on each of two CUs, one block of one word, the shortest queues.
template <class Sizes>
struct ExploredMemory {
  Sizes sizes;
  std::function<std::unique_ptr<Model>()> model;
};
template <class Info, template <class> class History, template <class> class Lemmas, class Sizes>
ExploredMemory<Sizes> explored_memory(const Sizes& proved, int variant, std::uint64_t faults, Watch watch,
                                      int amounts = std::numeric_limits<int>::max()) {
  using Numbers = Concrete<ClientSizes<Info, FullCapacities>>;
  Sizes small = proved;
  small.visit([]<class Tag>(Tag, int& size) {
    if (counts_things<Tag>) size = 1;
  });
  small.template set<ThreadTag>(2);
  small.template set<CuTag>(2);
  Info::default_sizes(small, variant);
  small.visit([&]<class Tag>(Tag, int& size) {
    if (Tag::fixed && counts_things<Tag>) size = 1;
    if (Amount<Tag>) size = std::min(size, amounts);
  });
  const auto model = [=]() -> std::unique_ptr<Model> {
    Numbers k;
    Sizes explored = small;
    k.sizes.visit([&]<class Tag>(Tag, int& size) { size = explored.template extent<Tag>(); });
    k.set_value_range({0, 1});
    Machine<Numbers> machine{};
    for (std::size_t t = 0; t < 2; ++t)
      machine.cu_of.image[t] = machine.predecessor_of.image[t] = static_cast<std::uint8_t>(t);
    OpenSystem<Info, Numbers> open(k, machine, faults, variant, watch);
    using Explored = WithLemmas<WithHistory<OpenSystem<Info, Numbers>, History>, Lemmas>;
    return std::make_unique<CompiledModel<Explored>>(
        Explored(WithHistory<OpenSystem<Info, Numbers>, History>(std::move(open))), Reductions::none());
  };
  return {small, model};
}

template <class Info, template <class> class History, template <class> class Lemmas,
          class Capacities = FullCapacities>
std::unique_ptr<ProofSubject> build_memory_proof(const SystemEntry& entry, const SystemOptions& options,
                                                 bool any_size, Watched watched = {}) {
  using Sizes = ClientSizes<Info, Capacities>;
  using Terms = Symbolic<Sizes>;
  const int variant = variant_index(entry, options.variant);
  const std::uint64_t faults = fault_mask(entry, options.faults);
  Sizes sizes;
  machine_to_prove(sizes);
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  // Any placement: who sits where is a function that nothing is known of.
  using Open = FromTrees<OpenSystem<Info, Terms>>;
  using Proved = WithLemmas<WithHistory<Open, History>, Lemmas>;
  const RuleTrees::Describe describe = trees_within<Info, Capacities>(entry);
  const RuleTrees changed = rule_trees(describe, options, sizes, Trees::of_changed);
  const auto make = [=](Trees trees) {
    OpenSystem<Info, Terms> open(Terms(sizes), named_machine<Terms>(), faults, variant, watched.proved);
    return Proved(WithHistory<Open, History>(Open(
        std::move(open), trees == Trees::of_changed ? changed : rule_trees(describe, options, sizes, trees),
        "system.memory")));
  };
  const auto explored =
      explored_memory<Info, History, Lemmas>(sizes, variant, faults, watched.explored, watched.amounts);
  return std::make_unique<CompiledProof<Proved>>(
      make, explored.model, explored.sizes, any_size,
      ProofCover{watched.words, client_text(watched.proved, watched.words), {}});
}

}  // namespace lockstep
