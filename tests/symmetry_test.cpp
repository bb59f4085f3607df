// Symmetry: a renaming that is taken for one changes nothing, whatever else does; and of each orbit one state
// is visited.
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checker/check/check.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/symmetry/loops.hpp"
#include "checker/symmetry/symmetric_model.hpp"
#include "tests/reachable.hpp"

using namespace lockstep;
using namespace lockstep::symmetry;

namespace {

Subject german(int nodes, const std::vector<std::string>& faults = {}) {
  Subject subject = subject_named("german");
  subject.options.sizes["node"] = nodes;
  subject.options.faults = faults;
  return subject;
}

Subject running(const std::string& system, const std::string& test) {
  Subject subject = subject_named(system);
  const SuiteFiles files = read_tests(std::vector{test}, LOCKSTEP_SOURCE_DIR "/litmus", Clients::include);
  REQUIRE(files.tests.size() == 1);
  subject.program = std::make_shared<const Program>(files.tests.front()->program);
  subject.options.reductions = Reductions::none();
  return subject;
}

std::set<PackedState> successors_of(const Model& model, const PackedState& state, bool& live, int& violated) {
  Successors successors;
  successors.clear(model.words());
  successors.begin_state();
  model.expand(state.data(), successors);
  live = successors.live;
  violated = successors.violated;
  std::set<PackedState> all;
  for (std::size_t i = 0; i < successors.size(); ++i) all.insert(packed_state(successors, i, model));
  return all;
}

// By definition, state by state: the successors of a renamed state are the renamed successors; and as many
// orbits as there are states to visit.
std::size_t check_symmetry(const Subject& subject, std::size_t every = 1) {
  INFO(subject.description() << " running " << subject.client());
  const auto model = subject.build();
  const SymmetricModel symmetric(*model, subject.describe(), {});
  const PackedLayout& layout = symmetric.layout();
  const std::vector<Renaming>& elements = symmetric.automorphisms().elements;
  const ReachableStates reachable(*model);
  const std::vector<PackedState>& states = reachable.all();
  const auto renamed = [&](const PackedState& state, const Renaming& by) {
    PackedState out(state.size());
    layout.rename(state.data(), by, model->words(), out.data());
    return out;
  };
  std::set<PackedState> orbits;
  std::size_t compared = 0;
  std::size_t other_successors = 0, other_life = 0, other_violation = 0, other_end = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    PackedState least = states[i];
    for (const Renaming& element : elements) least = std::min(least, renamed(states[i], element));
    orbits.insert(least);
    if (i % every != 0) continue;
    bool live = false;
    int violated = -1;
    const std::set<PackedState> successors = successors_of(*model, states[i], live, violated);
    for (const Renaming& element : elements) {
      bool live_too = false;
      int violated_too = -1;
      const PackedState other = renamed(states[i], element);
      std::set<PackedState> expected;
      for (const PackedState& one : successors) expected.insert(renamed(one, element));
      other_successors += successors_of(*model, other, live_too, violated_too) == expected ? 0 : 1;
      other_life += live == live_too ? 0 : 1;
      other_violation += (violated < 0) == (violated_too < 0) ? 0 : 1;
      other_end += model->proper_end(states[i].data()) == model->proper_end(other.data()) ? 0 : 1;
      ++compared;
    }
  }
  // Counted, since an assertion takes longer than what it asserts here.
  CHECK(other_successors == 0);
  CHECK(other_life == 0);
  CHECK(other_violation == 0);
  CHECK(other_end == 0);
  CHECK(compared > 0);
  ExploreOptions all;
  all.invariants = all.deadlocks = false;
  const ExploreResult found = explore(symmetric, all);
  CHECK(found.states == orbits.size());
  return elements.size();
}

std::string refused(const Subject& subject, const std::vector<std::string>& types) {
  CheckOptions options;
  options.symmetry = types;
  const CheckRun run = check(subject, options);
  return run.status == CheckStatus::error ? run.message : "";
}

}  // namespace

TEST_CASE(
    "a system does what it did, whatever its members are called, and of each orbit one state is visited") {
  CHECK(check_symmetry(german(3)) == 6 * 2);
  CHECK(check_symmetry(german(2, {"forget-sharer"})) == 2 * 2);
  // Threads of one code change places with their CUs; locations, where what is said of them does.
  CHECK(check_symmetry(running("write-through", "sb-agent")) == 2);
  CHECK(check_symmetry(running("write-through", "false-sharing-agent"), 7) >= 1);
  CHECK(check_symmetry(running("sc", "sb-agent")) == 2);
  CHECK(check_symmetry(running("sc", "mp-agent")) == 1);
  CHECK(check_symmetry(running("quick-release", "sb-agent"), 50) == 2);
  CHECK(check_symmetry(running("quick-release/split-fifo", "sb-agent"), 50) == 2);
  // Messages in which something is not meant, and rows that are reset.
  CHECK(check_symmetry(running("lab", "sb-agent"), 7) == 2);
  CHECK(check_symmetry(running("fear", "sb-agent"), 200) == 2);
  CHECK(check_symmetry(subject_named("tvm")) == 24);
  CHECK(check_symmetry(running("write-through", "add-thrice-agent")) == 6);
}

