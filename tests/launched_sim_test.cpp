// Launches with time: every state that the simulator visits is one that the explorer reaches under the same
// sequence, results are right, wrong where the protocol is broken, and a run depends on nothing but its seed.
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "refimpl/launch_engine.hpp"
#include "refimpl/launched.hpp"
#include "spec/memory/cpcoh.hpp"

using namespace lockstep;

namespace {

using Engine = LaunchEngine<cpcoh::Info>;
using Fields = std::map<std::string, std::string>;

const std::atomic<bool> uninterrupted{false};

ChipletMachine shipped() {
  return read_chiplet_machine(LOCKSTEP_SOURCE_DIR "/refimpl/machines/chiplets.toml");
}

// Two pages of one array, a part for each chiplet, then both for one of them, without labels, and changed.
LaunchWorkload small() {
  LaunchWorkload workload;
  Launches& l = workload.launches;
  l.structures = {"A"};
  l.words = 2;
  l.chiplets = 2;
  const auto labelled = [&](std::vector<LaunchLabel> labels) {
    Launch launch;
    launch.labels = std::move(labels);
    l.launches.push_back(launch);
  };
  labelled({{0, true, 0, 0}, {0, true, 1, 1}});
  labelled({{0, true, 0, 0}, {0, true, 0, 1}});
  Launch unlabelled;
  unlabelled.kind = Launch::Kind::unlabelled;
  l.launches.push_back(unlabelled);
  labelled({{0, true, 1, 0}, {0, true, 0, 1}});
  workload.tasks = {{{0, 0, {{0, 3}}}, {1, 1, {{1, 5}}}},
                    {{0, 0, {{0, 1}, {1, 1}}}, {0, 1, {{1, 7}}}},
                    {{1, 0, {{0, 2}}}, {0, 1, {{1, 3}}}},
                    {{1, 0, {{0, 1}}}, {0, 1, {{1, 1}}}}};
  workload.initial = {1, 1};
  workload.expected = {16, 105};
  return workload;
}

Fields fields_of(const Engine::State& s) {
  Fields all;
  const auto name = [](const std::string& table, std::initializer_list<std::uint32_t> index) {
    std::string text;
    for (const std::uint32_t i : index) text += (text.empty() ? "" : ",") + std::to_string(i);
    return table + "(" + text + ")";
  };
  for (std::uint32_t w : {0U, 1U}) {
    all[name("memory", {w}) + ".outdated"] = s.memory.at(w).outdated.text();
    all[name("memory", {w}) + ".writer"] = s.memory.at(w).writer.text();
    all[name("memory", {w}) + ".home"] = s.memory.at(w).home.text();
    for (std::uint32_t c : {0U, 1U}) {
      all[name("l2", {c, w}) + ".copy"] = s.l2.at(c, w).copy.text();
      all[name("l2", {c, w}) + ".read"] = s.l2.at(c, w).read.text();
      all[name("range", {0U, c, w})] = s.range.at(0U, c, w).text();
      all[name("label", {0U, c, w})] = s.label.at(0U, c, w).text();
    }
  }
  for (std::uint32_t c : {0U, 1U}) {
    all[name("entry", {0U, c})] = s.entry.at(0U, c).text();
    all[name("local", {c}) + ".acquire"] = s.local.at(c).acquire.text();
    all[name("local", {c}) + ".release"] = s.local.at(c).release.text();
  }
  all["indexed_by(0)"] = s.indexed_by.at(0U).text();
  all["mode(0)"] = s.mode.at(0U).text();
  all["unlabelled"] = s.unlabelled.text();
  all["host"] = s.host.text();
  all["phase"] = s.phase.text();
  return all;
}

// Every state that the explorer reaches under the workload's launches, and the host's reads at its end.
std::set<Fields> explored(const LaunchWorkload& workload, const std::string& variant) {
  auto launches = std::make_shared<Launches>(workload.launches);
  Launch reads;
  reads.kind = Launch::Kind::host_reads;
  reads.structure = 0;
  launches->launches.push_back(reads);
  SystemOptions options;
  options.variant = variant;
  options.reductions = Reductions::none();
  const auto model = find_system("cpcoh").build_launched(launches, options);
  std::set<Fields> states;
  std::set<std::vector<std::uint64_t>> seen;
  std::vector<std::vector<std::uint64_t>> waiting;
  Successors out;
  const auto take_in = [&] {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::vector<std::uint64_t> state(out.state(i), out.state(i) + model->words());
      if (!seen.insert(state).second) continue;
      Fields fields;
      const std::string part = "memory.";
      for (const auto& [path, value] : model->fields(state.data())) {
        // No kernel goes on beside another here, and L1s are left out.
        if (path.starts_with(part) && !path.starts_with(part + "beside") && !path.starts_with(part + "l1"))
          fields[path.substr(part.size())] = value;
      }
      states.insert(std::move(fields));
      waiting.push_back(std::move(state));
    }
  };
  out.clear(model->words());
  model->initial(out);
  take_in();
  while (!waiting.empty()) {
    const std::vector<std::uint64_t> state = std::move(waiting.back());
    waiting.pop_back();
    out.clear(model->words());
    model->expand(state.data(), out);
    take_in();
  }
  return states;
}

