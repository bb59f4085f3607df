// Walking a state: every scalar field with its access path. Packing, printing and comparing are written once
// over these walks, for every protocol.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace lockstep {

// Fields that a function of the rest of the state determines say so: they are not stored.
template <class X>
concept DerivedFields = requires {
  requires X::is_derived;
};

template <class X>
concept Leaf = requires {
  requires X::is_leaf;
};

template <class X>
concept Queue = requires(X x) {
  x.count;
  x.slots;
};

template <class X>
concept Described = boost::describe::has_describe_members<std::remove_cv_t<X>>::value;

template <class X, class F>
constexpr void for_each_member(X& x, F&& f) {
  using Members = boost::describe::describe_members<std::remove_cv_t<X>, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) { f(x.*member.pointer, member.name); });
}

// Calls f(leaf) for every stored scalar of x, always in one order.
template <class K, class X, class F>
constexpr void for_each_leaf(const K& k, X& x, F&& f) {
  using Plain = std::remove_cv_t<X>;
  if constexpr (Leaf<Plain>) {
    f(x);
  } else if constexpr (DerivedFields<Plain>) {
    return;
  } else if constexpr (Described<Plain>) {
    for_each_member(x, [&](auto& member, const char*) { for_each_leaf(k, member, f); });
  } else {
    if constexpr (Queue<Plain>) f(x.count);
    Plain::visit(k, x, [&](auto& row, auto...) { for_each_leaf(k, row, f); });
  }
}

// Calls f(leaf, path) for every stored scalar of x; paths read like C++: memory.l1(0,1).present.
template <class K, class X, class F>
void for_each_named_leaf(const K& k, X& x, const std::string& path, F&& f) {
  using Plain = std::remove_cv_t<X>;
  if constexpr (Leaf<Plain>) {
    f(x, path);
  } else if constexpr (DerivedFields<Plain>) {
    return;
  } else if constexpr (Described<Plain>) {
    for_each_member(x, [&](auto& member, const char* name) {
      for_each_named_leaf(k, member, path.empty() ? std::string(name) : path + "." + name, f);
    });
  } else {
    if constexpr (Queue<Plain>) f(x.count, path + ".count");
    Plain::visit(k, x, [&](auto& row, auto... index) {
      std::string at;
      ((at += (at.empty() ? "" : ",") + std::to_string(index.v)), ...);
      for_each_named_leaf(k, row, path + ("(" + at) + ")", f);
    });
  }
}

// ---- packing to the bit ----------------------------------------------------------------------------------

template <class K, class State>
constexpr unsigned packed_bits(const K& k) {
  unsigned bits = 0;
  State state{};
  for_each_leaf(k, state, [&](auto& leaf) { bits += leaf.bits(k); });
  return bits;
}

// Writes the state to consecutive words, lowest bits first; the last word is padded with zeros.
template <class K, class State>
inline void pack(const K& k, const State& state, std::uint64_t* words) {
  std::uint64_t accumulator = 0;
  unsigned used = 0;
  for_each_leaf(k, state, [&](const auto& leaf) {
    const unsigned bits = leaf.bits(k);
    const std::uint64_t code = leaf.encode(k);
    accumulator |= code << used;
    used += bits;
    if (used >= 64) {
      *words++ = accumulator;
      used -= 64;
      accumulator = used == 0 ? 0 : code >> (bits - used);
    }
  });
  if (used > 0) *words = accumulator;
}

template <class K, class State>
inline void unpack(const K& k, const std::uint64_t* words, State& state) {
  std::uint64_t window = *words;
  unsigned used = 0;
  for_each_leaf(k, state, [&](auto& leaf) {
    const unsigned bits = leaf.bits(k);
    std::uint64_t code = used < 64 ? window >> used : 0;
    if (used + bits > 64) {
      window = *++words;
      code |= used < 64 ? window << (64 - used) : window;
      used = used + bits - 64;
    } else {
      used += bits;
    }
    leaf.decode(k, bits == 0 ? 0 : code & (~std::uint64_t{0} >> (64 - bits)));
  });
}

// Where each stored scalar lies in the plain struct and in the packed words, as tables: what the walks above
// work out field by field, looked up.
struct Layout {
  struct Field {
    std::uint64_t mask = 0;    // of its bits, at the bottom of a word
    std::int32_t bias = 0;     // the integer whose code is 0
    std::uint32_t offset = 0;  // bytes into the struct
    std::uint16_t word = 0;    // of the packed state
    std::uint8_t shift = 0;    // bits into that word
    std::uint8_t size = 0;     // bytes in the struct: 1 unsigned, 2 and 4 signed
    bool straddles = false;    // goes on in the next word
    bool is_word = false;      // a word of data, which the run's ValueRange bounds
  };
  std::vector<Field> fields;
  std::vector<std::int32_t> field_at;  // by byte of the struct: index into fields, or -1
};

