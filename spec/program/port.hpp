// The port between a thread and any memory system: one request at a time, later its completion.
//
// A thread fills in `request` and raises `pending`. The memory system performs the operation in as many steps
// as it needs and ends it with `complete`, which lowers `pending`, raises `done` and hands over a value. A
// barrier's arrival and a kernel's end reach the port as a release fence, a barrier's departure and a
// kernel's begin as an acquire fence; an sc operation as an acquire load, a release store or an acq_rel RMW
// or fence (semantics.md, "Operations").
#pragma once

#include <boost/describe.hpp>

#include "spec/kernel/rules.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

enum class Operation : std::uint8_t { load, store, rmw, fence };
BOOST_DESCRIBE_ENUM(Operation, load, store, rmw, fence)
BOOST_DESCRIBE_ENUM(RmwFunction, exchange, compare_swap, add, subtract, increment, decrement, bit_and, bit_or,
                    bit_xor, minimum, maximum, minimum_unsigned, maximum_unsigned)
BOOST_DESCRIBE_ENUM(Order, plain, relaxed, comm, acquire, release, acq_rel, sc)
BOOST_DESCRIBE_ENUM(Scope, wave, wg, agent, system)

template <class K>
struct Port {
  template <class E>
  using Enum = typename K::template Enum<E>;

  // Determined by the thread's place in its program and its registers, hence not stored.
  struct Request {
    static constexpr bool is_derived = true;
    Enum<Operation> operation;
    Enum<RmwFunction> function;
    Enum<Order> order;
    Enum<Scope> scope;
    typename K::template Ix<BlockTag> block;
    typename K::template Ix<WordTag> word;
    typename K::Value a;
    typename K::Value b;
    typename K::Bool returns;  // of an RMW: somebody takes the old value
    BOOST_DESCRIBE_CLASS(Request, (), (operation, function, order, scope, block, word, a, b, returns), (), ())
  };
  Request request;
  typename K::Bool pending;
  typename K::Bool done;
  typename K::Value result;
  typename K::Bool ended;  // the thread has finished its program
  BOOST_DESCRIBE_CLASS(Port, (), (request, pending, done, result, ended), (), ())
};

template <class K>
void complete(Port<K>& port, const typename K::Value& result) {
  port.pending = false;
  port.done = true;
  port.result = result;
}
template <class K>
void complete(Port<K>& port) {
  port.pending = false;
  port.done = true;
}

// The threads whose last request names the block: those it may matter to that the block changes. A kind that
// can look them up does so.
template <class K, class Ports, class Block, class F>
void for_each_asking(const K& k, const Ports& port, const Block& b, F&& f) {
  if constexpr (requires { port.for_each_asking(b, f); }) {
    port.for_each_asking(b, f);
  } else {
    k.for_each(threads, [&](const auto& t) { k.when(port(t).request.block == b, [&] { f(t); }); });
  }
}
template <class K, class Ports, class Block, class F>
typename K::Bool exists_asking(const K& k, const Ports& port, const Block& b, F&& f) {
  if constexpr (requires { port.exists_asking(b, f); }) {
    return port.exists_asking(b, f);
  } else {
    return k.exists(threads, [&](const auto& t) { return port(t).request.block == b && f(t); });
  }
}

template <class E>
auto acquires(const E& order) {
  return order == Order::acquire || order == Order::acq_rel || order == Order::sc;
}
template <class E>
auto releases(const E& order) {
  return order == Order::release || order == Order::acq_rel || order == Order::sc;
}
// Whether a scope is no wider than a work-group, which shares one CU.
template <class E>
auto within_work_group(const E& scope) {
  return scope == Scope::wave || scope == Scope::wg;
}

}  // namespace lockstep
