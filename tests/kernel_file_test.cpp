// Files of kernels: what they compute, on plain arrays and on every memory system; what a wave asks of
// memory, counted by hand; and what is said of files that are none.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "checker/support/process.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/kernels/graph.hpp"
#include "refimpl/kernels/plan.hpp"
#include "refimpl/workloads/kernel_workload.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never_interrupted{false};

using Contents = std::map<std::string, std::vector<std::int32_t>>;

struct Ran {
  Contents before;
  Contents after;
};

// On plain arrays, with so many work-groups of a launch there at once.
Ran on_arrays(const std::string& file, const std::map<std::string, int>& sizes = {}, int places = 1 << 20) {
  kernels::Plan plan = kernels::plan_of(kernels::read_kernel_file(file), sizes, {}, 1);
  for (kernels::Launch& launch : plan.launches) launch.places = std::min(launch.groups, places);
  const auto final = kernels::final_contents(plan, 1'000'000'000).contents;
  Ran ran;
  for (std::size_t a = 0; a < plan.arrays.size(); ++a) {
    ran.before[plan.arrays[a].name.name] = plan.arrays[a].initial;
    ran.after[plan.arrays[a].name.name] = final[a];
  }
  return ran;
}
Ran of_text(const std::string& text, const std::map<std::string, int>& sizes = {}) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.cl").string();
  write_file(file, text);
  return on_arrays(file, sizes);
}
Ran shipped_kernel(const std::string& name, const std::map<std::string, int>& sizes = {}) {
  return on_arrays(kernels::kernel_file_of(name), sizes);
}
std::string error_of(const std::string& text) {
  try {
    of_text(text);
  } catch (const BadInput& error) {
    const Diagnostic& d = error.diagnostic();
    return std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.message;
  }
  return "no error";
}

ComparedRun timed(const std::string& file, const std::vector<std::string>& systems,
                  const MachineSettings& settings, const std::map<std::string, int>& sizes = {},
                  const std::vector<std::string>& faults = {}) {
  SimulationRequest request;
  request.machine = parse_machine(shipped_machine("apu"), "m.toml", machines_folder, settings);
  request.systems = systems;
  request.sizes = sizes;
  request.options.faults = faults;
  request.options.jitter = 20;
  return run_workload(request, file, never_interrupted);
}
ComparedRun timed_text(const std::string& text, const std::vector<std::string>& systems,
                       const MachineSettings& settings) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.cl").string();
  write_file(file, text);
  return timed(file, systems, settings);
}
std::uint64_t operations(const ComparedRun& run, const std::string& name) {
  for (const Statistics::Operation& one : run.results.front().statistics.operations) {
    if (one.name == name) return one.count;
  }
  return 0;
}

// Sizes at which each takes a moment.
const std::map<std::string, std::map<std::string, int>> small{
    {"all-pairs", {{"n", 64}, {"groups", 2}}},
    {"bfs", {{"nodes", 200}, {"levels", 4}}},
    {"bitonic-sort", {{"n", 64}}},
    {"colouring", {{"nodes", 100}, {"rounds", 3}}},
    {"convolution", {{"width", 32}, {"height", 8}}},
    {"fir-filter", {{"n", 512}, {"taps", 4}}},
    {"hotspot", {{"n", 32}, {"steps", 3}}},
    {"independent-set", {{"nodes", 100}, {"rounds", 2}}},
    {"k-means", {{"points", 512}, {"centres", 4}}},
    {"matrix-multiply", {{"n", 32}}},
    {"page-rank", {{"nodes", 128}, {"rounds", 2}}},
    {"pointer-chase", {{"n", 64}, {"rounds", 2}}},
    {"producer-consumer", {{"pairs", 2}, {"messages", 4}}},
    {"radix-sort", {{"n", 128}, {"bits", 4}}},
    {"random-access", {{"words", 64}, {"updates", 1024}}},
    {"saxpy", {{"n", 1024}}},
    {"scan", {{"n", 512}}},
    {"scattered-histogram", {{"n", 1024}, {"bins", 40}}},
    {"shortest-paths", {{"nodes", 100}, {"rounds", 3}}},
    {"sparse-matrix", {{"nodes", 256}}},
    {"stencil-3d", {{"n", 8}}},
    {"transpose", {{"n", 32}}},
    {"xtreme", {{"n", 1024}, {"cus", 4}, {"repeats", 2}, {"which", 2}}},
};

}  // namespace

