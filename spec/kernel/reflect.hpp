// Walking a state: every scalar field with its access path. Packing, printing and comparing are written once
// over these walks, for every protocol.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
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

// ---- scalars by name
// ---------------------------------------------------------------------------------------

// A scalar of a state.
struct NamedScalar {
  std::string path;        // reads like C++: memory.l1(0,1).present
  std::size_t offset = 0;  // bytes into the state
  std::uint8_t bytes = 0;
  bool is_signed = false;
  bool stored = true;      // not one that the rest of the state determines
  std::uint32_t bits = 0;  // of its code
  std::string (*text)(const void* scalar) = nullptr;
};

namespace detail {

// Lists what is walked below one object. No template, since each state's type compiles what is.
class ScalarList {
 public:
  explicit ScalarList(const void* object) : object_(object) {}

  // Steps into a member or a row; what is returned steps out again.
  std::size_t enter(const char* member) {
    const std::size_t outer = path_.size();
    if (outer > 0) path_ += '.';
    path_ += member;
    return outer;
  }
  std::size_t enter(std::initializer_list<int> row) {
    const std::size_t outer = path_.size();
    char separator = '(';
    for (const int index : row) {
      path_ += separator;
      path_ += std::to_string(index);
      separator = ',';
    }
    path_ += ')';
    return outer;
  }
  void leave(std::size_t outer) { path_.resize(outer); }

  // A scalar here, of which all but its path and its offset are given.
  void add(const void* scalar, NamedScalar what) {
    what.path = path_;
    what.offset =
        static_cast<std::size_t>(static_cast<const char*>(scalar) - static_cast<const char*>(object_));
    scalars_.push_back(std::move(what));
  }
  std::vector<NamedScalar> take() { return std::move(scalars_); }

 private:
  const void* object_;
  std::string path_;
  std::vector<NamedScalar> scalars_;
};

template <class K, class X>
[[gnu::cold, gnu::noinline]] void list_scalars(const K& k, const X& x, bool stored, ScalarList& list) {
  if constexpr (Leaf<X>) {
    list.add(&x, {{},
                  0,
                  sizeof x.v,
                  std::is_signed_v<decltype(x.v)>,
                  stored,
                  static_cast<std::uint32_t>(x.bits(k)),
                  [](const void* scalar) { return static_cast<const X*>(scalar)->text(); }});
  } else if constexpr (Described<X>) {
    for_each_member(x, [&](auto& member, const char* name) {
      const std::size_t outer = list.enter(name);
      list_scalars(k, member, stored && !DerivedFields<X>, list);
      list.leave(outer);
    });
  } else {
    const bool stored_here = stored && !DerivedFields<X>;
    if constexpr (Queue<X>) {
      const std::size_t outer = list.enter("count");
      list_scalars(k, x.count, stored_here, list);
      list.leave(outer);
    }
    X::visit(k, x, [&](auto& row, auto... index) {
      const std::size_t outer = list.enter({static_cast<int>(index.v)...});
      list_scalars(k, row, stored_here, list);
      list.leave(outer);
    });
  }
}

}  // namespace detail

