// Waves with several accesses under way, and kernels that begin and end once on each CU: known answers.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"
#include "refimpl/workloads/builder.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never_interrupted{false};

// One wave that loads a word of each of so many blocks, or of one block again and again after a store to it.
Workload lone_wave(int accesses, int loads, bool same_word) {
  WorkloadShape shape;
  shape.accesses_per_wave = accesses;
  WorkloadBuilder build("lone wave", shape);
  const ArrayOfWords data = build.array("data", 2 * loads);
  {
    WaveCode code = build.wave(0);
    const std::vector<int> x = code.regs("x", 16);
    for (int i = 0; i < loads; ++i) {
      if (same_word) code.store(data[0], WaveCode::constant(i));
      code.load(at(x, i % 16), data[same_word ? 0 : 2 * i]);
    }
  }
  return build.take();
}

double cycles(int accesses, int loads, bool same_word) {
  const Workload workload = lone_wave(accesses, loads, same_word);
  return simulate("write-through", machine_of(shipped_machine("apu")), workload, 1).cycles;
}

SimulationRequest kernels_on(const std::string& system, int kernels, int cus,
                             const MachineSettings& settings) {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder, settings);
  request.systems = {system};
  request.sizes = {{"words", 64}, {"kernels", kernels}};
  request.options.cus = cus;
  request.options.start_spread = 0;
  return request;
}
Statistics stencil_on(const std::string& system, int kernels, int cus, const MachineSettings& settings = {}) {
  const ComparedRun run =
      run_workload(kernels_on(system, kernels, cus, settings), "stencil", never_interrupted);
  CHECK(run.results.front().end == SimulationEnd::finished);
  CHECK(run.results.front().wrong == 0);
  return run.results.front().statistics;
}

std::uint64_t fences(const Statistics& s) {
  for (const Statistics::Operation& operation : s.operations) {
    if (operation.name == "fence") return operation.count;
  }
  return 0;
}
std::uint64_t firings(const Statistics& s, const std::string& name) {
  for (const Statistics::RuleFirings& rule : s.rules) {
    if (rule.name == name) return rule.firings;
  }
  FAIL("no rule " << name);
  return 0;
}

}  // namespace

TEST_CASE("Waves: misses of a wave that has n under way come n times as often, as Little's law has it") {
  const auto of_miss = [](int accesses) {
    return (cycles(accesses, 400, false) - cycles(accesses, 200, false)) / 200;
  };
  const double alone = of_miss(1);
  // Two links of 10 and 20 cycles, paths back, look-ups, memory's 100 and the transfer of a block.
  CHECK(alone > 180);
  CHECK(alone < 260);
  for (const int n : {2, 4, 8}) CHECK(of_miss(n) == Approx(alone / n).epsilon(0.06));
}

TEST_CASE("Waves: accesses to one word stay in order, and so does what needs their results") {
  CHECK(cycles(8, 100, true) == Approx(cycles(1, 100, true)).epsilon(0.03));
  WorkloadShape shape;
  shape.accesses_per_wave = 4;
  WorkloadBuilder build("order", shape);
  const ArrayOfWords data = build.array("data", 8);
  {
    WaveCode code = build.wave(0);
    const int x = code.reg("x");
    const int y = code.reg("y");
    code.load(x, data[0]);
    code.load(y, data[2]);
    code.add(x, y);                           // needs both
    code.store(data[4], WaveCode::value(x));  // a register at hand
    code.load(y, data[4]);                    // of the same word
    code.load(x, data[6]);                    // needs nothing
    code.store(data[0], WaveCode::constant(1), Order::release, Scope::agent);
    code.load(y, data[2]);
    code.load(x, data[2]);                  // plain loads of a word are free
    code.load(y, data[6]);                  // not before the register has been written
    code.load(x, data[6], Order::relaxed);  // of an atomic of one word in order
  }
  const Program program = build.take().program;
  REQUIRE(program.threads.size() == 5);
  std::vector<std::pair<Opcode, int>> shape_of_code;
  for (const Instruction& i : program.threads.front().code)
    shape_of_code.emplace_back(i.opcode, i.opcode == Opcode::await ? i.a.value : i.slot);
  CHECK(shape_of_code == std::vector<std::pair<Opcode, int>>{{Opcode::load, 1},
                                                             {Opcode::load, 2},
                                                             {Opcode::await, 3},
                                                             {Opcode::arithmetic, 0},
                                                             {Opcode::store, 3},
                                                             {Opcode::await, 4},
                                                             {Opcode::load, 4},
                                                             {Opcode::load, 1},
                                                             {Opcode::await, 9},
                                                             {Opcode::store, 0},
                                                             {Opcode::load, 2},
                                                             {Opcode::load, 3},
                                                             {Opcode::await, 2},
                                                             {Opcode::load, 4},
                                                             {Opcode::await, 12},
                                                             {Opcode::load, 1},
                                                             {Opcode::await, 15}});
}

