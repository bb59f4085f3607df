// Machine files for tests: the shipped ones, and what becomes of them when something in them is said
// otherwise.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/machine.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

inline const std::string machines_folder = LOCKSTEP_SOURCE_DIR "/refimpl/machines";

inline std::string shipped_machine(const std::string& name) {
  std::ifstream file(machines_folder + "/" + name + ".toml");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>{}};
}

// The text with other text in place of some of it, behind `section`.
inline std::string changed(std::string text, const std::string& section, const std::string& from,
                           const std::string& to) {
  const auto begin = text.find(section);
  REQUIRE(begin != std::string::npos);
  const auto at = text.find(from, begin);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  return changed(std::move(text), "", from, to);
}

inline MachineDescription machine_of(const std::string& text) {
  return parse_machine(text, "m.toml", machines_folder);
}
// What is said of a file that is none.
inline std::string machine_error_of(const std::string& text) {
  try {
    machine_of(text);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

// A wave for each list, that loads the first word of the list's blocks, each when the one before is there.
inline Workload loads_of(const std::vector<std::vector<int>>& waves) {
  Workload workload;
  workload.program.name = "loads";
  int number = 0;
  for (const std::vector<int>& blocks : waves) {
    Thread thread;
    thread.name = "W" + std::to_string(number);
    thread.placement.wave = number;
    thread.placement.wg = number++;
    thread.registers = {"r0"};
    thread.initial_values = {0};
    for (const int block : blocks) {
      Instruction load;
      load.opcode = Opcode::load;
      load.location = static_cast<int>(workload.program.locations.size());
      load.destination = 0;
      thread.code.push_back(load);
      workload.program.locations.push_back({"b" + std::to_string(load.location), 0, block, 0});
    }
    workload.program.threads.push_back(std::move(thread));
  }
  workload.initial.resize(workload.program.locations.size());
  return workload;
}

// Of a run to its end on so many CUs, whose waves all start at once.
inline Statistics simulate(const std::string& system, const MachineDescription& machine,
                           const Workload& workload, int cus, bool profile = false) {
  SimulationOptions options;
  options.cus = cus;
  options.profile = profile;
  options.start_spread = 0;
  const TimedSystem timed = find_timed_system(system, options);
  const auto simulator = timed.build(workload, machine, options);
  const SimulationEnd end = simulator->run();  // may throw
  REQUIRE(end == SimulationEnd::finished);
  return simulator->statistics();
}

}  // namespace lockstep
