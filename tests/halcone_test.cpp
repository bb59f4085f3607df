// HALCONE: both timelines of Fig. 5 step by step, what each printed line costs, and what plain accesses see.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

std::shared_ptr<const LitmusTest> shipped(const std::string& test) {
  const SuiteFiles files = read_tests(std::vector{test}, LOCKSTEP_SOURCE_DIR "/litmus", Clients::include);
  INFO(test);
  REQUIRE(files.tests.size() == 1);
  return files.tests.front();
}

// The system shows an outcome that sequential consistency does not have.
bool strays(const std::string& test, const std::string& system, const std::map<std::string, int>& sizes = {},
            const std::vector<std::string>& faults = {}) {
  const auto run = [&](Subject subject) {
    SystemRun result = run_on_system(*shipped(test), std::move(subject), {});
    INFO(test << " on " << system << ": " << result.message);
    REQUIRE(result.status == RunStatus::complete);
    return result;
  };
  Subject subject = subject_named(system);
  subject.options.sizes = sizes;
  subject.options.faults = faults;
  return beyond_sc(run(std::move(subject)), run(subject_named("sc"))).has_value();
}

// A run of a shipped test of which each step is chosen by the name of its rule and its thread.
class Walk {
 public:
  Walk(const std::string& test, const std::string& variant, const std::map<std::string, int>& sizes) {
    SystemOptions options;
    options.variant = variant;
    options.sizes = sizes;
    options.reductions = Reductions{}.only_moves();
    model_ = find_system("halcone").build(std::make_shared<const Program>(shipped(test)->program), options);
    Successors initial;
    initial.clear(model_->words());
    model_->initial(initial);
    REQUIRE(initial.size() == 1);
    state_.assign(initial.state(0), initial.state(0) + model_->words());
  }

  void fire(const std::string& rule, int thread) {
    const std::string wanted = fmt::format("{} (thread {})", rule, thread);
    Successors next;
    next.clear(model_->words());
    next.fired.resize(model_->rules().size());
    model_->expand(state_.data(), next);
    std::string enabled;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::string name = model_->narrate(state_.data(), next.firing(i)).front().rule;
      enabled += name + "; ";
      if (name != wanted) continue;
      state_.assign(next.state(i), next.state(i) + model_->words());
      return;
    }
    FAIL(wanted << " is not among " << enabled);
  }
  void fire_all(const std::vector<std::string>& rules, int thread) {
    for (const std::string& rule : rules) fire(rule, thread);
  }

  // The value of a field of the memory system.
  [[nodiscard]] std::string at(const std::string& path) const {
    for (const auto& [name, value] : model_->fields(state_.data())) {
      if (name == "memory." + path) return value;
    }
    FAIL("no field " << path);
    return "";
  }
  // The clock that a cache has, and "[wts, rts]" of its copy of a block.
  [[nodiscard]] std::string lease1(int cu, int block) const { return lease("l1", cu, block); }
  [[nodiscard]] std::string lease2(int agent, int block) const { return lease("l2", agent, block); }
  [[nodiscard]] std::string clock1(int cu) const { return at(fmt::format("clock1({})", cu)); }
  [[nodiscard]] std::string clock2(int agent, int bank = 0) const {
    return at(fmt::format("clock2({},{})", agent, bank));
  }
  [[nodiscard]] std::string memts(int block) const { return at(fmt::format("tsu({}).memts", block)); }
  [[nodiscard]] std::string result(int thread, int index) const {
    for (const auto& [name, value] : model_->fields(state_.data())) {
      if (name == fmt::format("context({}).registers({})", thread, index)) return value;
    }
    FAIL("no register");
    return "";
  }

 private:
  [[nodiscard]] std::string lease(const std::string& level, int cache, int block) const {
    const std::string line = fmt::format("{}({},{})", level, cache, block);
    return fmt::format("[{}, {}]", at(line + ".wts"), at(line + ".rts"));
  }

  std::unique_ptr<ProgramModel> model_;
  std::vector<std::uint64_t> state_;
};

const std::vector<std::string> read_from_memory{"load misses L1", "read misses L2", "MM answers a read",
                                                "response reaches L2", "response reaches L1"};

}  // namespace