TEST_CASE("German's protocol with four nodes has 28,088 states up to symmetry") {
  CheckOptions options;
  options.symmetry.emplace();
  const CheckRun run = check(german(4), options);
  CHECK(run.status == CheckStatus::holds);
  CHECK(run.exploration.states == 28'088);
  REQUIRE(run.symmetry.has_value());
  CHECK(run.symmetry->renamings == 24 * 2);
  CHECK(run.symmetry->types == std::vector<std::string>{"node", "value"});
  options.symmetry = {"node"};
  CHECK(check(german(4), options).symmetry->renamings == 24);
}

TEST_CASE("what is violated is violated up to symmetry, by a run of the system as short") {
  for (const Fault& fault : find_system("german").faults) {
    INFO(fault.name);
    // Of five nodes states are alike in more ways than are followed.
    const Subject subject = german(5, {std::string(fault.name)});
    const CheckRun plain = check(subject, {});
    CheckOptions options;
    options.symmetry.emplace();
    for (const unsigned threads : {1U, 3U}) {
      options.limits.threads = threads;
      const CheckRun symmetric = check(subject, options);
      REQUIRE(plain.status == CheckStatus::violated);
      REQUIRE(symmetric.status == CheckStatus::violated);
      CHECK(symmetric.exploration.depth == plain.exploration.depth);
      CHECK(symmetric.exploration.states < plain.exploration.states);
      CHECK(symmetric.counterexample->steps.size() == plain.counterexample->steps.size());
      CHECK(replay(*symmetric.counterexample).difference.empty());
    }
  }
}

TEST_CASE("symmetry that is none is refused, with what tells the members apart") {
  // Whether a word is written back depends on whether one before it was.
  Subject ordered = subject_named("cpcoh");
  ordered.options.faults = {"whole-line-written-back"};
  ordered.options.sizes = {{"structure", 1}, {"word", 3}, {"line-word", 3}, {"label", 1}};
  CHECK_THAT(refused(ordered, {"word"}), Catch::Matchers::Contains("a loop over it whose order may matter"));
  CHECK_THAT(refused(german(3), {"nodes"}), Catch::Matchers::Contains("no index type 'nodes'"));
  CHECK_THAT(refused(running("sc", "mp-agent"), {"thread"}), Catch::Matchers::Contains("thread"));
}

TEST_CASE("a loop is ordered where an iteration touches what another writes") {
  using recorded::Expression;
  using recorded::Path;
  using recorded::Statement;
  const recorded::Type node{"node", true, recorded::Sort::index};
  const Expression own = recorded::make(recorded::Op::parameter, node, {}, "node2");
  const Expression other = recorded::make(recorded::Op::parameter, node, {}, "node");
  const auto read = [](const Path& path) {
    auto expression = std::make_shared<recorded::Node>();
    expression->op = recorded::Op::read;
    expression->type = recorded::bool_type;
    expression->path = path;
    return Expression(expression);
  };
  const auto assign = [](const Path& target, const Expression& value) {
    Statement statement;
    statement.target = target;
    statement.value = value;
    return statement;
  };
  const auto is_ordered = [&](const Statement& body) {
    Statement loop;
    loop.kind = Statement::Kind::for_each;
    loop.over = "node";
    loop.name = "node2";
    loop.then = {body};
    recorded::WholeDescription whole;
    whole.rules.emplace_back().action = {loop};
    return ordered_loops(whole).contains("node");
  };
  const Path row{{"row", {own}}, {"x", {}}};
  const Path row_of_other{{"row", {other}}, {"x", {}}};
  const Expression yes = recorded::constant(recorded::bool_type, "true");
  CHECK_FALSE(is_ordered(assign(row, yes)));
  CHECK_FALSE(is_ordered(assign(row, read({{"row", {own}}, {"y", {}}}))));
  CHECK_FALSE(is_ordered(assign(row, read(row))));
  CHECK_FALSE(is_ordered(assign({{"flag", {}}}, yes)));
  CHECK(is_ordered(assign(row, read(row_of_other))));
  CHECK(is_ordered(assign({{"flag", {}}}, read(row))));
  CHECK(is_ordered(assign({{"owner", {}}}, own)));
  CHECK(is_ordered(assign(row_of_other, read({{"z", {own}}}))));
  CHECK(is_ordered(assign({{"flag", {}}}, recorded::negation(read({{"flag", {}}})))));
  Statement push;
  push.kind = Statement::Kind::push;
  push.target = {{"out", {}}};
  push.row = {{"to", own}};
  CHECK(is_ordered(push));
  push.target = {{"out", {own}}};
  CHECK_FALSE(is_ordered(push));
}
