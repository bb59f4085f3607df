// Caches of the simulator: which sets blocks go to, and what banks let through, on programs whose hits can be
// counted by hand.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never_interrupted{false};

// The APU with as many MSHRs as it takes.
const std::string apu = [] {
  std::string text = shipped_machine("apu");
  for (auto at = text.find("\nmshrs = "); at != std::string::npos; at = text.find("\nmshrs = "))
    text.erase(at, text.find('\n', at + 1) - at);
  return text;
}();

std::string in_l1(const std::string& more) {
  return changed(apu, "evict = \"L1 replaces a block\"\n", "evict = \"L1 replaces a block\"\n" + more);
}

Statistics simulate(const Workload& workload, const std::string& machine, int cus) {
  return simulate("write-through", machine_of(machine), workload, cus);
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

}  // namespace

TEST_CASE("Caches: with modulo 8 CUs use 8 of their L1s' 32 sets, hashed all of them") {
  const auto sets = [](const std::string& text) {
    SimulationRequest request;
    request.machine = machine_of(text);
    request.systems = {"write-through"};
    request.sizes = {{"words", 4096}};
    request.options.cus = 8;
    const ComparedRun run = run_workload(request, "copy", never_interrupted);
    CHECK(run.results.front().wrong == 0);
    const Statistics::Cache& l1 = cache(run.results.front().statistics, "l1");
    CHECK(l1.sets == 32);
    return l1.sets_used;
  };
  CHECK(sets(apu) == 8);
  CHECK(sets(in_l1("set_index = \"hashed\"\n")) == 32);
}

