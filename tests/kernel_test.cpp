// The Concrete kind: how states are packed to the bit and back, what its scalars admit, and its queues.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/examples/german.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/memory/quick_release.hpp"
#include "spec/program/threads.hpp"

using namespace lockstep;

namespace {

using Words = std::vector<std::uint64_t>;

// ---- random states ---------------------------------------------------------------------------------------

using GermanSizes = DynamicSizes<german::NodeTag, german::DataTag>;
template <class K>
using GermanState = typename german::Protocol<K>::State;

using QuickReleaseKind = Concrete<quick_release::Info::Sizes<FullCapacities>>;
// With the threads, whose program counters and registers are the only Int and the widest fields.
using QuickReleaseState = Threads<QuickReleaseKind, quick_release::Protocol<QuickReleaseKind>::State>::State;

Concrete<GermanSizes> german_kind(int nodes, int values) {
  Concrete<GermanSizes> k;
  k.sizes.set<german::NodeTag>(nodes);
  k.sizes.set<german::DataTag>(values);
  return k;
}

// Every index type at `extent` or its capacity, whichever is less; a range that fills its bits.
QuickReleaseKind quick_release_kind(int extent, ValueRange range) {
  QuickReleaseKind k;
  k.sizes.visit([&]<class Tag>(Tag, int& size) { size = std::min(extent, Tag::capacity); });
  k.set_value_range(range);
  return k;
}

// Fields take any code that their bits can hold.
template <class State, class K>
State random_state(const K& k, std::mt19937_64& random) {
  State state{};
  for_each_leaf(k, state, [&](auto& leaf) {
    const unsigned bits = leaf.bits(k);
    leaf.decode(k, bits == 0 ? 0 : random() & (~std::uint64_t{0} >> (64 - bits)));
  });
  return state;
}

template <class K, class State>
std::vector<std::uint64_t> codes_of(const K& k, const State& state) {
  std::vector<std::uint64_t> codes;
  for_each_leaf(k, state, [&](const auto& leaf) { codes.push_back(leaf.encode(k)); });
  return codes;
}

template <class K, class State>
std::vector<std::string> stored_paths(const K& k, const State& state) {
  std::vector<std::string> paths;
  for (NamedScalar& scalar : scalars_of(k, state)) {
    if (scalar.stored) paths.push_back(std::move(scalar.path));
  }
  return paths;
}

// Not inlined: where the compiler sees the size, it warns of words that no field reaches.
template <class K, class State>
[[gnu::noinline]] Words packed(const K& k, const State& state) {
  Words words((packed_bits<K, State>(k) + 63) / 64, 0);
  pack(k, state, words.data());
  return words;
}

template <class State, class K>
void check_round_trips(const K& k) {
  const Layout layout = layout_of<K, State>(k);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const State state = random_state<State>(k, random);
    const Words words = packed(k, state);
    State back{};
    unpack(k, words.data(), back);
    REQUIRE(codes_of(k, back) == codes_of(k, state));
    REQUIRE(packed(k, back) == words);
    State looked_up = random_state<State>(k, random);
    unpack(layout, words.data(), looked_up);
    REQUIRE(codes_of(k, looked_up) == codes_of(k, state));
  }
}

template <class State, class K>
void check_repacking(const K& k) {
  const Layout layout = layout_of<K, State>(k);
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const State before = random_state<State>(k, random);
    const State other = random_state<State>(k, random);
    // From no field changed to all of them.
    State after = before;
    std::vector<std::uint64_t> values = codes_of(k, other);
    std::size_t next = 0;
    for_each_leaf(k, after, [&](auto& leaf) {
      const std::uint64_t value = values[next++];
      if (random() % 20 < static_cast<unsigned>(i % 21)) leaf.decode(k, value);
    });
    Words words = packed(k, before);
    repack(k, layout, before, after, words.data());
    REQUIRE(words == packed(k, after));
  }
}

// ---- a small model of its own ----------------------------------------------------------------------------

struct CellTag {
  static constexpr std::string_view name = "cell";
  static constexpr int capacity = 5;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};