TEST_CASE("Kernel files: what is shipped computes what it says") {
  SECTION("saxpy") {
    const Ran ran = shipped_kernel("saxpy", {{"n", 1000}, {"a", 7}});
    for (std::size_t i = 0; i < 1000; ++i)
      REQUIRE(ran.after.at("y")[i] == 7 * ran.before.at("x")[i] + static_cast<std::int32_t>(i));
  }
  SECTION("transpose") {
    const Ran ran = shipped_kernel("transpose", {{"n", 48}});
    for (std::size_t y = 0; y < 48; ++y) {
      for (std::size_t x = 0; x < 48; ++x)
        REQUIRE(ran.after.at("to")[x * 48 + y] == ran.before.at("from")[y * 48 + x]);
    }
  }
  SECTION("matrix-multiply") {
    const Ran ran = shipped_kernel("matrix-multiply", {{"n", 32}});
    for (std::size_t y = 0; y < 32; ++y) {
      for (std::size_t x = 0; x < 32; ++x) {
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < 32; ++k)
          sum += ran.before.at("a")[y * 32 + k] * ran.before.at("b")[k * 32 + x];
        REQUIRE(ran.after.at("c")[y * 32 + x] == sum);
      }
    }
  }
  SECTION("sorts") {
    const Ran bitonic = shipped_kernel("bitonic-sort", {{"n", 256}});
    std::vector<std::int32_t> sorted = bitonic.before.at("even");
    std::sort(sorted.begin(), sorted.end());
    // 36 exchanges: the last one writes `even`.
    CHECK(bitonic.after.at("even") == sorted);
    const Ran radix = shipped_kernel("radix-sort", {{"n", 512}, {"bits", 8}});
    sorted = radix.before.at("keys");
    CHECK(*std::max_element(sorted.begin(), sorted.end()) > 200);
    std::sort(sorted.begin(), sorted.end());
    CHECK(radix.after.at("from") == sorted);
  }
  SECTION("scan") {
    const Ran ran = shipped_kernel("scan", {{"n", 1024}});
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < 1024; ++i) {
      sum += ran.before.at("x")[i];
      REQUIRE(ran.after.at("sums")[i] == sum);
    }
  }
  SECTION("filters") {
    const Ran fir = shipped_kernel("fir-filter", {{"n", 200}, {"taps", 5}});
    for (std::size_t i = 0; i < 200; ++i) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < 5; ++k)
        sum += fir.before.at("coefficients")[k] * fir.before.at("signal")[i + k];
      REQUIRE(fir.after.at("out")[i] == sum);
    }
    const Ran image = shipped_kernel("convolution", {{"width", 32}, {"height", 9}});
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 32; ++x) {
        std::int32_t sum = 0;
        for (int dy = -2; dy <= 2; ++dy) {
          for (int dx = -2; dx <= 2; ++dx) {
            if (x + dx < 0 || x + dx >= 32 || y + dy < 0 || y + dy >= 9) continue;
            sum += image.before.at("image")[static_cast<std::size_t>((y + dy) * 32 + x + dx)] *
                   image.before.at("filter")[static_cast<std::size_t>((dy + 2) * 5 + dx + 2)];
          }
        }
        REQUIRE(image.after.at("out")[static_cast<std::size_t>(y * 32 + x)] == sum);
      }
    }
  }
  SECTION("graphs") {
    const auto check_paths = [](const std::string& name, const std::string& array, int rounds, bool weighted,
                                std::int32_t unreached) {
      const Ran ran = shipped_kernel(name, {{"nodes", 300}, {name == "bfs" ? "levels" : "rounds", rounds}});
      const auto& first = ran.before.at("g_first");
      const auto& to = ran.before.at("g_to");
      const auto& weight = ran.before.at("g_weight");
      // By at most so many edges.
      std::vector<std::int32_t> least(300, std::numeric_limits<std::int32_t>::max());
      least[0] = 0;
      for (int round = 0; round < rounds; ++round) {
        std::vector<std::int32_t> next = least;
        for (std::size_t u = 0; u < 300; ++u) {
          if (least[u] == std::numeric_limits<std::int32_t>::max()) continue;
          for (auto e = static_cast<std::size_t>(first[u]); e < static_cast<std::size_t>(first[u + 1]); ++e) {
            auto& there = next[static_cast<std::size_t>(to[e])];
            there = std::min(there, least[u] + (weighted ? weight[e] : 1));
          }
        }
        least = next;
      }
      CHECK(std::count(least.begin(), least.end(), std::numeric_limits<std::int32_t>::max()) < 200);
      for (std::size_t u = 0; u < 300; ++u) {
        const bool reached = least[u] < std::numeric_limits<std::int32_t>::max();
        REQUIRE(ran.after.at(array)[u] == (reached ? least[u] : unreached));
      }
    };
    check_paths("bfs", "level", 3, false, -1);
    check_paths("shortest-paths", "even", 4, true, 1000000);
    const Ran ran = shipped_kernel("all-pairs", {{"n", 64}, {"groups", 3}});
    std::vector<std::int32_t> d = ran.before.at("distance");
    for (std::size_t k = 0; k < 64; ++k) {
      for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j)
          d[i * 64 + j] = std::min(d[i * 64 + j], d[i * 64 + k] + d[k * 64 + j]);
      }
    }
    CHECK(ran.after.at("distance") == d);
    const Ran set = shipped_kernel("independent-set", {{"nodes", 300}, {"rounds", 8}});
    const Ran colours = shipped_kernel("colouring", {{"nodes", 300}, {"rounds", 30}});
    int chosen = 0;
    for (std::size_t u = 0; u < 300; ++u) {
      chosen += set.after.at("chosen")[u];
      CHECK(set.after.at("chosen")[u] + set.after.at("out")[u] == 1);
      CHECK(colours.after.at("even")[u] > 0);
      for (auto e = static_cast<std::size_t>(set.before.at("g_first")[u]);
           e < static_cast<std::size_t>(set.before.at("g_first")[u + 1]); ++e) {
        const auto v = static_cast<std::size_t>(set.before.at("g_to")[e]);
        CHECK(set.after.at("chosen")[u] + set.after.at("chosen")[v] < 2);
        CHECK(colours.after.at("even")[u] != colours.after.at("even")[v]);
      }
    }
    CHECK(chosen > 30);
  }
  SECTION("counts") {
    const Ran ran = shipped_kernel("scattered-histogram", {{"n", 1000}, {"bins", 40}});
    std::vector<std::int32_t> counts(40, 0);
    for (const std::int32_t value : ran.before.at("values")) ++counts[static_cast<std::size_t>(value)];
    CHECK(ran.after.at("counts") == counts);
    const Ran chase = shipped_kernel("pointer-chase", {{"n", 10}, {"rounds", 3}});
    CHECK(chase.after.at("last")[0] == 1);
  }
}

