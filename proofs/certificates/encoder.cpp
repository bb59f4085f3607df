#include "proofs/certificates/encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_map>

namespace lockstep {

namespace {

using Bits = std::vector<int>;  // literals, the least significant first

// ---- gates -----------------------------------------------------------------------------------------------

// Each gate is a variable, and clauses that say what it is; the same gate is made once.
class Circuit {
 public:
  Circuit() { clauses_.add({yes_ = fresh()}); }

  [[nodiscard]] Cnf&& take() { return std::move(clauses_); }
  [[nodiscard]] int yes() const { return yes_; }
  [[nodiscard]] int constant(bool b) const { return b ? yes_ : -yes_; }
  int fresh() { return clauses_.new_variable(); }
  Bits fresh(std::size_t width) {
    Bits bits(width);
    for (int& bit : bits) bit = fresh();
    return bits;
  }
  void claim(std::span<const int> clause) { clauses_.add(clause); }
  void claim(std::initializer_list<int> clause) { clauses_.add(clause); }

  int all(Bits of) {
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    std::erase(of, yes_);
    if (std::any_of(of.begin(), of.end(),
                    [&](int a) { return a == -yes_ || std::binary_search(of.begin(), of.end(), -a); }))
      return -yes_;
    if (of.empty()) return yes_;
    if (of.size() == 1) return of.front();
    const auto [at, is_new] = conjunctions_.try_emplace(of, 0);
    if (!is_new) return at->second;
    const int gate = at->second = fresh();
    Bits some{gate};
    for (const int a : of) {
      clauses_.add({-gate, a});
      some.push_back(-a);
    }
    clauses_.add(some);
    return gate;
  }
  int any(Bits of) {
    for (int& a : of) a = -a;
    return -all(std::move(of));
  }
  int both(int a, int b) { return all({a, b}); }

  int same(int a, int b) {
    if (a == b) return yes_;
    if (a == -b) return -yes_;
    if (std::abs(a) == yes_) return a > 0 ? b : -b;
    if (std::abs(b) == yes_) return b > 0 ? a : -a;
    const int sign = (a < 0) == (b < 0) ? 1 : -1;
    const int x = std::min(std::abs(a), std::abs(b));
    const int y = std::max(std::abs(a), std::abs(b));
    const auto [at, is_new] = equalities_.try_emplace({x, y}, 0);
    if (is_new) {
      const int gate = at->second = fresh();
      clauses_.add({-gate, -x, y});
      clauses_.add({-gate, x, -y});
      clauses_.add({gate, x, y});
      clauses_.add({gate, -x, -y});
    }
    return sign * at->second;
  }
  int choice(int c, int a, int b) {
    if (c == yes_ || a == b) return a;
    if (c == -yes_) return b;
    if (a == -b) return same(c, a);
    if (std::abs(a) == std::abs(c)) a = constant(a == c);
    if (std::abs(b) == std::abs(c)) b = constant(b != c);
    if (std::abs(a) == yes_) return a > 0 ? any({c, b}) : both(-c, b);
    if (std::abs(b) == yes_) return b > 0 ? any({-c, a}) : both(c, a);
    if (c < 0) return choice(-c, b, a);
    const auto [at, is_new] = choices_.try_emplace({c, a, b}, 0);
    if (is_new) {
      const int gate = at->second = fresh();
      clauses_.add({-c, -a, gate});
      clauses_.add({-c, a, -gate});
      clauses_.add({c, -b, gate});
      clauses_.add({c, b, -gate});
      clauses_.add({-a, -b, gate});
      clauses_.add({a, b, -gate});
    }
    return at->second;
  }

  int same(const Bits& a, const Bits& b) {
    Bits of;
    for (std::size_t i = 0; i < a.size(); ++i) of.push_back(same(a[i], b[i]));
    return all(std::move(of));
  }
  Bits choice(int c, const Bits& a, const Bits& b) {
    Bits chosen;
    for (std::size_t i = 0; i < a.size(); ++i) chosen.push_back(choice(c, a[i], b[i]));
    return chosen;
  }
  // Of numbers without a sign; with one, where the last bits are turned round.
  int less(const Bits& a, const Bits& b) {
    int lower = -yes_;
    for (std::size_t i = 0; i < a.size(); ++i) lower = choice(same(a[i], b[i]), lower, b[i]);
    return lower;
  }
  Bits sum(const Bits& a, const Bits& b, int carry) {
    Bits bits;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const int equal = same(a[i], b[i]);
      bits.push_back(same(equal, carry));
      carry = choice(equal, a[i], carry);
    }
    return bits;
  }
  [[nodiscard]] static Bits contrary(Bits bits) {
    for (int& bit : bits) bit = -bit;
    return bits;
  }

