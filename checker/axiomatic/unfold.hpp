// Why a model relates two events: a relation that it defines, unfolded into the base relations that it is
// made of. Of all ways to derive a pair the shortest is told.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checker/axiomatic/plan.hpp"

namespace lockstep {

// A pair of events in a relation, and the chain of pairs that it follows from; none of what has no parts.
struct Derivation {
  int from = -1;
  int to = -1;
  std::string name;       // "causality", "rf"; empty where nobody has named the relation
  bool inverted = false;  // of what has no parts: the relation holds from `to` to `from`
  std::vector<Derivation> parts;
};

// The chain of pairs without parts, in order, each beginning where the one before it ends.
std::vector<Derivation> leaves(const Derivation& derivation);

namespace cat {

// Whether a relation, by its node, holds between two events.
using Holds = std::function<bool(int node, int from, int to)>;

// Unfolds pairs of one relation on one execution, whose nodes have been evaluated.
class Unfolding {
 public:
  // Executions with more events are left as they are.
  static constexpr int most_events = 128;

  Unfolding(const Plan& plan, int root, int events, const Holds& holds);
  // The pair has to be in the relation.
  [[nodiscard]] Derivation derive(int from, int to) const;

 private:
  using Cost = std::uint32_t;
  static constexpr Cost never = ~Cost{0};

  [[nodiscard]] const Node& node(int index) const { return plan_.nodes[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Cost cost(int index, int from, int to) const;
  [[nodiscard]] Cost& cost(int index, int from, int to);
  [[nodiscard]] int body_of(int variable) const;
  void need(int index);
  bool relax(int index, const Holds& holds);
  bool lower(int index, int from, int to, Cost found);
  bool close(int index, const Holds& holds);
  [[nodiscard]] Cost step_cost(int index, int from, int to) const;
  void append(int index, int from, int to, std::vector<Derivation>& out) const;
  void append_path(int index, int from, int to, std::vector<Derivation>& out) const;
  [[nodiscard]] std::string name_of(int index) const;

  const Plan& plan_;
  int root_;
  int n_;
  std::vector<int> needed_;               // relations below the root, in order
  std::vector<std::vector<Cost>> costs_;  // by node, from, to: of the shortest derivation
};

}  // namespace cat

}  // namespace lockstep