// Every scalar of x, derived ones included, always in one order: that of for_each_leaf.
template <class K, class X>
std::vector<NamedScalar> scalars_of(const K& k, const X& x) {
  detail::ScalarList list(&x);
  detail::list_scalars(k, x, true, list);
  return list.take();
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

// Where the stored scalars lie in the plain struct and in the packed words, by chunks of eight bytes of the
// struct. The fields of a chunk are neighbours in the packed state too, so a chunk is packed, or unpacked, by
// one instruction that gathers, or scatters, bits under a mask.
struct Layout {
  struct Chunk {
    std::uint64_t mask = 0;         // the bits that hold codes
    std::uint64_t base = 0;         // the chunk where every code is 0
    std::uint64_t tops = 0;         // the highest bit of each field, and of each byte that is not part of one
    std::uint32_t offset = 0;       // bytes into the struct
    std::uint16_t word = 0;         // of the packed state: where the codes begin
    std::uint16_t next = 0;         // where they may go on
    std::uint8_t shift = 0;         // bits into the first word
    bool plain = true;              // neither biased nor bounded, and all codes in one word
    bool biased = false;            // some field's code 0 stands for another integer than 0
    std::array<bool, 2> bounded{};  // by half: a word of data, which the run's ValueRange bounds
  };
  // Of the whole struct. The last one ends with it, and so may overlap the one before; a field belongs to the
  // first chunk that it lies in.
  std::vector<Chunk> chunks;
  std::vector<std::uint32_t> stored;  // the chunks that hold codes, from the last to the first
  std::vector<std::byte> base;        // the struct where every code is 0
};

namespace detail {

template <class State>
constexpr std::size_t chunk_bytes = std::min(sizeof(std::uint64_t), sizeof(State));
template <class State>
constexpr std::size_t chunk_count = (sizeof(State) + chunk_bytes<State> - 1) / chunk_bytes<State>;

template <class State>
inline std::uint64_t load_chunk(const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, chunk_bytes<State>);
  return bits;
}

// The lowest bits of `code`, one for each bit of `mask`, put there.
constexpr std::uint64_t scatter_bits(std::uint64_t code, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (; mask != 0; mask &= mask - 1, code >>= 1U) {
    if ((code & 1U) != 0) bits |= mask & (~mask + 1);
  }
  return bits;
}

// The bits of `bits` under `mask`, side by side.
constexpr std::uint64_t gather_bits(std::uint64_t bits, std::uint64_t mask) {
  std::uint64_t code = 0;
  for (std::uint64_t bit = 1; mask != 0; mask &= mask - 1, bit += bit) {
    if ((bits & mask & (~mask + 1)) != 0) code |= bit;
  }
  return code;
}

// The same, by one instruction where the processor has it.
inline std::uint64_t scatter(std::uint64_t code, std::uint64_t mask) {
#ifdef __BMI2__
  return __builtin_ia32_pdep_di(code, mask);
#else
  return scatter_bits(code, mask);
#endif
}
inline std::uint64_t gather(std::uint64_t bits, std::uint64_t mask) {
#ifdef __BMI2__
  return __builtin_ia32_pext_di(bits, mask);
#else
  return gather_bits(bits, mask);
#endif
}

// Sum and difference field by field: the highest bits are worked out apart, so that nothing carries over.
inline std::uint64_t add_fields(std::uint64_t a, std::uint64_t b, std::uint64_t tops) {
  return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);
}
inline std::uint64_t subtract_fields(std::uint64_t a, std::uint64_t b, std::uint64_t tops) {
  return ((a | tops) - (b & ~tops)) ^ ((a ^ ~b) & tops);
}

inline std::uint64_t unpack_chunk(const Layout::Chunk& chunk, const std::uint64_t* words) {
  std::uint64_t code = words[chunk.word] >> chunk.shift;
  if (chunk.plain) return scatter(code, chunk.mask) | chunk.base;
  code |= words[chunk.next] << 1U << (63U - chunk.shift);  // what is too much is not scattered
  return add_fields(scatter(code, chunk.mask), chunk.base, chunk.tops);
}

template <class K>
[[gnu::noinline]] void repack_general(const K& k, const Layout::Chunk& chunk, std::uint64_t before,
                                      std::uint64_t after, std::uint64_t* words) {
  if (chunk.bounded[0]) k.check_value(static_cast<std::int32_t>(after));
  if (chunk.bounded[1]) k.check_value(static_cast<std::int32_t>(after >> 32U));
  if (chunk.biased) {
    before = subtract_fields(before, chunk.base, chunk.tops);
    after = subtract_fields(after, chunk.base, chunk.tops);
  }
  const std::uint64_t difference = gather(before ^ after, chunk.mask);
  words[chunk.word] ^= difference << chunk.shift;
  words[chunk.next] ^= difference >> 1U >> (63U - chunk.shift);
}

// Brings `words` up to a chunk that changes from `before` to `after`.
template <class K>
[[gnu::always_inline]] inline void repack_chunk(const K& k, const Layout::Chunk& chunk, std::uint64_t before,
                                                std::uint64_t after, std::uint64_t* words) {
  if (chunk.plain) {
    words[chunk.word] ^= gather(before ^ after, chunk.mask) << chunk.shift;
  } else if (before != after) {
    repack_general(k, chunk, before, after, words);
  }
}

}  // namespace detail

