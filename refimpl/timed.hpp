// The Timed kind: protocol code run as it is in silicon, on machines of real size.
//
// Integers are native, sizes are chosen when a run starts, a word of data holds the lanes of one coalesced
// access, tables over blocks hold only the rows that differ from the default row, and queues stamp when each
// message arrives. What a guard looks at and what an action writes is noted (reads.hpp), which is how the
// engine knows whom a firing may concern. Ranges of integers bound what the checker packs; here a program
// counter may go beyond them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cassert>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "refimpl/reads.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/program/machine.hpp"

namespace lockstep {

template <class SizesType>
class Timed;

namespace timed {

// One word of the model is what 16 lanes of 4 bytes access together: a 64-byte segment of memory.
inline constexpr int lanes = 16;
inline constexpr int word_bytes = 4 * lanes;

struct Link;

// Who brings messages of a link further.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;
  struct Carried {
    Tick arrival = 0;
    Tick waited = 0;  // for others on the way
  };
  // One that the rule that is firing has sent, and that comes out of the link then.
  virtual Carried carry(const Link& link, Tick at, Bytes weight, std::uint32_t block) = 0;
};

// A queue between two units. Messages leave one after the other and arrive in that order.
struct Link {
  Tick latency = 0;
  Tick ticks_per_byte_256 = 0;  // in 256ths of a tick
  std::size_t level = 0;        // among the links of the state
  Tick free_at = 0;
  Tick full = 0;  // how long it had no room
  Tick busy = 0;  // how long messages took their turns
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t header_bytes = 0;
    std::uint64_t data_bytes = 0;
  };
  std::vector<Traffic>* by_kind = nullptr;  // shared by the links of one level
  Carrier* carrier = nullptr;               // none: messages come out where they are taken
  std::size_t number = 0;                   // of the queue within its level
  Tick last = 0;                            // arrival behind the carrier: they stay in order

  // When a message that leaves now, or when its turn comes, arrives.
  Tick send(Tick now, Bytes weight, std::size_t kind) {
    const Tick starts = std::max(now, free_at);
    const Tick takes = ((weight.header + weight.data) * ticks_per_byte_256 + 255) / 256;
    free_at = starts + takes;
    busy += takes;
    ++messages;
    bytes += weight.header + weight.data;
    if (by_kind != nullptr) {
      if (by_kind->size() <= kind) by_kind->resize(kind + 1);
      ++(*by_kind)[kind].messages;
      (*by_kind)[kind].header_bytes += weight.header;
      (*by_kind)[kind].data_bytes += weight.data;
    }
    return free_at + latency;
  }
};

// What holds a queue or a table in place when a run starts: its keys, its name and what it reports to.
struct QueueInfo {
  std::string name;                          // of the field
  std::vector<Link**> places;                // one for each queue of the field: where its link is put
  std::vector<std::string_view> kind_names;  // of the messages' `kind`, if they have one
  const FieldNames* fields = nullptr;        // of a message
};
struct TableInfo {
  std::string name;
  std::vector<std::string_view> tags;
  std::vector<std::uint32_t> extents;
  Key first_key = 0;  // of the table as a whole; rows follow
  TableBase* table = nullptr;
  bool sparse = false;
  Key keys_per_row = 1;                // of a dense table or a table of queues; 0 where keys are hashed
  const FieldNames* fields = nullptr;  // of a row of a sparse table
};

struct Binder {
  explicit Binder(Journal& j) : journal(j) {}

  Journal& journal;
  Key next = 1;
  std::vector<Key> table_of{any_key};
  std::vector<TableInfo> tables;
  std::vector<QueueInfo> queues;
  std::vector<std::pair<Key, const std::uint32_t*>> rooms;  // of queues
  bool has_scalars = false;                                 // a field of the state that lies in no table

  // Reserves `count` keys behind one for the whole.
  Key reserve(Key count) {
    const Key first = next;
    next += 1 + count;
    table_of.resize(next, first);
    journal.compares_data.resize(next, 0);
    return first;
  }
};

inline std::uint64_t scatter(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  return x ^ (x >> 29);
}

// ---- truth -----------------------------------------------------------------------------------------------

// A truth value, and what it rests on. One that lies in the state rests on its own place there.
struct Bool {
  static constexpr bool is_leaf = true;
  bool v = false;
  Stamp rests_on = unstamped;

  constexpr Bool() = default;
  constexpr ~Bool() = default;
  // What a copy of a field rests on has to be said while it is known where the field lies.
  constexpr Bool(const Bool& other) : v(other.v), rests_on(other.rests_on) {
    if (!std::is_constant_evaluated() && rests_on == unstamped) rests_on = reads.stamp_of(&other);
  }
  constexpr Bool& operator=(const Bool&) = default;
  Bool(bool b) : v(b), rests_on(reads.listing() ? rests_on_nothing : unstamped) {}
  // A result that rests on everything looked at so far, or since so many rows were noted, or on the last one
  // alone.
  [[gnu::always_inline]] static Bool seen(bool b) { return {b, reads.stamp_now()}; }
  static Bool seen_since(std::uint32_t count, bool b) { return {b, reads.stamp_since(count)}; }
  static Bool seen_last(bool b) { return {b, reads.stamp_of_last()}; }
  static Bool chosen(const Bool& by, const Bool& b) { return {b.v, both(by.stamp(), b.stamp())}; }
  // One that an index has picked.
  static Bool picked(const Bool& b) { return {b.v, both(b.stamp(), reads.stamp_of_indices())}; }
  // Another's, which need not stay where it is.
  // The result of comparing a field of the state with something that was looked at before it, or is
  // constant.
  static Bool compared(bool b, const void* field) { return {b, reads.stamp_of(field)}; }
  static Bool compared_indices(bool b, const void* one, const void* other) {
    return {b, reads.stamp_of_indices(one, other)};
  }
  // As long as an enumeration does not take the value, it makes no difference which other it has.
  static Bool compared(bool b, bool equal, const void* field, std::size_t value) {
    if (b) return seen(true);
    return {false, reads.stamp_of(field, equal ? any : static_cast<Stamp>(value))};
  }
  [[nodiscard]] std::string text() const { return v ? "true" : "false"; }

  // What is false is exact about what it rests on, for it may be waited for. What is true rests on
  // everything looked at so far: that is less work to find out, and only matters where it is negated.
  [[gnu::always_inline]] friend Bool operator&&(const Bool& a, const Bool& b) {
    if (a.v && b.v) return seen(true);
    if (a.v) return {false, b.stamp()};
    return {false, b.v ? a.stamp() : lesser(a.stamp(), b.stamp())};
  }
  [[gnu::always_inline]] friend Bool operator||(const Bool& a, const Bool& b) {
    if (a.v || b.v) return seen(true);
    return {false, both(a.stamp(), b.stamp())};
  }
  [[gnu::always_inline]] friend Bool operator!(const Bool& a) { return {!a.v, a.stamp()}; }
  friend Bool operator==(const Bool& a, const Bool& b) { return seen(a.v == b.v); }
  friend Bool operator!=(const Bool& a, const Bool& b) { return seen(a.v != b.v); }

  [[nodiscard, gnu::always_inline]] Stamp stamp() const {
    return rests_on != unstamped ? rests_on : reads.stamp_of(this);
  }

 private:
  constexpr Bool(bool b, Stamp r) : v(b), rests_on(r) {}
  template <class>
  friend class lockstep::Timed;
};

// How values of the kind pass where a closure's own types are forgotten (spec/kernel/rules.hpp).
struct Erased {
  using Member = std::uint32_t;
  using Truth = Bool;
  struct Type {};
  using Channel = void;
  static constexpr bool decides = false;
};

// ---- comparing rows --------------------------------------------------------------------------------------

template <class X>
bool same(const X& a, const X& b) {
  if constexpr (Leaf<X>) {
    return a.v == b.v;
  } else if constexpr (Described<X>) {
    bool equal = true;
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>([&](auto m) {
      if (equal) equal = same(a.*m.pointer, b.*m.pointer);
    });
    return equal;
  } else {
    return a.same_as(b);
  }
}

// ---- what guards can tell apart --------------------------------------------------------------------------

// A word of data, which guards do not look at.
template <class X>
concept DataLeaf = Leaf<X> && requires(X x) {
  x.v[0];
};