TEST_CASE(
    "Waves: a kernel synchronizes caches once on each CU at its beginning, and at its end so or by waves") {
  constexpr int kernels = 3, cus = 4, waves = 64 / 4;
  for (const std::string system : {"write-through", "quick-release", "sc", "lab", "halcone"}) {
    INFO(system);
    const Statistics of_cus = stencil_on(system, kernels, cus, {"kernel_end_by=cu"});
    const Statistics of_waves = stencil_on(system, kernels, cus, {"kernel_end_by=wave"});
    CHECK(fences(of_cus) == kernels * (cus + cus));
    CHECK(fences(of_waves) == kernels * (cus + waves));
    CHECK(firings(of_cus, "begins its kernel") == kernels * cus);
  }
}

TEST_CASE("Waves: a kernel's beginning reaches as far as others have written") {
  const auto emptied = [](const std::string& agents) {
    return firings(stencil_on("write-through", 3, 4, {"agents=" + agents}), "acquire invalidates L2");
  };
  CHECK(emptied("1") == 0);
  CHECK(emptied("2") == 3 * 4);
}

TEST_CASE("Waves: another seed starts the waves of a kernel in another order") {
  const auto firings_of = [](std::uint64_t seed) {
    SimulationRequest request = kernels_on("quick-release", 2, 4, {});
    request.options.start_spread = 64;
    request.options.seed = seed;
    return run_workload(request, "stencil", never_interrupted).results.front().statistics.firings;
  };
  std::set<std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) counts.insert(firings_of(seed));
  CHECK(counts.size() > 2);
}

TEST_CASE("Waves: a workload that was made for so many CUs runs on so many") {
  WorkloadShape shape;
  shape.cus = 2;
  const Workload workload = build_workload(find_workload("copy"), shape);
  CHECK_THROWS_WITH(simulate("write-through", machine_of(shipped_machine("apu")), workload, 4),
                    Catch::Contains("'copy' was made for 2 CUs, and the machine has 4"));
}

TEST_CASE("Waves: each kernel is launched so many cycles after what it waits for") {
  for (const std::string system : {"write-through", "quick-release"}) {
    const auto with = [&](int kernels, const std::string& launch) {
      return stencil_on(system, kernels, 4, {"kernel_launch=" + launch}).cycles;
    };
    CHECK(with(3, "5000") - with(3, "0") == Approx(3 * 5000).epsilon(0.01));
    CHECK(with(6, "5000") - with(6, "0") == Approx(6 * 5000).epsilon(0.01));
  }
}

TEST_CASE("Waves: results are right however many accesses are under way") {
  const std::map<std::string, std::map<std::string, int>> sizes{
      {"copy", {{"words", 300}}},
      {"vector-add", {{"words", 300}}},
      {"reduction", {{"words", 300}}},
      {"histogram", {{"words", 200}, {"bins", 8}}},
      {"stencil", {{"words", 100}, {"kernels", 3}}},
      {"message-passing", {{"pairs", 3}, {"rounds", 3}, {"table", 20}}}};
  for (const auto& [workload, given] : sizes) {
    for (const char* accesses : {"1", "2", "7", "31"}) {
      SimulationRequest request =
          kernels_on("write-through", 1, 4, {std::string("accesses_per_wave=") + accesses});
      request.systems = {"write-through", "quick-release", "lab", "halcone"};
      request.sizes = given;
      request.options.jitter = 30;
      const ComparedRun run = run_workload(request, workload, never_interrupted);
      for (const SystemResult& result : run.results) {
        INFO(workload << " on " << result.system << " with " << accesses);
        CHECK(result.end == SimulationEnd::finished);
        CHECK(result.wrong == 0);
      }
    }
  }
}

TEST_CASE("Waves: how many accesses they may have is held to what it can be") {
  using Catch::Matchers::Contains;
  const auto said = [](const std::string& setting) {
    try {
      read_machine(machines_folder + "/apu.toml", machines_folder, {setting});
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(said("accesses_per_wave=31") == "no error");
  CHECK_THAT(said("accesses_per_wave=0"), Contains("accesses_per_wave = 0 is not between 1 and 31"));
  CHECK_THAT(said("accesses_per_wave=32"), Contains("is not between 1 and 31"));
  CHECK_THAT(said("kernel_end_by=cus"), Contains("'cus' is unknown as 'kernel_end_by'"));
  CHECK_THAT(said("kernel_launch=-1"), Contains("'kernel_launch' is negative"));
}
