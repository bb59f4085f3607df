// A memory system with what is to be proved of its port (port_theorem.hpp), as the prover and the explorer
// both read it: the one with a client that may do anything, the other with one that does what tells mistakes
// apart. Included by the translation unit of each system in proofs/systems only.
#pragma once

#include <fmt/format.h>

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
#include "proofs/capacities.hpp"
#include "proofs/history.hpp"
#include "proofs/port_theorem.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/report.hpp"

namespace lockstep {

// The client of the prover, with a word that is watched. Blocks are interchangeable, and so are words: the
// first one stands for any.
template <class Info, class K>
class WatchedByAny : public AskedAnything<Info, K> {
 public:
  using Base = AskedAnything<Info, K>;
  using State = typename Base::State;
  using Base::Base;
  static typename K::template Ix<BlockTag> watched_block() { return K::template constant<BlockTag>(0); }
  static typename K::template Ix<WordTag> watched_word() { return K::template constant<WordTag>(0); }
};

// A request of the explored client, which asks for it at any word.
struct Asked {
  Operation operation = Operation::load;
  Order order = Order::plain;
  Scope scope = Scope::system;
  int datum = 0;
  bool operator==(const Asked&) const = default;
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

// Two of everything that is explored, for a state that is copied fast.
struct ExploredCapacities {
  template <class Tag>
  static constexpr int of =
      std::is_same_v<Tag, AskedTag> || !counts_things<Tag> ? Tag::capacity : std::min(Tag::capacity, 2);
};

template <class Info, class K>
class WatchedByFew {
 public:
  using Kind = K;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using AskedIx = typename K::template Ix<AskedTag>;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;
  struct State {
    // What the port does not store.
    typename K::template Table<AskedIx, ThreadTag> asked;
    typename K::template Table<Block, ThreadTag> block;
    typename K::template Table<Word, ThreadTag> word;
    MemoryState memory;
    BOOST_DESCRIBE_CLASS(State, (), (asked, block, word, memory), (), ())
  };

  // Of the requests, only those whose numbers are bits of `allowed`.
  WatchedByFew(K kind, Machine<K> machine, std::uint64_t fault_bits, int variant,
               std::uint32_t allowed = ~std::uint32_t{0})
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        fault_bits_(fault_bits),
        variant_(variant),
        allowed_(allowed) {}

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
        {.name = "asks", .unit = "thread"}, over(threads, lockstep::asked, blocks, words),
        [this](const State& s, ThreadIx t, AskedIx what, Block b, Word w) {
          const auto& port = s.memory.port(t);
          const bool nowhere = detail::asked_of_explored.at(what.v).operation == Operation::fence;
          const bool allowed = (allowed_ >> what.v & 1U) != 0 && (!nowhere || (b.v == 0 && w.v == 0));
          return !port.pending && !port.done && typename K::Bool(allowed);
        },
        [this](State& s, ThreadIx t, AskedIx what, Block b, Word w) {
          s.asked(t) = what;
          s.block(t) = b;
          s.word(t) = w;
          s.memory.port(t).pending = true;
          fill_in(s, t);
        });
    list.rule(
        {.name = "takes its completion", .unit = "thread"}, over(threads),
        [](const State& s, ThreadIx t) { return s.memory.port(t).done; },
        [](State& s, ThreadIx t) {
          s.memory.port(t).done = false;
          s.memory.port(t).result = typename K::Value(0);
          s.asked(t) = AskedIx{};
          s.block(t) = Block{};
          s.word(t) = Word{};
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
      K::when(s.memory.port(t).pending || s.memory.port(t).done, [&] { fill_in(s, t); });
    });
  }
  [[nodiscard]] bool proper_end(const State&) const { return false; }

