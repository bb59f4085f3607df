#include "checker/axiomatic/bounds.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace lockstep::cat {

namespace {

enum Bound : std::uint8_t { lower, upper };

class Needs {
 public:
  explicit Needs(const Plan& plan) : plan_(plan) {
    for (auto& bound : needed_) bound.resize(plan.nodes.size());
  }
  void add(int index, Bound bound) {
    if (index < 0 || needed_[bound][static_cast<std::size_t>(index)]) return;
    needed_[bound][static_cast<std::size_t>(index)] = true;
    const Node& node = at(index);
    const Bound other = bound == lower ? upper : lower;
    switch (node.op) {
      case Op::base:
      case Op::constant:
      case Op::choice:
        return;
      case Op::variable:
        for (const int body : recursion_of(index).bodies) add(body, bound);
        return;
      case Op::fixed:
        return add(node.a, bound);
      case Op::difference:
        add(node.a, bound);
        return add(node.b, other);
      case Op::complement:
        return add(node.a, other);
      default:
        add(node.a, bound);
        return add(node.b, bound);
    }
  }
  // A recursion where its first `fixed` stands; other nodes in their order.
  [[nodiscard]] std::vector<BoundStep> steps() const {
    std::vector<BoundStep> steps;
    std::set<int> placed;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const Node& node = plan_.nodes[i];
      const BoundStep step{{static_cast<int>(i), -1}, needed_[lower][i], needed_[upper][i]};
      if (node.op == Op::base || node.op == Op::constant || node.op == Op::choice || node.recursion >= 0 ||
          node.stage == Stage::fixed_by_events || !(step.lower || step.upper)) {
        continue;
      }
      if (node.op == Op::fixed) {
        const int recursion = at(node.a).recursion;
        const auto any = [&](Bound bound) {
          const auto& variables = plan_.recursions[static_cast<std::size_t>(recursion)].variables;
          return std::any_of(variables.begin(), variables.end(),
                             [&](int v) { return needed_[bound][static_cast<std::size_t>(v)]; });
        };
        if (placed.insert(recursion).second) steps.push_back({{-1, recursion}, any(lower), any(upper)});
      }
      steps.push_back(step);
    }
    return steps;
  }

 private:
  [[nodiscard]] const Node& at(int node) const { return plan_.nodes[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Recursion& recursion_of(int variable) const {
    return plan_.recursions[static_cast<std::size_t>(at(variable).recursion)];
  }
  const Plan& plan_;
  std::array<std::vector<bool>, 2> needed_;
};

}  // namespace

std::vector<BoundStep> bound_steps(const Plan& plan, const std::vector<const Check*>& checks) {
  Needs needs(plan);
  for (const Check* check : checks) needs.add(check->node, check->negated ? upper : lower);
  return needs.steps();
}

bool has_bounds(const Plan& plan) {
  const auto in_recursion = [&](int node) {
    return plan.nodes[static_cast<std::size_t>(node)].recursion >= 0;
  };
  return plan.choices.empty() && std::none_of(plan.nodes.begin(), plan.nodes.end(), [&](const Node& node) {
           return (node.op == Op::difference && in_recursion(node.b)) ||
                  (node.op == Op::complement && in_recursion(node.a));
         });
}

}  // namespace lockstep::cat
