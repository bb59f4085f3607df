// How fast the explorer is, on German's protocol with 4 nodes and 2 data values (1,105,434 states, 5,922,288
// firings), beside SPIN and Rumur on hand-written models that reach the same counts, where they are
// installed.
//
//   bench/explore [--repeat N] [--threads N] [--alone]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/support/process.hpp"
#include "checker/systems/registry.hpp"

namespace {

using namespace lockstep;

constexpr std::size_t expected_states = 1'105'434;
constexpr std::uint64_t expected_firings = 5'922'288;

struct Figures {
  std::string who;
  std::size_t states = 0;
  std::uint64_t firings = 0;
  double seconds = 0;  // of the search alone, as the tool reports it
  double bytes = 0;    // a state: all memory of the process, tables included
};

double resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

Figures ours(unsigned threads) {
  const auto model = find_system("german").build_closed(SystemOptions{});
  ExploreOptions options;
  options.threads = threads;
  const ExploreResult r = explore(*model, options);
  if (r.verdict != Verdict::holds || r.states != expected_states || r.transitions != expected_firings) {
    fmt::print(stderr, "german: {} states, {} firings: not the protocol that was measured before\n", r.states,
               r.transitions);
    std::exit(1);
  }
  return {fmt::format("Lockstep, {} thread{}", threads, threads == 1 ? "" : "s"), r.states, r.transitions,
          r.seconds, resident_bytes() / static_cast<double>(r.states)};
}

bool installed(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

// A folder for the other tools' files.
class Workshop {
 public:
  // Output of a shell command run in the folder, or nothing if it fails.
  [[nodiscard]] std::optional<std::string> run(const std::string& command) const {
    const std::string whole = "cd '" + folder_.path().string() + "' && { " + command + "; } 2>&1";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(whole.c_str(), "r"), pclose);
    if (!pipe) return std::nullopt;
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
      output.append(buffer.data(), n);
    return pclose(pipe.release()) == 0 ? std::optional(output) : std::nullopt;
  }

 private:
  TemporaryFolder folder_;
};

std::optional<double> number(const std::string& text, const std::string& pattern) {
  // The last match: progress lines come before the final figures.
  const std::regex expression(pattern);
  std::string digits;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), expression); at != std::sregex_iterator();
       ++at) {
    digits = (*at)[1];
  }
  if (digits.empty()) return std::nullopt;
  digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  return std::stod(digits);
}

const std::string models = std::string(LOCKSTEP_SOURCE_DIR) + "/bench/german";

// Search time is what the tool prints; memory is the whole process, by time -f %M where it is installed.
std::optional<Figures> spin(const Workshop& shop) {
  if (!installed("spin") || !installed("gcc")) return std::nullopt;
  const auto output = shop.run("spin -a -DNODES=4 " + models +
                               "/german.pml && gcc -O3 -march=native -w -DSAFETY -DNOREDUCE -DNOCOMP -o pan "
                               "pan.c && ./pan -m20000 -w22");
  if (!output) return std::nullopt;
  const auto states = number(*output, R"((\d+) states, stored)");
  const auto transitions = number(*output, R"((\d+) transitions)");
  const auto seconds = number(*output, R"(elapsed time ([0-9.]+) seconds)");
  const auto megabytes = number(*output, R"(([0-9.]+)\s+(?:total actual )?memory usage)");
  if (!states || !transitions || !seconds || !megabytes) return std::nullopt;
  return Figures{"SPIN -O3, no reduction", static_cast<std::size_t>(*states),
                 static_cast<std::uint64_t>(*transitions), *seconds, *megabytes * 1e6 / *states};
}

std::optional<Figures> rumur(const Workshop& shop) {
  if (!installed("rumur") || !installed("cc")) return std::nullopt;
  const auto build = shop.run(
      "rumur --symmetry-reduction off --threads 1 --output rumur.c " + models +
      "/german.m && cc -std=c11 -O3 -march=native -w rumur.c -o rumur-german -lpthread -latomic -mcx16");
  if (!build) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const auto output = shop.run("./rumur-german");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!output) return std::nullopt;
  const auto states = number(*output, R"(([0-9,]+) states)");
  const auto rules = number(*output, R"(([0-9,]+) rules fired)");
  if (!states || !rules) return std::nullopt;
  return Figures{"Rumur -O3, no symmetry", static_cast<std::size_t>(*states),
                 static_cast<std::uint64_t>(*rules), seconds, 0};
}

void print(const Figures& f, double reference) {
  fmt::print("{:<24} {:>9} states {:>9} firings {:>7.3f} s {:>6.2f} M states/s", f.who, f.states, f.firings,
             f.seconds, static_cast<double>(f.states) / f.seconds / 1e6);
  fmt::print("  {:>9}", f.bytes > 0 ? fmt::format("{:.1f} B/state", f.bytes) : "");
  if (reference > 0) fmt::print("  {:.1f} x", f.seconds / reference);
  fmt::print("\n");
}

int usage() {
  fmt::print(stderr, "usage: bench/explore [--repeat N] [--threads N] [--alone]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 5;
  unsigned threads = 1;
  bool alone = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--alone") {
      alone = true;
    } else if ((word == "--repeat" || word == "--threads") && i + 1 < argc) {
      const int n = std::atoi(argv[++i]);
      if (n < 1) return usage();
      if (word == "--repeat") {
        repeat = n;
      } else {
        threads = static_cast<unsigned>(n);
      }
    } else {
      return usage();
    }
  }
  Figures best = ours(threads);
  for (int i = 1; i < repeat; ++i) {
    // Memory is the first run's: later ones reuse what it left.
    const Figures again = ours(threads);
    if (again.seconds < best.seconds) best.seconds = again.seconds;
  }
  fmt::print("German's protocol, 4 nodes, 2 data values; best of {} runs\n", repeat);
  print(best, 0);
  if (alone) return 0;
  const Workshop shop;
  const auto compare = [&](const std::optional<Figures>& other, std::string_view name) {
    if (other) {
      print(*other, best.seconds);
    } else {
      fmt::print("{}: not installed, or it did not run\n", name);
    }
  };
  compare(spin(shop), "SPIN");
  compare(rumur(shop), "Rumur");
  return 0;
}
