// The explorer: every reachable state once, the verdicts of its limits, shortest counterexamples whose every
// step is one of the model's, and an exact set of visited states.
#include "checker/explore/explorer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "checker/explore/discoveries.hpp"
#include "checker/explore/key_set.hpp"
#include "checker/explore/state_tree.hpp"
#include "checker/explore/visited.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

using Words = std::vector<std::uint64_t>;

// ---- a model written by hand -----------------------------------------------------------------------------

// A graph whose vertices are the states, each with its number in one word.
struct Graph {
  struct Edge {
    int rule = 0;
    std::uint64_t to = 0;
  };
  std::vector<std::uint64_t> initial{0};
  std::map<std::uint64_t, std::vector<Edge>> edges;
  std::set<std::uint64_t> bad;   // where the invariant does not hold
  std::set<std::uint64_t> ends;  // proper ends
  int rules = 3;                 // the last of them is optional
  unsigned bits = 20;
  std::uint64_t throws_at = ~std::uint64_t{0};
};

class GraphModel final : public Model {
 public:
  explicit GraphModel(Graph graph) : graph_(std::move(graph)) {
    for (int i = 0; i < graph_.rules; ++i) {
      RuleDescription rule;
      rule.name = "rule " + std::to_string(i);
      rule.fairness = i == graph_.rules - 1 ? Fairness::optional : Fairness::fair;
      rules_.push_back(rule);
    }
  }
  [[nodiscard]] unsigned state_bits() const override { return graph_.bits; }
  void initial(Successors& out) const override {
    out.begin_state();
    for (const std::uint64_t state : graph_.initial) *out.add(Firing{}) = state;
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    out.begin_state();
    out.fired.resize(rules_.size());
    if (*state == graph_.throws_at) throw std::runtime_error("the model failed");
    if (graph_.bad.contains(*state)) out.violated = 0;
    const auto found = graph_.edges.find(*state);
    if (found == graph_.edges.end()) return;
    for (const Graph::Edge& edge : found->second) {
      const auto rule = static_cast<std::size_t>(edge.rule);
      out.live |= rules_[rule].fairness == Fairness::fair;
      ++out.fired[rule];
      *out.add(Firing{static_cast<std::uint16_t>(edge.rule), 0, {}}) = edge.to;
    }
  }
  [[nodiscard]] bool proper_end(const std::uint64_t* state) const override {
    return graph_.ends.contains(*state);
  }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const override {
    return {{"vertex", std::to_string(*state)}};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t*, const Firing& firing) const override {
    return {{rules_[firing.rule].name, "", "", {}}};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const override {
    return {{"start " + std::to_string(index), "", "", {}}};
  }

 private:
  Graph graph_;
  std::vector<RuleDescription> rules_;
  std::vector<std::string> invariants_{"the vertex is good"};
};

// A long way to a stuck vertex, 0 - 1 - 2 - 3 - 9, and a short one, 0 - 5 - 9.
Graph two_ways_to_a_dead_end() {
  Graph graph;
  graph.edges[0] = {{0, 1}, {1, 5}};
  graph.edges[1] = {{0, 2}};
  graph.edges[2] = {{0, 3}};
  graph.edges[3] = {{0, 9}};
  graph.edges[5] = {{1, 9}, {0, 0}};
  return graph;
}

// Counts up for ever, two ways from each number.
Graph long_graph(std::uint64_t length) {
  Graph graph;
  for (std::uint64_t i = 0; i < length; ++i) graph.edges[i] = {{0, i + 1}, {1, (i * 7 + 3) % length}};
  graph.edges[length] = {{0, 0}};
  return graph;
}

// ---- the model of German's protocol ----------------------------------------------------------------------

std::unique_ptr<Model> german(int nodes, const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.reductions = Reductions::none();
  options.sizes["node"] = nodes;
  options.faults = faults;
  return find_system("german").build_closed(options);
}

// The least number of steps to a violating state, by a search that shares nothing with the explorer.
std::size_t distance_to_violation(const Model& model) {
  std::set<Words> seen;
  std::vector<Words> level;
  Successors successors;
  const auto take = [&](std::size_t first, std::vector<Words>& next) {
    for (std::size_t i = first; i < successors.size(); ++i) {
      Words state(successors.state(i), successors.state(i) + model.words());
      if (seen.insert(state).second) next.push_back(std::move(state));
    }
  };
  successors.clear(model.words());
  model.initial(successors);
  take(0, level);
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Words> next;
    for (const Words& state : level) {
      successors.clear(model.words());
      model.expand(state.data(), successors);
      if (successors.violated >= 0) return depth;
      take(0, next);
    }
    level = std::move(next);
  }
  throw std::logic_error("nothing is violated");
}

