// A litmus test as it was written: a program, a question about its final states, and the verdicts that
// its author expects. parse_litmus makes one from text; checker/litmus/runner.hpp answers it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/launches.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// A term of a condition: a final register, a location's final value, what a sequence of launches has shown,
// or a constant.
struct ConditionTerm {
  enum class Kind : std::uint8_t { constant, register_, location, shown };
  Kind kind = Kind::constant;
  std::int32_t value = 0;  // of a constant
  int thread = -1;         // of a register
  int index = -1;  // of a register within its thread, of a location within the program, of what is shown
                   // within Launches::observed
  std::string name = {};  // of what is shown, "K1:acquire@C0", and of a constant that has one, "dirty"
};

// A condition's formula as a tree. Leaves compare two terms or are the constant `truth`.
struct Formula {
  enum class Kind : std::uint8_t { truth, compare, not_, and_, or_ };
  Kind kind = Kind::truth;
  bool truth = true;
  Comparison comparison = Comparison::equal;
  ConditionTerm left;
  ConditionTerm right;
  std::vector<Formula> children;  // one for not_, two or more for and_ and or_
};

enum class Quantifier : std::uint8_t { exists, not_exists, forall };

// herd's summary words: how many of the outcomes satisfy the formula, none, some or all.
// `fails` is expected only: of a system on which something that the program claims does not hold.
enum class Observation : std::uint8_t { never, sometimes, always, fails };

struct ExpectedObservation {
  std::string system;  // "sc", "quick-release", "quick-release/split-fifo"
  Observation observation = Observation::never;
  SourcePlace place;
};

struct ExpectedRace {
  std::string model;  // "drf", "hrf-direct", "hrf-indirect", "hrf-relaxed-direct", "hrf-relaxed-indirect"
  bool race = false;
  SourcePlace place;
};

struct ExpectedProgress {
  std::string scheduler;  // "obe", "awg"
  std::string verdict;  // "terminates", "deadlock", "trap", "livelock", "starvation", "progresses", "unsafe"
  SourcePlace place;
};

struct LitmusTest {
  std::string file;     // as the user named it
  std::string dialect;  // "HRF", "PTX", "OPENCL", "C", "LAUNCHES", "VULKAN", "X86", ...
  std::string name;
  std::string doc;
  Program program;
  std::shared_ptr<const Launches> launches;  // in place of a program, which is empty then
  Quantifier quantifier = Quantifier::exists;
  Formula filter;  // outcomes that do not satisfy it are left aside; `truth` where there is none
  Formula condition;
  std::string condition_text;           // the formula, printed canonically as herd does: (P1:r0=1 /\ P1:r1=0)
  std::vector<ConditionTerm> observed;  // what is named by the condition, filter or `locations`
  std::vector<ExpectedObservation> expected;
  std::vector<ExpectedRace> expected_races;
  std::vector<ExpectedProgress> expected_progress;
  std::vector<std::string> tags;  // from Tags=, e.g. "quick"
};

// What a test may hold at most; memory systems take less, and say so when a program is put on one.
struct Capacity {
  static constexpr int threads = 64, locations = 64, words_per_block = 4, registers = 256,
                       instructions = 1024;
};

// Reads one test. Throws BadInput with the place of the first error.
LitmusTest parse_litmus(std::string_view text, const std::string& file);

// Reads a file from disk and parses it: also refuses what is not a regular file, empty, binary or larger
// than 1 MiB.
LitmusTest read_litmus(const std::string& file);

// The program as memory systems run it: with barriers as the test's dialect means them (barriers.hpp).
Program for_memory_systems(const LitmusTest& test);

// The formula in herd's syntax, with names from the test's program; a formula is enclosed in parentheses.
std::string print(const Formula& formula, const Program& program);
std::string print(const ConditionTerm& term, const Program& program);

// A program in the HRF dialect: the initial state in braces, then the columns, for traces and for round
// trips. Between a line "HRF name" and a condition it parses back to the same program. The instructions
// that `kernel N` inserts are left out, for the placement says them; threads are named P0, P1, ... What the
// program claims is said in the head (print_claims), by labels that are printed here.
std::string print_program(const Program& program);

// The claims of a program as fields of a test's head, each on a line; empty where there are none.
std::string print_claims(const Program& program);

// One instruction of a thread in the HRF dialect; a kernel edge reads "kernel.begin" or "kernel.end".
// Its label is the one that print_program gives to the target.
std::string print_instruction(const Instruction& instruction, const Program& program, int thread);

// Whether two programs have the same locations, threads, code and claims: equal but for name, doc and places.
bool same_program(const Program& left, const Program& right);

// How the HRF dialect spells what an instruction says ("acq_rel", "agent", "exch", "add", "=="); a plain
// access is "weak".
std::string_view dialect_word(Order order);
std::string_view dialect_word(Scope scope);
std::string_view dialect_word(RmwFunction function);
std::string_view dialect_word(ArithmeticFunction function);
std::string_view dialect_word(Comparison comparison);

}  // namespace lockstep
