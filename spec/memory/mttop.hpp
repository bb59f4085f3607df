// MTTOPs: massively threaded throughput-oriented processors, whose cores implement a CPU's consistency model
// on caches kept coherent by writing back. Four cores: sequential consistency without and with write buffers,
// total store order, relaxed memory order.
//
// Source: Hechtman, thesis 2014, ch. 3 (3.3.1 to 3.3.4, Figs. 3.2 and 3.3; the figures are not in the text).
// The hierarchy behind them, "a writeback cache coherence protocol" whose L1s are "connected to a banked L2
// cache that holds directory state", is one memory here, on which an access is performed at one moment. That
// is what such a hierarchy comes to: `mttop-rfo` (mttop_rfo.hpp) has the directory of 4.2.3 in its place.
//
// A thread's write buffer, and its loads that are under way, are its slots (program.hpp, Thread::slot_of): to
// which it hands what it does not wait for, oldest first (outstanding.hpp). What is said here is which of
// them may reach the L1 when. What is ours, since the text is silent:
//  - "Memory fence" is every fence, one that only acquires or releases as well; a barrier's arrival and
//    departure are fences, and the begin and end of a kernel.
//  - RMO says nothing of atomics. They are accesses like others, ordered by their address.
//  - Acquire and release, which the text has as fences alone (2.2.3), also stand at accesses, and are
//    sequentially consistent among themselves (port.hpp). An access that acquires waits for all that is under
//    way, and its thread for it; in RMO one that releases waits likewise. An sc access does both.
//  - "An outstanding write and read to the same address" are ordered, so two writes are as well; two reads
//    are not (variant `reads-ordered`: they are, as on Alpha). An address is a word's, in the write buffer
//    and in the MSHRs.
//  - A buffer that is full is emptied. The print's are "perfect".
//  - Scopes ask for nothing. CPUs wait for each access.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "spec/memory/memory_system.hpp"
#include "spec/memory/sc.hpp"
#include "spec/program/outstanding.hpp"

namespace lockstep::mttop {

// What a thread may have issued since it last waited for all, besides what it waits for.
struct OutstandingTag : Amounts<"outstanding", 7> {};
inline constexpr OutstandingTag outstanding{};

inline constexpr std::array variants{
    Variant{"default", "RMO (3.3.4): neither stores nor loads are waited for; MSHRs order an address"},
    Variant{"reads-ordered", "RMO, and MSHRs order two loads of an address as well"},
    Variant{"tso", "TSO (3.3.3): a FIFO write buffer, in which loads look for their address, and wait"},
    Variant{"sc-wb", "SC_wb (3.3.2): a FIFO write buffer, which is drained before a load"},
    Variant{"sc-simple", "SC_simple (3.3.1): one access of a thread at a time"},
};

inline constexpr std::array faults{
    Fault{"load-passes-store", "a load does not wait for an older store of its address"},
    Fault{"store-passes-load", "a store does not wait for an older load of its address"},
    Fault{"store-passes-store", "a store does not wait for an older one of its address"},
    Fault{"fence-does-not-drain", "a fence does not wait for what is under way"},
    Fault{"acquire-does-not-drain", "a load or RMW that acquires does not wait for what is under way"},
    Fault{"release-does-not-drain", "a store or RMW that releases does not wait for what is under way"},
    Fault{"buffer-unordered", "of a FIFO write buffer, stores leave in any order"},
    Fault{"atomic-does-not-drain", "with a FIFO write buffer, an atomic does not wait for it"},
    Fault{"load-does-not-drain", "in SC_wb a load does not wait for the write buffer"},
};

// What of a thread is under way, as a front of the hierarchy.
template <class K>
struct Issue : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using typename Base::Bool, typename Base::ThreadIx;
  static constexpr unsigned own_faults = faults.size();

  template <class S>
  [[nodiscard]] Bool admits(const S& s, ThreadIx t) const {
    Bool free(true);
    ThreadIx older = t;
    for (int n = 0; n < k.extent(outstanding); ++n) {
      older = machine.predecessor_of(older);
      free = free && (older == t || !s.port(older).pending || !waits(s, t, older));
    }
    return free;
  }

 private:
  // Of an access, and an older one of its thread that is under way.
  template <class S>
  [[nodiscard]] Bool waits(const S& s, ThreadIx t, ThreadIx older) const {
    const auto& q = s.port(t).request;
    const Bool fence = asks(s, t, Operation::fence);
    const bool fifo = is("tso") || is("sc-wb");
    const Bool synchronizes = (acquires(q.order) && !fault("acquire-does-not-drain")) ||
                              (!fifo && releases(q.order) && !fault("release-does-not-drain"));
    const Bool in_turn = (asks(s, t, Operation::store) && !fault("buffer-unordered")) ||
                         (asks(s, t, Operation::rmw) && !fault("atomic-does-not-drain"));
    const Bool drains = (fence && !fault("fence-does-not-drain")) || (!fence && synchronizes) ||
                        (fifo && in_turn) ||
                        (is("sc-wb") && asks(s, t, Operation::load) && !fault("load-does-not-drain"));
    const Bool same = q.block == s.port(older).request.block && q.word == s.port(older).request.word;
    return drains || (!fence && same && !overtakes(s, t, older));
  }
  // Of two accesses to one word.
  template <class S>
  [[nodiscard]] Bool overtakes(const S& s, ThreadIx t, ThreadIx older) const {
    const auto are = [&](Operation younger, Operation first) {
      return asks(s, t, younger) && asks(s, older, first);
    };
    return (are(Operation::load, Operation::load) && !is("reads-ordered")) ||
           (are(Operation::load, Operation::store) && fault("load-passes-store")) ||
           (are(Operation::store, Operation::load) && fault("store-passes-load")) ||
           (are(Operation::store, Operation::store) && fault("store-passes-store"));
  }
};

// A thread's slots count among the threads.
template <class Capacities>
struct WithSlots {
  template <class Tag>
  static constexpr int of =
      std::is_same_v<Tag, ThreadTag>&& Capacities::template of<Tag> < 64 ? 2 * Capacities::template of<Tag>
                                                                         : Capacities::template of<Tag>;
};

// What readers ask of a system with these cores; `Tags` are those of its hierarchy.
template <const auto& its_faults, class... Tags>
struct InfoOfCores : MemoryInfo<its_faults, variants> {
  using Base = MemoryInfo<its_faults, variants>;
  template <class Capacities>
  using Sizes = MachineSizes<WithSlots<Capacities>, Tags..., OutstandingTag>;
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<OutstandingTag>(4);
    (sizes.template set<Tags>(Tags::capacity), ...);
  }
  // What threads do not wait for, at most so much of it.
  static constexpr Outstanding leaves(int variant) {
    if (Base::is(variant, "sc-simple")) return Outstanding::none;
    const bool fifo = Base::is(variant, "tso") || Base::is(variant, "sc-wb");
    return fifo ? Outstanding::stores : Outstanding::accesses;
  }
  template <class S>
  static constexpr int most_left(const S& sizes) {
    return sizes.template extent<OutstandingTag>();
  }
};

struct Info : InfoOfCores<faults> {
  static constexpr std::string_view name = "mttop";
  static constexpr std::string_view what =
      "cores with the consistency of CPUs on coherent memory: RMO, TSO, SC (Hechtman, thesis 2014, ch. 3)";
  static constexpr int place = 26;              // among the systems, where people read of them
  static constexpr bool is_cited_whole = true;  // no rule has a place of its own in the literature
  template <class K>
  using Memory = sc::Protocol<K, Issue>;
};

}  // namespace lockstep::mttop