// Each step's state is what its firing leads to from the state before.
void check_enabled(const Model& model, const Trace& trace) {
  REQUIRE_FALSE(trace.steps.empty());
  Successors successors;
  successors.clear(model.words());
  model.initial(successors);
  REQUIRE(trace.initial < successors.size());
  const std::uint64_t* start = successors.state(trace.initial);
  CHECK(trace.steps[0].state == Words(start, start + model.words()));
  for (std::size_t step = 1; step < trace.steps.size(); ++step) {
    INFO("step " << step);
    successors.clear(model.words());
    model.expand(trace.steps[step - 1].state.data(), successors);
    bool found = false;
    for (std::size_t i = 0; i < successors.size(); ++i) {
      const Words after(successors.state(i), successors.state(i) + model.words());
      found |= successors.firing(i) == trace.steps[step].firing && after == trace.steps[step].state;
    }
    CHECK(found);
    CHECK_FALSE(trace.steps[step].narration.empty());
  }
}

}  // namespace

// ---- counting --------------------------------------------------------------------------------------------

TEST_CASE("every reachable state is visited once, and every firing counted") {
  Graph graph;
  graph.initial = {0, 4, 0};
  graph.edges[0] = {{0, 1}, {1, 2}, {0, 1}};  // twice the same
  graph.edges[1] = {{1, 0}, {2, 3}};
  graph.edges[2] = {{0, 2}};  // to itself
  graph.edges[3] = {{2, 3}};
  graph.edges[4] = {{0, 3}};
  graph.edges[7] = {{0, 1}};  // unreachable
  graph.ends = {3};
  const GraphModel model(graph);
  const ExploreResult result = explore(model, {});
  CHECK(result.verdict == Verdict::holds);
  CHECK(result.states == 5);
  CHECK(result.transitions == 8);
  CHECK(result.fired == std::vector<std::uint64_t>{4, 2, 2});
  CHECK(result.depth == 1);
  CHECK(result.state_bits == 20);
  CHECK(result.trace.steps.empty());
}

TEST_CASE("a rule that never fires is counted as such") {
  Graph graph = two_ways_to_a_dead_end();
  graph.rules = 5;
  graph.ends = {9};
  const ExploreResult result = explore(GraphModel(graph), {});
  CHECK(result.fired == std::vector<std::uint64_t>{5, 2, 0, 0, 0});
}