 private:
  Cnf clauses_;
  int yes_;
  std::map<Bits, int> conjunctions_;
  std::map<std::array<int, 2>, int> equalities_;
  std::map<std::array<int, 3>, int> choices_;
};

// ---- terms -----------------------------------------------------------------------------------------------

struct Range {
  std::int64_t low;
  std::int64_t high;
};
constexpr std::int64_t far = std::int64_t{1} << 60U;

// Of two's complement, such that all of the range has room.
std::size_t width_of(const Range& range) {
  const auto needed = [](std::int64_t n) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(n < 0 ? ~n : n))) + 1;
  };
  return std::max(needed(range.low), needed(range.high));
}

struct Ranged {
  Range range;
  Bits bits;  // width_of(range) of them
};

class Encoding {
 public:
  explicit Encoding(std::size_t code_width) : code_width_(code_width) {}

  void claim(const z3::expr& term) {
    visit(term);
    circuit_.claim({truth(term)});
  }
  void claim_one_false(const std::vector<z3::expr>& terms) {
    Bits some;
    for (const z3::expr& term : terms) {
      visit(term);
      some.push_back(-truth(term));
    }
    circuit_.claim(some);
  }
  // How many different values a model can have at most among those that are codes.
  [[nodiscard]] std::size_t codes() const { return numeral_codes_.size() + leaves_; }
  [[nodiscard]] Encoded take() { return {circuit_.take(), exact_}; }

