#include "proofs/certificates/refutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lockstep {

namespace {

// A literal as an index: 2 * variable, and 1 more for its contrary.
using Literal = std::uint32_t;

Literal literal(int number) {
  return 2U * static_cast<Literal>(std::abs(number)) + (number < 0 ? 1U : 0U);
}
Literal contrary(Literal a) {
  return a ^ 1U;
}

// Clauses, and what follows from them by unit propagation. What does is never taken back but at the end of
// `follows`.
class Propagation {
 public:
  [[nodiscard]] bool refuted() const { return refuted_; }

  void add(std::vector<Literal> clause) {
    normalise(clause);
    if (is_tautology(clause) || refuted_) return;
    for (const Literal a : clause) make_room(a);
    const std::size_t at = arena_.size();
    by_content_[content(clause)].push_back(at);
    arena_.push_back(static_cast<Literal>(clause.size()));
    // Watched are two that are not false, if there are two.
    std::stable_partition(clause.begin(), clause.end(), [&](Literal a) { return !is_false(a); });
    arena_.insert(arena_.end(), clause.begin(), clause.end());
    if (clause.empty() || is_false(clause.front())) {
      refuted_ = true;
      return;
    }
    if (clause.size() > 1) {
      watches_[clause[0]].push_back({at, clause[1]});
      watches_[clause[1]].push_back({at, clause[0]});
    }
    if (clause.size() == 1 || is_false(clause[1])) {
      if (!is_true(clause.front())) assume(clause.front());
      refuted_ = !propagate();
    }
  }
  // Whether the clause follows: its contrary leads to a clause that is false.
  bool follows(std::vector<Literal> clause) {
    if (refuted_) return true;
    normalise(clause);
    if (is_tautology(clause)) return true;
    for (const Literal a : clause) make_room(a);
    const std::size_t before = trail_.size();
    bool does = false;
    for (const Literal a : clause) {
      does = does || is_true(a);
      if (!does && !is_false(a)) assume(contrary(a));
    }
    does = does || !propagate();
    while (trail_.size() > before) {
      value_[trail_.back()] = value_[contrary(trail_.back())] = unknown;
      trail_.pop_back();
    }
    propagated_ = before;
    return does;
  }
  // One that stands there as often as it was added is there once less.
  void remove(std::vector<Literal> clause) {
    normalise(clause);
    const auto known = by_content_.find(content(clause));
    if (known == by_content_.end()) return;
    for (std::size_t& at : known->second) {
      std::vector<Literal> other(literals(at).begin(), literals(at).end());
      std::sort(other.begin(), other.end());
      if (other != clause) continue;
      arena_[at] |= gone;
      std::swap(at, known->second.back());
      known->second.pop_back();
      return;
    }
  }

 private:
  static constexpr Literal gone = 1U << 31U;  // in the place of a clause's size
  static constexpr std::int8_t unknown = 0, holds = 1, fails = -1;
  struct Watch {
    std::size_t clause;
    Literal other;  // of the clause: where it is true there is nothing to do
  };

