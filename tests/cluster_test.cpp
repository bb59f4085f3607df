// Several ranks find what one process finds, however many they are, and go on from what they kept.
#include <barrier>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "checker/cluster/cluster_search.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "checker/systems/registry.hpp"
#include "spec/kernel/concrete.hpp"

using namespace lockstep;
using cluster::Words;

namespace {

namespace fs = std::filesystem;

// Ranks that are threads of this process.
class Threads {
 public:
  explicit Threads(int size)
      : size_(size),
        met_(size),
        sent_(static_cast<std::size_t>(size)),
        told_(static_cast<std::size_t>(size)) {}

  class Rank final : public cluster::Ranks {
   public:
    Rank(Threads& all, int rank) : all_(all), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return all_.size_; }
    [[nodiscard]] int on_this_machine() const override { return all_.size_; }
    void exchange(const std::vector<Words>& to, std::vector<Words>& from) override {
      all_.sent_[static_cast<std::size_t>(rank_)] = to;
      all_.met_.arrive_and_wait();
      from.clear();
      for (const auto& sent : all_.sent_) from.push_back(sent[static_cast<std::size_t>(rank_)]);
      all_.met_.arrive_and_wait();
    }
    Words all(const Words& mine) override {
      all_.told_[static_cast<std::size_t>(rank_)] = mine;
      all_.met_.arrive_and_wait();
      Words together;
      for (const Words& told : all_.told_) together.insert(together.end(), told.begin(), told.end());
      all_.met_.arrive_and_wait();
      return together;
    }

   private:
    Threads& all_;
    int rank_;
  };

 private:
  int size_;
  std::barrier<> met_;
  std::vector<std::vector<Words>> sent_;
  std::vector<Words> told_;
};

std::unique_ptr<Model> german(int nodes, const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.sizes["node"] = nodes;
  options.faults = faults;
  return find_system("german").build_closed(options);
}

// What each rank finds, or what it throws.
struct Found {
  std::optional<ExploreResult> result;
  std::string refused;
};
std::vector<Found> explored_by(int ranks, const Model& model, const ExploreOptions& options) {
  Threads threads(ranks);
  std::vector<Found> found(static_cast<std::size_t>(ranks));
  {
    std::vector<std::jthread> all;
    for (int r = 0; r < ranks; ++r) {
      all.emplace_back([&, r] {
        Threads::Rank rank(threads, r);
        Found& mine = found[static_cast<std::size_t>(r)];
        try {
          mine.result = cluster::explore(model, options, rank);
        } catch (const BadInput& bad) {
          mine.refused = bad.what();
        } catch (const std::exception& error) {
          mine.refused = std::string("thrown: ") + error.what();
        } catch (const ValueOutOfRange& bad) {
          mine.refused = "out of range: " + std::to_string(bad.value);
        }
      });
    }
  }
  return found;
}

// A number that counts up by one, and what happens when it is `at`.
class Counter final : public Model {
 public:
  enum class What : std::uint8_t { violated, deadlock, broken, out_of_range, logic_error };
  Counter(std::uint64_t at, What what) : at_(at), what_(what) {}

  [[nodiscard]] unsigned state_bits() const override { return 64; }
  void initial(Successors& out) const override {
    *out.add({}) = 0;
    out.fired.resize(1);
    ++out.fired[0];  // as where a thread moves at once
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    out.begin_state();
    out.fired.resize(1);
    out.live = true;
    if (*state == at_) {
      switch (what_) {
        case What::violated:
          out.violated = 0;
          break;
        case What::deadlock:
          out.live = false;
          return;
        case What::broken:
          throw BrokenRule("'counts' (to 3) does what it must not");
        case What::out_of_range:
          throw ValueOutOfRange{7, {0, 3}};
        case What::logic_error:
          throw std::logic_error("a mistake");
      }
    }
    *out.add({}) = *state + 1;
    ++out.fired[0];
  }
  [[nodiscard]] bool proper_end(const std::uint64_t*) const override { return false; }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(const std::uint64_t*) const override {
    return {};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t*, const Firing&) const override {
    return {};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t) const override { return {}; }