 private:
  // ---- whole numbers, and members of sorts
  // What a variable of a range is read as: `x` where it lies in the range, and else the lowest.
  static std::optional<Range> range_read(const z3::expr& e) {
    if (!e.is_ite()) return {};
    const z3::expr c = e.arg(0), x = e.arg(1), low = e.arg(2);
    std::int64_t least = 0, most = 0;
    if (!c.is_and() || c.num_args() != 2 || !low.is_numeral_i64(least)) return {};
    const z3::expr from = c.arg(0), to = c.arg(1);
    if (!from.is_app() || !to.is_app()) return {};
    if (from.decl().decl_kind() != Z3_OP_GE || to.decl().decl_kind() != Z3_OP_LE) return {};
    if (!z3::eq(from.arg(0), x) || !z3::eq(from.arg(1), low) || !z3::eq(to.arg(0), x)) return {};
    if (!to.arg(1).is_numeral_i64(most) || most < least || least < -far || most > far) return {};
    return Range{least, most};
  }
  Bits number(std::int64_t n, std::size_t width) const {
    Bits bits;
    for (std::size_t i = 0; i < width; ++i)
      bits.push_back(circuit_.constant(((n >> std::min<std::size_t>(i, 63)) & 1) != 0));
    return bits;
  }
  static Bits extended(Bits bits, std::size_t width) {
    while (bits.size() < width) bits.push_back(bits.back());
    return bits;
  }
  // Smaller, of numbers with a sign.
  int less(Bits a, Bits b) {
    const std::size_t width = std::max(a.size(), b.size());
    a = extended(std::move(a), width);
    b = extended(std::move(b), width);
    a.back() = -a.back();
    b.back() = -b.back();
    return circuit_.less(a, b);
  }
  // None where the term has no range.
  [[nodiscard]] const Ranged* ranged(const z3::expr& e) const {
    const auto at = ranged_.find(e.id());
    return at == ranged_.end() ? nullptr : &at->second;
  }
  void visit_number(const z3::expr& e) {
    if (std::int64_t n = 0; e.is_numeral_i64(n)) {
      if (n > -far && n < far) ranged_[e.id()] = {{n, n}, number(n, width_of({n, n}))};
      return;
    }
    if (const std::optional<Range> range = range_read(e)) {
      Ranged made{*range, circuit_.fresh(width_of(*range))};
      circuit_.claim({-less(made.bits, number(range->low, made.bits.size()))});
      circuit_.claim({-less(number(range->high, made.bits.size()), made.bits)});
      ranged_[e.id()] = std::move(made);
      return;
    }
    const Z3_decl_kind kind = e.decl().decl_kind();
    if (kind == Z3_OP_ITE) {
      const Ranged *a = ranged(e.arg(1)), *b = ranged(e.arg(2));
      if (a == nullptr || b == nullptr) return;
      const Range range{std::min(a->range.low, b->range.low), std::max(a->range.high, b->range.high)};
      const std::size_t width = width_of(range);
      ranged_[e.id()] = {
          range, circuit_.choice(truth(e.arg(0)), extended(a->bits, width), extended(b->bits, width))};
    } else if ((kind == Z3_OP_ADD || kind == Z3_OP_SUB) && e.num_args() == 2) {
      const Ranged *a = ranged(e.arg(0)), *b = ranged(e.arg(1));
      if (a == nullptr || b == nullptr) return;
      const bool adds = kind == Z3_OP_ADD;
      const Range range = adds ? Range{a->range.low + b->range.low, a->range.high + b->range.high}
                               : Range{a->range.low - b->range.high, a->range.high - b->range.low};
      if (range.low < -far || range.high > far) return;
      // Wide enough for both, so that nothing is lost; then what the range needs.
      const std::size_t width = std::max({width_of(range), a->bits.size(), b->bits.size()});
      const Bits right = extended(b->bits, width);
      Bits bits = circuit_.sum(extended(a->bits, width), adds ? right : Circuit::contrary(right),
                               circuit_.constant(!adds));
      bits.resize(width_of(range));
      ranged_[e.id()] = {range, std::move(bits)};
    }
  }
  // A code: equal for equal values.
  const Bits& code(const z3::expr& e) {
    const auto known = codes_.find(e.id());
    if (known != codes_.end()) return known->second;
    Bits bits;
    if (e.is_numeral()) {
      const auto [at, is_new] = numeral_codes_.try_emplace(e.to_string(), numeral_codes_.size());
      bits = number(static_cast<std::int64_t>(at->second), code_width_);
    } else if (e.is_ite() && !range_read(e)) {
      const Bits a = code(e.arg(1));
      bits = circuit_.choice(truth(e.arg(0)), a, code(e.arg(2)));
    } else {
      ++leaves_;
      bits = circuit_.fresh(code_width_);
      const Z3_decl_kind kind = e.decl().decl_kind();
      if (ranged(e) != nullptr || kind != Z3_OP_UNINTERPRETED) exact_ = false;
    }
    return codes_.emplace(e.id(), std::move(bits)).first->second;
  }

  // ---- everything else
  int truth(const z3::expr& e) const { return bits_.at(e.id()).front(); }
  // Of a truth or a bit vector.
  [[nodiscard]] const Bits& bits(const z3::expr& e) const { return bits_.at(e.id()); }
  static bool is_code(const z3::sort& sort) { return !sort.is_bool() && !sort.is_bv(); }
  static std::size_t width(const z3::expr& e) { return e.is_bool() ? 1 : e.get_sort().bv_size(); }

