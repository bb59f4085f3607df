// All executions of one frame as formulas: which operation each event is of, what it accesses, what it
// depends on, what it reads, and which write is the last of its location.
#pragma once

#include <z3++.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/axiomatic/plan.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"
#include "proofs/distinguish/alphabet.hpp"
#include "proofs/distinguish/relations.hpp"

namespace lockstep::distinguish {

// A litmus test, and the outcome that stands for one of its executions.
struct Witness {
  std::shared_ptr<const LitmusTest> test;
  Outcome outcome;
};

// Events are numbered: initial writes by location, then thread by thread.
class Skeleton {
 public:
  Skeleton(const Bits& bits, const Frame& frame, const Tables& tables, const std::set<cat::Base>& bases);

  [[nodiscard]] int size() const { return locations_ + slots_; }
  [[nodiscard]] const PlanReader::Base& base() const { return base_; }
  // The set of all events: nothing is written at first where nobody accesses a location.
  [[nodiscard]] const Relation& present() const { return present_; }
  // What it takes to be an execution's beginning: everything but what is chosen by a model.
  [[nodiscard]] const z3::expr& possible() const { return possible_; }
  // Its variables: of the program, and those that tell its outcome besides.
  [[nodiscard]] const std::vector<z3::expr>& program() const { return program_; }
  [[nodiscard]] const std::vector<z3::expr>& outcome() const { return outcome_; }

  // How far a program is from one of plain accesses without dependencies: what costs something, and how much.
  [[nodiscard]] const std::vector<std::pair<z3::expr, int>>& costs() const { return costs_; }

  // Where a choice's variables come from, by name: fresh ones, or the values of a choice that was made.
  using Source = std::function<z3::expr(const std::string& name)>;
  // A choice for a plan, of which the possible ones agree with the outcome. With `own_sources` reads read
  // what they like, and only those agree that a branch follows or a value is computed from.
  Chosen choose(const cat::Plan& plan, const Source& source, bool own_sources, z3::expr& possible) const;

  // The program of a model of `possible`, with the outcome.
  [[nodiscard]] Witness witness(const z3::model& model, const std::string& name,
                                const std::string& doc) const;

 private:
  struct Slot {
    int thread = 0;
    bool opens = false;  // the first event of its thread
    bool ends = false;   // the last
    std::vector<z3::expr> letter;
    std::vector<z3::expr> at;  // by location; none for fences
    z3::expr reads;
    z3::expr writes;
    z3::expr accesses;
    z3::expr branches;  // behind it the thread goes on only if it has read what it did
    z3::expr last;      // no other write of its location is observed at the end
  };
  [[nodiscard]] const z3::expr& is_write(int event) const;
  [[nodiscard]] Where where(int from, int to) const;
  [[nodiscard]] z3::expr is_any(int slot, const Letters& of) const;
  [[nodiscard]] z3::expr fresh(const std::string& name);
  void choose_operations();
  void choose_locations();
  void choose_dependencies();
  void choose_sources();
  void choose_last();
  void fill_base();
  Relation set_of(cat::Base base) const;
  Relation relation_of(cat::Base base) const;
  Relation from_text(cat::Base base) const;
  void require(const z3::expr& e) { required_.push_back(e); }
  void exactly_one(const z3::expr& where, const std::vector<z3::expr>& of);
  void at_most_one(const std::vector<z3::expr>& of, std::vector<z3::expr>& needed) const;
  void transitive(const Relation& relation, int first, std::vector<z3::expr>& needed) const;
  Relation total_order(const Source& source, const std::string& name, bool with_initial,
                       std::vector<z3::expr>& possible) const;

  const Bits& bits_;
  const Frame& frame_;
  const Tables& tables_;
  std::set<cat::Base> bases_;
  std::vector<std::size_t> kept_;  // letters
  int slots_;
  int locations_;
  std::vector<Slot> slot_;
  Relation same_location_;
  Relation present_;
  Relation data_;
  Relation addr_;
  Relation rf_;
  PlanReader::Base base_;
  std::vector<z3::expr> required_;
  z3::expr possible_;
  std::vector<z3::expr> program_;
  std::vector<z3::expr> outcome_;
  std::vector<std::pair<z3::expr, int>> costs_;
};

}  // namespace lockstep::distinguish
