// The Concrete kind: an integer is a machine integer, a rule is straight-line native code.
//
// Every type here is a plain struct without a constructor that does work, so a state is copied as memory.
// A Bool does not convert to bool: protocol code that branches with a bare `if` on state does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "spec/kernel/index.hpp"

namespace lockstep {

// Names of an enumeration's members, in order; the members are 0, 1, 2, ...
template <class E>
constexpr std::size_t enumerators() {
  return boost::mp11::mp_size<boost::describe::describe_enumerators<E>>::value;
}

// The range of data words in a run: what a word copy is packed into. Leaving it is an error of the run, not
// a wrap-around, so a program that counts past it is told so.
struct ValueRange {
  std::int32_t low = 0;
  std::int32_t high = 3;
  [[nodiscard]] constexpr unsigned bits() const {
    return bits_for(static_cast<unsigned long long>(static_cast<std::int64_t>(high) - low) + 1);
  }
};

// A data word left the run's ValueRange.
struct ValueOutOfRange {
  std::int32_t value;
  ValueRange range;
};

// What a rule may do that its types do not allow.
enum class Misuse : std::uint8_t { full_queue, empty_queue, no_row, out_of_range };
constexpr int misuses = 4;

constexpr const char* misuse_text(Misuse what) {
  switch (what) {
    case Misuse::full_queue:
      return "pushes into a full queue";
    case Misuse::empty_queue:
      return "takes from an empty queue";
    case Misuse::no_row:
      return "looks up a row that there is not";
    case Misuse::out_of_range:
      return "gives a number a value out of its range";
  }
  return "";
}

// A rule, or a claim, did so: nothing can be said of what comes after.
struct RuleMisuse : std::logic_error {
  explicit RuleMisuse(Misuse m) : std::logic_error(std::string("a rule ") + misuse_text(m)), what_it_did(m) {}
  Misuse what_it_did;
};
[[noreturn, gnu::cold, gnu::noinline]] inline void misuse(Misuse what) {
  throw RuleMisuse(what);
}

// Closures of every Concrete kind, whatever its sizes, pass values alike: engines that read them compile
// once.
struct ConcreteErased {
  using Member = std::uint8_t;
  using Truth = bool;
  struct Type {};
  using Channel = void;
  static constexpr bool decides = true;
};

template <class SizesType>
class Concrete {
 public:
  using Sizes = SizesType;
  using Erased = ConcreteErased;

  Sizes sizes{};
  ValueRange value_range{};
  unsigned value_bits = ValueRange{}.bits();  // of value_range; set both with set_value_range

  // Throws ValueOutOfRange.
  constexpr void check_value(std::int32_t v) const {
    if (v < value_range.low || v > value_range.high) throw ValueOutOfRange{v, value_range};
  }
  constexpr void set_value_range(ValueRange range) {
    value_range = range;
    value_bits = range.bits();
  }

  // ---- scalars -------------------------------------------------------------------------------------------

  struct Bool {
    static constexpr bool is_leaf = true;
    bool v = false;
    static constexpr unsigned bits(const Concrete&) { return 1; }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const { return v; }
    constexpr void decode(const Concrete&, std::uint64_t code) { v = code != 0; }
    [[nodiscard]] std::string text() const { return v ? "true" : "false"; }
    friend constexpr Bool operator&&(Bool a, Bool b) { return {static_cast<bool>(a.v & b.v)}; }
    friend constexpr Bool operator||(Bool a, Bool b) { return {static_cast<bool>(a.v | b.v)}; }
    friend constexpr Bool operator!(Bool a) { return {!a.v}; }
    friend constexpr Bool operator==(Bool a, Bool b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Bool a, Bool b) { return {a.v != b.v}; }
    constexpr Bool& operator=(bool b) {
      v = b;
      return *this;
    }
    constexpr Bool() = default;
    constexpr Bool(bool b) : v(b) {}  // constants convert in, nothing converts out
  };

