// Caches of the simulator: which sets blocks go to, and what banks let through, on programs whose hits can be
// counted by hand.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/comparison.hpp"

using namespace lockstep;

namespace {

const std::string machines = LOCKSTEP_SOURCE_DIR "/refimpl/machines";
const std::atomic<bool> never_interrupted{false};

std::string apu() {
  std::ifstream file(machines + "/apu.toml");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>{}};
}
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
std::string in_l1(const std::string& more) {
  return changed(apu(), "evict = \"L1 replaces a block\"\n", "evict = \"L1 replaces a block\"\n" + more);
}

Statistics simulate(const Workload& workload, const std::string& machine, int cus) {
  SimulationOptions options;
  options.cus = cus;
  options.start_spread = 0;
  const TimedSystem system = find_timed_system("write-through", options);
  const auto simulator = system.build(workload, parse_machine(machine, "m.toml", machines), options);
  REQUIRE(simulator->run() == SimulationEnd::finished);
  return simulator->statistics();
}
const Statistics::Cache& cache(const Statistics& s, const std::string& table) {
  for (const Statistics::Cache& c : s.caches) {
    if (c.table == table) return c;
  }
  FAIL("no cache " << table);
  return s.caches.front();
}

// Waves of one CU, each of which loads its own block `loads` times.
Workload hits_on(const std::vector<int>& blocks, int loads) {
  Workload workload;
  workload.program.name = "hits";
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Thread thread;
    thread.name = "W" + std::to_string(i);
    thread.placement.wave = static_cast<int>(i);
    thread.registers = {"r0"};
    thread.initial_values = {0};
    Instruction load;
    load.opcode = Opcode::load;
    load.location = static_cast<int>(i);
    load.destination = 0;
    thread.code.assign(static_cast<std::size_t>(loads), load);
    workload.program.locations.push_back({"b" + std::to_string(i), 0, blocks[i], 0});
    workload.program.threads.push_back(std::move(thread));
  }
  workload.initial.resize(blocks.size());
  return workload;
}

std::string error_of(const std::string& text) {
  try {
    parse_machine(text, "m.toml", machines);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("Caches: with modulo 8 CUs use 8 of their L1s' 32 sets, hashed all of them") {
  const auto sets = [](const std::string& text) {
    SimulationRequest request;
    request.machine = parse_machine(text, "m.toml", machines);
    request.systems = {"write-through"};
    request.sizes = {{"words", 4096}};
    request.options.cus = 8;
    const ComparedRun run = run_workload(request, "copy", never_interrupted);
    CHECK(run.results.front().wrong == 0);
    const Statistics::Cache& l1 = cache(run.results.front().statistics, "l1");
    CHECK(l1.sets == 32);
    return l1.sets_used;
  };
  CHECK(sets(apu()) == 8);
  CHECK(sets(in_l1("set_index = \"hashed\"\n")) == 32);
}

TEST_CASE("Caches: a bank performs one look-up in its turn, and others theirs meanwhile") {
  // Nothing but the cache is to be waited for.
  std::string fast = changed(
      apu(), "[units.thread]          # instructions of the waves of one CU\nper = \"cu\"\nper_cycle = 1 ",
      "[units.thread]\nper = \"cu\"\nper_cycle = 16 ");
  fast =
      changed(fast, "[units.L1]\nper = \"cu\"\nper_cycle = 1 ", "[units.L1]\nper = \"cu\"\nper_cycle = 16 ");
  const auto banked = [&](const std::string& more) {
    return changed(fast, "evict = \"L1 replaces a block\"\n", "evict = \"L1 replaces a block\"\n" + more);
  };
  constexpr int waves = 32;
  // Cycles a hit, once all blocks are there.
  const auto cycles_of_hit = [&](const std::string& machine, int stride) {
    std::vector<int> blocks;
    for (int i = 0; i < waves; ++i) blocks.push_back(i % 8 * stride);
    const double few = simulate(hits_on(blocks, 100), machine, 1).cycles;
    const double many = simulate(hits_on(blocks, 300), machine, 1).cycles;
    return (many - few) / (200 * waves);
  };
  const std::string eight = banked("banks = 8\nbank_cycles = 4\n");
  CHECK(cycles_of_hit(banked("banks = 1\nbank_cycles = 4\n"), 1) == Approx(4).epsilon(0.01));
  CHECK(cycles_of_hit(eight, 1) == Approx(4.0 / 8).epsilon(0.05));
  CHECK(cycles_of_hit(eight, 2) == Approx(4.0 / 4).epsilon(0.02));
  CHECK(cycles_of_hit(eight, 8) == Approx(4).epsilon(0.01));
  CHECK(cycles_of_hit(banked("banks = 8\nbank_cycles = 4\nbank_index = \"hashed\"\n"), 8) ==
        Approx(4.0 / 8).epsilon(0.05));
  // Each of the 100 loads of each wave looks up, and each block's fill.
  std::vector<int> blocks;
  for (int i = 0; i < waves; ++i) blocks.push_back(i);
  const Statistics s = simulate(hits_on(blocks, 100), eight, 1);
  CHECK(cache(s, "l1").look_ups == 100 * waves + waves);
  CHECK(cache(s, "l1").banks == 8);
  CHECK(cache(s, "l2").banks == 0);
}

TEST_CASE("Caches: banks are held to what they can be") {
  using Catch::Matchers::Contains;
  CHECK(error_of(in_l1("banks = 8\nbank_cycles = 2\nbank_index = \"hashed\"\n")) == "no error");
  CHECK_THAT(error_of(in_l1("banks = 0\n")), Contains("banks = 0 is not between"));
  CHECK_THAT(error_of(in_l1("banks = -8\n")), Contains("'banks' is negative"));
  CHECK_THAT(error_of(in_l1("banks = 6\n")),
             Contains("banks = 6 is not a power of two") && Contains("4 or 8"));
  CHECK_THAT(error_of(in_l1("bank_cycles = 2\n")), Contains("'bank_cycles' without 'banks'"));
  CHECK_THAT(error_of(in_l1("banks = 8\nbank_cycles = 0\n")), Contains("bank_cycles = 0 is not between"));
  CHECK_THAT(error_of(in_l1("banks = 8\nbank_index = \"hash\"\n")),
             Contains("'hash' is unknown as 'bank_index'") && Contains("did you mean 'hashed'?"));
  CHECK_THAT(error_of(in_l1("bank = 8\n")),
             Contains("unknown entry 'bank'") && Contains("did you mean 'banks'?"));
}