TEST_CASE("the number of threads changes no count", "[threads]") {
  const GraphModel model(long_graph(20'000));
  const ExploreResult alone = explore(model, {});
  CHECK(alone.states == 20'001);
  for (const unsigned threads : {2U, 3U, 5U}) {
    ExploreOptions options;
    options.threads = threads;
    const ExploreResult result = explore(model, options);
    CHECK(result.verdict == Verdict::holds);
    CHECK(result.states == alone.states);
    CHECK(result.transitions == alone.transitions);
    CHECK(result.depth == alone.depth);
    CHECK(result.fired == alone.fired);
  }
}

TEST_CASE("every proper end is handed over once", "[threads]") {
  Graph graph = two_ways_to_a_dead_end();
  graph.edges[2].push_back({0, 11});
  graph.edges[0].push_back({0, 12});
  graph.edges[12] = {{2, 13}};  // only an optional rule leaves this end
  graph.ends = {9, 11, 12, 13, 100};
  const GraphModel model(graph);
  for (const unsigned threads : {1U, 2U}) {
    std::vector<std::uint64_t> ends;
    ExploreOptions options;
    options.threads = threads;
    options.on_end = [&](const std::uint64_t* state) { ends.push_back(*state); };
    CHECK(explore(model, options).verdict == Verdict::holds);
    std::sort(ends.begin(), ends.end());
    CHECK(ends == std::vector<std::uint64_t>{9, 11, 12, 13});
  }
}

// ---- counterexamples -------------------------------------------------------------------------------------

TEST_CASE("a deadlock is found with a shortest trace", "[threads]") {
  const GraphModel model(two_ways_to_a_dead_end());
  for (const unsigned threads : {1U, 2U}) {
    ExploreOptions options;
    options.threads = threads;
    const ExploreResult result = explore(model, options);
    REQUIRE(result.verdict == Verdict::deadlock);
    CHECK(result.violated == -1);
    REQUIRE(result.trace.steps.size() == 3);
    CHECK(result.trace.steps[0].state == Words{0});
    CHECK(result.trace.steps[1].state == Words{5});
    CHECK(result.trace.steps[2].state == Words{9});
    CHECK(result.trace.steps[1].firing.rule == 1);
    check_enabled(model, result.trace);
  }
}

TEST_CASE("where only optional rules are left it is stuck too") {
  Graph graph = two_ways_to_a_dead_end();
  graph.edges[9] = {{2, 0}};
  CHECK(explore(GraphModel(graph), {}).verdict == Verdict::deadlock);
  graph.edges[9].push_back({0, 9});
  CHECK(explore(GraphModel(graph), {}).verdict == Verdict::holds);
}

TEST_CASE("a proper end is no deadlock, and deadlocks may be left aside") {
  Graph graph = two_ways_to_a_dead_end();
  ExploreOptions options;
  options.deadlocks = false;
  CHECK(explore(GraphModel(graph), options).verdict == Verdict::holds);
  graph.ends = {9};
  CHECK(explore(GraphModel(graph), {}).verdict == Verdict::holds);
}

TEST_CASE("a violated invariant is named, with a shortest trace from its own initial state") {
  Graph graph = two_ways_to_a_dead_end();
  graph.initial = {20, 0, 3};
  graph.edges[20] = {{0, 20}};
  graph.bad = {9};
  const GraphModel model(graph);
  const ExploreResult result = explore(model, {});
  REQUIRE(result.verdict == Verdict::invariant);
  CHECK(model.invariants().at(static_cast<std::size_t>(result.violated)) == "the vertex is good");
  CHECK(result.trace.initial == 2);
  REQUIRE(result.trace.steps.size() == 2);
  CHECK(result.trace.steps[0].narration.front().rule == "start 2");
  check_enabled(model, result.trace);

  ExploreOptions options;
  options.invariants = false;
  options.deadlocks = false;
  CHECK(explore(model, options).verdict == Verdict::holds);
}

TEST_CASE("a bad initial state is a counterexample without steps") {
  Graph graph = two_ways_to_a_dead_end();
  graph.bad = {0};
  const ExploreResult result = explore(GraphModel(graph), {});
  REQUIRE(result.verdict == Verdict::invariant);
  CHECK(result.trace.steps.size() == 1);
}

TEST_CASE("a counterexample to German's protocol is as short as any, and every step of it is enabled",
          "[threads]") {
  for (const Fault& fault : find_system("german").faults) {
    INFO(fault.name);
    const auto model = german(2, {std::string(fault.name)});
    const std::size_t least = distance_to_violation(*model);
    for (const unsigned threads : {1U, 2U}) {
      ExploreOptions options;
      options.threads = threads;
      const ExploreResult result = explore(*model, options);
      REQUIRE(result.verdict == Verdict::invariant);
      CHECK(result.trace.steps.size() == least + 1);
      check_enabled(*model, result.trace);
      Successors last;
      last.clear(model->words());
      model->expand(result.trace.steps.back().state.data(), last);
      CHECK(last.violated == result.violated);
    }
  }
}

TEST_CASE("a counterexample's narration tells what each step changed") {
  const auto model = german(2, {"forget-sharer"});
  const ExploreResult result = explore(*model, {});
  REQUIRE(result.verdict == Verdict::invariant);
  for (std::size_t step = 1; step < result.trace.steps.size(); ++step) {
    INFO("step " << step);
    const auto before = model->fields(result.trace.steps[step - 1].state.data());
    const auto after = model->fields(result.trace.steps[step].state.data());
    REQUIRE(result.trace.steps[step].narration.size() == 1);
    std::vector<std::array<std::string, 3>> expected;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) expected.push_back({before[i].first, before[i].second, after[i].second});
    }
    std::vector<std::array<std::string, 3>> told;
    for (const FieldChange& change : result.trace.steps[step].narration.front().changes) {
      told.push_back({change.path, change.before, change.after});
    }
    CHECK(told == expected);
  }
}

TEST_CASE("any number of threads finds the same counterexample, having done the same", "[threads]") {
  for (const Fault& fault : find_system("german").faults) {
    INFO(fault.name);
    const auto model = german(4, {std::string(fault.name)});
    const ExploreResult first = explore(*model, {});
    REQUIRE(first.verdict == Verdict::invariant);
    for (const unsigned threads : {1U, 2U, 3U, 5U}) {
      INFO(threads << " threads");
      ExploreOptions options;
      options.threads = threads;
      const ExploreResult result = explore(*model, options);
      CHECK(result.verdict == first.verdict);
      CHECK(result.states == first.states);
      CHECK(result.transitions == first.transitions);
      CHECK(result.fired == first.fired);
      CHECK(result.depth == first.depth);
      REQUIRE(result.trace.steps.size() == first.trace.steps.size());
      for (std::size_t i = 0; i < first.trace.steps.size(); ++i) {
        CHECK(result.trace.steps[i].firing == first.trace.steps[i].firing);
        CHECK(result.trace.steps[i].state == first.trace.steps[i].state);
      }
    }
  }
}

TEST_CASE("any number of threads hands over the same ends in the same order", "[threads]") {
  const auto ends_of = [](unsigned threads) {
    const GraphModel model(two_ways_to_a_dead_end());
    std::vector<std::uint64_t> ends;
    ExploreOptions options;
    options.threads = threads;
    options.deadlocks = false;
    options.on_end = [&](const std::uint64_t* state) { ends.push_back(*state); };
    explore(model, options);
    return ends;
  };
  const std::vector<std::uint64_t> alone = ends_of(1);
  CHECK(ends_of(2) == alone);
  CHECK(ends_of(4) == alone);
}

TEST_CASE("a shortest way to an end that satisfies a goal is found, whatever is violated on the way") {
  Graph graph = two_ways_to_a_dead_end();
  graph.edges[3].push_back({0, 10});
  graph.ends = {9, 10};
  graph.bad = {5, 2};
  const GraphModel model(graph);
  const auto reach = [&](std::uint64_t vertex) {
    return find_end(model, {}, [vertex](const std::uint64_t* state) { return *state == vertex; });
  };
  CHECK(reach(9).steps.size() == 3);
  CHECK(reach(10).steps.size() == 5);
  check_enabled(model, reach(10));
  CHECK(reach(3).steps.empty());   // no end
  CHECK(reach(42).steps.empty());  // nowhere
}

// ---- limits ----------------------------------------------------------------------------------------------

TEST_CASE("a limit that is reached makes the verdict inconclusive, and says which", "[threads]") {
  const auto model = german(4);
  for (const unsigned threads : {1U, 2U}) {
    INFO(threads << " threads");
    ExploreOptions options;
    options.threads = threads;

    ExploreOptions in_time = options;
    in_time.time_limit = std::chrono::milliseconds(20);
    const ExploreResult late = explore(*model, in_time);
    CHECK(late.verdict == Verdict::out_of_time);
    CHECK(late.states > 0);
    CHECK(late.states < 1'105'434);

    ExploreOptions in_memory = options;
    in_memory.memory_limit = 2'000'000;
    const ExploreResult large = explore(*model, in_memory);
    CHECK(large.verdict == Verdict::out_of_memory);
    CHECK(large.memory > in_memory.memory_limit);
    CHECK(large.memory < 20 * in_memory.memory_limit);

    const std::atomic<bool> interrupted{true};
    ExploreOptions stopped = options;
    stopped.interrupted = &interrupted;
    CHECK(explore(*model, stopped).verdict == Verdict::interrupted);
  }
  CHECK(inconclusive(Verdict::out_of_time));
  CHECK(inconclusive(Verdict::out_of_memory));
  CHECK(inconclusive(Verdict::interrupted));
  CHECK_FALSE(inconclusive(Verdict::deadlock));
  CHECK_FALSE(inconclusive(Verdict::holds));
}

TEST_CASE("limits that are not reached change nothing") {
  const auto model = german(2);
  const std::atomic<bool> interrupted{false};
  ExploreOptions options;
  options.time_limit = std::chrono::hours(1);
  options.memory_limit = std::size_t{1} << 40;
  options.interrupted = &interrupted;
  const ExploreResult result = explore(*model, options);
  CHECK(result.verdict == Verdict::holds);
  CHECK(result.states == 3390);
}

TEST_CASE("an interruption from another thread ends the run", "[threads]") {
  const auto model = german(5);  // far too large to finish meanwhile
  std::atomic<bool> interrupted{false};
  ExploreOptions options;
  options.threads = 2;
  options.interrupted = &interrupted;
  std::jthread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupted = true;
  });
  CHECK(explore(*model, options).verdict == Verdict::interrupted);
}

