// Index types: the sets that state is laid out over (CUs, agents, blocks, words, queue slots, ...).
//
// A tag names the set, says how many members the built state can hold, and whether its members are
// interchangeable: then protocol code may compare them for equality and index tables with them, and nothing
// else. A *fixed* index type (words of a block, slots of a queue) has a known size in every reading, so
// loops over it unroll; the others may be proved for any size. A tag is one line:
//   struct CuTag : Indices<"cu", 6> {};
//   struct Link1Slot : Slots<"link1-messages", 2> {};
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace lockstep {

template <class Tag>
concept IndexTag = requires {
  { Tag::name } -> std::convertible_to<std::string_view>;
  { Tag::capacity } -> std::convertible_to<int>;
  { Tag::interchangeable } -> std::convertible_to<bool>;
  { Tag::fixed } -> std::convertible_to<bool>;
};

// A string that a type may be made of.
template <std::size_t N>
struct Text {
  char letters[N];

  consteval Text(const char (&text)[N]) { std::copy_n(text, N, letters); }
  [[nodiscard]] constexpr std::string_view view() const { return {letters, N - 1}; }
};

// What tags derive from, by whether members are interchangeable or known by their numbers.
template <Text Name, int Capacity, bool Interchangeable, bool IsFixed>
struct IndexType {
  static constexpr std::string_view name = Name.view();
  static constexpr int capacity = Capacity;
  static constexpr bool interchangeable = Interchangeable;
  static constexpr bool fixed = IsFixed;
};
template <Text Name, int Capacity>
struct Indices : IndexType<Name, Capacity, true, false> {};
template <Text Name, int Capacity>
struct FixedIndices : IndexType<Name, Capacity, true, true> {};
template <Text Name, int Capacity>
struct Numbered : IndexType<Name, Capacity, false, false> {};
template <Text Name, int Capacity>
struct FixedNumbered : IndexType<Name, Capacity, false, true> {};
// Of a queue.
template <Text Name, int Capacity>
struct Slots : FixedNumbered<Name, Capacity> {};
// A size that no table is laid out over, only counted to or computed with: a lease, a limit.
template <Text Name, int Capacity>
struct Amounts : FixedNumbered<Name, Capacity> {
  static constexpr bool is_amount = true;
};

// How many members a built state holds: what the tags say, or less, for a smaller and faster state.
struct FullCapacities {
  template <class Tag>
  static constexpr int of = Tag::capacity;
};
template <int N>
struct CapacitiesAtMost {
  template <class Tag>
  static constexpr int of = Tag::capacity < N ? Tag::capacity : N;
};

// Sizes chosen when a run starts, each at most its capacity.
template <class Capacities, IndexTag... Tags>
struct SizesWithin {
  std::array<int, sizeof...(Tags)> values{Capacities::template of<Tags>...};

  template <class Tag>
  static constexpr bool is_static = false;

  template <class Tag>
  static constexpr int capacity() {
    return Capacities::template of<Tag>;
  }
  template <class Tag>
  [[nodiscard]] constexpr int extent() const {
    return values[position<Tag>()];
  }
  template <class Tag>
  constexpr void set(int extent) {
    values[position<Tag>()] = extent;
  }
  // Calls f(tag, reference to its size) for every tag, in the order of declaration.
  template <class F>
  constexpr void visit(F&& f) {
    std::size_t next = 0;
    (f(Tags{}, values[next++]), ...);
  }

 private:
  template <class Tag>
  static constexpr std::size_t position() {
    static_assert((std::is_same_v<Tag, Tags> || ...), "this index type is not among the sizes of the model");
    std::size_t found = 0;
    std::size_t next = 0;
    ((std::is_same_v<Tag, Tags> ? (found = next++) : next++), ...);
    return found;
  }
};

template <IndexTag... Tags>
using DynamicSizes = SizesWithin<FullCapacities, Tags...>;

template <IndexTag Tag, int N>
struct Fixed {
  using tag = Tag;
  static constexpr int size = N;
};

// Sizes known when the model is compiled: loops unroll and packing folds to constant shifts.
template <class... Pairs>
struct StaticSizes {
  template <class Tag>
  static constexpr bool is_static = true;

  template <class Tag>
  static constexpr int capacity() {
    static_assert((std::is_same_v<Tag, typename Pairs::tag> || ...),
                  "this index type is not among the sizes of the model");
    int found = 0;
    ((std::is_same_v<Tag, typename Pairs::tag> ? found = Pairs::size : 0), ...);
    return found;
  }
  template <class Tag>
  [[nodiscard]] static constexpr int extent() {
    return capacity<Tag>();
  }
  template <class F>
  void visit(F&& f) {
    ((visit_one<Pairs>(f)), ...);
  }

 private:
  template <class Pair, class F>
  void visit_one(F&& f) {
    int value = Pair::size;
    f(typename Pair::tag{}, value);
  }
};

// How many bits hold `count` different values; 0 for one value.
constexpr unsigned bits_for(unsigned long long count) {
  unsigned bits = 0;
  while (count > 1 && (1ULL << bits) < count) ++bits;
  return bits;
}

}  // namespace lockstep
