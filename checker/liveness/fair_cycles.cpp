#include "checker/liveness/fair_cycles.hpp"

#include <algorithm>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <limits>
#include <queue>
#include <unordered_map>

namespace lockstep {

namespace {

// A StateGraph as Boost.Graph sees it, in place: vertices are states, edges are numbers with their source.
struct GraphEdge {
  StateNumber source = 0;
  std::size_t number = 0;
  bool operator==(const GraphEdge&) const = default;
};

class OutEdge : public boost::iterator_facade<OutEdge, GraphEdge, boost::forward_traversal_tag, GraphEdge> {
 public:
  OutEdge() = default;
  OutEdge(StateNumber source, std::size_t number) : edge_{source, number} {}

 private:
  friend class boost::iterator_core_access;
  [[nodiscard]] GraphEdge dereference() const { return edge_; }
  [[nodiscard]] bool equal(const OutEdge& other) const { return edge_.number == other.edge_.number; }
  void increment() { ++edge_.number; }
  GraphEdge edge_;
};

struct View {
  const StateGraph* graph;

  using vertex_descriptor = StateNumber;
  using edge_descriptor = GraphEdge;
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
  using vertex_iterator = boost::counting_iterator<StateNumber>;
  using vertices_size_type = std::size_t;
  using out_edge_iterator = OutEdge;
  using degree_size_type = std::size_t;
  using edges_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return std::numeric_limits<StateNumber>::max(); }
};

std::pair<View::vertex_iterator, View::vertex_iterator> vertices(const View& v) {
  return {View::vertex_iterator(0), View::vertex_iterator(static_cast<StateNumber>(v.graph->states()))};
}
// Boost's concepts ask for these two, and its algorithms here call neither.
[[maybe_unused]] std::size_t num_vertices(const View& v) {
  return v.graph->states();
}
std::pair<OutEdge, OutEdge> out_edges(StateNumber s, const View& v) {
  return {OutEdge(s, v.graph->first_edge(s)), OutEdge(s, v.graph->first_edge(s + 1))};
}
[[maybe_unused]] std::size_t out_degree(StateNumber s, const View& v) {
  return v.graph->first_edge(s + 1) - v.graph->first_edge(s);
}
StateNumber source(const GraphEdge& e, const View&) {
  return e.source;
}
StateNumber target(const GraphEdge& e, const View& v) {
  return v.graph->target(e.number);
}

constexpr std::uint32_t removed = std::numeric_limits<std::uint32_t>::max();

// The component of each state; states bear lower numbers than those that lead to them.
using Components = std::vector<std::uint32_t>;

// Of the edges that satisfy the predicate.
template <class Keep>
Components components(const StateGraph& graph, Keep keep, std::uint32_t& count) {
  const View view{&graph};
  const std::size_t n = graph.states();
  Components component(n, 0);
  std::vector<std::uint32_t> root(n, 0);
  std::vector<std::uint32_t> discovered(n, 0);
  std::vector<boost::default_color_type> color(n);
  const boost::typed_identity_property_map<StateNumber> index;
  const auto map = [&](auto& of) { return boost::make_iterator_property_map(of.begin(), index); };
  const boost::filtered_graph<View, Keep> filtered(view, keep);
  count = boost::strong_components(filtered, map(component),
                                   boost::vertex_index_map(index)
                                       .root_map(map(root))
                                       .discover_time_map(map(discovered))
                                       .color_map(map(color)));
  return component;
}

// Edges between states of one region; a region is a number each state has.
struct WithinRegion {
  const StateGraph* graph = nullptr;
  const std::vector<std::uint32_t>* region = nullptr;
  bool operator()(const GraphEdge& e) const {
    const std::uint32_t from = (*region)[e.source];
    return from != removed && from == (*region)[graph->target(e.number)];
  }
};
struct OwedEdges {
  const StateGraph* graph = nullptr;
  bool operator()(const GraphEdge& e) const { return graph->label(e.number) != StateGraph::nobody; }
};
struct AllEdges {
  bool operator()(const GraphEdge&) const { return true; }
};

// What the states of a component with a cycle owe and its edges discharge.
struct Balance {
  StateNumber first = removed;  // its state of the lowest number
  bool visits = false;
  ObligationSet owed_everywhere;
  ObligationSet owed_somewhere;
  ObligationSet discharged;
};

std::uint64_t word_of(const ObligationSet& set, std::size_t i) {
  return i < set.size() ? set[i] : 0;
}

class FairCycles {
 public:
  FairCycles(const StateGraph& graph, const CycleQuestion& question)
      : graph_(graph), question_(question), words_(graph.obligations().size() / 64 + 1) {
    region_.assign(graph.states(), 0);
    for (StateNumber s = 0; s < graph.states(); ++s) {
      if (graph.is_end(s) || (question.within && !question.within(s))) region_[s] = removed;
    }
  }

