// MSI with a directory: private write-back caches, kept coherent by a directory that knows who shares and who
// owns a block. A protocol outside Lockstep's tree, with transient states and three networks.
//
// Source: Nagarajan, Sorin, Hill, Wood, "A Primer on Memory Consistency and Cache Coherence", 2nd ed. 2020,
// chapter 8: 8.2 with Table 8.1 (the cache) and Table 8.2 (the directory), whose states and messages have
// their names here.
//
// Each thread is a core with a cache of its own, wherever Lockstep's machine puts it, CPUs among them; with
// one request at a time and a single writer or many readers this is sequentially consistent, so orders and
// scopes ask for nothing more. Networks:
//  - requests (GetS, GetM, PutS, PutM): unordered; a core has one Get at a time, and one Put of each block;
//  - forwarded requests (Fwd-GetS, Fwd-GetM, Inv) and Put-Ack: in order from the directory to each cache;
//  - responses (Data, Inv-Ack): unordered. A core awaits one block at a time, so a Data and the Inv-Acks are
//    its own.
// As in the tables, though not compared with the print cell by cell, but for how it is written down:
//  - the count of Inv-Acks is a set, of the sharers that have still to be heard: it is empty where the count
//    is 0;
//  - a core performs the access that it waits for with the message that ends the wait, lest the block be gone
//    before it does;
//  - where two cells of a table differ in nothing but the next state, one rule stands for both.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::msi {

// Forwarded requests under way to one cache; a directory that finds no room waits.
struct ForwardSlot : Slots<"forwarded-requests", 8> {};

enum class CacheState : std::uint8_t { I, IS_D, IM_AD, IM_A, S, SM_AD, SM_A, M, MI_A, SI_A, II_A };
BOOST_DESCRIBE_ENUM(CacheState, I, IS_D, IM_AD, IM_A, S, SM_AD, SM_A, M, MI_A, SI_A, II_A)

enum class DirectoryState : std::uint8_t { I, S, M, S_D };
BOOST_DESCRIBE_ENUM(DirectoryState, I, S, M, S_D)

enum class GetKind : std::uint8_t { none, GetS, GetM };
BOOST_DESCRIBE_ENUM(GetKind, none, GetS, GetM)

enum class PutKind : std::uint8_t { none, PutS, PutM };
BOOST_DESCRIBE_ENUM(PutKind, none, PutS, PutM)

enum class ForwardKind : std::uint8_t { Fwd_GetS, Fwd_GetM, Inv, Put_Ack };
BOOST_DESCRIBE_ENUM(ForwardKind, Fwd_GetS, Fwd_GetM, Inv, Put_Ack)

// An Inv-Ack, from a sharer to the core that asked.
enum class Acknowledgement : std::uint8_t { none, awaited, sent };
BOOST_DESCRIBE_ENUM(Acknowledgement, none, awaited, sent)

inline constexpr std::array faults{
    Fault{"acknowledgements-not-awaited",
          "Data alone makes a core the owner, whoever has still to send an Inv-Ack"}};

