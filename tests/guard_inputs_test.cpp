// Of a state that differs little from another only those guards are asked that look at the difference.
#include "checker/explore/guard_inputs.hpp"

#include <algorithm>
#include <atomic>
#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/liveness/state_graph.hpp"
#include "checker/runs/subject.hpp"

using namespace lockstep;

namespace {

bool differ(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, const BitRange& range) {
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (((a[i / 64] ^ b[i / 64]) >> i % 64 & 1) != 0) return true;
  }
  return false;
}

// Another's model, of which every guard is asked.
class Forgetful final : public ModelView {
 public:
  using ModelView::ModelView;
  [[nodiscard]] unsigned enabled_words() const override { return 220; }
};

struct UnitTag {
  static constexpr std::string_view name = "unit";
  static constexpr int capacity = 1;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};

// Two steps, one after the other; what they change lies some bytes apart.
struct Toy {
  using Kind = Concrete<DynamicSizes<UnitTag>>;
  using Bool = Kind::Bool;
  struct State {
    Bool begun;
    Kind::Int<0, 200> between;
    Kind::Int<0, 200> more;
    Bool followed;
    BOOST_DESCRIBE_CLASS(State, (), (begun, between, more, followed), (), ())
  };
  Kind k;
  [[nodiscard]] const Kind& kind() const { return k; }
  void start(StartList<Kind, State>& s) const {
    s.start(over(), [](State&) {});
  }
  void rules(RuleList<Kind, State>& r) const {
    r.rule(
        {.name = "begins", .unit = "toy"}, over(), [](const State& s) { return !s.begun; },
        [](State& s) { s.begun = true; });
    r.rule(
        {.name = "follows", .unit = "toy"}, over(), [](const State& s) { return s.begun && !s.followed; },
        [](State& s) { s.followed = true; });
  }
  void invariants(InvariantList<Kind, State>&) const {}
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return true; }
};

// All subsets of a set, found from one another by adding a member. A state is large, and the set that it has
// enabled as well, so that not all sets of a depth are kept.
class SubsetModel final : public Model {
 public:
  static constexpr unsigned members = 17;
  static constexpr std::size_t some = 10'000;

  [[nodiscard]] unsigned state_bits() const override { return 64 * 32; }
  [[nodiscard]] unsigned enabled_words() const override { return 220; }
  void initial(Successors& out) const override {
    out.begin_state();
    fill(out.add(Firing{}), 0);
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    out.begin_state();
    out.fired.resize(rules_.size());
    if (out.known.enabled != nullptr) {
      ++known_;
      for (unsigned i = 0; i < enabled_words(); ++i) {
        if (out.known.enabled[i] != told(out.known.state[0], i))
          throw std::logic_error("another state's enabled instances");
      }
    }
    out.enabled.resize(enabled_words());
    for (unsigned i = 0; i < enabled_words(); ++i) out.enabled[i] = told(state[0], i);
    for (unsigned member = 0; member < members; ++member) {
      const std::uint64_t bit = std::uint64_t{1} << member;
      if ((state[0] & bit) != 0) continue;
      out.live = true;
      ++out.fired[0];
      const std::uint64_t more = state[0] | bit;
      fill(out.add(Firing{}), more);
    }
  }
  [[nodiscard]] bool proper_end(const std::uint64_t*) const override { return true; }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(const std::uint64_t*) const override {
    return {};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t*, const Firing&) const override {
    return {};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t) const override { return {}; }

  // Of how many states something was known of another.
  [[nodiscard]] std::size_t known() const { return known_; }

 private:
  static std::uint64_t told(std::uint64_t subset, unsigned word) { return subset * 220 + word; }
  void fill(std::uint64_t* state, std::uint64_t subset) const {
    for (unsigned i = 0; i < words(); ++i) state[i] = subset * (i + 1);
  }
  std::vector<RuleDescription> rules_ = std::vector<RuleDescription>(1);
  std::vector<std::string> invariants_;
  mutable std::atomic<std::size_t> known_ = 0;
};