template <class K, class State>
Layout layout_of(const K& k) {
  static_assert(std::is_trivially_copyable_v<State>);
  constexpr std::size_t width = detail::chunk_bytes<State>;
  Layout layout;
  layout.chunks.resize(detail::chunk_count<State>);
  for (std::size_t i = 0; i < layout.chunks.size(); ++i) {
    layout.chunks[i].offset = static_cast<std::uint32_t>(std::min(i * width, sizeof(State) - width));
    layout.chunks[i].tops = 0x8080'8080'8080'8080U;
  }
  State state{};
  unsigned position = 0;
  std::size_t end = 0;  // of the last field
  for_each_leaf(k, state, [&](auto& leaf) {
    static_assert(sizeof leaf == sizeof leaf.v, "a stored scalar is its value and nothing else");
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&leaf) -
                                                 reinterpret_cast<const char*>(&state));
    if (offset < end) throw std::logic_error("a state's fields must be described in order of declaration");
    end = offset + sizeof leaf;
    Layout::Chunk& chunk = layout.chunks[offset / width];
    const auto at = static_cast<unsigned>(8 * (offset - chunk.offset));
    const unsigned bits = leaf.bits(k);
    if (bits > 0) {
      if (chunk.mask == 0) {
        chunk.word = static_cast<std::uint16_t>(position / 64);
        chunk.shift = static_cast<std::uint8_t>(position % 64);
        layout.stored.insert(layout.stored.begin(), static_cast<std::uint32_t>(offset / width));
      }
      chunk.mask |= (~std::uint64_t{0} >> (64 - bits)) << at;
    }
    // One field instead of single bytes.
    chunk.tops &= ~((~std::uint64_t{0} >> (65 - 8 * sizeof leaf)) << at);
    if constexpr (requires { leaf.is_word; }) chunk.bounded[at / 32] = true;
    leaf.decode(k, 0);
    chunk.biased |= leaf.v != decltype(leaf.v){};
    position += bits;
  });
  layout.base.resize(sizeof state);
  std::memcpy(layout.base.data(), &state, sizeof state);
  const unsigned last_word = position == 0 ? 0 : (position - 1) / 64;
  for (Layout::Chunk& chunk : layout.chunks) {
    chunk.base = detail::load_chunk<State>(layout.base.data() + chunk.offset);
    chunk.next = static_cast<std::uint16_t>(std::min(chunk.word + 1U, last_word));
    const bool straddles = chunk.shift + std::popcount(chunk.mask) > 64;
    chunk.plain = !straddles && !chunk.biased && !chunk.bounded[0] && !chunk.bounded[1];
  }
  return layout;
}

// As unpack, by the chunks; fields that are not stored take their default values.
template <class State>
inline void unpack(const Layout& layout, const std::uint64_t* words, State& state) {
  auto* const bytes = reinterpret_cast<std::byte*>(&state);
  std::memcpy(bytes, layout.base.data(), sizeof state);
  // Backwards: a chunk sets right what the last one overwrites.
  for (const std::uint32_t i : layout.stored) {
    const Layout::Chunk& chunk = layout.chunks[i];
    const std::uint64_t bits = detail::unpack_chunk(chunk, words);
    std::memcpy(bytes + chunk.offset, &bits, detail::chunk_bytes<State>);
  }
}

namespace detail {

// Whether some chunk differs, of the first four for each of `I`.
template <std::size_t... I>
inline bool differ(const std::byte* before, const std::byte* after, std::index_sequence<I...>) {
  using Four [[gnu::vector_size(32)]] = std::uint64_t;
  Four any{};
  const auto take_in = [&](std::size_t i) {
    Four a;
    Four b;
    std::memcpy(&a, before + i * sizeof a, sizeof a);
    std::memcpy(&b, after + i * sizeof b, sizeof b);
    any |= a ^ b;
  };
  (take_in(I), ...);
  return (any[0] | any[1] | any[2] | any[3]) != 0;
}

}  // namespace detail

// Brings `words`, which hold `before`, up to `after`, at the cost of the chunks that differ.
template <class K, class State>
inline void repack(const K& k, const Layout& layout, const State& before, const State& after,
                   std::uint64_t* words) {
  constexpr std::size_t width = detail::chunk_bytes<State>;
  constexpr std::size_t whole = sizeof(State) / width;
  constexpr std::size_t stride = 4;          // chunks passed over together, once their block differs
  constexpr std::size_t block = 4 * stride;  // chunks passed over together
  constexpr std::size_t few = 2 * stride;    // chunks not worth passing over
  const auto* const from = reinterpret_cast<const std::byte*>(&before);
  const auto* const to = reinterpret_cast<const std::byte*>(&after);
  const Layout::Chunk* const chunks = layout.chunks.data();
  const auto update = [&]<std::size_t... I>(std::size_t first, std::index_sequence<I...>) {
    (detail::repack_chunk(k, chunks[first + I], detail::load_chunk<State>(from + (first + I) * width),
                          detail::load_chunk<State>(to + (first + I) * width), words),
     ...);
  };
  if constexpr (whole <= few) {
    update(0, std::make_index_sequence<whole>{});
  } else {
    const auto differs = [&](std::size_t first, auto fours) {
      return detail::differ(from + first * width, to + first * width, fours);
    };
    std::size_t first = 0;
    while (first + stride <= whole) {
      if (first % block == 0 && first + block <= whole &&
          !differs(first, std::make_index_sequence<block / stride>{})) {
        first += block;
        continue;
      }
      if (differs(first, std::index_sequence<0>{})) update(first, std::make_index_sequence<stride>{});
      first += stride;
    }
    update(first, std::make_index_sequence<whole % stride>{});
  }
  if constexpr (whole < detail::chunk_count<State>) {
    constexpr std::size_t offset = sizeof(State) - width;
    detail::repack_chunk(k, chunks[whole], detail::load_chunk<State>(from + offset),
                         detail::load_chunk<State>(to + offset), words);
  }
}

}  // namespace lockstep