  // An unbounded intermediate result.
  struct Number {
    std::int64_t v = 0;
    constexpr Number() = default;
    constexpr Number(std::int64_t n) : v(n) {}
    friend constexpr Number operator+(Number a, Number b) { return {a.v + b.v}; }
    friend constexpr Number operator-(Number a, Number b) { return {a.v - b.v}; }
    friend constexpr Bool operator==(Number a, Number b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Number a, Number b) { return {a.v != b.v}; }
    friend constexpr Bool operator<(Number a, Number b) { return {a.v < b.v}; }
    friend constexpr Bool operator<=(Number a, Number b) { return {a.v <= b.v}; }
    friend constexpr Bool operator>(Number a, Number b) { return {a.v > b.v}; }
    friend constexpr Bool operator>=(Number a, Number b) { return {a.v >= b.v}; }
  };

  template <int Low, int High>
  struct Int {
    static_assert(Low <= High);
    static constexpr bool is_leaf = true;
    using Representation =
        std::conditional_t<(Low >= 0 && High <= 255), std::uint8_t,
                           std::conditional_t<(Low >= -32768 && High <= 32767), std::int16_t, std::int32_t>>;
    Representation v = static_cast<Representation>(Low > 0 ? Low : (High < 0 ? High : 0));
    static constexpr unsigned bits(const Concrete&) { return bits_for(High - Low + 1); }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const {
      return static_cast<std::uint64_t>(v - Low);
    }
    constexpr void decode(const Concrete&, std::uint64_t code) {
      v = static_cast<Representation>(static_cast<int>(code) + Low);
    }
    [[nodiscard]] std::string text() const { return std::to_string(v); }
    constexpr Int() = default;
    // Out of its range is a misuse.
    constexpr Int(Number n) : v(static_cast<Representation>(n.v)) {
      if (n.v < Low || n.v > High) [[unlikely]]
        misuse(Misuse::out_of_range);
    }
    constexpr Int(int n) : Int(Number{n}) {}
    constexpr operator Number() const { return {v}; }
    friend constexpr Number operator+(Int a, Number b) { return Number{a.v} + b; }
    friend constexpr Number operator-(Int a, Number b) { return Number{a.v} - b; }
    friend constexpr Bool operator==(Int a, Number b) { return Number{a.v} == b; }
    friend constexpr Bool operator!=(Int a, Number b) { return Number{a.v} != b; }
    friend constexpr Bool operator<(Int a, Number b) { return Number{a.v} < b; }
    friend constexpr Bool operator<=(Int a, Number b) { return Number{a.v} <= b; }
    friend constexpr Bool operator>(Int a, Number b) { return Number{a.v} > b; }
    friend constexpr Bool operator>=(Int a, Number b) { return Number{a.v} >= b; }
  };

  template <class E>
  struct Enum {
    static constexpr bool is_leaf = true;
    E v = E{};
    static constexpr unsigned bits(const Concrete&) { return bits_for(enumerators<E>()); }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const {
      return static_cast<std::uint64_t>(v);
    }
    constexpr void decode(const Concrete&, std::uint64_t code) { v = static_cast<E>(code); }
    [[nodiscard]] std::string text() const { return boost::describe::enum_to_string(v, "?"); }
    constexpr Enum() = default;
    constexpr Enum(E e) : v(e) {}
    friend constexpr Bool operator==(Enum a, Enum b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Enum a, Enum b) { return {a.v != b.v}; }
  };

  template <IndexTag Tag>
  struct Ix {
    static constexpr bool is_leaf = true;
    std::uint8_t v = 0;
    static constexpr unsigned bits(const Concrete& k) {
      return bits_for(static_cast<unsigned>(k.template extent<Tag>()));
    }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const { return v; }
    constexpr void decode(const Concrete&, std::uint64_t code) { v = static_cast<std::uint8_t>(code); }
    [[nodiscard]] std::string text() const { return std::to_string(v); }
    friend constexpr Bool operator==(Ix a, Ix b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Ix a, Ix b) { return {a.v != b.v}; }
    friend constexpr Bool operator<(Ix a, Ix b) requires(!Tag::interchangeable) { return {a.v < b.v}; }
  };