// How many scalars a row has besides its data.
template <class X>
constexpr std::size_t scalars() {
  if constexpr (DataLeaf<X>) {
    return 0;
  } else if constexpr (Leaf<X>) {
    return 1;
  } else if constexpr (Described<X>) {
    std::size_t n = 0;
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>(
        [&](auto m) { n += scalars<std::remove_reference_t<decltype(std::declval<X&>().*m.pointer)>>(); });
    return n;
  } else {
    return X::size * scalars<typename X::row_type>();
  }
}
// A field that says which row of a table, or none.
template <class X>
concept IsIndex = Leaf<X> && requires {
  requires X::is_index;
};
// How many of them are indices.
template <class X>
constexpr std::size_t indices() {
  if constexpr (Leaf<X>) {
    return IsIndex<X> ? 1 : 0;
  } else if constexpr (Described<X>) {
    std::size_t n = 0;
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>(
        [&](auto m) { n += indices<std::remove_reference_t<decltype(std::declval<X&>().*m.pointer)>>(); });
    return n;
  } else {
    return X::size * indices<typename X::row_type>();
  }
}
// Writes one number for each scalar.
template <class X>
std::uint32_t* outline([[maybe_unused]] const X& x, std::uint32_t* out) {
  if constexpr (DataLeaf<X>) {
    return out;
  } else if constexpr (Leaf<X>) {
    *out = static_cast<std::uint32_t>(x.v);
    return out + 1;
  } else if constexpr (Described<X>) {
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>(
        [&](auto m) { out = outline(x.*m.pointer, out); });
    return out;
  } else {
    for (const auto& row : x.rows) out = outline(row, out);
    return out;
  }
}
// How many values a field's keys tell apart; of a field that is no enumeration none.
template <class X>
constexpr std::size_t values_told_apart() {
  if constexpr (requires { typename X::enumeration; }) {
    return boost::mp11::mp_size<boost::describe::describe_enumerators<typename X::enumeration>>::value;
  } else {
    return 0;
  }
}
// Calls f(field) for every field but data words, in the order of outlines.
template <class X, class F>
void for_each_field(const X& x, F&& f) {
  if constexpr (DataLeaf<X>) {
    return;
  } else if constexpr (Leaf<X>) {
    f(x);
  } else if constexpr (Described<X>) {
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>(
        [&](auto m) { for_each_field(x.*m.pointer, f); });
  } else {
    for (const auto& row : x.rows) for_each_field(row, f);
  }
}

template <class X>
std::vector<std::string_view> names_of_values() {
  std::vector<std::string_view> names;
  if constexpr (requires { typename X::enumeration; }) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<typename X::enumeration>>(
        [&](auto e) { names.emplace_back(e.name); });
  }
  return names;
}
// In the order of outlines.
template <class X>
void list_names(const X& x, const std::string& name, bool per_word, FieldNames& out) {
  if constexpr (DataLeaf<X>) {
    return;
  } else if constexpr (Leaf<X>) {
    out.push_back({name, per_word, names_of_values<X>()});
  } else if constexpr (Described<X>) {
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>([&](auto m) {
      list_names(x.*m.pointer, name.empty() ? m.name : name + "." + m.name, per_word, out);
    });
  } else {
    for (const auto& row : x.rows) list_names(row, name, true, out);
  }
}
template <class Row>
const FieldNames& field_names() {
  static const FieldNames names = [] {
    FieldNames all;
    list_names(Row{}, "", false, all);
    return all;
  }();
  return names;
}

// How many words of data two rows differ in.
template <class X>
unsigned differing_words(const X& a, const X& b) {
  if constexpr (DataLeaf<X>) {
    return a.v == b.v ? 0 : 1;
  } else if constexpr (Leaf<X>) {
    return 0;
  } else if constexpr (Described<X>) {
    unsigned words = 0;
    boost::mp11::mp_for_each<boost::describe::describe_members<X, boost::describe::mod_public>>(
        [&](auto m) { words += differing_words(a.*m.pointer, b.*m.pointer); });
    return words;
  } else {
    unsigned words = 0;
    for (std::size_t i = 0; i < a.rows.size(); ++i) words += differing_words(a.rows[i], b.rows[i]);
    return words;
  }
}

// Where the fields of a row lie, and their keys, which follow that of the row.
template <class Row>
class RowFields {
 public:
  RowFields() {
    field_at_.fill(static_cast<std::uint8_t>(any));
    const Row row{};
    std::size_t next = 0;
    for_each_field(row, [&](const auto& field) {
      const auto begins = static_cast<std::size_t>(reinterpret_cast<const char*>(&field) -
                                                   reinterpret_cast<const char*>(&row));
      for (std::size_t i = 0; i < sizeof field; ++i) field_at_[begins + i] = static_cast<std::uint8_t>(next);
      key_of_[next] = keys_;
      if constexpr (IsIndex<std::remove_cvref_t<decltype(field)>>) index_keys_[indices_++] = keys_;
      values_[next] = values_told_apart<std::remove_cvref_t<decltype(field)>>();
      keys_ += 1 + static_cast<Key>(values_[next]);
      ++next;
    });
    fields_ = {field_at_.data(), key_of_.data(), index_keys_.data(), indices_};
  }
  RowFields(const RowFields&) = delete;
  RowFields& operator=(const RowFields&) = delete;

  [[nodiscard]] const Fields* fields() const { return &fields_; }
  [[nodiscard]] bool leads() const { return indices_ > 0; }
  // Keys of a row and its fields.
  [[nodiscard]] Key keys() const { return keys_; }
  // Writes the keys of a row that has changed: its own, and those of the fields that differ.
  void note_changes(Journal& journal, Key row, const std::uint32_t* before,
                    const std::uint32_t* after) const {
    journal.write(row);
    for (std::size_t i = 0; i < count; ++i) {
      if (before[i] != after[i]) note_change(journal, row, i, after[i]);
    }
  }
  // Of a row that is another row altogether.
  void note_all(Journal& journal, Key row, const std::uint32_t* after) const {
    journal.write(row);
    for (std::size_t i = 0; i < count; ++i) note_change(journal, row, i, after[i]);
  }

 private:
  static constexpr std::size_t count = scalars<Row>();
  static_assert(count < any, "a row has more fields than a stamp tells apart");

  void note_change(Journal& journal, Key row, std::size_t field, std::uint32_t value) const {
    journal.write(row + key_of_[field]);
    if (value < values_[field]) journal.write(row + key_of_[field] + 1 + value);
  }
  std::array<std::uint8_t, sizeof(Row)> field_at_;
  std::array<Key, count + 1> key_of_{};
  std::array<Key, count + 1> index_keys_{};
  std::uint32_t indices_ = 0;
  std::array<std::size_t, count + 1> values_{};
  Key keys_ = 1;
  Fields fields_;
};

template <class Row>
using Outline = std::array<std::uint32_t, scalars<Row>()>;
template <class Row>
Outline<Row> outline_of(const Row& row) {
  Outline<Row> result;
  outline(row, result.data());
  return result;
}

}  // namespace timed

template <class SizesType>
class Timed {
 public:
  using Sizes = SizesType;
  using Tick = timed::Tick;
  using Key = timed::Key;

  Sizes sizes{};

  // ---- scalars -------------------------------------------------------------------------------------------

  using Bool = timed::Bool;
  struct Number {
    std::int64_t v = 0;
    constexpr Number() = default;
    constexpr Number(std::int64_t n) : v(n) {}
    friend constexpr Number operator+(Number a, Number b) { return {a.v + b.v}; }
    friend constexpr Number operator-(Number a, Number b) { return {a.v - b.v}; }
    friend Bool operator==(Number a, Number b) { return Bool::seen(a.v == b.v); }
    friend Bool operator!=(Number a, Number b) { return Bool::seen(a.v != b.v); }
    friend Bool operator<(Number a, Number b) { return Bool::seen(a.v < b.v); }
    friend Bool operator<=(Number a, Number b) { return Bool::seen(a.v <= b.v); }
    friend Bool operator>(Number a, Number b) { return Bool::seen(a.v > b.v); }
    friend Bool operator>=(Number a, Number b) { return Bool::seen(a.v >= b.v); }
  };

