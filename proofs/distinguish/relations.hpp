// Sets and relations of events as formulas, and a model's plan evaluated on them.
#pragma once

#include <z3++.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checker/axiomatic/plan.hpp"

namespace lockstep::distinguish {

// Formulas with what is constant folded.
class Bits {
 public:
  explicit Bits(z3::context& context)
      : context_(context), true_(context.bool_val(true)), false_(context.bool_val(false)) {}
  Bits(const Bits&) = delete;
  Bits& operator=(const Bits&) = delete;

  [[nodiscard]] z3::context& context() const { return context_; }
  [[nodiscard]] const z3::expr& yes() const { return true_; }
  [[nodiscard]] const z3::expr& no() const { return false_; }
  [[nodiscard]] const z3::expr& constant(bool value) const { return value ? true_ : false_; }
  [[nodiscard]] bool is_yes(const z3::expr& e) const { return z3::eq(e, true_); }
  [[nodiscard]] bool is_no(const z3::expr& e) const { return z3::eq(e, false_); }
  z3::expr both(const z3::expr& a, const z3::expr& b) const;
  z3::expr either(const z3::expr& a, const z3::expr& b) const;
  z3::expr neither(const z3::expr& a) const;  // not
  z3::expr implies(const z3::expr& a, const z3::expr& b) const { return either(neither(a), b); }
  z3::expr same(const z3::expr& a, const z3::expr& b) const;
  z3::expr all(const std::vector<z3::expr>& of) const;
  z3::expr any(const std::vector<z3::expr>& of) const;

 private:
  z3::context& context_;
  z3::expr true_;
  z3::expr false_;
};

// A set has one row, a relation one for each event.
class Relation {
 public:
  Relation() = default;
  Relation(const Bits& bits, bool set, int events)
      : n_(events), bits_(static_cast<std::size_t>(set ? events : events * events), bits.no()) {}
  [[nodiscard]] int events() const { return n_; }
  z3::expr& at(int i) { return bits_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const z3::expr& at(int i) const { return bits_[static_cast<std::size_t>(i)]; }
  z3::expr& at(int i, int j) { return bits_[static_cast<std::size_t>(i * n_ + j)]; }
  [[nodiscard]] const z3::expr& at(int i, int j) const { return bits_[static_cast<std::size_t>(i * n_ + j)]; }
  [[nodiscard]] std::vector<z3::expr>& all() { return bits_; }
  [[nodiscard]] const std::vector<z3::expr>& all() const { return bits_; }

 private:
  int n_ = 0;
  std::vector<z3::expr> bits_;
};

// What is chosen of an execution, as far as a plan looks at it.
struct Chosen {
  Relation rf;
  Relation co;
  Relation fence_order;
  std::vector<Relation> orders;                 // by Plan::choices: of all events; of `constants` nothing
  std::vector<std::vector<z3::expr>> selected;  // and of these, which of them
};

// What a model says of the executions that some formulas stand for.
struct Judgement {
  z3::expr allowed;  // no check that is no flag fails
  z3::expr flagged;  // some flag is raised
  z3::expr exact;    // recursions have come to their fixpoints
  z3::expr chosen;   // what was chosen is a choice that the model has
};

// The base sets and relations that a plan's checks and choices rest on. Throws BadInput for what is not known
// before an execution's events are: models that look into sets, and that choose a coherence of their own.
std::set<cat::Base> bases_of(const cat::Plan& plan, const std::string& model);

// `base` gives base sets and relations; those of choices come from `chosen`. `present` is the set of all
// events: the others are none, such as the initial write of a location that nobody accesses.
class PlanReader {
 public:
  using Base = std::map<cat::Base, Relation>;
  PlanReader(const Bits& bits, const cat::Plan& plan, const Base& base, const Relation& present)
      : bits_(bits), plan_(plan), base_(base), present_(present), n_(present.events()) {}
  Judgement judge(const Chosen& chosen);

 private:
  void solve(int recursion);
  Relation compute(const cat::Node& node);
  Relation closure(Relation relation) const;
  Relation sequence(const Relation& a, const Relation& b) const;
  const Relation& node(int index);
  Relation choice(std::size_t which);
  z3::expr holds(const cat::Check& check);
  z3::expr is_acyclic(const Relation& relation) const;

  const Bits& bits_;
  const cat::Plan& plan_;
  const Base& base_;
  const Relation& present_;
  int n_;
  const Chosen* chosen_ = nullptr;
  std::map<int, Relation> nodes_;
  std::vector<Relation> choices_;
  std::vector<z3::expr> exact_;
  std::vector<z3::expr> possible_;
};

}  // namespace lockstep::distinguish
