// A memory system with what is to be proved of its port (port_theorem.hpp), as the prover and the explorer both
// read it: the one with a client that may do anything, the other with one that does what tells mistakes apart.
// Included by the translation unit of each system in proofs/systems only.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/systems/sizes.hpp"
#include "proofs/any_client.hpp"
#include "proofs/history.hpp"
#include "proofs/port_theorem.hpp"
#include "proofs/proof_system.hpp"

namespace lockstep {

// The client of the prover, with a word that is watched. Blocks are interchangeable, and so are words: the
// first one stands for any.
template <class Info, class K>
class WatchedByAny : public AnyClient<Info, K> {
 public:
  using Base = AnyClient<Info, K>;
  using State = typename Base::State;
  using Base::Base;
  static typename K::template Ix<BlockTag> watched_block() { return K::template constant<BlockTag>(0); }
  static typename K::template Ix<WordTag> watched_word() { return K::template constant<WordTag>(0); }

  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, typename Base::MemoryState> of_memory;
    of_memory.keep(this->memory()).invariants(of_memory);
    v.part(of_memory, &State::memory);
  }
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return false; }
};

// A request of the explored client: at the watched word, or at none.
struct Asked {
  Operation operation = Operation::load;
  Order order = Order::plain;
  Scope scope = Scope::system;
  int datum = 0;
};

namespace detail {

// Stores of 1 and 2 and the RMW that swaps them (an exclusive or with 3) tell apart who wrote, and keep
// within 0 .. 3.
constexpr auto asked_of_explored = [] {
  std::array<Asked, 20> all{};
  std::size_t n = 0;
  all[n++] = {Operation::load, Order::plain, Scope::wg, 0};
  all[n++] = {Operation::store, Order::plain, Scope::wg, 1};
  all[n++] = {Operation::store, Order::plain, Scope::wg, 2};
  for (const Scope scope : {Scope::wg, Scope::agent, Scope::system}) {
    all[n++] = {Operation::load, Order::acquire, scope, 0};
    all[n++] = {Operation::store, Order::release, scope, 2};
    all[n++] = {Operation::rmw, Order::acq_rel, scope, 3};
    all[n++] = {Operation::fence, Order::release, scope, 0};
    all[n++] = {Operation::fence, Order::acquire, scope, 0};
  }
  all[n++] = {Operation::rmw, Order::relaxed, Scope::agent, 3};
  all[n++] = {Operation::rmw, Order::relaxed, Scope::wg, 3};
  return all;
}();

}  // namespace detail

struct AskedTag : FixedNumbered<"request", static_cast<int>(detail::asked_of_explored.size())> {};
inline constexpr AskedTag asked{};

template <class Sizes>
struct AskedSizesOf;
template <class Capacities, class... Tags>
struct AskedSizesOf<SizesWithin<Capacities, Tags...>> {
  using type = SizesWithin<Capacities, Tags..., AskedTag>;
};

template <class Info, class K>
class WatchedByFew {
 public:
  using Kind = K;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using AskedIx = typename K::template Ix<AskedTag>;
  struct State {
    // What the port does not store.
    typename K::template Table<AskedIx, ThreadTag> asked;
    MemoryState memory;
    BOOST_DESCRIBE_CLASS(State, (), (asked, memory), (), ())
  };

  WatchedByFew(K kind, Machine<K> machine, std::uint64_t fault_bits, int variant)
      : k_(std::move(kind)), machine_(std::move(machine)), fault_bits_(fault_bits), variant_(variant) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Machine<K>& machine() const { return machine_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  static typename K::template Ix<BlockTag> watched_block() { return K::template constant<BlockTag>(0); }
  static typename K::template Ix<WordTag> watched_word() { return K::template constant<WordTag>(0); }

  void start(StartList<K, State>& list) const {
    list.start(over(), [](State&) {});
  }
  void rules(RuleList<K, State>& list) const {
    list.rule(
        {.name = "asks", .unit = "thread"}, over(threads, lockstep::asked),
        [](const State& s, ThreadIx t, AskedIx) {
          const auto& port = s.memory.port(t);
          return !port.pending && !port.done;
        },
        [this](State& s, ThreadIx t, AskedIx what) {
          s.asked(t) = what;
          s.memory.port(t).pending = true;
          fill_in(s.memory.port(t).request, what);
        });
    list.rule(
        {.name = "takes its completion", .unit = "thread"}, over(threads),
        [](const State& s, ThreadIx t) { return s.memory.port(t).done; },
        [](State& s, ThreadIx t) {
          s.memory.port(t).done = false;
          s.memory.port(t).result = typename K::Value(0);
          s.asked(t) = AskedIx{};
        });
    RuleList<K, MemoryState> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    list.part(of_memory, &State::memory);
  }
  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, MemoryState> of_memory;
    of_memory.keep(memory()).invariants(of_memory);
    v.part(of_memory, &State::memory);
  }
  void restore(State& s) const {
    k_.for_each(threads, [&](ThreadIx t) {
      K::when(s.memory.port(t).pending || s.memory.port(t).done,
              [&] { fill_in(s.memory.port(t).request, s.asked(t)); });
    });
  }
  [[nodiscard]] bool proper_end(const State&) const { return false; }

