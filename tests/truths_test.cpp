// The truths of many terms, looked up and computed together, are those of each by itself.
#include "checker/footprint/truths.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "checker/footprint/terms.hpp"

using namespace lockstep::footprint;

namespace {

// Bytes, among them signed ones, and wider scalars behind them.
std::vector<Place> places_of_every_make() {
  std::vector<Place> places;
  for (std::size_t at = 0; at < 12; ++at) places.push_back({"byte", at, 1, at % 5 == 4});
  places.push_back({"half", 12, 2, false});
  places.push_back({"signed half", 14, 2, true});
  places.push_back({"word", 16, 4, true});
  return places;
}

class RandomTerms {
 public:
  RandomTerms(Terms& terms, std::uint32_t seed) : terms_(terms), random_(seed) {}

  TermId number(int depth) {
    switch (depth == 0 ? pick(2) : pick(7)) {
      case 0:
        return terms_.constant(static_cast<std::int64_t>(pick(6)));
      case 1:
      case 2:
        return leaf();
      case 3:
        return terms_.binary(TermOp::add, number(depth - 1), number(depth - 1));
      case 4:
        return terms_.binary(TermOp::subtract, number(depth - 1), number(depth - 1));
      case 5:
        return terms_.binary(TermOp::bit_xor, number(depth - 1), number(depth - 1));
      default:
        return terms_.choice(truth(depth - 1), number(depth - 1), number(depth - 1));
    }
  }
  TermId truth(int depth) {
    static constexpr std::array compared{TermOp::equal, TermOp::not_equal, TermOp::less, TermOp::less_equal};
    if (depth == 0) {
      switch (pick(3)) {
        case 0:
          return terms_.binary(compared[pick(compared.size())], leaf(),
                               terms_.constant(std::int64_t(pick(6))));
        case 1:
          return terms_.intern(
              {.op = pick(2) == 0 ? TermOp::empty : TermOp::lacks_slot, .value = 1, .place = byte()});
        default:
          return terms_.intern({.op = TermOp::full, .place = byte(), .extent = 2});
      }
    }
    switch (pick(5)) {
      case 0:
        return terms_.conjunction(truth(depth - 1), truth(depth - 1));
      case 1:
        return terms_.disjunction(truth(depth - 1), truth(depth - 1));
      case 2:
        return terms_.negation(truth(depth - 1));
      case 3:
        return terms_.intern({.op = TermOp::contains, .a = truth(depth - 1)});
      default:
        return terms_.binary(compared[pick(compared.size())], number(depth - 1), number(depth - 1));
    }
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::uint32_t byte() { return static_cast<std::uint32_t>(pick(12)); }
  TermId leaf() {
    return terms_.intern(
        {.op = TermOp::scalar, .place = static_cast<std::uint32_t>(pick(terms_.places().size()))});
  }

  Terms& terms_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("truths that are found together are those of each term by itself", "[footprint]") {
  Terms terms(places_of_every_make());
  RandomTerms random(terms, 7);
  std::vector<TermId> asked{terms.constant(1), terms.constant(0)};
  for (int i = 0; i < 400; ++i) asked.push_back(random.truth(i % 5));
  const Truths truths(terms, asked);
  Truths::Room room;
  std::mt19937 bytes(11);
  std::size_t held = 0;
  for (int i = 0; i < 500; ++i) {
    std::array<std::byte, 20> state;
    // Small values, where most comparisons turn, and now and then any.
    for (std::byte& b : state) b = static_cast<std::byte>(i % 7 == 0 ? bytes() % 256 : bytes() % 8);
    truths.evaluate(state.data(), room);
    for (std::size_t t = 0; t < asked.size(); ++t) {
      const bool truth = terms.evaluate(asked[t], state.data()) != 0;
      if (truth) ++held;
      REQUIRE(room.truths[truths.signal(t)] == (truth ? 1 : 0));
    }
  }
  CHECK(held > 10'000);
  CHECK(held < 190'000);
}
