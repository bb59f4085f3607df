// Read for ownership (RFO): the idealized rival of QuickRelease, a GPU whose caches are kept coherent as a
// CPU's are. MOESI; a directory that knows every copy lets a block have one writer or many readers.
//
// Source: Hechtman, thesis 2014, 4.2.3, "Read for Ownership GPU Memory System", and 4.4.1 with Table 4.1.
// That text is a paragraph: "a fully mapped directory with full sharer state", whose "contents are inclusive
// of the L1s and L2", lets "a single writer or multiple readers" cache a block and "can recall data from the
// L1 or L2 to free directory space"; the protocol "closely resembles" that of Conway et al., IEEE Micro
// 30(2), 2010. What it leaves open is ours, after Nagarajan, Sorin, Hill, Wood, "A Primer on Memory
// Consistency and Cache Coherence", 2nd ed. 2020, chapter 8:
//  - Caches are the L1 of each CU and the CPUs' cluster, which as in home.hpp is one cache; with them CPUs
//    and GPU are one domain. With several GPUs all their L1s are. The L2 stands with the directory and
//    answers for memory, which the memory-side L3 is one with.
//  - The directory works on one request of a block at a time, and on the next when the requester says that it
//    is done (8.6's blocking directory, as in AMD's). So a cache waits for one message of the directory at a
//    time, and networks need no order: none is assumed. Of a block, a cache and the directory have one
//    message of a kind under way.
//  - Shared copies are dropped and nobody is told, so that the directory may know more sharers than there
//    are. Owners write back, and hold the block until that is acknowledged: probes may come first.
//  - A reader of what nobody else has gets it exclusive.
// With one access of a thread at a time this is sequentially consistent: orders and scopes ask for nothing.
// A front may let threads have more of them (mttop.hpp).
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::rfo {

// The CPUs' caches, which behave as one.
struct ClusterTag : FixedIndices<"cluster", 1> {};
inline constexpr ClusterTag clusters{};

// Of a cache's copy: modified, owned, exclusive, shared, invalid.
enum class CopyState : std::uint8_t { I, S, E, O, M };
BOOST_DESCRIBE_ENUM(CopyState, I, S, E, O, M)

// What a cache asks the directory for. An upgrade is a GetM of one that has a copy, and wants no data.
enum class Request : std::uint8_t { none, GetS, GetM, Upgrade, PutE, PutM };
BOOST_DESCRIBE_ENUM(Request, none, GetS, GetM, Upgrade, PutE, PutM)

// What the directory tells a cache.
enum class Forward : std::uint8_t { none, GetS, GetM, Inv, Recall, Put_Ack };
BOOST_DESCRIBE_ENUM(Forward, none, GetS, GetM, Inv, Recall, Put_Ack)

// What a requester gets, from L2 or from an owner: who reads may find that the owner stays one.
enum class Reply : std::uint8_t { none, shared, shared_with_owner, exclusive, modified, upgraded };
BOOST_DESCRIBE_ENUM(Reply, none, shared, shared_with_owner, exclusive, modified, upgraded)

// A copy is gone: what whoever had that asked for waits to hear. A recalled owner's has data.
enum class Acknowledgement : std::uint8_t { none, awaited, sent, with_data };
BOOST_DESCRIBE_ENUM(Acknowledgement, none, awaited, sent, with_data)

// What the directory knows of the copies: the names are AMD's.
enum class Known : std::uint8_t { I, S, EM, O };
BOOST_DESCRIBE_ENUM(Known, I, S, EM, O)

// What the directory does about a block.
enum class Transaction : std::uint8_t { none, read, write, recall };
BOOST_DESCRIBE_ENUM(Transaction, none, read, write, recall)

enum class Step : std::uint8_t { answers, fetched, waits, done, done_with_owner };
BOOST_DESCRIBE_ENUM(Step, answers, fetched, waits, done, done_with_owner)

inline constexpr std::array faults{
    Fault{"acknowledgements-not-awaited", "a writer has its copy before the others have lost theirs"},
    Fault{"read-not-awaited", "the directory takes up the next request when a read is answered"},
    Fault{"upgrade-of-a-lost-copy", "who asks for an upgrade gets one, whether its copy is still there"},
    Fault{"write-back-not-probed", "a probe does not find a block that is being written back"},
    Fault{"late-write-back-taken", "the directory takes the write-back of one that owns the block no more"},
    Fault{"owner-not-probed", "a read is answered by L2, whoever owns the block"},
    Fault{"owner-forgotten", "an owner that has answered a read is taken for a sharer"},
    Fault{"sharer-forgotten", "the directory does not note who gets a shared copy"},
    Fault{"exclusive-beside-sharers", "a reader gets an exclusive copy, whoever has others"},
    Fault{"recall-keeps-copies", "a recalled block stays in the caches that share it"},
    Fault{"recall-drops-data", "what a recalled owner has written is dropped"},
    Fault{"recall-not-awaited", "the directory forgets a block when it is recalled"},
    Fault{"l2-drops-data", "L2 replaces a dirty block as if it were clean"},
};

template <class K, template <class> class Front = NoFront>
struct Protocol : MemorySystem<K, faults, only_variant, Front<K>::own_faults> {
  using Base = MemorySystem<K, faults, only_variant, Front<K>::own_faults>;
  using Base::Base, Base::k, Base::machine, Base::fault_bits, Base::variant, Base::fault, Base::cu,
      Base::on_gpu, Base::on_cpu, Base::put, Base::same;
  using Base::word_of;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data;
  using typename Base::ThreadIx, typename Base::Cu;
  using Cluster = typename K::template Ix<ClusterTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  // A cache: the CPUs', or a CU's.
  struct Cache {
    Bool host;
    Cu cu;
    BOOST_DESCRIBE_CLASS(Cache, (), (host, cu), (), ())
  };
  struct Line {
    Enum<CopyState> state;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (state, data), (), ())
  };
  // A cache's MSHR of a block.
  struct Miss {
    Enum<Request> asked;  // none, or one to get the block
    ThreadIx thread;      // for whom
    BOOST_DESCRIBE_CLASS(Miss, (), (asked, thread), (), ())
  };
  // A block that is being written back.
  struct WriteBack {
    Bool waits;  // for its acknowledgement
    Enum<CopyState> state;
    Data data;
    BOOST_DESCRIBE_CLASS(WriteBack, (), (waits, state, data), (), ())
  };
  // Messages under way between a cache and the directory, or another cache.
  struct Messages {
    Enum<Request> request;  // the data of a Put are those that the cache holds
    Enum<Forward> forward;
    Enum<Acknowledgement> acknowledgement;
    Enum<Reply> reply;
    Data data;  // of the reply, or the acknowledgement
    BOOST_DESCRIBE_CLASS(Messages, (), (request, forward, acknowledgement, reply, data), (), ())
  };
  struct Entry {
    Enum<Known> state;
    Cache owner;  // in EM and O
    BOOST_DESCRIBE_CLASS(Entry, (), (state, owner), (), ())
  };
  // Of the directory. Messages that it causes say what stands here.
  struct Mshr {
    Enum<Transaction> transaction;
    Enum<Step> step;  // from `waits` on said by the requester
    Cache requester;  // of a recall who owned the block
    Bool exclusive;   // what a reader was given
    BOOST_DESCRIBE_CLASS(Mshr, (), (transaction, step, requester, exclusive), (), ())
  };
  struct L2Line {
    Bool present;
    Bool dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(L2Line, (), (present, dirty, data), (), ())
  };
  struct Home {
    typename K::template Table<Data, BlockTag> memory;  // with its memory-side L3
    BOOST_DESCRIBE_CLASS(Home, (), (memory), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<Line, ClusterTag, BlockTag> cpu;
    typename K::template Table<Miss, CuTag, BlockTag> miss;
    typename K::template Table<Miss, ClusterTag, BlockTag> cpu_miss;
    typename K::template Table<WriteBack, CuTag, BlockTag> write_back;
    typename K::template Table<WriteBack, ClusterTag, BlockTag> cpu_write_back;
    typename K::template Table<Messages, CuTag, BlockTag> messages;
    typename K::template Table<Messages, ClusterTag, BlockTag> cpu_messages;
    typename K::template Table<Bool, CuTag, BlockTag> sharer;
    typename K::template Table<Bool, ClusterTag, BlockTag> cpu_sharer;
    typename K::template Table<Entry, BlockTag> entry;
    typename K::template Table<Mshr, BlockTag> mshr;
    typename K::template Table<L2Line, BlockTag> l2;
    Home home;
    BOOST_DESCRIBE_CLASS(State, (),
                         (port, l1, cpu, miss, cpu_miss, write_back, cpu_write_back, messages, cpu_messages,
                          sharer, cpu_sharer, entry, mshr, l2, home),
                         (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  [[nodiscard]] Front<K> front() const { return {k, machine, fault_bits, variant}; }

  void initialise(State& s, Block b, Word w, Value v) const { s.home.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    const Entry& e = s.entry(b);
    return K::select(
        owned(s, b),
        K::select(e.owner.host, Value(s.cpu(Cluster{}, b).data(w)), Value(s.l1(e.owner.cu, b).data(w))),
        K::select(s.l2(b).present, Value(s.l2(b).data(w)), Value(s.home.memory(b)(w))));
  }
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(blocks, [&](Block b) {
      const auto writes_back = [&](auto c) { return held(s, c, b).waits; };
      return idle(s, b) && !exists_present(k, slice(s.write_back, cus, b), writes_back) &&
             !exists_present(k, slice(s.cpu_write_back, clusters, b), writes_back);
    });
  }

  void rules(Rules& r) const {
    rules_of_caches(r, OfCus{*this});
    rules_of_caches(r, OfCpus{*this});
    directory_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("a single writer, or many readers", [=, this](const State& s) {
      return for_all_pairs(
          [&](auto c, auto d, Block b) { return !this->writable(s, c, b) || !this->readable(s, d, b); });
    });
    v.invariant("copies are the same", [=, this](const State& s) {
      return for_all_pairs([&](auto c, auto d, Block b) {
        return !this->readable(s, c, b) || !this->readable(s, d, b) ||
               this->same(line(s, c, b).data, this->line(s, d, b).data);
      });
    });
    v.invariant("a copy beside no owner is that of L2, or memory's", [=, this](const State& s) {
      return for_all_caches([&](auto c, Block b) {
        return !this->readable(s, c, b) || this->owned(s, b) || !this->idle(s, b) ||
               this->same(line(s, c, b).data, this->behind(s, b));
      });
    });
    v.invariant("a clean block of L2 is memory's", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return !s.l2(b).present || s.l2(b).dirty || same(s.l2(b).data, s.home.memory(b));
      });
    });
    v.invariant("the directory knows of every copy", [=, this](const State& s) {
      return for_all_caches([&](auto c, Block b) {
        return !this->readable(s, c, b) || s.mshr(b).transaction != Transaction::none ||
               (this->is(s.entry(b).owner, c) && this->owned(s, b)) || this->sharer(s, c, b);
      });
    });
    v.invariant("what L2 has is known to the directory", [=, this](const State& s) {
      return k.forall(
          blocks, [&](Block b) { return !s.l2(b).present || s.entry(b).state != Known::I || !idle(s, b); });
    });
  }

  // ---- caches: the same of a CU's, and of the CPUs' -------------------------------------------------------

  static Cache named(Cu c) { return {Bool(false), c}; }
  static Cache named(Cluster) { return {Bool(true), Cu{}}; }
  static Bool is(const Cache& cache, Cu c) { return !cache.host && cache.cu == c; }
  static Bool is(const Cache& cache, Cluster) { return cache.host; }
  template <class F>
  void at(const Cache& cache, F&& f) const {
    const Cu c = cache.cu;
    k.when(
        cache.host, [&] { f(Cluster{}); }, [&] { f(c); });
  }

  template <class S>
  static auto& line(S& s, Cu c, Block b) {
    return s.l1(c, b);
  }
  template <class S>
  static auto& line(S& s, Cluster c, Block b) {
    return s.cpu(c, b);
  }
  template <class S>
  static auto& miss(S& s, Cu c, Block b) {
    return s.miss(c, b);
  }
  template <class S>
  static auto& miss(S& s, Cluster c, Block b) {
    return s.cpu_miss(c, b);
  }
  template <class S>
  static auto& held(S& s, Cu c, Block b) {
    return s.write_back(c, b);
  }
  template <class S>
  static auto& held(S& s, Cluster c, Block b) {
    return s.cpu_write_back(c, b);
  }
  template <class S>
  static auto& messages(S& s, Cu c, Block b) {
    return s.messages(c, b);
  }
  template <class S>
  static auto& messages(S& s, Cluster c, Block b) {
    return s.cpu_messages(c, b);
  }
  template <class S>
  static auto& sharer(S& s, Cu c, Block b) {
    return s.sharer(c, b);
  }
  template <class S>
  static auto& sharer(S& s, Cluster c, Block b) {
    return s.cpu_sharer(c, b);
  }
  template <class F>
  void for_each_sharer(const State& s, Block b, F&& f) const {
    for_each_present(k, slice(s.sharer, cus, b), [&](Cu c) { k.when(s.sharer(c, b), [&] { f(c); }); });
    for_each_present(k, slice(s.cpu_sharer, clusters, b),
                     [&](Cluster c) { k.when(s.cpu_sharer(c, b), [&] { f(c); }); });
  }
  [[nodiscard]] Bool shared(const State& s, Block b) const {
    return exists_present(k, slice(s.sharer, cus, b), [&](Cu c) { return s.sharer(c, b); }) ||
           exists_present(k, slice(s.cpu_sharer, clusters, b), [&](Cluster c) { return s.cpu_sharer(c, b); });
  }
  [[nodiscard]] Bool awaits_none(const State& s, Block b) const {
    const auto awaited = [&](auto c) {
      return messages(s, c, b).acknowledgement == Acknowledgement::awaited;
    };
    return !exists_present(k, slice(s.messages, cus, b), awaited) &&
           !exists_present(k, slice(s.cpu_messages, clusters, b), awaited);
  }

  template <class F>
  [[nodiscard]] Bool for_all_caches(F&& f) const {
    return k.forall(blocks, [&](Block b) {
      return k.forall(cus, [&](Cu c) { return f(c, b); }) &&
             k.forall(clusters, [&](Cluster c) { return f(c, b); });
    });
  }
  // Of two caches that are not the same.
  template <class F>
  [[nodiscard]] Bool for_all_pairs(F&& f) const {
    return k.forall(blocks, [&](Block b) {
      return k.forall(cus, [&](Cu c) {
        return k.forall(cus, [&](Cu d) { return c == d || f(c, d, b); }) &&
               k.forall(clusters, [&](Cluster d) { return f(c, d, b) && f(d, c, b); });
      });
    });
  }

  template <class C>
  [[nodiscard]] static Bool readable(const State& s, C c, Block b) {
    return line(s, c, b).state != CopyState::I;
  }
  template <class C>
  [[nodiscard]] static Bool writable(const State& s, C c, Block b) {
    return line(s, c, b).state == CopyState::E || line(s, c, b).state == CopyState::M;
  }
  [[nodiscard]] static Bool dirty(const Enum<CopyState>& state) {
    return state == CopyState::O || state == CopyState::M;
  }
  [[nodiscard]] static Bool idle(const State& s, Block b) {
    return s.mshr(b).transaction == Transaction::none;
  }
  [[nodiscard]] static Bool owned(const State& s, Block b) {
    return s.entry(b).state == Known::EM || s.entry(b).state == Known::O;
  }
  // What L2 and memory have.
  [[nodiscard]] Data behind(const State& s, Block b) const {
    Data data;
    k.for_each(words, [&](Word w) {
      data(w) = K::select(s.l2(b).present, Value(s.l2(b).data(w)), Value(s.home.memory(b)(w)));
    });
    return data;
  }

 private:
  // ---- rules of a cache -----------------------------------------------------------------------------------

  struct OfCus {
    const Protocol& system;
    static constexpr CuTag members{};
    using Ix = Cu;
    static constexpr std::string_view unit = "L1";
    static constexpr std::string_view load_hits = "load hits L1";
    static constexpr std::string_view load_misses = "load misses L1";
    static constexpr std::string_view write_hits = "write hits L1";
    static constexpr std::string_view write_misses = "write misses L1";
    static constexpr std::string_view upgrades = "write asks for an upgrade";
    static constexpr std::string_view fence = "passes a fence";
    static constexpr std::string_view gets_block = "L1 gets a block";
    static constexpr std::string_view gets_upgrade = "L1 gets an upgrade";
    static constexpr std::string_view replaces = "L1 replaces a block";
    static constexpr std::string_view probed_to_read = "L1 answers a reader";
    static constexpr std::string_view probed_to_write = "L1 answers a writer";
    static constexpr std::string_view invalidated = "L1 loses a shared copy";
    static constexpr std::string_view recalled = "L1 returns a recalled block";
    static constexpr std::string_view written_back = "L1 has written back";
    static constexpr std::string_view asks_to_read = "directory takes up a read";
    static constexpr std::string_view asks_to_write = "directory takes up a write";
    static constexpr std::string_view writes_back = "L2 takes a write-back";
    static constexpr std::string_view gives_up = "directory hears that a block is given up";
    [[nodiscard]] Bool here(const State& s, ThreadIx t) const { return system.on_gpu(s, t); }
    [[nodiscard]] Bool admits(const State& s, ThreadIx t) const { return system.front().admits(s, t); }
    [[nodiscard]] Cu of(ThreadIx t) const { return system.cu(t); }
  };
  struct OfCpus {
    const Protocol& system;
    static constexpr ClusterTag members{};
    using Ix = Cluster;
    static constexpr std::string_view unit = "CPU";
    static constexpr std::string_view load_hits = "CPU load hits";
    static constexpr std::string_view load_misses = "CPU load misses";
    static constexpr std::string_view write_hits = "CPU write hits";
    static constexpr std::string_view write_misses = "CPU write misses";
    static constexpr std::string_view upgrades = "CPU write asks for an upgrade";
    static constexpr std::string_view fence = "CPU passes a fence";
    static constexpr std::string_view gets_block = "CPU gets a block";
    static constexpr std::string_view gets_upgrade = "CPU gets an upgrade";
    static constexpr std::string_view replaces = "CPU replaces a block";
    static constexpr std::string_view probed_to_read = "CPU answers a reader";
    static constexpr std::string_view probed_to_write = "CPU answers a writer";
    static constexpr std::string_view invalidated = "CPU loses a shared copy";
    static constexpr std::string_view recalled = "CPU returns a recalled block";
    static constexpr std::string_view written_back = "CPU has written back";
    static constexpr std::string_view asks_to_read = "directory takes up a CPU's read";
    static constexpr std::string_view asks_to_write = "directory takes up a CPU's write";
    static constexpr std::string_view writes_back = "L2 takes a CPU's write-back";
    static constexpr std::string_view gives_up = "directory hears that a CPU's block is given up";
    [[nodiscard]] Bool here(const State& s, ThreadIx t) const { return system.on_cpu(s, t); }
    [[nodiscard]] Bool admits(const State&, ThreadIx) const { return true; }
    [[nodiscard]] Cluster of(ThreadIx) const { return Cluster{}; }
  };

  template <class Of>
  void rules_of_caches(Rules& r, const Of of) const {
    access_rules(r, of);
    copy_rules(r, of);
    request_rules(r, of);
  }

  static Block block(const State& s, ThreadIx t) { return s.port(t).request.block; }
  // What the thread asks for, on a copy that permits it.
  template <class C>
  void perform(State& s, C c, ThreadIx t) const {
    const auto& q = s.port(t).request;
    const Value old = word_of(line(s, c, q.block).data, q.word);
    k.when(writes(s, t), [&] {
      const Value now = K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
      put(line(s, c, q.block).data, q.word, now);
      line(s, c, q.block).state = CopyState::M;
    });
    k.when(q.operation != Operation::store, [&] { s.port(t).result = old; });
    complete<K>(s.port(t));
  }
  template <class C>
  void ask(State& s, C c, ThreadIx t, Request request) const {
    const Block b = block(s, t);
    miss(s, c, b).asked = request;
    miss(s, c, b).thread = t;
    messages(s, c, b).request = request;
  }

  template <class Of>
  void access_rules(Rules& r, const Of of) const {
    const auto reads_now = [of](const State& s, ThreadIx t) {
      return of.here(s, t) && asks(s, t, Operation::load);
    };
    const auto writes_now = [of](const State& s, ThreadIx t) { return of.here(s, t) && writes(s, t); };
    // A block that is not there, and that nothing is under way about.
    const auto absent = [of](const State& s, ThreadIx t) {
      const auto c = of.of(t);
      const Block b = block(s, t);
      return line(s, c, b).state == CopyState::I && miss(s, c, b).asked == Request::none &&
             !held(s, c, b).waits;
    };
    r.rule(
        {.name = of.load_hits, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) {
          return reads_now(s, t) && readable(s, of.of(t), block(s, t)) && of.admits(s, t);
        },
        [=, this](State& s, ThreadIx t) { perform(s, of.of(t), t); });
    r.rule(
        {.name = of.load_misses, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) { return reads_now(s, t) && absent(s, t) && of.admits(s, t); },
        [=, this](State& s, ThreadIx t) { ask(s, of.of(t), t, Request::GetS); });
    r.rule(
        {.name = of.write_hits, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) {
          return writes_now(s, t) && writable(s, of.of(t), block(s, t)) && of.admits(s, t);
        },
        [=, this](State& s, ThreadIx t) { perform(s, of.of(t), t); });
    // "these systems will perform a read to gain ownership of a cache block before performing a write"
    r.rule(
        {.name = of.write_misses, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) { return writes_now(s, t) && absent(s, t) && of.admits(s, t); },
        [=, this](State& s, ThreadIx t) { ask(s, of.of(t), t, Request::GetM); });
    r.rule(
        {.name = of.upgrades, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) {
          const auto c = of.of(t);
          const auto& copy = line(s, c, block(s, t));
          return writes_now(s, t) && (copy.state == CopyState::S || copy.state == CopyState::O) &&
                 miss(s, c, block(s, t)).asked == Request::none && of.admits(s, t);
        },
        [=, this](State& s, ThreadIx t) { ask(s, of.of(t), t, Request::Upgrade); });
    r.rule(
        {.name = of.fence, .unit = of.unit, .source = "ours"}, over(threads),
        [of](const State& s, ThreadIx t) {
          return of.here(s, t) && asks(s, t, Operation::fence) && of.admits(s, t);
        },
        [](State& s, ThreadIx t) { complete<K>(s.port(t)); });
    // What the thread asked for is there; a writer also has to hear from those who had copies.
    const auto gets = [=, this](const State& s, ThreadIx t) {
      const auto c = of.of(t);
      const Block b = block(s, t);
      return of.here(s, t) && miss(s, c, b).asked != Request::none && miss(s, c, b).thread == t &&
             messages(s, c, b).reply != Reply::none &&
             (Bool(fault("acknowledgements-not-awaited")) || awaits_none(s, b));
    };
    const auto upgraded = [of](const State& s, ThreadIx t) {
      return messages(s, of.of(t), block(s, t)).reply == Reply::upgraded;
    };
    r.rule(
        {.name = of.gets_block, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) { return gets(s, t) && !upgraded(s, t); },
        [=, this](State& s, ThreadIx t) {
          const auto c = of.of(t);
          const Block b = block(s, t);
          const Enum<Reply> reply = messages(s, c, b).reply;
          line(s, c, b).data = messages(s, c, b).data;
          line(s, c, b).state = K::select(reply == Reply::modified, Enum<CopyState>(CopyState::M),
                                          K::select(reply == Reply::exclusive, Enum<CopyState>(CopyState::E),
                                                    Enum<CopyState>(CopyState::S)));
          end(s, c, t,
              K::select(reply == Reply::shared_with_owner, Enum<Step>(Step::done_with_owner),
                        Enum<Step>(Step::done)));
        });
    r.rule(
        {.name = of.gets_upgrade, .unit = of.unit, .source = "4.2.3"}, over(threads),
        [=](const State& s, ThreadIx t) { return gets(s, t) && upgraded(s, t); },
        [=, this](State& s, ThreadIx t) {
          line(s, of.of(t), block(s, t)).state = CopyState::M;
          end(s, of.of(t), t, Enum<Step>(Step::done));
        });
  }

  // An owner's block is in its line, or is being written back.
  [[nodiscard]] Bool looks_at_write_back() const { return Bool(!fault("write-back-not-probed")); }
  template <class C>
  [[nodiscard]] Enum<CopyState> state_of(const State& s, C c, Block b) const {
    return K::select(held(s, c, b).waits && looks_at_write_back(), Enum<CopyState>(held(s, c, b).state),
                     Enum<CopyState>(line(s, c, b).state));
  }
  template <class C>
  [[nodiscard]] Data data_of(const State& s, C c, Block b) const {
    Data data;
    k.for_each(words, [&](Word w) {
      data(w) = K::select(held(s, c, b).waits && looks_at_write_back(), Value(held(s, c, b).data(w)),
                          Value(line(s, c, b).data(w)));
    });
    return data;
  }
  // Somebody else reads it.
  static Enum<CopyState> beside_a_reader(const Enum<CopyState>& state) {
    return K::select(state == CopyState::M, Enum<CopyState>(CopyState::O),
                     K::select(state == CopyState::E, Enum<CopyState>(CopyState::S), state));
  }
  // The block is gone, but for its write-back's acknowledgement.
  template <class C>
  void lose(State& s, C c, Block b) const {
    k.when(readable(s, c, b), [&] { line(s, c, b) = Line{}; });
    k.when(held(s, c, b).waits, [&] {
      held(s, c, b).state = CopyState::I;
      held(s, c, b).data = Data{};
    });
  }
  void reply(State& s, Block b, const Enum<Reply>& kind, const Data& data) const {
    at(s.mshr(b).requester, [&](auto c) {
      messages(s, c, b).reply = kind;
      messages(s, c, b).data = data;
    });
  }

  // Those of the block that `which` says are heard.
  template <class Which>
  void take_acknowledgements(State& s, Block b, const Which& which) const {
    const auto take = [&](auto c) {
      auto& acknowledgement = messages(s, c, b).acknowledgement;
      k.when(which(acknowledgement), [&] { acknowledgement = Acknowledgement::none; });
    };
    for_each_present(k, slice(s.messages, cus, b), take);
    for_each_present(k, slice(s.cpu_messages, clusters, b), take);
  }

  // The request is answered, and with it what the thread asks for, lest the block be gone before it is.
  template <class C>
  void end(State& s, C c, ThreadIx t, const Enum<Step>& step) const {
    const Block b = block(s, t);
    miss(s, c, b) = Miss{};
    messages(s, c, b).reply = Reply::none;
    messages(s, c, b).data = Data{};
    take_acknowledgements(s, b, [](const auto& a) { return a == Acknowledgement::sent; });
    k.when(s.mshr(b).step == Step::waits && s.mshr(b).transaction != Transaction::recall &&
               is(s.mshr(b).requester, c),
           [&] { s.mshr(b).step = step; });
    perform(s, c, t);
  }

  template <class Of>
  void copy_rules(Rules& r, const Of of) const {
    using C = typename Of::Ix;
    const auto told = [](Forward what) {
      return [what](const State& s, C c, Block b) { return messages(s, c, b).forward == what; };
    };
    r.rule(
        {.name = of.replaces, .unit = of.unit, .source = "4.2.3", .fairness = Fairness::optional},
        over(of.members, blocks),
        [](const State& s, C c, Block b) {
          return line(s, c, b).state != CopyState::I && miss(s, c, b).asked == Request::none;
        },
        [=, this](State& s, C c, Block b) {
          k.when(line(s, c, b).state != CopyState::S, [&] {
            messages(s, c, b).request = K::select(line(s, c, b).state == CopyState::E,
                                                  Enum<Request>(Request::PutE), Enum<Request>(Request::PutM));
            held(s, c, b).waits = true;
            held(s, c, b).state = line(s, c, b).state;
            held(s, c, b).data = line(s, c, b).data;
          });
          line(s, c, b) = Line{};
        });

    r.rule({.name = of.probed_to_read, .unit = of.unit, .source = "4.2.3"}, over(of.members, blocks),
           told(Forward::GetS), [=, this](State& s, C c, Block b) {
             const Enum<CopyState> state = state_of(s, c, b);
             messages(s, c, b).forward = Forward::none;
             reply(s, b,
                   K::select(dirty(state), Enum<Reply>(Reply::shared_with_owner), Enum<Reply>(Reply::shared)),
                   data_of(s, c, b));
             k.when(readable(s, c, b), [&] { line(s, c, b).state = beside_a_reader(line(s, c, b).state); });
             k.when(held(s, c, b).waits, [&] { held(s, c, b).state = beside_a_reader(held(s, c, b).state); });
           });
    r.rule({.name = of.probed_to_write, .unit = of.unit, .source = "4.2.3"}, over(of.members, blocks),
           told(Forward::GetM), [=, this](State& s, C c, Block b) {
             messages(s, c, b).forward = Forward::none;
             reply(s, b, Enum<Reply>(Reply::modified), data_of(s, c, b));
             lose(s, c, b);
           });
    r.rule({.name = of.invalidated, .unit = of.unit, .source = "4.2.3"}, over(of.members, blocks),
           told(Forward::Inv), [=, this](State& s, C c, Block b) {
             messages(s, c, b).forward = Forward::none;
             messages(s, c, b).acknowledgement = Acknowledgement::sent;
             if (fault("recall-keeps-copies")) {
               k.when(s.mshr(b).transaction != Transaction::recall, [&] { lose(s, c, b); });
             } else {
               lose(s, c, b);
             }
           });
    // "the directory can recall data from the L1 or L2 to free directory space"
    r.rule({.name = of.recalled, .unit = of.unit, .source = "4.2.3"}, over(of.members, blocks),
           told(Forward::Recall), [=, this](State& s, C c, Block b) {
             messages(s, c, b).forward = Forward::none;
             messages(s, c, b).acknowledgement = Acknowledgement::sent;
             k.when(dirty(state_of(s, c, b)) && !fault("recall-drops-data"), [&] {
               messages(s, c, b).acknowledgement = Acknowledgement::with_data;
               messages(s, c, b).data = data_of(s, c, b);
             });
             lose(s, c, b);
           });
    r.rule({.name = of.written_back, .unit = of.unit, .source = "ours"}, over(of.members, blocks),
           told(Forward::Put_Ack), [](State& s, C c, Block b) {
             messages(s, c, b).forward = Forward::none;
             held(s, c, b) = WriteBack{};
           });
  }

  // ---- rules of the directory, and of L2 ------------------------------------------------------------------

  void begin(State& s, Block b, Transaction transaction, const Cache& requester) const {
    s.mshr(b).transaction = transaction;
    s.mshr(b).requester = requester;
  }
  template <class C>
  void invalidate(State& s, C c, Block b) const {
    messages(s, c, b).forward = Forward::Inv;
    messages(s, c, b).acknowledgement = Acknowledgement::awaited;
  }
  // Room for another: nobody is known to have the block.
  void forget(State& s, Block b) const {
    k.when(s.entry(b).state == Known::S && !shared(s, b) && !s.l2(b).present, [&] { s.entry(b) = Entry{}; });
  }
  void drop_from_l2(State& s, Block b) const {
    k.when(s.l2(b).dirty && !fault("l2-drops-data"), [&] { s.home.memory(b) = s.l2(b).data; });
    s.l2(b) = L2Line{};
  }
  void note_sharer(State& s, const Cache& cache, Block b) const {
    at(cache, [&](auto c) { sharer(s, c, b) = true; });
  }

  template <class C>
  [[nodiscard]] static Bool owns_block(const State& s, C c, Block b) {
    return owned(s, b) && is(s.entry(b).owner, c);
  }
  // One that lost the block since it wrote it back may be known as a sharer.
  template <class C>
  void give_up(State& s, C c, Block b, const Bool& owns) const {
    k.when(owns, [&] {
      s.entry(b).state = Known::S;
      s.entry(b).owner = Cache{};
    });
    k.when(sharer(s, c, b), [&] { sharer(s, c, b) = false; });
    messages(s, c, b).request = Request::none;
    messages(s, c, b).forward = Forward::Put_Ack;
    forget(s, b);
  }

  template <class Of>
  void request_rules(Rules& r, const Of of) const {
    using C = typename Of::Ix;
    r.rule(
        {.name = of.asks_to_read, .unit = "home", .source = "4.2.3"}, over(of.members, blocks),
        [](const State& s, C c, Block b) { return messages(s, c, b).request == Request::GetS && idle(s, b); },
        [=, this](State& s, C c, Block b) {
          messages(s, c, b).request = Request::none;
          begin(s, b, Transaction::read, named(c));
          if (fault("owner-not-probed")) return;
          k.when(owned(s, b), [&] {
            at(s.entry(b).owner, [&](auto owner) { messages(s, owner, b).forward = Forward::GetS; });
            s.mshr(b).step = Step::waits;
          });
        });
    r.rule(
        {.name = of.asks_to_write, .unit = "home", .source = "4.2.3"}, over(of.members, blocks),
        [](const State& s, C c, Block b) {
          const auto& request = messages(s, c, b).request;
          return (request == Request::GetM || request == Request::Upgrade) && idle(s, b);
        },
        [=, this](State& s, C c, Block b) {
          const Bool keeps = fault("upgrade-of-a-lost-copy")
                                 ? Bool(true)
                                 : K::select(owned(s, b), is(s.entry(b).owner, c), Bool(sharer(s, c, b)));
          const Enum<Request> request = messages(s, c, b).request;
          const Bool upgrade = request == Request::Upgrade && keeps;
          messages(s, c, b).request = Request::none;
          begin(s, b, Transaction::write, named(c));
          for_each_sharer(s, b, [&](auto d) {
            k.when(!is(named(c), d), [&] { invalidate(s, d, b); });
            sharer(s, d, b) = false;
          });
          k.when(
              upgrade,
              [&] {
                messages(s, c, b).reply = Reply::upgraded;
                s.l2(b) = L2Line{};
                s.mshr(b).step = Step::waits;
              },
              [&] {
                k.when(owned(s, b), [&] {
                  at(s.entry(b).owner, [&](auto owner) { messages(s, owner, b).forward = Forward::GetM; });
                  s.mshr(b).step = Step::waits;
                });
              });
        });
    r.rule(
        {.name = of.writes_back, .unit = "home", .source = "ours"}, over(of.members, blocks),
        [](const State& s, C c, Block b) { return messages(s, c, b).request == Request::PutM && idle(s, b); },
        [=, this](State& s, C c, Block b) {
          const Bool owns = fault("late-write-back-taken") ? Bool(true) : owns_block(s, c, b);
          k.when(owns, [&] {
            s.l2(b).present = true;
            s.l2(b).dirty = true;
            s.l2(b).data = held(s, c, b).data;
          });
          give_up(s, c, b, owns);
        });
    r.rule(
        {.name = of.gives_up, .unit = "home", .source = "ours"}, over(of.members, blocks),
        [](const State& s, C c, Block b) { return messages(s, c, b).request == Request::PutE && idle(s, b); },
        [=, this](State& s, C c, Block b) { give_up(s, c, b, owns_block(s, c, b)); });
  }

  void directory_rules(Rules& r) const {
    const auto answers = [](const State& s, Block b) {
      return !idle(s, b) && s.mshr(b).step == Step::answers;
    };
    const auto answer = [this](State& s, Block b) {
      const Enum<Transaction> transaction = s.mshr(b).transaction;
      const Bool dirty = s.l2(b).dirty;
      const Bool reads = transaction == Transaction::read;
      const Bool alone = fault("exclusive-beside-sharers") ? Bool(true) : !shared(s, b) && !dirty;
      const Bool exclusive = reads && alone;
      reply(s, b,
            K::select(exclusive, Enum<Reply>(Reply::exclusive),
                      K::select(reads, Enum<Reply>(Reply::shared), Enum<Reply>(Reply::modified))),
            s.l2(b).data);
      k.when(!reads, [&] { s.l2(b) = L2Line{}; });
      s.mshr(b).exclusive = exclusive;
      s.mshr(b).step = Step::waits;
      if (fault("read-not-awaited")) {
        k.when(reads && !exclusive, [&] {
          s.entry(b).state = Known::S;
          note_sharer(s, s.mshr(b).requester, b);
          s.mshr(b) = Mshr{};
        });
      }
    };
    r.rule(
        {.name = "L2 answers", .unit = "home", .source = "4.2.3"}, over(blocks),
        [=](const State& s, Block b) { return answers(s, b) && s.l2(b).present; }, answer);
    r.rule(
        {.name = "memory sends L2 a block", .unit = "memory", .source = "4.4.1"}, over(blocks),
        [=](const State& s, Block b) { return answers(s, b) && !s.l2(b).present; },
        [](State& s, Block b) {
          s.l2(b).present = true;
          s.l2(b).data = s.home.memory(b);
          s.mshr(b).step = Step::fetched;
        });
    r.rule(
        {.name = "L2 answers with what memory sent", .unit = "home", .source = "4.2.3"}, over(blocks),
        [](const State& s, Block b) { return !idle(s, b) && s.mshr(b).step == Step::fetched; }, answer);
    r.rule(
        {.name = "directory hears that a request is done", .unit = "home", .source = "4.2.3"}, over(blocks),
        [](const State& s, Block b) {
          return !idle(s, b) && (s.mshr(b).step == Step::done || s.mshr(b).step == Step::done_with_owner);
        },
        [=, this](State& s, Block b) {
          const Cache requester = s.mshr(b).requester;
          const Bool gives_up = fault("owner-forgotten") ? Bool(true) : s.mshr(b).step == Step::done;
          k.when(
              s.mshr(b).transaction == Transaction::write || s.mshr(b).exclusive,
              [&] {
                s.entry(b).state = Known::EM;
                s.entry(b).owner = requester;
              },
              [&] {
                k.when(
                    owned(s, b) && !gives_up, [&] { s.entry(b).state = Known::O; },
                    [&] {
                      k.when(owned(s, b), [&] { note_sharer(s, s.entry(b).owner, b); });
                      s.entry(b) = Entry{};
                      s.entry(b).state = Known::S;
                    });
                if (!fault("sharer-forgotten")) note_sharer(s, requester, b);
              });
          s.mshr(b) = Mshr{};
        });
    // "Because there is finite state storage, the directory can recall data from the L1 or L2"
    r.rule(
        {.name = "directory recalls a block",
         .unit = "home",
         .source = "4.2.3",
         .fairness = Fairness::optional},
        over(blocks), [](const State& s, Block b) { return s.entry(b).state != Known::I && idle(s, b); },
        [=, this](State& s, Block b) {
          k.when(owned(s, b), [&] {
            at(s.entry(b).owner, [&](auto owner) {
              messages(s, owner, b).forward = Forward::Recall;
              messages(s, owner, b).acknowledgement = Acknowledgement::awaited;
            });
          });
          for_each_sharer(s, b, [&](auto d) {
            invalidate(s, d, b);
            sharer(s, d, b) = false;
          });
          const Cache owner = s.entry(b).owner;
          s.entry(b) = Entry{};
          drop_from_l2(s, b);
          if (fault("recall-not-awaited")) return;
          begin(s, b, Transaction::recall, owner);
          s.mshr(b).step = Step::waits;
        });
    r.rule(
        {.name = "directory has recalled a block", .unit = "home", .source = "4.2.3"}, over(blocks),
        [=, this](const State& s, Block b) {
          return s.mshr(b).transaction == Transaction::recall && awaits_none(s, b);
        },
        [=, this](State& s, Block b) {
          at(s.mshr(b).requester, [&](auto owner) {
            auto& m = messages(s, owner, b);
            k.when(m.acknowledgement == Acknowledgement::with_data, [&] {
              s.home.memory(b) = m.data;
              m.data = Data{};
            });
          });
          take_acknowledgements(s, b, [](const auto& a) { return a != Acknowledgement::none; });
          s.mshr(b) = Mshr{};
        });
    r.rule(
        {.name = "L2 replaces a block", .unit = "home", .source = "4.2.3", .fairness = Fairness::optional},
        over(blocks), [](const State& s, Block b) { return s.l2(b).present && idle(s, b); },
        [=, this](State& s, Block b) {
          drop_from_l2(s, b);
          forget(s, b);
        });
  }
};

struct Info : MemoryInfo<faults, only_variant, ClusterTag> {
  static constexpr std::string_view name = "rfo";
  static constexpr std::string_view what =
      "MOESI with an inclusive full-map directory, reads for ownership (Hechtman, thesis 2014, 4.2.3)";
  static constexpr int place = 25;  // among the systems, where people read of them
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<ClusterTag>(1);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::rfo
