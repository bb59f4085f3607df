#include "proofs/distinguish/relations.hpp"

#include <fmt/format.h>

#include "checker/support/diagnostic.hpp"

namespace lockstep::distinguish {

using cat::Op;

z3::expr Bits::both(const z3::expr& a, const z3::expr& b) const {
  if (is_no(a) || is_no(b)) return false_;
  if (is_yes(a)) return b;
  if (is_yes(b) || z3::eq(a, b)) return a;
  return a && b;
}
z3::expr Bits::either(const z3::expr& a, const z3::expr& b) const {
  if (is_yes(a) || is_yes(b)) return true_;
  if (is_no(a)) return b;
  if (is_no(b) || z3::eq(a, b)) return a;
  return a || b;
}
z3::expr Bits::neither(const z3::expr& a) const {
  if (is_yes(a)) return false_;
  if (is_no(a)) return true_;
  return a.is_not() ? a.arg(0) : !a;
}
z3::expr Bits::same(const z3::expr& a, const z3::expr& b) const {
  if (is_yes(a)) return b;
  if (is_yes(b)) return a;
  if (is_no(a)) return neither(b);
  if (is_no(b)) return neither(a);
  return z3::eq(a, b) ? true_ : a == b;
}
z3::expr Bits::all(const std::vector<z3::expr>& of) const {
  z3::expr_vector some(context_);
  for (const z3::expr& e : of) {
    if (is_no(e)) return false_;
    if (!is_yes(e)) some.push_back(e);
  }
  if (some.empty()) return true_;
  return some.size() == 1 ? some[0] : z3::mk_and(some);
}
z3::expr Bits::any(const std::vector<z3::expr>& of) const {
  z3::expr_vector some(context_);
  for (const z3::expr& e : of) {
    if (is_yes(e)) return true_;
    if (!is_no(e)) some.push_back(e);
  }
  if (some.empty()) return false_;
  return some.size() == 1 ? some[0] : z3::mk_or(some);
}

std::set<cat::Base> bases_of(const cat::Plan& plan, const std::string& model) {
  const auto refuse = [&](const std::string& why) {
    throw BadInput(fmt::format("executions of {} cannot be looked for: {}", model, why),
                   "`lockstep compare` without --events compares it on tests");
  };
  std::vector<int> open;
  for (const cat::Check& check : plan.checks) open.push_back(check.node);
  // Also of those that no check looks at: where there is no choice, there is no execution.
  for (const cat::Choice& choice : plan.choices) {
    if (choice.is_coherence) refuse("it chooses a coherence of its own");
    open.insert(open.end(), choice.constants.begin(), choice.constants.end());
    open.insert(open.end(), {choice.elements, choice.within});
  }
  std::set<int> seen;
  std::set<cat::Base> bases;
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (index < 0 || !seen.insert(index).second) continue;
    const cat::Node& node = plan.nodes[static_cast<std::size_t>(index)];
    if (node.op == Op::constant) refuse("it looks into sets");
    if (node.op == Op::base) bases.insert(node.base);
    if (node.op == Op::variable) {
      const cat::Recursion& r = plan.recursions[static_cast<std::size_t>(node.recursion)];
      open.insert(open.end(), r.bodies.begin(), r.bodies.end());
    } else if (node.op != Op::base && node.op != Op::choice) {
      open.insert(open.end(), {node.a, node.b});
    }
  }
  return bases;
}

Judgement PlanReader::judge(const Chosen& chosen) {
  chosen_ = &chosen;
  nodes_.clear();
  choices_.clear();
  exact_.clear();
  possible_.clear();
  // In order: what one rests on are choices before it.
  for (std::size_t i = 0; i < plan_.choices.size(); ++i) choices_.push_back(choice(i));
  std::vector<z3::expr> kept;
  std::vector<z3::expr> raised;
  for (const cat::Check& check : plan_.checks) {
    const z3::expr holding = holds(check);
    (check.flag ? raised : kept).push_back(check.negated ? bits_.neither(holding) : holding);
  }
  return {bits_.all(kept), bits_.any(raised), bits_.all(exact_), bits_.all(possible_)};
}

