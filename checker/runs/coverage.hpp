// Which rules of each system fired, over any number of runs: a rule that never fires is the first sign of a
// wrong model, or of a suite that misses something.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checker/explore/model.hpp"

namespace lockstep {

class RuleCoverage {
 public:
  // `fired` counts firings by rule, in the order of `rules`.
  void add(const std::string& system, std::span<const RuleDescription> rules,
           std::span<const std::uint64_t> fired);

  [[nodiscard]] std::vector<std::string> systems() const;
  // In the protocol's order, each name once; a program's own instructions are not counted.
  [[nodiscard]] std::vector<RuleDescription> never_fired(const std::string& system) const;

 private:
  struct Counted {
    RuleDescription rule;
    std::uint64_t firings = 0;
  };
  std::map<std::string, std::vector<Counted>> systems_;
};

// "fill reaches L1  [L1; 4.3.1 Normal Read]", a line each, indented.
std::string rules_text(std::span<const RuleDescription> rules);

}  // namespace lockstep
