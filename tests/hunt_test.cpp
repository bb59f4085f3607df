// Search at random: what it finds is a run of the model that ends as it says, and hardly longer than needed.
#include "checker/explore/hunt.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "checker/explore/bit_table.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

std::unique_ptr<Model> german(int nodes, const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.sizes["node"] = nodes;
  options.faults = faults;
  return find_system("german").build_closed(options);
}

HuntOptions with(std::uint64_t seed, unsigned threads = 1) {
  HuntOptions options;
  options.seed = seed;
  options.threads = threads;
  options.time_limit = std::chrono::minutes(2);
  return options;
}

// Every step is a successor of the one before, by the firing that is named, and the last one is bad.
void check_run(const Model& model, const ExploreResult& found) {
  REQUIRE_FALSE(found.trace.steps.empty());
  Successors successors;
  for (std::size_t i = 0; i < found.trace.steps.size(); ++i) {
    const TraceStep& step = found.trace.steps[i];
    bool is_there = false;
    successors.clear(model.words());
    if (i == 0) {
      model.initial(successors);
    } else {
      model.expand(found.trace.steps[i - 1].state.data(), successors);
      CHECK(successors.violated < 0);
    }
    for (std::size_t at = 0; at < successors.size(); ++at) {
      is_there |= successors.firing(at) == step.firing &&
                  std::equal(step.state.begin(), step.state.end(), successors.state(at));
    }
    CHECK(is_there);
  }
  successors.clear(model.words());
  model.expand(found.trace.steps.back().state.data(), successors);
  CHECK(successors.violated == found.violated);
}

}  // namespace

TEST_CASE("a hunt finds every fault of German's protocol, by a run that is hardly longer than the shortest",
          "[threads]") {
  for (const Fault& fault : find_system("german").faults) {
    INFO(fault.name);
    const auto small = german(3, {std::string(fault.name)});
    const ExploreResult shortest = explore(*small, {});
    REQUIRE(shortest.verdict == Verdict::invariant);
    // The same mistake among more states than anyone visits.
    for (const int nodes : {3, 8}) {
      const auto model = german(nodes, {std::string(fault.name)});
      for (const unsigned threads : {1U, 3U}) {
        const HuntResult result = hunt(*model, with(7, threads));
        REQUIRE(result.found.verdict == Verdict::invariant);
        check_run(*model, result.found);
        CHECK(result.searches >= 1);
        CHECK(result.steps_at_first + 1 >= result.found.trace.steps.size());
        CHECK(result.found.trace.steps.size() <= 2 * shortest.trace.steps.size());
      }
    }
  }
}

TEST_CASE("one thread with one seed hunts in one way, and others in others") {
  const auto model = german(5, {"keep-copy"});
  const HuntResult first = hunt(*model, with(3));
  const HuntResult again = hunt(*model, with(3));
  CHECK(again.found.transitions == first.found.transitions);
  CHECK(again.steps_at_first == first.steps_at_first);
  REQUIRE(again.found.trace.steps.size() == first.found.trace.steps.size());
  for (std::size_t i = 0; i < first.found.trace.steps.size(); ++i)
    CHECK(again.found.trace.steps[i].state == first.found.trace.steps[i].state);
  std::set<std::uint64_t> different;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    different.insert(hunt(*model, with(seed)).found.transitions);
  CHECK(different.size() > 2);
}

TEST_CASE("a hunt that finds nothing says nothing, and fires every rule on the way", "[threads]") {
  const auto model = german(4);
  HuntOptions options = with(1, 2);
  options.time_limit = std::chrono::milliseconds(600);
  const HuntResult result = hunt(*model, options);
  CHECK(result.found.verdict == Verdict::out_of_time);
  CHECK(result.found.trace.steps.empty());
  CHECK(result.found.states > 100);
  CHECK(std::count(result.found.fired.begin(), result.found.fired.end(), 0) == 0);

  // Also where each search is over at once.
  options.deadlocks = false;
  CHECK(hunt(*german(1), options).found.verdict == Verdict::out_of_time);

  const std::atomic<bool> interrupted{true};
  options.interrupted = &interrupted;
  options.time_limit = std::chrono::hours(1);
  CHECK(hunt(*model, options).found.verdict == Verdict::interrupted);
}

TEST_CASE(
    "by bits of states alone a hunt visits more, finds the same mistakes, and says what it may leave out") {
  for (const Fault& fault : find_system("german").faults) {
    const auto model = german(6, {std::string(fault.name)});
    HuntOptions options = with(7);
    options.bit_state = true;
    const HuntResult result = hunt(*model, options);
    REQUIRE(result.found.verdict == Verdict::invariant);
    check_run(*model, result.found);
  }
  const auto model = german(4);
  HuntOptions options = with(1);
  options.time_limit = std::chrono::milliseconds(1500);
  options.memory_limit = std::size_t{1} << 20;
  const HuntResult exact = hunt(*model, options);
  CHECK(exact.omission == 0);
  options.bit_state = true;
  const HuntResult bits = hunt(*model, options);
  CHECK(bits.found.verdict == Verdict::out_of_time);
  CHECK(bits.omission > 0);
  CHECK(bits.omission <= 0.13);
}

TEST_CASE("a table of bits takes hardly a new state for known while it is nearly empty") {
  BitTable table(std::size_t{1} << 20);
  std::size_t lost = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) lost += table.insert(&i, 1) ? 0 : 1;
  // Of 2^23 bits at most 300 000 are set: less than 5 in 100 000.
  CHECK(lost < 20);
  CHECK(table.size() == 100'000 - lost);
  CHECK(table.omission() < 5e-5);
  for (std::uint64_t i = 0; i < 100'000; ++i) REQUIRE_FALSE(table.insert(&i, 1));
  CHECK_FALSE(table.is_full());
}