const Relation& PlanReader::node(int index) {
  const auto found = nodes_.find(index);
  if (found != nodes_.end()) return found->second;
  const cat::Node& node = plan_.nodes[static_cast<std::size_t>(index)];
  if (node.recursion >= 0 || node.op == Op::fixed) {
    int outermost =
        node.recursion >= 0 ? node.recursion : plan_.nodes[static_cast<std::size_t>(node.a)].recursion;
    while (plan_.recursions[static_cast<std::size_t>(outermost)].outer >= 0)
      outermost = plan_.recursions[static_cast<std::size_t>(outermost)].outer;
    if (!nodes_.contains(plan_.recursions[static_cast<std::size_t>(outermost)].variables.front()))
      solve(outermost);
    if (node.recursion >= 0) return nodes_.at(index);
  }
  return nodes_[index] = compute(node);
}

// From below, as often as there are pairs of a variable and an event: whether that was enough is told by
// `exact`.
void PlanReader::solve(int recursion) {
  const cat::Recursion& r = plan_.recursions[static_cast<std::size_t>(recursion)];
  for (const int v : r.variables)
    nodes_[v] = Relation(bits_, plan_.nodes[static_cast<std::size_t>(v)].set, n_);
  z3::expr exact = bits_.no();
  const int rounds = n_ * static_cast<int>(r.variables.size()) + 1;
  for (int i = 0; i < rounds && !bits_.is_yes(exact); ++i) {
    if (i > 0) {
      for (std::size_t v = 0; v < r.variables.size(); ++v) nodes_[r.variables[v]] = nodes_.at(r.bodies[v]);
    }
    for (const int index : r.nodes) {
      const cat::Node& node = plan_.nodes[static_cast<std::size_t>(index)];
      if (node.op == Op::variable) continue;
      if (node.op == Op::fixed) {
        const int inner = plan_.nodes[static_cast<std::size_t>(node.a)].recursion;
        if (plan_.recursions[static_cast<std::size_t>(inner)].variables.front() == node.a) solve(inner);
      }
      nodes_[index] = compute(node);
    }
    std::vector<z3::expr> equal;
    for (std::size_t v = 0; v < r.variables.size(); ++v) {
      const auto& before = nodes_.at(r.variables[v]).all();
      const auto& after = node(r.bodies[v]).all();
      for (std::size_t k = 0; k < before.size(); ++k) equal.push_back(bits_.same(before[k], after[k]));
    }
    exact = bits_.all(equal);
  }
  exact_.push_back(exact);
}

Relation PlanReader::choice(std::size_t which) {
  const cat::Choice& choice = plan_.choices[which];
  Relation out(bits_, false, n_);
  if (!choice.linearisations) {
    const std::vector<z3::expr>& selected = chosen_->selected[which];
    for (std::size_t k = 0; k < selected.size(); ++k) {
      const Relation& one = node(choice.constants[k]);
      for (std::size_t i = 0; i < out.all().size(); ++i)
        out.all()[i] = bits_.either(out.all()[i], bits_.both(selected[k], one.all()[i]));
    }
    return out;
  }
  const Relation& elements = node(choice.elements);
  const Relation& within = node(choice.within);
  const Relation& order = chosen_->orders[which];
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      if (i == j) continue;
      const z3::expr are_elements = bits_.both(elements.at(i), elements.at(j));
      out.at(i, j) = bits_.both(are_elements, order.at(i, j));
      possible_.push_back(bits_.implies(bits_.both(are_elements, within.at(i, j)), order.at(i, j)));
    }
  }
  return out;
}

Relation PlanReader::sequence(const Relation& a, const Relation& b) const {
  Relation out(bits_, false, n_);
  std::vector<z3::expr> ways;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      ways.clear();
      for (int k = 0; k < n_; ++k) {
        if (!bits_.is_no(a.at(i, k)) && !bits_.is_no(b.at(k, j)))
          ways.push_back(bits_.both(a.at(i, k), b.at(k, j)));
      }
      out.at(i, j) = bits_.any(ways);
    }
  }
  return out;
}

// By squaring: paths of up to twice the length each time.
Relation PlanReader::closure(Relation relation) const {
  for (int length = 1; length < n_; length *= 2) {
    Relation twice = sequence(relation, relation);
    for (std::size_t i = 0; i < twice.all().size(); ++i)
      twice.all()[i] = bits_.either(relation.all()[i], twice.all()[i]);
    relation = std::move(twice);
  }
  return relation;
}