struct SlotTag {
  static constexpr std::string_view name = "slot";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = false;
  static constexpr bool fixed = true;
};
using Kind = Concrete<DynamicSizes<CellTag, SlotTag>>;
using Cell = Kind::Ix<CellTag>;
using Slot = Kind::Ix<SlotTag>;

enum class Three : std::uint8_t { zero, one, two };
BOOST_DESCRIBE_ENUM(Three, zero, one, two)
enum class Wide { a, b, c, d, e, f, g, h };  // stored in four bytes
BOOST_DESCRIBE_ENUM(Wide, a, b, c, d, e, f, g, h)
enum class Five : std::uint8_t { a, b, c, d, e };
BOOST_DESCRIBE_ENUM(Five, a, b, c, d, e)

Kind kind_of(int cells, int slots) {
  Kind k;
  k.sizes.set<CellTag>(cells);
  k.sizes.set<SlotTag>(slots);
  return k;
}

struct Item {
  Kind::Int<0, 99> number;
  BOOST_DESCRIBE_CLASS(Item, (), (number), (), ())
};
using Items = Kind::Fifo<Item, SlotTag>;

struct Pair {
  Kind::Value word;
  Kind::Value other;
  BOOST_DESCRIBE_CLASS(Pair, (), (word, other), (), ())
};

struct WideFields {
  Kind::Int<-100'000, 100'000> number;
  Kind::Enum<Wide> wide;
  Kind::Int<-300, 300> two_bytes;
  BOOST_DESCRIBE_CLASS(WideFields, (), (number, wide, two_bytes), (), ())
};

struct FullWord {
  Kind::Int<0, 65'535> a;
  Kind::Int<0, 65'535> b;
  Kind::Int<0, 65'535> c;
  Kind::Int<0, 65'535> d;
  Kind::Int<0, 0> none;
  BOOST_DESCRIBE_CLASS(FullWord, (), (a, b, c, d, none), (), ())
};

Item item(int number) {
  Item i;
  i.number = number;
  return i;
}

std::vector<int> contents(const Items& queue) {
  std::vector<int> numbers;
  Kind::for_each_queued(queue, [&](const Item& i) { numbers.push_back(i.number.v); });
  return numbers;
}

template <class T>
concept Less = requires(T a, T b) {
  a < b;
};
template <class T>
concept Equal = requires(T a, T b) {
  a == b;
};
template <class T>
concept Arithmetic = requires(T a, T b) {
  a + b;
};

// What a protocol may not do does not compile.
static_assert(!std::is_convertible_v<Kind::Bool, bool>);
static_assert(!std::is_constructible_v<bool, Kind::Bool>, "not even where a condition asks for it");
static_assert(std::is_convertible_v<bool, Kind::Bool>);
static_assert(Equal<Cell> && !Less<Cell>, "interchangeable members are equal or not, nothing else");
static_assert(Less<Slot>, "slots of a queue stand in order");
static_assert(!Arithmetic<Cell> && !Arithmetic<Slot>);
static_assert(!Less<Kind::Enum<Five>> && !Less<Kind::Maybe<CellTag>>);
static_assert(!std::is_convertible_v<Kind::Number, int> && !std::is_convertible_v<Kind::Value, int>);
static_assert(!std::is_convertible_v<Cell, int> && !std::is_convertible_v<int, Cell>);
static_assert(!std::is_same_v<Cell, Slot> && !std::is_convertible_v<Cell, Slot>,
              "an index type is not another");

}  // namespace

// ---- packing ---------------------------------------------------------------------------------------------

TEST_CASE("a packed state unpacks to itself") {
  for (const int nodes : {1, 2, 3, 4, 8}) {
    for (const int values : {1, 2, 4}) {
      INFO("german, " << nodes << " nodes, " << values << " values");
      const auto k = german_kind(nodes, values);
      check_round_trips<GermanState<Concrete<GermanSizes>>>(k);
    }
  }
  for (const int extent : {1, 2, 3, 5}) {
    for (const ValueRange range :
         {ValueRange{0, 1}, ValueRange{-4, 3}, ValueRange{-32768, 32767}, ValueRange{INT32_MIN, INT32_MAX}}) {
      INFO("quick-release, " << extent << " of each, values from " << range.low << " to " << range.high);
      check_round_trips<QuickReleaseState>(quick_release_kind(extent, range));
    }
  }
}

