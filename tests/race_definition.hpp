// Races by their definition, pair by pair: what the monitors are held against.
#pragma once

#include <cstddef>
#include <vector>

#include "checker/races/monitor.hpp"
#include "spec/program/program.hpp"

namespace lockstep::by_definition {

// One operation of an execution, at its point. Of an edge (a side of a barrier) reads means departure, writes
// means arrival.
struct Step {
  int thread = 0;
  const Instruction* instruction = nullptr;
  bool reads = false;
  bool writes = false;
  std::size_t place = 0;  // in program order
};
// In the order of points.
using Run = std::vector<Step>;

// Whether an execution has a race: semantics.md, "SC and races", word by word.
class Races {
 public:
  Races(const Program& program, RaceModel model, SyncReading reading)
      : program_(program), model_(model), reading_(reading) {}

  [[nodiscard]] bool in(const Run& run) const {
    const std::vector<Edge> edges = synchronization(run);
    std::vector<Instance> instances{{-1, 0}};
    if (direct()) {
      for (const Edge& edge : edges) {
        instances.push_back(edge.release);
        instances.push_back(edge.acquire);
      }
    }
    Relation before(run.size(), std::vector<bool>(run.size(), false));
    for (const Instance& instance : instances) {
      const Relation closed = closure(run, edges, instance);
      for (std::size_t i = 0; i < run.size(); ++i) {
        for (std::size_t j = 0; j < run.size(); ++j) before[i][j] = before[i][j] || closed[i][j];
      }
    }
    for (std::size_t i = 0; i < run.size(); ++i) {
      for (std::size_t j = i + 1; j < run.size(); ++j) {
        if (conflict(run[i], run[j]) && !before[i][j] && !before[j][i]) return true;
      }
    }
    return false;
  }

 private:
  using Relation = std::vector<std::vector<bool>>;
  struct Instance {
    int level;
    int number;
    bool operator==(const Instance&) const = default;
  };
  // A release or an acquire: the step that is ordered by it (an access, or the fence that acts through it),
  // the step that writes or reads, and where: a location, or a barrier.
  struct Side {
    std::size_t node;
    std::size_t when;
    int thread;
    Instance instance;
    int place;
  };
  struct Edge {
    std::size_t from;
    std::size_t to;
    Instance release;
    Instance acquire;
  };

  [[nodiscard]] bool direct() const {
    return model_ == RaceModel::hrf_direct || model_ == RaceModel::hrf_relaxed_direct;
  }
  [[nodiscard]] bool relaxed() const {
    return model_ == RaceModel::hrf_relaxed_direct || model_ == RaceModel::hrf_relaxed_indirect;
  }
  [[nodiscard]] const Placement& placement(int t) const {
    return program_.threads[static_cast<std::size_t>(t)].placement;
  }
  [[nodiscard]] int work_group(int t) const { return placement(t).agent * 100 + placement(t).wg; }

  [[nodiscard]] Instance instance(int t, Scope scope) const {
    if (model_ == RaceModel::drf || scope == Scope::system) return {3, 0};
    if (scope == Scope::agent) return {2, placement(t).agent};
    if (scope == Scope::wg) return {1, work_group(t)};
    return {0, t};
  }
  [[nodiscard]] bool member(int t, const Instance& i) const {
    if (i.level == 3) return true;
    if (i.level == 0) return t == i.number;
    return !placement(t).host && i.number == (i.level == 2 ? placement(t).agent : work_group(t));
  }
  [[nodiscard]] bool within(const Instance& a, const Instance& b) const {
    for (int t = 0; t < static_cast<int>(program_.threads.size()); ++t) {
      if (member(t, a) && !member(t, b)) return false;
    }
    return true;
  }

  [[nodiscard]] static bool in_program_order(const Step& a, const Step& b) {
    return a.thread == b.thread && a.place < b.place;
  }
  [[nodiscard]] bool conflict(const Step& a, const Step& b) const {
    const Instruction& x = *a.instruction;
    const Instruction& y = *b.instruction;
    if (x.location < 0 || x.location != y.location || a.thread == b.thread || !(a.writes || b.writes))
      return false;
    if (x.order == Order::plain || y.order == Order::plain) return true;
    const Instance s = instance(a.thread, x.scope);
    const Instance t = instance(b.thread, y.scope);
    return relaxed() ? !within(s, t) && !within(t, s) : !(s == t);
  }

  // The releases of a run, or its acquires.
  [[nodiscard]] std::vector<Side> sides(const Run& run, bool release) const {
    std::vector<Side> found;
    const auto tagged = [&](const Instruction& i) { return release ? releases(i.order) : acquires(i.order); };
    for (std::size_t j = 0; j < run.size(); ++j) {
      const Instruction& i = *run[j].instruction;
      const int t = run[j].thread;
      if (!(release ? run[j].writes : run[j].reads)) continue;
      if (i.opcode == Opcode::barrier) {
        found.push_back({j, j, t, instance(t, Scope::wg), 1000 + work_group(t)});
        continue;
      }
      if (i.order == Order::plain) continue;
      if (tagged(i)) found.push_back({j, j, t, instance(t, i.scope), i.location});
      for (std::size_t f = 0; f < run.size(); ++f) {
        const Instruction& fence = *run[f].instruction;
        const bool acts = fence.opcode == Opcode::fence &&
                          (release ? in_program_order(run[f], run[j]) : in_program_order(run[j], run[f]));
        if (acts && tagged(fence)) found.push_back({f, j, t, instance(t, fence.scope), i.location});
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<Edge> synchronization(const Run& run) const {
    std::vector<Edge> edges;
    for (const Side& r : sides(run, true)) {
      for (const Side& a : sides(run, false)) {
        if (r.when >= a.when || (reading_ == SyncReading::same_location && r.place != a.place)) continue;
        const bool pair = relaxed() ? member(a.thread, r.instance) && member(r.thread, a.instance)
                                    : r.instance == a.instance;
        if (pair) edges.push_back({r.node, a.node, r.instance, a.instance});
      }
    }
    return edges;
  }

  [[nodiscard]] Relation closure(const Run& run, const std::vector<Edge>& edges, const Instance& s) const {
    const std::size_t n = run.size();
    Relation before(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) before[i][j] = in_program_order(run[i], run[j]);
    }
    for (const Edge& edge : edges) {
      if (!direct() || edge.release == s || edge.acquire == s) before[edge.from][edge.to] = true;
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; before[i][k] && j < n; ++j) before[i][j] = before[i][j] || before[k][j];
      }
    }
    return before;
  }

  const Program& program_;
  RaceModel model_;
  SyncReading reading_;
};

}  // namespace lockstep::by_definition
