// The race monitor is the one that proofs/executions proves right, and so is the definition that other tests
// hold monitors against: on a table of executions with the verdicts of the proved monitor, made by
// `proofs/executions/check`.
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "checker/races/monitor.hpp"
#include "tests/race_definition.hpp"

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

// An operation of an execution at its point: a letter, and its place in its thread.
struct Placed {
  int letter = 0;
  int place = 0;
};
// A row of the table: operations in the order of their points, and which models find a race, in both
// readings.
struct Row {
  std::vector<Placed> points;
  bool in_program_order = true;
  std::string expected;
};

// "3 17 : 0110..." counts each thread's places itself; "3@0 17@1 : ..." may have points out of program order.
Row row_of(const std::string& line) {
  Row row;
  std::array<int, 3> next{};
  std::istringstream words(line);
  for (std::string word; words >> word && word != ":";) {
    const std::size_t at = word.find('@');
    const int letter = std::stoi(word);
    int& place = next.at(static_cast<std::size_t>(letter / 14));
    row.points.push_back({letter, at == std::string::npos ? place : std::stoi(word.substr(at + 1))});
    row.in_program_order = row.in_program_order && row.points.back().place == place;
    ++place;
  }
  words >> row.expected;
  return row;
}

// Program and events of one row.
struct Execution {
  Program program = program_without_code();
  std::vector<Event> events;
  by_definition::Run run;

  explicit Execution(const Row& row) {
    for (const auto& [letter, place] : row.points) {
      auto& code = program.threads[static_cast<std::size_t>(letter / 14)].code;
      const auto at = static_cast<std::size_t>(place);
      if (code.size() <= at) code.resize(at + 1);
      code[at] = operation(letter % 14);
    }
    for (const auto& [letter, place] : row.points) {
      const int thread = letter / 14;
      const auto at = static_cast<std::size_t>(place);
      const Instruction& i = program.threads[static_cast<std::size_t>(thread)].code[at];
      const bool reads = i.opcode != Opcode::store;
      const bool writes = i.opcode != Opcode::load;
      events.push_back({thread, place, reads, writes});
      run.push_back({thread, &i, reads, writes, at});
    }
  }
};

template <class Judge>
std::string verdicts(const Judge& judge) {
  std::string found;
  for (const SyncReading reading : sync_readings) {
    for (const RaceModel model : race_models) found += judge(model, reading) ? '1' : '0';
  }
  return found;
}

}  // namespace

TEST_CASE(
    "the race monitor's verdicts, and the definition's, are those of the monitor that is proved right") {
  std::ifstream table(LOCKSTEP_SOURCE_DIR "/tests/data/executions.txt");
  REQUIRE(table);
  int executions = 0;
  int out_of_order = 0;
  for (std::string line; std::getline(table, line); ++executions) {
    const Row row = row_of(line);
    const Execution execution(row);
    INFO(line);
    REQUIRE(row.expected.size() == 10);
    REQUIRE(verdicts([&](RaceModel model, SyncReading reading) {
              return by_definition::Races(execution.program, model, reading).in(execution.run);
            }) == row.expected);
    // The detector explores interleavings, in which points are in program order.
    out_of_order += static_cast<int>(!row.in_program_order);
    if (!row.in_program_order) continue;
    REQUIRE(verdicts([&](RaceModel model, SyncReading reading) {
              return races(execution.program, execution.events, model, reading);
            }) == row.expected);
  }
  CHECK(executions == 42 * 42 + 4000 + 2000);
  CHECK(out_of_order >= 700);
}