  // In the order in which terms are made of each other.
  void visit(const z3::expr& root) {
    std::vector<std::pair<z3::expr, bool>> open{{root, false}};
    while (!open.empty()) {
      const auto [e, is_ready] = open.back();
      open.pop_back();
      if (is_ready) {
        make(e);
        continue;
      }
      if (!visited_.try_emplace(e.id(), e).second) continue;
      open.emplace_back(e, true);
      if (read_.contains(e.id())) exact_ = false;
      if (!e.is_app()) continue;
      if (range_read(e)) {
        note_read(e.arg(1), *range_read(e));
        continue;
      }
      for (unsigned i = 0; i < e.num_args(); ++i) {
        if (!visited_.contains(e.arg(i).id())) open.emplace_back(e.arg(i), false);
      }
    }
  }
  // Nothing is said of how a read variable is read elsewhere.
  void note_read(const z3::expr& x, const Range& range) {
    const auto [at, is_new] = read_.try_emplace(x.id(), range);
    const bool alone = is_new || (at->second.low == range.low && at->second.high == range.high);
    if (!alone || !x.is_const() || visited_.contains(x.id())) exact_ = false;
  }
  void make(const z3::expr& e) {
    if (!e.is_app()) {  // a quantifier
      leave_open(e);
    } else if (is_function(e)) {
      apply(e);
    } else if (e.is_int()) {
      visit_number(e);
    } else if (e.is_bool() || e.is_bv()) {
      std::optional<Bits> made = e.is_bool() ? make_truth(e) : make_bits(e);
      if (made) {
        bits_[e.id()] = std::move(*made);
      } else {
        leave_open(e);
      }
    }
  }
  // It may be anything.
  void leave_open(const z3::expr& e) {
    exact_ = false;
    if (!is_code(e.get_sort())) bits_[e.id()] = circuit_.fresh(width(e));
  }
  static bool is_function(const z3::expr& e) {
    return e.num_args() > 0 && e.decl().decl_kind() == Z3_OP_UNINTERPRETED;
  }
  // Equal arguments make equal results.
  void apply(const z3::expr& e) {
    Bits arguments;
    for (unsigned i = 0; i < e.num_args(); ++i) {
      const Bits& given = is_code(e.arg(i).get_sort()) ? code(e.arg(i)) : bits(e.arg(i));
      arguments.insert(arguments.end(), given.begin(), given.end());
    }
    if (!is_code(e.get_sort())) bits_[e.id()] = circuit_.fresh(width(e));
    const Bits result = is_code(e.get_sort()) ? code(e) : bits(e);
    auto& known = applied_[Z3_get_ast_id(e.ctx(), e.decl())];
    for (const auto& [others, other] : known)
      circuit_.claim({-circuit_.same(arguments, others), circuit_.same(result, other)});
    known.emplace_back(std::move(arguments), result);
  }

  int equal(const z3::expr& a, const z3::expr& b) {
    if (!is_code(a.get_sort())) return circuit_.same(bits(a), bits(b));
    const Ranged *x = ranged(a), *y = ranged(b);
    if (x == nullptr || y == nullptr) {
      const Bits left = code(a);
      return circuit_.same(left, code(b));
    }
    const std::size_t wide = std::max(x->bits.size(), y->bits.size());
    return circuit_.same(extended(x->bits, wide), extended(y->bits, wide));
  }
  Bits truths(const z3::expr& e) const {
    Bits of;
    for (unsigned i = 0; i < e.num_args(); ++i) of.push_back(truth(e.arg(i)));
    return of;
  }
  // Turned round where the order is of numbers with a sign.
  Bits ordered(const z3::expr& e, bool with_sign) const {
    Bits of = bits(e);
    if (with_sign) of.back() = -of.back();
    return of;
  }

  std::optional<Bits> make_truth(const z3::expr& e) {
    const auto arg = [&](unsigned i) { return e.arg(i); };
    const auto below = [&](unsigned a, unsigned b, bool with_sign) {
      return circuit_.less(ordered(arg(a), with_sign), ordered(arg(b), with_sign));
    };
    const auto smaller = [&](unsigned a, unsigned b, int sign) -> std::optional<Bits> {
      const Ranged *x = ranged(arg(a)), *y = ranged(arg(b));
      if (x == nullptr || y == nullptr) return {};
      return Bits{sign * less(x->bits, y->bits)};
    };
    switch (e.decl().decl_kind()) {
      case Z3_OP_TRUE:
        return Bits{circuit_.yes()};
      case Z3_OP_FALSE:
        return Bits{-circuit_.yes()};
      case Z3_OP_UNINTERPRETED:
        return circuit_.fresh(1);
      case Z3_OP_AND:
        return Bits{circuit_.all(truths(e))};
      case Z3_OP_OR:
        return Bits{circuit_.any(truths(e))};
      case Z3_OP_NOT:
        return Bits{-truth(arg(0))};
      case Z3_OP_IMPLIES:
        return Bits{circuit_.any({-truth(arg(0)), truth(arg(1))})};
      case Z3_OP_XOR:
        if (e.num_args() != 2) return {};
        return Bits{-circuit_.same(truth(arg(0)), truth(arg(1)))};
      case Z3_OP_ITE:
        return Bits{circuit_.choice(truth(arg(0)), truth(arg(1)), truth(arg(2)))};
      case Z3_OP_EQ:
        return Bits{equal(arg(0), arg(1))};
      case Z3_OP_DISTINCT: {
        Bits of;
        for (unsigned i = 0; i < e.num_args(); ++i) {
          for (unsigned j = 0; j < i; ++j) of.push_back(-equal(arg(j), arg(i)));
        }
        return Bits{circuit_.all(std::move(of))};
      }
      case Z3_OP_ULT:
        return Bits{below(0, 1, false)};
      case Z3_OP_UGT:
        return Bits{below(1, 0, false)};
      case Z3_OP_ULEQ:
        return Bits{-below(1, 0, false)};
      case Z3_OP_UGEQ:
        return Bits{-below(0, 1, false)};
      case Z3_OP_SLT:
        return Bits{below(0, 1, true)};
      case Z3_OP_SGT:
        return Bits{below(1, 0, true)};
      case Z3_OP_SLEQ:
        return Bits{-below(1, 0, true)};
      case Z3_OP_SGEQ:
        return Bits{-below(0, 1, true)};
      case Z3_OP_LT:
        return smaller(0, 1, 1);
      case Z3_OP_GT:
        return smaller(1, 0, 1);
      case Z3_OP_LE:
        return smaller(1, 0, -1);
      case Z3_OP_GE:
        return smaller(0, 1, -1);
      default:
        return {};
    }
  }

