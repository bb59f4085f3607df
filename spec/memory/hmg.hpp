// HMG: hierarchical multi-GPU coherence. A GPU is made of modules (GPMs) with an L2 each. A block has a home
// module in each GPU, and one of these is the home of the system, where memory is. Stores are written through
// the homes, which send invalidations to those that they know to have copies; nobody acknowledges an
// invalidation, and no block is ever in a transient state. Only a release waits: until what was on its way
// before it has arrived.
//
// Source: Ren, Lustig, Bolotin, Jaleel, Villa, Nellans, "HMG: Extending Cache Coherence Protocols Across
// Modern Hierarchical Multi-GPU Systems", HPCA 2020: IV.B for NHCC, the flat protocol, V.B for HMG. The paper
// itself was not at hand: its abstract, a public summary section by section, HALCONE (4.1 and 6) and Dalmia's
// thesis (5.4.1) tell what follows, and docs/systems/hmg.md which of them says what.
//
//  - L1s are written through and kept coherent by software: an acquire drops the L1, and no more (IV.B).
//  - A plain load, and one at work-group scope, may hit any cache on its way, which leads by the L2 of its
//    module, the home in its GPU and that of the system to memory; who answers notes who has got a copy: the
//    home of a GPU the module, the home of the system the GPU and no module of it (V.A).
//  - A store passes the same way, updates what copies it meets, and has the sharers invalidated that are
//    others than where it comes from. An invalidation of a GPU is passed on to the modules that have copies.
//  - An atomic store or RMW beyond the work-group is performed at the home for its scope, and what it writes
//    goes the way of a store.
//  - A directory that needs room invalidates the sharers of what it forgets. Copies are dropped silently.
//  - A release is sent after the writes to the homes for its scope, and from there to all L2s of the scope
//    after the invalidations; it is answered when all have it.
//
// Ours:
//  - Links keep order: from a CU to the L2 of its module, and between two modules one for requests, one for
//    answers and invalidations.
//  - A block's homes are the module and the GPU that ask for it first (first touch, for pages in HMG); in
//    `any-home` they are anywhere.
//  - At the home of the system the L2 is one with memory.
//  - Stores do not allocate. What is fetched while a store passes is not kept, at any cache that the store
//    has passed: nothing that we have read says so, and it is needed (the faults "fill-survives-store...").
//  - Atomics at work-group scope are performed in L1 and written through.
//  - An atomic beyond the work-group waits until it is performed, a store, too, which gives SC to what
//    synchronizes. `posted` is as the paper has it: releases alone are acknowledged.
//  - A module has one CU here: what matters is who shares an L2 with whom, and hmg_monolithic.hpp has GPUs of
//    one module and any number of CUs, as HALCONE's evaluation (4.1) has HMG.
//  - The CPUs have no caches and access memory; a release of theirs waits until no invalidation is under way.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::hmg {

// Messages from a CU to the L2 of its module, and from one module to another: to a home, and from one.
struct L1Slot : Slots<"l1-messages", 4> {};
struct UpSlot : Slots<"up-messages", 4> {};
struct DownSlot : Slots<"down-messages", 4> {};

enum class UpKind : std::uint8_t { write, marker, read, atomic };
BOOST_DESCRIBE_ENUM(UpKind, write, marker, read, atomic)

enum class DownKind : std::uint8_t { fill, invalidation, marker };
BOOST_DESCRIBE_ENUM(DownKind, fill, invalidation, marker)

// Where a thread's read is: on its way to, or back from.
enum class ReadStage : std::uint8_t {
  none,
  to_module,
  to_home,
  to_system,
  from_system,
  from_home,
  from_module
};
BOOST_DESCRIBE_ENUM(ReadStage, none, to_module, to_home, to_system, from_system, from_home, from_module)

// Where a thread's synchronization stands. A release asks one kind of links after the other.
enum class Stage : std::uint8_t {
  idle,
  releasing,     // its marker is on the way to its L2
  to_homes,      // its markers are on the links from there to the homes in its GPU,
  to_systems,    // from these to homes of the system,
  between_gpus,  // on the links down from these,
  inside_gpus,   // and on those down to modules
  released,
  performing,    // its atomic is on its way
  invalidating,  // an acquire is to drop L1
};
BOOST_DESCRIBE_ENUM(Stage, idle, releasing, to_homes, to_systems, between_gpus, inside_gpus, released,
                    performing, invalidating)

inline constexpr std::array variants{
    Variant{"default", "atomics beyond the work-group wait until they are performed"},
    Variant{"any-home", "default, with homes anywhere, as a hash of the address may have them"},
    Variant{"posted", "any-home, and no atomic store waits: releases alone are acknowledged (IV.A)"},
};
// Of GPUs of one module.
inline constexpr std::array monolithic_variants{
    variants[0],
    variants[1],
    variants[2],
    Variant{"rdma", "an L2 keeps nothing of another GPU's memory (RDMA-WB-NC of HALCONE 4.1)"},
};

// Those of GPUs of one module as well.
inline constexpr std::array common_faults{
    Fault{"release-not-awaited", "a release goes on when it is sent"},
    Fault{"invalidations-not-awaited", "a release waits for the writes before it and for no invalidation"},
    Fault{"marker-overtakes-writes", "a release is sent ahead of the writes on its link"},
    Fault{"release-stops-at-gpu-home", "a release at system scope is answered by the homes in its GPU"},
    Fault{"acquire-keeps-l1", "an acquire does not drop L1"},
    Fault{"fill-survives-acquire", "what is fetched while L1 is dropped is kept there"},
    Fault{"fill-survives-store", "what is fetched while a store passes L1 is kept there"},
    Fault{"fill-survives-store-at-home",
          "what a GPU's home fetches while a store passes it is kept in the GPU"},
    Fault{"copy-not-updated", "a store leaves the old word in the L1 that it passes"},
    Fault{"l2-copy-not-updated", "a store leaves the old word in the L2 that it passes"},
    Fault{"gpus-not-invalidated", "a write leaves the copies of other GPUs"},
    Fault{"gpu-not-noted", "the system's home does not note which GPU gets a copy"},
    Fault{"atomic-keeps-l1-copy", "an atomic that writes beyond L1 leaves the old copy there"},
    Fault{"atomic-keeps-home-copy", "an atomic that writes beyond its GPU leaves the old copies there"},
    Fault{"system-load-hits-l2", "an atomic load at system scope is answered by its GPU's home"},
    Fault{"entry-forgotten", "a directory that needs room forgets who has copies"},
    Fault{"invalidation-overtakes", "an invalidation arrives ahead of the fills sent before it"},
    Fault{"cpu-release-not-awaited", "a CPU's release goes on whatever invalidations are on their way"},
};
inline constexpr std::array own_faults{
    Fault{"fill-survives-store-at-module",
          "what is fetched while a store passes a module's L2 is kept there"},
    Fault{"atomic-keeps-module-copy", "an atomic that writes beyond a module leaves the old copy there"},
    Fault{"modules-not-invalidated", "a write leaves the copies of other modules of its GPU"},
    Fault{"invalidation-not-passed-on", "the home in a GPU keeps an invalidation from its modules"},
    Fault{"module-not-noted", "the home in a GPU does not note which module gets a copy"},
    Fault{"module-noted-early", "the home in a GPU notes a module when it asks, not when it is answered"},
    Fault{"agent-load-hits-module", "an atomic load at agent scope is answered by the L2 of its module"},
};
inline constexpr auto faults = faults_with(common_faults, own_faults);

