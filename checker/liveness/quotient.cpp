#include "checker/liveness/quotient.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "checker/explore/model_view.hpp"

namespace lockstep {

namespace {

using symmetry::Renaming;
using symmetry::SymmetricModel;

constexpr std::uint32_t none = ~std::uint32_t{0};

// Names of obligations under the elements of a group.
class Names {
 public:
  Names(const StateGraph& graph, const std::vector<Renaming>& elements)
      : rules_(graph.model().rules()), all_(graph.obligations()) {
    for (const FairnessObligation& known : all_) number_.emplace(key(known), number_.size());
    table_.resize(elements.size());
    // Others that a renaming makes of them are owed in no state that was visited.
    for (std::size_t n = 0; n < all_.size(); ++n) {
      for (std::size_t e = 0; e < elements.size(); ++e)
        table_[e].push_back(number_of(renamed(all_[n], elements[e])));
    }
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::uint32_t renamed(std::uint32_t element, std::uint32_t name) const {
    return table_[element][name];
  }

 private:
  using Key = std::vector<std::uint32_t>;
  static Key key(const FairnessObligation& o) {
    Key key{static_cast<std::uint32_t>(o.thread + 1)};
    if (o.thread >= 0) return key;
    key.push_back(o.firing.rule);
    for (std::size_t i = 0; i < o.firing.parameter_count; ++i) key.push_back(o.firing.parameters[i]);
    return key;
  }
  [[nodiscard]] FairnessObligation renamed(FairnessObligation o, const Renaming& element) const {
    const auto rename = [&](const std::string& type, auto& member) {
      const auto found = element.find(type);
      if (found != element.end() && static_cast<std::size_t>(member) < found->second.size())
        member = found->second[static_cast<std::size_t>(member)];
    };
    if (o.thread >= 0) {
      rename("thread", o.thread);
    } else {
      const RuleDescription& rule = rules_[o.firing.rule];
      for (std::size_t i = 0; i < o.firing.parameter_count; ++i)
        rename(rule.parameters[i], o.firing.parameters[i]);
    }
    return o;
  }
  std::uint32_t number_of(const FairnessObligation& o) {
    const auto [found, is_new] = number_.try_emplace(key(o), static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(o);
    return found->second;
  }

  const std::vector<RuleDescription>& rules_;
  std::vector<FairnessObligation> all_;
  std::map<Key, std::uint32_t> number_;
  std::vector<std::vector<std::uint32_t>> table_;  // by element, then name
};

class Classes {
 public:
  explicit Classes(std::size_t n) : of_(n) { std::iota(of_.begin(), of_.end(), 0U); }
  std::uint32_t of(std::uint32_t x) {
    while (of_[x] != x) x = of_[x] = of_[of_[x]];
    return x;
  }
  void join(std::uint32_t a, std::uint32_t b) { of_[of(a)] = of(b); }

 private:
  std::vector<std::uint32_t> of_;
};

class FairComponents {
 public:
  FairComponents(const StateGraph& graph, const SymmetricModel& symmetric, const std::vector<bool>& kept)
      : graph_(graph),
        symmetric_(symmetric),
        kept_(kept),
        names_(graph, symmetric.automorphisms().elements),
        place_(graph.states(), none) {
    component_ = components_of(graph, kept, count_);
  }

  std::optional<std::vector<StateNumber>> find() {
    std::vector<bool> seen(count_, false);
    for (StateNumber s = 0; s < graph_.states(); ++s) {
      if (!kept_[s] || seen[component_[s]]) continue;
      seen[component_[s]] = true;
      if (is_fair(s)) return states_;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_inside(StateNumber s) const {
    return kept_[s] && component_[s] == component_[states_.front()];
  }

  // By which element each successor of a state was renamed.
  void look(StateNumber s) {
    successors_.clear(std::max(1U, symmetric_.words()));
    elements_.clear();
    symmetric_.expand(graph_.packed(s).data(), successors_, elements_);
  }

  // Names at the first state, as they are called at the state at that place.
  [[nodiscard]] std::uint32_t* called(std::size_t place) { return called_.data() + place * names_.size(); }

  bool is_fair(StateNumber first) {
    states_.assign(1, first);
    called_.resize(names_.size());
    std::iota(called_.begin(), called_.end(), 0U);
    place_[first] = 0;
    Classes classes(names_.size());
    bool cyclic = false;
    for (std::size_t at = 0; at < states_.size(); ++at) {
      const StateNumber s = states_[at];
      look(s);
      for (std::size_t e = graph_.first_edge(s); e < graph_.first_edge(s + 1); ++e) {
        const StateNumber t = graph_.target(e);
        if (!is_inside(t)) continue;
        cyclic = true;
        const std::uint32_t element = elements_[e - graph_.first_edge(s)];
        const bool is_new = place_[t] == none;
        if (is_new) {
          place_[t] = static_cast<std::uint32_t>(states_.size());
          states_.push_back(t);
          called_.resize(states_.size() * names_.size());
        }
        there_.resize(names_.size());
        for (std::uint32_t n = 0; n < names_.size(); ++n) {
          const std::uint32_t name = names_.renamed(element, called(at)[n]);
          if (is_new) called(place_[t])[n] = name;
          there_[name] = n;
        }
        if (is_new) continue;
        for (std::uint32_t n = 0; n < names_.size(); ++n) classes.join(n, there_[called(place_[t])[n]]);
      }
    }
    const bool fair = cyclic && is_fair(classes);
    for (const StateNumber s : states_) place_[s] = none;
    return fair;
  }
  bool is_fair(Classes& classes) {
    std::vector<bool> satisfied(names_.size(), false);
    for (std::size_t at = 0; at < states_.size(); ++at) {
      const StateNumber s = states_[at];
      const ObligationSet& owed = graph_.enabled_sets()[graph_.enabled_set(s)];
      there_.resize(names_.size());
      for (std::uint32_t n = 0; n < names_.size(); ++n) {
        const std::uint32_t name = called(at)[n];
        there_[name] = n;
        const bool is_owed = name / 64 < owed.size() && ((owed[name / 64] >> (name % 64)) & 1U) != 0;
        if (!is_owed) satisfied[classes.of(n)] = true;
      }
      for (std::size_t e = graph_.first_edge(s); e < graph_.first_edge(s + 1); ++e) {
        if (graph_.label(e) != StateGraph::nobody && is_inside(graph_.target(e)))
          satisfied[classes.of(there_[graph_.label(e)])] = true;
      }
    }
    for (std::uint32_t n = 0; n < names_.size(); ++n) {
      if (!satisfied[classes.of(n)]) return false;
    }
    return true;
  }

  const StateGraph& graph_;
  const SymmetricModel& symmetric_;
  const std::vector<bool>& kept_;
  Names names_;
  std::vector<std::uint32_t> component_;
  std::uint32_t count_ = 0;
  std::vector<StateNumber> states_;    // of the component that is looked at
  std::vector<std::uint32_t> place_;   // of a state among these
  std::vector<std::uint32_t> called_;  // by place, then name at the first of them
  std::vector<std::uint32_t> there_;   // of a name at some state: what it is called at the first
  Successors successors_;
  std::vector<std::uint32_t> elements_;
};

// From one state on, and no further than to states that some others do not stand for.
class Inside final : public ModelView {
 public:
  Inside(const Model& model, const SymmetricModel& symmetric, std::vector<std::uint64_t> start,
         std::set<std::vector<std::uint64_t>> representatives)
      : ModelView(model),
        symmetric_(symmetric),
        start_(std::move(start)),
        inside_(std::move(representatives)) {}

  void initial(Successors& out) const override {
    model_.initial(out);
    std::copy(start_.begin(), start_.end(), out.last(out.size()));
    out.keep(1);
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    if (inside_.contains(symmetric_.representative(state))) {
      model_.expand(state, out);
    } else {
      out.begin_state();
      out.live = true;
    }
  }

 private:
  const SymmetricModel& symmetric_;
  std::vector<std::uint64_t> start_;
  std::set<std::vector<std::uint64_t>> inside_;
};

}  // namespace

std::optional<std::vector<StateNumber>> find_fair_component(const StateGraph& graph,
                                                            const SymmetricModel& symmetric,
                                                            const std::function<bool(StateNumber)>& within) {
  std::vector<bool> kept(graph.states());
  for (StateNumber s = 0; s < graph.states(); ++s) kept[s] = !graph.is_end(s) && (!within || within(s));
  return FairComponents(graph, symmetric, kept).find();
}

std::optional<FairRun> fair_run(const Model& model, const StateGraph& graph, const SymmetricModel& symmetric,
                                const std::vector<StateNumber>& component, const ExploreOptions& limits) {
  FairRun run;
  run.trace = symmetric.run_of_model(graph.trace(graph.path_to(component.front()), {}));
  if (run.trace.steps.empty()) return std::nullopt;
  std::set<std::vector<std::uint64_t>> representatives;
  for (const StateNumber s : component) representatives.insert(graph.packed(s));
  const Inside inside(model, symmetric, run.trace.steps.back().state, std::move(representatives));
  ExploreOptions options = limits;
  options.invariants = false;
  // The verdict is known: showing a run is not worth much more time than it took.
  const auto enough = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * (10 + 2 * graph.seconds())));
  if (options.time_limit.count() == 0 || options.time_limit > enough) options.time_limit = enough;
  const StateGraph whole(inside, options);
  if (whole.verdict() != Verdict::holds) return std::nullopt;
  const auto lasso = find_fair_cycle(whole, {});
  if (!lasso) return std::nullopt;
  const Trace rest = whole.trace(lasso->stem, lasso->loop);
  run.loop_start = run.trace.steps.size() - 1 + lasso->stem.size() - 1;
  run.trace.steps.insert(run.trace.steps.end(), rest.steps.begin() + 1, rest.steps.end());
  return run;
}

}  // namespace lockstep
