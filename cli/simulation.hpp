// What `sim`, `sweep` and `study` have in common: options that choose what is simulated.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "refimpl/simulation.hpp"
#include "refimpl/sweep.hpp"

namespace lockstep::cli {

// WORKLOAD, --on, --machine and so on.
void add_to(CLI::App& app, SimulationChoice& choice);
// Throws BadInput.
Simulation simulation_of(const SimulationChoice& choice);

// How simulations are run again with values moved, and what is written of them.
struct SweepChoice {
  int points = 5;
  int together = 32;
  unsigned threads = 0;  // as many as the machine runs
  std::string journal;
  std::string csv;
  std::string plot;
  // What a journal and a picture are differs from command to command.
  void add_to(CLI::App& app, const std::string& journal_what, const std::string& plot_what);
  // Throws BadInput where a file cannot be written, or is to hold two things.
  void check_files() const;
  // All but the workload, its run and what is moved. The simulation has to outlive it.
  [[nodiscard]] SweepRequest request(const Simulation& simulation) const;
};

// Pictures by gnuplot, as SVG: `program` is told where the picture goes. Throw BadInput where it is missing,
// or fails.
void ask_for_gnuplot(std::string_view option = "--plot");
void draw(const std::function<std::string(const std::string& picture)>& program, const std::string& file);

}  // namespace lockstep::cli