  // An index or nothing.
  template <IndexTag Tag>
  struct Maybe {
    static constexpr bool is_leaf = true;
    std::uint8_t v = 0;  // 0: nothing, else the index plus one
    static constexpr unsigned bits(const Concrete& k) {
      return bits_for(static_cast<unsigned>(k.template extent<Tag>()) + 1);
    }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const { return v; }
    constexpr void decode(const Concrete&, std::uint64_t code) { v = static_cast<std::uint8_t>(code); }
    [[nodiscard]] std::string text() const { return v == 0 ? "none" : std::to_string(v - 1); }
    constexpr Maybe() = default;
    constexpr Maybe(Ix<Tag> i) : v(static_cast<std::uint8_t>(i.v + 1)) {}
    [[nodiscard]] constexpr Bool has() const { return {v != 0}; }
    [[nodiscard]] constexpr Ix<Tag> value() const { return {static_cast<std::uint8_t>(v - 1)}; }
    friend constexpr Bool operator==(Maybe a, Maybe b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Maybe a, Maybe b) { return {a.v != b.v}; }
  };

  // A word of data, as programs compute with.
  struct Value {
    static constexpr bool is_leaf = true;
    static constexpr bool is_word = true;  // bounded by the run's ValueRange
    std::int32_t v = 0;
    static constexpr unsigned bits(const Concrete& k) { return k.value_bits; }
    [[nodiscard]] constexpr std::uint64_t encode(const Concrete& k) const {
      k.check_value(v);
      return static_cast<std::uint64_t>(std::int64_t{v} - k.value_range.low);
    }
    constexpr void decode(const Concrete& k, std::uint64_t code) {
      v = static_cast<std::int32_t>(static_cast<std::int64_t>(code) + k.value_range.low);
    }
    [[nodiscard]] std::string text() const { return std::to_string(v); }
    constexpr Value() = default;
    constexpr Value(std::int32_t n) : v(n) {}
    friend constexpr Bool operator==(Value a, Value b) { return {a.v == b.v}; }
    friend constexpr Bool operator!=(Value a, Value b) { return {a.v != b.v}; }
    friend constexpr Bool operator<(Value a, Value b) { return {a.v < b.v}; }
    friend constexpr Bool operator>=(Value a, Value b) { return {a.v >= b.v}; }
    friend constexpr Value operator+(Value a, Value b) { return wrap(std::int64_t{a.v} + b.v); }
    friend constexpr Value operator-(Value a, Value b) { return wrap(std::int64_t{a.v} - b.v); }
    friend constexpr Value operator*(Value a, Value b) { return wrap(std::int64_t{a.v} * b.v); }
    friend constexpr Value operator&(Value a, Value b) { return {a.v & b.v}; }
    friend constexpr Value operator|(Value a, Value b) { return {a.v | b.v}; }
    friend constexpr Value operator^(Value a, Value b) { return {a.v ^ b.v}; }

   private:
    static constexpr Value wrap(std::int64_t n) {
      return {static_cast<std::int32_t>(static_cast<std::uint32_t>(n))};
    }
  };

  // ---- containers ----------------------------------------------------------------------------------------

  // Rows over one index type or a product of them. A Table is part of the state; an Array (over a fixed
  // index type) may also be part of a message or a local variable. There is no row at the index of a Maybe
  // that holds none.
  template <class Row, IndexTag... Tags>
  struct Table {
    static constexpr std::size_t size = (static_cast<std::size_t>(Sizes::template capacity<Tags>()) * ...);
    std::array<Row, size> rows{};

    constexpr Row& operator()(Ix<Tags>... index) { return rows[offset(index...)]; }
    constexpr const Row& operator()(Ix<Tags>... index) const { return rows[offset(index...)]; }

    // Calls f(row, indices...) for every row of the run's sizes, in order.
    template <class Self, class F>
    static constexpr void visit(const Concrete& k, Self& self, F&& f) {
      visit_from<0>(k, self, f);
    }

   private:
    template <std::size_t Depth, class Self, class F, class... Chosen>
    static constexpr void visit_from(const Concrete& k, Self& self, F& f, Chosen... chosen) {
      if constexpr (Depth == sizeof...(Tags)) {
        f(self(chosen...), chosen...);
      } else {
        using Tag = std::tuple_element_t<Depth, std::tuple<Tags...>>;
        k.for_each(Tag{}, [&](Ix<Tag> i) { visit_from<Depth + 1>(k, self, f, chosen..., i); });
      }
    }