namespace {

const std::map<std::string, int> leases_of_figure_5{
    {"read-lease", 10}, {"read-lease-of-others", 7}, {"write-lease", 5}, {"timestamps", 64}};

// Steps 1 to 14 are told alike of both figures: `agent1` is where CU1 is.
void walk_to_step_14(Walk& walk, int agent1) {
  walk.fire_all({"load misses L1", "read misses L2", "MM answers a read"}, 0);  // 1 to 4
  CHECK(walk.memts(0) == "10");
  walk.fire("response reaches L2", 0);  // 5
  CHECK(walk.lease2(0, 0) == "[0, 10]");
  CHECK(walk.clock2(0) == "0");
  walk.fire("response reaches L1", 0);  // 6, 7
  CHECK(walk.lease1(0, 0) == "[0, 10]");
  CHECK(walk.clock1(0) == "0");

  walk.fire_all(read_from_memory, 1);  // 8 to 14
  CHECK(walk.memts(1) == "7");
  CHECK(walk.lease2(agent1, 1) == "[0, 7]");
  CHECK(walk.lease1(1, 1) == "[0, 7]");
  CHECK(walk.clock1(1) == "0");
}

}  // namespace

TEST_CASE("HALCONE: the intra-GPU timeline of Fig. 5, step by step") {
  Walk walk("fig5-agent", "one-clock", leases_of_figure_5);
  walk_to_step_14(walk, 0);

  walk.fire_all({"write misses L1", "write hits L2"}, 0);  // 15 to 17
  CHECK(walk.at("l2(0,1).locked") == "true");
  walk.fire("MM performs a write", 0);  // 18: "rts= 12 and wts= 8"
  CHECK(walk.at("transit(0).wts") == "8");
  CHECK(walk.at("transit(0).rts") == "12");
  walk.fire("response reaches L2", 0);  // 19: "sets cts(=8)"
  CHECK(walk.lease2(0, 1) == "[8, 12]");
  CHECK(walk.at("l2(0,1).locked") == "false");
  CHECK(walk.clock2(0) == "8");
  walk.fire("response reaches L1", 0);  // 20
  CHECK(walk.lease1(0, 1) == "[8, 12]");
  CHECK(walk.clock1(0) == "8");

  walk.fire_all({"write misses L1", "write hits L2", "MM performs a write"}, 1);  // 21 to 24
  CHECK(walk.at("transit(1).wts") == "11");
  walk.fire("response reaches L2", 1);  // 25
  CHECK(walk.clock2(0) == "11");
  walk.fire("response reaches L1", 1);  // 26: "both L1$ and L2$ of CU1 have a cts value of 11"
  CHECK(walk.clock1(1) == "11");
  CHECK(walk.lease1(1, 0) == "[11, 15]");

  walk.fire("load hits L1", 0);  // 27 to 29: cts is 8, rts is 10
  CHECK(walk.clock1(0) == "8");
  CHECK(walk.result(0, 1) == "0");

  walk.fire("load misses L1", 1);  // 30, 31: cts is 11, rts is 7
  walk.fire("read hits L2", 1);    // "L2$ has a cts value of 11 and the block for [Y] has rts= 12 and wts= 8"
  walk.fire("response reaches L1", 1);
  CHECK(walk.lease1(1, 1) == "[11, 12]");
  CHECK(walk.result(1, 1) == "1");
}

TEST_CASE("HALCONE: the inter-GPU timeline of Fig. 5, step by step") {
  Walk walk("fig5-system", "one-clock", leases_of_figure_5);
  walk_to_step_14(walk, 1);

  walk.fire_all({"write misses L1", "write misses L2", "MM performs a write"},
                0);  // Y is in the other GPU's L2
  CHECK(walk.at("transit(0).wts") == "8");
  CHECK(walk.at("transit(0).rts") == "12");
  walk.fire_all({"response reaches L2", "response reaches L1"}, 0);
  CHECK(walk.clock2(0) == "8");
  CHECK(walk.clock1(0) == "8");
  CHECK(walk.lease2(0, 1) == "[8, 12]");

  walk.fire_all({"write misses L1", "write misses L2", "MM performs a write", "response reaches L2",
                 "response reaches L1"},
                1);
  CHECK(walk.clock2(1) == "11");
  CHECK(walk.clock1(1) == "11");

  walk.fire("load hits L1", 0);  // "still produces a cache hit in L1$"
  CHECK(walk.result(0, 1) == "0");

  // "there is no longer an L2$ hit, as the lease (rts=7, wts=0) expired for a cts=11"
  walk.fire_all({"load misses L1", "read misses L2", "MM answers a read", "response reaches L2"}, 1);
  CHECK(walk.lease2(1, 1) == "[12, 19]");
  walk.fire("response reaches L1", 1);
  CHECK(walk.result(1, 1) == "1");
}

