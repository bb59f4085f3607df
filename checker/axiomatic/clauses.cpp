#include "checker/axiomatic/clauses.hpp"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::uint64_t restart_after = 64;  // conflicts, times Luby's sequence
constexpr std::size_t first_most_learned = 4000;
constexpr std::uint32_t kept_levels = 3;  // what was learned of so few is never forgotten

// 1 1 2 1 1 2 4 1 1 2 ...
std::uint64_t luby(std::uint64_t i) {
  std::uint64_t size = 1;
  std::uint64_t power = 1;
  while (size < i + 1) {
    size = 2 * size + 1;
    power *= 2;
  }
  while (size - 1 != i) {
    size = (size - 1) / 2;
    power /= 2;
    i %= size;
  }
  return power;
}

}  // namespace

void Clauses::clear() {
  *this = {};
  restart_at_ = restart_after;
  most_learned_ = first_most_learned;
}

int Clauses::add_variable(bool phase) {
  const int v = variables();
  value_.push_back(0);
  phase_.push_back(phase);
  level_.push_back(0);
  reason_.push_back(none);
  seen_.push_back(false);
  watching_.resize(2 * value_.size());
  newer_.push_back(oldest_);
  older_.push_back(none);
  stamp_.push_back(--first_stamp_);
  (oldest_ == none ? newest_ : older_[static_cast<std::size_t>(oldest_)]) = v;
  oldest_ = v;
  if (next_ == none) next_ = newest_;
  return v;
}

void Clauses::unlink(int variable) {
  const int newer = newer_[static_cast<std::size_t>(variable)];
  const int older = older_[static_cast<std::size_t>(variable)];
  (newer == none ? newest_ : older_[static_cast<std::size_t>(newer)]) = older;
  (older == none ? oldest_ : newer_[static_cast<std::size_t>(older)]) = newer;
}

void Clauses::put_in_front(int variable) {
  if (variable == newest_) return;
  const auto v = static_cast<std::size_t>(variable);
  if (next_ == variable) next_ = newer_[v];
  unlink(variable);
  newer_[v] = none;
  older_[v] = newest_;
  newer_[static_cast<std::size_t>(newest_)] = variable;
  newest_ = variable;
  stamp_[v] = ++last_stamp_;
  if (value_[v] == 0) next_ = variable;
}

// ---- clauses

void Clauses::store(std::span<const Literal> clause, std::uint32_t levels) {
  const auto begin = static_cast<std::uint32_t>(literals_.size());
  clauses_.push_back({begin, static_cast<std::uint32_t>(clause.size()), levels});
  literals_.insert(literals_.end(), clause.begin(), clause.end());
  if (levels > 0) ++learned_;
}

void Clauses::add(std::vector<Literal> clause) {
  std::sort(clause.begin(), clause.end(), [](Literal a, Literal b) { return a.index() < b.index(); });
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  if (clause.empty()) {
    contradiction_ = true;
    return;
  }
  store(clause, 0);
  fresh_.push_back(static_cast<int>(clauses_.size()) - 1);
}

// Watches two literals that are not false, or else those that became false last.
void Clauses::attach(int which) {
  const std::span<Literal> clause = literals(which);
  const auto rank = [this](Literal l) { return is_false(l) ? level_of(l) : level() + 1; };
  for (std::size_t watched = 0; watched < std::min<std::size_t>(2, clause.size()); ++watched) {
    for (std::size_t i = watched + 1; i < clause.size(); ++i) {
      if (rank(clause[i]) > rank(clause[watched])) std::swap(clause[i], clause[watched]);
    }
  }
  if (clause.size() < 2) return;
  watching_[clause[0].index()].push_back({which, clause[1]});
  watching_[clause[1].index()].push_back({which, clause[0]});
}

// ---- propagation

void Clauses::assign(Literal l, int reason) {
  const auto v = static_cast<std::size_t>(l.variable());
  value_[v] = l.positive() ? 1 : -1;
  level_[v] = level();
  reason_[v] = reason;
  trail_.push_back(l);
}

int Clauses::conflict() {
  while (!fresh_.empty()) {
    const int which = fresh_.back();
    fresh_.pop_back();
    attach(which);
    const std::span<const Literal> clause = literals(which);
    if (is_false(clause[0])) return which;
    if (clause.size() == 1) back_to(0);  // where it holds for good
    if (is_open(clause[0]) && (clause.size() == 1 || is_false(clause[1]))) assign(clause[0], which);
  }
  while (head_ < trail_.size()) {
    const int which = propagate(!trail_[head_++]);
    if (which != none) return which;
  }
  return none;
}

int Clauses::propagate(Literal broken) {
  std::vector<Watch>& watching = watching_[broken.index()];
  auto kept = watching.begin();
  for (auto at = watching.begin(); at != watching.end(); ++at) {
    *kept++ = *at;
    if (is_true(at->other)) continue;
    const int which = at->clause;
    const std::span<Literal> clause = literals(which);
    if (clause[0] == broken) std::swap(clause[0], clause[1]);
    (kept - 1)->other = clause[0];
    if (is_true(clause[0])) continue;
    const auto open =
        std::find_if(clause.begin() + 2, clause.end(), [this](Literal l) { return !is_false(l); });
    if (open != clause.end()) {
      std::swap(clause[1], *open);
      watching_[clause[1].index()].push_back({which, clause[0]});
      --kept;
    } else if (is_false(clause[0])) {
      watching.erase(std::copy(at + 1, watching.end(), kept), watching.end());
      return which;
    } else {
      assign(clause[0], which);
    }
  }
  watching.erase(kept, watching.end());
  return none;
}