  std::optional<Lasso> find() {
    while (true) {
      std::uint32_t count = 0;
      const Components component = components(graph_, WithinRegion{&graph_, &region_}, count);
      const std::vector<Balance> balances = weigh(component, count);
      const Balance* best = nullptr;
      for (const Balance& b : balances) {
        if (accepts(b) && (best == nullptr || b.first < best->first)) best = &b;
      }
      if (best != nullptr) return lasso(component, component[best->first]);
      if (question_.fairness == CycleFairness::weak || !refine(component, balances)) return std::nullopt;
    }
  }

 private:
  std::vector<Balance> weigh(const Components& component, std::uint32_t count) const {
    // Most components are single states without a cycle: only the others get a balance.
    std::vector<bool> cyclic(count, false);
    for (StateNumber s = 0; s < graph_.states(); ++s) {
      if (region_[s] == removed) continue;
      for (std::size_t e = graph_.first_edge(s); e < graph_.first_edge(s + 1); ++e) {
        const StateNumber t = graph_.target(e);
        if (region_[t] != removed && component[t] == component[s]) cyclic[component[s]] = true;
      }
    }
    place_.assign(count, removed);
    std::vector<Balance> balances;
    for (StateNumber s = 0; s < graph_.states(); ++s) {
      const std::uint32_t c = component[s];
      if (region_[s] == removed || !cyclic[c]) continue;
      if (place_[c] == removed) {
        place_[c] = static_cast<std::uint32_t>(balances.size());
        Balance& b = balances.emplace_back();
        b.first = s;
        b.owed_everywhere.assign(words_, ~std::uint64_t{0});
        b.owed_somewhere.assign(words_, 0);
        b.discharged.assign(words_, 0);
      }
      Balance& b = balances[place_[c]];
      b.visits = b.visits || !question_.visits || question_.visits(s);
      const ObligationSet& owed = graph_.enabled_sets()[graph_.enabled_set(s)];
      for (std::size_t i = 0; i < words_; ++i) {
        b.owed_everywhere[i] &= word_of(owed, i);
        b.owed_somewhere[i] |= word_of(owed, i);
      }
      for (std::size_t e = graph_.first_edge(s); e < graph_.first_edge(s + 1); ++e) {
        const StateNumber t = graph_.target(e);
        if (region_[t] == removed || component[t] != c || graph_.label(e) == StateGraph::nobody) continue;
        set_bit(b.discharged, graph_.label(e));
      }
    }
    return balances;
  }

  [[nodiscard]] const ObligationSet& owed(const Balance& b) const {
    return question_.fairness == CycleFairness::weak ? b.owed_everywhere : b.owed_somewhere;
  }
  [[nodiscard]] bool accepts(const Balance& b) const {
    if (!b.visits) return false;
    for (std::size_t i = 0; i < words_; ++i) {
      if ((owed(b)[i] & ~b.discharged[i]) != 0) return false;
    }
    return true;
  }

