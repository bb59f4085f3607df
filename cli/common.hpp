// What several commands share: options that mean the same everywhere, Ctrl-C, and the line of progress.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "checker/generate/generate.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"

namespace lockstep::cli {

// --threads, --memory, --timeout.
struct LimitOptions {
  unsigned threads = 0;  // 0: as many as the machine runs at once
  double gibibytes = 0;  // 0: three quarters of the machine's memory
  double seconds = 0;    // 0: no limit
  void add_to(CLI::App& app, const std::string& timeout_is_for);
  [[nodiscard]] RunLimits limits() const;
};

// What `lockstep list` lists.
inline const std::vector<std::string> listed_kinds{"systems",  "variants", "faults",    "sizes",
                                                   "rules",    "findings", "tests",     "models",
                                                   "programs", "kernels",  "schedulers"};

// Of --no-reduce where every reduction may be had.
inline constexpr const char* no_reduce_what = "Reductions to do without: moves, stubborn, dead, at-once";

// --variant, --fault, --size.
struct SystemChoice {
  std::string variant;
  std::vector<std::string> faults;
  std::vector<std::string> sizes;
  void add_to(CLI::App& app);
  [[nodiscard]] SharedOptions shared() const;
};

// --up-to, --straight, --warm: which tests are generated.
std::vector<CLI::Option*> add_generated(CLI::App& app, generate::GenerateOptions& options);

// An option that may be given many times, each time with one value or several between commas.
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& what);

// What --symmetry was given: index types, none of them for `all`, and nothing where it was not. Throws
// BadInput on `all` beside others.
std::optional<std::vector<std::string>> symmetry_of(const std::vector<std::string>& named);

// Whether mpirun, or another like it, has begun this process as one of several that are to work together.
bool is_rank();

// From now on Ctrl-C, or SIGTERM, sets interrupted() once; a second one ends the process.
void catch_interrupts();
const std::atomic<bool>& interrupted();

// One line on stderr that is written over and erased; nothing where stderr is not a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);
  void erase();

 private:
  std::size_t width_ = 0;  // 0: not a terminal
  bool shown_ = false;
};

// Of this program, for journals: another build may explore other states.
std::string build_identity();
// Of the executable beside this one that has some of the commands: "sim" of lockstep-sim.
std::string path_of_executable(const std::string& name);

// Writes to stdout at once, so that a reader at the other end of a pipe sees what is done.
void print_now(const std::string& text);
void print_error(const std::string& text);

// Those of the tests that a system takes, programs or sequences of launches. Throws BadInput where others
// were named.
LitmusTests tests_for(const SystemEntry& system, SuiteFiles files);

// The folder of the tests that come with Lockstep (support/home.hpp), as a path relative to the current
// folder where it lies below it.
std::string litmus_home();

}  // namespace lockstep::cli