TEST_CASE("Kernel files: C means what it says, lane by lane") {
  // Each work-item by itself, as a function of its number.
  const auto each = [](const std::string& body, const std::function<std::int32_t(std::int32_t)>& meant) {
    const std::string text =
        "global int r[150];\nglobal int d[200] = i * 7 % 13;\nkernel void k(int p) {\n int i = "
        "get_global_id(0);\n int x = 0;\n" +
        body + "\n r[i] = x;\n}\nvoid main() { launch(k, 150, 70, 5); }\n";
    const Ran ran = of_text(text);
    for (std::int32_t i = 0; i < 150; ++i) {
      INFO(body << " of " << i);
      CHECK(ran.after.at("r")[static_cast<std::size_t>(i)] == meant(i));
    }
  };
  each("x = i / 3 % 4 - (i << 2) + (-i >> 1) * 2;",
       [](auto i) { return i / 3 % 4 - (i << 2) + (-i >> 1) * 2; });
  each("x = (i & 12 | 3) ^ ~i; x += p; x *= 3; x -= 1; x &= 1023; x |= 4096; x ^= 7;", [](auto i) {
    std::int32_t x = ((i & 12) | 3) ^ ~i;
    x = ((x + 5) * 3 - 1) & 1023;
    return (x | 4096) ^ 7;
  });
  each("x = (i < 5) + 2 * (i <= 5) + 4 * (i > 7) + 8 * (i >= 7) + 16 * (i == 9) + 32 * (i != 9) + 64 * !i;",
       [](auto i) {
         return (i < 5) + 2 * (i <= 5) + 4 * (i > 7) + 8 * (i >= 7) + 16 * (i == 9) + 32 * (i != 9) +
                64 * (i == 0);
       });
  each("x = min(i, 30) + max(i, 60);", [](auto i) { return std::min(i, 30) + std::max(i, 60); });
  each("if (i % 3 == 0) { x = 1; } else if (i % 3 == 1) x = 2; else { int x = 9; x++; }", [](auto i) {
    return i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 0;
  });
  each("for (int k = 0; k < i; k++) { if (k == 20) break; if (k % 2) continue; x += k; }", [](auto i) {
    std::int32_t x = 0;
    for (int k = 0; k < i && k < 20; ++k) x += k % 2 != 0 ? 0 : k;
    return x;
  });
  each("int k = i; while (k > 0) { int m = k; while (1) { m--; if (m < k / 2) break; x++; } k = k - 10; }",
       [](auto i) {
         std::int32_t x = 0;
         for (int k = i; k > 0; k -= 10) {
           for (int m = k;;) {
             if (--m < k / 2) break;
             ++x;
           }
         }
         return x;
       });
  each("do { x++; if (x == 3) continue; x++; } while (x < i);", [](auto i) {
    std::int32_t x = 0;
    do {
      ++x;
      if (x == 3) continue;
      ++x;
    } while (x < i);
    return x;
  });
  // What && and || leave out is not evaluated: no element 200 is asked for, and nothing divided by 0.
  each("if (i < 100 && d[i + 100] > 3) x = 1; if (i == 0 || 100 / i > 3) x += 2;",
       [](auto i) { return (i < 100 && (i + 100) * 7 % 13 > 3 ? 1 : 0) + (i == 0 || 100 / i > 3 ? 2 : 0); });
  // Parameters, and more variables than a kernel has otherwise.
  const Ran many = of_text(
      "global int r[64];\nglobal int two[500] = random(2) * 2 + random(2);\nkernel void k(int a, int b, int "
      "c, int d) {\n"
      " r[get_global_id(0)] = a * 1000 + b * 100 + c * 10 + d;\n}\n"
      "void main() { int e = 1; int f = 2; int g = 3; launch(k, 64, 64, e, f, g, 4); }\n");
  CHECK(many.after.at("r")[63] == 1234);
  for (std::int32_t n = 0; n < 4; ++n) {
    const auto& drawn = many.after.at("two");
    CHECK(std::count(drawn.begin(), drawn.end(), n) > 80);
  }
  // Who has returned stores nothing more; words are stored whole, so all lanes of a few do.
  const Ran ran = of_text(
      "global padded int r[100];\nkernel void k() {\n int i = get_global_id(0);\n for (int j = 0; j < 3; "
      "j++) {\n"
      "  if (i % 5 == j) return;\n  r[i] += 1;\n }\n r[i] += 10;\n}\nvoid main() { launch(k, 100, 100); }\n");
  for (std::int32_t i = 0; i < 100; ++i)
    CHECK(ran.after.at("r")[static_cast<std::size_t>(i)] == (i % 5 < 3 ? i % 5 : 13));
}

