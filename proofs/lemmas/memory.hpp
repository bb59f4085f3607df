// What the lemmas of every memory system talk about: who sits where, and which of its messages a queue holds.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "spec/program/client.hpp"
#include "spec/program/machine.hpp"

namespace lockstep {

// `Open` is a memory system with the most general client.
template <class Open>
struct MemoryWords {
  using K = typename Open::Kind;
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Cu = typename K::template Ix<CuTag>;
  using Agent = typename K::template Ix<AgentTag>;

  const Open& open;

  [[nodiscard]] const K& k() const { return open.kind(); }
  [[nodiscard]] Cu cu(const ThreadIx& t) const { return open.machine().cu_of(t); }
  [[nodiscard]] Agent agent_of(const Cu& c) const { return open.machine().agent_of(c); }
  [[nodiscard]] Agent agent(const ThreadIx& t) const { return agent_of(cu(t)); }
  [[nodiscard]] Bool host(const ThreadIx& t) const { return open.machine().is_host(t); }

  // The block's data hold a later value of the watched word than its first.
  template <class Data>
  [[nodiscard]] static Bool is_new(const Data& data) {
    return data(Open::watched_word()) != Value(0);
  }

  // Some row of the queue is of the kind and the thread's.
  template <class Queue, class Kind>
  [[nodiscard]] static Bool holds(const Queue& queue, Kind kind, const ThreadIx& t) {
    return K::contains(queue, [&](const auto& row) { return row.kind == kind && row.thread == t; });
  }
  // No two rows are.
  template <class Queue, class Kind>
  [[nodiscard]] static Bool once(const Queue& queue, Kind kind, const ThreadIx& t) {
    Bool once(true);
    Bool seen(false);
    K::for_each_queued(queue, [&](const auto& row) {
      const Bool is = row.kind == kind && row.thread == t;
      once = once && !(seen && is);
      seen = seen || is;
    });
    return once;
  }
  // Every row that is has one ahead of it that `ahead` holds of.
  template <class Queue, class Kind, class Ahead>
  [[nodiscard]] static Bool behind(const Queue& queue, Kind kind, const ThreadIx& t, Ahead&& ahead) {
    Bool all(true);
    Bool seen(false);
    K::for_each_queued(queue, [&](const auto& row) {
      all = all && (seen || !(row.kind == kind && row.thread == t));
      seen = seen || ahead(row);
    });
    return all;
  }
};

// Claims of each thread, CU or agent, made of the state and the memory system's part of it.
template <class System>
struct MemoryClaims {
  using State = typename System::State;
  using K = typename System::Kind;
  using Bool = typename K::Bool;
  using Open = std::remove_cvref_t<decltype(std::declval<System>().system())>;

  const System& system;

  [[nodiscard]] const K& k() const { return system.kind(); }

  template <class V, class Claim>
  void each_thread(V& v, std::string_view name, Claim claim) const {
    each(v, name, threads, claim);
  }
  template <class V, class Claim>
  void each_cu(V& v, std::string_view name, Claim claim) const {
    each(v, name, cus, claim);
  }
  template <class V, class Claim>
  void each_agent(V& v, std::string_view name, Claim claim) const {
    each(v, name, agents, claim);
  }
  // Until the first race (port_theorem.hpp).
  template <class V, class Claim>
  void each_thread_unraced(V& v, std::string_view name, Claim claim) const {
    each_thread(v, name, [claim](const State& s, const auto& m, const auto& t) {
      return s.ghost.port.raced || claim(s, m, t);
    });
  }

  // What every client and port keep.
  template <class V>
  void pending_or_done(V& v) const {
    each_thread(v, "a request is pending or done, not both", [](const State&, const auto& m, const auto& t) {
      return !m.port(t).pending || !m.port(t).done;
    });
  }
  template <class V>
  void loads_release_nothing(V& v) const {
    each_thread(v, "a load releases nothing", [](const State&, const auto& m, const auto& t) {
      const auto& q = m.port(t).request;
      return !m.port(t).pending || q.operation != Operation::load || !releases(q.order);
    });
  }

 private:
  template <class V, class Tag, class Claim>
  void each(V& v, std::string_view name, Tag tag, Claim claim) const {
    v.invariant(name, [=, this](const State& s) {
      return k().forall(tag, [&](const auto& i) { return claim(s, s.system.memory, i); });
    });
  }
};

}  // namespace lockstep