ComparedRun compared(const std::string& workload, const std::vector<std::string>& systems,
                     const std::vector<std::string>& faults = {}, std::map<std::string, int> sizes = {}) {
  SimulationRequest request;
  request.systems = systems;
  request.options.faults = faults;
  request.sizes = std::move(sizes);
  request.sizes.try_emplace("pages", 16);
  return run_launched_workload(shipped(), request, workload, uninterrupted);
}

std::uint64_t count(const SystemResult& result, const std::string& operation) {
  for (const Statistics::Operation& o : result.statistics.operations) {
    if (o.name == operation) return o.count;
  }
  FAIL("no operation " + operation);
  return 0;
}

std::string refusal(const std::string& text) {
  try {
    parse_chiplet_machine(text, "m.toml");
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a simulated launch visits only states that the explorer reaches, whatever the caches hold") {
  const LaunchWorkload workload = small();
  const std::string variant = GENERATE("default", "as-drawn", "keep-dirty", "baseline");
  const std::uint64_t held = GENERATE(1U, 2U);
  INFO(variant << ", an L2 of " << held << " pages");
  ChipletMachine machine = shipped();
  machine.l2.bytes = held * machine.page_bytes;
  SimulationOptions options;
  options.variant = variant;
  const std::set<Fields> states = explored(workload, variant);
  REQUIRE(states.size() > 100);
  Engine engine(workload, machine, options);
  std::set<Fields> visited;
  engine.on_firing = [&] {
    const Fields now = fields_of(engine.state());
    visited.insert(now);
    CHECK(states.contains(now));
  };
  CHECK(engine.run(uninterrupted) == SimulationEnd::finished);
  CHECK(visited.size() > 20);
}

TEST_CASE(
    "data go where the rules move copies: a small sequence computes what it should, as drawn it does not") {
  const LaunchWorkload workload = small();
  for (const std::string variant : {"default", "keep-dirty", "baseline"}) {
    INFO(variant);
    SimulationOptions options;
    options.variant = variant;
    const ChipletMachine machine = shipped();
    Engine engine(workload, machine, options);
    engine.run(uninterrupted);
    CHECK(engine.page(0) == workload.expected[0]);
    CHECK(engine.page(1) == workload.expected[1]);
  }
  SimulationOptions options;
  options.variant = "as-drawn";
  const ChipletMachine machine = shipped();
  Engine engine(workload, machine, options);
  engine.run(uninterrupted);
  CHECK((engine.page(0) != workload.expected[0] || engine.page(1) != workload.expected[1]));
}

TEST_CASE("both workloads end with the right results on CPCoh and its baseline") {
  for (const std::string workload : {"babelstream", "stencil"}) {
    for (const int chiplets : {1, 2, 4}) {
      const ComparedRun run =
          compared(workload, {"cpcoh/baseline", "cpcoh", "cpcoh/keep-dirty"}, {}, {{"chiplets", chiplets}});
      INFO(workload << " on " << chiplets);
      CHECK(run.checked == 48);
      for (const SystemResult& result : run.results) {
        INFO(result.system);
        CHECK(result.end == SimulationEnd::finished);
        CHECK(result.wrong == 0);
      }
      CHECK(exit_status_of({run}) == 0);
    }
  }
}

TEST_CASE("a protocol that is broken leaves wrong results") {
  for (const std::string fault : {"no-acquire", "no-release-for-reader", "host-unseen"}) {
    INFO(fault);
    const ComparedRun run = compared("stencil", {"cpcoh"}, {fault});
    CHECK(run.results.front().wrong > 0);
    CHECK(exit_status_of({run}) == 1);
  }
}

TEST_CASE(
    "where chiplets stay with their parts CPCoh issues nothing until the host reads, the baseline always") {
  const ComparedRun run = compared("babelstream", {"cpcoh/baseline", "cpcoh"}, {}, {{"rounds", 2}});
  const SystemResult& baseline = run.results[0];
  const SystemResult& cpcoh = run.results[1];
  // Four chiplets, eight kernels.
  CHECK(count(baseline, "acquire") == 32);
  CHECK(count(baseline, "release") == 32);
  CHECK(count(cpcoh, "acquire") == 0);
  CHECK(count(cpcoh, "release") == 4);
  CHECK(cpcoh.statistics.lines_invalidated == 0);
  // Each page once in, and each that is dirty once out.
  CHECK(cpcoh.statistics.bytes_on("L3 to L2") == 48 * 65536);
  CHECK(cpcoh.statistics.bytes_on("L2 to L3") == 48 * 65536);
  CHECK(baseline.statistics.bytes_on("L3 to L2") > 4 * cpcoh.statistics.bytes_on("L3 to L2"));
  CHECK(cpcoh.statistics.drained < baseline.statistics.drained);
}

TEST_CASE("a run of launches depends on nothing but its seed") {
  const auto figures = [] {
    SimulationRequest request;
    request.systems = {"cpcoh"};
    request.sizes = {{"pages", 16}};
    const ComparedRun run = run_launched_workload(shipped(), request, "stencil", uninterrupted);
    return comparison_json(request.machine.name, {run}).dump();
  };
  CHECK(figures() == figures());
}

TEST_CASE("workloads of launches and machines of chiplets tell what does not fit") {
  CHECK_THROWS_WITH(compared("babelstraem", {"cpcoh"}), Catch::Contains("did you mean 'babelstream'?"));
  CHECK_THROWS_WITH(compared("stencil", {"cpcoh/home-served"}), Catch::Contains("is not simulated"));
  CHECK_THROWS_WITH(compared("stencil", {"cpcoh/l1s"}), Catch::Contains("are not simulated"));
  CHECK_THROWS_WITH(compared("stencil", {"cpcoh"}, {}, {{"page", 16}}),
                    Catch::Contains("did you mean 'pages'?"));
  CHECK_THROWS_WITH(compared("stencil", {"cpcoh"}, {}, {{"pages", 2}}),
                    Catch::Contains("cannot be shared out"));
  CHECK_THROWS_WITH(compared("stencil", {"cpcoh"}, {}, {{"pages", 4096}}),
                    Catch::Contains("more than the L3"));
  CHECK(refusal("name = 'x'\ngigahertz = 1\nchiplets = 0\n").find("m.toml:3") != std::string::npos);
  CHECK(refusal("name = 'x'\n").find("'gigahertz' is missing") != std::string::npos);
}
