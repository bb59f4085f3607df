#include "checker/liveness/shared_graph.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <utility>

#include "checker/explore/model_view.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/scheduler/progress_models.hpp"

namespace lockstep {

namespace {

constexpr ThreadSet set_of(int thread) {
  return ThreadSet{1} << static_cast<unsigned>(thread);
}
constexpr bool has(ThreadSet set, int thread) {
  return (set & set_of(thread)) != 0;
}

// The scheduler remembers who has begun, and every step counts as owed: then each edge says whose it is.
class EverybodyOwed final : public ModelView {
 public:
  using ModelView::ModelView;
  [[nodiscard]] StateFacts facts(const std::uint64_t* state) const override {
    StateFacts facts = model_.facts(state);
    facts.owed = ~facts.ended;
    return facts;
  }
};

}  // namespace

ThreadSet owed_threads(ProgressModel model, int threads, const ThreadStanding& standing) {
  using K = Concrete<DynamicSizes<ThreadTag, WorkGroupTag, CuTag, AgentTag, OrderTag>>;
  using Scheduler = ProgressModels<K>;
  K k;
  k.sizes.set<ThreadTag>(threads);
  k.sizes.set<WorkGroupTag>(threads);
  k.sizes.set<OrderTag>(threads);
  Machine<K> machine{};
  WorkGroupOrder<K> order{};
  for (std::size_t t = 0; t < static_cast<std::size_t>(threads); ++t) {
    machine.work_group_of.image.at(t) = static_cast<std::uint8_t>(t);
    order.image.at(t) = static_cast<std::uint8_t>(t);
  }
  SchedulerSetup setup;
  setup.model = model;
  const Scheduler scheduler{k, machine, order, setup};
  Scheduler::State state;
  for (int t = 0; t < threads; ++t)
    state.begun(K::constant<WorkGroupTag>(t)) = K::Bool(has(standing.begun, t));
  const auto live = [&](Scheduler::WorkGroup w) { return K::Bool(!has(standing.ended, w.v)); };
  ThreadSet owed = 0;
  for (int t = 0; t < threads; ++t) {
    if (!has(standing.ended, t) && K::truth(scheduler.owes(state, K::constant<ThreadTag>(t), live)))
      owed |= set_of(t);
  }
  return owed;
}

OwedThreads::OwedThreads(ProgressModel model, int threads)
    : threads_(threads), owed_(std::size_t{1} << static_cast<unsigned>(2 * threads)) {
  const ThreadSet all = set_of(threads) - 1;
  for (ThreadSet begun = 0; begun <= all; ++begun) {
    for (ThreadSet ended = 0; ended <= all; ++ended)
      owed_[begun << static_cast<unsigned>(threads) | ended] = owed_threads(model, threads, {begun, ended});
  }
}

SharedGraph::SharedGraph(const Subject& subject, const RunLimits& limits) {
  Subject remembering = subject;
  remembering.options.scheduler = SchedulerSetup{};
  remembering.options.scheduler->model = ProgressModel::obe;
  remembering.options.reductions = subject.options.reductions.only_moves();
  const std::unique_ptr<ProgramModel> model = remembering.build_with_program();
  ExploreOptions options;
  options.memory_limit = limits.memory;
  options.time_limit = limits.time;
  options.interrupted = limits.interrupted;
  const EverybodyOwed view(*model);
  const StateGraph graph(view, options);
  verdict_ = graph.verdict();
  if (verdict_ != Verdict::holds) return;
  read(graph, *model, set_of(static_cast<int>(subject.program->threads.size())) - 1);
  find_components();
  std::vector<bool> ends(states());
  for (std::size_t s = 0; s < states(); ++s) ends[s] = standing_[s].ended == all_;
  can_always_end_ = all_reach(std::move(ends), [](const Edge&) { return true; });
}

void SharedGraph::read(const StateGraph& graph, const Model& model, ThreadSet all) {
  all_ = all;
  for (StateNumber s = 0; s < graph.states(); ++s) {
    const StateFacts facts = model.facts(graph.packed(s).data());  // owed: has begun, and not ended
    standing_.push_back({(facts.owed | facts.ended) & all, facts.ended});
    ThreadSet enabled = 0;
    for (std::size_t e = graph.first_edge(s); e < graph.first_edge(s + 1); ++e) {
      const ObligationNumber label = graph.label(e);
      const int thread = label == StateGraph::nobody ? -1 : graph.obligations()[label].thread;
      if (thread < 0) throw BadInput("schedulers share no graph where hardware takes steps of its own");
      enabled |= set_of(thread);
      edges_.push_back({s, graph.target(e), set_of(thread)});
    }
    if (enabled != (all & ~facts.ended))
      throw BadInput("schedulers share no graph where a thread waits otherwise than by spinning");
  }
}

void SharedGraph::find_components() {
  using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  pairs.reserve(edges_.size());
  for (const Edge& e : edges_) pairs.emplace_back(e.source, e.target);
  const Graph graph(boost::edges_are_sorted, pairs.begin(), pairs.end(), states());
  component_.resize(states());
  const auto count = boost::strong_components(
      graph, boost::make_iterator_property_map(component_.begin(), boost::get(boost::vertex_index, graph)));
  stepping_.assign(count, 0);
  for (const Edge& e : edges_) {
    if (component_[e.source] == component_[e.target]) stepping_[component_[e.source]] |= e.thread;
  }
}

// Whether from every state some path of usable edges leads to a goal.
template <class Usable>
bool SharedGraph::all_reach(std::vector<bool> goal, Usable&& usable) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto e = edges_.rbegin(); e != edges_.rend(); ++e) {
      if (goal[e->source] || !goal[e->target] || !usable(*e)) continue;
      goal[e->source] = true;
      changed = true;
    }
  }
  return std::find(goal.begin(), goal.end(), false) == goal.end();
}

std::vector<ThreadSet> SharedGraph::owed_in_states(const Owes& owes) const {
  std::vector<ThreadSet> owed;
  owed.reserve(states());
  for (const ThreadStanding& s : standing_) owed.push_back(owes(s) & all_ & ~s.ended);
  return owed;
}

bool SharedGraph::can_always_end() const {
  return can_always_end_;
}

Termination SharedGraph::judge(const Owes& owes, TerminationQuestion question) const {
  const std::vector<ThreadSet> owed = owed_in_states(owes);
  return question == TerminationQuestion::by_paths ? judge_by_paths(owed) : judge_weakly(owed);
}

// A component is a weakly fair cycle, the whole of it, if whoever is owed in all of its states steps in it
// (fair_cycles.hpp). From a state that cannot end a run goes on for ever, however fair its scheduler is.
Termination SharedGraph::judge_weakly(const std::vector<ThreadSet>& owed) const {
  if (!can_always_end_) return Termination::trap;
  std::vector<ThreadSet> due(stepping_.size(), all_);
  for (std::size_t s = 0; s < states(); ++s) due[component_[s]] &= owed[s];
  for (std::size_t c = 0; c < stepping_.size(); ++c) {
    if (stepping_[c] != 0 && (due[c] & ~stepping_[c]) == 0) return Termination::livelock;
  }
  return Termination::terminates;
}

Termination SharedGraph::judge_by_paths(const std::vector<ThreadSet>& owed) const {
  std::vector<bool> goal(states());
  for (std::size_t s = 0; s < states(); ++s) goal[s] = owed[s] == 0;
  const auto is_owed = [&](const Edge& e) { return (owed[e.source] & e.thread) != 0; };
  return all_reach(std::move(goal), is_owed) ? Termination::terminates : Termination::trap;
}

}  // namespace lockstep