 private:
  void fill_in(State& s, const ThreadIx& t) const {
    auto& q = s.memory.port(t).request;
    q.block = s.block(t);
    q.word = s.word(t);
    k_.for_each(lockstep::asked, [&](const AskedIx& i) {
      K::when(s.asked(t) == i, [&] {
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
  std::uint32_t allowed_;
};

// A run that must exist: a system in which nothing happens keeps every promise. Threads of the explored
// client ask for `requests` alone, which is enough for it.
template <class Port>
struct SoughtAt {
  std::string_view name;
  std::vector<Asked> requests;
  bool (*shows)(const Port& port, bool from_another);  // of a thread that has its completion, before any race
};

// A system with the promise at its port and nothing besides: neither its own properties nor lemmas.
template <class System, template <class> class History>
class Promising {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;
  template <class Open>
  using Port = typename History<Open>::Port;
  explicit Promising(System system) : system_(std::move(system)) {}
  [[nodiscard]] const Kind& kind() const { return system_.kind(); }
  void start(StartList<Kind, State>& s) const { system_.start(s); }
  void rules(RuleList<Kind, State>& r) const { system_.rules(r); }
  void invariants(InvariantList<Kind, State>& v) const {
    v.keep(PortTheorem<System, Port>{system_}).theorem(v);
  }
  void restore(State& s) const { system_.restore(s); }
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s); }

 private:
  System system_;
};

// A system that is searched for such a run: its one invariant is that there is none.
template <class System, class Port>
class Seeking {
 public:
  using Kind = typename System::Kind;
  using State = typename System::State;
  Seeking(System system, SoughtAt<Port> sought) : system_(std::move(system)), sought_(std::move(sought)) {}
  [[nodiscard]] const Kind& kind() const { return system_.kind(); }
  void start(StartList<Kind, State>& s) const { system_.start(s); }
  void rules(RuleList<Kind, State>& r) const { system_.rules(r); }
  void invariants(InvariantList<Kind, State>& v) const {
    v.invariant(sought_.name, [this](const State& s) {
      return !kind().exists(threads, [&](const auto& t) {
        const auto& port = s.system.memory.port(t);
        return port.done && !s.ghost.port.raced &&
               typename Kind::Bool(sought_.shows(port, Kind::truth(s.ghost.port.from_another(t))));
      });
    });
  }
  void restore(State& s) const { system_.restore(s); }
  [[nodiscard]] bool proper_end(const State& s) const { return system_.proper_end(s); }

 private:
  System system_;
  SoughtAt<Port> sought_;
};

template <class Port>
std::vector<SoughtAt<Port>> sought_at_port() {
  const Asked load{Operation::load, Order::plain, Scope::wg, 0};
  const auto store = [](int datum) { return Asked{Operation::store, Order::plain, Scope::wg, datum}; };
  const auto fence = [](Order order) { return Asked{Operation::fence, order, Scope::agent, 0}; };
  const Asked rmw{Operation::rmw, Order::acq_rel, Scope::agent, 3};
  const Asked release{Operation::store, Order::release, Scope::system, 2};
  return {
      {"a load returns 1, which another thread wrote",
       {load, store(1), fence(Order::release), fence(Order::acquire)},
       [](const Port& p, bool from_another) {
         return p.request.operation.v == Operation::load && from_another && p.result.v == 1;
       }},
      {"a load returns 2, which another thread wrote",
       {load, store(2), fence(Order::release), fence(Order::acquire)},
       [](const Port& p, bool from_another) {
         return p.request.operation.v == Operation::load && from_another && p.result.v == 2;
       }},
      {"a release at system scope completes",
       {release},
       [](const Port& p, bool) { return p.request.operation.v == Operation::store; }},
      {"an RMW sees what another thread's wrote",
       {rmw},
       [](const Port& p, bool from_another) { return from_another && p.result.v == 3; }},
  };
}

// Of a queue.
template <class Tag>
inline constexpr bool is_slot = Tag::fixed && !Tag::interchangeable;

inline std::uint32_t allowed_of(const std::vector<Asked>& requests) {
  std::uint32_t bits = 0;
  for (const Asked& one : requests) {
    for (std::size_t i = 0; i < detail::asked_of_explored.size(); ++i) {
      if (detail::asked_of_explored[i] == one) bits |= std::uint32_t{1} << i;
    }
  }
  return bits;
}

// What some model judges; `Port` are the ghosts of the explored system.
template <class Port, class Request>
std::uint32_t judged() {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < detail::asked_of_explored.size(); ++i) {
    Request q;
    q.operation = detail::asked_of_explored[i].operation;
    q.order = detail::asked_of_explored[i].order;
    q.scope = detail::asked_of_explored[i].scope;
    if (!Port::outside(q).v) bits |= std::uint32_t{1} << i;
  }
  return bits;
}

// Where the two threads of the explorer sit.
struct SmallMachine {
  std::string_view name;
  int cus;
  int agents;
  bool host;  // the second one is a CPU's
  int blocks = 1;
};
inline constexpr std::array<SmallMachine, 5> small_machines{
    SmallMachine{"two CUs", 2, 1, false},
    SmallMachine{"a CU and a CPU", 1, 1, true},
    SmallMachine{"two agents", 2, 2, false},
    SmallMachine{"one CU", 1, 1, false},
    SmallMachine{"two CUs and two blocks", 2, 1, false, 2},
};
// Requests that show much by themselves, and on which of these machines.
struct FewRequests {
  std::string_view name;
  std::size_t machine;
  std::vector<Asked> requests;
};
inline std::vector<FewRequests> few_requests() {
  const Asked load{Operation::load, Order::plain, Scope::wg, 0};
  const Asked store{Operation::store, Order::plain, Scope::wg, 1};
  const auto release = [](Scope scope) { return Asked{Operation::store, Order::release, scope, 2}; };
  const auto acquire = [](Scope scope) { return Asked{Operation::load, Order::acquire, scope, 0}; };
  const auto rmw = [](Scope scope) { return Asked{Operation::rmw, Order::acq_rel, scope, 3}; };
  const auto fence = [](Order order) { return Asked{Operation::fence, order, Scope::agent, 0}; };
  const std::vector<Asked> to_system{load, store, release(Scope::system), acquire(Scope::system)};
  const std::vector<Asked> to_agent{load, store, release(Scope::agent), acquire(Scope::agent)};
  return {
      {"loads, stores and an agent's RMWs", 0, {load, store, rmw(Scope::agent)}},
      {"loads and an agent's releases and acquires", 0, {load, release(Scope::agent), acquire(Scope::agent)}},
      {"loads and a system's releases and acquires",
       0,
       {load, release(Scope::system), acquire(Scope::system)}},
      {"loads, stores and an agent's fences", 0, {load, store, fence(Order::release), fence(Order::acquire)}},
      {"loads, stores and a system's releases and acquires", 1, to_system},
      {"loads, stores and a system's releases and acquires", 2, to_system},
      {"loads, stores and an agent's releases and acquires", 4, to_agent},
  };
}
template <class Info, class Sizes>
Sizes small_sizes(const SmallMachine& where, int variant) {
  Sizes sizes;
  sizes.visit([]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, AskedTag> && counts_things<Tag>) size = 1;
  });
  sizes.template set<ThreadTag>(2);
  sizes.template set<CuTag>(where.cus);
  sizes.template set<AgentTag>(where.agents);
  sizes.template set<BlockTag>(where.blocks);
  Info::default_sizes(sizes, variant);
  sizes.visit([]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, AskedTag> && counts_things<Tag> && is_slot<Tag>) size = 1;
  });
  return sizes;
}

