// The race monitor is the one that proofs/executions proves right: on a table of executions with the verdicts
// of the proved monitor, made by `proofs/executions/check`.
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "checker/races/monitor.hpp"

using namespace lockstep;

namespace {

// A letter is 14 * thread + operation: a plain store or load of x; then of y, and of z, a releasing store, an
// acquiring load, an exchange that does both, each at the work-group's scope and the agent's.
Instruction operation(int letter) {
  Instruction i;
  i.location = 0;
  i.opcode = letter == 0 ? Opcode::store : Opcode::load;
  if (letter >= 2) {
    constexpr std::array opcodes{Opcode::store, Opcode::load, Opcode::rmw};
    constexpr std::array orders{Order::release, Order::acquire, Order::acq_rel};
    const auto kind = static_cast<std::size_t>((letter - 2) / 2 % 3);
    i.opcode = opcodes[kind];
    i.order = orders[kind];
    i.location = 1 + (letter - 2) / 6;
    i.scope = letter % 2 == 0 ? Scope::wg : Scope::agent;
  }
  if (i.opcode != Opcode::load) i.a = {false, 1};
  if (i.opcode != Opcode::store) i.destination = 0;
  return i;
}

// Threads 0 and 1 are one work-group, thread 2 another of the same agent.
Program program_without_code() {
  Program program;
  program.name = "execution";
  for (int l = 0; l < 3; ++l)
    program.locations.push_back({std::string(1, static_cast<char>('x' + l)), 0, l, 0});
  for (int t = 0; t < 3; ++t) {
    Thread thread;
    thread.name = "P" + std::to_string(t);
    thread.registers = {"r0"};
    thread.initial_values = {0};
    thread.placement.wave = t;
    thread.placement.wg = t / 2;
    program.threads.push_back(std::move(thread));
  }
  return program;
}

bool races(const Program& program, const std::vector<Event>& run, RaceModel model, SyncReading reading) {
  bool raced = false;
  for (const Monitor& monitor : Monitor::monitors_of(program, model, reading)) {
    Monitor::Sets sets = monitor.initial();
    for (const Event& event : run) {
      raced |= monitor.races(event, sets) != 0;
      monitor.perform(event, sets);
    }
  }
  return raced;
}

std::string verdicts(const std::vector<int>& letters) {
  Program program = program_without_code();
  std::vector<Event> run;
  for (const int letter : letters) {
    auto& code = program.threads[static_cast<std::size_t>(letter / 14)].code;
    const Instruction i = operation(letter % 14);
    run.push_back(
        {letter / 14, static_cast<int>(code.size()), i.opcode != Opcode::store, i.opcode != Opcode::load});
    code.push_back(i);
  }
  std::string found;
  for (const SyncReading reading : sync_readings) {
    for (const RaceModel model : race_models) found += races(program, run, model, reading) ? '1' : '0';
  }
  return found;
}

}  // namespace

TEST_CASE("the race monitor's verdicts are those of the monitor that is proved right") {
  std::ifstream table(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/data/executions.txt");
  REQUIRE(table);
  int executions = 0;
  for (std::string line; std::getline(table, line); ++executions) {
    std::istringstream words(line);
    std::vector<int> letters;
    for (int letter = 0; words >> letter;) letters.push_back(letter);
    words.clear();
    std::string colon;
    std::string expected;
    words >> colon >> expected;
    INFO(line);
    REQUIRE(expected.size() == 10);
    REQUIRE(verdicts(letters) == expected);
  }
  CHECK(executions == 42 * 42 + 4000);
}
