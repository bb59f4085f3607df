// What lemmas of logical time talk about: one word that is watched, and one time, whichever it is. What the
// time *selects* is the value of the last write of the word that is no later.
#pragma once

#include <boost/describe.hpp>
#include <limits>

#include "proofs/lemmas/memory.hpp"
#include "proofs/terms.hpp"

namespace lockstep {

template <class Open>
struct LogicalTimeWords : MemoryWords<Open> {
  using Base = MemoryWords<Open>;
  using typename Base::Bool;
  using typename Base::K;
  using typename Base::ThreadIx;
  using typename Base::Value;
  using Memory = typename Open::Memory;
  using MemoryState = typename Open::MemoryState;
  using Number = typename K::Number;
  using Block = typename Memory::Block;

  [[nodiscard]] Memory protocol() const { return this->open.memory(); }
  // The watched time: a constant of which the prover knows nothing, and a time for the explorer.
  [[nodiscard]] static Number watched_time() {
    if constexpr (requires { typename K::Session; }) {
      constexpr int last = std::numeric_limits<int>::max();
      return Number(symbolic::Session::current().variable(
          {symbolic::Domain::Kind::integer, "int", 0, 0, last}, "watched-time"));
    } else {
      return Number(1);
    }
  }
  [[nodiscard]] static Block watched_block() { return Open::watched_block(); }
  template <class Data>
  [[nodiscard]] static Value word(const Data& data) {
    return data(Open::watched_word());
  }
  template <class Request>
  [[nodiscard]] static Bool at_watched(const Request& q) {
    return q.block == watched_block() && q.word == Open::watched_word();
  }
  template <class Lease>
  [[nodiscard]] static Bool covers(const Lease& lease, const Number& time) {
    return lease.wts <= time && time <= lease.rts;
  }
  [[nodiscard]] static Bool completes(const MemoryState& was, const MemoryState& is, const ThreadIx& t) {
    return was.port(t).pending && !is.port(t).pending;
  }
};

// What is kept of the past.
template <class K, class Time>
struct LogicalTimeGhost {
  struct Access {
    Time asked;  // the clock that the thread goes by when its request left or was answered at once
    Time time;   // of its last operation
    typename K::Bool dated;  // it has one, and time has not begun again since
    BOOST_DESCRIBE_CLASS(Access, (), (asked, time, dated), (), ())
  };
  Time last;                   // of the writes of the watched word
  typename K::Value selected;  // by the watched time
  typename K::template Table<Access, ThreadTag> access;
  BOOST_DESCRIBE_CLASS(LogicalTimeGhost, (), (last, selected, access), (), ())
};

}  // namespace lockstep