// Every system, those that run programs with a small one. A guard that should have been asked and was not is
// thrown.
std::vector<std::unique_ptr<Model>> small_models() {
  const SuiteFiles files = read_tests(std::vector<std::string>{"corr-agent"}, LOCKSTEP_SOURCE_DIR "/litmus");
  REQUIRE(files.errors.empty());
  std::vector<std::unique_ptr<Model>> models;
  for (const SystemEntry& entry : systems()) {
    Subject subject = subject_named(entry.name);
    subject.options.reductions = Reductions::none();
    subject.options.check_footprints = true;
    if (entry.runs_programs) subject.program = std::make_shared<const Program>(files.tests.front()->program);
    auto model = subject.build();
    if (model->enabled_words() > 0) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace

TEST_CASE("every instance is touched whose guard looks at a bit that differs, in states of any size") {
  std::mt19937 random(20141);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (const unsigned words : {1U, 3U, 8U, 9U, 17U, 40U, 64U, 65U, 200U}) {
    std::vector<std::vector<BitRange>> looked_at(100);
    for (auto& ranges : looked_at) {
      for (std::uint32_t n = below(4); n > 0; --n) {
        const std::uint32_t first = below(words * 64);
        ranges.push_back({first, std::min(below(9), words * 64 - first)});
      }
    }
    const GuardInputs inputs(looked_at, words);
    REQUIRE(inputs.set_words() == 2);
    std::size_t touched = 0;
    for (int n = 0; n < 200; ++n) {
      std::vector<std::uint64_t> before(words);
      for (auto& word : before) word = random() * (std::uint64_t{1} << 32) + random();
      std::vector<std::uint64_t> now = before;
      for (std::uint32_t i = below(3); i > 0; --i) now[below(words)] ^= std::uint64_t{1} << below(64);
      std::vector<std::uint64_t> set(inputs.set_words(), 0);
      inputs.add_touched(before.data(), now.data(), set.data());
      for (std::size_t i = 0; i < looked_at.size(); ++i) {
        const bool is_touched = (set[i / 64] >> i % 64 & 1) != 0;
        touched += is_touched ? 1 : 0;
        if (std::any_of(looked_at[i].begin(), looked_at[i].end(),
                        [&](const BitRange& range) { return differ(before, now, range); }))
          REQUIRE(is_touched);
      }
    }
    // And not simply all.
    CHECK(touched < 200 * looked_at.size() / 2);
  }
}

TEST_CASE("asking fewer guards finds the same states, by the same firings, whoever finds them") {
  const auto models = small_models();
  std::size_t compared = 0;
  for (const auto& model : models) {
    ExploreOptions options;
    options.state_limit = 200'000;
    options.threads = 1;
    const ExploreResult all = explore(Forgetful(*model), options);
    if (all.verdict == Verdict::out_of_memory) continue;
    ++compared;
    for (const unsigned threads : {1U, 2U}) {
      options.threads = threads;
      const ExploreResult some = explore(*model, options);
      CHECK(some.verdict == all.verdict);
      CHECK(some.states == all.states);
      CHECK(some.transitions == all.transitions);
      CHECK(some.fired == all.fired);
      CHECK(some.depth == all.depth);
    }
  }
  CHECK(compared >= 5);
}

TEST_CASE("what is known of another state was told of that one, also where memory allows it of few") {
  constexpr std::size_t all = std::size_t{1} << SubsetModel::members;
  const SubsetModel model;
  std::size_t known_before = 0;
  const auto check_some_known = [&] {
    CHECK(model.known() - known_before > SubsetModel::some);
    CHECK(model.known() - known_before + SubsetModel::some < all);
    known_before = model.known();
  };
  for (const unsigned threads : {1U, 2U}) {
    ExploreOptions options;
    options.threads = threads;
    options.deadlocks = false;
    CHECK(explore(model, options).states == all);
    check_some_known();
  }
  CHECK(StateGraph(model, {}).states() == all);
  check_some_known();
}

TEST_CASE("a guard that looks at more than is said of it is found out") {
  const Toy toy;
  for (const bool honest : {true, false}) {
    CompiledModel<Toy> model(toy, Reductions::none());
    const auto scalars = model.packed_scalars();
    REQUIRE(scalars.size() == 4);
    // "follows" looks at the first and the last.
    model.ask_again({{{scalars[0].bits},
                      honest ? std::vector{scalars[0].bits, scalars[3].bits} : std::vector{scalars[3].bits}},
                     model.words()});
    ExploreOptions options;
    options.deadlocks = false;
    options.invariants = false;
    CHECK(explore(model, options).states == (honest ? 3 : 2));
    model.check_footprints(true);
    if (honest) {
      CHECK(explore(model, options).states == 3);
    } else {
      CHECK_THROWS_WITH(explore(model, options),
                        Catch::Contains("the guard of 'follows'") &&
                            Catch::Contains("looks at something else than its tree"));
    }
  }
}