  // Takes out the states that owe what their component never discharges; whether there were any.
  bool refine(const Components& component, const std::vector<Balance>& balances) {
    bool changed = false;
    for (StateNumber s = 0; s < graph_.states(); ++s) {
      if (region_[s] == removed) continue;
      const std::uint32_t place = place_[component[s]];
      if (place == removed) {
        region_[s] = removed;
        continue;
      }
      region_[s] = component[s];
      const ObligationSet& set = graph_.enabled_sets()[graph_.enabled_set(s)];
      for (std::size_t i = 0; i < words_; ++i) {
        if ((word_of(set, i) & ~balances[place].discharged[i]) != 0) {
          region_[s] = removed;
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  // ---- the loop ------------------------------------------------------------------------------------------

  struct Step {
    StateNumber source = 0;
    std::size_t edge = 0;
  };
  // The shortest way inside the component from a state over an edge that satisfies `found`; empty where there
  // is none.
  template <class Found>
  std::vector<Step> way(const Components& component, StateNumber from, Found&& found) const {
    std::unordered_map<StateNumber, Step> before;
    std::queue<StateNumber> queue;
    queue.push(from);
    while (!queue.empty()) {
      const StateNumber s = queue.front();
      queue.pop();
      for (std::size_t e = graph_.first_edge(s); e < graph_.first_edge(s + 1); ++e) {
        const StateNumber t = graph_.target(e);
        if (region_[t] == removed || component[t] != component[from]) continue;
        if (found(e, t)) {
          std::vector<Step> steps{{s, e}};
          for (StateNumber at = s; at != from; at = steps.back().source) steps.push_back(before.at(at));
          std::reverse(steps.begin(), steps.end());
          return steps;
        }
        if (t != from && before.try_emplace(t, Step{s, e}).second) queue.push(t);
      }
    }
    return {};
  }

  // What a loop still lacks to be an answer.
  struct Lacking {
    const FairCycles& all;
    bool visited = false;
    ObligationSet everywhere;  // owed in every state so far
    ObligationSet somewhere;
    ObligationSet discharged;

    explicit Lacking(const FairCycles& cycles)
        : all(cycles),
          everywhere(cycles.words_, ~std::uint64_t{0}),
          somewhere(cycles.words_, 0),
          discharged(cycles.words_, 0) {}

    void pass(StateNumber s) {
      const ObligationSet& set = all.graph_.enabled_sets()[all.graph_.enabled_set(s)];
      for (std::size_t i = 0; i < all.words_; ++i) {
        everywhere[i] &= word_of(set, i);
        somewhere[i] |= word_of(set, i);
      }
      visited = visited || !all.question_.visits || all.question_.visits(s);
    }
    void take(std::size_t edge) {
      const ObligationNumber label = all.graph_.label(edge);
      if (label != StateGraph::nobody) set_bit(discharged, label);
    }
    [[nodiscard]] bool is_weak() const { return all.question_.fairness == CycleFairness::weak; }
    [[nodiscard]] std::uint64_t due(std::size_t i) const {
      return (is_weak() ? everywhere[i] : somewhere[i]) & ~discharged[i];
    }
    [[nodiscard]] bool nothing() const {
      if (!visited) return false;
      for (std::size_t i = 0; i < all.words_; ++i) {
        if (due(i) != 0) return false;
      }
      return true;
    }
    // Whether the edge, or the state it leads to, brings something.
    [[nodiscard]] bool needs(std::size_t edge, StateNumber to) const {
      if (!visited && all.question_.visits(to)) return true;
      const ObligationNumber label = all.graph_.label(edge);
      if (label != StateGraph::nobody && ((due(label / 64U) >> (label % 64U)) & 1U) != 0) return true;
      if (!is_weak()) return false;
      const ObligationSet& set = all.graph_.enabled_sets()[all.graph_.enabled_set(to)];
      for (std::size_t i = 0; i < all.words_; ++i) {
        if ((due(i) & ~word_of(set, i)) != 0) return true;
      }
      return false;
    }
  };

  // A fair loop through a state: to the nearest edge that brings something still lacking, again and again,
  // and back. Empty where it would be longer than the bound.
  [[nodiscard]] std::vector<Step> loop_from(const Components& component, StateNumber start,
                                            std::size_t bound) const {
    std::vector<Step> loop;
    Lacking lacking(*this);
    lacking.pass(start);
    StateNumber at = start;
    while (loop.empty() || at != start || !lacking.nothing()) {
      const bool closing = lacking.nothing();
      const std::vector<Step> steps = way(component, at, [&](std::size_t e, StateNumber t) {
        return closing ? t == start : lacking.needs(e, t);
      });
      for (const Step& step : steps) {
        loop.push_back(step);
        at = graph_.target(step.edge);
        lacking.take(step.edge);
        lacking.pass(at);
      }
      if (steps.empty() || loop.size() > bound) return {};
    }
    return loop;
  }

  // Among loops through the first states of the component.
  std::optional<Lasso> lasso(const Components& component, std::uint32_t wanted) const {
    constexpr std::size_t starts = 32;
    constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();
    std::vector<Step> loop;
    std::size_t tried = 0;
    for (StateNumber s = 0; s < graph_.states() && tried < starts; ++s) {
      if (region_[s] == removed || component[s] != wanted) continue;
      ++tried;
      std::vector<Step> found = loop_from(component, s, loop.empty() ? no_bound : loop.size());
      if (!found.empty() && (loop.empty() || found.size() < loop.size())) loop = std::move(found);
    }
    Lasso lasso{graph_.path_to(loop.front().source), {}};
    for (const Step& step : loop) lasso.loop.push_back(step.edge);
    return lasso;
  }

  const StateGraph& graph_;
  const CycleQuestion& question_;
  std::size_t words_;
  std::vector<std::uint32_t> region_;
  mutable std::vector<std::uint32_t> place_;  // of a component's balance
};

}  // namespace

std::optional<Lasso> find_fair_cycle(const StateGraph& graph, const CycleQuestion& question) {
  return FairCycles(graph, question).find();
}

std::vector<std::uint32_t> components_of(const StateGraph& graph, const std::vector<bool>& kept,
                                         std::uint32_t& count) {
  std::vector<std::uint32_t> region(graph.states(), 0);
  for (StateNumber s = 0; s < graph.states(); ++s) {
    if (!kept[s]) region[s] = removed;
  }
  return components(graph, WithinRegion{&graph, &region}, count);
}

std::vector<bool> states_that_can_end(const StateGraph& graph, bool by_owed_steps) {
  std::uint32_t count = 0;
  const Components component =
      by_owed_steps ? components(graph, OwedEdges{&graph}, count) : components(graph, AllEdges{}, count);
  // Components come in an order in which those that one leads to are before it.
  std::vector<std::size_t> first(count + 1, 0);
  for (const std::uint32_t c : component) ++first[c + 1];
  for (std::uint32_t c = 0; c < count; ++c) first[c + 1] += first[c];
  std::vector<StateNumber> order(graph.states());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (StateNumber s = 0; s < graph.states(); ++s) order[next[component[s]]++] = s;
  std::vector<bool> ends(count, false);
  for (const StateNumber s : order) {
    const std::uint32_t c = component[s];
    if (graph.is_end(s) || (by_owed_steps && (graph.facts(s).owed & ~graph.facts(s).ended) == 0))
      ends[c] = true;
    for (std::size_t e = graph.first_edge(s); e < graph.first_edge(s + 1); ++e) {
      if (by_owed_steps && graph.label(e) == StateGraph::nobody) continue;
      if (ends[component[graph.target(e)]]) ends[c] = true;
    }
  }
  std::vector<bool> can_end(graph.states());
  for (StateNumber s = 0; s < graph.states(); ++s) can_end[s] = ends[component[s]];
  return can_end;
}

}  // namespace lockstep