TEST_CASE("Kernel files: lanes of one update go one after the other") {
  const std::string text =
      "global int sums[20];\nglobal padded int last[2];\nglobal int olds[128];\nglobal padded int "
      "swapped[64];\n"
      "kernel void k() {\n int i = get_global_id(0);\n olds[i] = atomic_add(&sums[i % 4], i);\n "
      "atomic_sub(&sums[4], 2);\n"
      " atomic_or(&sums[5], 1 << i % 8);\n atomic_xor(&sums[6], 5);\n atomic_max(&last[0], i);\n "
      "atomic_min(&last[1], -i);\n"
      " if (i < 64) swapped[i] = atomic_cmpxchg(&last[1], -i, 1000 + i);\n}\nvoid main() { launch(k, 64, "
      "64); }\n";
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.cl").string();
  write_file(file, text);
  const Ran ran = on_arrays(file);
  CHECK(ran.after.at("sums")[1] == 16 * (1 + 61) / 2);
  CHECK(ran.after.at("olds")[9] == 1 + 5);
  CHECK(ran.after.at("sums")[4] == -128);
  CHECK(ran.after.at("sums")[5] == 255);
  CHECK(ran.after.at("sums")[6] == 0);
  CHECK(ran.after.at("last")[0] == 63);
  CHECK(ran.after.at("last")[1] == 1063);
  CHECK(ran.after.at("swapped")[62] == -63);
  // A machine's words do the same, with lanes gathered or one by one.
  for (const char* accesses : {"1", "8"}) {
    const ComparedRun run = timed(file, {"sc", "write-through", "quick-release", "remote-atomics"},
                                  {std::string("accesses_per_wave=") + accesses});
    for (const SystemResult& result : run.results) {
      INFO(result.system);
      CHECK(result.end == SimulationEnd::finished);
      CHECK(result.wrong == 0);
    }
  }
}

TEST_CASE("Kernel files: every system computes what plain arrays do, however many accesses are under way") {
  CHECK(small.size() == kernels::shipped_kernel_files().size());
  std::size_t runs = 0;
  for (const std::string& name : kernels::shipped_kernel_files()) {
    for (const char* accesses : {"1", "5", "31"}) {
      const ComparedRun run =
          timed(name, {"write-through", "quick-release", "rfo"},
                {"cus=4", "waves_per_cu=6", std::string("accesses_per_wave=") + accesses}, small.at(name));
      CHECK(run.race.empty());
      for (const SystemResult& result : run.results) {
        INFO(name << " on " << result.system << " with " << accesses);
        CHECK(result.end == SimulationEnd::finished);
        CHECK(result.wrong == 0);
        CHECK(run.checked > 0);
        ++runs;
      }
    }
  }
  CHECK(runs == 9 * small.size());
}

TEST_CASE("Kernel files: the engine overlooks nothing that they do, and does the same again") {
  for (const std::string name : {"radix-sort", "producer-consumer", "independent-set"}) {
    for (const std::string system : {"sc", "write-through", "quick-release", "lab", "halcone", "rfo"}) {
      INFO(name << " on " << system);
      const MachineDescription machine = parse_machine(shipped_machine("apu"), "m.toml", machines_folder,
                                                       {"cus=2", "waves_per_cu=4", "accesses_per_wave=3"});
      SimulationOptions options;
      options.cus = 2;
      WorkloadShape shape = shape_for(machine, options);
      shape.sizes = small.at(name);
      const Workload workload = build_workload(find_workload(name), shape);
      std::vector<std::uint64_t> firings;
      for (const bool looks : {true, false}) {
        const auto simulator = find_timed_system(system, options).build(workload, machine, options);
        while (simulator->run(nullptr, 997) == SimulationEnd::limit) {
          if (looks) REQUIRE(simulator->overlooked().empty());
        }
        firings.push_back(simulator->statistics().firings);
      }
      CHECK(firings.front() == firings.back());
    }
  }
}

TEST_CASE("Kernel files: a fault of a protocol shows in a kernel's results") {
  const ComparedRun run = timed("hotspot", {"write-through"}, {"cus=4", "waves_per_cu=4"},
                                {{"n", 32}, {"steps", 6}}, {"acquire-keeps-l1"});
  CHECK(run.results.front().end == SimulationEnd::finished);
  CHECK(run.results.front().wrong > 0);
}

TEST_CASE("Kernel files: what lanes access is coalesced to words of 64 bytes") {
  const auto loads = [](const std::string& index, const std::string& kind = "int", int items = 64) {
    const std::string text = "global " + kind + " x[4096];\nglobal int y[" + std::to_string(items) +
                             "];\nkernel void k() { int i = get_global_id(0); y[i] = x[" + index +
                             "]; }\nvoid main() { launch(k, " + std::to_string(items) + ", 64); }\n";
    const ComparedRun run = timed_text(text, {"sc"}, {});
    CHECK(operations(run, "store") == static_cast<std::uint64_t>((items + 15) / 16));
    return operations(run, "load");
  };
  CHECK(loads("i") == 4);
  CHECK(loads("i + 1") == 5);
  CHECK(loads("2 * i") == 8);
  CHECK(loads("16 * i") == 64);
  CHECK(loads("5") == 1);
  CHECK(loads("63 - i") == 4);
  CHECK(loads("i", "padded int") == 64);
  CHECK(loads("i", "int", 640) == 40);
  CHECK(loads("i", "int", 70) == 5);
}

