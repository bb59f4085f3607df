// What a plan comes to while some of an execution is not chosen yet: between what is in every way to choose
// the rest and what is in any.
#pragma once

#include <vector>

#include "checker/axiomatic/evaluator.hpp"

namespace lockstep::cat {

// A step of evaluation, for one of the bounds or both.
struct BoundStep {
  Step step;
  bool lower = false;
  bool upper = false;
};
// What a check needs to be told to fail for certain, once what the events fix has been evaluated; or all of
// several checks.
std::vector<BoundStep> bound_steps(const Plan& plan, const std::vector<const Check*>& checks);
// Whether a plan has bounds: a recursion that takes away what it is still defining has none, and what a model
// chooses by itself is not bounded here.
bool has_bounds(const Plan& plan);

template <int W>
class Bounds {
 public:
  Bounds() {
    lower_.subtract_what_is_in(upper_);
    upper_.subtract_what_is_in(lower_);
  }
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

  // With what the events fix evaluated.
  void prepare(const Plan& plan, const Execution& execution) {
    lower_.prepare(plan, execution);
    upper_.prepare(plan, execution);
    for (const Step& step : plan.late[static_cast<std::size_t>(Stage::fixed_by_events)])
      evaluate({step, true, true});
  }
  // What is in for certain, and what may be.
  Evaluator<W>& lower() { return lower_; }
  Evaluator<W>& upper() { return upper_; }

  void evaluate(const std::vector<BoundStep>& steps) {
    for (const BoundStep& step : steps) evaluate(step);
  }
  // Whether what a check asks is not so, whatever is still chosen; of a flag, whether it is not raised.
  bool surely_fails(const Check& check) { return check.negated ? upper_.holds(check) : !lower_.holds(check); }

 private:
  void evaluate(const BoundStep& step) {
    if (step.lower) lower_.evaluate(step.step);
    if (step.upper) upper_.evaluate(step.step);
  }
  Evaluator<W> lower_;
  Evaluator<W> upper_;
};

}  // namespace lockstep::cat
