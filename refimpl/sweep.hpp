// How far a comparison of systems rests on what nobody has published. Simulations are run again with assumed
// values (machine.hpp, Assumption) moved over their ranges: each alone, the others as the machine file has
// them, and all at once. A conclusion is the sign of a difference, and stands where it has the same sign at
// every point.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"

namespace lockstep {

// Whether it is moved over numbers, not over a list.
inline bool is_range(const Assumption& a) {
  return a.kind == Assumption::Kind::range || a.kind == Assumption::Kind::times;
}

// Of a machine's assumptions, what they say of these systems and of what all share.
std::vector<Assumption> concerning(std::vector<Assumption> assumptions,
                                   const std::vector<std::string>& systems);

// So many seeds, from one on: the first is the simulation's own.
Assumption seeds_from(std::uint64_t first, int count);

struct SweepRequest {
  std::string workload;
  std::vector<std::string> systems;  // the first is what the others are compared with
  std::vector<Assumption> assumptions;
  // Simulates all systems with these settings. Throws BadInput where they make no machine.
  std::function<ComparedRun(const MachineSettings&)> run;
  // Throws the same without simulating.
  std::function<void(const MachineSettings&)> check;
  int points = 5;     // of a range, where an assumption has no list of values
  int together = 32;  // points at which everything is moved at once
  bool grid = false;  // in place of both: every combination
  std::string figure = "cycles";
  double within = 0.02;  // two figures are equal that differ by no more than this share
  unsigned threads = 1;
  std::string journal;      // a file to go on from; empty: none
  nlohmann::json identity;  // what the journal is about
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::size_t done, std::size_t all)> on_progress;
};

struct SweepPoint {
  std::vector<std::optional<double>> choices;  // by assumption; none where it is as in the file
  MachineSettings settings;                    // that make it so; none: the machine as it is
  struct Result {
    std::string system;
    std::string end;  // "finished", "stuck", ...
    int wrong = 0;    // locations with wrong results
    std::map<std::string, double> figures;
  };
  std::vector<Result> results;  // by system; none where it was not run
  std::string where;            // the machine in a word
  std::string refused;          // why there is no such machine; of points at which everything is moved
  [[nodiscard]] bool done() const { return !results.empty(); }
  // All systems ran to their ends, with the right results.
  [[nodiscard]] bool right() const;
  // The first system and that one did: else nothing follows from the point for it.
  [[nodiscard]] bool right(std::size_t system) const;
};

// Of one system's figure against the first's.
enum class Sign : std::uint8_t { less, equal, more };

struct Sweep {
  std::string workload;
  std::string where;
  std::vector<std::string> systems;
  std::vector<Assumption> assumptions;
  std::string figure;
  double within = 0;
  SweepPoint base;
  std::vector<SweepPoint> alone;     // exactly one choice each
  std::vector<SweepPoint> together;  // or of a grid
  // By system, where its sign changes only with several values moved: as few of them as were found to change
  // it, and what else was run to find them.
  std::map<std::size_t, SweepPoint> fewest;
  std::vector<SweepPoint> reduced;
  bool grid = false;
  bool interrupted = false;
  double seconds = 0;

  // The figure of the system at that position, divided by that of the first; with one system by its own at
  // the base.
  [[nodiscard]] double ratio(const SweepPoint& point, std::size_t system) const;
  [[nodiscard]] Sign sign(const SweepPoint& point, std::size_t system) const;
};

// Throws BadInput where a point is no machine, names of figures are unknown, and as `run` does. Interrupted,
// it has the points so far.
Sweep sweep(const SweepRequest& request);

// What can be said of one system against the first.
struct Conclusion {
  Sign sign = Sign::equal;  // as the machine file has it
  std::size_t points = 0;   // with the right results
  std::size_t wrong = 0;    // where something got stuck or had wrong results
  std::size_t missing = 0;  // that were not run
  std::size_t holding = 0;  // of them, those with that sign
  double least = 0;         // ratio
  double most = 0;
  std::vector<std::size_t> turns_on;  // assumptions that change the sign, each alone
  // The base alone says nothing.
  [[nodiscard]] bool stands() const { return holding == points && points > 1 && wrong == 0 && missing == 0; }
};
Conclusion conclusion(const Sweep& sweep, std::size_t system);

// Where along one assumption, moved alone, the sign is that of the base: "from 8 to 64", "everywhere".
std::string holds_where(const Sweep& sweep, std::size_t assumption, std::size_t system);

std::string sweep_text(const Sweep& sweep);               // for people, within 80 columns
nlohmann::ordered_json sweep_json(const Sweep& sweep);    // one of a list; schema lockstep.sweep/1
std::string sweep_csv(const std::vector<Sweep>& sweeps);  // a line a point and system
// The lowest and highest ratio for each assumption, as a program for gnuplot that writes SVG. With two
// systems.
std::string sweep_plot(const Sweep& sweep, const std::string& file);
// 1 where some simulation got stuck or had wrong results, 130 interrupted, else 0.
int exit_status_of(const std::vector<Sweep>& sweeps);

}  // namespace lockstep