  template <int Low, int High>
  struct Int {
    static constexpr bool is_leaf = true;
    std::int32_t v = Low > 0 ? Low : (High < 0 ? High : 0);
    constexpr Int() = default;
    constexpr Int(Number n) : v(static_cast<std::int32_t>(n.v)) { assert(n.v >= Low); }
    constexpr Int(int n) : Int(Number{n}) {}
    [[nodiscard]] std::string text() const { return std::to_string(v); }
    constexpr operator Number() const { return {v}; }
    friend constexpr Number operator+(Int a, Number b) { return Number{a.v} + b; }
    friend constexpr Number operator-(Int a, Number b) { return Number{a.v} - b; }
    friend Bool operator==(Int a, Number b) { return Number{a.v} == b; }
    friend Bool operator!=(Int a, Number b) { return Number{a.v} != b; }
    friend Bool operator<(Int a, Number b) { return Number{a.v} < b; }
    friend Bool operator<=(Int a, Number b) { return Number{a.v} <= b; }
    friend Bool operator>(Int a, Number b) { return Number{a.v} > b; }
    friend Bool operator>=(Int a, Number b) { return Number{a.v} >= b; }
  };

  template <class E>
  struct Enum {
    static constexpr bool is_leaf = true;
    using enumeration = E;
    E v = E{};
    constexpr Enum() = default;
    constexpr Enum(E e) : v(e) {}
    [[nodiscard]] std::string text() const { return boost::describe::enum_to_string(v, "?"); }
    friend Bool operator==(const Enum& a, E b) {
      return Bool::compared(a.v == b, a.v == b, &a, static_cast<std::size_t>(b));
    }
    friend Bool operator!=(const Enum& a, E b) {
      return Bool::compared(a.v != b, a.v == b, &a, static_cast<std::size_t>(b));
    }
    friend Bool operator==(const Enum& a, const Enum& b) { return Bool::seen(a.v == b.v); }
    friend Bool operator!=(const Enum& a, const Enum& b) { return Bool::seen(a.v != b.v); }
  };

  template <IndexTag Tag>
  struct Ix {
    static constexpr bool is_leaf = true;
    static constexpr bool is_index = true;
    std::uint32_t v = 0;
    [[nodiscard]] std::string text() const { return std::to_string(v); }
    friend Bool operator==(const Ix& a, const Ix& b) { return Bool::compared_indices(a.v == b.v, &a, &b); }
    friend Bool operator!=(const Ix& a, const Ix& b) { return Bool::compared_indices(a.v != b.v, &a, &b); }
    friend Bool operator<(Ix a, Ix b) requires(!Tag::interchangeable) { return Bool::seen(a.v < b.v); }
  };

  template <IndexTag Tag>
  struct Maybe {
    static constexpr bool is_leaf = true;
    static constexpr bool is_index = true;
    std::uint32_t v = 0;  // 0: nothing, else the index plus one
    constexpr Maybe() = default;
    constexpr Maybe(Ix<Tag> i) : v(i.v + 1) {}
    [[nodiscard]] std::string text() const { return v == 0 ? "none" : std::to_string(v - 1); }
    [[nodiscard]] Bool has() const { return Bool::compared(v != 0, this); }
    [[nodiscard]] constexpr Ix<Tag> value() const { return {v - 1}; }
    friend Bool operator==(const Maybe& a, const Maybe& b) {
      return Bool::compared_indices(a.v == b.v, &a, &b);
    }
    friend Bool operator!=(const Maybe& a, const Maybe& b) {
      return Bool::compared_indices(a.v != b.v, &a, &b);
    }
  };

  // The lanes of one coalesced access. Arithmetic is lane by lane, constants go to all lanes, comparisons
  // look at the first.
  struct alignas(timed::word_bytes) Value {
    static constexpr bool is_leaf = true;
    using Lanes = std::array<std::int32_t, timed::lanes>;
    Lanes v{};
    constexpr Value() = default;
    constexpr Value(std::int32_t n) { v.fill(n); }
    constexpr explicit Value(const Lanes& lanes) : v(lanes) {}
    [[nodiscard]] std::string text() const { return std::to_string(v[0]); }
    friend Bool operator==(const Value& a, const Value& b) { return compared(a.v[0] == b.v[0]); }
    friend Bool operator!=(const Value& a, const Value& b) { return compared(a.v[0] != b.v[0]); }
    friend Bool operator<(const Value& a, const Value& b) { return compared(a.v[0] < b.v[0]); }
    friend Bool operator>=(const Value& a, const Value& b) { return compared(a.v[0] >= b.v[0]); }
    friend Value operator+(const Value& a, const Value& b) { return by_lane(a, b, std::plus<>()); }
    friend Value operator-(const Value& a, const Value& b) { return by_lane(a, b, std::minus<>()); }
    friend Value operator*(const Value& a, const Value& b) { return by_lane(a, b, std::multiplies<>()); }
    friend Value operator&(const Value& a, const Value& b) { return by_lane(a, b, std::bit_and<>()); }
    friend Value operator|(const Value& a, const Value& b) { return by_lane(a, b, std::bit_or<>()); }
    friend Value operator^(const Value& a, const Value& b) { return by_lane(a, b, std::bit_xor<>()); }

   private:
    static Bool compared(bool b) {
      if (timed::reads.listing()) timed::reads.note_comparison_of_data();
      return Bool::seen(b);
    }
    // On unsigned numbers, which wrap around.
    template <class F>
    static Value by_lane(const Value& a, const Value& b, F f) {
      Value result;
      for (std::size_t i = 0; i < timed::lanes; ++i) {
        result.v[i] = static_cast<std::int32_t>(
            f(static_cast<std::uint32_t>(a.v[i]), static_cast<std::uint32_t>(b.v[i])));
      }
      return result;
    }
  };

  // ---- containers ----------------------------------------------------------------------------------------

  // Rows over a fixed index type, as part of a row, a message or a local variable.
  template <class Row, IndexTag Tag>
  struct Array {
    using row_type = Row;
    static constexpr std::size_t size = static_cast<std::size_t>(Sizes::template capacity<Tag>());
    std::array<Row, size> rows{};
    Row& operator()(Ix<Tag> i) { return rows[i.v]; }
    const Row& operator()(Ix<Tag> i) const { return rows[i.v]; }
    [[nodiscard]] const Row& at(std::uint32_t i) const { return rows[i]; }
    [[nodiscard]] bool same_as(const Array& other) const {
      for (std::size_t i = 0; i < size; ++i) {
        if (!timed::same(rows[i], other.rows[i])) return false;
      }
      return true;
    }
  };

  template <class Row, IndexTag Slot>
  class Fifo;

 private:
  template <class Row>
  struct IsQueue : std::false_type {};
  template <class Row, class Slot>
  struct IsQueue<Fifo<Row, Slot>> : std::true_type {};

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

 public:
  // A queue. Its keys are its head, that it gains room, that it becomes full, what is in it, and each
  // question about its contents that was asked by a predicate without captures.
  template <class Row, IndexTag Slot>
  class Fifo {
   public:
    static constexpr std::size_t questions = 4;
    enum Aspect : Key {
      space_key,
      full_key,
      contents_key,
      question_key,
      head_key = question_key + questions  // the head is a row: its fields have keys, too
    };
    static Key keys() { return head_key + places().keys(); }

    [[nodiscard]] Bool empty() const {
      note(head_key);
      return Bool::seen_last(count_ == 0);
    }
    // Whoever looks at a message of a link looks at it after it has arrived.
    [[nodiscard]] const Row& head() const {
      timed::reads.note(first_key_ + head_key, places().leads(), &at(0), sizeof(Row), places().fields());
      if (count_ > 0 && link_ != nullptr) {
        const Message& m = at_message(0);
        timed::reads.note_arrival({m.arrival, m.starts, m.sent_by, static_cast<std::uint32_t>(link_->level)});
      }
      if constexpr (requires(Row row) { row.block.v; }) timed::reads.note_message(at(0).block.v);
      return at(0);
    }
    [[nodiscard]] Bool full() const {
      note(room_ == 0 ? space_key : full_key);
      return Bool::seen_last(room_ == 0);
    }
    template <class F>
    [[nodiscard]] Bool contains(F&& f) const {
      if constexpr (std::is_empty_v<std::remove_cvref_t<F>>) {
        return answer(question_number<std::remove_cvref_t<F>>());
      } else {
        note(contents_key);
        const std::uint32_t start = timed::reads.count();
        for (std::uint32_t i = 0; i < count_; ++i) {
          if (f(at(i)).v) return Bool::seen_since(start, true);
        }
        return Bool::seen_since(start, false);
      }
    }
    template <class F>
    void for_each(F&& f) const {
      note(contents_key);
      for (std::uint32_t i = 0; i < count_; ++i) f(at(i));
    }

