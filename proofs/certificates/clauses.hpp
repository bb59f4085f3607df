// Clauses, and what a solver derives from them to refute them, in the forms that SAT solvers share.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// In conjunctive normal form. Literals are numbers other than 0: n is a variable, -n its contrary. A 0 ends a
// clause.
class Cnf {
 public:
  [[nodiscard]] int variables() const { return variables_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // As DIMACS has them, one after the other.
  [[nodiscard]] std::span<const int> numbers() const { return numbers_; }

  int new_variable() { return ++variables_; }
  void add(std::span<const int> literals) {
    numbers_.insert(numbers_.end(), literals.begin(), literals.end());
    numbers_.push_back(0);
    ++size_;
  }
  void add(std::initializer_list<int> literals) { add(std::span(literals.begin(), literals.size())); }

 private:
  int variables_ = 0;
  std::size_t size_ = 0;
  std::vector<int> numbers_;
};

// "p cnf ...", as every SAT solver and every checker of proofs reads it; after comments "c ...".
std::string dimacs(const Cnf& clauses, const std::vector<std::string>& comments);

}  // namespace lockstep