TEST_CASE("an error in the model ends the run with that error", "[threads]") {
  Graph graph = long_graph(1000);
  graph.throws_at = 500;
  const GraphModel model(graph);
  for (const unsigned threads : {1U, 3U}) {
    ExploreOptions options;
    options.threads = threads;
    CHECK_THROWS_WITH(explore(model, options), "the model failed");
  }
}

TEST_CASE("progress is reported while a run goes on") {
  const auto model = german(5);
  std::vector<Progress> seen;
  std::atomic<bool> interrupted{false};
  ExploreOptions options;
  options.interrupted = &interrupted;
  options.progress = [&](const Progress& progress) {
    seen.push_back(progress);
    interrupted = seen.size() == 2;
  };
  CHECK(explore(*model, options).verdict == Verdict::interrupted);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].states > seen[0].waiting);
  CHECK(seen[0].states < seen[1].states);
  CHECK(seen[0].transitions < seen[1].transitions);
  CHECK(seen[0].depth <= seen[1].depth);
  CHECK(seen[1].seconds > seen[0].seconds);
  CHECK(seen[1].memory >= seen[0].memory);
}

// ---- how states are kept ---------------------------------------------------------------------------------

TEST_CASE("values are numbered as they come, whoever adds them", "[threads]") {
  NumberedValues values;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random() % 2 == 0 ? random() : random() % 30'000;
    const auto [known, is_new] = numbers.try_emplace(value, values.size());
    REQUIRE(values.number_of(value) == known->second);
    REQUIRE(values.value(known->second) == value);
  }
  REQUIRE(values.size() == numbers.size());

  NumberedValues shared;
  std::vector<std::vector<std::uint32_t>> told(3);
  {
    std::vector<std::jthread> threads;
    for (auto& own : told) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < 20'000; ++i) own.push_back(shared.number_of(i * i % 9973 << 40));
      });
    }
  }
  CHECK(told[0] == told[1]);
  CHECK(told[0] == told[2]);
  for (std::uint64_t i = 0; i < 20'000; ++i) REQUIRE(shared.value(told[0][i]) == i * i % 9973 << 40);
}

