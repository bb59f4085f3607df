// The Task Vector Machine and TREES: what is claimed for every program, what becomes of it when either is
// broken on purpose, the worked example of Table 5.1 row by row, and what its rows leave out.
#include "spec/tasks/trees.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/prover.hpp"
#include "proofs/registry.hpp"
#include "spec/kernel/concrete.hpp"
#include "tests/violated.hpp"

using namespace lockstep;

namespace {

SystemOptions built(const std::string& variant, int cores = 4, const std::string& fault = "") {
  SystemOptions options;
  options.reductions = Reductions::none();
  options.variant = variant;
  options.sizes = {{"core", cores}, {"mask", cores}};
  if (!fault.empty()) options.faults = {fault};
  return options;
}
SystemOptions trees_built(const std::string& variant, int cores = 4, const std::string& fault = "") {
  SystemOptions options = built(variant, cores, fault);
  options.sizes["epoch"] = cores;
  return options;
}

std::string violated(const std::string& system, const SystemOptions& options) {
  return lockstep::violated(*find_system(system).build_closed(options));
}

constexpr const char* runs_otherwise = "an epoch runs what the machine's execution mask says";
constexpr const char* not_empty = "a fork finds its entry empty";
constexpr const char* other_function = "a work-item runs the function that the machine's entry holds";
constexpr const char* races = "no work-item loads what another writes in its epoch";
constexpr const char* map_left = "all maps of an epoch run before the next";
constexpr const char* task_left = "all tasks have ended when the CPU completes";

// TREES, whose rules are fired one by one.
class Runtime {
 public:
  using K = Concrete<trees::Info::Sizes<FullCapacities>>;
  using Protocol = trees::Protocol<K>;
  using State = Protocol::State;

  explicit Runtime(int cores, int variant) : protocol_(kind(cores), 0, variant), rules_(protocol_.k) {
    protocol_.rules(rules_);
    StartList<K, State> start(protocol_.k);
    protocol_.start(start);
    start.values().front().action(&state, nullptr);
  }

  void fire(std::string_view rule, std::initializer_list<int> members = {}) {
    INFO(rule);
    std::array<std::uint8_t, max_parameters> at{};
    std::transform(members.begin(), members.end(), at.begin(),
                   [](int m) { return static_cast<std::uint8_t>(m); });
    const auto found = std::find_if(rules_.values().begin(), rules_.values().end(),
                                    [&](const auto& value) { return value.rule.name == rule; });
    REQUIRE(found != rules_.values().end());
    REQUIRE(found->guard(&state, at.data()));
    found->action(&state, at.data());
  }
  // Launches an epoch; returns the cores that run.
  std::vector<int> launch() {
    fire("pops the join stack and launches an epoch");
    std::vector<int> running;
    for (int c = 0; c < cores(); ++c) {
      if (item(c) != trees::Item::launched) continue;
      fire("loads its entry", {c});
      if (item(c) == trees::Item::running) running.push_back(c);
    }
    return running;
  }
  void fork(int by) { fire("forks a task", {by, state.next.v}); }
  void finish() { fire("sees the end of the epoch"); }

  [[nodiscard]] int cores() const { return protocol_.k.extent<trees::CoreTag>(); }
  [[nodiscard]] trees::Item item(int c) const { return state.slot(core(c)).item.v; }
  // Of the slots up to the last one that is not zero.
  [[nodiscard]] std::vector<int> entries() const {
    std::vector<int> all;
    for (int c = 0; c < cores(); ++c) all.push_back(state.slot(core(c)).entry.v);
    while (!all.empty() && all.back() == 0) all.pop_back();
    return all;
  }
  [[nodiscard]] std::vector<int> join_stack() const {
    std::vector<int> epochs;
    K::for_each_queued(state.stack, [&](const auto& launch) { epochs.push_back(launch.number.v); });
    return epochs;
  }
  [[nodiscard]] bool executes_masks() const {
    bool same = true;
    for (int c = 0; c < cores(); ++c)
      same = same && (item(c) == trees::Item::running) == state.tvm.core(core(c)).due.v;
    return same;
  }

  State state;

 private:
  static K::Ix<trees::CoreTag> core(int c) { return K::constant<trees::CoreTag>(c); }
  static K kind(int cores) {
    K k;
    trees::Info::default_sizes(k.sizes, 0);
    k.sizes.set<trees::CoreTag>(cores);
    k.sizes.set<trees::EpochSlot>(cores);
    k.sizes.set<tvm::MaskTag>(cores);
    return k;
  }

  Protocol protocol_;
  RuleList<K, State> rules_;
};

int variant_number(std::string_view name) {
  const auto& all = trees::variants;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Variant& variant) { return variant.name == name; });
  REQUIRE(found != all.end());
  return static_cast<int>(found - all.begin());
}