TEST_CASE("Kernel files: a wave goes on until it needs what it has loaded") {
  const auto cycles = [](const std::string& body, const std::string& accesses) {
    const std::string text =
        "global int next[4096] = (i + 64) % 4096;\nglobal int y[16];\nkernel void k() {\n" + body +
        "\n}\nvoid main() { launch(k, 16, 16); }\n";
    return timed_text(text, {"write-through"}, {"accesses_per_wave=" + accesses})
        .results.front()
        .statistics.cycles;
  };
  const std::string apart =
      "int a = next[0]; int b = next[64]; int c = next[128]; int d = next[192]; y[get_local_id(0)] = a + b + "
      "c + d;";
  const std::string chained =
      "int at = 0; for (int k = 0; k < 4; k++) at = next[at]; y[get_local_id(0)] = at;";
  const auto longer = [&](const std::string& body, const std::string& accesses) {
    return cycles(body, accesses) - cycles("y[get_local_id(0)] = 1;", accesses);
  };
  CHECK(longer(apart, "4") < 0.4 * longer(apart, "1"));
  CHECK(longer(chained, "4") == Approx(longer(chained, "1")).epsilon(0.2));
}

TEST_CASE("Kernel files: fences and ordered accesses wait for what is under way") {
  // As it is written, whatever time does: what stands behind which await. Loads bring 0.
  const auto awaits_all = [](const std::string& text) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "test.cl").string();
    write_file(file, text);
    SimulationOptions options;
    const Workload workload =
        build_workload(find_workload(file), shape_for(machine_of(shipped_machine("apu")), options));
    const auto& threads = workload.program.threads;
    const auto sender = static_cast<std::size_t>(
        std::find_if(threads.begin(), threads.end(), [](const Thread& t) { return t.name == "K0.P0"; }) -
        threads.begin());
    Thread self = threads[sender];
    const auto source = workload.source();
    std::array<Lanes, 32> registers{};
    std::uint32_t under_way = 0;
    std::size_t place = 1;
    int ordered = 0;
    bool right = true;
    while (source->is_at_mark(static_cast<std::uint32_t>(sender), self, place)) {
      const int from = source->write(static_cast<std::uint32_t>(sender), self,
                                     [&](int r) -> Lanes& { return registers[static_cast<std::size_t>(r)]; });
      if (from >= 0) place = static_cast<std::size_t>(from);
      for (; place < self.code.size() && !source->is_at_mark(static_cast<std::uint32_t>(sender), self, place);
           ++place) {
        const Instruction& i = self.code[place];
        const std::uint32_t slot = i.slot > 0 ? std::uint32_t{1} << static_cast<unsigned>(i.slot - 1) : 0;
        right &= (under_way & slot) == 0;
        under_way |= slot;
        if (i.opcode == Opcode::await) under_way &= ~static_cast<std::uint32_t>(i.a.value);
        const bool orders = i.opcode == Opcode::fence || i.opcode == Opcode::barrier ||
                            i.opcode == Opcode::kernel_end ||
                            (is_memory(i.opcode) && (acquires(i.order) || releases(i.order)));
        if (!orders) continue;
        ++ordered;
        right &= under_way == 0 && i.slot == 0;
      }
    }
    CHECK(ordered > 0);
    return right && under_way == 0;
  };
  const auto handing_on = [](const std::string& send, const std::string& receive) {
    return "global int box[1024];\nglobal padded int flag[1];\nglobal int got[1024];\nkernel void k() {\n "
           "int lane = get_local_id(0);\n"
           " if (get_group_id(0) == 0) {\n  for (int k = 0; k < 16; k++) box[k * 64 + lane] = k + lane;\n" +
           send + "\n } else {\n" + receive +
           "\n  for (int k = 0; k < 16; k++) got[k * 64 + lane] = box[k * 64 + lane];\n }\n}\n"
           "void main() { launch(k, 128, 64); }\n";
  };
  const std::string where = ", memory_scope_all_svm_devices)";
  const std::string spin = "  if (lane == 0) { while (atomic_load_explicit(&flag[0], memory_order_";
  const std::string by_fences = handing_on(
      "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release" + where +
          ";\n  if (lane == 0) atomic_store_explicit(&flag[0], 1, memory_order_relaxed" + where + ";",
      spin + "relaxed" + where +
          " == 0) compute(1); }\n  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire" +
          where + ";");
  const std::string by_flags =
      handing_on("  if (lane == 0) atomic_store_explicit(&flag[0], 1, memory_order_release" + where + ";",
                 spin + "acquire" + where + " == 0) compute(1); }");
  for (const std::string& text : {by_fences, by_flags}) {
    const ComparedRun run = timed_text(text, {"write-through", "quick-release", "remote-atomics"},
                                       {"cus=2", "accesses_per_wave=31"});
    CHECK(run.race.empty());
    CHECK(awaits_all(text));
    for (const SystemResult& result : run.results) {
      INFO(result.system << "\n" << text);
      CHECK(result.end == SimulationEnd::finished);
      CHECK(result.wrong == 0);
    }
  }
}

TEST_CASE("Kernel files: more work-groups than there is room for follow in turn") {
  // With one place for each CU, memory of a work-group is used again by the next.
  const ComparedRun run =
      timed("scan", {"write-through", "quick-release"}, {"cus=2", "waves_per_cu=4"}, {{"n", 2048}});
  for (const SystemResult& result : run.results) {
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.wrong == 0);
  }
  // A wave of the group that goes first reads last.
  const ComparedRun late = timed_text(
      "global int out[512];\nglobal int zero[1];\nlocal int s[128];\nkernel void k() {\n int lane = "
      "get_local_id(0);\n"
      " s[lane] = get_global_id(0);\n barrier(CLK_LOCAL_MEM_FENCE);\n int at = 0;\n"
      " if (lane >= 64) { for (int k = 0; k < 30; k++) at = zero[at]; }\n out[get_global_id(0)] = s[127 - "
      "lane + at];\n}\n"
      "void main() { launch(k, 512, 128); }\n",
      {"write-through"}, {"cus=1", "waves_per_cu=2"});
  CHECK(late.results.front().end == SimulationEnd::finished);
  CHECK(late.results.front().wrong == 0);
  CHECK_THROWS_WITH(timed("scan", {"sc"}, {"waves_per_cu=3"}),
                    Catch::Contains("has 4 waves, and a CU of this machine 3"));
}