    void push(const Row& row) { insert(count_, row); }
    // Overtaking is a fault's doing: such a message arrives at once.
    void push_front(const Row& row) {
      assert(room_ > 0);
      first_ = (first_ + mask_) & mask_;
      ++count_;
      at_message(0).row = row;
      at_message(0).arrival = journal_->now;
      at_message(0).starts = journal_->now;
      at_message(0).sent_by = journal_->firing;
      tally(row, +1);
      changed(true);
    }
    void pop() {
      assert(count_ > 0);
      if (journal_->wants_message && !journal_->has_message) {
        show(at(0), journal_->message);
        journal_->has_message = true;
      }
      tally(at(0), -1);
      at_message(0).row = Row{};
      first_ = (first_ + 1) & mask_;
      --count_;
      changed(true);
    }
    template <class F>
    void remove_if(F&& f) {
      std::uint32_t kept = 0;
      for (std::uint32_t i = 0; i < count_; ++i) {
        if (f(at(i)).v) {
          tally(at(i), -1);
        } else {
          if (kept != i) at_message(kept) = at_message(i);
          ++kept;
        }
      }
      if (kept == count_) return;
      for (std::uint32_t i = kept; i < count_; ++i) at_message(i).row = Row{};
      count_ = kept;
      changed(true);
    }

    [[nodiscard]] std::uint32_t size() const { return count_; }
    [[nodiscard]] const Row& operator[](std::uint32_t i) const { return at(i); }
    [[nodiscard]] bool same_as(const Fifo&) const { return false; }

    void bind(Key first_key, timed::Journal& journal, std::uint32_t capacity) {
      first_key_ = first_key;
      journal_ = &journal;
      capacity_ = capacity;
      room_ = capacity;
      ring_.resize(std::bit_ceil(capacity + 1));
      mask_ = static_cast<std::uint32_t>(ring_.size()) - 1;
    }
    // A queue of the state by itself.
    void bind(const Timed& k, timed::Binder& binder, const std::string& name) {
      const Key first = binder.reserve(keys());
      bind(first + 1, binder.journal, static_cast<std::uint32_t>(k.template extent<Slot>()));
      binder.tables.push_back({name, {}, {}, first, nullptr, false, keys()});
      binder.queues.push_back({name, {&link_}, kind_names(), message_fields()});
      binder.rooms.push_back(room());
    }
    [[nodiscard]] timed::Link** link_place() { return &link_; }
    // Where it stands how many more messages there is room for, and the key of that.
    [[nodiscard]] std::pair<Key, const std::uint32_t*> room() const {
      return {first_key_ + space_key, &room_};
    }
    static std::vector<std::string_view> kind_names() {
      if constexpr (requires(Row row) { typename decltype(row.kind)::enumeration; }) {
        return timed::names_of_values<decltype(Row::kind)>();
      } else {
        return {};
      }
    }
    static const timed::FieldNames* message_fields() { return &timed::field_names<Row>(); }

   private:
    struct Message {
      Row row;
      Tick arrival = 0;
      Tick starts = 0;  // its turn on the link
      std::uint32_t sent_by = timed::nobody;
    };
    using Question = bool (*)(const Row&);

    static const timed::RowFields<Row>& places() {
      static const timed::RowFields<Row> places;
      return places;
    }
    // Predicates without captures are numbered for the whole process, before it begins: simulations that run
    // beside one another only read the list.
    static std::vector<Question>& all_questions() {
      static std::vector<Question> all;
      return all;
    }
    template <class F>
    struct Numbered {
      inline static const std::size_t number = [] {
        all_questions().push_back([](const Row& row) { return F{}(row).v; });
        return all_questions().size() - 1;
      }();
    };
    template <class F>
    static std::size_t question_number() {
      return Numbered<F>::number;
    }
    Bool answer(std::size_t question) const {
      if (question >= questions) {
        note(contents_key);
        for (std::uint32_t i = 0; i < count_; ++i) {
          if (all_questions()[question](at(i))) return Bool::seen_last(true);
        }
        return Bool::seen_last(false);
      }
      if (!tallied_[question]) {
        tallied_[question] = true;
        tallies_[question] = 0;
        for (std::uint32_t i = 0; i < count_; ++i) tallies_[question] += all_questions()[question](at(i));
      }
      note(question_key + static_cast<Key>(question));
      return Bool::seen_last(tallies_[question] > 0);
    }
    void tally(const Row& row, int by) {
      for (std::size_t q = 0; q < questions; ++q) {
        if (!tallied_[q] || !all_questions()[q](row)) continue;
        tallies_[q] += by;
        if (tallies_[q] == (by > 0 ? 1 : 0)) journal_->write(first_key_ + question_key + static_cast<Key>(q));
      }
    }

    void insert(std::uint32_t position, const Row& row) {
      assert(room_ > 0);
      ++count_;
      Message& m = at_message(position);
      m.row = row;
      m.sent_by = journal_->firing;
      m.starts = journal_->now;
      m.arrival = journal_->now;
      if (link_ != nullptr) {
        const timed::Bytes bytes = weight(row);
        m.starts = std::max(m.starts, link_->free_at);
        m.arrival = link_->send(journal_->now, bytes, kind_of(row));
        if (link_->carrier != nullptr) {
          std::uint32_t block = 0;
          if constexpr (requires { row.block.v; }) block = row.block.v;
          const auto [arrival, waited] = link_->carrier->carry(*link_, m.arrival, bytes, block);
          m.starts += waited;
          m.arrival = std::max(arrival, link_->last);
          link_->last = m.arrival;
        }
      }
      tally(row, +1);
      changed(position == 0);
    }
    void changed(bool head) {
      const std::uint32_t room = capacity_ - count_;
      if (head) places().note_all(*journal_, first_key_ + head_key, timed::outline_of(at(0)).data());
      if (room > room_) journal_->write(first_key_ + space_key);
      if (room == 0) journal_->write(first_key_ + full_key);
      journal_->write(first_key_ + contents_key);
      if (link_ != nullptr && (room == 0) != (room_ == 0)) {
        if (room > 0) link_->full += journal_->now - full_since_;
        full_since_ = journal_->now;
      }
      room_ = room;
    }
    static unsigned masked_words(const Row& row) {
      unsigned masked = 0;
      if constexpr (requires { row.mask.rows; }) {
        for (const Bool& b : row.mask.rows) masked += b.v ? 1 : 0;
      }
      return masked;
    }
    static void show(const Row& row, timed::Message& message) {
      const auto fields = timed::outline_of(row);
      message.names = &timed::field_names<Row>();
      message.fields.assign(fields.begin(), fields.end());
      message.masked_words = masked_words(row);
    }
    [[nodiscard]] timed::Bytes weight(const Row& row) const {
      if (journal_->weights == nullptr) return {};
      const timed::Weight& w = journal_->weights[link_->level];
      const unsigned masked = masked_words(row);
      if (!w.plain || (masked > 0 && !w.masked)) {
        show(row, journal_->sent);
        return journal_->weigher->weigh(link_->level, journal_->sent);
      }
      return {w.fixed.header, w.fixed.data + masked * timed::word_bytes};
    }
    static std::size_t kind_of(const Row& row) {
      if constexpr (requires { row.kind.v; }) return static_cast<std::size_t>(row.kind.v);
      return 0;
    }

    void note(Key aspect) const { timed::reads.note(first_key_ + aspect, aspect == contents_key); }
    [[nodiscard]] const Row& at(std::uint32_t i) const { return ring_[(first_ + i) & mask_].row; }
    [[nodiscard]] Message& at_message(std::uint32_t i) { return ring_[(first_ + i) & mask_]; }
    [[nodiscard]] const Message& at_message(std::uint32_t i) const { return ring_[(first_ + i) & mask_]; }