    static constexpr std::size_t offset(Ix<Tags>... index) {
      if (!((index.v < Sizes::template capacity<Tags>()) && ...)) [[unlikely]]
        misuse(Misuse::no_row);
      std::size_t at = 0;
      ((at = at * static_cast<std::size_t>(Sizes::template capacity<Tags>()) + index.v), ...);
      return at;
    }
  };
  template <class Row, IndexTag Tag>
  using Array = Table<Row, Tag>;

  // A queue whose capacity is the size of its slot tag; unused slots hold default rows, so equal queues are
  // equal memory.
  template <class Row, IndexTag Slot>
  struct Fifo {
    static constexpr int capacity = Sizes::template capacity<Slot>();
    struct Count {
      static constexpr bool is_leaf = true;
      std::uint8_t v = 0;
      static constexpr unsigned bits(const Concrete& k) {
        return bits_for(static_cast<unsigned>(k.template extent<Slot>()) + 1);
      }
      [[nodiscard]] constexpr std::uint64_t encode(const Concrete&) const { return v; }
      constexpr void decode(const Concrete&, std::uint64_t code) { v = static_cast<std::uint8_t>(code); }
      [[nodiscard]] std::string text() const { return std::to_string(v); }
    };
    Count count;
    std::array<Row, static_cast<std::size_t>(capacity)> slots{};

    // Calls f(row, position) for every slot of the run's size.
    template <class Self, class F>
    static constexpr void visit(const Concrete& k, Self& self, F&& f) {
      k.for_each(Slot{}, [&](Ix<Slot> i) { f(self.slots[i.v], i); });
    }

    [[nodiscard]] constexpr Bool empty() const { return {count.v == 0}; }
    [[nodiscard]] constexpr const Row& head() const { return slots[0]; }
  };

  // ---- rigid functions: what a run's placement fixes -----------------------------------------------------

  template <IndexTag From, IndexTag To>
  struct Map {
    std::array<std::uint8_t, static_cast<std::size_t>(Sizes::template capacity<From>())> image{};
    constexpr Ix<To> operator()(Ix<From> i) const { return {image[i.v]}; }
  };
  template <IndexTag Tag>
  struct Set {
    std::array<bool, static_cast<std::size_t>(Sizes::template capacity<Tag>())> member{};
    constexpr Bool operator()(Ix<Tag> i) const { return {member[i.v]}; }
  };

  // ---- control -------------------------------------------------------------------------------------------

  template <class Then>
  static constexpr void when(Bool condition, Then&& then) {
    if (condition.v) then();
  }
  template <class Then, class Else>
  static constexpr void when(Bool condition, Then&& then, Else&& otherwise) {
    if (condition.v) {
      then();
    } else {
      otherwise();
    }
  }
  template <class T>
  static constexpr T select(Bool condition, T a, T b) {
    return condition.v ? a : b;
  }

  // The member of an index type that a run's constants name.
  template <class Tag>
  static constexpr Ix<Tag> constant(int i) {
    return {static_cast<std::uint8_t>(i)};
  }

  // The member of another index type that stands at the same place, where a run's sizes pair them up.
  template <class To, class From>
  static constexpr Ix<To> same(Ix<From> i) {
    return {i.v};
  }

  template <class Tag>
  [[nodiscard]] constexpr int extent(Tag = {}) const {
    return sizes.template extent<Tag>();
  }

