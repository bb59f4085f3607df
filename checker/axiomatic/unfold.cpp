// Every pair of every relation below the one that is asked about gets the cost of its shortest derivation,
// from the base relations upwards. A derivation is then read off from above: of what may have led to a pair,
// whatever costs as much as the pair.
//
// A pair of a base relation costs one step, and so does a pair of a relation of the library. What only
// narrows a relation down, such as `loc` or `W * R`, costs much more, so that `po & loc` is told as po.
// Taking up a recursion costs a little, so that nothing is derived from itself.
#include "checker/axiomatic/unfold.hpp"

#include <algorithm>

namespace lockstep {

namespace {

void collect(const Derivation& derivation, std::vector<Derivation>& out) {
  if (derivation.parts.empty()) {
    out.push_back(derivation);
    return;
  }
  for (const Derivation& part : derivation.parts) collect(part, out);
}

}  // namespace

std::vector<Derivation> leaves(const Derivation& derivation) {
  std::vector<Derivation> out;
  collect(derivation, out);
  return out;
}

namespace cat {

namespace {

constexpr std::uint32_t one_step = 1U << 8;
constexpr std::uint32_t narrowing = 1U << 16;
constexpr std::uint32_t taking_up = 1;

bool narrows(Base base) {
  switch (base) {
    case Base::universe:
    case Base::loc:
    case Base::address:
    case Base::internal:
    case Base::external:
    case Base::same_wave:
    case Base::same_wg:
    case Base::same_agent:
    case Base::same_subgroup:
    case Base::same_queue_family:
    case Base::inclusive:
    case Base::contains:
    case Base::same_instruction:
      return true;
    default:
      return false;
  }
}

std::string_view name_of_base(Base base) {
  for (const BaseName& one : base_names()) {
    if (one.base == base) return one.name;
  }
  return {};
}

}  // namespace

Unfolding::Unfolding(const Plan& plan, int root, int events, const Holds& holds)
    : plan_(plan), root_(root), n_(events), costs_(plan.nodes.size()) {
  need(root);
  std::sort(needed_.begin(), needed_.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const int index : needed_) changed = relax(index, holds) || changed;
  }
}

int Unfolding::body_of(int variable) const {
  const Recursion& recursion = plan_.recursions[static_cast<std::size_t>(node(variable).recursion)];
  const auto at = std::find(recursion.variables.begin(), recursion.variables.end(), variable);
  return recursion.bodies[static_cast<std::size_t>(at - recursion.variables.begin())];
}

void Unfolding::need(int index) {
  const Node& n = node(index);
  if (n.set || !costs_[static_cast<std::size_t>(index)].empty()) return;
  costs_[static_cast<std::size_t>(index)].assign(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_),
                                                 never);
  needed_.push_back(index);
  switch (n.op) {
    case Op::base:
    case Op::constant:
    case Op::choice:
    case Op::product:
    case Op::complement:
    case Op::to_identity:
      return;
    case Op::variable:
      return need(body_of(index));
    case Op::difference:
      return need(n.a);
    default:
      if (n.a >= 0) need(n.a);
      if (n.b >= 0) need(n.b);
  }
}

Unfolding::Cost Unfolding::cost(int index, int from, int to) const {
  return costs_[static_cast<std::size_t>(index)][static_cast<std::size_t>(from * n_ + to)];
}
Unfolding::Cost& Unfolding::cost(int index, int from, int to) {
  return costs_[static_cast<std::size_t>(index)][static_cast<std::size_t>(from * n_ + to)];
}

bool Unfolding::lower(int index, int from, int to, Cost found) {
  if (found >= cost(index, from, to)) return false;
  cost(index, from, to) = found;
  return true;
}

// What one way to a pair costs by itself: of all operations but sequences and closures, which look at events
// in between.
Unfolding::Cost Unfolding::step_cost(int index, int from, int to) const {
  const Node& n = node(index);
  const auto name = plan_.names.find(index);
  if (name != plan_.names.end() && name->second.of_library) return one_step;
  switch (n.op) {
    case Op::base:
      if (n.base == Base::identity) return 0;
      return narrows(n.base) ? narrowing : one_step;
    case Op::choice:
      return one_step;
    case Op::constant:
    case Op::product:
    case Op::complement:
      return narrowing;
    case Op::to_identity:
      return 0;
    case Op::union_:
    case Op::intersection:
      return std::min(cost(n.a, from, to), cost(n.b, from, to));
    case Op::difference:
    case Op::restrict_range:
      return cost(n.a, from, to);
    case Op::restrict_domain:
      return cost(n.b, from, to);
    case Op::inverse:
      return cost(n.a, to, from);
    case Op::maybe:
      return from == to ? 0 : cost(n.a, from, to);
    case Op::fixed:
      return cost(n.a, from, to);
    case Op::variable: {
      const Cost body = cost(body_of(index), from, to);
      return body == never ? never : body + taking_up;
    }
    default:
      return never;
  }
}