    std::vector<Message> ring_;
    std::uint32_t mask_ = 0;
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t room_ = 0;
    Key first_key_ = 0;
    timed::Journal* journal_ = nullptr;
    timed::Link* link_ = nullptr;
    Tick full_since_ = 0;
    mutable std::array<bool, questions> tallied_{};
    mutable std::array<int, questions> tallies_{};
  };

  // ---- tables --------------------------------------------------------------------------------------------

 private:
  template <class... Where>
  static constexpr unsigned fixed_places() {
    unsigned mask = 0;
    unsigned place = 0;
    ((mask |= (IndexTag<Where> ? 0U : 1U) << place++), ...);
    return mask;
  }
  template <class Where>
  static std::uint32_t place_of([[maybe_unused]] const Where& w) {
    if constexpr (IndexTag<Where>) {
      return 0;
    } else {
      return w.v;
    }
  }

  // Calls f with the index values that a slice leaves open.
  template <class... Tags>
  struct Opened {
    template <class... Where, class F>
    static auto call(F&& f, const std::uint32_t* at) {
      return call_with<Where...>(f, at, std::index_sequence_for<Where...>());
    }

   private:
    template <class... Where, class F, std::size_t... I>
    static auto call_with(F&& f, const std::uint32_t* at, std::index_sequence<I...>) {
      return std::apply(f, std::tuple_cat(open<Where, Tags>(at[I])...));
    }
    template <class Where, class Tag>
    static auto open([[maybe_unused]] std::uint32_t i) {
      if constexpr (IndexTag<Where>) {
        return std::tuple<Ix<Tag>>(Ix<Tag>{i});
      } else {
        return std::tuple<>();
      }
    }
  };

  // Every row has its place.
  template <class Row, IndexTag... Tags>
  class Dense : public timed::TableBase {
   public:
    Row& operator()(Ix<Tags>... index) {
      const std::size_t at = offset(index...);
      if constexpr (!IsQueue<Row>::value) {
        if (!listed_[at]) list(at);
      }
      return rows_[at];
    }
    const Row& operator()(Ix<Tags>... index) const {
      const std::size_t at = offset(index...);
      if constexpr (!IsQueue<Row>::value) {
        timed::reads.note(row_key(at), fields_->indices > 0, &rows_[at], sizeof(Row), fields_);
      }
      return rows_[at];
    }

    // Rows that are not default rows, where a slice leaves everything open; else all of them.
    template <class F, class... Where>
    void for_each_present(F&& f, const Where&...) const requires(IndexTag<Where>&&...) {
      static_assert(sizeof...(Where) == sizeof...(Tags));
      track();
      refresh();
      timed::reads.note(first_key_, true);
      for (std::size_t n = present_.size(); n > 0; --n) {
        const auto at = coordinates_of(present_[n - 1]);
        Opened<Tags...>::template call<Where...>(f, at.data());
      }
    }

    // The threads whose request names the block, in a table of ports.
    template <class Block, class F>
    void for_each_asking(Block b, F&& f) const {
      ask_about(b.v);
      refresh();
      for (std::uint32_t t = asking_[b.v]; t != none;) {
        const std::uint32_t next = next_asking_[t];
        f(Ix<Tags...>{t});
        t = next;
      }
    }
    template <class Block, class F>
    Bool exists_asking(Block b, F&& f) const {
      ask_about(b.v);
      refresh();
      const std::uint32_t start = timed::reads.count();
      timed::reads.note(asking_key(b.v), true);
      for (std::uint32_t t = asking_[b.v]; t != none; t = next_asking_[t]) {
        if (!f(Ix<Tags...>{t}).v) continue;
        // It is so as long as this one asks.
        if (timed::reads.listing()) {
          timed::reads.rewind(start);
          timed::reads.note(row_key(t), false);
          (void)f(Ix<Tags...>{t});
        }
        return Bool::seen_since(start, true);
      }
      return Bool::seen_since(start, false);
    }

    // In a table of ports: no thread is left that has not.
    Bool all_ended() const requires requires(Row r) { r.ended.v; }
    {
      refresh();
      timed::reads.note(first_asking_key_ + asking_keys, false);
      return Bool::seen_last(going_on_ == 0);
    }

