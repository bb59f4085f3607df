// What somebody wants simulated, by names and files: which workload, on which systems, on which machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/outcomes.hpp"

namespace lockstep {

struct SimulationChoice {
  std::string workload;
  std::shared_ptr<const LitmusTest> test;  // runs in place of a workload, where there is one
  std::vector<std::string> systems;
  std::string machine;
  std::vector<std::string> sizes;   // "words=4096"
  std::vector<std::string> graphs;  // "g=road.gr", of a file of kernels
  std::vector<std::string> faults;
  MachineSettings settings;
  int cus = 0;  // as the machine has
  std::uint64_t seed = 1;
  std::uint64_t cycles = 0;  // after which a run is given up; 0: never
  bool profile = false;      // find out where time goes (profile.hpp)
  std::uint64_t epoch = 0;   // with it: cycles, after each of which counters are noted; 0: never
};

// A choice that makes sense. What runs is a workload by name, a file of kernels, a synchronization program,
// or a litmus test.
// Systems whose client launches kernels run workloads of their own on a machine of chiplets, beside their
// baseline where one alone is named; all others run programs.
class Simulation {
 public:
  // Throws BadInput. A test by name is one below `litmus_home`.
  Simulation(SimulationChoice choice, const std::string& litmus_home);

  [[nodiscard]] bool launches() const { return launches_; }
  [[nodiscard]] const LitmusTest* test() const { return choice_.test.get(); }  // null: no test
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
  // What its results depend on but for the build, for journals.
  [[nodiscard]] nlohmann::json identity() const;

  // All systems, with settings besides those of the choice. Beside entries of the machine these may be
  // "seed=N" and "size.NAME=N". Throws BadInput.
  [[nodiscard]] ComparedRun run(const std::string& workload, const std::atomic<bool>& interrupted,
                                const MachineSettings& more = {},
                                const std::function<void(const std::string&)>& on_progress = {},
                                SimulationObserver* observer = nullptr) const;
  // The litmus test again and again. Throws BadInput.
  [[nodiscard]] TimedTest run_test(std::size_t runs, int jitter, const std::atomic<bool>& interrupted) const;
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
  std::vector<std::string> workloads_;
  std::vector<std::string> systems_;
  std::string text_;  // of the machine file, read once: it may be a pipe, or be edited meanwhile
};

}  // namespace lockstep
