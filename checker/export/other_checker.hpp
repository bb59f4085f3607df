// Rumur, SPIN and the search that comes with an export to C++: generated, compiled, run, and their output
// read with suspicion. Whatever does not end in a complete count says why; nothing but a complete count can
// agree.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/export/export.hpp"

namespace lockstep {

enum class Checker : std::uint8_t {
  rumur,
  spin,
  cplusplus,  // export_cuda, compiled for the processors of the machine
  cuda,       // the same, for its graphics processor
};
inline constexpr std::array all_checkers{Checker::rumur, Checker::spin, Checker::cplusplus, Checker::cuda};
std::string_view word(Checker checker);      // "rumur"; "c++"
std::string_view language(Checker checker);  // "murphi"
// In that language.
std::string export_for(Checker checker, const recorded::WholeDescription& whole,
                       const std::vector<Claim>& claims, const ExportOptions& options);

enum class CountStatus : std::uint8_t {
  complete,
  missing,  // the checker or a compiler is not installed
  too_old,
  out_of_time,
  out_of_memory,  // or of depth, where SPIN could not search on
  crashed,
  unexpected,  // it refused the export, or printed what it should not
  interrupted,
};
std::string_view word(CountStatus status);  // "out of time"

// What a checker counted.
struct Count {
  CountStatus status = CountStatus::complete;
  std::string message;  // why it is not complete
  std::uint64_t states = 0;
  std::uint64_t firings = 0;
  std::vector<std::uint64_t> claims;  // states of each claim
  bool failed = false;                // where the search was to stop at the first failure: there is one
  std::string note;                   // how this was made from what the checker printed, where it differs
  double seconds = 0;                 // of the search
  double preparation = 0;             // generating and compiling
};

struct CountOptions {
  std::chrono::milliseconds time{0};  // for each of its steps; 0: no limit
  std::size_t memory = 0;             // bytes that SPIN may use; 0: 4 GiB
  Purpose purpose = Purpose::count;   // verdict: only whether some claim fails, which ends the search
  std::uint64_t expected_states = 0;  // sizes SPIN's tables and how hard to optimise; 0: unknown
  const std::atomic<bool>* interrupted = nullptr;
};

// Explores an export of the purpose that the options name.
Count count_with(Checker checker, const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                 const std::string& title, const CountOptions& options);
// The same of a text, which an export might have been.
Count count_text(Checker checker, const std::string& text, const PromelaStart& start, std::size_t claims,
                 const CountOptions& options);

// Whether SPIN, under weak fairness of processes, finds a run on which an export of Purpose::progress does
// not reach its goal: `failed` of the count.
Count spin_progress(const recorded::WholeDescription& whole, const std::string& title, int thread,
                    const CountOptions& options);

// What the output of a finished search says, where it was to count and where it was to find a failure.
Count read_search(const std::string& output, std::size_t claims);
Count read_rumur(const std::string& output, std::size_t claims);
Count read_spin(const std::string& output, const PromelaStart& start, std::size_t claims);
Count read_rumur_verdict(const std::string& output);
Count read_spin_verdict(const std::string& output);

// Whether "Rumur version v2022.08.20-1" or "Spin Version 6.5.2 -- ..." is old enough to be refused; throws
// nothing, and takes what it cannot read for too old.
bool too_old(Checker checker, const std::string& version_text);

}  // namespace lockstep
