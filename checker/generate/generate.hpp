// Enumerates litmus tests: every critical cycle over an alphabet of relaxations, up to a length, and every
// straight program of two threads with two operations each. docs/generation.md says what is in the alphabet,
// and why what is left out is not needed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "checker/generate/blueprint.hpp"

namespace lockstep::generate {

struct GenerateOptions {
  int up_to = 4;          // size of a cycle: its edges and extras; 0: no cycles
  bool straight = false;  // also the programs of 2 threads with 2 operations
  bool warm = false;      // cycles also with one warm extra, whatever their size then is
};
// "cycles up to 4, also warm, straight 2x2 programs"
std::string tests_text(const GenerateOptions& options);
inline constexpr int longest_cycle = 8;
// An extra on a cycle counts as so many edges: a test with e edges and n extras has the size e + 2n.
inline constexpr int edges_of_an_extra = 2;
inline constexpr int size_of_straight = 4;  // two threads with two accesses, as in a cycle of four edges

// Blueprints that are enumerated together: of one size, one shape and one placement.
struct Family {
  enum class Kind : std::uint8_t { cycle, straight };
  Kind kind = Kind::cycle;
  int edges = 0;   // of the cycle
  int extras = 0;  // exactly so many
  int shape = 0;   // index into the shapes of that many edges; of a straight program, P0's first operation
  std::vector<Seat> seats;
  bool only_warm = false;  // its extras are warm or bystander
};

class Generator {
 public:
  // Throws BadInput where `up_to` is out of range.
  explicit Generator(const GenerateOptions& options);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // All families, the shortest first; together they hold every test once.
  [[nodiscard]] std::span<const Family> families() const { return families_; }

  // Calls `take` for each test of a family, always in the same order; safe from several threads at once.
  // Returns how many blueprints were left out because an equal one, up to renaming, is a test already.
  std::size_t enumerate(const Family& family, const std::function<void(const Blueprint&)>& take) const;

  [[nodiscard]] const GenerateOptions& options() const { return options_; }

  // A line that differs whenever the tests or their order do.
  [[nodiscard]] std::string identity() const;

 private:
  void add_warm();
  void add_straight();

  GenerateOptions options_;
  std::vector<Family> families_;
  std::vector<Key> cycles_of_two_;  // sorted keys of the cycles that are straight programs, too
};

}  // namespace lockstep::generate