// `ModuleTag`: what has an L2, each CU, or each GPU.
template <class K, class ModuleTag = CuTag, const auto& fault_list = faults,
          const auto& variant_list = variants>
struct Protocol : MemorySystem<K, fault_list, variant_list> {
  using Base = MemorySystem<K, fault_list, variant_list>;
  using Base::agent, Base::cu, Base::on_cpu, Base::on_gpu, Base::every, Base::same, Base::word_of;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Cu, typename Base::Agent;
  using Module = typename K::template Ix<ModuleTag>;
  using MaybeModule = typename K::template Maybe<ModuleTag>;
  using MaybeAgent = typename K::template Maybe<AgentTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  // A GPU has several modules, so a block has a home in each GPU, with links to it.
  static constexpr bool several = std::is_same_v<ModuleTag, CuTag>;
  static constexpr ModuleTag modules{};

  struct Line {
    Bool present;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, data), (), ())
  };
  struct Up {
    Enum<UpKind> kind;
    Block block;
    ThreadIx thread;  // of a marker, a read, or an atomic that writes
    Mask mask;        // of a write
    Data data;
    BOOST_DESCRIBE_CLASS(Up, (), (kind, block, thread, mask, data), (), ())
  };
  struct Down {
    Enum<DownKind> kind;
    Block block;
    ThreadIx thread;  // of a fill, whose data are in `read`, or a marker
    BOOST_DESCRIBE_CLASS(Down, (), (kind, block, thread), (), ())
  };
  struct Read {
    Enum<ReadStage> stage;
    Data data;
    Bool stale1;  // not to be kept in L1
    Bool stale2;  // not in the module's L2
    Bool stale3;  // not in the GPU's home, nor in any L2 of the GPU
    BOOST_DESCRIBE_CLASS(Read, (), (stage, data, stale1, stale2, stale3), (), ())
  };
  struct Inside {
    typename K::template Table<Bool, ModuleTag, BlockTag> sharer;  // as the home in the GPU knows
    typename K::template Table<MaybeModule, AgentTag, BlockTag> home;
    BOOST_DESCRIBE_CLASS(Inside, (), (sharer, home), (), ())
  };
  struct OneModule {
    BOOST_DESCRIBE_CLASS(OneModule, (), (), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Enum<Stage>, ThreadTag> stage;
    typename K::template Table<Read, ThreadTag> read;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<typename K::template Fifo<Up, L1Slot>, CuTag> link1;
    typename K::template Table<Line, ModuleTag, BlockTag> l2;
    typename K::template Table<typename K::template Fifo<Up, UpSlot>, ModuleTag, ModuleTag> up;
    typename K::template Table<typename K::template Fifo<Down, DownSlot>, ModuleTag, ModuleTag> down;
    typename K::template Table<Bool, ThreadTag, ModuleTag, ModuleTag>
        awaited;  // the thread's marker on a link
    std::conditional_t<several, Inside, OneModule> gpu;
    typename K::template Table<Bool, AgentTag, BlockTag> sharer;  // as the system's home knows
    typename K::template Table<MaybeAgent, BlockTag> owner;       // the GPU in which that is
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (),
                         (port, stage, read, l1, link1, l2, up, down, awaited, gpu, sharer, owner, memory),
                         (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const { return s.memory(b)(w); }
  // For simulators: the block is in the memory of that GPU, as if somebody there had touched it first.
  void place(State& s, Block b, Agent a) const { s.owner(b) = a; }
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(cus, [&](Cu c) { return s.link1(c).empty(); }) &&
           every(modules, modules, [&](Module m, Module n) { return s.up(m, n).empty(); });
  }

  void rules(Rules& r) const {
    if (homes_are_anywhere()) home_choices(r);
    l1_rules(r);
    if constexpr (several) module_rules(r);
    home_rules(r, FromL1{*this});
    if constexpr (several) home_rules(r, FromModule{*this});
    if (keeps_what_is_remote()) {
      home_copy_rules(r, FromL1{*this});
      if constexpr (several) home_copy_rules(r, FromModule{*this});
    }
    system_rules(r, FromL1{*this});
    system_rules(r, FromModule{*this});
    answer_rules(r);
    release_rules(r);
    acquire_rules(r);
    replacement_rules(r);
    cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("homes know of every copy, or have it invalidated", [=, this](const State& s) {
      return every(modules, blocks, [&](Module m, Block b) {
        return !s.l2(m, b).present || is_known(s, m, b) || invalidation_comes(s, m, b);
      });
    });
    v.invariant("a copy with no write or invalidation on its way is its home's", [=, this](const State& s) {
      return every(modules, blocks, [&](Module m, Block b) {
        return !s.l2(m, b).present || write_goes(s, m, b) || invalidation_comes(s, m, b) ||
               k.forall(modules, [&](Module h) {
                 return !serves(s, h, m, b) || (!is_system_home(s, h, b) && !s.l2(h, b).present) ||
                        same(s.l2(m, b).data, held(s, h, b));
               });
      });
    });
  }

  // ---- who sits where, and who is home ------------------------------------------------------------------

  [[nodiscard]] Module module(ThreadIx t) const {
    if constexpr (several) {
      return cu(t);
    } else {
      return agent(t);
    }
  }
  [[nodiscard]] Module module_of(Cu c) const {
    if constexpr (several) {
      return c;
    } else {
      return machine.agent_of(c);
    }
  }
  [[nodiscard]] Agent gpu_of(Module m) const {
    if constexpr (several) {
      return machine.agent_of(m);
    } else {
      return m;
    }
  }
  // The system's home is in the GPU.
  [[nodiscard]] static Bool owns(const State& s, Agent a, Block b) { return s.owner(b) == MaybeAgent(a); }
  [[nodiscard]] Bool is_home(const State& s, Module m, Block b) const {
    if constexpr (several) {
      return s.gpu.home(gpu_of(m), b) == MaybeModule(m);
    } else {
      return true;
    }
  }
  [[nodiscard]] bool homes_are_anywhere() const { return is("any-home") || is("posted"); }
  // "First touch".
  void touch(State& s, ThreadIx t, Block b) const {
    if (homes_are_anywhere()) return;
    const Agent a = agent(t);
    k.when(!s.owner(b).has(), [&] { s.owner(b) = a; });
    if constexpr (several) {
      k.when(!s.gpu.home(a, b).has(), [&] { s.gpu.home(a, b) = module(t); });
    }
  }
  // The homes that a request of the thread is for are known.
  [[nodiscard]] Bool has_homes(const State& s, ThreadIx t) const {
    if (!homes_are_anywhere()) return true;
    const Block b = s.port(t).request.block;
    const Bool known = s.owner(b).has();
    if constexpr (several) {
      return known && k.forall(agents, [&](Agent a) { return s.gpu.home(a, b).has(); });
    } else {
      return known;
    }
  }
  // Of a block that a thread asks for.
  void home_choices(Rules& r) const {
    const auto asks_for_block = [this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && !asks(s, t, Operation::fence);
    };
    r.rule(
        {.name = "a block gets its home", .unit = "memory", .source = "V.A"}, over(threads, agents),
        [=](const State& s, ThreadIx t, Agent) {
          return asks_for_block(s, t) && !s.owner(s.port(t).request.block).has();
        },
        [](State& s, ThreadIx t, Agent a) { s.owner(s.port(t).request.block) = a; });
    if constexpr (several) {
      r.rule(
          {.name = "a block gets its home in a GPU", .unit = "L2", .source = "V.A"}, over(threads, modules),
          [=, this](const State& s, ThreadIx t, Module m) {
            return asks_for_block(s, t) && !s.gpu.home(gpu_of(m), s.port(t).request.block).has();
          },
          [this](State& s, ThreadIx t, Module m) { s.gpu.home(gpu_of(m), s.port(t).request.block) = m; });
    }
  }
  [[nodiscard]] Bool is_system_home(const State& s, Module m, Block b) const {
    return owns(s, gpu_of(m), b) && is_home(s, m, b);
  }
  // `h` is where module `m`, which is not the system's home, has the block from: the home in its GPU, or, if
  // it is that itself, the system's.
  [[nodiscard]] Bool serves(const State& s, Module h, Module m, Block b) const {
    return h != m && is_home(s, h, b) &&
           ((gpu_of(h) == gpu_of(m)) || (owns(s, gpu_of(h), b) && is_home(s, m, b)));
  }
  [[nodiscard]] Data held(const State& s, Module h, Block b) const {
    const Bool from_memory = is_system_home(s, h, b);
    Data data;
    k.for_each(words, [&](Word w) {
      data(w) = K::select(from_memory, Value(s.memory(b)(w)), Value(s.l2(h, b).data(w)));
    });
    return data;
  }
  [[nodiscard]] Bool is_known(const State& s, Module m, Block b) const {
    const Bool of_gpu = is_home(s, m, b) && s.sharer(gpu_of(m), b);
    if constexpr (several) {
      return of_gpu || s.gpu.sharer(m, b);
    } else {
      return of_gpu;
    }
  }
  [[nodiscard]] Bool invalidation_comes(const State& s, Module m, Block b) const {
    return k.exists(modules, [&](Module h) {
      return K::contains(s.down(h, m),
                         [&](const Down& d) { return d.kind == DownKind::invalidation && d.block == b; });
    });
  }
  [[nodiscard]] Bool write_goes(const State& s, Module m, Block b) const {
    return k.exists(modules, [&](Module h) {
      return K::contains(s.up(m, h), [&](const Up& u) { return u.kind == UpKind::write && u.block == b; });
    });
  }

 private:
  // ---- links --------------------------------------------------------------------------------------------

  [[nodiscard]] Bool crosses(Module from, Module to) const { return gpu_of(from) != gpu_of(to); }
  // The home in the module's GPU; the home of the system.
  [[nodiscard]] Bool is_home_for(const State& s, Module h, Module m, Block b) const {
    return gpu_of(h) == gpu_of(m) && is_home(s, h, b);
  }
  void send_to_home(State& s, Module from, const Up& m) const {
    k.for_each(modules, [&](Module h) {
      k.when(is_home_for(s, h, from, m.block), [&] { k.push(s.up(from, h), m); });
    });
  }
  [[nodiscard]] Bool room_to_home(const State& s, Module from, Block b) const {
    return k.forall(modules, [&](Module h) { return !is_home_for(s, h, from, b) || !k.full(s.up(from, h)); });
  }
  void send_to_system(State& s, Module from, const Up& m) const {
    k.for_each(modules,
               [&](Module h) { k.when(is_system_home(s, h, m.block), [&] { k.push(s.up(from, h), m); }); });
  }
  [[nodiscard]] Bool room_to_system(const State& s, Module from, Block b) const {
    return k.forall(modules, [&](Module h) { return !is_system_home(s, h, b) || !k.full(s.up(from, h)); });
  }
  // Room for whatever a home sends down: to modules of its GPU, which take it in whatever else is full, and
  // to all.
  [[nodiscard]] Bool room_inside(const State& s, Module h) const {
    if constexpr (several) {
      return k.forall(modules, [&](Module m) { return crosses(h, m) || !k.full(s.down(h, m)); });
    } else {
      return true;
    }
  }
  [[nodiscard]] Bool room_below(const State& s, Module h) const {
    return k.forall(modules, [&](Module m) { return !k.full(s.down(h, m)); });
  }

  static Up message(UpKind kind, Block b, ThreadIx t) {
    Up m;
    m.kind = kind;
    m.block = b;
    m.thread = t;
    return m;
  }
  static Down answer(DownKind kind, Block b, ThreadIx t) {
    Down m;
    m.kind = kind;
    m.block = b;
    m.thread = t;
    return m;
  }
  [[nodiscard]] Up write_message(Block b, Word word, const Value& value) const {
    Up m;
    m.kind = UpKind::write;
    m.block = b;
    k.at(words, word, [&](Word w) {
      m.mask(w) = true;
      m.data(w) = value;
    });
    return m;
  }
  void overlay(Data& data, const Up& m) const {
    k.for_each(words, [&](Word w) { k.when(m.mask(w), [&] { data(w) = m.data(w); }); });
  }
  // Of a copy that a write passes, if there is one.
  void update(Line& line, const Up& m) const {
    k.when(line.present, [&] { overlay(line.data, m); });
  }
  static void install(Line& line, const Data& data) {
    line.present = true;
    line.data = data;
  }

  // ---- what is fetched while a store passes -------------------------------------------------------------

  void stale_in_l1(State& s, Cu c, Block b) const {
    if (fault("fill-survives-store")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      k.when(!machine.is_host(t) && cu(t) == c && s.read(t).stage != ReadStage::none,
             [&] { s.read(t).stale1 = true; });
    });
  }
  void stale_in_module(State& s, Module m, Block b) const {
    if (fault("fill-survives-store-at-module")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      const auto& stage = s.read(t).stage;
      k.when(!machine.is_host(t) && module(t) == m && stage != ReadStage::none &&
                 stage != ReadStage::to_module && stage != ReadStage::from_module,
             [&] { s.read(t).stale2 = true; });
    });
  }
  void stale_in_gpu(State& s, Agent a, Block b) const {
    if (fault("fill-survives-store-at-home")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      const auto& stage = s.read(t).stage;
      k.when(!machine.is_host(t) && agent(t) == a &&
                 (stage == ReadStage::to_system || stage == ReadStage::from_system),
             [&] { s.read(t).stale3 = true; });
    });
  }

  // ---- invalidations: V.B -------------------------------------------------------------------------------

  template <class Link>
  void send_down(Link& link, const Down& m) const {
    if (fault("invalidation-overtakes")) {
      k.push_front(link, m);
    } else {
      k.push(link, m);
    }
  }
  // Home `h` has the other modules of its GPU that share the block invalidated, but for the one that a write
  // comes from.
  void invalidate_modules(State& s, Module h, Block b, MaybeModule but) const {
    if constexpr (several) {
      const auto shares = [&](Module m) {
        return s.gpu.sharer(m, b) && gpu_of(m) == gpu_of(h) && MaybeModule(m) != but;
      };
      k.for_each(modules, [&](Module m) {
        k.when(shares(m), [&] {
          send_down(s.down(h, m), answer(DownKind::invalidation, b, ThreadIx{}));
          s.gpu.sharer(m, b) = false;
        });
      });
    }
  }
  // The system's home does so with the homes in other GPUs.
  void invalidate_gpus(State& s, Module h, Block b, MaybeAgent but) const {
    k.for_each(modules, [&](Module m) {
      k.when(s.sharer(gpu_of(m), b) && MaybeAgent(gpu_of(m)) != but && is_home(s, m, b),
             [&] { send_down(s.down(h, m), answer(DownKind::invalidation, b, ThreadIx{})); });
    });
    k.for_each(agents, [&](Agent a) { k.when(MaybeAgent(a) != but, [&] { s.sharer(a, b) = false; }); });
  }
  void have_invalidated(State& s, Module h, Block b, MaybeModule from) const {
    if constexpr (several) {
      if (!fault("modules-not-invalidated")) invalidate_modules(s, h, b, from);
    }
  }

  // ---- stores -------------------------------------------------------------------------------------------

  // A write reaches the system's home `h`, from a module or from a CPU.
  void write_at_system(State& s, const Up& m, Module h, MaybeModule from, MaybeAgent from_gpu) const {
    overlay(s.memory(m.block), m);
    if (!fault("gpus-not-invalidated")) invalidate_gpus(s, h, m.block, from_gpu);
    have_invalidated(s, h, m.block, from);
  }
  // A write of module `from` meets the home in its GPU, which passes it on.
  void write_at_home(State& s, const Up& m, Module h, Module from) const {
    if (!fault("l2-copy-not-updated")) update(s.l2(h, m.block), m);
    have_invalidated(s, h, m.block, from);
    stale_in_gpu(s, gpu_of(h), m.block);
    send_to_system(s, h, m);
  }
  // An atomic store or RMW that is performed beyond a cache leaves no copy there, nor what is being fetched.
  void leave_module(State& s, Module m, Block b) const {
    if (fault("atomic-keeps-module-copy")) return;
    s.l2(m, b) = Line{};
    stale_in_module(s, m, b);
  }
  void leave_gpu(State& s, Module h, Module from, Block b) const {
    if (fault("atomic-keeps-home-copy")) return;
    s.l2(h, b) = Line{};
    have_invalidated(s, h, b, from);
    stale_in_gpu(s, gpu_of(h), b);
  }

  // ---- L1 -----------------------------------------------------------------------------------------------

  [[nodiscard]] const Line& copy1(const State& s, ThreadIx t) const {
    return s.l1(cu(t), s.port(t).request.block);
  }
  // A store at L1: the copy is updated, the write goes on.
  void write_at_l1(State& s, ThreadIx t, const Up& m) const {
    if (!fault("copy-not-updated")) update(s.l1(cu(t), m.block), m);
    stale_in_l1(s, cu(t), m.block);
    touch(s, t, m.block);
    k.push(s.link1(cu(t)), m);
  }
  void fetch(State& s, ThreadIx t) const {
    const Block b = s.port(t).request.block;
    touch(s, t, b);
    k.push(s.link1(cu(t)), message(UpKind::read, b, t));
    s.read(t).stage = ReadStage::to_module;
  }

  void l1_rules(Rules& r) const {
    const auto local = [=, this](const State& s, ThreadIx t, Operation operation) {
      return on_gpu(s, t) && asks(s, t, operation) && !atomic_beyond_group(s, t);
    };
    const auto can_send = [=, this](const State& s, ThreadIx t) {
      return !k.full(s.link1(cu(t))) && has_homes(s, t);
    };
    r.rule(
        {.name = "load hits L1", .unit = "L1", .source = "IV.A"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return local(s, t, Operation::load) && s.read(t).stage == ReadStage::none && copy1(s, t).present;
        },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy1(s, t).data, s.port(t).request.word));
        });
    r.rule(
        {.name = "load misses L1", .unit = "L1", .source = "IV.A"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::load) && s.read(t).stage == ReadStage::none &&
                 s.stage(t) == Stage::idle && (atomic_beyond_group(s, t) || !copy1(s, t).present) &&
                 can_send(s, t);
        },
        [=, this](State& s, ThreadIx t) { fetch(s, t); });
    r.rule(
        {.name = "store writes through L1", .unit = "L1", .source = "IV.A"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return local(s, t, Operation::store) && can_send(s, t); },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          write_at_l1(s, t, write_message(q.block, q.word, q.a));
          complete<K>(s.port(t));
        });
    r.rule(
        {.name = "RMW at L1 fetches its block", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return local(s, t, Operation::rmw) && s.read(t).stage == ReadStage::none && !copy1(s, t).present &&
                 can_send(s, t);
        },
        [=, this](State& s, ThreadIx t) { fetch(s, t); });
    r.rule(
        {.name = "L1 performs an RMW", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return local(s, t, Operation::rmw) && s.read(t).stage == ReadStage::none && copy1(s, t).present &&
                 can_send(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const Value old = word_of(copy1(s, t).data, q.word);
          write_at_l1(s, t, write_message(q.block, q.word, rmw_result(k, q, old)));
          complete<K>(s.port(t), old);
        });
    r.rule(
        {.name = "atomic leaves L1", .unit = "L1", .source = "V.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && writes(s, t) && atomic_beyond_group(s, t) && release_done(s, t) &&
                 can_send(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          touch(s, t, q.block);
          if (!fault("atomic-keeps-l1-copy")) {
            s.l1(cu(t), q.block) = Line{};
            stale_in_l1(s, cu(t), q.block);
          }
          // What nobody waits for is a write like any other.
          const Bool posted = asks(s, t, Operation::store) && Bool(is("posted"));
          k.when(
              posted,
              [&] {
                k.push(s.link1(cu(t)), write_message(q.block, q.word, q.a));
                s.stage(t) = Stage::idle;
                complete<K>(s.port(t));
              },
              [&] {
                k.push(s.link1(cu(t)), message(UpKind::atomic, q.block, t));
                s.stage(t) = Stage::performing;
              });
        });
    r.rule(
        {.name = "fill reaches L1", .unit = "L1", .source = "IV.A"}, over(threads),
        [](const State& s, ThreadIx t) { return s.read(t).stage == ReadStage::from_module; },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          k.when(!s.read(t).stale1, [&] { install(s.l1(cu(t), q.block), s.read(t).data); });
          const Value word = word_of(s.read(t).data, q.word);
          s.read(t) = Read{};
          k.when(q.operation == Operation::load, [&] {
            s.port(t).result = word;
            performed(s, t);
          });
        });
  }

  // ---- the L2 of a module that is not the block's home --------------------------------------------------

  // A load misses in all caches before the home for its scope.
  [[nodiscard]] Bool hits_module(const State& s, ThreadIx t, Module m, Block b) const {
    const Bool may = fault("agent-load-hits-module") ? !atomic_to_system(s, t) : !atomic_beyond_group(s, t);
    return s.l2(m, b).present && may;
  }
  void module_rules(Rules& r) const {
    const auto from_cu = [](auto& s, Cu c) -> auto& {
      return s.link1(c);
    };
    // It is a message of the kind, for another module.
    const auto elsewhere = [=, this](const State& s, Cu c, const Up& m, UpKind kind) {
      return m.kind == kind && !is_home(s, c, m.block);
    };
    r.triggered(
        {.name = "write passes its module", .unit = "L2", .source = "V.B"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return elsewhere(s, c, m, UpKind::write) && room_to_home(s, c, m.block);
        },
        [=, this](State& s, Cu c, const Up& m) {
          if (!fault("l2-copy-not-updated")) update(s.l2(c, m.block), m);
          stale_in_module(s, c, m.block);
          send_to_home(s, c, m);
        });
    r.triggered(
        {.name = "read hits its module", .unit = "L2", .source = "V.B"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return elsewhere(s, c, m, UpKind::read) && hits_module(s, m.thread, c, m.block);
        },
        [](State& s, Cu c, const Up& m) {
          s.read(m.thread).stage = ReadStage::from_module;
          s.read(m.thread).data = s.l2(c, m.block).data;
        });
    r.triggered(
        {.name = "read misses its module", .unit = "L2", .source = "V.B"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return elsewhere(s, c, m, UpKind::read) && !hits_module(s, m.thread, c, m.block) &&
                 room_to_home(s, c, m.block);
        },
        [=, this](State& s, Cu c, const Up& m) {
          s.read(m.thread).stage = ReadStage::to_home;
          send_to_home(s, c, m);
        });
    r.triggered(
        {.name = "atomic passes its module", .unit = "L2", .source = "V.B"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return elsewhere(s, c, m, UpKind::atomic) && room_to_home(s, c, m.block);
        },
        [=, this](State& s, Cu c, const Up& m) {
          leave_module(s, c, m.block);
          send_to_home(s, c, m);
        });
  }

  // ---- homes --------------------------------------------------------------------------------------------
  //
  // A message comes from the home's own L1s, or from another module.

  struct Way {
    Module from;
    Module to;
  };
  struct NamesAtHome {
    std::string_view write, answer, miss, perform, fetch, pass;
  };
  struct NamesAtSystem {
    std::string_view write, answer, perform;
  };
  struct FromL1 {
    const Protocol& protocol;
    static constexpr bool is_far = false;
    static constexpr auto where = over(cus);
    static constexpr NamesAtHome at_home{
        .write = "write passes its GPU's home",
        .answer = "home answers a read",
        .miss = "read misses at home",
        .perform = "home performs an atomic",
        .fetch = "home fetches an atomic's block",
        .pass = "home passes an atomic on",
    };
    static constexpr NamesAtSystem at_system{
        .write = "write reaches memory",
        .answer = "memory answers a read",
        .perform = "memory performs an atomic",
    };
    static auto& link(auto& s, Cu c) { return s.link1(c); }
    [[nodiscard]] Way way(Cu c) const { return {protocol.module_of(c), protocol.module_of(c)}; }
    [[nodiscard]] Bool arrives(const State& s, Cu c, const Up& m) const {
      return protocol.is_home(s, protocol.module_of(c), m.block);
    }
  };
  struct FromModule {
    const Protocol& protocol;
    static constexpr bool is_far = true;
    static constexpr auto where = over(modules, modules);
    static constexpr NamesAtHome at_home{
        .write = "module's write passes its GPU's home",
        .answer = "home answers a module's read",
        .miss = "module's read misses at home",
        .perform = "home performs a module's atomic",
        .fetch = "home fetches for a module's atomic",
        .pass = "home passes a module's atomic on",
    };
    static constexpr NamesAtSystem at_system{
        .write = "write reaches memory over a link",
        .answer = "memory answers a read over a link",
        .perform = "memory performs an atomic over a link",
    };
    static auto& link(auto& s, Module from, Module to) { return s.up(from, to); }
    [[nodiscard]] static Way way(Module from, Module to) { return {from, to}; }
    [[nodiscard]] static Bool arrives(const State&, Module, Module, const Up&) { return true; }
  };

  // Adds a rule of a home for the messages of a source: `f(state, way, message)`, of a guard and an action.
  template <class Source, class Guard, class Action>
  void rule_at(Rules& r, const Source& source, std::string_view unit, std::string_view name, Guard guard,
               Action action) const {
    const auto with = [source](auto f) {
      return [source, f](auto& s, const auto&... where) {
        if constexpr (sizeof...(where) == 2) {
          return [&](const auto& c, const Up& m) { return f(s, source.way(c), m); }(where...);
        } else {
          return [&](const auto& from, const auto& to, const Up& m) {
            return f(s, source.way(from, to), m);
          }(where...);
        }
      };
    };
    r.triggered(
        {.name = name, .unit = unit, .source = "V.B"}, Source::where,
        [](auto& s, const auto&... where) -> auto& { return Source::link(s, where...); },
        [source, guard = with(guard)](const State& s, const auto&... where) {
          return source.arrives(s, where...) && guard(s, where...);
        },
        with(action));
  }

  // The answer to a read, from the home `h` in its thread's GPU, which had the block or has it fetched.
  void answer_read(State& s, ThreadIx t, Module h, Block b, const Data& data, bool fetched) const {
    s.read(t).data = data;
    if constexpr (several) {
      const Module m = module(t);
      k.when(
          m == h, [&] { s.read(t).stage = ReadStage::from_module; },
          [&] {
            if (!fault("module-not-noted") && !(fault("module-noted-early") && fetched)) {
              s.gpu.sharer(m, b) = true;
            }
            k.push(s.down(h, m), answer(DownKind::fill, b, t));
            s.read(t).stage = ReadStage::from_home;
          });
    } else {
      s.read(t).stage = ReadStage::from_module;
    }
  }
  [[nodiscard]] Bool room_for_answer(const State& s, ThreadIx t, Module h) const {
    if constexpr (several) {
      return !k.full(s.down(h, module(t)));
    } else {
      return true;
    }
  }
  // What a write, or an atomic that has found `old`, leaves; the atomic is over.
  [[nodiscard]] Up written_by(const State& s, ThreadIx t, const Value& old) const {
    const auto& q = s.port(t).request;
    return write_message(q.block, q.word,
                         K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a)));
  }
  void end_atomic(State& s, ThreadIx t, const Value& old) const {
    k.when(asks(s, t, Operation::rmw), [&] { s.port(t).result = old; });
    performed(s, t);
  }

  // The home in a GPU, of a block whose memory is in another.

  [[nodiscard]] bool keeps_what_is_remote() const {
    if constexpr (several) {
      return true;
    } else {
      return !is("rdma");
    }
  }
  [[nodiscard]] Bool is_for_home(const State& s, const Way& way, const Up& m, UpKind kind) const {
    return m.kind == kind && !owns(s, gpu_of(way.to), m.block);
  }
  // An atomic is performed there.
  [[nodiscard]] Bool ends_at_home(const State& s, ThreadIx t) const {
    return keeps_what_is_remote() ? !to_system(s, t) : Bool(false);
  }
  [[nodiscard]] Bool hits_home(const State& s, ThreadIx t, Module h, Block b) const {
    const Bool may = !atomic_to_system(s, t) || Bool(fault("system-load-hits-l2"));
    return s.l2(h, b).present && may;
  }
  // A store is performed there whether the block is or not.
  [[nodiscard]] Bool has_what_it_needs(const State& s, ThreadIx t, Module h, Block b) const {
    return asks(s, t, Operation::store) || s.l2(h, b).present;
  }

  template <class Source>
  void home_rules(Rules& r, const Source& source) const {
    rule_at(
        r, source, "L2", Source::at_home.write,
        [this](const State& s, const Way& way, const Up& m) {
          return is_for_home(s, way, m, UpKind::write) && room_inside(s, way.to) &&
                 room_to_system(s, way.to, m.block);
        },
        [this](State& s, const Way& way, const Up& m) { write_at_home(s, m, way.to, way.from); });
    rule_at(
        r, source, "L2", Source::at_home.miss,
        [this](const State& s, const Way& way, const Up& m) {
          return is_for_home(s, way, m, UpKind::read) && !hits_home(s, m.thread, way.to, m.block) &&
                 room_to_system(s, way.to, m.block);
        },
        [this](State& s, const Way& way, const Up& m) {
          if constexpr (Source::is_far) {
            if (fault("module-noted-early")) s.gpu.sharer(way.from, m.block) = true;
          }
          s.read(m.thread).stage = ReadStage::to_system;
          send_to_system(s, way.to, m);
        });
    rule_at(
        r, source, "L2", Source::at_home.pass,
        [this](const State& s, const Way& way, const Up& m) {
          return is_for_home(s, way, m, UpKind::atomic) && !ends_at_home(s, m.thread) &&
                 room_inside(s, way.to) && room_to_system(s, way.to, m.block);
        },
        [this](State& s, const Way& way, const Up& m) {
          leave_gpu(s, way.to, way.from, m.block);
          send_to_system(s, way.to, m);
        });
  }
  // What the home does with its copy.
  template <class Source>
  void home_copy_rules(Rules& r, const Source& source) const {
    rule_at(
        r, source, "L2", Source::at_home.answer,
        [this](const State& s, const Way& way, const Up& m) {
          return is_for_home(s, way, m, UpKind::read) && hits_home(s, m.thread, way.to, m.block) &&
                 room_for_answer(s, m.thread, way.to);
        },
        [this](State& s, const Way& way, const Up& m) {
          answer_read(s, m.thread, way.to, m.block, Data(s.l2(way.to, m.block).data), false);
        });
    rule_at(
        r, source, "L2", Source::at_home.perform,
        [this](const State& s, const Way& way, const Up& m) {
          return is_for_home(s, way, m, UpKind::atomic) && ends_at_home(s, m.thread) &&
                 has_what_it_needs(s, m.thread, way.to, m.block) &&
                 s.read(m.thread).stage == ReadStage::none && room_inside(s, way.to) &&
                 room_to_system(s, way.to, m.block);
        },
        [this](State& s, const Way& way, const Up& m) {
          const Value old = word_of(s.l2(way.to, m.block).data, s.port(m.thread).request.word);
          write_at_home(s, written_by(s, m.thread, old), way.to, way.from);
          end_atomic(s, m.thread, old);
        });
    r.rule(
        {.name = Source::at_home.fetch, .unit = "L2", .source = "V.B"}, Source::where,
        [=, this](const State& s, const auto&... where) {
          const auto& queue = Source::link(s, where...);
          const Up& m = queue.head();
          const Way way = source.way(where...);
          return !queue.empty() && source.arrives(s, where..., m) && is_for_home(s, way, m, UpKind::atomic) &&
                 ends_at_home(s, m.thread) && !has_what_it_needs(s, m.thread, way.to, m.block) &&
                 s.read(m.thread).stage == ReadStage::none && room_to_system(s, way.to, m.block);
        },
        [=, this](State& s, const auto&... where) {
          const Up m = Source::link(s, where...).head();
          s.read(m.thread).stage = ReadStage::to_system;
          send_to_system(s, source.way(where...).to, message(UpKind::read, m.block, m.thread));
        });
  }

  // The home of the system.

  template <class Source>
  void system_rules(Rules& r, const Source& source) const {
    const auto arrives = [this](const State& s, const Way& way, const Up& m, UpKind kind) {
      return m.kind == kind && is_system_home(s, way.to, m.block);
    };
    rule_at(
        r, source, "memory", Source::at_system.write,
        [=, this](const State& s, const Way& way, const Up& m) {
          return arrives(s, way, m, UpKind::write) && room_below(s, way.to);
        },
        [this](State& s, const Way& way, const Up& m) {
          write_at_system(s, m, way.to, way.from, gpu_of(way.from));
        });
    rule_at(
        r, source, "memory", Source::at_system.answer,
        [=, this](const State& s, const Way& way, const Up& m) {
          return arrives(s, way, m, UpKind::read) && (!Source::is_far || !k.full(s.down(way.to, way.from)));
        },
        [this](State& s, const Way& way, const Up& m) {
          const ThreadIx t = m.thread;
          const auto answer_own = [&] { answer_read(s, t, way.to, m.block, Data(s.memory(m.block)), false); };
          if constexpr (Source::is_far) {
            k.when(gpu_of(way.from) == gpu_of(way.to), answer_own, [&] {
              if (keeps_what_is_remote() && !fault("gpu-not-noted")) {
                s.sharer(gpu_of(way.from), m.block) = true;
              }
              s.read(t).data = s.memory(m.block);
              s.read(t).stage = ReadStage::from_system;
              k.push(s.down(way.to, way.from), answer(DownKind::fill, m.block, t));
            });
          } else {
            answer_own();
          }
        });
    rule_at(
        r, source, "memory", Source::at_system.perform,
        [=, this](const State& s, const Way& way, const Up& m) {
          return arrives(s, way, m, UpKind::atomic) && room_below(s, way.to);
        },
        [this](State& s, const Way& way, const Up& m) {
          const Value old = word_of(s.memory(m.block), s.port(m.thread).request.word);
          write_at_system(s, written_by(s, m.thread, old), way.to, way.from, gpu_of(way.from));
          end_atomic(s, m.thread, old);
        });
  }

  // ---- answers and invalidations ------------------------------------------------------------------------

  void answer_rules(Rules& r) const {
    const auto link = [](auto& s, Module from, Module to) -> auto& {
      return s.down(from, to);
    };
    // An atomic at agent scope has its block fetched to the home and no further.
    r.triggered(
        {.name = "fill reaches a GPU's home", .unit = "L2", .source = "V.B"}, over(modules, modules), link,
        [=, this](const State& s, Module from, Module to, const Down& m) {
          return m.kind == DownKind::fill && crosses(from, to) && room_for_answer(s, m.thread, to);
        },
        [=, this](State& s, Module, Module to, const Down& m) {
          const ThreadIx t = m.thread;
          if (keeps_what_is_remote()) {
            k.when(!s.read(t).stale3, [&] { install(s.l2(to, m.block), s.read(t).data); });
          }
          k.when(
              s.stage(t) == Stage::performing, [&] { s.read(t) = Read{}; },
              [&] {
                k.when(s.read(t).stale3, [&] { s.read(t).stale2 = true; });
                s.read(t).stale3 = false;
                answer_read(s, t, to, m.block, Data(s.read(t).data), true);
              });
        });
    if (keeps_what_is_remote()) {
      r.triggered(
          {.name = "invalidation reaches a GPU's home", .unit = "L2", .source = "V.B"},
          over(modules, modules), link,
          [=, this](const State& s, Module from, Module to, const Down& m) {
            return m.kind == DownKind::invalidation && crosses(from, to) && room_inside(s, to);
          },
          [=, this](State& s, Module, Module to, const Down& m) {
            s.l2(to, m.block) = Line{};
            if constexpr (several) {
              if (!fault("invalidation-not-passed-on")) invalidate_modules(s, to, m.block, MaybeModule{});
            }
          });
    }
    if constexpr (several) {
      r.triggered(
          {.name = "fill reaches a module", .unit = "L2", .source = "V.B"}, over(modules, modules), link,
          [=, this](const State&, Module from, Module to, const Down& m) {
            return m.kind == DownKind::fill && !crosses(from, to);
          },
          [](State& s, Module, Module to, const Down& m) {
            K::when(!s.read(m.thread).stale2, [&] { install(s.l2(to, m.block), s.read(m.thread).data); });
            s.read(m.thread).stage = ReadStage::from_module;
          });
      r.triggered(
          {.name = "invalidation reaches a module", .unit = "L2", .source = "V.B"}, over(modules, modules),
          link,
          [=, this](const State&, Module from, Module to, const Down& m) {
            return m.kind == DownKind::invalidation && !crosses(from, to);
          },
          [](State& s, Module, Module to, const Down& m) { s.l2(to, m.block) = Line{}; });
    }
  }

  // ---- releases: IV.B, V.B ------------------------------------------------------------------------------
  //
  // A release is sent behind what is on the links between its L2 and the homes for its scope, and, when that
  // has arrived, behind the invalidations on the links to all L2s of the scope. Where a link has nothing on
  // it, it is at the other end at once.

  [[nodiscard]] Bool release_done(const State& s, ThreadIx t) const {
    const Bool needs = releases(s.port(t).request.order);
    return (needs && s.stage(t) == Stage::released) || (!needs && s.stage(t) == Stage::idle);
  }
  [[nodiscard]] Bool goes_to_system(const State& s, ThreadIx t) const {
    return to_system(s, t) && Bool(!fault("release-stops-at-gpu-home"));
  }
  // A marker of the thread has not come to the end of its link.
  [[nodiscard]] Bool marker_under_way(const State& s, ThreadIx t) const {
    return k.exists(
        modules, [&](Module m) { return k.exists(modules, [&](Module n) { return s.awaited(t, m, n); }); });
  }
  template <class Links, class Marker, class Which>
  void send_markers(State& s, Links& links, const Marker& marker, Which which) const {
    k.for_each(modules, [&](Module m) {
      k.for_each(modules, [&](Module n) {
        k.when(which(m, n) && !links(m, n).empty(), [&] {
          k.push(links(m, n), marker);
          s.awaited(marker.thread, m, n) = true;
        });
      });
    });
  }
  template <class Links, class Which>
  [[nodiscard]] Bool room_for_markers(const Links& links, Which which) const {
    return every(modules, modules, [&](Module m, Module n) { return !which(m, n) || !k.full(links(m, n)); });
  }

  void release_rules(Rules& r) const {
    r.rule(
        {.name = "release is sent", .unit = "L1", .source = "IV.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && releases(s.port(t).request.order) && atomic_beyond_group(s, t) &&
                 s.stage(t) == Stage::idle && !k.full(s.link1(cu(t)));
        },
        [=, this](State& s, ThreadIx t) {
          s.stage(t) = Stage::releasing;
          const Up marker = message(UpKind::marker, Block{}, t);
          if (fault("release-not-awaited")) {
            s.stage(t) = Stage::released;
          } else if (fault("marker-overtakes-writes")) {
            k.push_front(s.link1(cu(t)), marker);
          } else {
            k.push(s.link1(cu(t)), marker);
          }
        });
    const auto to_homes = [this](Module from) {
      return [=, this](Module m, Module n) { return m == from && gpu_of(n) == gpu_of(from); };
    };
    const auto to_systems = [this](Agent a) {
      return [=, this](Module m, Module n) { return gpu_of(m) == a && gpu_of(n) != a; };
    };
    const auto between = [this](Module m, Module n) { return crosses(m, n); };
    // Of one GPU, or of all.
    const auto inside = [this](MaybeAgent a) {
      return [=, this](Module m, Module n) {
        return !crosses(m, n) && (a == MaybeAgent{} || a == MaybeAgent(gpu_of(m)));
      };
    };
    r.triggered(
        {.name = "release reaches its module", .unit = "L2", .source = "IV.B"}, over(cus),
        [](auto& s, Cu c) -> auto& { return s.link1(c); },
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::marker && room_for_markers(s.up, to_homes(module_of(c)));
        },
        [=, this](State& s, Cu c, const Up& m) {
          if constexpr (several) {
            send_markers(s, s.up, message(UpKind::marker, Block{}, m.thread), to_homes(module_of(c)));
          }
          s.stage(m.thread) = Stage::to_homes;
        });
    const auto has_come = [=, this](const State& s, ThreadIx t, Stage stage) {
      return s.stage(t) == stage && !marker_under_way(s, t);
    };
    r.rule(
        {.name = "release is at the homes of its GPU", .unit = "L2", .source = "V.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return has_come(s, t, Stage::to_homes) && goes_to_system(s, t) &&
                 room_for_markers(s.up, to_systems(agent(t)));
        },
        [=, this](State& s, ThreadIx t) {
          send_markers(s, s.up, message(UpKind::marker, Block{}, t), to_systems(agent(t)));
          s.stage(t) = Stage::to_systems;
        });
    if (fault("invalidations-not-awaited")) {
      r.rule(
          {.name = "release ends with the writes", .unit = "L2", .source = "V.B"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return has_come(s, t, Stage::to_systems) ||
                   (has_come(s, t, Stage::to_homes) && !goes_to_system(s, t));
          },
          [](State& s, ThreadIx t) { s.stage(t) = Stage::released; });
    } else {
      release_rules_beyond_homes(r, has_come, between, inside);
    }
    r.triggered(
        {.name = "release has passed a link", .unit = "L2", .source = "IV.B"}, over(modules, modules),
        [](auto& s, Module m, Module n) -> auto& { return s.up(m, n); },
        [](const State&, Module, Module, const Up& m) { return m.kind == UpKind::marker; },
        [](State& s, Module m, Module n, const Up& marker) { s.awaited(marker.thread, m, n) = false; });
    r.triggered(
        {.name = "release has passed the invalidations", .unit = "L2", .source = "IV.B"},
        over(modules, modules), [](auto& s, Module m, Module n) -> auto& { return s.down(m, n); },
        [](const State&, Module, Module, const Down& m) { return m.kind == DownKind::marker; },
        [](State& s, Module m, Module n, const Down& marker) { s.awaited(marker.thread, m, n) = false; });
    r.rule(
        {.name = "fence has released", .unit = "L1", .source = "IV.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) &&
                 (release_done(s, t) || !atomic_beyond_group(s, t));
        },
        [=, this](State& s, ThreadIx t) { performed(s, t); });
  }
  template <class HasCome, class Between, class Inside>
  void release_rules_beyond_homes(Rules& r, HasCome has_come, Between between, Inside inside) const {
    const auto marker = [](ThreadIx t) { return answer(DownKind::marker, Block{}, t); };
    r.rule(
        {.name = "release is at the homes of the system", .unit = "L2", .source = "V.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return has_come(s, t, Stage::to_systems) && room_for_markers(s.down, between);
        },
        [=, this](State& s, ThreadIx t) {
          send_markers(s, s.down, marker(t), between);
          s.stage(t) = Stage::between_gpus;
        });
    if constexpr (several) {
      r.rule(
          {.name = "release is at the homes for its scope", .unit = "L2", .source = "V.B"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return ((has_come(s, t, Stage::to_homes) && !goes_to_system(s, t)) ||
                    has_come(s, t, Stage::between_gpus)) &&
                   room_for_markers(s.down, inside(MaybeAgent{}));
          },
          [=, this](State& s, ThreadIx t) {
            k.when(
                goes_to_system(s, t), [&] { send_markers(s, s.down, marker(t), inside(MaybeAgent{})); },
                [&] { send_markers(s, s.down, marker(t), inside(MaybeAgent(agent(t)))); });
            s.stage(t) = Stage::inside_gpus;
          });
    }
    r.rule(
        {.name = "release has been answered by all", .unit = "L1", .source = "IV.B"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          if constexpr (several) {
            return has_come(s, t, Stage::inside_gpus);
          } else {
            return (has_come(s, t, Stage::to_homes) && !goes_to_system(s, t)) ||
                   has_come(s, t, Stage::between_gpus);
          }
        },
        [](State& s, ThreadIx t) { s.stage(t) = Stage::released; });
  }

  // ---- acquires: IV.B -----------------------------------------------------------------------------------

  // An operation has been performed; an acquire beyond the work-group still has its L1 to drop.
  void performed(State& s, ThreadIx t) const {
    k.when(
        acquires(s.port(t).request.order) && beyond_group(s, t), [&] { s.stage(t) = Stage::invalidating; },
        [&] {
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }
  void acquire_rules(Rules& r) const {
    r.rule(
        {.name = "acquire drops L1", .unit = "L1", .source = "IV.B"}, over(threads),
        [](const State& s, ThreadIx t) { return s.stage(t) == Stage::invalidating; },
        [=, this](State& s, ThreadIx t) {
          if (!fault("acquire-keeps-l1")) {
            for_each_present(k, slice(s.l1, cu(t), blocks), [&](Block b) { s.l1(cu(t), b) = Line{}; });
          }
          if (!fault("fill-survives-acquire")) {
            for_each_present(k, slice(s.read, threads), [&](ThreadIx u) {
              k.when(!machine.is_host(u) && cu(u) == cu(t) && s.read(u).stage != ReadStage::none,
                     [&] { s.read(u).stale1 = true; });
            });
          }
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }

  // ---- replacement --------------------------------------------------------------------------------------

  // An atomic at the home waits for the block, which were it replaced each time might wait for ever.
  [[nodiscard]] Bool held_for_atomic(const State& s, Module h, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) {
      return !machine.is_host(t) && agent(t) == gpu_of(h) && s.stage(t) == Stage::performing &&
             !to_system(s, t) && is_home(s, h, b);
    });
  }
  void replacement_rules(Rules& r) const {
    r.rule(
        {.name = "L1 replaces a block", .unit = "L1", .source = "IV.A", .fairness = Fairness::optional},
        over(cus, blocks), [](const State& s, Cu c, Block b) { return s.l1(c, b).present; },
        [](State& s, Cu c, Block b) { s.l1(c, b) = Line{}; });
    if (!keeps_what_is_remote()) return;
    r.rule(
        {.name = "L2 replaces a block", .unit = "L2", .source = "IV.B", .fairness = Fairness::optional},
        over(modules, blocks),
        [=, this](const State& s, Module m, Block b) {
          return s.l2(m, b).present && !held_for_atomic(s, m, b);
        },
        [](State& s, Module m, Block b) { s.l2(m, b) = Line{}; });
    if constexpr (several) {
      r.rule(
          {.name = "GPU's home needs room in its directory",
           .unit = "L2",
           .source = "IV.B",
           .fairness = Fairness::optional},
          over(modules, blocks),
          [=, this](const State& s, Module h, Block b) {
            return is_home(s, h, b) && k.exists(modules, [&](Module m) {
              return gpu_of(m) == gpu_of(h) && s.gpu.sharer(m, b);
            }) && room_inside(s, h);
          },
          [=, this](State& s, Module h, Block b) {
            if (fault("entry-forgotten")) {
              k.for_each(modules, [&](Module m) {
                k.when(gpu_of(m) == gpu_of(h), [&] { s.gpu.sharer(m, b) = false; });
              });
            } else {
              invalidate_modules(s, h, b, MaybeModule{});
            }
          });
    }
    r.rule(
        {.name = "system's home needs room in its directory",
         .unit = "memory",
         .source = "IV.B",
         .fairness = Fairness::optional},
        over(modules, blocks),
        [=, this](const State& s, Module h, Block b) {
          return is_system_home(s, h, b) && k.exists(agents, [&](Agent a) { return s.sharer(a, b); }) &&
                 room_below(s, h);
        },
        [=, this](State& s, Module h, Block b) {
          if (fault("entry-forgotten")) {
            k.for_each(agents, [&](Agent a) { s.sharer(a, b) = false; });
          } else {
            invalidate_gpus(s, h, b, MaybeAgent{});
          }
        });
  }

  // ---- the CPUs: ours -----------------------------------------------------------------------------------

  [[nodiscard]] Bool invalidation_under_way(const State& s) const {
    return k.exists(modules, [&](Module m) {
      return k.exists(modules, [&](Module n) {
        return K::contains(s.down(m, n), [](const Down& d) { return d.kind == DownKind::invalidation; });
      });
    });
  }
  void cpu_rules(Rules& r) const {
    const auto ready = [=, this](const State& s, ThreadIx t) {
      return !releases(s.port(t).request.order) || Bool(fault("cpu-release-not-awaited")) ||
             !invalidation_under_way(s);
    };
    const auto finish = [](State& s, ThreadIx t, const Value& old) {
      K::when(asks(s, t, Operation::rmw), [&] { s.port(t).result = old; });
      complete<K>(s.port(t));
    };
    const auto old_word = [this](const State& s, ThreadIx t) {
      return word_of(s.memory(s.port(t).request.block), s.port(t).request.word);
    };
    r.rule(
        {.name = "CPU loads", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return on_cpu(s, t) && asks(s, t, Operation::load); },
        [=](State& s, ThreadIx t) { complete<K>(s.port(t), old_word(s, t)); });
    r.rule(
        {.name = "CPU writes what no GPU has touched", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_cpu(s, t) && writes(s, t) && !s.owner(s.port(t).request.block).has() && ready(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const Value old = old_word(s, t);
          overlay(s.memory(s.port(t).request.block), written_by(s, t, old));
          finish(s, t, old);
        });
    r.rule(
        {.name = "CPU writes", .unit = "CPU", .source = "ours"}, over(threads, modules),
        [=, this](const State& s, ThreadIx t, Module h) {
          return on_cpu(s, t) && writes(s, t) && is_system_home(s, h, s.port(t).request.block) &&
                 room_below(s, h) && ready(s, t);
        },
        [=, this](State& s, ThreadIx t, Module h) {
          const Value old = old_word(s, t);
          write_at_system(s, written_by(s, t, old), h, MaybeModule{}, MaybeAgent{});
          finish(s, t, old);
        });
    r.rule(
        {.name = "CPU passes a fence", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_cpu(s, t) && asks(s, t, Operation::fence) && ready(s, t);
        },
        [](State& s, ThreadIx t) { complete<K>(s.port(t)); });
  }
};

template <const auto& fault_list, const auto& variant_list>
struct InfoOf : MemoryInfo<fault_list, variant_list, L1Slot, UpSlot, DownSlot> {
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<L1Slot>(2);
    sizes.template set<UpSlot>(2);
    sizes.template set<DownSlot>(3);
  }
};

struct Info : InfoOf<faults, variants> {
  static constexpr std::string_view name = "hmg";
  static constexpr std::string_view what =
      "directories of modules and of GPUs, no acknowledgements (HMG, Ren et al. 2020)";
  static constexpr int place = 32;  // among the systems, where people read of them
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::hmg