template <class K, class State>
Layout layout_of(const K& k) {
  static_assert(std::is_trivially_copyable_v<State>);
  Layout layout;
  layout.field_at.assign(sizeof(State), -1);
  State state{};
  unsigned position = 0;
  for_each_leaf(k, state, [&](auto& leaf) {
    static_assert(sizeof leaf == sizeof leaf.v, "a stored scalar is its value and nothing else");
    const unsigned bits = leaf.bits(k);
    Layout::Field field;
    field.offset = static_cast<std::uint32_t>(reinterpret_cast<const char*>(&leaf) -
                                              reinterpret_cast<const char*>(&state));
    field.size = sizeof leaf;
    field.mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    // A field without bits has no word of its own; the first one always exists.
    field.word = static_cast<std::uint16_t>(bits == 0 ? 0 : position / 64);
    field.shift = static_cast<std::uint8_t>(bits == 0 ? 0 : position % 64);
    field.straddles = position % 64 + bits > 64;
    field.is_word = requires {
      leaf.is_word;
    };
    leaf.decode(k, 0);
    field.bias = static_cast<std::int32_t>(leaf.v);
    for (std::size_t byte = 0; byte < sizeof leaf; ++byte) {
      layout.field_at[field.offset + byte] = static_cast<std::int32_t>(layout.fields.size());
    }
    layout.fields.push_back(field);
    position += bits;
  });
  return layout;
}

namespace detail {

inline std::int64_t field_value(const unsigned char* at, std::uint8_t size) {
  if (size == 1) return *at;
  if (size == 2) {
    std::int16_t v = 0;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  std::int32_t v = 0;
  std::memcpy(&v, at, sizeof v);
  return v;
}

inline void set_field_value(unsigned char* at, std::uint8_t size, std::int64_t value) {
  if (size == 1) {
    *at = static_cast<unsigned char>(value);
  } else if (size == 2) {
    const auto v = static_cast<std::int16_t>(value);
    std::memcpy(at, &v, sizeof v);
  } else {
    const auto v = static_cast<std::int32_t>(value);
    std::memcpy(at, &v, sizeof v);
  }
}

}  // namespace detail

// As unpack, by the tables; fields that are not stored keep their values.
template <class State>
inline void unpack(const Layout& layout, const std::uint64_t* words, State& state) {
  auto* bytes = reinterpret_cast<unsigned char*>(&state);
  for (const Layout::Field& field : layout.fields) {
    std::uint64_t code = words[field.word] >> field.shift;
    if (field.straddles) code |= words[field.word + 1] << (64 - field.shift);
    detail::set_field_value(bytes + field.offset, field.size,
                            static_cast<std::int64_t>(code & field.mask) + field.bias);
  }
}

// Brings `words`, which hold `before`, up to `after`, at the cost of the fields that differ. A packed word is
// the sum of its fields' codes at their places, so a field that stays within its bits is changed by adding
// the difference there: no other field notices.
template <class K, class State>
inline void repack(const K& k, const Layout& layout, const State& before, const State& after,
                   std::uint64_t* words) {
  constexpr std::size_t step = sizeof(std::uint64_t);
  const auto* old_bytes = reinterpret_cast<const unsigned char*>(&before);
  const auto* new_bytes = reinterpret_cast<const unsigned char*>(&after);
  const auto load = [](const unsigned char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, step);
    return word;
  };
  // Brings one field up to date; returns the first byte after it.
  const auto update = [&](std::size_t byte) -> std::size_t {
    const std::int32_t index = layout.field_at[byte];
    if (index < 0) return byte + 1;
    const Layout::Field& field = layout.fields[static_cast<std::size_t>(index)];
    const std::int64_t value = detail::field_value(new_bytes + field.offset, field.size);
    if (field.is_word) k.check_value(static_cast<std::int32_t>(value));
    const auto difference =
        static_cast<std::uint64_t>(value - detail::field_value(old_bytes + field.offset, field.size));
    if (!field.straddles) {
      words[field.word] += difference << field.shift;
    } else {
      const std::uint64_t code = static_cast<std::uint64_t>(value - field.bias);
      words[field.word] = (words[field.word] & ~(field.mask << field.shift)) | code << field.shift;
      words[field.word + 1] =
          (words[field.word + 1] & ~(field.mask >> (64 - field.shift))) | code >> (64 - field.shift);
    }
    return field.offset + field.size;
  };
  std::size_t next = 0;  // bytes before it have been dealt with
  const auto compare = [&](std::size_t from) {
    std::uint64_t difference = load(old_bytes + from) ^ load(new_bytes + from);
    while (difference != 0) {
      const std::size_t byte = from + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
      if (byte >= next) next = update(byte);
      const std::size_t done = std::max(next, byte + 1) - from;
      difference = done >= step ? 0 : difference >> (8 * done) << (8 * done);
    }
  };
  static_assert(sizeof(State) >= step);
  constexpr std::size_t stride = 4 * step;
  std::size_t at = 0;
  for (; at + stride <= sizeof(State); at += stride) {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < stride; i += step) any |= load(old_bytes + at + i) ^ load(new_bytes + at + i);
    if (any == 0) continue;
    for (std::size_t i = 0; i < stride; i += step) compare(at + i);
  }
  for (; at + step <= sizeof(State); at += step) compare(at);
  if (at < sizeof(State)) {
    next = std::max(next, at);
    compare(sizeof(State) - step);
  }
}

}  // namespace lockstep