Relation PlanReader::compute(const cat::Node& node) {
  Relation out(bits_, node.set, n_);
  const auto each_bit = [&](const auto& value) {
    for (std::size_t i = 0; i < out.all().size(); ++i) out.all()[i] = value(i);
  };
  const auto a = [&]() -> const Relation& { return this->node(node.a); };
  const auto b = [&]() -> const Relation& { return this->node(node.b); };
  const auto pairs = [&](const auto& value) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) out.at(i, j) = value(i, j);
    }
  };
  const auto add_diagonal = [&] {
    for (int i = 0; i < n_; ++i) out.at(i, i) = bits_.either(out.at(i, i), present_.at(i));
  };
  switch (node.op) {
    case Op::base:
      if (node.base == cat::Base::rf) return chosen_->rf;
      if (node.base == cat::Base::co) return chosen_->co;
      if (node.base == cat::Base::sync_fence) return chosen_->fence_order;
      return base_.at(node.base);
    case Op::choice:
      return choices_.at(static_cast<std::size_t>(node.a));
    case Op::fixed:
      return a();
    case Op::constant:  // see bases_of()
    case Op::variable:
      return out;
    case Op::union_:
      each_bit([&](std::size_t i) { return bits_.either(a().all()[i], b().all()[i]); });
      return out;
    case Op::intersection:
      each_bit([&](std::size_t i) { return bits_.both(a().all()[i], b().all()[i]); });
      return out;
    case Op::difference:
      each_bit([&](std::size_t i) { return bits_.both(a().all()[i], bits_.neither(b().all()[i])); });
      return out;
    case Op::complement:
      if (node.set) {
        for (int i = 0; i < n_; ++i) out.at(i) = bits_.both(present_.at(i), bits_.neither(a().at(i)));
        return out;
      }
      pairs([&](int i, int j) {
        return bits_.both(bits_.both(present_.at(i), present_.at(j)), bits_.neither(a().at(i, j)));
      });
      return out;
    case Op::sequence:
      return sequence(a(), b());
    case Op::product:
      pairs([&](int i, int j) { return bits_.both(a().at(i), b().at(j)); });
      return out;
    case Op::inverse:
      pairs([&](int i, int j) { return a().at(j, i); });
      return out;
    case Op::closure:
      return closure(a());
    case Op::star:
      out = closure(a());
      add_diagonal();
      return out;
    case Op::maybe:
      out = a();
      add_diagonal();
      return out;
    case Op::to_identity:
      for (int i = 0; i < n_; ++i) out.at(i, i) = a().at(i);
      return out;
    case Op::domain:
    case Op::range:
      for (int i = 0; i < n_; ++i) {
        std::vector<z3::expr> ways;
        for (int j = 0; j < n_; ++j) ways.push_back(node.op == Op::domain ? a().at(i, j) : a().at(j, i));
        out.at(i) = bits_.any(ways);
      }
      return out;
    case Op::restrict_domain:
      pairs([&](int i, int j) { return bits_.both(a().at(i), b().at(i, j)); });
      return out;
    case Op::restrict_range:
      pairs([&](int i, int j) { return bits_.both(a().at(i, j), b().at(j)); });
      return out;
  }
  return out;
}

z3::expr PlanReader::is_acyclic(const Relation& relation) const {
  const Relation closed = closure(relation);
  std::vector<z3::expr> loops;
  for (int i = 0; i < n_; ++i) loops.push_back(closed.at(i, i));
  return bits_.neither(bits_.any(loops));
}

z3::expr PlanReader::holds(const cat::Check& check) {
  const Relation& relation = node(check.node);
  std::vector<z3::expr> against;
  switch (check.kind) {
    case cat::CheckKind::empty:
      return bits_.neither(bits_.any(relation.all()));
    case cat::CheckKind::irreflexive:
      for (int i = 0; i < n_; ++i) against.push_back(relation.at(i, i));
      return bits_.neither(bits_.any(against));
    case cat::CheckKind::acyclic:
      return is_acyclic(relation);
  }
  return bits_.yes();
}

}  // namespace lockstep::distinguish