TEST_CASE("Kernel files: a race is told, with both places") {
  const auto race_of = [](const std::string& kernel, int items = 256, int group = 64) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "test.cl").string();
    write_file(file,
               "global int x[1024];\nglobal int y[1024];\nglobal padded int flag[16];\nkernel void k() {\n "
               "int i = get_global_id(0);\n" +
                   kernel + "\n}\nvoid main() { launch(k, " + std::to_string(items) + ", " +
                   std::to_string(group) + "); }\n");
    kernels::Plan plan = kernels::plan_of(kernels::read_kernel_file(file), {}, {}, 1);
    for (kernels::Launch& launch : plan.launches) launch.places = launch.groups;
    const auto race = kernels::final_contents(plan, 1'000'000).race;
    if (!race) return std::string("none");
    const auto [first, last] = std::minmax({race->first.line, race->second.line});
    return plan.arrays[static_cast<std::size_t>(race->array)].name.name + " " + std::to_string(first) + " " +
           std::to_string(last);
  };
  CHECK(race_of(" x[i] = i;\n y[i] = x[i];") == "none");
  CHECK(race_of(" x[i] = i;\n y[i] = x[(i + 64) % 256];") == "x 6 7");
  CHECK(race_of(" y[i] = x[i];\n x[(i + 64) % 256] = 1;") == "x 6 7");
  CHECK(race_of(" x[i] = i;\n x[(i + 64) % 256] = 1;") == "x 6 7");
  // Waves of a work-group that meet.
  CHECK(race_of(" x[i] = i;\n barrier(CLK_GLOBAL_MEM_FENCE);\n y[i] = x[(i + 64) % 256];", 256, 256) ==
        "none");
  CHECK(race_of(" x[i] = i;\n barrier(CLK_GLOBAL_MEM_FENCE);\n y[i] = x[(i + 64) % 256];", 256, 128) ==
        "x 6 8");
  CHECK(race_of(" x[i] = i;\n barrier(CLK_GLOBAL_MEM_FENCE);\n y[i] = x[(i + 64) % 256];\n "
                "barrier(CLK_GLOBAL_MEM_FENCE);\n x[i] = 2;",
                256, 256) == "none");
  // Atomics don't race with each other, but with others.
  CHECK(race_of(" atomic_inc(&flag[0]);\n atomic_max(&flag[0], i);") == "none");
  CHECK(race_of(" atomic_inc(&flag[0]);\n if (i == 0) flag[0] = 1;") == "flag 6 7");
  CHECK(race_of(" y[i] = flag[0];\n if (i == 0) atomic_inc(&flag[0]);") == "flag 6 7");
  // Releases and acquires order, relaxed ones do not.
  const auto handed = [&](const std::string& stored, const std::string& loaded) {
    return race_of(
        " if (i < 64) {\n x[i] = 7;\n if (i == 0) atomic_store_explicit(&flag[0], 1, memory_order_" + stored +
            ", memory_scope_device);\n } else {\n if (i == 64) { while (atomic_load_explicit(&flag[0], "
            "memory_order_" +
            loaded + ", memory_scope_device) == 0) compute(1); }\n y[i] = x[i - 64];\n }",
        128);
  };
  CHECK(handed("release", "acquire") == "none");
  CHECK(handed("relaxed", "acquire") == "x 7 11");
  CHECK(handed("release", "relaxed") == "x 7 11");
}

TEST_CASE("Kernel files: races in a work-group's own memory, and orders within it") {
  const auto race_in = [](const std::string& declared, const std::string& kernel, int items, int group,
                          int places) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "test.cl").string();
    write_file(file, declared + "\nkernel void k() {\n int l = get_local_id(0);\n" + kernel +
                         "\n}\nvoid main() { launch(k, " + std::to_string(items) + ", " +
                         std::to_string(group) + "); }\n");
    kernels::Plan plan = kernels::plan_of(kernels::read_kernel_file(file), {}, {}, 1);
    for (kernels::Launch& launch : plan.launches) launch.places = std::min(launch.groups, places);
    return kernels::final_contents(plan, 10'000'000).race.has_value();
  };
  const std::string shared = "local int s[128];\nglobal int out[512];\n";
  CHECK(race_in(shared, "s[l] = l;\n out[get_global_id(0)] = s[127 - l];", 512, 128, 2));
  CHECK_FALSE(race_in(shared,
                      "s[l] = l;\n barrier(CLK_LOCAL_MEM_FENCE);\n out[get_global_id(0)] = s[127 - l];", 512,
                      128, 2));
  // A release and an acquire of the work-group's scope order its own waves, and nobody else's.
  const auto within = [&](int group) {
    const std::string who = group == 128 ? "l" : "get_global_id(0)";
    return race_in(
        "global int x[64];\nglobal padded int flag[1];\nglobal int out[64];\n",
        "if (" + who +
            " < 64) { x[l] = 5; if (l == 0) atomic_store_explicit(&flag[0], 1, memory_order_release, "
            "memory_scope_work_group); } else { if (" +
            who +
            " == 64) { while (atomic_load_explicit(&flag[0], "
            "memory_order_acquire, memory_scope_work_group) == 0) compute(1); } out[" +
            who + " - 64] = x[" + who +
            " - 64]; }\n atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, "
            "memory_scope_device);",
        128, group, 4);
  };
  CHECK_FALSE(within(128));
  CHECK(within(64));
  // Work-groups that follow each other in one place are not ordered by that.
  CHECK(race_in("global int x[64];\n", "x[l] = get_group_id(0);", 128, 64, 1));
  // One work-group after the other, each waits for the one before; two places.
  CHECK_FALSE(race_in(
      "global padded int x[8];\nglobal padded int flag[9] = (i == 0);\n",
      "int g = get_group_id(0);\n if (l == 0) {\n while (atomic_load_explicit(&flag[g], "
      "memory_order_acquire, "
      "memory_scope_device) == 0) compute(1);\n int sum = g;\n if (g > 1) sum += x[g - 2];\n x[g] = sum;\n "
      "atomic_store_explicit(&flag[g + 1], 1, memory_order_release, memory_scope_device);\n}",
      512, 64, 2));
}