  std::optional<Bits> make_bits(const z3::expr& e) {
    const std::size_t wide = width(e);
    if (e.is_numeral()) {
      std::uint64_t n = 0;
      if (wide > 64 || !e.is_numeral_u64(n)) return {};
      return number(static_cast<std::int64_t>(n), wide);
    }
    const auto arg = [&](unsigned i) -> const Bits& { return bits(e.arg(i)); };
    const auto each = [&](auto&& gate) {
      Bits of;
      for (std::size_t i = 0; i < wide; ++i) of.push_back(gate(arg(0)[i], arg(1)[i]));
      return of;
    };
    const Z3_decl_kind kind = e.decl().decl_kind();
    if (kind == Z3_OP_UNINTERPRETED) return circuit_.fresh(wide);
    if (kind == Z3_OP_ITE) return circuit_.choice(truth(e.arg(0)), arg(1), arg(2));
    if (kind == Z3_OP_BNOT) return Circuit::contrary(arg(0));
    if (e.num_args() != 2) return {};
    switch (kind) {
      case Z3_OP_BADD:
        return circuit_.sum(arg(0), arg(1), -circuit_.yes());
      case Z3_OP_BSUB:
        return circuit_.sum(arg(0), Circuit::contrary(arg(1)), circuit_.yes());
      case Z3_OP_BAND:
        return each([&](int a, int b) { return circuit_.both(a, b); });
      case Z3_OP_BOR:
        return each([&](int a, int b) { return circuit_.any({a, b}); });
      case Z3_OP_BXOR:
        return each([&](int a, int b) { return -circuit_.same(a, b); });
      default:
        return {};
    }
  }

  std::size_t code_width_;
  Circuit circuit_;
  bool exact_ = true;
  std::size_t leaves_ = 0;
  std::unordered_map<unsigned, z3::expr> visited_;  // kept, so that their numbers stay theirs
  std::unordered_map<unsigned, Range> read_;
  std::unordered_map<unsigned, Bits> bits_;
  std::unordered_map<unsigned, Ranged> ranged_;
  std::unordered_map<unsigned, Bits> codes_;
  std::map<std::string, std::size_t> numeral_codes_;
  std::map<unsigned, std::vector<std::pair<Bits, Bits>>> applied_;
};

}  // namespace

Encoded encode(const std::vector<z3::expr>& given, const std::vector<z3::expr>& goals) {
  const auto by_codes_of = [&](std::size_t width) {
    Encoding encoding(width);
    for (const z3::expr& term : given) encoding.claim(term);
    encoding.claim_one_false(goals);
    return encoding;
  };
  // As many codes as a model has values at most; how many is known behind a first go.
  Encoding first = by_codes_of(1);
  if (first.codes() <= 2) return first.take();
  return by_codes_of(static_cast<std::size_t>(std::bit_width(first.codes() - 1))).take();
}

std::string dimacs(const Cnf& clauses, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += fmt::format("c {}\n", comment);
  text += fmt::format("p cnf {} {}\n", clauses.variables(), clauses.size());
  for (const int n : clauses.numbers()) {
    text += std::to_string(n);
    text += n == 0 ? '\n' : ' ';
  }
  return text;
}

}  // namespace lockstep