 private:
  std::uint64_t at_;
  What what_;
  std::vector<RuleDescription> rules_{1};
  std::vector<std::string> invariants_{"it stays small"};
};

ExploreOptions kept_in(const fs::path& folder) {
  ExploreOptions options;
  options.checkpoint = {folder.string(), R"({"system":"german"})", std::chrono::milliseconds(0)};
  return options;
}

void check_same(const ExploreResult& found, const ExploreResult& expected) {
  CHECK(found.verdict == expected.verdict);
  CHECK(found.states == expected.states);
  CHECK(found.transitions == expected.transitions);
  CHECK(found.depth == expected.depth);
  CHECK(found.fired == expected.fired);
}

}  // namespace

TEST_CASE("any number of ranks find the states, the firings and the depth that one process finds",
          "[threads]") {
  const auto model = german(3);
  const ExploreResult expected = explore(*model, {});
  for (const int ranks : {1, 2, 4, 5}) {
    for (const Found& found : explored_by(ranks, *model, {})) {
      REQUIRE(found.result.has_value());
      check_same(*found.result, expected);
    }
  }
}

TEST_CASE("any number of ranks find a violation by a run as short as there is, and all tell the same",
          "[threads]") {
  for (const Fault& fault : find_system("german").faults) {
    const auto model = german(3, {std::string(fault.name)});
    const ExploreResult expected = explore(*model, {});
    for (const int ranks : {1, 2, 4}) {
      INFO(fault.name << " by " << ranks);
      const std::vector<Found> all = explored_by(ranks, *model, {});
      for (const Found& found : all) {
        REQUIRE(found.result.has_value());
        CHECK(found.result->verdict == Verdict::invariant);
        CHECK(found.result->violated >= 0);
        REQUIRE(found.result->trace.steps.size() == expected.trace.steps.size());
        CHECK(found.result->trace.steps.back().state == all[0].result->trace.steps.back().state);
      }
      // Each step is one of the model's, and the last state is bad.
      Successors successors;
      const Trace& trace = all[0].result->trace;
      for (std::size_t i = 1; i < trace.steps.size(); ++i) {
        successors.clear(model->words());
        model->expand(trace.steps[i - 1].state.data(), successors);
        bool is_there = false;
        for (std::size_t at = 0; at < successors.size(); ++at)
          is_there |=
              successors.firing(at) == trace.steps[i].firing &&
              std::equal(trace.steps[i].state.begin(), trace.steps[i].state.end(), successors.state(at));
        CHECK(is_there);
      }
      successors.clear(model->words());
      successors.begin_state();
      model->expand(trace.steps.back().state.data(), successors);
      CHECK(successors.violated == all[0].result->violated);
    }
  }
}

TEST_CASE("a bad state is told, wherever in the order of states it is", "[threads]") {
  for (const std::uint64_t at : {0U, 5U, 4095U, 4096U}) {
    for (const int ranks : {1, 2}) {
      const Counter counter(at, Counter::What::violated);
      const ExploreResult expected = explore(counter, {});
      for (const Found& found : explored_by(ranks, counter, {})) {
        REQUIRE(found.result.has_value());
        CHECK(found.result->verdict == Verdict::invariant);
        REQUIRE(found.result->trace.steps.size() == at + 1);
        CHECK(found.result->trace.steps.back().state == std::vector<std::uint64_t>{at});
        CHECK(found.result->fired == expected.fired);
      }
    }
  }
  for (const Found& found : explored_by(3, Counter(100, Counter::What::deadlock), {}))
    CHECK(found.result.value().verdict == Verdict::deadlock);
  for (const Found& found : explored_by(3, Counter(100, Counter::What::broken), {})) {
    CHECK(found.result.value().verdict == Verdict::broken);
    CHECK(found.result.value().broken == "'counts' (to 3) does what it must not");
  }
}