TEST_CASE("Kernel files: graphs are made by a rule, or read") {
  const kernels::Graph made = kernels::rmat_graph(1000, 8, 3);
  CHECK(made.nodes() == 1000);
  CHECK(made.edges() > 4000);
  CHECK(made.edges() <= 8000);
  const kernels::Graph grid = kernels::grid_graph(5, 3, 1);
  CHECK(grid.edges() == 2 * (4 * 3 + 5 * 2));
  for (const kernels::Graph& graph : {made, grid}) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> edges;
    for (std::int32_t u = 0; u < graph.nodes(); ++u) {
      for (auto e = graph.first[static_cast<std::size_t>(u)];
           e < graph.first[static_cast<std::size_t>(u) + 1]; ++e) {
        CHECK(edges
                  .emplace(std::pair(u, graph.to[static_cast<std::size_t>(e)]),
                           graph.weight[static_cast<std::size_t>(e)])
                  .second);
      }
    }
    for (const auto& [edge, weight] : edges) CHECK(edges.at({edge.second, edge.first}) == weight);
  }
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "graph").string();
  const auto read = [&](const std::string& text) {
    write_file(file, text);
    return kernels::read_graph(file);
  };
  const auto error = [&](const std::string& text) {
    try {
      read(text);
    } catch (const BadInput& bad) {
      return std::to_string(bad.diagnostic().place.line) + ": " + bad.diagnostic().message;
    }
    return std::string("no error");
  };
  using Numbers = std::vector<std::int32_t>;
  const kernels::Graph matrix =
      read("%%MatrixMarket matrix coordinate integer symmetric\n% words\n3 3 2\n2 1 5\n3 3 6\n");
  CHECK(matrix.first == Numbers{0, 1, 2, 3});
  CHECK(matrix.to == Numbers{1, 0, 2});
  CHECK(matrix.weight == Numbers{5, 5, 6});
  const kernels::Graph pattern = read("%%MatrixMarket matrix coordinate pattern general\r\n2 2 1\r\n1 2\r\n");
  CHECK(pattern.to == Numbers{1});
  CHECK(pattern.weight == Numbers{1});
  const kernels::Graph arcs = read("c words\np sp 3 2\na 3 1 9\na 1 2 4\n");
  CHECK(arcs.first == Numbers{0, 1, 1, 2});
  CHECK(arcs.to == Numbers{1, 0});
  CHECK(arcs.weight == Numbers{4, 9});
  CHECK(error("") == "0: the file is empty");
  CHECK(read("p sp 2 1\n\f\na 1 2 3\n").to == Numbers{1});
  CHECK(read("%%MatrixMarket Matrix Coordinate Pattern General\n2 2 1\n1 2\n").to == Numbers{1});
  CHECK(error("hello\n") == "1: this is no graph that is known here");
  CHECK(error("%%MatrixMarket matrix array real general\n2 2\n") ==
        "1: only matrices of coordinates are graphs");
  CHECK(error("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n") ==
        "2: a graph's matrix has as many columns as rows");
  CHECK(error("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n") ==
        "3: the file ends after 1 of 2 entries");
  CHECK(error("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n") ==
        "3: 3 is not between 1 and 2");
  CHECK(error("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n") == "3: 'x' is no weight");
  CHECK(error("p sp 2 2\na 1 2 3\n") == "2: the file ends after 1 of 2 arcs");
  CHECK(error("p sp 2 1\na 1 2 3\na 2 1 3\n") == "3: there is more than 1 arcs");
  CHECK(error("p sp 2 1\na 1 -2 3\n") == "2: -2 is not between 1 and 2");
}