TEST_CASE(
    "two states have one key if they are equal, and a key gives back its state, in states of any size") {
  for (const unsigned bits : {1U, 2U, 7U, 63U, 64U, 65U, 127U, 128U, 129U, 190U, 256U, 257U, 1000U}) {
    INFO(bits << " bits");
    const std::size_t words = (bits + 63) / 64;
    std::mt19937_64 random(bits);
    StateTree tree(bits);
    std::map<Words, StateKey> keys;
    std::set<StateKey> different;
    StateTree::Batch batch(tree);
    Words origin(words, 0);
    keys.emplace(origin, tree.key_of(origin.data()));
    different.insert(keys.at(origin));
    for (int round = 0; round < 200; ++round) {
      // Some states near one of those that are known.
      auto known = keys.begin();
      std::advance(known, static_cast<std::ptrdiff_t>(random() % keys.size()));
      batch.clear();
      tree.open(known->second, batch);
      REQUIRE(std::equal(known->first.begin(), known->first.end(), batch.state(0)));
      std::vector<std::uint64_t> near;
      std::vector<StateTree::Near> wanted;
      for (std::uint32_t i = 0; i < 20; ++i) {
        Words state = known->first;
        for (std::uint64_t n = random() % 4; n > 0; --n) {
          const std::uint64_t bit = random() % bits;
          state[bit / 64] ^= std::uint64_t{1} << bit % 64;
        }
        near.insert(near.end(), state.begin(), state.end());
        wanted.push_back({i, 0});
      }
      std::vector<StateKey> found;
      tree.keys_of(near.data(), wanted, batch, found);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Words state(near.begin() + static_cast<std::ptrdiff_t>(i * words),
                          near.begin() + static_cast<std::ptrdiff_t>((i + 1) * words));
        REQUIRE(tree.key_of(state.data()) == found[i]);
        const auto [at, is_new] = keys.emplace(state, found[i]);
        REQUIRE(at->second == found[i]);
        if (is_new) REQUIRE(different.insert(found[i]).second);
      }
    }
  }
}