// `Lemmas` has those of the system, and `theorem`.
template <class Client, template <class> class History, template <class> class Lemmas>
using WithTheorem = WithLemmas<WithHistory<Client, History>, Lemmas>;

inline std::string client_of_theorem(symbolic::Words words) {
  return fmt::format(
      "any: at any moment any idle thread asks for any operation, function, order and scope, with any "
      "words{}, "
      "memory's at the start among them; a compare-and-swap counts as a write where it fails, too",
      words == symbolic::Words::bits
          ? " of 32 bits"
          : " of any width, of which functions make anything that follows from them");
}

template <class Info, template <class> class History, template <class> class Lemmas,
          class Capacities = FullCapacities, symbolic::Words words = symbolic::Words::bits>
std::unique_ptr<ProofSubject> build_theorem(const SystemOptions& options) {
  using Sizes = typename Info::template Sizes<Capacities>;
  using Terms = Symbolic<Sizes>;
  using AskedSizes = typename AskedSizesOf<typename Info::template Sizes<ExploredCapacities>>::type;
  using Numbers = Concrete<AskedSizes>;
  const SystemEntry& entry = find_system(Info::name);
  const int variant = variant_index(entry, options.variant);
  const std::uint64_t faults = fault_mask(entry, options.faults);
  Sizes sizes;
  machine_to_prove(sizes);
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  // A tree computes what an RMW leaves.
  const symbolic::Words of_words = options.mutation ? symbolic::computed(words) : words;
  using Watched = FromTrees<WatchedByAny<Info, Terms>>;
  using Proved = WithTheorem<Watched, History, Lemmas>;
  const RuleTrees::Describe describe = trees_within<Info, Capacities>(entry);
  const RuleTrees changed = rule_trees(describe, options, sizes, Trees::of_changed);
  const auto make = [=](Trees trees) {
    return Proved(WithHistory<Watched, History>(
        Watched(WatchedByAny<Info, Terms>(Terms(sizes), named_machine<Terms>(), faults, variant),
                trees == Trees::of_changed ? changed : rule_trees(describe, options, sizes, trees),
                "system.memory")));
  };
  // The explorer's machines: two threads, a block of one word or two, the shortest queues.
  using Few = WatchedByFew<Info, Numbers>;
  using Observed = WithHistory<Few, History>;
  const auto observed = [=](const SmallMachine& where, std::uint32_t allowed) {
    Numbers k;
    k.sizes = small_sizes<Info, AskedSizes>(where, variant);
    k.set_value_range({0, 3});
    Machine<Numbers> machine{};
    for (std::size_t t = 0; t < 2; ++t) {
      machine.cu_of.image[t] = static_cast<std::uint8_t>(t % static_cast<std::size_t>(where.cus));
      machine.agent_of.image[t] = static_cast<std::uint8_t>(t % static_cast<std::size_t>(where.agents));
    }
    machine.is_host.member[1] = where.host;
    return Observed(Few(k, machine, faults, variant, allowed));
  };
  using Proof = CompiledProof<Proved, AskedSizes>;
  using Request = typename lockstep::Port<Numbers>::Request;
  const auto explore_on = [=](const SmallMachine& where) -> std::unique_ptr<Model> {
    using Explored = WithTheorem<Few, History, Lemmas>;
    return std::make_unique<CompiledModel<Explored>>(
        Explored(observed(where, judged<typename History<Few>::Port, Request>())), Reductions::none());
  };
  const auto promise_on = [=](const SmallMachine& where, std::uint32_t allowed) -> std::unique_ptr<Model> {
    using Explored = Promising<Observed, History>;
    return std::make_unique<CompiledModel<Explored>>(
        Explored(observed(where, allowed & judged<typename History<Few>::Port, Request>())),
        Reductions::none());
  };
  // The promise alone is looked at first, what breaks it being no mere lemma; and by few requests at a time.
  const auto machines = [=] {
    const auto text = [=](const SmallMachine& where) {
      return fmt::format("{} ({})", sizes_text(sizes_to_tell(small_sizes<Info, AskedSizes>(where, variant))),
                         where.name);
    };
    std::vector<ExploredMachine> all;
    for (const FewRequests& few : few_requests()) {
      const SmallMachine& where = small_machines.at(few.machine);
      all.push_back({fmt::format("{}, the promise alone, asking for {}", text(where), few.name),
                     promise_on(where, allowed_of(few.requests))});
    }
    for (const SmallMachine& where : small_machines)
      all.push_back(
          {fmt::format("{}, the promise alone", text(where)), promise_on(where, ~std::uint32_t{0})});
    for (const SmallMachine& where : small_machines) all.push_back({text(where), explore_on(where)});
    return all;
  };
  const auto seek = [=] {
    using PortState = Port<Numbers>;
    std::vector<SoughtRun> runs;
    for (const auto& sought : sought_at_port<PortState>()) {
      using System = Seeking<Observed, PortState>;
      runs.push_back({std::string(sought.name),
                      std::make_unique<CompiledModel<System>>(
                          System(observed(small_machines.front(), allowed_of(sought.requests)), sought),
                          Reductions::none())});
    }
    return runs;
  };
  return std::make_unique<Proof>(
      make, [=] { return explore_on(small_machines.front()); },
      small_sizes<Info, AskedSizes>(small_machines.front(), variant), false,
      ProofCover{of_words, client_of_theorem(of_words), {}, true, seek, machines});
}

}  // namespace lockstep