bool Unfolding::relax(int index, const Holds& holds) {
  const Node& n = node(index);
  const auto name = plan_.names.find(index);
  const bool whole = name != plan_.names.end() && name->second.of_library;
  if (!whole && (n.op == Op::closure || n.op == Op::star)) return close(index, holds);
  bool changed = false;
  for (int from = 0; from < n_; ++from) {
    for (int to = 0; to < n_; ++to) {
      if (!holds(index, from, to)) continue;
      Cost found = never;
      if (!whole && n.op == Op::sequence) {
        for (int between = 0; between < n_; ++between) {
          const Cost first = cost(n.a, from, between);
          const Cost second = cost(n.b, between, to);
          if (first != never && second != never) found = std::min(found, first + second);
        }
      } else {
        found = step_cost(index, from, to);
      }
      changed = lower(index, from, to, found) || changed;
    }
  }
  return changed;
}

bool Unfolding::close(int index, const Holds& holds) {
  const Node& n = node(index);
  bool changed = false;
  for (int from = 0; from < n_; ++from) {
    for (int to = 0; to < n_; ++to) {
      if (!holds(index, from, to)) continue;
      const Cost found = n.op == Op::star && from == to ? 0 : cost(n.a, from, to);
      changed = lower(index, from, to, found) || changed;
    }
  }
  for (int between = 0; between < n_; ++between) {
    for (int from = 0; from < n_; ++from) {
      const Cost first = cost(index, from, between);
      if (first == never) continue;
      for (int to = 0; to < n_; ++to) {
        const Cost second = cost(index, between, to);
        if (second != never) changed = lower(index, from, to, first + second) || changed;
      }
    }
  }
  return changed;
}

std::string Unfolding::name_of(int index) const {
  const auto name = plan_.names.find(index);
  if (name != plan_.names.end()) return name->second.text;
  const Node& n = node(index);
  if (n.op == Op::base) return std::string(name_of_base(n.base));
  if (n.op == Op::choice) return plan_.choices[static_cast<std::size_t>(n.a)].name;
  return {};
}

Derivation Unfolding::derive(int from, int to) const {
  Derivation whole{from, to, name_of(root_), false, {}};
  append(root_, from, to, whole.parts);
  // A relation without parts is its own.
  if (whole.parts.size() == 1 && whole.parts.front().name == whole.name) return whole.parts.front();
  return whole;
}

// Adds what a pair is told as: one derivation with its name, or where it has none what it follows from.
void Unfolding::append(int index, int from, int to, std::vector<Derivation>& out) const {
  const Node& n = node(index);
  const auto name = plan_.names.find(index);
  const auto leaf = [&] { out.push_back({from, to, name_of(index), false, {}}); };
  if (name != plan_.names.end()) {
    if (name->second.of_library) return leaf();
    Derivation named{from, to, name->second.text, false, {}};
    append_path(index, from, to, named.parts);
    // Of an event with itself, where a relation may be left out, nothing is to be told.
    if (!named.parts.empty()) out.push_back(std::move(named));
    return;
  }
  switch (n.op) {
    case Op::base:
      if (n.base != Base::identity) leaf();
      return;
    case Op::constant:
    case Op::choice:
    case Op::product:
    case Op::complement:
      return leaf();
    default:
      append_path(index, from, to, out);
  }
}

void Unfolding::append_path(int index, int from, int to, std::vector<Derivation>& out) const {
  const Node& n = node(index);
  const Cost whole = cost(index, from, to);
  switch (n.op) {
    case Op::union_:
    case Op::intersection:
      return append(cost(n.a, from, to) == whole ? n.a : n.b, from, to, out);
    case Op::difference:
    case Op::restrict_range:
      return append(n.a, from, to, out);
    case Op::restrict_domain:
      return append(n.b, from, to, out);
    case Op::maybe:
      if (from != to) append(n.a, from, to, out);
      return;
    case Op::fixed:
      return append(n.a, from, to, out);
    case Op::variable:
      return append(body_of(index), from, to, out);
    case Op::inverse: {
      std::vector<Derivation> forth;
      append(n.a, to, from, forth);
      for (auto one = forth.rbegin(); one != forth.rend(); ++one) {
        std::vector<Derivation> chain = leaves(*one);
        for (auto leaf = chain.rbegin(); leaf != chain.rend(); ++leaf)
          out.push_back({leaf->to, leaf->from, leaf->name, !leaf->inverted, {}});
      }
      return;
    }
    case Op::sequence:
      for (int between = 0; between < n_; ++between) {
        const Cost first = cost(n.a, from, between);
        const Cost second = cost(n.b, between, to);
        if (first == never || second == never || first + second != whole) continue;
        append(n.a, from, between, out);
        append(n.b, between, to, out);
        return;
      }
      return;
    case Op::closure:
    case Op::star:
      if (n.op == Op::star && from == to) return;
      if (cost(n.a, from, to) == whole) return append(n.a, from, to, out);
      // Pairs of different events cost something, so both ways are cheaper than the whole.
      for (int between = 0; between < n_; ++between) {
        if (between == from || between == to) continue;
        const Cost first = cost(index, from, between);
        const Cost second = cost(index, between, to);
        if (first == never || second == never || first + second != whole) continue;
        append_path(index, from, between, out);
        append_path(index, between, to, out);
        return;
      }
      return;
    default:
      return;
  }
}

}  // namespace cat

}  // namespace lockstep