TEST_CASE("what one rank throws all throw", "[threads]") {
  for (const Found& found : explored_by(3, Counter(100, Counter::What::out_of_range), {}))
    CHECK(found.refused == "out of range: 7");
  for (const Found& found : explored_by(3, Counter(100, Counter::What::logic_error), {}))
    CHECK_THAT(found.refused,
               Catch::Matchers::StartsWith("thrown: rank ") && Catch::Matchers::EndsWith("a mistake"));
}

TEST_CASE("ranks go on from where they were stopped, wherever that was", "[threads]") {
  const auto model = german(3);
  const ExploreResult expected = explore(*model, {});
  const TemporaryFolder folder;
  const fs::path kept = folder.path() / "kept";
  std::size_t before = 0;
  for (std::size_t limit = 2000;; limit += 5000) {
    ExploreOptions options = kept_in(kept);
    options.state_limit = limit;
    const std::vector<Found> all = explored_by(3, *model, options);
    REQUIRE(all[0].result.has_value());
    CHECK(all[0].result->resumed_from == before);
    before = all[0].result->states;
    if (all[0].result->verdict != Verdict::out_of_memory) {
      for (const Found& found : all) check_same(*found.result, expected);
      break;
    }
  }
  CHECK(before > 5000);
}

TEST_CASE("what ranks kept is refused by other ranks, and where one rank's part is missing or damaged") {
  const auto model = german(3);
  const TemporaryFolder folder;
  const fs::path kept = folder.path() / "kept";
  ExploreOptions options = kept_in(kept);
  options.state_limit = 3000;
  REQUIRE(explored_by(2, *model, options)[0].result.has_value());
  for (const Found& found : explored_by(3, *model, options))
    CHECK_THAT(found.refused, Catch::Matchers::Contains("is of 2 ranks, and these are 3"));
  options.checkpoint.about = R"({"system":"another"})";
  for (const Found& found : explored_by(2, *model, options))
    CHECK_THAT(found.refused, Catch::Matchers::Contains("about another search"));
  options = kept_in(kept);
  std::fstream states(kept / "rank-1" / "states", std::ios::in | std::ios::out | std::ios::binary);
  states.put('\x7f');
  states.close();
  const std::vector<Found> damaged = explored_by(2, *model, options);
  CHECK_THAT(damaged[0].refused, Catch::Matchers::Contains("rank 1: "));
  CHECK_THAT(damaged[1].refused, Catch::Matchers::Contains("does not digest"));
  // Nothing is cut off of what is refused.
  const auto length = fs::file_size(kept / "rank-0" / "states");
  for (const auto& file : fs::directory_iterator(kept / "rank-0")) {
    if (file.path().extension() == ".json") fs::rename(file.path(), kept / "elsewhere");
  }
  for (const Found& found : explored_by(2, *model, options))
    CHECK_THAT(found.refused, Catch::Matchers::Contains("is missing"));
  CHECK(fs::file_size(kept / "rank-0" / "states") == length);
  CHECK_THROWS_WITH(explore(*model, kept_in(kept)), Catch::Matchers::Contains("is of several ranks"));
  const fs::path alone = folder.path() / "alone";
  options = kept_in(alone);
  options.state_limit = 1000;
  explore(*model, options);
  for (const Found& found : explored_by(2, *model, options))
    CHECK_THAT(found.refused, Catch::Matchers::Contains("is of one process"));
}

TEST_CASE("ranks stop together at a limit, and when one of them is told to") {
  const auto model = german(4);
  ExploreOptions options;
  options.memory_limit = 1;
  for (const Found& found : explored_by(2, *model, options))
    CHECK(found.result.value().verdict == Verdict::out_of_memory);
  options = {};
  const std::atomic<bool> interrupted = true;
  options.interrupted = &interrupted;
  for (const Found& found : explored_by(3, *model, options))
    CHECK(found.result.value().verdict == Verdict::interrupted);
}