TEST_CASE("packing by difference gives what packing the whole state gives") {
  for (const int nodes : {1, 2, 4, 8}) {
    INFO("german, " << nodes << " nodes");
    check_repacking<GermanState<Concrete<GermanSizes>>>(german_kind(nodes, 2));
  }
  for (const int extent : {1, 2, 3, 5}) {
    for (const ValueRange range : {ValueRange{0, 1}, ValueRange{-4, 3}, ValueRange{INT32_MIN, INT32_MAX}}) {
      INFO("quick-release, " << extent << " of each, values from " << range.low << " to " << range.high);
      check_repacking<QuickReleaseState>(quick_release_kind(extent, range));
    }
  }
}

TEST_CASE("a field takes as many bits as its values need") {
  CHECK(bits_for(1) == 0);
  CHECK(bits_for(2) == 1);
  CHECK(bits_for(3) == 2);
  CHECK(bits_for(4) == 2);
  CHECK(bits_for(5) == 3);
  CHECK(bits_for(256) == 8);
  CHECK(bits_for(257) == 9);
  CHECK(bits_for(1ULL << 32) == 32);

  Kind k = kind_of(4, 3);
  CHECK(Kind::Bool::bits(k) == 1);
  CHECK(Kind::Int<0, 0>::bits(k) == 0);
  CHECK(Kind::Int<0, 4>::bits(k) == 3);
  CHECK(Kind::Int<-3, 4>::bits(k) == 3);
  CHECK(Kind::Int<7, 8>::bits(k) == 1);
  CHECK(Kind::Enum<Three>::bits(k) == 2);
  CHECK(Kind::Enum<Five>::bits(k) == 3);
  CHECK(Cell::bits(k) == 2);
  CHECK(Kind::Maybe<CellTag>::bits(k) == 3);  // none, and four members
  CHECK(Items::Count::bits(k) == 2);          // none to three
  CHECK(packed_bits<Kind, Items>(k) == 2 + 3 * 7);
  k.set_value_range({-1, 1});
  CHECK(Kind::Value::bits(k) == 2);
  k.set_value_range({0, 4});
  CHECK(Kind::Value::bits(k) == 3);
  k.set_value_range({INT32_MIN, INT32_MAX});
  CHECK(Kind::Value::bits(k) == 32);
  k.set_value_range({0, 0});
  CHECK(Kind::Value::bits(k) == 0);

  k = kind_of(1, 1);
  CHECK(Cell::bits(k) == 0);
  CHECK(Kind::Maybe<CellTag>::bits(k) == 1);
  CHECK(Items::Count::bits(k) == 1);
}

TEST_CASE("German's state is as wide as the sum of its fields") {
  const auto bits = [](int nodes, int values) {
    const auto k = german_kind(nodes, values);
    return packed_bits<Concrete<GermanSizes>, GermanState<Concrete<GermanSizes>>>(k);
  };
  // A node: copy 2, request 2, grant 2, three bits, three optional data. The home: exclusive_granted 1,
  // current_request 2, an optional node, two optional data.
  CHECK(bits(4, 2) == 4 * (9 + 3 * 2) + 3 + 3 + 2 * 2);
  CHECK(bits(2, 2) == 2 * (9 + 3 * 2) + 3 + 2 + 2 * 2);
  CHECK(bits(1, 1) == 1 * (9 + 3 * 1) + 3 + 1 + 2 * 1);
  CHECK(bits(8, 4) == 8 * (9 + 3 * 3) + 3 + 4 + 2 * 3);
}

TEST_CASE("what a port asks for is determined by the program and is not stored") {
  const QuickReleaseKind k = quick_release_kind(2, {0, 1});
  Port<QuickReleaseKind> port;
  CHECK(packed_bits<QuickReleaseKind, Port<QuickReleaseKind>>(k) == 4);  // pending, done, result, ended
  const std::vector<std::string> paths = stored_paths(k, port);
  CHECK(paths == std::vector<std::string>{"pending", "done", "result", "ended"});
}