TEST_CASE("the set of keys is exact, at any size and however wide keys get, and lists what it holds") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t count = 100'000;
#else
  constexpr std::uint64_t count = 600'000;
#endif
  // Halves of so many bits: keys lie close together, or far apart.
  for (const auto& [first_bits, second_bits] :
       std::vector<std::pair<unsigned, unsigned>>{{1, 19}, {10, 10}, {16, 16}, {20, 24}, {30, 30}, {30, 2}}) {
    INFO(first_bits << " and " << second_bits << " bits");
    std::mt19937_64 random(first_bits * 31 + second_bits);
    KeySet set;
    std::unordered_set<StateKey> model;
    for (std::uint64_t i = 0; i < count; ++i) {
      // They get wider as more come.
      const auto grown = [&](unsigned bits) {
        const unsigned now = std::min(bits, 8 + static_cast<unsigned>(i * 32 / count));
        return static_cast<std::uint32_t>(random() % (std::uint64_t{1} << now));
      };
      const std::uint32_t first = grown(first_bits);
      const std::uint32_t second = grown(second_bits);
      set.admit(first + 1, second + 1);
      if (set.wants_shards()) set.cut_into_shards();
      const StateKey key = std::uint64_t{first} << 32 | second;
      REQUIRE(set.insert(key) == model.insert(key).second);
    }
    REQUIRE(set.size() == model.size());
    std::size_t listed = 0;
    for (std::size_t shard = 0; shard < set.shards(); ++shard) {
      set.for_each(shard, [&](StateKey key) {
        ++listed;
        if (!model.contains(key) || set.shard_of(set.spot_of(key)) != shard) FAIL("a key that is not there");
      });
    }
    CHECK(listed == model.size());
    for (const StateKey key : model) REQUIRE_FALSE(set.insert(key));
  }
}

TEST_CASE("a million keys that lie close together take few bytes each") {
  KeySet set;
  set.admit(1U << 12, 1U << 13);
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    const std::uint64_t key = i * std::uint64_t{33} % (1U << 25);
    set.insert((key >> 13) << 32 | (key & ((1U << 13) - 1)));
    if (set.wants_shards()) set.cut_into_shards();
  }
  CHECK(set.size() == 1'000'000);
  CHECK(set.memory() < 3'500'000);
}