// Postorder traversal of Figure 5.3: which tasks there are, by the slots that they come to.
// A forks B and C; B forks D and E, C forks F and a task for nil; D, E and F fork two for nil each.
void run_postorder(Runtime& runtime, const std::vector<int>& running, int first_of_nil) {
  for (const int c : running) {
    const bool nil = c == 6 || c >= first_of_nil;
    if (nil) {
      runtime.fire("ends", {c});
      continue;
    }
    runtime.fork(c);
    runtime.fork(c);
    runtime.fire("joins", {c});
  }
}

}  // namespace

TEST_CASE("The Task Vector Machine runs every program as claimed") {
  for (const int cores : {1, 2, 3, 4}) CHECK(violated("tvm", built("default", cores)).empty());
  const auto model = find_system("tvm").build_closed(built("default"));
  const ExploreResult result = explore(*model, {});
  CHECK(std::count(result.fired.begin(), result.fired.end(), 0U) == 0);
}

TEST_CASE("Every fault of the Task Vector Machine breaks a claim of its own kind") {
  const std::map<std::string, std::string> broken{
      {"joins-above-forks", "a continuation runs when what its task has forked has ended"},
      {"join-not-masked", "masks hold all tasks that have not ended, and nothing else"},
      {"fork-not-masked", "masks hold all tasks that have not ended, and nothing else"},
      {"runs-again", "what has ended is in no mask"},
      {"takes-results", "a fork finds its entry empty"},
      {"completes-early", "all tasks have ended when the machine completes"},
      {"maps-late", "a map is executed before the next epoch begins"},
  };
  CHECK(broken.size() == tvm::faults.size());
  for (const auto& [fault, claim] : broken) {
    INFO(fault);
    CHECK(violated("tvm", built("default", 4, fault)) == claim);
  }
}

TEST_CASE("TREES executes what the machine's masks say, for every program") {
  for (const int cores : {1, 2, 3, 4, 5}) CHECK(violated("trees", trees_built("default", cores)).empty());
  const auto model = find_system("trees").build_closed(trees_built("default"));
  const ExploreResult result = explore(*model, {});
  CHECK(std::count(result.fired.begin(), result.fired.end(), 0U) == 0);
}

TEST_CASE("Which variants of TREES do not") {
  const std::map<std::string, std::string> broken{
      {"default", ""},
      {"keeps-slots", ""},
      {"keeps-entries", runs_otherwise},
      {"as-in-table", not_empty},
      {"padded", races},
      {"padded-atomic", ""},
      // Where work-items are those of the NDRange alone, epoch numbers tell nothing that it does not.
      {"ranges-alone", ""},
      {"as-printed", runs_otherwise},
  };
  CHECK(broken.size() == trees::variants.size());
  for (const auto& [variant, claim] : broken) {
    INFO(variant);
    CHECK(violated("trees", trees_built(variant)) == claim);
  }
}

TEST_CASE(
    "Without epoch numbers a fork that is encoded wrongly runs as another function, or in its own epoch") {
  const std::string claim = violated("trees", trees_built("ranges-alone", 4, "forks-into-this-epoch"));
  CHECK((claim == other_function || claim == runs_otherwise));
}

TEST_CASE("Every fault of TREES breaks a claim") {
  const std::map<std::string, std::string> broken{
      {"forks-into-this-epoch", runs_otherwise},
      {"joins-the-next-epoch", task_left},
      {"forks-below-joins", runs_otherwise},
      {"join-not-told", task_left},
      {"map-not-told", map_left},
      {"map-in-its-epoch", map_left},
      {"emit-keeps-entry", runs_otherwise},
      {"range-one-short", runs_otherwise},
      {"joins-run-forked", task_left},
      {"counter-read-before", not_empty},
  };
  CHECK(broken.size() == trees::faults.size());
  for (const auto& [fault, claim] : broken) {
    INFO(fault);
    CHECK(violated("trees", trees_built("default", 4, fault)) == claim);
  }
}

