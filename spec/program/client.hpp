// A memory system with the most general client: every thread may issue any request whenever it has none, for
// ever. What holds here holds for every program on that machine.
//
// `sc` orders what `acq_rel` orders and `wave` reaches what `wg` reaches in every memory system so far, so
// one of each pair is issued. RMWs exchange: what else an RMW computes is the same code in every memory
// system (port.hpp), and only moves data. Where updates that commute are what is watched, they are issued
// too.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"

namespace lockstep {

// What a request asks, but for its place: an operation with its order and scope, and what it writes.
struct RequestShape {
  Operation operation = Operation::load;
  Order order = Order::plain;
  Scope scope = Scope::system;
  int datum = 0;
  RmwFunction function = RmwFunction::exchange;
  bool returns = true;
};

namespace detail {

// Calls f with every shape.
template <class F>
constexpr void for_each_request_shape(F&& f) {
  constexpr std::array scopes{Scope::wg, Scope::agent, Scope::system};
  const auto scoped = [&](Operation operation, Order order, int data) {
    for (const Scope scope : scopes) {
      for (int datum = 0; datum < data; ++datum) f(RequestShape{operation, order, scope, datum});
    }
  };
  f(RequestShape{Operation::load, Order::plain, Scope::system, 0});
  scoped(Operation::load, Order::relaxed, 1);
  scoped(Operation::load, Order::acquire, 1);
  for (int datum = 0; datum < 2; ++datum)
    f(RequestShape{Operation::store, Order::plain, Scope::system, datum});
  scoped(Operation::store, Order::relaxed, 2);
  scoped(Operation::store, Order::release, 2);
  for (const Order order : {Order::relaxed, Order::acquire, Order::release, Order::acq_rel})
    scoped(Operation::rmw, order, 2);
  for (const Order order : {Order::acquire, Order::release, Order::acq_rel})
    scoped(Operation::fence, order, 1);
  const auto update = [&](RmwFunction function, int datum) {
    f(RequestShape{Operation::rmw, Order::comm, Scope::agent, datum, function, false});
  };
  update(RmwFunction::add, 1);
  update(RmwFunction::add, 2);
  update(RmwFunction::bit_xor, 1);
}
constexpr int count_request_shapes() {
  int n = 0;
  for_each_request_shape([&](const RequestShape&) { ++n; });
  return n;
}

}  // namespace detail

inline constexpr auto request_shapes = [] {
  std::array<RequestShape, static_cast<std::size_t>(detail::count_request_shapes())> shapes{};
  std::size_t n = 0;
  detail::for_each_request_shape([&](const RequestShape& shape) { shapes[n++] = shape; });
  return shapes;
}();

struct ShapeTag : FixedNumbered<"request", static_cast<int>(request_shapes.size())> {};
inline constexpr ShapeTag shapes{};

// The sizes of a memory system with those of its client.
template <class Sizes>
struct ClientSizesOf;
template <class Capacities, class... Tags>
struct ClientSizesOf<SizesWithin<Capacities, Tags...>> {
  using type = SizesWithin<Capacities, Tags..., ShapeTag>;
};
template <class Info, class Capacities>
using ClientSizes = typename ClientSizesOf<typename Info::template Sizes<Capacities>>::type;

// One word that is watched: it is 0 at first, and whoever writes it writes something else, so that its old
// value can be told wherever it has been copied to; or nobody writes it but by updates that commute.
enum class Watch : std::uint8_t { nothing, first_word, sum, parity };

constexpr bool watches_updates(Watch watch) {
  return watch == Watch::sum || watch == Watch::parity;
}
constexpr RmwFunction updated_by(Watch watch) {
  return watch == Watch::sum ? RmwFunction::add : RmwFunction::bit_xor;
}
// Whether the client makes requests of that shape at all: updates only where they are watched, and where a
// parity is, only those that keep it one.
constexpr bool is_issued(const RequestShape& asked, Watch watch) {
  return asked.order != Order::comm ||
         (watches_updates(watch) && (watch != Watch::parity || asked.function == updated_by(watch)));
}

template <class Info, class K>
class OpenSystem {
 public:
  using Kind = K;
  using Bool = typename K::Bool;
  using Memory = typename Info::template Memory<K>;
  using MemoryState = typename Memory::State;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Shape = typename K::template Ix<ShapeTag>;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;

  // What the port does not store: here it follows from no program.
  struct Request {
    Shape shape;
    Block block;
    Word word;
    BOOST_DESCRIBE_CLASS(Request, (), (shape, block, word), (), ())
  };
  struct State {
    typename K::template Table<Request, ThreadTag> request;
    MemoryState memory;
    BOOST_DESCRIBE_CLASS(State, (), (request, memory), (), ())
  };