TEST_CASE("Kernel files: what is none is refused with its place") {
  const std::string launch = "void main() { launch(k, 64, 64); }\n";
  const auto in_kernel = [&](const std::string& body) {
    return error_of(
        "size n = 4;\nglobal int x[64];\nlocal int s[4];\nkernel void k() { int i = get_global_id(0);\n" +
        body + "\n}\n" + launch);
  };
  CHECK(error_of("") == "0:0: the file is empty");
  CHECK(error_of("what x;\n") == "1:1: unknown word for a declaration 'what'");
  CHECK(error_of("global int x;\n") == "1:13: expected '[', found ';'");
  CHECK(error_of("globl int x[4];\n") == "1:1: unknown word for a declaration 'globl'");
  CHECK(error_of("global int x[0];\n" + launch) == "1:12: x has 0 elements");
  CHECK(error_of("global int x[4];\nglobal int x[4];\n") == "2:12: 'x' is declared twice");
  CHECK(error_of("size n 4;\n") == "1:8: expected '=', found '4'");
  CHECK(error_of("kernel void k() { }\n").find("launches nothing") != std::string::npos);
  CHECK(error_of("kernel void k() { }\nvoid main() { launch(j, 1, 1); }") == "2:22: unknown kernel 'j'");
  CHECK(error_of("kernel void k(int a) { }\nvoid main() { launch(k, 1, 1); }") ==
        "2:22: k has 1 parameter, not 0");
  CHECK(error_of("kernel void k() { }\nvoid main() { launch(k, 0, 1); }") ==
        "2:15: 0 work-items are launched");
  CHECK(error_of("kernel void k() { }\nvoid main() { launch(k, 10, 2000); }") ==
        "2:15: work-groups of 2000 work-items");
  CHECK(error_of("kernel void k() { }\nvoid main() { while (1) { } }") ==
        "2:6: main does not end after 10000000 steps");
  CHECK(error_of("graph g = ring(4, 4);\n" + launch) == "1:11: a graph is made by a rule");
  CHECK(in_kernel("x[i] = j;") == "5:8: unknown variable 'j'");
  CHECK(in_kernel("y[i] = 1;") == "5:1: unknown array 'y'");
  CHECK(in_kernel("n = 1;") == "5:1: 'n' is a size, which stays as it is");
  CHECK(in_kernel("x = 1;") == "5:1: 'x' is an array");
  CHECK(in_kernel("int i = 1;") == "5:5: 'i' is declared twice");
  CHECK(in_kernel("break;") == "5:1: 'break' is within no loop");
  CHECK(in_kernel("atomic_ad(&x[0], 1);") == "5:1: unknown function 'atomic_ad'");
  CHECK(in_kernel("atomic_add(x[0], 1);") == "5:12: atomic_add takes an address first");
  CHECK(in_kernel("get_global_id(1);") == "5:15: work-items have one dimension");
  CHECK(in_kernel("atomic_store_explicit(&x[0], 1, memory_order_relase);") ==
        "5:33: unknown memory order 'memory_order_relase'");
  CHECK(in_kernel("x[i + 1] = 1;") == "5:10: work-item 63 accesses x[64], and x has 64 elements");
  CHECK(in_kernel("x[i] = 1 / (i - 3);") == "5:10: division by zero");
  CHECK(in_kernel("s[i] = 1;") == "5:6: work-item 4 accesses s[4], and s has 4 elements");
  CHECK(in_kernel("atomic_fetch_add(&s[0], 1);") ==
        "5:1: barriers order a work-group's own memory here, and atomics there are relaxed");
  CHECK(in_kernel("atomic_store_explicit(&x[0], 1, memory_order_acquire);") ==
        "5:1: a store does not acquire");
  CHECK(in_kernel("atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_relaxed);") ==
        "5:1: a fence acquires, releases, or both");
  CHECK(error_of("global int x[4];\nkernel void k(int x) { }\n") == "2:19: 'x' is declared outside already");
  CHECK(error_of("global int g_to[4];\ngraph g = grid(2, 2);\n") ==
        "2:7: 'g_to' is of this graph, and declared already");
  CHECK(error_of("kernel void k() {\n if (get_local_id(0) < 64) {\n  for (int i = 0; i < 2; i++)\n   "
                 "barrier(CLK_LOCAL_MEM_FENCE);\n }\n}\nvoid main() { launch(k, 128, 128); }\n") ==
        "4:4: work-group 0 does not come to this barrier as a whole: wave 1 of it has ended");
  CHECK(in_kernel("x[i] = 1") == "6:1: expected an operator or ';', found '}'");
  // Only a machine's words are in the way of these.
  const auto on_machine = [&](const std::string& body) {
    try {
      timed_text("global int x[64];\nkernel void k() { int i = get_global_id(0);\n" + body + "\n}\n" + launch,
                 {"sc"}, {});
    } catch (const BadInput& error) {
      return std::to_string(error.diagnostic().place.line) + ": " + error.diagnostic().message;
    }
    return std::string("no error");
  };
  CHECK(on_machine("if (i % 2) x[i] = 1;") ==
        "3: a wave stores 8 of the 16 elements of x from 0 on, and words of 64 bytes are the least that is "
        "stored here");
  CHECK(on_machine("atomic_max(&x[0], i);") ==
        "3: exchanges, minima and maxima are of whole words of 64 bytes here, of which x has several "
        "elements in each");
  // All of a launch's work-groups have to be there for one to wait for another.
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "test.cl").string();
  write_file(file,
             "global int x[1];\nkernel void k() {\n if (get_group_id(0) == 1) atomic_inc(&x[0]);\n"
             " while (atomic_add(&x[0], 0) == 0) compute(1);\n}\nvoid main() { launch(k, 128, 64); }\n");
  kernels::Plan plan = kernels::plan_of(kernels::read_kernel_file(file), {}, {}, 1);
  plan.launches.front().places = 2;
  CHECK_NOTHROW(kernels::final_contents(plan, 1'000'000));
  plan.launches.front().places = 1;
  CHECK_THROWS_WITH(kernels::final_contents(plan, 1'000'000), Catch::Contains("k does not end"));
}
