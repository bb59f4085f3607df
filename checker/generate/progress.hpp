// Progress litmus tests: small programs whose question is whether they terminate.
//
// Their one instruction is atomic exchange-and-branch, AXB (Sorensen et al., "Specifying and Testing GPU
// Workgroup Progress Models", OOPSLA 2021, sec. 3): it reads a location, may write it, and may continue
// elsewhere when it read the value that it checks for. With it come stores, spinning loads, exchanges and
// locks. A space is every program of so many threads and instructions up to renaming of locations and of a
// location's values; docs/progress-tests.md says precisely which.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checker/language/test.hpp"

namespace lockstep::generate {

// -1 stands for none. Without a check it goes on to the next instruction whatever it reads; without a check
// and an exchange it is a read that nobody looks at, and has no location.
struct Axb {
  std::int8_t location = -1;
  std::int8_t check = -1;
  std::int8_t exchange = -1;
  std::int8_t target = -1;  // where there is a check: index into the thread's code, its size is the end
  auto operator<=>(const Axb&) const = default;
};
constexpr bool branches(const Axb& axb) {
  return axb.check >= 0;
}

struct ProgressProgram {
  static constexpr int most_threads = 3;
  static constexpr int most_instructions = 6;  // of all threads
  std::int8_t threads = 0;
  std::array<std::int8_t, most_threads> sizes{};  // instructions of each thread, one or more
  std::array<std::array<Axb, most_instructions>, most_threads> code{};
  auto operator<=>(const ProgressProgram&) const = default;
};

struct ProgressSpace {
  int threads = 2;
  int instructions = 3;  // of all threads together, as the paper counts them
  int locations = 2;
  int values = 2;  // 0 up to this; every location starts at 0
  bool operator==(const ProgressSpace&) const = default;
};

// The programs of a space, numbered with their duplicates: 0 up to candidates().
class ProgressPrograms {
 public:
  // Throws BadInput where the space is out of bounds.
  explicit ProgressPrograms(const ProgressSpace& space);

  [[nodiscard]] const ProgressSpace& space() const { return space_; }
  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] ProgressProgram candidate(std::uint64_t number) const;

  // Calls `take` for the canonical programs among the candidates from `begin` on, before `end`, in order;
  // safe from several threads at once.
  void enumerate(std::uint64_t begin, std::uint64_t end,
                 const std::function<void(const ProgressProgram&)>& take) const;

 private:
  struct Split {  // how the instructions are shared out, and how many candidates that makes
    std::array<std::int8_t, ProgressProgram::most_threads> sizes{};
    std::uint64_t candidates = 0;
  };
  [[nodiscard]] const std::vector<Axb>& choices(int size, int at) const;

  ProgressSpace space_;
  std::uint64_t candidates_ = 0;
  std::vector<Split> splits_;
  // What the instruction at a place of a thread of some size can be: by size - 1, then by place.
  std::vector<std::vector<std::vector<Axb>>> choices_;
};

// Locations, and the values of each but its initial 0, are numbered in the order in which the text names
// them: thread by thread, and in an instruction the check before the exchange. Of all programs that are equal
// up to renaming these, exactly one is canonical.
bool is_canonical(const ProgressProgram& program);
ProgressProgram canonical(const ProgressProgram& program);
// Thread i is what thread order[i] was; the result need not be canonical.
ProgressProgram reordered(const ProgressProgram& program, std::span<const std::size_t> order);
// Equal exactly for programs that are equal up to renaming locations, values and threads: the least of the
// canonical forms of all orders of threads.
ProgressProgram unordered(const ProgressProgram& program);

// Whether some thread can come back to where it was. Programs without a loop end under every scheduler.
bool has_loop(const ProgressProgram& program);
// Orders examples: a store counts for less than a spinning load, and that for less than an exchange.
int weight(const ProgressProgram& program);

// "Wx1+Rx0.0": threads between "+", instructions between "-". "Wx1" stores 1 to x; "Rx0.2" goes to
// instruction 2 when it reads 0 from x; "Xx0w1.2" does so, and exchanges x with 1 in any case; "N" reads and
// ignores. A target behind the last instruction is "e", the end.
std::string name_of(const ProgressProgram& program);

// In the HRF dialect, each thread a work-group of one agent, with orders that synchronize. What the question
// asks of final states is true of all.
std::shared_ptr<const LitmusTest> to_test(const ProgressProgram& program);

// The file of a test: `print_test` with a line `Progress=` behind the doc string.
std::string print_test(const LitmusTest& test, const std::string& progress);

}  // namespace lockstep::generate