    void bind(const Timed& k, timed::Binder& binder, const std::string& name) {
      extents_ = {static_cast<std::uint32_t>(k.template extent<Tags>())...};
      std::size_t count = 1;
      for (const std::uint32_t e : extents_) count *= e;
      rows_ = std::vector<Row>(count);
      listed_.assign(count, false);
      journal_ = &binder.journal;
      std::vector<std::string_view> tags{Tags::name...};
      if constexpr (IsQueue<Row>::value) {
        first_key_ = binder.reserve(static_cast<Key>(count) * Row::keys());
        timed::QueueInfo info{name, {}, Row::kind_names(), Row::message_fields()};
        for (std::size_t i = 0; i < count; ++i) {
          rows_[i].bind(first_key_ + 1 + static_cast<Key>(i) * Row::keys(), binder.journal,
                        slots(k, rows_[i]));
          info.places.push_back(rows_[i].link_place());
          binder.rooms.push_back(rows_[i].room());
        }
        binder.queues.push_back(std::move(info));
        binder.tables.push_back(
            {name, tags, {extents_.begin(), extents_.end()}, first_key_, this, false, Row::keys()});
      } else {
        const Key extra = has_request ? asking_keys + 1 : 0;
        keys_per_row_ = places().keys();
        fields_ = places().fields();
        first_key_ = binder.reserve(static_cast<Key>(count) * keys_per_row_ + extra);
        first_asking_key_ = row_key(count);
        binder.tables.push_back(
            {name, tags, {extents_.begin(), extents_.end()}, first_key_, this, false, keys_per_row_});
        if constexpr (has_request) {
          asks_.assign(count, 0);
          next_asking_.assign(count, none);
          previous_asking_.assign(count, none);
          has_ended_.assign(count, false);
          going_on_ = static_cast<std::uint32_t>(count);
          for (std::uint32_t t = 0; t < count; ++t) join(t, 0);
        }
      }
    }
    // Rows are settled in the order in which they were listed.
    Change settle(std::uint32_t at) override {
      if constexpr (!IsQueue<Row>::value) {
        listed_[at] = false;
        const auto after = timed::outline_of(rows_[at]);
        if (after != before_[settled_]) {
          places().note_changes(*journal_, row_key(at), before_[settled_].data(), after.data());
          update(at);
        } else if (journal_->compares_data[first_key_] != 0) {
          journal_->write(row_key(at));
        }
        if (++settled_ == unsettled_.size()) {
          settled_ = 0;
          unsettled_.clear();
          before_.clear();
        }
      }
      return Change::none;
    }
    [[nodiscard]] bool alike(std::uint32_t a, std::uint32_t b) const override {
      if constexpr (IsQueue<Row>::value) {
        return false;
      } else {
        return timed::same(rows_[a], rows_[b]);
      }
    }
    // What lies in a row, for whoever is no rule.
    [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
    template <class... Index>
    [[nodiscard]] const Row& at(Index... index) const {
      return rows_[offset(Ix<Tags>{index}...)];
    }

   private:
    static constexpr bool has_request = requires(Row r) { r.request.block.v; };
    static constexpr Key asking_keys = 8192;
    static const auto& places() {
      static const timed::RowFields<std::conditional_t<IsQueue<Row>::value, Bool, Row>> places;
      return places;
    }

    template <class R, class Slot>
    static std::uint32_t slots(const Timed& k, const Fifo<R, Slot>&) {
      return static_cast<std::uint32_t>(k.template extent<Slot>());
    }
    [[nodiscard]] std::size_t offset(Ix<Tags>... index) const {
      std::size_t at = 0;
      std::size_t place = 0;
      ((at = at * extents_[place++] + index.v), ...);
      assert(at < rows_.size());
      return at;
    }
    [[nodiscard]] std::array<std::uint32_t, sizeof...(Tags)> coordinates_of(std::uint32_t at) const {
      std::array<std::uint32_t, sizeof...(Tags)> result{};
      for (std::size_t i = sizeof...(Tags); i > 0; --i) {
        result[i - 1] = at % extents_[i - 1];
        at /= extents_[i - 1];
      }
      return result;
    }

    [[nodiscard]] Key row_key(std::size_t at) const {
      return first_key_ + 1 + static_cast<Key>(at) * keys_per_row_;
    }
    // An action is about to write the row, or to read it as one that it may write.
    void list(std::size_t at) {
      listed_[at] = true;
      journal_->rows.push_back({this, static_cast<std::uint32_t>(at)});
      unsettled_.push_back(static_cast<std::uint32_t>(at));
      before_.push_back(timed::outline_of(rows_[at]));
    }

    // Starts to keep the list of rows that are present.
    void track() const {
      if (tracked_) return;
      tracked_ = true;
      position_.assign(rows_.size(), none);
      for (std::uint32_t i = 0; i < rows_.size(); ++i) update(i);
    }
    void refresh() const {
      for (const std::uint32_t at : unsettled_) update(at);
    }
    void update(std::uint32_t at) const {
      if (tracked_) {
        const bool present = !timed::same(rows_[at], default_row());
        if (present && position_[at] == none) {
          position_[at] = static_cast<std::uint32_t>(present_.size());
          present_.push_back(at);
        } else if (!present && position_[at] != none) {
          present_[position_[at]] = present_.back();
          position_[present_.back()] = position_[at];
          present_.pop_back();
          position_[at] = none;
        }
      }
      if constexpr (has_request) {
        if (rows_[at].ended.v != static_cast<bool>(has_ended_[at])) note_end(at);
        const std::uint32_t block = rows_[at].request.block.v;
        if (block == asks_[at]) return;
        leave(at);
        join(at, block);
      }
    }
    static const Row& default_row() {
      static const Row row{};
      return row;
    }
    void ask_about(std::uint32_t block) const {
      if (asking_.size() <= block) asking_.resize(2 * block + 64, none);
    }
    Key asking_key(std::uint32_t block) const { return first_asking_key_ + block % asking_keys; }
    void note_end(std::uint32_t t) const {
      has_ended_[t] = rows_[t].ended.v;
      const std::uint32_t before = has_ended_[t] ? going_on_-- : going_on_++;
      if (before == 0 || going_on_ == 0) journal_->write(first_asking_key_ + asking_keys);
    }
    void join(std::uint32_t t, std::uint32_t block) const {
      ask_about(block);
      asks_[t] = block;
      next_asking_[t] = asking_[block];
      previous_asking_[t] = none;
      if (asking_[block] != none) previous_asking_[asking_[block]] = t;
      asking_[block] = t;
      journal_->write(asking_key(block));
    }
    void leave(std::uint32_t t) const {
      if (previous_asking_[t] != none) {
        next_asking_[previous_asking_[t]] = next_asking_[t];
      } else {
        asking_[asks_[t]] = next_asking_[t];
      }
      if (next_asking_[t] != none) previous_asking_[next_asking_[t]] = previous_asking_[t];
      journal_->write(asking_key(asks_[t]));
    }

    std::vector<Row> rows_;
    std::array<std::uint32_t, sizeof...(Tags)> extents_{};
    Key first_key_ = 0;
    Key keys_per_row_ = 1;
    const timed::Fields* fields_ = nullptr;
    timed::Journal* journal_ = nullptr;
    std::vector<char> listed_;
    std::vector<std::uint32_t> unsettled_;
    std::vector<timed::Outline<std::conditional_t<IsQueue<Row>::value, Bool, Row>>> before_;
    std::size_t settled_ = 0;
    mutable bool tracked_ = false;
    mutable std::vector<std::uint32_t> present_;
    mutable std::vector<std::uint32_t> position_;
    Key first_asking_key_ = 0;
    mutable std::vector<std::uint32_t> asking_;  // by block: the first thread
    mutable std::vector<std::uint32_t> asks_;
    mutable std::vector<std::uint32_t> next_asking_;
    mutable std::vector<std::uint32_t> previous_asking_;
    mutable std::vector<char> has_ended_;
    mutable std::uint32_t going_on_ = 0;
  };

  // Rows that differ from the default row, and those a firing is about to change.
  template <class Row, IndexTag... Tags>
  class Sparse : public timed::TableBase {
   public:
    static constexpr std::size_t width = sizeof...(Tags);
    static constexpr bool leads = timed::indices<Row>() > 0;

    Row& operator()(Ix<Tags>... index) {
      const std::uint64_t flat = flatten(index...);
      const auto [found, fresh] = where_.try_emplace(flat, none);
      if (fresh) found->second = create(flat, {index.v...});
      Entry& entry = entries_[found->second];
      if (!entry.listed) {
        entry.listed = true;
        journal_->rows.push_back({this, found->second});
        entry.before = timed::outline_of(entry.row);
        if (is_memory) data_before_.emplace_back(found->second, entry.row);
      }
      entry.used = journal_->now;
      return entry.row;
    }
    const Row& operator()(Ix<Tags>... index) const {
      const std::uint64_t flat = flatten(index...);
      const auto found = where_.find(flat);
      if (is_memory && !timed::reads.in_guard())
        journal_->looks.push_back({const_cast<Sparse*>(this), block_of({index.v...})});
      if (found == where_.end()) {
        timed::reads.note(row_key(flat), leads, &default_, sizeof(Row), nullptr, flat);
        return default_;
      }
      const Entry& entry = entries_[found->second];
      if (timed::reads.in_guard()) {
        timed::reads.note(row_key(flat), leads, &entry.row, sizeof(Row), nullptr, flat);
      } else {
        entry.used = journal_->now;
      }
      return entry.row;
    }

    template <class F, class... Where>
    void for_each_present(F&& f, const Where&... where) const {
      const Index& index = index_for(fixed_places<Where...>());
      for (std::uint32_t at = first_of(index, where...); at != none;) {
        const std::uint32_t next = index.next[at];
        Opened<Tags...>::template call<Where...>(f, entries_[at].at.data());
        at = next;
      }
    }
    template <class F, class... Where>
    Bool exists_present(F&& f, const Where&... where) const {
      const Index& index = index_for(fixed_places<Where...>());
      const std::uint32_t start = timed::reads.count();
      timed::reads.note(slice_key(index.fixed, partial(index.fixed, {place_of(where)...})), true);
      for (std::uint32_t at = first_of(index, where...); at != none; at = index.next[at]) {
        const auto& row = entries_[at].at;
        if (!Opened<Tags...>::template call<Where...>(f, row.data()).v) continue;
        // Whatever others there are: of a row that is absent it would be false.
        if (timed::reads.listing()) {
          timed::reads.rewind(start);
          (void)Opened<Tags...>::template call<Where...>(f, row.data());
        }
        return Bool::seen_since(start, true);
      }
      return Bool::seen_since(start, false);
    }