bool Clauses::propagate() {
  while (!contradiction_) {
    const int which = conflict();
    if (which == none) return true;
    if (!resolve(which)) contradiction_ = true;
  }
  return false;
}

// ---- conflicts

// Learns what the conflict follows from at the level where only one literal of it was left open, and goes
// back to where that clause says something new.
bool Clauses::resolve(int conflict) {
  ++conflicts_;
  int at = 0;
  for (const Literal l : literals(conflict)) at = std::max(at, level_of(l));
  if (at == 0) return false;
  back_to(at);
  std::vector<Literal> learned(1);
  std::vector<int> about;
  int open = 0;
  std::size_t next = trail_.size();
  int because = conflict;
  do {
    for (const Literal l : literals(because)) {
      const auto v = static_cast<std::size_t>(l.variable());
      if (seen_[v] || !is_false(l) || level_[v] == 0) continue;
      seen_[v] = true;
      about.push_back(l.variable());
      if (level_[v] == at) {
        ++open;
      } else {
        learned.push_back(l);
      }
    }
    while (!seen_[static_cast<std::size_t>(trail_[--next].variable())]) {
    }
    because = reason_[static_cast<std::size_t>(trail_[next].variable())];
    --open;
  } while (open > 0);
  learned[0] = !trail_[next];
  shorten(learned);
  std::vector<int> levels;
  for (const Literal l : learned) levels.push_back(level_of(l));
  for (const int v : about) seen_[static_cast<std::size_t>(v)] = false;
  std::sort(about.begin(), about.end(), [this](int a, int b) {
    return stamp_[static_cast<std::size_t>(a)] < stamp_[static_cast<std::size_t>(b)];
  });
  for (const int v : about) put_in_front(v);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  back_to(levels.size() < 2 ? 0 : levels[levels.size() - 2]);
  store(learned, static_cast<std::uint32_t>(levels.size()));
  fresh_.push_back(static_cast<int>(clauses_.size()) - 1);
  return true;
}

// Without literals that follow from the others.
void Clauses::shorten(std::vector<Literal>& learned) {
  const auto follows = [this](Literal l) {
    const int reason = reason_[static_cast<std::size_t>(l.variable())];
    if (reason == none) return false;
    const std::span<const Literal> because = literals(reason);
    return std::all_of(because.begin(), because.end(), [&](Literal other) {
      const auto v = static_cast<std::size_t>(other.variable());
      return other == !l || seen_[v] || level_[v] == 0;
    });
  };
  learned.erase(std::remove_if(learned.begin() + 1, learned.end(), follows), learned.end());
}

void Clauses::back_to(int level) {
  if (level >= this->level()) return;
  const std::size_t size = level_begin_[static_cast<std::size_t>(level)];
  for (std::size_t i = size; i < trail_.size(); ++i) {
    const auto v = static_cast<std::size_t>(trail_[i].variable());
    phase_[v] = trail_[i].positive();
    value_[v] = 0;
    reason_[v] = none;
    if (next_ == none || stamp_[v] > stamp_[static_cast<std::size_t>(next_)]) next_ = trail_[i].variable();
  }
  trail_.resize(size);
  level_begin_.resize(static_cast<std::size_t>(level));
  head_ = std::min(head_, size);
  kept_ = std::min(kept_, size);
}

// ---- decisions

bool Clauses::decide() {
  while (next_ != none && value_[static_cast<std::size_t>(next_)] != 0)
    next_ = older_[static_cast<std::size_t>(next_)];
  if (next_ == none) return false;
  level_begin_.push_back(trail_.size());
  assign(Literal(next_, phase_[static_cast<std::size_t>(next_)]), none);
  return true;
}

bool Clauses::restart_if_due() {
  if (conflicts_ < restart_at_ || level() == 0) return false;
  restart_at_ = conflicts_ + restart_after * luby(++restarts_);
  back_to(0);
  if (learned_ > most_learned_) forget();
  return true;
}

// At level 0, and nothing fresh, so that no clause is the reason of anything that can be taken back.
void Clauses::forget() {
  most_learned_ += most_learned_ / 10;
  std::vector<int> worst;
  for (int c = 0; c < static_cast<int>(clauses_.size()); ++c) {
    if (clauses_[static_cast<std::size_t>(c)].levels > kept_levels) worst.push_back(c);
  }
  std::stable_sort(worst.begin(), worst.end(), [this](int a, int b) {
    const Clause& x = clauses_[static_cast<std::size_t>(a)];
    const Clause& y = clauses_[static_cast<std::size_t>(b)];
    return std::pair(x.levels, x.size) > std::pair(y.levels, y.size);
  });
  worst.resize(worst.size() / 2);
  std::vector<bool> forgotten(clauses_.size());
  for (const int c : worst) forgotten[static_cast<std::size_t>(c)] = true;
  const std::vector<Literal> before = std::exchange(literals_, {});
  const std::vector<Clause> all = std::exchange(clauses_, {});
  for (auto& watching : watching_) watching.clear();
  learned_ = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const std::span<const Literal> clause(before.data() + all[c].begin, all[c].size);
    if (forgotten[c] || std::any_of(clause.begin(), clause.end(), [this](Literal l) { return is_true(l); }))
      continue;
    store(clause, all[c].levels);
    attach(static_cast<int>(clauses_.size()) - 1);
  }
  for (const Literal l : trail_) reason_[static_cast<std::size_t>(l.variable())] = none;
}

std::size_t Clauses::kept() {
  return std::exchange(kept_, trail_.size());
}

}  // namespace lockstep