TEST_CASE("Caches: a bank performs one look-up in its turn, and others theirs meanwhile") {
  // Nothing but the cache is to be waited for.
  std::string fast = changed(
      apu, "[units.thread]          # instructions of the waves of one CU\nper = \"cu\"\nper_cycle = 1 ",
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
  // Each of the 100 loads of each wave looks up, and each block's fill; the misses of 16 fit into link1.
  std::vector<int> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(i);
  const Statistics s = simulate(hits_on(blocks, 100), eight, 1);
  CHECK(cache(s, "l1").look_ups == 100 * 16 + 16);
  CHECK(cache(s, "l1").banks == 8);
  CHECK(cache(s, "l2").banks == 0);
}

TEST_CASE("Caches: banks are held to what they can be") {
  using Catch::Matchers::Contains;
  CHECK(machine_error_of(in_l1("banks = 8\nbank_cycles = 2\nbank_index = \"hashed\"\n")) == "no error");
  CHECK_THAT(machine_error_of(in_l1("banks = 0\n")), Contains("banks = 0 is not between"));
  CHECK_THAT(machine_error_of(in_l1("banks = -8\n")), Contains("'banks' is negative"));
  CHECK_THAT(machine_error_of(in_l1("banks = 6\n")),
             Contains("banks = 6 is not a power of two") && Contains("4 or 8"));
  CHECK_THAT(machine_error_of(in_l1("bank_cycles = 2\n")), Contains("'bank_cycles' without 'banks'"));
  CHECK_THAT(machine_error_of(in_l1("banks = 8\nbank_cycles = 0\n")),
             Contains("bank_cycles = 0 is not between"));
  CHECK_THAT(machine_error_of(in_l1("banks = 8\nbank_index = \"hash\"\n")),
             Contains("'hash' is unknown as 'bank_index'") && Contains("did you mean 'hashed'?"));
  CHECK_THAT(machine_error_of(in_l1("bank = 8\n")),
             Contains("unknown entry 'bank'") && Contains("did you mean 'banks'?"));
}

namespace {

std::string with_mshrs(const std::string& machine, const std::string& more) {
  return changed(machine, "evict = \"L1 replaces a block\"\n", "evict = \"L1 replaces a block\"\n" + more);
}
std::uint64_t messages(const Statistics& s, const std::string& way, const std::string& kind) {
  std::uint64_t count = 0;
  for (const Statistics::Messages& m : s.messages) count += m.way == way && m.kind == kind ? m.messages : 0;
  return count;
}
// Waves of one CU, each of which loads blocks of its own, one after the other.
Workload misses_of(int waves, int loads) {
  Workload workload = hits_on(std::vector<int>(static_cast<std::size_t>(waves), 0), 0);
  workload.program.locations.clear();
  for (int w = 0; w < waves; ++w) {
    for (int i = 0; i < loads; ++i) {
      Instruction load;
      load.opcode = Opcode::load;
      load.location = static_cast<int>(workload.program.locations.size());
      load.destination = 0;
      workload.program.locations.push_back({"m", 0, i * waves + w, 0});
      workload.program.threads[static_cast<std::size_t>(w)].code.push_back(load);
    }
  }
  workload.initial.resize(workload.program.locations.size());
  return workload;
}

}  // namespace

TEST_CASE("Caches: waves that miss one block share an MSHR, and one fill serves them") {
  constexpr int waves = 16;
  const Workload one_block = hits_on(std::vector<int>(waves, 5), 1);
  const Statistics without = simulate(one_block, apu, 1);
  CHECK(messages(without, "link1", "read") == waves);
  CHECK(messages(without, "L2 to L1", "fill") == waves);
  const Statistics with = simulate(one_block, with_mshrs(apu, "mshrs = 4\n"), 1);
  CHECK(messages(with, "link1", "read") == 1);
  CHECK(messages(with, "L2 to L1", "fill") == 1);
  CHECK(cache(with, "l1").merged == waves - 1);
  CHECK(cache(with, "l1").mshr_stalls == 0);
  CHECK(with.levels.at("L1").misses == 1);
  CHECK(with.levels.at("L1").hits == waves - 1);
  CHECK(cache(without, "l1").mshrs == 0);
}

TEST_CASE("Caches: so many misses are outstanding as there are MSHRs") {
  constexpr int waves = 16;
  constexpr int loads = 24;
  // A memory that is never the limit, so that every miss takes the same time.
  std::string machine = changed(apu, "bytes_per_cycle = 6.4 ", "bytes_per_cycle = 100000 ");
  machine = changed(machine, "queue = 16 ", "queue = 1024 ");
  const auto cycles = [&](int waves_used, int mshrs) {
    const std::string text = with_mshrs(machine, "mshrs = " + std::to_string(mshrs) + "\n");
    const double few = simulate(misses_of(waves_used, loads), text, 1).cycles;
    return (simulate(misses_of(waves_used, 2 * loads), text, 1).cycles - few) / (loads * waves_used);
  };
  const double alone = cycles(1, 1);
  CHECK(alone > 100);
  // Little's law: so many at once, each for so long. A freed MSHR is taken at once, and what a wave does in
  // between is done by then.
  CHECK(cycles(waves, 1) == Approx(alone).epsilon(0.05));
  CHECK(cycles(waves, 2) == Approx(alone / 2).epsilon(0.05));
  CHECK(cycles(waves, 4) == Approx(alone / 4).epsilon(0.05));
  CHECK(cycles(waves, waves) == Approx(alone / waves).epsilon(0.05));
  const Statistics s = simulate(misses_of(waves, loads), with_mshrs(machine, "mshrs = 2\n"), 1);
  CHECK(cache(s, "l1").mshr_stalls > 0);
  CHECK(cache(s, "l1").merged == 0);
}

TEST_CASE("Caches: programs compute the same with few MSHRs and banks") {
  std::string text = with_mshrs(apu, "mshrs = 1\nbanks = 2\nbank_cycles = 3\n");
  text = changed(text, "evict = \"rL1 replaces a block\"\n",
                 "evict = \"rL1 replaces a block\"\nmshrs = 2\nbanks = 4\n");
  for (const std::string system : {"write-through", "quick-release"}) {
    for (const auto& [workload, sizes] :
         {std::pair{"copy", std::map<std::string, int>{{"words", 400}}},
          std::pair{"stencil", std::map<std::string, int>{{"words", 64}, {"kernels", 3}}},
          std::pair{"reduction", std::map<std::string, int>{{"words", 300}}},
          std::pair{"message-passing", std::map<std::string, int>{{"pairs", 3}}}}) {
      SimulationRequest request;
      request.machine = machine_of(text);
      request.systems = {system};
      request.sizes = sizes;
      request.options.cus = 4;
      const ComparedRun run = run_workload(request, workload, never_interrupted);
      INFO(workload << " on " << system);
      CHECK(run.results.front().end == SimulationEnd::finished);
      CHECK(run.results.front().wrong == 0);
    }
  }
}

TEST_CASE("Caches: MSHRs are held to what they can be") {
  using Catch::Matchers::Contains;
  const auto error = [](const std::string& text) -> std::string {
    try {
      simulate(hits_on({0}, 1), text, 1);
    } catch (const BadInput& problem) {
      return problem.what();
    }
    return "no error";
  };
  CHECK(error(with_mshrs(apu, "mshrs = 4\n")) == "no error");
  CHECK_THAT(error(with_mshrs(apu, "mshrs = 0\n")), Contains("mshrs = 0 is not between"));
  CHECK_THAT(error(with_mshrs(apu, "mshrs = -1\n")), Contains("'mshrs' is negative"));
  CHECK_THAT(error(changed(apu, "evict = \"L2 replaces a block\"\n",
                           "evict = \"L2 replaces a block\"\nmshrs = 4\n")),
             Contains("'l2' has MSHRs, and no rule fetches for it"));
  CHECK_THAT(error(changed(apu, "fetches = \"l1\"", "fetches = \"l3\"")),
             Contains("'l3', which is no cache of write-through"));
  CHECK_THAT(error(changed(apu, "\"read misses L2\" = { ", "\"read misses L2\" = { fetches = \"l2\", ")),
             Contains("'read misses L2' is not asked for by a thread"));
}