    void bind(const Timed& k, timed::Binder& binder, const std::string& name) {
      extents_ = {static_cast<std::uint32_t>(k.template extent<Tags>())...};
      journal_ = &binder.journal;
      std::uint64_t rows = 1;
      for (const std::uint32_t e : extents_) rows *= e;
      // As many as may be waited for at a time; rows beyond share keys.
      const auto waiting = static_cast<std::uint64_t>(k.template extent<ThreadTag>());
      row_keys_ = static_cast<Key>(std::min(rows, std::clamp<std::uint64_t>(4 * waiting, 4096, 65536)));
      slice_keys_ = static_cast<Key>(std::min(2 * rows, std::clamp<std::uint64_t>(waiting, 512, 16384)));
      first_key_ = binder.reserve(row_keys_ + slice_keys_);
      binder.tables.push_back({name,
                               {Tags::name...},
                               {extents_.begin(), extents_.end()},
                               first_key_,
                               this,
                               true,
                               0,
                               &timed::field_names<Row>()});
    }
    Change settle(std::uint32_t slot) override {
      Entry& entry = entries_[slot];
      entry.listed = false;
      if (is_memory) note_changed_words(slot, entry);
      const bool fresh = std::exchange(entry.fresh, false);
      if (timed::same(entry.row, default_)) {
        if (!fresh) note_membership(entry);
        drop(slot);
        return fresh ? Change::none : Change::dropped;
      }
      if (fresh) {
        note_membership(entry);
        return Change::inserted;
      }
      if (timed::outline_of(entry.row) != entry.before || journal_->compares_data[first_key_] != 0)
        journal_->write(row_key(flat_of(entry)));
      return Change::none;
    }
    [[nodiscard]] const std::uint32_t* coordinates(std::uint32_t slot) const override {
      return entries_[slot].at.data();
    }
    [[nodiscard]] std::uint64_t number_of(const std::uint32_t* at) const override {
      std::uint64_t flat = 0;
      for (std::size_t i = 0; i < width; ++i) flat = flat * extents_[i] + at[i];
      return flat;
    }
    [[nodiscard]] Key key_of(const std::uint32_t* at) const override { return row_key(number_of(at)); }
    [[nodiscard]] Tick used(std::uint32_t slot) const override { return entries_[slot].used; }
    [[nodiscard]] unsigned taken_away(std::uint32_t slot, std::size_t first,
                                      std::size_t count) const override {
      const Entry& entry = entries_[slot];
      const auto after = timed::outline_of(entry.row);
      unsigned taken = 0;
      for (std::size_t i = first; i < first + count; ++i) taken += entry.before[i] != 0 && after[i] == 0;
      return taken;
    }
    [[nodiscard]] unsigned changed_words(std::uint32_t slot) const override {
      return entries_[slot].changed_words;
    }
    // What lies in a row, for whoever is no rule.
    template <class... Index>
    [[nodiscard]] const Row& at(Index... index) const {
      const auto found = where_.find(flatten(Ix<Tags>{index}...));
      return found == where_.end() ? default_ : entries_[found->second].row;
    }

   private:
    struct Entry {
      Row row{};
      std::array<std::uint32_t, width> at{};
      timed::Outline<Row> before{};
      mutable Tick used = 0;
      std::uint8_t changed_words = 0;
      bool listed = false;
      bool fresh = false;
    };
    // Chains of the present rows that agree in some of their places.
    struct Index {
      unsigned fixed = 0;
      boost::unordered_flat_map<std::uint64_t, std::uint32_t> first;
      std::vector<std::uint32_t> next;
      std::vector<std::uint32_t> previous;
    };

    [[nodiscard]] std::uint64_t flatten(Ix<Tags>... index) const {
      std::uint64_t at = 0;
      std::size_t place = 0;
      ((at = at * extents_[place++] + index.v), ...);
      return at;
    }
    [[nodiscard]] std::uint64_t partial(unsigned fixed, const std::array<std::uint32_t, width>& at) const {
      std::uint64_t key = 0;
      for (std::size_t i = 0; i < width; ++i) {
        if (((fixed >> i) & 1U) != 0) key = key * extents_[i] + at[i];
      }
      return key;
    }
    [[nodiscard]] Key row_key(std::uint64_t flat) const {
      return first_key_ + 1 + static_cast<Key>(timed::scatter(flat) % row_keys_);
    }
    [[nodiscard]] Key slice_key(unsigned fixed, std::uint64_t part) const {
      return first_key_ + 1 + row_keys_ + static_cast<Key>(timed::scatter(part * 8 + fixed) % slice_keys_);
    }

    std::uint32_t create(std::uint64_t, const std::array<std::uint32_t, width>& at) {
      std::uint32_t slot = 0;
      if (free_.empty()) {
        slot = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
      } else {
        slot = free_.back();
        free_.pop_back();
        entries_[slot].row = Row{};
      }
      entries_[slot].at = at;
      entries_[slot].fresh = true;
      for (Index& index : indexes_) chain(index, slot);
      return slot;
    }
    [[nodiscard]] std::uint64_t flat_of(const Entry& entry) const {
      std::uint64_t flat = 0;
      for (std::size_t i = 0; i < width; ++i) flat = flat * extents_[i] + entry.at[i];
      return flat;
    }
    void note_changed_words(std::uint32_t slot, Entry& entry) {
      for (std::size_t i = 0; i < data_before_.size(); ++i) {
        if (data_before_[i].first != slot) continue;
        entry.changed_words =
            static_cast<std::uint8_t>(timed::differing_words(data_before_[i].second, entry.row));
        std::swap(data_before_[i], data_before_.back());
        data_before_.pop_back();
        return;
      }
      entry.changed_words = 0;
    }
    [[nodiscard]] static std::uint32_t block_of(const std::array<std::uint32_t, width>& at) {
      constexpr std::array is_block{std::is_same_v<Tags, BlockTag>...};
      for (std::size_t i = 0; i < width; ++i) {
        if (is_block[i]) return at[i];
      }
      return 0;
    }
    // The row has come or gone: also for those who asked for all rows of a slice.
    void note_membership(const Entry& entry) {
      journal_->write(row_key(flat_of(entry)));
      for (const Index& i : indexes_) journal_->write(slice_key(i.fixed, partial(i.fixed, entry.at)));
    }
    void drop(std::uint32_t slot) {
      where_.erase(flat_of(entries_[slot]));
      for (Index& index : indexes_) unchain(index, slot);
      free_.push_back(slot);
    }

    const Index& index_for(unsigned fixed) const {
      for (const Index& index : indexes_) {
        if (index.fixed == fixed) return index;
      }
      indexes_.push_back({fixed, {}, {}, {}});
      for (const auto& [flat, slot] : where_) chain(indexes_.back(), slot);
      return indexes_.back();
    }
    template <class... Where>
    std::uint32_t first_of(const Index& index, const Where&... where) const {
      const auto found = index.first.find(partial(index.fixed, {place_of(where)...}));
      return found == index.first.end() ? none : found->second;
    }
    void chain(Index& index, std::uint32_t slot) const {
      if (index.next.size() <= slot) {
        index.next.resize(slot + 1U, none);
        index.previous.resize(slot + 1U, none);
      }
      const auto [first, fresh] = index.first.try_emplace(partial(index.fixed, entries_[slot].at), none);
      index.next[slot] = first->second;
      index.previous[slot] = none;
      if (first->second != none) index.previous[first->second] = slot;
      first->second = slot;
    }
    void unchain(Index& index, std::uint32_t slot) const {
      const std::uint32_t next = index.next[slot];
      const std::uint32_t previous = index.previous[slot];
      if (next != none) index.previous[next] = previous;
      if (previous != none) {
        index.next[previous] = next;
      } else if (next != none) {
        index.first[partial(index.fixed, entries_[slot].at)] = next;
      } else {
        index.first.erase(partial(index.fixed, entries_[slot].at));
      }
    }

    std::array<std::uint32_t, width> extents_{};
    Key first_key_ = 0;
    timed::Journal* journal_ = nullptr;
    Key row_keys_ = 1;
    Key slice_keys_ = 1;
    std::deque<Entry> entries_;                               // rows stay where they are
    std::vector<std::pair<std::uint32_t, Row>> data_before_;  // of memory: of rows that are being written
    std::vector<std::uint32_t> free_;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> where_;
    mutable std::deque<Index> indexes_;
    const Row default_{};
  };

 public:
  // Tables over blocks are as large as memory, so only what differs from the default row is kept.
  template <class Row, IndexTag... Tags>
  using Table =
      std::conditional_t<(std::is_same_v<Tags, BlockTag> || ...), Sparse<Row, Tags...>, Dense<Row, Tags...>>;

  template <IndexTag From, IndexTag To>
  struct Map {
    std::vector<std::uint32_t> image;
    Ix<To> operator()(Ix<From> i) const { return {image[i.v]}; }
  };
  template <IndexTag Tag>
  struct Set {
    std::vector<char> member;
    Bool operator()(Ix<Tag> i) const { return Bool(member[i.v] != 0); }
  };

  // ---- control -------------------------------------------------------------------------------------------

