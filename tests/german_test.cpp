// German's protocol: the counts that are its specification as a yardstick (bench/german/README.md), and what
// becomes of its properties when it is broken on purpose.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int largest = 3;
#else
constexpr int largest = 4;
#endif

std::unique_ptr<Model> german(int nodes, const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.reductions = Reductions::none();
  options.sizes["node"] = nodes;
  options.faults = faults;
  return find_system("german").build_closed(options);
}

ExploreResult run(const Model& model, unsigned threads = 1) {
  ExploreOptions options;
  options.threads = threads;
  return explore(model, options);
}

struct Counts {
  std::size_t states;
  std::uint64_t firings;
};
const std::map<int, Counts> published{{2, {3390, 9912}}, {3, {58'104, 235'872}}, {4, {1'105'434, 5'922'288}}};

}  // namespace

TEST_CASE("German's protocol holds, with exactly the states and firings that Murphi and SPIN count") {
  for (int nodes = 2; nodes <= largest; ++nodes) {
    INFO(nodes << " nodes");
    const auto model = german(nodes);
    const ExploreResult result = run(*model);
    CHECK(result.verdict == Verdict::holds);
    CHECK(result.states == published.at(nodes).states);
    CHECK(result.transitions == published.at(nodes).firings);
    CHECK(std::count(result.fired.begin(), result.fired.end(), 0U) == 0);
    // Of the 70 bits at four nodes nine bytes are stored; the rest is the parent's number and the index.
    if (nodes == 4) CHECK(static_cast<double>(result.memory) <= 32 * static_cast<double>(result.states));
  }
}

TEST_CASE("German's counts are the same with two threads and with three", "[threads]") {
  for (const unsigned threads : {2U, 3U}) {
    for (int nodes = 2; nodes <= std::min(largest, 3); ++nodes) {
      INFO(nodes << " nodes, " << threads << " threads");
      const auto model = german(nodes);
      const ExploreResult alone = run(*model);
      const ExploreResult shared = run(*model, threads);
      CHECK(shared.verdict == Verdict::holds);
      CHECK(shared.states == published.at(nodes).states);
      CHECK(shared.transitions == published.at(nodes).firings);
      CHECK(shared.depth == alone.depth);
      CHECK(shared.fired == alone.fired);
    }
  }
}

TEST_CASE("every mistake in German's protocol violates the property that it should") {
  const std::map<std::string, std::string> violated{
      {"grant-without-invalidating", "an exclusive copy is the only copy"},
      {"keep-copy", "memory is current unless a copy is exclusive"},
      {"forget-sharer", "an exclusive copy is the only copy"},
      {"drop-write-back", "memory is current unless a copy is exclusive"}};
  REQUIRE(violated.size() == find_system("german").faults.size());
  for (const auto& [fault, invariant] : violated) {
    INFO(fault);
    const auto model = german(2, {fault});
    const ExploreResult result = run(*model);
    REQUIRE(result.verdict == Verdict::invariant);
    CHECK(model->invariants().at(static_cast<std::size_t>(result.violated)) == invariant);
  }
}
