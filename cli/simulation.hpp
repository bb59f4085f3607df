// What `sim` and `sweep` have in common: which workload runs on which systems of which machine.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/sweep.hpp"

namespace lockstep::cli {

struct SimulationChoice {
  std::string workload;
  std::vector<std::string> systems;
  std::string machine;
  std::vector<std::string> sizes;
  std::vector<std::string> faults;
  MachineSettings settings;
  int cus = 0;
  std::uint64_t seed = 1;
  void add_to(CLI::App& app);
};

// A choice that makes sense. What runs is a workload by name, a synchronization program, or a litmus test.
// Systems whose client launches kernels run workloads of their own on a machine of chiplets, beside their
// baseline where one alone is named; all others run programs.
class Simulation {
 public:
  explicit Simulation(SimulationChoice choice);  // throws BadInput

  [[nodiscard]] bool launches() const { return launches_; }
  [[nodiscard]] const LitmusTest* test() const { return test_.get(); }  // null: no test
  [[nodiscard]] const std::vector<std::string>& workloads() const { return workloads_; }
  [[nodiscard]] const std::vector<std::string>& systems() const { return systems_; }
  // Of the machine with the settings of the choice.
  [[nodiscard]] std::string machine_name() const;
  [[nodiscard]] std::vector<Assumption> assumptions() const;
  // Of these what concerns its systems: what a file assumes of its own says nothing of those that another
  // file describes.
  [[nodiscard]] std::vector<Assumption> assumed() const;
  [[nodiscard]] std::string machine_file() const;
  // Systems that the machine's file does not describe.
  [[nodiscard]] std::vector<std::string> borrowed() const;
  // What its results depend on, for journals.
  [[nodiscard]] nlohmann::json identity() const;

  // All systems, with settings besides those of the choice. Beside entries of the machine these may be
  // "seed=N" and "size.NAME=N". Throws BadInput.
  [[nodiscard]] ComparedRun run(const std::string& workload, const MachineSettings& more = {},
                                const std::function<void(const std::string&)>& on_progress = {},
                                SimulationObserver* observer = nullptr) const;
  // What the choice comes to, without a workload.
  [[nodiscard]] SimulationRequest request(const MachineSettings& more = {}) const;
  // Throws BadInput where there is no machine with these settings.
  void check(const MachineSettings& more) const;

 private:
  struct Changed {
    MachineSettings settings;  // of the machine
    SimulationRequest request;
  };
  [[nodiscard]] std::string inputs_digest() const;       // of all files that it and what runs come from
  [[nodiscard]] MachineSettings usual_settings() const;  // of the choice
  [[nodiscard]] Changed changed(const MachineSettings& more) const;
  [[nodiscard]] MachineDescription machine(const MachineSettings& settings) const;
  [[nodiscard]] ChipletMachine chiplets(const MachineSettings& settings) const;

  SimulationChoice choice_;
  bool launches_ = false;
  std::shared_ptr<const LitmusTest> test_;
  std::vector<std::string> workloads_;
  std::vector<std::string> systems_;
  std::string text_;  // of the machine file, read once: it may be a pipe, or be edited meanwhile
};

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
void ask_for_gnuplot();
void draw(const std::function<std::string(const std::string& picture)>& program, const std::string& file);

}  // namespace lockstep::cli