TEST_CASE("Table 5.1, row by row") {
  Runtime runtime(13, variant_number("as-in-table"));
  using Slots = std::vector<int>;
  struct Row {
    int epoch;
    Slots entries;  // where the row begins, 2 * epoch + function
    int next;       // where it ends
    Slots stack;    // likewise, of joins
  };
  // What the table leaves out are entries of tasks for nil: slot 6 in epochs 2 and 3, and one of the six
  // behind it in epoch 3; here they are zero once they have run. And epochs of forks, which 5.5.5 pushes onto
  // the same stack: they are on its top.
  const std::vector<Row> rows{
      {0, {1}, 3, {0}},
      {1, {2, 3, 3}, 7, {1, 0}},
      {2, {2, 4, 4, 5, 5, 5, 5}, 13, {2, 1, 0}},
      {3, {2, 4, 4, 6, 6, 6, 0, 7, 7, 7, 7, 7, 7}, 7, {2, 1, 0}},
      {2, {2, 4, 4, 6, 6, 6}, 3, {1, 0}},
      {1, {2, 4, 4}, 1, {0}},
      {0, {2}, 0, {}},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    CHECK(runtime.entries() == rows[i].entries);
    const std::vector<int> running = runtime.launch();
    CHECK(runtime.state.epoch.number.v == rows[i].epoch);
    CHECK(runtime.executes_masks());
    if (i < 3) {
      run_postorder(runtime, running, 7);
    } else {
      for (const int c : running) runtime.fire("ends", {c});
    }
    CHECK(runtime.state.join_scheduled.v == (i < 3));
    runtime.finish();
    CHECK(runtime.state.next.v == rows[i].next);
    Slots stack = runtime.join_stack();
    if (i < 3) {
      CHECK(stack.front() == rows[i].epoch + 1);
      stack.erase(stack.begin());
    }
    CHECK(stack == rows[i].stack);
  }
  runtime.fire("completes");
}

TEST_CASE("Repaired, the next free slot moves back to the end of the epoch's slots") {
  Runtime runtime(13, variant_number("default"));
  std::vector<int> next;
  for (int row = 0; row < 7; ++row) {
    const std::vector<int> running = runtime.launch();
    if (row < 3) {
      run_postorder(runtime, running, 7);
    } else {
      for (const int c : running) runtime.fire("ends", {c});
    }
    runtime.finish();
    next.push_back(runtime.state.next.v);
  }
  CHECK(next == std::vector{3, 7, 13, 13, 7, 3, 1});
}

TEST_CASE("As in the table, one continuation forks over the result that another is about to read") {
  for (const std::string_view variant : {"as-in-table", "default"}) {
    INFO(variant);
    Runtime runtime(5, variant_number(variant));
    runtime.launch();
    runtime.fork(0);
    runtime.fork(0);
    runtime.fire("joins", {0});
    runtime.finish();
    CHECK(runtime.launch() == std::vector{1, 2});
    runtime.fork(1);
    runtime.fire("joins", {1});
    runtime.fire("joins", {2});
    runtime.finish();
    CHECK(runtime.launch() == std::vector{3});
    runtime.fire("emits", {3});  // for 1
    runtime.finish();
    CHECK(runtime.launch() == std::vector{1, 2});
    runtime.fork(2);
    CHECK(runtime.state.tvm.overwrites.v == (variant == "as-in-table"));
  }
}

TEST_CASE("As printed, a task for nil of the worked example runs twice") {
  for (const bool repaired : {false, true}) {
    Runtime runtime(13, variant_number(repaired ? "default" : "as-printed"));
    for (int epoch = 0; epoch < 3; ++epoch) {
      run_postorder(runtime, runtime.launch(), 7);
      runtime.finish();
    }
    for (const int c : runtime.launch()) runtime.fire("ends", {c});
    runtime.finish();
    // Epoch 2 again: D, E and F are visited, and in slot 6 is what C forked for nil.
    const std::vector<int> running = runtime.launch();
    CHECK(runtime.state.epoch.number.v == 2);
    CHECK(running == (repaired ? std::vector{3, 4, 5} : std::vector{3, 4, 5, 6}));
    CHECK(runtime.executes_masks() == repaired);
  }
}

TEST_CASE("A map has the CPU launch an epoch in which nothing runs") {
  Runtime runtime(4, variant_number("default"));
  CHECK(runtime.launch() == std::vector{0});
  runtime.fire("schedules a map", {0, 1});
  runtime.fire("ends", {0});
  runtime.finish();
  runtime.fire("runs the maps");
  CHECK(runtime.join_stack() == std::vector{1});
  CHECK(runtime.launch().empty());
  runtime.finish();
  runtime.fire("completes");
}

TEST_CASE("That TREES executes the machine's masks is proved of more cores than are explored", "[prove]") {
  const SystemOptions options = trees_built("default", 6);
  CHECK(prove(*find_proof("trees").build(options, false), {}).proved());
  for (const Variant& variant : trees::variants) {
    INFO(variant.name);
    const SystemOptions small = trees_built(std::string(variant.name));
    const bool refuted = prove(*find_proof("trees").build(small, false), {}).count(ProofStatus::refuted) > 0;
    CHECK(refuted != violated("trees", small).empty());
  }
}