TEST_CASE("how states were found is told again as it was given, whatever their sizes") {
  std::mt19937_64 random(11);
  Discoveries discoveries;
  std::vector<Discovery> given;
  std::uint64_t parent = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t kind = random() % 20;
    parent += kind == 0 ? random() % (std::uint64_t{1} << 40) : (kind < 4 ? random() % 40 : random() % 3);
    const auto successor = static_cast<std::uint32_t>(random() % 30 == 0 ? random() : random() % 40);
    given.push_back({parent, successor});
    discoveries.add(given.back());
  }
  Discoveries::Cursor cursor(discoveries);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Discovery next = cursor.next();
    REQUIRE(next.parent == given[i].parent);
    REQUIRE(next.successor == given[i].successor);
    if (i % 97 != 0) continue;
    REQUIRE(discoveries.of(i).parent == given[i].parent);
    REQUIRE(discoveries.of(i).successor == given[i].successor);
  }
}

// ---- the visited set -------------------------------------------------------------------------------------

TEST_CASE("the visited set is exact: it holds what was put in, once, in order, whatever its size") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::size_t count = 20'000;
#else
  constexpr std::size_t count = 200'000;
#endif
  // Widths around those of bytes and words; few different values, so that many arrive again.
  for (const unsigned bits : {1U, 7U, 8U, 17U, 63U, 64U, 65U, 70U, 72U, 128U, 190U, 1000U}) {
    INFO(bits << " bits");
    const std::size_t words = (bits + 63) / 64;
    std::mt19937_64 random(bits);
    Visited visited(bits);
    std::set<Words> model;
    std::vector<Words> arrival;
    for (std::size_t i = 0; i < count / 12; ++i) {
      Words state(words, 0);
      for (std::uint64_t& word : state) word = random() % 3 == 0 ? random() : random() % 40;
      if (bits % 64 != 0) state.back() &= (std::uint64_t{1} << (bits % 64)) - 1;
      const auto parent = static_cast<std::uint32_t>(random());
      const std::uint64_t hash = Visited::hash(state.data(), static_cast<unsigned>(words));
      const bool fresh = visited.insert(state.data(), hash, parent);
      REQUIRE(fresh == model.insert(state).second);
      if (!fresh) continue;
      REQUIRE(visited.parent(arrival.size()) == parent);
      arrival.push_back(state);
    }
    REQUIRE(visited.size() == model.size());
    Words copy(words, 0);
    for (std::size_t i = 0; i < arrival.size(); ++i) {
      visited.copy(i, copy.data());
      REQUIRE(copy == arrival[i]);
      const std::uint64_t hash = Visited::hash(copy.data(), static_cast<unsigned>(words));
      REQUIRE_FALSE(visited.insert(copy.data(), hash, 0));
    }
  }
}

TEST_CASE("states that differ in a single bit are different, also when their hashes agree") {
  // The hash is the caller's, so a collision can be made: all states of all widths get the same.
  for (const unsigned bits : {9U, 64U, 70U, 129U}) {
    INFO(bits << " bits");
    const std::size_t words = (bits + 63) / 64;
    Visited visited(bits);
    Words state(words, 0);
    REQUIRE(visited.insert(state.data(), 42, Visited::no_parent));
    for (unsigned bit = 0; bit < bits; ++bit) {
      state[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      CHECK(visited.insert(state.data(), 42, 0));
      CHECK_FALSE(visited.insert(state.data(), 42, 0));
      state[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    }
    CHECK_FALSE(visited.insert(state.data(), 42, 0));
    CHECK(visited.size() == bits + 1);
  }
}

TEST_CASE("the memory of the visited set is that of its states and its index") {
  Visited visited(70);
  CHECK(visited.state_bytes() == 9);
  Words state(2, 0);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    state[0] = i;
    visited.insert(state.data(), Visited::hash(state.data(), 2), 0);
  }
  // 13 bytes a state, in chunks; 5 bytes a slot, at least a third more slots than states.
  CHECK(visited.memory() >= 100'000 * (13 + 5));
  CHECK(visited.memory() <= 100'000 * (13 + 5 * 3) + (1U << 14) * 13);
}