 private:
  template <class Request>
  void fill_in(Request& q, const AskedIx& what) const {
    k_.for_each(lockstep::asked, [&](const AskedIx& i) {
      K::when(what == i, [&] {
        const Asked& a = detail::asked_of_explored.at(i.v);
        q.operation = a.operation;
        q.order = a.order;
        q.scope = a.scope;
        q.function = RmwFunction::bit_xor;
        q.a = typename K::Value(a.datum);
        q.returns = true;
      });
    });
  }

  K k_;
  Machine<K> machine_;
  std::uint64_t fault_bits_;
  int variant_;
};

// `Lemmas` has those of the system, and `theorem`.
template <class Info, class K, template <class, class> class Client, template <class> class History,
          template <class> class Lemmas>
using WithTheorem = WithLemmas<WithHistory<Client<Info, K>, History>, Lemmas>;

inline constexpr std::string_view client_of_theorem =
    "any: at any moment any idle thread asks for any operation, function, order and scope, with any words of "
    "32 bits, memory's at the start among them; a compare-and-swap counts as a write where it fails, too";

template <class Info, template <class> class History, template <class> class Lemmas>
std::unique_ptr<ProofSubject> build_theorem(const SystemOptions& options) {
  using Sizes = typename Info::template Sizes<FullCapacities>;
  using Terms = Symbolic<Sizes>;
  using AskedSizes = typename AskedSizesOf<Sizes>::type;
  using Numbers = Concrete<AskedSizes>;
  const SystemEntry& entry = find_system(Info::name);
  const int variant = variant_index(entry, options.variant);
  const std::uint64_t faults = fault_mask(entry, options.faults);
  Sizes sizes;
  machine_to_prove(sizes);
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  const auto make = [=] {
    using Proved = WithTheorem<Info, Terms, WatchedByAny, History, Lemmas>;
    return Proved(WithHistory<WatchedByAny<Info, Terms>, History>(
        WatchedByAny<Info, Terms>(Terms(sizes), named_machine<Terms>(), faults, variant)));
  };
  // The explorer's machine: a thread on each of two CUs of an agent, one block of one word, the shortest
  // queues.
  AskedSizes small;
  small.visit([]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, AskedTag> && counts_things<Tag>) size = 1;
  });
  small.template set<ThreadTag>(2);
  small.template set<CuTag>(2);
  const auto explore = [=]() -> std::unique_ptr<Model> {
    Numbers k;
    k.sizes = small;
    k.set_value_range({0, 3});
    Machine<Numbers> machine{};
    for (std::size_t t = 0; t < 2; ++t) machine.cu_of.image[t] = static_cast<std::uint8_t>(t);
    using Explored = WithTheorem<Info, Numbers, WatchedByFew, History, Lemmas>;
    return std::make_unique<CompiledModel<Explored>>(
        Explored(WithHistory<WatchedByFew<Info, Numbers>, History>(
            WatchedByFew<Info, Numbers>(k, machine, faults, variant))),
        Reductions::none());
  };
  return std::make_unique<CompiledProof<WithTheorem<Info, Terms, WatchedByAny, History, Lemmas>, AskedSizes>>(
      make, explore, small, false, ProofCover{symbolic::Words::bits, std::string(client_of_theorem), {}});
}

}  // namespace lockstep
