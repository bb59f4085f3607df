#include "checker/axiomatic/terms.hpp"

#include <algorithm>

#include "spec/program/values.hpp"

namespace lockstep {

std::int32_t Terms::Term::of(std::int32_t a, std::int32_t b) const {
  if (!is_rmw) return compute(arithmetic, a, b);
  struct {
    RmwFunction function;
    std::int64_t a;
    std::int64_t b = 0;
  } const request{rmw, b};
  return to_register(rmw_result(Numbers{}, request, std::int64_t{a}));
}

PathValue Terms::add(Term term) {
  if (term.first.known && term.second.known) return {true, term.of(term.first.is, term.second.is)};
  term.reads = reads(term.first) | reads(term.second);
  terms_.push_back(term);
  return {false, static_cast<std::int32_t>(size()) - 1};
}

PathValue Terms::arithmetic(ArithmeticFunction function, PathValue a, PathValue b) {
  return add({.arithmetic = function, .first = a, .second = b});
}

PathValue Terms::rmw(RmwFunction function, PathValue old, PathValue a, PathValue b) {
  if (function == RmwFunction::exchange) return a;
  if (function == RmwFunction::compare_swap) return b;
  return add({.is_rmw = true, .rmw = function, .first = old, .second = a});
}

void Evaluation::begin(const Terms& terms) {
  terms_ = &terms;
  if (value_.size() < terms.size()) {
    value_.resize(terms.size());
    known_at_.resize(terms.size());
  }
  ++now_;
}

std::int32_t Evaluation::operator()(PathValue v) {
  if (v.known) return v.is;
  const auto index = static_cast<std::size_t>(v.is);
  if (v.is < Terms::positions || known_at_[index] == now_) return value_[index];
  const Terms::Term& term = terms_->at(v.is);
  value_[index] = term.of((*this)(term.first), (*this)(term.second));
  known_at_[index] = now_;
  return value_[index];
}

bool PathCondition::holds(Evaluation& evaluation) const {
  return std::any_of(any.begin(), any.end(), [&](const Compared& one) {
    return compare(one.comparison, evaluation(one.a), evaluation(one.b));
  });
}

}  // namespace lockstep
