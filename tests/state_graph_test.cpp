// The graph that liveness is judged on, whoever expands it: also under the thread sanitizer.
#include <catch2/catch.hpp>

#include "checker/systems/registry.hpp"
#include "tests/graphs.hpp"

using namespace lockstep;

TEST_CASE("the graph of German's protocol is the same, state by state, for any number of threads",
          "[threads]") {
  SystemOptions options;
  options.reductions = Reductions{}.only_moves();
  options.sizes = {{"node", 3}};
  const auto model = find_system("german").build_closed(options);
  const StateGraph one(*model, {});
  REQUIRE(one.states() == 58104);
  for (const unsigned threads : {2U, 3U, 5U}) {
    INFO(threads << " threads");
    ExploreOptions exploring;
    exploring.threads = threads;
    const StateGraph several(*model, exploring);
    REQUIRE(several.states() == one.states());
    REQUIRE(several.edges() == one.edges());
    CHECK(several.depth() == one.depth());
    CHECK(several.fired() == one.fired());
    CHECK(same_graph(several, one));
  }
}