  OpenSystem(K kind, Machine<K> machine, std::uint64_t fault_bits, int variant, Watch watch)
      : k_(std::move(kind)),
        machine_(std::move(machine)),
        fault_bits_(fault_bits),
        variant_(variant),
        watch_(watch) {}

  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] const Machine<K>& machine() const { return machine_; }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] static Block watched_block() { return K::template constant<BlockTag>(0); }
  [[nodiscard]] static Word watched_word() { return K::template constant<WordTag>(0); }

  [[nodiscard]] bool watches_updates() const { return lockstep::watches_updates(watch_); }
  [[nodiscard]] RmwFunction updated_by() const { return lockstep::updated_by(watch_); }

  // Everything is at its default: memory holds zeros.
  void start(StartList<K, State>& s) const {
    s.start(over(), [](State&) {});
  }

  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "issues a request", .unit = "thread"}, over(threads, shapes, blocks, words),
        [this](const State& s, ThreadIx t, Shape shape, Block b, Word w) {
          const auto& port = s.memory.port(t);
          return !port.pending && !port.done && allowed(shape, b, w);
        },
        [this](State& s, ThreadIx t, Shape shape, Block b, Word w) {
          auto& kept = s.request(t);
          kept.shape = shape;
          kept.block = b;
          kept.word = w;
          fill_in(s.memory.port(t).request, shape, b, w);
          s.memory.port(t).pending = true;
        });
    r.rule(
        {.name = "takes its completion", .unit = "thread"}, over(threads),
        [](const State& s, ThreadIx t) { return s.memory.port(t).done; },
        [](State& s, ThreadIx t) {
          s.memory.port(t).done = false;
          s.memory.port(t).result = typename K::Value(0);
          s.request(t) = Request{};
        });
    RuleList<K, MemoryState> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    r.part(of_memory, &State::memory);
  }

  void invariants(InvariantList<K, State>& v) const {
    InvariantList<K, MemoryState> of_memory;
    of_memory.keep(memory()).invariants(of_memory);
    v.part(of_memory, &State::memory);
  }

  // Recomputes the requests of the ports, which are not stored.
  void restore(State& s) const {
    k_.for_each(threads, [&](ThreadIx t) {
      K::when(s.memory.port(t).pending || s.memory.port(t).done, [&] {
        fill_in(s.memory.port(t).request, s.request(t).shape, s.request(t).block, s.request(t).word);
      });
    });
  }
  [[nodiscard]] bool proper_end(const State&) const { return false; }

 private:
  // A fence is at no place: one stands for all. The watched word is never written with its first value, or by
  // nothing but updates of one function.
  [[nodiscard]] Bool allowed(const Shape& shape, const Block& b, const Word& w) const {
    Bool fence(false);
    Bool zero(false);
    Bool kept(false);  // by a word that is updated
    Bool issued(false);
    each_shape(shape, [&](const Bool& is, const RequestShape& asked) {
      const bool update = asked.order == Order::comm;
      const bool same = update && asked.function == updated_by();
      if (is_issued(asked, watch_)) issued = issued || is;
      if (same || asked.operation == Operation::load || asked.operation == Operation::fence)
        kept = kept || is;
      if (asked.operation == Operation::fence) fence = fence || is;
      if (asked.operation != Operation::load && asked.operation != Operation::fence && asked.datum == 0)
        zero = zero || is;
    });
    const Bool first = b == watched_block() && w == watched_word();
    const Bool watched = Bool(watch_ == Watch::first_word) && first;
    return (!fence || first) && !(watched && zero) && issued && (!Bool(watches_updates()) || !first || kept);
  }
  template <class F>
  void each_shape(const Shape& shape, F&& f) const {
    std::size_t n = 0;
    k_.for_each(shapes, [&](const Shape& i) { f(shape == i, request_shapes[n++]); });
  }
  template <class PortRequest>
  void fill_in(PortRequest& q, const Shape& shape, const Block& b, const Word& w) const {
    each_shape(shape, [&](const Bool& is, const RequestShape& asked) {
      K::when(is, [&] {
        q.operation = asked.operation;
        q.function = asked.function;
        q.order = asked.order;
        q.scope = asked.scope;
        q.block = b;
        q.word = w;
        q.a = typename K::Value(asked.datum);
        q.b = typename K::Value(0);
        q.returns = asked.returns;
      });
    });
  }

  K k_;
  Machine<K> machine_;
  std::uint64_t fault_bits_;
  int variant_;
  Watch watch_;
};

}  // namespace lockstep