TEST_CASE("sizes known when the model is compiled and sizes chosen later give the same packed bits") {
  const auto compare = []<int Nodes, int Values>(std::integral_constant<int, Nodes>,
                                                 std::integral_constant<int, Values>) {
    using Static = Concrete<StaticSizes<Fixed<german::NodeTag, Nodes>, Fixed<german::DataTag, Values>>>;
    const Static fixed;
    const auto dynamic = german_kind(Nodes, Values);
    REQUIRE(packed_bits<Static, GermanState<Static>>(fixed) ==
            packed_bits<Concrete<GermanSizes>, GermanState<Concrete<GermanSizes>>>(dynamic));
    std::mt19937_64 random(3);
    for (int i = 0; i < 100; ++i) {
      const auto state = random_state<GermanState<Concrete<GermanSizes>>>(dynamic, random);
      const Words words = packed(dynamic, state);
      GermanState<Static> same{};
      unpack(fixed, words.data(), same);
      REQUIRE(codes_of(fixed, same) == codes_of(dynamic, state));
      REQUIRE(packed(fixed, same) == words);
    }
  };
  compare(std::integral_constant<int, 1>{}, std::integral_constant<int, 2>{});
  compare(std::integral_constant<int, 3>{}, std::integral_constant<int, 2>{});
  compare(std::integral_constant<int, 4>{}, std::integral_constant<int, 4>{});
}

TEST_CASE("smaller capacities give the same packed bits") {
  using Small = Concrete<quick_release::Info::Sizes<SmallCapacities>>;
  using SmallState = quick_release::Protocol<Small>::State;
  using FullState = quick_release::Protocol<QuickReleaseKind>::State;
  const QuickReleaseKind full = quick_release_kind(2, {0, 3});
  Small small;
  small.sizes.visit([&]<class Tag>(Tag, int& size) { size = 2; });
  small.set_value_range({0, 3});
  REQUIRE(sizeof(SmallState) < sizeof(FullState));
  std::mt19937_64 random(4);
  for (int i = 0; i < 100; ++i) {
    const auto state = random_state<FullState>(full, random);
    const Words words = packed(full, state);
    SmallState same{};
    unpack(small, words.data(), same);
    REQUIRE(codes_of(small, same) == codes_of(full, state));
    REQUIRE(packed(small, same) == words);
  }
}

TEST_CASE("every stored field has a path of its own") {
  const QuickReleaseKind k = quick_release_kind(2, {0, 1});
  const QuickReleaseState state{};
  std::vector<std::string> paths = stored_paths(k, state);
  CHECK(paths.size() == codes_of(k, state).size());
  for (const char* path : {"context(0).pc", "context(1).registers(1)", "memory.rl1(1,0).present",
                           "memory.fifo1(0).count", "memory.fifo1(0)(1).block", "memory.awaited2(1,1,0)"}) {
    INFO(path);
    CHECK(std::count(paths.begin(), paths.end(), path) == 1);
  }
  std::sort(paths.begin(), paths.end());
  CHECK(std::adjacent_find(paths.begin(), paths.end()) == paths.end());
}

// ---- scalars ---------------------------------------------------------------------------------------------

TEST_CASE("a word outside of the run's range is an error, whichever way it is packed") {
  Kind k = kind_of(2, 2);
  k.set_value_range({-1, 2});
  for (const int good : {-1, 0, 2}) {
    const Pair state{good, 0};
    CHECK_NOTHROW(packed(k, state));
  }
  for (const int bad : {-2, 3, INT32_MAX, INT32_MIN}) {
    INFO(bad);
    const Pair before{0, 0};
    const Pair after{bad, 0};
    CHECK_THROWS_AS(packed(k, after), ValueOutOfRange);
    Words words = packed(k, before);
    const Layout layout = layout_of<Kind, Pair>(k);
    CHECK_THROWS_AS(repack(k, layout, before, after, words.data()), ValueOutOfRange);
    try {
      packed(k, after);
    } catch (const ValueOutOfRange& error) {
      CHECK(error.value == bad);
      CHECK(error.range.low == -1);
      CHECK(error.range.high == 2);
    }
  }
}