template <class K>
struct Protocol : MemorySystem<K, faults> {
  using Base = MemorySystem<K, faults>;
  using Base::Base, Base::k, Base::fault, Base::put, Base::same, Base::word_of;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data;
  using Core = typename Base::ThreadIx;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct Line {
    Enum<CacheState> state;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (state, data), (), ())
  };
  struct Entry {
    Enum<DirectoryState> state;
    Core owner;  // in M
    BOOST_DESCRIBE_CLASS(Entry, (), (state, owner), (), ())
  };
  struct Put {
    Enum<PutKind> kind;
    Data data;  // of a PutM
    BOOST_DESCRIBE_CLASS(Put, (), (kind, data), (), ())
  };
  struct Forward {
    Enum<ForwardKind> kind;
    Block block;
    Core requestor;  // but of a Put-Ack
    BOOST_DESCRIBE_CLASS(Forward, (), (kind, block, requestor), (), ())
  };
  struct Response {
    Bool present;
    Data data;
    BOOST_DESCRIBE_CLASS(Response, (), (present, data), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Line, ThreadTag, BlockTag> cache;
    typename K::template Table<Enum<GetKind>, ThreadTag> get;  // of the block that the core asks for
    typename K::template Table<Put, ThreadTag, BlockTag> put;
    typename K::template Table<typename K::template Fifo<Forward, ForwardSlot>, ThreadTag> forward;
    typename K::template Table<Response, ThreadTag> response;                         // Data to a core
    typename K::template Table<Response, BlockTag> write_back;                        // Data to the directory
    typename K::template Table<Enum<Acknowledgement>, ThreadTag, ThreadTag> inv_ack;  // (requestor, sharer)
    typename K::template Table<Entry, BlockTag> directory;
    typename K::template Table<Bool, ThreadTag, BlockTag> sharer;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (),
                         (port, cache, get, put, forward, response, write_back, inv_ack, directory, sharer,
                          memory),
                         (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    const Entry& entry = s.directory(b);
    return k.select(entry.state == DirectoryState::M, Value(s.cache(entry.owner, b).data(w)),
                    Value(s.memory(b)(w)));
  }
  // Memory is out of date while the directory waits for the owner's data.
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(blocks, [&](Block b) { return s.directory(b).state != DirectoryState::S_D; });
  }

  void rules(Rules& r) const {
    access_rules(r);
    replacement_rules(r);
    response_rules(r);
    forward_rules(r);
    get_rules(r);
    put_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("a single writer, or many readers", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return k.forall(threads, [&](Core c) {
          return k.forall(threads, [&](Core d) {
            return c == d || s.cache(c, b).state != CacheState::M || !readable(s, d, b);
          });
        });
      });
    });
    v.invariant("copies that may be read are the same", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return k.forall(threads, [&](Core c) {
          return k.forall(threads, [&](Core d) {
            return !readable(s, c, b) || !readable(s, d, b) || same(s.cache(c, b).data, s.cache(d, b).data);
          });
        });
      });
    });
    v.invariant("memory is what may be read, unless a core owns the block", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        const Bool owned =
            s.directory(b).state == DirectoryState::M || s.directory(b).state == DirectoryState::S_D;
        return owned || k.forall(threads, [&](Core c) {
          return !readable(s, c, b) || same(s.cache(c, b).data, s.memory(b));
        });
      });
    });
  }

 private:
  [[nodiscard]] static Bool readable(const State& s, Core c, Block b) {
    const auto& state = s.cache(c, b).state;
    return state == CacheState::S || state == CacheState::SM_AD || state == CacheState::SM_A ||
           state == CacheState::M;
  }
  [[nodiscard]] static Bool waits_to_write(const State& s, Core c) {
    return waits_for(s, c, Operation::store) || waits_for(s, c, Operation::rmw);
  }
  // The core's line of the block that it asks for.
  [[nodiscard]] static Line& asked(State& s, Core c) { return s.cache(c, s.port(c).request.block); }
  [[nodiscard]] static const Line& asked(const State& s, Core c) {
    return s.cache(c, s.port(c).request.block);
  }
  [[nodiscard]] static Bool asked_is(const State& s, Core c, CacheState state) {
    return asked(s, c).state == state;
  }

  // The access that the core asks for, on a line that permits it.
  void read(State& s, Core c) const {
    complete<K>(s.port(c), word_of(asked(s, c).data, s.port(c).request.word));
  }
  void write(State& s, Core c) const {
    const auto& q = s.port(c).request;
    const Value old = word_of(asked(s, c).data, q.word);
    const Value now = K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
    put(asked(s, c).data, q.word, now);
    k.when(q.operation == Operation::rmw, [&] { s.port(c).result = old; });
    complete<K>(s.port(c));
  }

  // ---- Table 8.1, columns Load, Store, Replacement ------------------------------------------------------

  void access_rules(Rules& r) const {
    r.rule(
        {.name = "load hits", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) {
          return waits_for(s, c, Operation::load) &&
                 (asked_is(s, c, CacheState::S) || asked_is(s, c, CacheState::M));
        },
        [=, this](State& s, Core c) { read(s, c); });
    r.rule(
        {.name = "load misses", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) {
          return waits_for(s, c, Operation::load) && asked_is(s, c, CacheState::I);
        },
        [](State& s, Core c) {
          s.get(c) = GetKind::GetS;
          asked(s, c).state = CacheState::IS_D;
        });
    r.rule(
        {.name = "store hits", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) { return waits_to_write(s, c) && asked_is(s, c, CacheState::M); },
        [=, this](State& s, Core c) { write(s, c); });
    r.rule(
        {.name = "store misses", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) { return waits_to_write(s, c) && asked_is(s, c, CacheState::I); },
        [](State& s, Core c) {
          s.get(c) = GetKind::GetM;
          asked(s, c).state = CacheState::IM_AD;
        });
    r.rule(
        {.name = "store finds a shared copy", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) { return waits_to_write(s, c) && asked_is(s, c, CacheState::S); },
        [](State& s, Core c) {
          s.get(c) = GetKind::GetM;
          asked(s, c).state = CacheState::SM_AD;
        });
    r.rule(
        {.name = "passes a fence", .unit = "cache", .source = "ours"}, over(threads),
        [](const State& s, Core c) { return waits_for(s, c, Operation::fence); },
        [](State& s, Core c) { complete<K>(s.port(c)); });
  }

  void replacement_rules(Rules& r) const {
    r.rule(
        {.name = "replaces a block", .unit = "cache", .source = "Table 8.1", .fairness = Fairness::optional},
        over(threads, blocks),
        [](const State& s, Core c, Block b) {
          return s.cache(c, b).state == CacheState::S || s.cache(c, b).state == CacheState::M;
        },
        [=, this](State& s, Core c, Block b) {
          k.when(
              s.cache(c, b).state == CacheState::M,
              [&] {
                s.put(c, b).kind = PutKind::PutM;
                s.put(c, b).data = s.cache(c, b).data;
                s.cache(c, b).state = CacheState::MI_A;
              },
              [&] {
                s.put(c, b).kind = PutKind::PutS;
                give_up(s, c, b, CacheState::SI_A);
              });
        });
  }

  // ---- Table 8.1, columns Data and Inv-Ack --------------------------------------------------------------

  [[nodiscard]] Bool hears_from_all_but(const State& s, Core c, Core d) const {
    return k.forall(threads, [&](Core e) { return e == d || s.inv_ack(c, e) == Acknowledgement::none; });
  }
  [[nodiscard]] Bool awaits_none(const State& s, Core c) const {
    if (fault("acknowledgements-not-awaited")) return Bool(true);
    return k.forall(threads, [&](Core e) { return s.inv_ack(c, e) == Acknowledgement::none; });
  }
  // A GetM waits for Data, and for Inv-Acks alone.
  [[nodiscard]] static Bool awaits_data(const State& s, Core c) {
    return asked_is(s, c, CacheState::IM_AD) || asked_is(s, c, CacheState::SM_AD);
  }
  [[nodiscard]] static Bool awaits_acknowledgements(const State& s, Core c) {
    return asked_is(s, c, CacheState::IM_A) || asked_is(s, c, CacheState::SM_A);
  }
  static void take_data(State& s, Core c) {
    asked(s, c).data = s.response(c).data;
    s.response(c) = Response{};
  }
  void own(State& s, Core c) const {
    asked(s, c).state = CacheState::M;
    write(s, c);
  }

  void response_rules(Rules& r) const {
    r.rule(
        {.name = "Data ends a load", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [](const State& s, Core c) { return s.response(c).present && asked_is(s, c, CacheState::IS_D); },
        [=, this](State& s, Core c) {
          take_data(s, c);
          asked(s, c).state = CacheState::S;
          read(s, c);
        });
    r.rule(
        {.name = "Data ends a store", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [=, this](const State& s, Core c) {
          return s.response(c).present && awaits_data(s, c) && awaits_none(s, c);
        },
        [=, this](State& s, Core c) {
          take_data(s, c);
          own(s, c);
        });
    r.rule(
        {.name = "Data comes before an Inv-Ack", .unit = "cache", .source = "Table 8.1"}, over(threads),
        [=, this](const State& s, Core c) {
          return s.response(c).present && awaits_data(s, c) && !awaits_none(s, c);
        },
        [](State& s, Core c) {
          take_data(s, c);
          asked(s, c).state = K::select(asked_is(s, c, CacheState::IM_AD), Enum<CacheState>(CacheState::IM_A),
                                        Enum<CacheState>(CacheState::SM_A));
        });
    r.rule(
        {.name = "an Inv-Ack", .unit = "cache", .source = "Table 8.1"}, over(threads, threads),
        [=, this](const State& s, Core c, Core d) {
          return s.inv_ack(c, d) == Acknowledgement::sent &&
                 !(awaits_acknowledgements(s, c) && hears_from_all_but(s, c, d));
        },
        [](State& s, Core c, Core d) { s.inv_ack(c, d) = Acknowledgement::none; });
    r.rule(
        {.name = "the last Inv-Ack", .unit = "cache", .source = "Table 8.1"}, over(threads, threads),
        [=, this](const State& s, Core c, Core d) {
          return s.inv_ack(c, d) == Acknowledgement::sent && awaits_acknowledgements(s, c) &&
                 hears_from_all_but(s, c, d);
        },
        [=, this](State& s, Core c, Core d) {
          s.inv_ack(c, d) = Acknowledgement::none;
          own(s, c);
        });
  }

  // ---- Table 8.1, columns Fwd-GetS, Fwd-GetM, Inv, Put-Ack ----------------------------------------------

  static void send_data(Response& response, const Data& data) {
    response.present = true;
    response.data = data;
  }
  static void give_up(State& s, Core c, Block b, CacheState state) {
    s.cache(c, b) = Line{};
    s.cache(c, b).state = state;
  }

  void forward_rules(Rules& r) const {
    // In all other states the message stays where it is: the cell says `stall`, or nothing.
    const auto message = [&r](std::string_view name, ForwardKind kind, CacheState state, auto action) {
      r.triggered(
          {.name = name, .unit = "cache", .source = "Table 8.1"}, over(threads),
          [](auto& s, Core c) -> auto& { return s.forward(c); },
          [kind, state](const State& s, Core c, const Forward& m) {
            return m.kind == kind && s.cache(c, m.block).state == state;
          },
          action);
    };
    const auto share = [](State& s, Core c, const Forward& m) {
      send_data(s.response(m.requestor), s.cache(c, m.block).data);
      send_data(s.write_back(m.block), s.cache(c, m.block).data);
    };
    message("Fwd-GetS to the owner", ForwardKind::Fwd_GetS, CacheState::M,
            [=](State& s, Core c, const Forward& m) {
              share(s, c, m);
              s.cache(c, m.block).state = CacheState::S;
            });
    message("Fwd-GetS meets a PutM", ForwardKind::Fwd_GetS, CacheState::MI_A,
            [=](State& s, Core c, const Forward& m) {
              share(s, c, m);
              give_up(s, c, m.block, CacheState::SI_A);
            });
    message("Fwd-GetM to the owner", ForwardKind::Fwd_GetM, CacheState::M,
            [](State& s, Core c, const Forward& m) {
              send_data(s.response(m.requestor), s.cache(c, m.block).data);
              give_up(s, c, m.block, CacheState::I);
            });
    message("Fwd-GetM meets a PutM", ForwardKind::Fwd_GetM, CacheState::MI_A,
            [](State& s, Core c, const Forward& m) {
              send_data(s.response(m.requestor), s.cache(c, m.block).data);
              give_up(s, c, m.block, CacheState::II_A);
            });
    message("Inv to a sharer", ForwardKind::Inv, CacheState::S, [](State& s, Core c, const Forward& m) {
      s.inv_ack(m.requestor, c) = Acknowledgement::sent;
      give_up(s, c, m.block, CacheState::I);
    });
    message("Inv meets a GetM", ForwardKind::Inv, CacheState::SM_AD, [](State& s, Core c, const Forward& m) {
      s.inv_ack(m.requestor, c) = Acknowledgement::sent;
      give_up(s, c, m.block, CacheState::IM_AD);
    });
    message("Inv meets a PutS", ForwardKind::Inv, CacheState::SI_A, [](State& s, Core c, const Forward& m) {
      s.inv_ack(m.requestor, c) = Acknowledgement::sent;
      give_up(s, c, m.block, CacheState::II_A);
    });
    const auto gone = [](State& s, Core c, const Forward& m) { give_up(s, c, m.block, CacheState::I); };
    message("Put-Ack to an owner", ForwardKind::Put_Ack, CacheState::MI_A, gone);
    message("Put-Ack to a sharer", ForwardKind::Put_Ack, CacheState::SI_A, gone);
    message("Put-Ack to a core that lost the block", ForwardKind::Put_Ack, CacheState::II_A, gone);
  }

  // ---- Table 8.2 ----------------------------------------------------------------------------------------

  [[nodiscard]] static Block block(const State& s, Core c) { return s.port(c).request.block; }
  [[nodiscard]] static Bool is_shared_at_most(const State& s, Block b) {
    return s.directory(b).state == DirectoryState::I || s.directory(b).state == DirectoryState::S;
  }
  [[nodiscard]] Bool has_room(const State& s, Core c) const { return !k.full(s.forward(c)); }
  void send(State& s, Core to, ForwardKind kind, Block b, Core requestor) const {
    Forward m;
    m.kind = kind;
    m.block = b;
    m.requestor = requestor;
    k.push(s.forward(to), m);
  }
  void set_owner(State& s, Block b, Core c) const {
    s.directory(b).state = DirectoryState::M;
    s.directory(b).owner = c;
  }
  void clear_owner(State& s, Block b, DirectoryState state) const {
    s.directory(b).state = state;
    s.directory(b).owner = Core{};
  }

  // In S_D a GetS or GetM stays where it is.
  void get_rules(Rules& r) const {
    const auto owned = [=, this](const State& s, Core c, GetKind kind) {
      return s.get(c) == kind && s.directory(block(s, c)).state == DirectoryState::M &&
             has_room(s, s.directory(block(s, c)).owner);
    };
    r.rule(
        {.name = "GetS answered by memory", .unit = "directory", .source = "Table 8.2"}, over(threads),
        [](const State& s, Core c) { return s.get(c) == GetKind::GetS && is_shared_at_most(s, block(s, c)); },
        [](State& s, Core c) {
          const Block b = block(s, c);
          s.get(c) = GetKind::none;
          send_data(s.response(c), s.memory(b));
          s.sharer(c, b) = true;
          s.directory(b).state = DirectoryState::S;
        });
    r.rule(
        {.name = "GetS forwarded to the owner", .unit = "directory", .source = "Table 8.2"}, over(threads),
        [=](const State& s, Core c) { return owned(s, c, GetKind::GetS); },
        [=, this](State& s, Core c) {
          const Block b = block(s, c);
          const Core owner = s.directory(b).owner;
          s.get(c) = GetKind::none;
          send(s, owner, ForwardKind::Fwd_GetS, b, c);
          s.sharer(c, b) = true;
          s.sharer(owner, b) = true;
          clear_owner(s, b, DirectoryState::S_D);
        });
    r.rule(
        {.name = "GetM answered by memory", .unit = "directory", .source = "Table 8.2"}, over(threads),
        [=, this](const State& s, Core c) {
          const auto blocked = [&](Core d) { return s.sharer(d, block(s, c)) && d != c && !has_room(s, d); };
          return s.get(c) == GetKind::GetM && is_shared_at_most(s, block(s, c)) &&
                 !exists_present(k, slice(s.sharer, threads, block(s, c)), blocked);
        },
        [=, this](State& s, Core c) {
          const Block b = block(s, c);
          s.get(c) = GetKind::none;
          send_data(s.response(c), s.memory(b));
          for_each_present(k, slice(s.sharer, threads, b), [&](Core d) {
            k.when(s.sharer(d, b) && d != c, [&] {
              send(s, d, ForwardKind::Inv, b, c);
              s.inv_ack(c, d) = Acknowledgement::awaited;
            });
            s.sharer(d, b) = false;
          });
          set_owner(s, b, c);
        });
    r.rule(
        {.name = "GetM forwarded to the owner", .unit = "directory", .source = "Table 8.2"}, over(threads),
        [=](const State& s, Core c) { return owned(s, c, GetKind::GetM); },
        [=, this](State& s, Core c) {
          const Block b = block(s, c);
          s.get(c) = GetKind::none;
          send(s, s.directory(b).owner, ForwardKind::Fwd_GetM, b, c);
          set_owner(s, b, c);
        });
    r.rule(
        {.name = "the owner's Data", .unit = "directory", .source = "Table 8.2"}, over(blocks),
        [](const State& s, Block b) { return s.write_back(b).present; },
        [](State& s, Block b) {
          s.memory(b) = s.write_back(b).data;
          s.write_back(b) = Response{};
          s.directory(b).state = DirectoryState::S;
        });
  }

  // Columns PutS-NotLast, PutS-Last, PutM from Owner and from NonOwner, which end alike.
  void put_rules(Rules& r) const {
    r.rule(
        {.name = "a Put", .unit = "directory", .source = "Table 8.2"}, over(threads, blocks),
        [=, this](const State& s, Core c, Block b) {
          return s.put(c, b).kind != PutKind::none && has_room(s, c);
        },
        [=, this](State& s, Core c, Block b) {
          const auto shares = [&](Core d) { return s.sharer(d, b) && d != c; };
          k.when(s.put(c, b).kind == PutKind::PutS && s.directory(b).state == DirectoryState::S &&
                     !exists_present(k, slice(s.sharer, threads, b), shares),
                 [&] { s.directory(b).state = DirectoryState::I; });
          k.when(s.put(c, b).kind == PutKind::PutM && s.directory(b).state == DirectoryState::M &&
                     s.directory(b).owner == c,
                 [&] {
                   s.memory(b) = s.put(c, b).data;
                   clear_owner(s, b, DirectoryState::I);
                 });
          s.sharer(c, b) = false;
          s.put(c, b) = Put{};
          send(s, c, ForwardKind::Put_Ack, b, Core{});
        });
  }
};

struct Info : MemoryInfo<faults, only_variant, ForwardSlot> {
  static constexpr std::string_view name = "msi";
  static constexpr std::string_view what =
      "MSI with a directory and three networks (Primer, 2nd ed. 2020, ch. 8)";
  static constexpr int place = 100;  // among the systems, where people read of them
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<ForwardSlot>(4);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::msi