  static void normalise(std::vector<Literal>& clause) {
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  }
  static bool is_tautology(const std::vector<Literal>& sorted) {
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
      if (sorted[i] == contrary(sorted[i + 1])) return true;
    }
    return false;
  }
  static std::uint64_t content(const std::vector<Literal>& sorted) {
    std::uint64_t hash = sorted.size();
    for (const Literal a : sorted) hash = (hash ^ a) * 0x9e3779b97f4a7c15U + (hash >> 29U);
    return hash;
  }
  [[nodiscard]] std::span<Literal> literals(std::size_t at) {
    return std::span(arena_).subspan(at + 1, arena_[at] & ~gone);
  }
  void make_room(Literal a) {
    if (value_.size() > (a | 1U)) return;
    value_.resize((a | 1U) + 1, unknown);
    watches_.resize(value_.size());
  }
  [[nodiscard]] bool is_true(Literal a) const { return value_[a] == holds; }
  [[nodiscard]] bool is_false(Literal a) const { return value_[a] == fails; }
  void assume(Literal a) {
    value_[a] = holds;
    value_[contrary(a)] = fails;
    trail_.push_back(a);
  }
  // False where a clause has become false.
  bool propagate() {
    while (propagated_ < trail_.size()) {
      const Literal no = contrary(trail_[propagated_++]);
      std::vector<Watch>& watches = watches_[no];
      std::size_t kept = 0;
      for (std::size_t i = 0; i < watches.size(); ++i) {
        const Watch watch = watches[i];
        if (is_true(watch.other)) {
          watches[kept++] = watch;
          continue;
        }
        if ((arena_[watch.clause] & gone) != 0) continue;
        const std::span<Literal> of = literals(watch.clause);
        if (of[0] == no) std::swap(of[0], of[1]);
        const Literal first = of[0];
        std::size_t next = 2;
        if (!is_true(first)) {
          while (next < of.size() && is_false(of[next])) ++next;
          if (next < of.size()) {
            std::swap(of[1], of[next]);
            watches_[of[1]].push_back({watch.clause, first});
            continue;
          }
        }
        watches[kept++] = {watch.clause, first};
        if (is_true(first)) continue;
        if (is_false(first)) {
          for (++i; i < watches.size(); ++i) watches[kept++] = watches[i];
          watches.resize(kept);
          return false;
        }
        assume(first);
      }
      watches.resize(kept);
    }
    return true;
  }

  bool refuted_ = false;
  std::vector<Literal> arena_;  // each clause's size, then its literals, of which the first two are watched
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_content_;
  std::vector<std::int8_t> value_;
  std::vector<std::vector<Watch>> watches_;
  std::vector<Literal> trail_;
  std::size_t propagated_ = 0;
};

// A step's literals; none where the text ends within it.
std::optional<std::vector<Literal>> read_step(std::string_view proof, std::size_t& at) {
  std::vector<Literal> step;
  while (true) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == proof.size() || shift > 28) return {};
      const auto byte = static_cast<unsigned char>(proof[at++]);
      number |= std::uint64_t{byte & 127U} << shift;
      if ((byte & 128U) == 0) break;
    }
    if (number == 0) return step;
    if (number < 2 || number > 0x7fffffffU) return {};
    step.push_back(static_cast<Literal>(number));
  }
}

}  // namespace

Checked check_refutation(const Cnf& clauses, std::string_view proof) {
  Propagation propagation;
  std::vector<Literal> clause;
  for (const int number : clauses.numbers()) {
    if (number != 0) {
      clause.push_back(literal(number));
    } else {
      propagation.add(std::exchange(clause, {}));
    }
  }
  Checked checked;
  for (std::size_t at = 0; at < proof.size() && !propagation.refuted();) {
    const char what = proof[at++];
    if (what != 'a' && what != 'd') {
      checked.why = fmt::format("byte {} is neither 'a' nor 'd'", at - 1);
      return checked;
    }
    const std::optional<std::vector<Literal>> step = read_step(proof, at);
    if (!step) {
      checked.why = fmt::format("it breaks off within step {}", checked.steps + 1);
      return checked;
    }
    const auto variables = static_cast<Literal>(clauses.variables());
    for (const Literal a : *step) {
      if (a / 2 > variables) {
        checked.why = fmt::format("step {} names variable {} of {}", checked.steps + 1, a / 2, variables);
        return checked;
      }
    }
    ++checked.steps;
    if (what == 'd') {
      propagation.remove(*step);
    } else if (propagation.follows(*step)) {
      propagation.add(*step);
    } else {
      checked.why = fmt::format("step {} does not follow by unit propagation", checked.steps);
      return checked;
    }
  }
  checked.refuted = propagation.refuted();
  if (!checked.refuted) checked.why = "it ends before the empty clause";
  return checked;
}

}  // namespace lockstep