TEST_CASE("a field without bits behind a full word asks for no further word") {
  const Kind k = kind_of(2, 2);
  FullWord state;
  for_each_leaf(k, state, [&](auto& leaf) { leaf.decode(k, 0x7F % (1U << leaf.bits(k))); });
  REQUIRE(packed_bits<Kind, FullWord>(k) == 64);
  const Words words = packed(k, state);  // exactly one: a sanitizer notices when a second is read
  REQUIRE(words.size() == 1);
  FullWord back;
  unpack(k, words.data(), back);
  CHECK(codes_of(k, back) == codes_of(k, state));
  unpack(layout_of<Kind, FullWord>(k), words.data(), back);
  CHECK(codes_of(k, back) == codes_of(k, state));
}

TEST_CASE("the run's range bounds words of data alone, not numbers and enumerations as wide") {
  Kind k = kind_of(2, 2);
  k.set_value_range({0, 1});
  const Layout layout = layout_of<Kind, WideFields>(k);
  WideFields before;
  WideFields after;
  after.number = 99'999;
  after.wide = Wide::h;
  after.two_bytes = -299;
  for (int i = 0; i < 2; ++i, std::swap(before, after)) {
    Words words = packed(k, before);
    REQUIRE_NOTHROW(repack(k, layout, before, after, words.data()));
    CHECK(words == packed(k, after));
    WideFields back;
    unpack(k, words.data(), back);
    CHECK(codes_of(k, back) == codes_of(k, after));
  }
}

TEST_CASE("a word wraps around at 32 bits") {
  using Value = Kind::Value;
  const Value most(INT32_MAX);
  const Value least(INT32_MIN);
  CHECK((most + Value(1)).v == INT32_MIN);
  CHECK((least - Value(1)).v == INT32_MAX);
  CHECK((most * Value(2)).v == -2);
  CHECK((Value(6) & Value(3)).v == 2);
  CHECK((Value(6) | Value(3)).v == 7);
  CHECK((Value(6) ^ Value(3)).v == 5);
  CHECK(Kind::truth(least < most));
  CHECK_FALSE(Kind::truth(least >= most));
}

TEST_CASE("an integer between two bounds compares as a number") {
  using Int = Kind::Int<-2, 5>;
  const Int three(3);
  CHECK(Int{}.v == 0);
  CHECK(Kind::Int<2, 5>{}.v == 2);
  CHECK(Kind::Int<-5, -2>{}.v == -2);
  CHECK(Kind::truth(three == 3));
  CHECK(Kind::truth(three != -3));
  CHECK(Kind::truth(three < 4));
  CHECK_FALSE(Kind::truth(three < 3));
  CHECK(Kind::truth(three <= 3));
  CHECK(Kind::truth(three > -2));
  CHECK(Kind::truth(three >= 3));
  CHECK((three + 4).v == 7);  // an intermediate result has no bounds
  CHECK((three - 6).v == -3);
}

TEST_CASE("an integer outside of its bounds is a misuse, in every build") {
  using Narrow = Kind::Int<-2, 4>;
  using High = Kind::Int<6, 9>;
  using Int = Kind::Int<-2, 5>;
  volatile int number = 5;
  CHECK_NOTHROW(Int(number));
  CHECK_THROWS_AS(Narrow(number), RuleMisuse);
  CHECK_THROWS_AS(High(number), RuleMisuse);
  Int sum(number);
  CHECK_THROWS_AS(sum = sum + 1, RuleMisuse);
  CHECK(sum.v == 5);
}

TEST_CASE("an index or nothing is one of as many values as there are members, and one more") {
  using Maybe = Kind::Maybe<CellTag>;
  const Maybe none;
  const Maybe two(Kind::constant<CellTag>(2));
  CHECK_FALSE(Kind::truth(none.has()));
  CHECK(Kind::truth(two.has()));
  CHECK(Kind::truth(two.value() == Kind::constant<CellTag>(2)));
  CHECK(Kind::truth(none != two));
  CHECK(Kind::truth(none != Maybe(Kind::constant<CellTag>(0))));
  CHECK(none.text() == "none");
  CHECK(two.text() == "2");
}