TEST_CASE("HALCONE: Algorithm 3 as printed gives the writes of Fig. 5 other times than the figure") {
  Walk walk("fig5-agent", "as-printed", leases_of_figure_5);
  walk_to_step_14(walk, 0);
  walk.fire_all({"write misses L1", "write hits L2", "MM performs a write"}, 0);
  CHECK(walk.at("transit(0).wts") == "7");  // the figure: 8
  CHECK(walk.at("transit(0).rts") == "12");
  walk.fire_all({"response reaches L2", "response reaches L1"}, 0);
  walk.fire_all({"write misses L1", "write hits L2", "MM performs a write"}, 1);
  CHECK(walk.at("transit(1).wts") == "10");  // the figure: 11
}

TEST_CASE("HALCONE: every mistake is seen by a program that has only SC outcomes without it") {
  struct Kill {
    std::string test;
    std::map<std::string, int> sizes;
  };
  const std::map<std::string, Kill> kills{
      {"write-joins-lease", {"mp-neighbour-agent", {}}},
      {"lease-prolonged", {"mp-neighbour-agent", {}}},
      {"lease-prolonged-by-answer", {"mp-neighbour-agent", {}}},
      {"hit-keeps-words", {"renewed-neighbour-agent", {}}},
      {"read-keeps-clock", {"shared-corr-plain-agent", {}}},
      {"store-without-time", {"mp-stale-agent", {}}},
      {"acquire-keeps-l1-clock", {"mp-neighbour-agent", {}}},
      {"acquire-keeps-bank-clocks", {"mp-neighbour-system", {}}},
      {"fence-keeps-l1", {"kernel-neighbour-agent", {}}},
      {"fence-keeps-l2", {"kernel-neighbour-system", {}}},
      {"entry-forgotten", {"mp-neighbour-agent", {}}},
      {"overflow-forgets-leases", {"mp-neighbour-agent", {{"timestamps", 4}}}},
      {"lease-not-recorded", {"mp-neighbour-agent", {}}},
      {"expired-copy-read", {"mp-neighbour-agent", {}}},
      {"write-not-locked", {"mp-ping-pong-agent", {}}},
      {"merged-by-address", {"joined-neighbour-agent", {}}},
  };
  for (const Fault& fault : find_system("halcone").faults) {
    const std::string name(fault.name);
    INFO(name);
    REQUIRE(kills.contains(name));
    const Kill& kill = kills.at(name);
    CHECK_FALSE(strays(kill.test, "halcone", kill.sizes));
    CHECK(strays(kill.test, "halcone", kill.sizes, {name}));
  }
}

TEST_CASE("HALCONE: plain accesses are SC where requests carry time, and in a GPU whose L2 has one clock") {
  for (const std::string shape :
       {"leased-mp-plain", "leased-sb-plain", "leased-corr-plain", "shared-corr-plain"}) {
    INFO(shape);
    CHECK_FALSE(strays(shape + "-agent", "halcone/one-clock"));
    CHECK_FALSE(strays(shape + "-agent", "halcone/time-carried"));
    CHECK_FALSE(strays(shape + "-system", "halcone/time-carried"));
  }
  CHECK(strays("leased-mp-plain-agent", "halcone"));
  CHECK(strays("leased-mp-plain-system", "halcone/one-clock"));
}

TEST_CASE("HALCONE: what is claimed of leases holds in every state, and not of the print") {
  const auto verdict = [](const std::string& system) {
    Subject subject = subject_named(system);
    subject.program = std::make_shared<const Program>(shipped("leased-corr-plain-agent")->program);
    subject.options.reductions = reductions_for_invariants(*subject.system, {});
    return explore(*subject.build(), {}).verdict;
  };
  for (const Variant& variant : find_system("halcone").variants) {
    const bool printed = std::string_view(variant.name).starts_with("as-printed");
    INFO(variant.name);
    CHECK(verdict(fmt::format("halcone/{}", variant.name)) ==
          (printed ? Verdict::invariant : Verdict::holds));
  }
}
