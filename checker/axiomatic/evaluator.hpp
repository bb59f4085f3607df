// Evaluates a plan on the events of one execution: sets are rows of W words of bits, relations one such row
// for each event. Nothing is allocated once a plan's storage stands.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "checker/axiomatic/execution.hpp"
#include "checker/axiomatic/plan.hpp"

namespace lockstep::cat {

template <int W>
class Evaluator {
 public:
  using Word = std::uint64_t;
  using Row = Word*;

  // Storage for the plan on `execution`, with the base sets and relations that it needs.
  void prepare(const Plan& plan, const Execution& execution) {
    plan_ = &plan;
    n_ = execution.size();
    offsets_.resize(plan.nodes.size());
    std::size_t words = 0;
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
      offsets_[i] = words;
      words += plan.nodes[i].set ? static_cast<std::size_t>(W) : relation_words();
    }
    rf_ = words;
    co_ = rf_ + relation_words();
    fence_order_ = co_ + relation_words();
    choices_ = fence_order_ + relation_words();
    words = choices_ + plan.choices.size() * relation_words();
    if (arena_.size() < words) arena_.resize(words);
    std::memset(arena_.data() + rf_, 0, (words - rf_) * sizeof(Word));
    empty_.assign(plan.nodes.size(), false);
    all_.fill(0);
    for (int i = 0; i < n_; ++i) put(all_.data(), i);
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
      const Node& node = plan.nodes[i];
      if (node.op == Op::base) {
        if (node.base == Base::rf) offsets_[i] = rf_;
        if (node.base == Base::co) offsets_[i] = co_;
        if (node.base == Base::sync_fence) offsets_[i] = fence_order_;
        if (node.stage != Stage::fixed_by_events) continue;
        execution.fill(node.base, row(static_cast<int>(i)));
        note_emptiness(static_cast<int>(i));
      } else if (node.op == Op::choice) {
        offsets_[i] = choices_ + static_cast<std::size_t>(node.a) * relation_words();
      } else if (node.op == Op::constant) {
        const Constant& c = plan.constants[static_cast<std::size_t>(node.a)];
        std::memcpy(row(static_cast<int>(i)), c.rows.data(), c.rows.size() * sizeof(Word));
      }
    }
  }

  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] std::size_t relation_words() const { return static_cast<std::size_t>(n_) * W; }
  Row row(int node, int event = 0) {
    return arena_.data() + offsets_[static_cast<std::size_t>(node)] + static_cast<std::size_t>(event) * W;
  }
  Row rf(int event = 0) { return arena_.data() + rf_ + static_cast<std::size_t>(event) * W; }
  Row co(int event = 0) { return arena_.data() + co_ + static_cast<std::size_t>(event) * W; }
  Row fence_order(int event = 0) {
    return arena_.data() + fence_order_ + static_cast<std::size_t>(event) * W;
  }
  Row choice(int which, int event = 0) {
    return arena_.data() + choices_ + static_cast<std::size_t>(which) * relation_words() +
           static_cast<std::size_t>(event) * W;
  }
  // All that is chosen but by the model itself: rows of rf, then of co, then of the order of fences.
  std::span<Word> chosen() { return {rf(), 3 * relation_words()}; }
  static bool has(const Word* row, int event) { return ((row[event / 64] >> (event % 64)) & 1U) != 0; }
  static void put(Word* row, int event) { row[event / 64] |= Word{1} << (event % 64); }
  static void drop(Word* row, int event) { row[event / 64] &= ~(Word{1} << (event % 64)); }

  // What is taken away from something, or the complement is of, is looked up in another evaluator: of two
  // that do so for each other one bounds the plan from below, and one from above.
  void subtract_what_is_in(Evaluator& other) { subtracted_ = &other; }

  void evaluate(const std::vector<Step>& steps) {
    for (const Step& step : steps) evaluate(step);
  }
  void evaluate(const Step& step) {
    if (step.recursion >= 0) {
      solve(step.recursion);
    } else {
      evaluate(step.node);
    }
  }

  // Whether what a check says of its node is so, before any negation.
  bool holds(const Check& check) {
    switch (check.kind) {
      case CheckKind::empty:
        return is_empty(check.node);
      case CheckKind::irreflexive:
        for (int i = 0; i < n_; ++i) {
          if (has(row(check.node, i), i)) return false;
        }
        return true;
      case CheckKind::acyclic:
        return is_acyclic(row(check.node));
    }
    return true;
  }

  // A shortest cycle of a relation, first event not repeated; empty where there is none.
  std::vector<int> shortest_cycle(int node) {
    std::vector<int> best;
    for (int start = 0; start < n_; ++start) {
      std::vector<int> from(static_cast<std::size_t>(n_), -1);
      std::vector<int> queue{start};
      bool found = false;
      for (std::size_t head = 0; head < queue.size() && !found; ++head) {
        const int at = queue[head];
        for (int next = 0; next < n_ && !found; ++next) {
          if (!has(row(node, at), next)) continue;
          if (next == start) {
            std::vector<int> cycle;
            for (int back = at; back != start; back = from[static_cast<std::size_t>(back)])
              cycle.push_back(back);
            cycle.push_back(start);
            if (best.empty() || cycle.size() < best.size()) best = {cycle.rbegin(), cycle.rend()};
            found = true;
          } else if (from[static_cast<std::size_t>(next)] < 0) {
            from[static_cast<std::size_t>(next)] = at;
            queue.push_back(next);
          }
        }
      }
    }
    return best;
  }

  void evaluate(int index) {
    const Node& node = plan_->nodes[static_cast<std::size_t>(index)];
    if (node.op == Op::base || node.op == Op::constant || node.op == Op::choice || node.op == Op::variable)
      return;
    if (surely_empty(node)) {
      if (is_known_empty(index)) return;
      std::memset(row(index), 0, words_of(node) * sizeof(Word));
      empty_[static_cast<std::size_t>(index)] = true;
      return;
    }
    compute(node, row(index));
    note_emptiness(index);
  }

  bool is_empty(int node) {
    const Word* const in = row(node);
    const std::size_t words = words_of(plan_->nodes[static_cast<std::size_t>(node)]);
    Word all = 0;
    for (std::size_t i = 0; i < words; ++i) all |= in[i];
    return all == 0;
  }

 private:
  // Much of a model is about what a test does not have: fences, RMWs, scopes. What is known to be empty is
  // zero, and so is what follows from it.
  [[nodiscard]] bool is_known_empty(int node) const { return empty_[static_cast<std::size_t>(node)]; }
  void note_emptiness(int node) { empty_[static_cast<std::size_t>(node)] = is_empty(node); }
  [[nodiscard]] bool surely_empty(const Node& node) const {
    switch (node.op) {
      case Op::union_:
        return is_known_empty(node.a) && is_known_empty(node.b);
      case Op::intersection:
      case Op::sequence:
      case Op::product:
      case Op::restrict_domain:
      case Op::restrict_range:
        return is_known_empty(node.a) || is_known_empty(node.b);
      case Op::difference:
      case Op::inverse:
      case Op::closure:
      case Op::to_identity:
      case Op::domain:
      case Op::range:
        return is_known_empty(node.a);
      default:
        return false;
    }
  }

  void compute(const Node& node, Row out) {
    switch (node.op) {
      case Op::base:
      case Op::constant:
      case Op::choice:
      case Op::variable:
        return;
      case Op::fixed:
        std::memcpy(out, row(node.a), words_of(node) * sizeof(Word));
        return;
      case Op::union_:
        return each_word(node, out, row(node.a), row(node.b), [](Word a, Word b) { return a | b; });
      case Op::intersection:
        return each_word(node, out, row(node.a), row(node.b), [](Word a, Word b) { return a & b; });
      case Op::difference:
        return each_word(node, out, row(node.a), subtracted(node.b), [](Word a, Word b) { return a & ~b; });
      case Op::sequence:
        for (int i = 0; i < n_; ++i, out += W) {
          clear(out);
          each_bit(row(node.a, i), [&](int j) { join(out, row(node.b, j)); });
        }
        return;
      case Op::product:
        for (int i = 0; i < n_; ++i, out += W) {
          if (has(row(node.a), i)) {
            copy(out, row(node.b));
          } else {
            clear(out);
          }
        }
        return;
      case Op::complement:
        if (node.set) {
          for (std::size_t k = 0; k < W; ++k) out[k] = all_[k] & ~subtracted(node.a)[k];
          return;
        }
        for (int i = 0; i < n_; ++i, out += W) {
          const Word* const in = subtracted(node.a, i);
          for (std::size_t k = 0; k < W; ++k) out[k] = all_[k] & ~in[k];
        }
        return;
      case Op::inverse:
        std::memset(out, 0, relation_words() * sizeof(Word));
        for (int i = 0; i < n_; ++i) {
          each_bit(row(node.a, i), [&](int j) { put(out + static_cast<std::ptrdiff_t>(j) * W, i); });
        }
        return;
      case Op::closure:
      case Op::star:
        std::memcpy(out, row(node.a), relation_words() * sizeof(Word));
        close(out);
        if (node.op == Op::star) add_diagonal(out);
        return;
      case Op::maybe:
        std::memcpy(out, row(node.a), relation_words() * sizeof(Word));
        add_diagonal(out);
        return;
      case Op::to_identity:
        std::memset(out, 0, relation_words() * sizeof(Word));
        each_bit(row(node.a), [&](int i) { put(out + static_cast<std::ptrdiff_t>(i) * W, i); });
        return;
      case Op::domain:
        clear(out);
        for (int i = 0; i < n_; ++i) {
          if (any(row(node.a, i))) put(out, i);
        }
        return;
      case Op::range:
        clear(out);
        for (int i = 0; i < n_; ++i) join(out, row(node.a, i));
        return;
      case Op::restrict_domain:
        for (int i = 0; i < n_; ++i, out += W) {
          if (has(row(node.a), i)) {
            copy(out, row(node.b, i));
          } else {
            clear(out);
          }
        }
        return;
      case Op::restrict_range: {
        const Word* const set = row(node.b);
        for (int i = 0; i < n_; ++i, out += W) {
          const Word* const in = row(node.a, i);
          for (int k = 0; k < W; ++k) out[k] = in[k] & set[k];
        }
        return;
      }
    }
  }

  [[nodiscard]] std::size_t words_of(const Node& node) const {
    return node.set ? static_cast<std::size_t>(W) : relation_words();
  }
  static void clear(Row out) {
    for (int k = 0; k < W; ++k) out[k] = 0;
  }
  static void copy(Row out, const Word* in) {
    for (int k = 0; k < W; ++k) out[k] = in[k];
  }
  static void join(Row out, const Word* in) {
    for (int k = 0; k < W; ++k) out[k] |= in[k];
  }
  static bool any(const Word* in) {
    Word all = 0;
    for (int k = 0; k < W; ++k) all |= in[k];
    return all != 0;
  }
  template <class Use>
  static void each_bit(const Word* in, const Use& use) {
    for (int k = 0; k < W; ++k) {
      for (Word rest = in[k]; rest != 0; rest &= rest - 1) use(k * 64 + std::countr_zero(rest));
    }
  }
  const Word* subtracted(int node, int event = 0) {
    return subtracted_ == nullptr ? row(node, event) : subtracted_->row(node, event);
  }
  template <class Join>
  void each_word(const Node& node, Row out, const Word* a, const Word* b, const Join& join) {
    const std::size_t words = words_of(node);
    for (std::size_t i = 0; i < words; ++i) out[i] = join(a[i], b[i]);
  }
  void add_diagonal(Row out) const {
    for (int i = 0; i < n_; ++i, out += W) put(out, i);
  }
  // Warshall's, without a branch on each pair.
  void close(Row r) const {
    for (int k = 0; k < n_; ++k) {
      std::array<Word, W> through;
      copy(through.data(), r + static_cast<std::ptrdiff_t>(k) * W);
      const int word = k / 64;
      const int bit = k % 64;
      for (int i = 0; i < n_; ++i) {
        Row at = r + static_cast<std::ptrdiff_t>(i) * W;
        const Word reaches = Word{0} - ((at[word] >> bit) & 1U);
        for (std::size_t m = 0; m < W; ++m) at[m] |= through[m] & reaches;
      }
    }
  }
  // Takes away events that lead nowhere until none is left, or every one is on the way to a cycle.
  bool is_acyclic(const Word* r) const {
    std::array<Word, W> alive = all_;
    for (bool changed = true; changed;) {
      changed = false;
      for (int k = 0; k < W; ++k) {
        for (Word rest = alive[static_cast<std::size_t>(k)]; rest != 0; rest &= rest - 1) {
          const int i = k * 64 + std::countr_zero(rest);
          const Word* const out = r + static_cast<std::ptrdiff_t>(i) * W;
          Word left = 0;
          for (int m = 0; m < W; ++m) left |= out[m] & alive[static_cast<std::size_t>(m)];
          if (left != 0) continue;
          alive[static_cast<std::size_t>(k)] &= ~(Word{1} << (i % 64));
          changed = true;
        }
      }
    }
    Word left = 0;
    for (const Word w : alive) left |= w;
    return left == 0;
  }

  // The least fixpoint, from below. Bodies that are not monotone need not have one.
  void solve(int which) {
    const Recursion& r = plan_->recursions[static_cast<std::size_t>(which)];
    for (const int v : r.variables)
      std::memset(row(v), 0, words_of(plan_->nodes[static_cast<std::size_t>(v)]) * sizeof(Word));
    const std::size_t most = r.variables.size() * relation_words() * 64 + 2;
    for (std::size_t round = 0; round < most; ++round) {
      for (const int node : r.nodes) {
        const Node& n = plan_->nodes[static_cast<std::size_t>(node)];
        if (n.op == Op::fixed) {
          const int inner = plan_->nodes[static_cast<std::size_t>(n.a)].recursion;
          if (first_of(inner, n.a)) solve(inner);
        }
        evaluate(node);
      }
      bool changed = false;
      for (std::size_t i = 0; i < r.variables.size(); ++i) {
        const std::size_t words = words_of(plan_->nodes[static_cast<std::size_t>(r.variables[i])]);
        if (std::memcmp(row(r.variables[i]), row(r.bodies[i]), words * sizeof(Word)) == 0) continue;
        changed = true;
        std::memcpy(row(r.variables[i]), row(r.bodies[i]), words * sizeof(Word));
      }
      if (!changed) return;
    }
    throw NoFixpoint(which);
  }
  [[nodiscard]] bool first_of(int recursion, int variable) const {
    return plan_->recursions[static_cast<std::size_t>(recursion)].variables.front() == variable;
  }

 public:
  // A recursion that does not converge.
  struct NoFixpoint : std::runtime_error {
    explicit NoFixpoint(int which) : std::runtime_error("a recursion has no fixpoint"), recursion(which) {}
    int recursion;
  };

 private:
  const Plan* plan_ = nullptr;
  Evaluator* subtracted_ = nullptr;
  int n_ = 0;
  std::array<Word, W> all_{};
  std::vector<std::size_t> offsets_;
  std::vector<Word> arena_;
  std::vector<char> empty_;  // by node: known to be; never of what is chosen or still being solved
  std::size_t rf_ = 0;
  std::size_t co_ = 0;
  std::size_t fence_order_ = 0;
  std::size_t choices_ = 0;
};

}  // namespace lockstep::cat