TEST_CASE("quantifiers and loops range over the run's sizes, not the built capacity") {
  const Kind k = kind_of(3, 2);
  std::vector<int> seen;
  k.for_each(CellTag{}, [&](Cell c) { seen.push_back(c.v); });
  CHECK(seen == std::vector{0, 1, 2});
  const auto below = [](int bound) { return [bound](Cell c) { return Kind::Bool(c.v < bound); }; };
  CHECK(Kind::truth(k.forall(CellTag{}, below(3))));
  CHECK_FALSE(Kind::truth(k.forall(CellTag{}, below(2))));
  CHECK(Kind::truth(k.exists(CellTag{}, below(1))));
  CHECK_FALSE(Kind::truth(k.exists(CellTag{}, below(0))));
  CHECK(Kind::truth(k.count(CellTag{}, below(2)) == 2));
}

// ---- queues ----------------------------------------------------------------------------------------------

TEST_CASE("a queue gives back what was pushed in the order of pushing") {
  const Kind k = kind_of(1, 3);
  Items queue;
  CHECK(Kind::truth(queue.empty()));
  k.push(queue, item(1));
  k.push(queue, item(2));
  CHECK_FALSE(Kind::truth(k.full(queue)));
  k.push(queue, item(3));
  CHECK(Kind::truth(k.full(queue)));  // at the run's size, one less than the capacity
  CHECK(queue.head().number.v == 1);
  Kind::pop(queue);
  CHECK(contents(queue) == std::vector{2, 3});
  Kind::pop(queue);
  Kind::pop(queue);
  CHECK(Kind::truth(queue.empty()));
}

TEST_CASE("what is pushed in front comes out first") {
  const Kind k = kind_of(1, 4);
  Items queue;
  k.push(queue, item(1));
  k.push(queue, item(2));
  k.push_front(queue, item(3));
  CHECK(contents(queue) == std::vector{3, 1, 2});
  k.push(queue, item(4));
  CHECK(contents(queue) == std::vector{3, 1, 2, 4});
}

TEST_CASE("removal from a queue keeps the order of the others") {
  const Kind k = kind_of(1, 4);
  Items queue;
  for (const int n : {1, 2, 3, 4}) k.push(queue, item(n));
  CHECK(Kind::truth(Kind::contains(queue, [](const Item& i) { return i.number == 4; })));
  Kind::remove_if(queue, [](const Item& i) { return i.number == 4 || i.number == 2; });
  CHECK(contents(queue) == std::vector{1, 3});
  CHECK_FALSE(Kind::truth(Kind::contains(queue, [](const Item& i) { return i.number == 4; })));
}

TEST_CASE("queues with equal contents are equal memory, whatever went through them") {
  const Kind k = kind_of(1, 4);
  std::mt19937_64 random(5);
  Items queue;
  std::deque<int> model;
  for (int step = 0; step < 20'000; ++step) {
    const int number = static_cast<int>(random() % 100);
    switch (random() % 4) {
      case 0:
        if (model.size() == 4) break;
        k.push(queue, item(number));
        model.push_back(number);
        break;
      case 1:
        if (model.size() == 4) break;
        k.push_front(queue, item(number));
        model.push_front(number);
        break;
      case 2:
        if (model.empty()) break;
        Kind::pop(queue);
        model.pop_front();
        break;
      default:
        if (random() % 4 != 0) break;
        Kind::remove_if(queue, [](const Item& i) { return Kind::Bool(i.number.v % 3 == 0); });
        std::erase_if(model, [](int n) { return n % 3 == 0; });
    }
    REQUIRE(contents(queue) == std::vector<int>(model.begin(), model.end()));
    REQUIRE(Kind::truth(queue.empty()) == model.empty());
    REQUIRE(Kind::truth(k.full(queue)) == (model.size() == 4));
    Items fresh;
    for (const int n : model) k.push(fresh, item(n));
    REQUIRE(packed(k, fresh) == packed(k, queue));
  }
}