  template <class Then>
  static void when(const Bool& condition, Then&& then) {
    timed::reads.pin();
    if (condition.v) then();
  }
  template <class Then, class Else>
  static void when(const Bool& condition, Then&& then, Else&& otherwise) {
    timed::reads.pin();
    if (condition.v) {
      then();
    } else {
      otherwise();
    }
  }
  // Both operands have been looked at before, so whatever is made of the result rests on them.
  template <class T>
  static T select(const Bool& condition, const T& a, const T& b) {
    if constexpr (std::is_same_v<T, Bool>) {
      return Bool::chosen(condition, condition.v ? a : b);
    } else {
      timed::reads.pin();
      return condition.v ? a : b;
    }
  }
  template <class Tag>
  static Ix<Tag> constant(int i) {
    return {static_cast<std::uint32_t>(i)};
  }
  template <class To, class From>
  static Ix<To> same(Ix<From> i) {
    return {i.v};
  }
  template <class Tag>
  [[nodiscard]] int extent(Tag = {}) const {
    return sizes.template extent<Tag>();
  }

  template <class Tag, class F>
  void for_each(Tag, F&& f) const {
    const auto n = static_cast<std::uint32_t>(extent<Tag>());
    for (std::uint32_t i = 0; i < n; ++i) f(Ix<Tag>{i});
  }
  // The member that decided last is asked first: a loop over thousands of threads that waits for the last of
  // them looks at one. Then some that lie far apart, before all: many wait for the same loop, and where
  // members come to what they are waited for one after the other, the next that decides does so for long.
  template <class Tag, class F>
  Bool forall(Tag, F&& f) const {
    return decide<Tag, false>(f);
  }
  template <class Tag, class F>
  Bool exists(Tag, F&& f) const {
    return decide<Tag, true>(f);
  }
  // Whether left(u) holds for no relevant u below n, where what has become false stays false. All who ask
  // the same `question` wait for the same u, and when that is none any more for the next in an order that has
  // nothing to do with anything: on average half of those that are left have gone by then. Each is passed
  // once.
  template <class Relevant, class Left>
  Bool none_left(int question, int n, Relevant&& relevant, Left&& left) const {
    const auto slot = static_cast<std::size_t>(question);
    if (passed_.size() <= slot) passed_.resize(slot + 1, 0);
    if (any_order_.size() != static_cast<std::size_t>(n)) shuffle(n);
    const std::uint32_t start = timed::reads.count();
    for (std::uint32_t& passed = passed_[slot]; passed < any_order_.size(); ++passed) {
      const int u = any_order_[passed];
      if (!relevant(u)) continue;
      timed::reads.rewind(start);
      if (const Bool one = left(u); one.v) return !one;
    }
    timed::reads.rewind(start);
    return Bool::seen_since(start, true);
  }
  // The thread whose instruction is being executed does nothing for so many cycles (lane 0 says how many).
  void pause(const Value& cycles) const { paused_ = cycles.v.front(); }
  // How many that was, once.
  [[nodiscard]] std::int32_t taken_pause() const { return std::exchange(paused_, 0); }
  template <class Tag, class F>
  Number count(Tag tag, F&& f) const {
    std::int64_t n = 0;
    const std::uint32_t start = timed::reads.count();
    for_each(tag, [&](Ix<Tag> i) {
      n += f(i).v ? 1 : 0;
      if (timed::reads.listing()) timed::reads.widen(start);
    });
    return {n};
  }
  template <class Tag, class F>
  static void at(Tag, Ix<Tag> index, F&& f) {
    timed::reads.pin();
    f(index);
  }
  template <class Tag, class F>
  static auto pick(Tag, Ix<Tag> index, F&& f) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(f(index))>, Bool>) {
      return Bool::picked(f(index));
    } else {
      return f(index);
    }
  }

  // ---- queues --------------------------------------------------------------------------------------------

  template <class Row, class Slot>
  [[nodiscard]] static Bool full(const Fifo<Row, Slot>& fifo) {
    return fifo.full();
  }
  template <class Row, class Slot>
  static void push(Fifo<Row, Slot>& fifo, const Row& row) {
    fifo.push(row);
  }
  template <class Row, class Slot>
  static void push_front(Fifo<Row, Slot>& fifo, const Row& row) {
    fifo.push_front(row);
  }
  template <class Row, class Slot>
  static void pop(Fifo<Row, Slot>& fifo) {
    fifo.pop();
  }
  template <class Row, class Slot, class F>
  [[nodiscard]] static Bool contains(const Fifo<Row, Slot>& fifo, F&& f) {
    return fifo.contains(f);
  }
  template <class Row, class Slot, class F>
  static void for_each_queued(const Fifo<Row, Slot>& fifo, F&& f) {
    fifo.for_each(f);
  }
  template <class Row, class Slot, class F>
  static void remove_if(Fifo<Row, Slot>& fifo, F&& f) {
    fifo.remove_if(f);
  }

  static bool truth(const Bool& b) {
    timed::reads.pin();
    return b.v;
  }

  // ---- as closures without types pass them (spec/kernel/rules.hpp) ----------------------------------------

  using Erased = timed::Erased;
  template <class Tag>
  static constexpr Ix<Tag> member(std::uint32_t m) {
    return {m};
  }
  template <class Tag>
  static constexpr typename Erased::Type parameter_type() {
    return {};
  }
  static const Bool& erased(const Bool& b) { return b; }
  // The head of a channel, taken away.
  template <class Row, class Slot>
  static Row consume(Fifo<Row, Slot>& fifo) {
    Row message = fifo.head();
    fifo.pop();
    return message;
  }

  // Gives every table and queue of a state its size, its keys and its place in the journal.
  template <class X>
  void bind(X& x, timed::Binder& binder, const std::string& name = "") const {
    if constexpr (requires { x.bind(*this, binder, name); }) {
      x.bind(*this, binder, name);
    } else if constexpr (Described<X>) {
      for_each_member(x, [&](auto& member, const char* part) {
        bind(member, binder, name.empty() ? part : name + "." + part);
      });
    } else {
      binder.has_scalars = true;
    }
  }

 private:
  static constexpr std::size_t hint_count = 32;
  static constexpr std::uint32_t probes = 32;
  template <class Tag>
  static std::size_t tag_number() {
    static const std::size_t number = next_tag_++ % hint_count;
    return number;
  }
  inline static std::size_t next_tag_ = 0;
  mutable std::array<std::uint32_t, hint_count> hints_{};
  void shuffle(int n) const {
    any_order_.resize(static_cast<std::size_t>(n));
    std::iota(any_order_.begin(), any_order_.end(), 0);
    std::uint64_t x = 0;
    for (std::size_t i = any_order_.size(); i > 1; --i) {
      x = timed::scatter(x + i);
      std::swap(any_order_[i - 1], any_order_[x % i]);
    }
  }
  mutable std::vector<std::uint32_t> passed_;  // by question: how many of any_order_ are none
  mutable std::vector<int> any_order_;
  mutable std::int32_t paused_ = 0;

  // Whether some member gives `Wanted`, for exists, or none gives it, for forall; the result of that one, or
  // what all of them rest on.
  template <class Tag, bool Wanted, class F>
  Bool decide(F&& f) const {
    const auto n = static_cast<std::uint32_t>(extent<Tag>());
    const std::uint32_t start = timed::reads.count();
    constexpr std::uint32_t rows_kept = 16;
    std::uint32_t i = Tag::fixed ? 0 : hints_[tag_number<Tag>()];
    if (i >= n) i = 0;
    const std::uint32_t afar = Tag::fixed || n < 4 * probes ? 0 : probes;
    const auto step = static_cast<std::uint32_t>(static_cast<double>(n) * 0.618);
    for (std::uint32_t asked = 0; asked < n + afar; ++asked) {
      const auto& one = f(Ix<Tag>{i});
      if (one.v == Wanted) {
        if (!Tag::fixed) hints_[tag_number<Tag>()] = i;
        if (asked == 0 || !timed::reads.listing()) return one;
        timed::reads.rewind(start);
        return f(Ix<Tag>{i});
      }
      if (timed::reads.listing() && timed::reads.count() > start + rows_kept) timed::reads.widen(start);
      i += asked < afar ? step : 1;
      if (i >= n) i -= n;
    }
    return Bool::seen_since(start, !Wanted);
  }
};

// Sizes of a timed machine: words of a block and registers of a thread bound what a row holds, everything
// else is as large as a run asks for.
constexpr int most_registers = 32;
struct TimedCapacities {
  template <class Tag>
  static constexpr int of = std::is_same_v<Tag, WordTag>       ? 2
                            : std::is_same_v<Tag, RegisterTag> ? most_registers
                                                               : 1 << 30;
};

}  // namespace lockstep