  // Pointwise: an iteration writes only rows of its own index.
  template <class Tag, class F>
  constexpr void for_each(Tag, F&& f) const {
    if constexpr (Sizes::template is_static<Tag>) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(Ix<Tag>{static_cast<std::uint8_t>(I)}), ...);
      }
      (std::make_index_sequence<static_cast<std::size_t>(Sizes::template capacity<Tag>())>{});
    } else {
      const int n = extent<Tag>();
      for (int i = 0; i < n; ++i) f(Ix<Tag>{static_cast<std::uint8_t>(i)});
    }
  }
  template <class Tag, class F>
  constexpr Bool forall(Tag tag, F&& f) const {
    bool all = true;
    for_each(tag, [&](Ix<Tag> i) { all &= f(i).v; });
    return {all};
  }
  template <class Tag, class F>
  constexpr Bool exists(Tag tag, F&& f) const {
    bool any = false;
    for_each(tag, [&](Ix<Tag> i) { any |= f(i).v; });
    return {any};
  }
  template <class Tag, class F>
  constexpr Number count(Tag tag, F&& f) const {
    std::int64_t n = 0;
    for_each(tag, [&](Ix<Tag> i) { n += f(i).v ? 1 : 0; });
    return {n};
  }
  // Acts on, or reads, the one element of a fixed index type that equals `index`.
  template <class Tag, class F>
  static constexpr void at(Tag, Ix<Tag> index, F&& f) {
    f(index);
  }
  template <class Tag, class F>
  static constexpr auto pick(Tag, Ix<Tag> index, F&& f) {
    return f(index);
  }

  // ---- queues --------------------------------------------------------------------------------------------

  template <class Row, class Slot>
  [[nodiscard]] constexpr Bool full(const Fifo<Row, Slot>& fifo) const {
    return {fifo.count.v >= extent<Slot>()};
  }
  template <class Row, class Slot>
  constexpr void push(Fifo<Row, Slot>& fifo, const Row& row) const {
    if (fifo.count.v >= extent<Slot>()) [[unlikely]]
      misuse(Misuse::full_queue);
    fifo.slots[fifo.count.v++] = row;
  }
  template <class Row, class Slot>
  constexpr void push_front(Fifo<Row, Slot>& fifo, const Row& row) const {
    if (fifo.count.v >= extent<Slot>()) [[unlikely]]
      misuse(Misuse::full_queue);
    for (std::size_t i = fifo.count.v; i > 0; --i) fifo.slots[i] = fifo.slots[i - 1];
    fifo.slots[0] = row;
    ++fifo.count.v;
  }
  template <class Row, class Slot>
  static constexpr void pop(Fifo<Row, Slot>& fifo) {
    if (fifo.count.v == 0) [[unlikely]]
      misuse(Misuse::empty_queue);
    --fifo.count.v;
    for (std::size_t i = 0; i < fifo.count.v; ++i) fifo.slots[i] = fifo.slots[i + 1];
    fifo.slots[fifo.count.v] = Row{};
  }
  // Whether some queued row satisfies f.
  template <class Row, class Slot, class F>
  [[nodiscard]] static constexpr Bool contains(const Fifo<Row, Slot>& fifo, F&& f) {
    bool any = false;
    for (std::size_t i = 0; i < fifo.count.v; ++i) any |= f(fifo.slots[i]).v;
    return {any};
  }
  // From the head on.
  template <class Row, class Slot, class F>
  static constexpr void for_each_queued(const Fifo<Row, Slot>& fifo, F&& f) {
    for (std::size_t i = 0; i < fifo.count.v; ++i) f(fifo.slots[i]);
  }
  // Removes every queued row that satisfies f, keeping the order of the others.
  template <class Row, class Slot, class F>
  static constexpr void remove_if(Fifo<Row, Slot>& fifo, F&& f) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < fifo.count.v; ++i) {
      if (!f(fifo.slots[i]).v) fifo.slots[kept++] = fifo.slots[i];
    }
    for (std::size_t i = kept; i < fifo.count.v; ++i) fifo.slots[i] = Row{};
    fifo.count.v = static_cast<std::uint8_t>(kept);
  }

  // The part of a state as it is now, whatever is assigned later; `path` leads to it from the whole.
  template <class Part>
  static Part snapshot(const Part& part, std::string_view path) {
    static_cast<void>(path);
    return part;
  }

  // What an engine may do and a protocol may not: look at the truth of a Bool.
  static constexpr bool truth(Bool b) { return b.v; }

  // ---- as closures without types pass them (rules.hpp) ----------------------------------------------------

  template <class Tag>
  static constexpr Ix<Tag> member(std::uint8_t m) {
    return {m};
  }
  template <class Tag>
  static constexpr Erased::Type parameter_type() {
    return {};
  }
  static constexpr bool erased(Bool b) { return b.v; }
  template <int Low, int High>
  static constexpr int erased(Int<Low, High> n) {
    return n.v;
  }
  // The head of a channel, taken away.
  template <class Row, class Slot>
  static constexpr Row consume(Fifo<Row, Slot>& fifo) {
    const Row message = fifo.head();
    pop(fifo);
    return message;
  }
};

}  // namespace lockstep
