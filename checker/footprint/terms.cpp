// Building terms so that constants fold and negations sink, and evaluating them.
#include "checker/footprint/terms.hpp"

namespace lockstep::footprint {

std::size_t Terms::Hash::operator()(const Term& t) const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(t.op);
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(t.value), std::uint64_t{t.location}, std::uint64_t{t.place},
        std::uint64_t{t.a}, std::uint64_t{t.b}, std::uint64_t{t.c}}) {
    h = (h ^ part) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29U;
  }
  return h;
}

TermId Terms::intern(const Term& term) {
  const auto [found, fresh] = known_.try_emplace(term, static_cast<TermId>(terms_.size()));
  if (fresh) terms_.push_back(term);
  return found->second;
}

TermId Terms::negation(TermId id) {
  const Term t = terms_[id];
  switch (t.op) {
    case TermOp::constant:
      return constant(t.value == 0 ? 1 : 0);
    case TermOp::not_:
      return t.a;
    case TermOp::and_:
      return disjunction(negation(t.a), negation(t.b));
    case TermOp::or_:
      return conjunction(negation(t.a), negation(t.b));
    case TermOp::equal:
      return binary(TermOp::not_equal, t.a, t.b);
    case TermOp::not_equal:
      return binary(TermOp::equal, t.a, t.b);
    case TermOp::less:
      return binary(TermOp::less_equal, t.b, t.a);
    case TermOp::less_equal:
      return binary(TermOp::less, t.b, t.a);
    default:
      return intern({.op = TermOp::not_, .a = id});
  }
}

TermId Terms::conjunction(TermId a, TermId b) {
  if (is_true(a) || is_false(b) || a == b) return b;
  if (is_true(b) || is_false(a)) return a;
  return intern({.op = TermOp::and_, .a = a, .b = b});
}

TermId Terms::disjunction(TermId a, TermId b) {
  if (is_false(a) || is_true(b) || a == b) return b;
  if (is_false(b) || is_true(a)) return a;
  return intern({.op = TermOp::or_, .a = a, .b = b});
}

TermId Terms::choice(TermId condition, TermId a, TermId b) {
  if (is_true(condition) || a == b) return a;
  if (is_false(condition)) return b;
  return intern({.op = TermOp::select, .a = condition, .b = a, .c = b});
}

TermId Terms::binary(TermOp op, TermId a, TermId b) {
  if (is_constant(a) && is_constant(b)) {
    const std::int64_t x = terms_[a].value;
    const std::int64_t y = terms_[b].value;
    switch (op) {
      case TermOp::equal:
        return constant(x == y ? 1 : 0);
      case TermOp::not_equal:
        return constant(x != y ? 1 : 0);
      case TermOp::less:
        return constant(x < y ? 1 : 0);
      case TermOp::less_equal:
        return constant(x <= y ? 1 : 0);
      case TermOp::add:
        return constant(x + y);
      case TermOp::subtract:
        return constant(x - y);
      default:
        break;
    }
  }
  if (a == b && (op == TermOp::equal || op == TermOp::less_equal)) return constant(1);
  if (a == b && (op == TermOp::not_equal || op == TermOp::less)) return constant(0);
  // Constants stand on the right of what does not mind.
  if ((op == TermOp::equal || op == TermOp::not_equal) && is_constant(a)) std::swap(a, b);
  return intern({.op = op, .a = a, .b = b});
}

void Terms::conjuncts(TermId id, std::vector<TermId>& out) const {
  const Term& t = terms_[id];
  if (t.op == TermOp::and_) {
    conjuncts(t.a, out);
    conjuncts(t.b, out);
  } else if (!is_true(id)) {
    out.push_back(id);
  }
}

std::int64_t Terms::evaluate(TermId id, const std::byte* state) const {
  const Term& t = terms_[id];
  const auto a = [&] { return evaluate(t.a, state); };
  switch (t.op) {
    case TermOp::constant:
    case TermOp::scalar:
    case TermOp::head:
    case TermOp::slot:
    case TermOp::empty:
    case TermOp::full:
    case TermOp::lacks_slot:
      return result(t, state, 0, 0, 0);
    case TermOp::contains:
    case TermOp::not_:
      return result(t, state, a(), 0, 0);
    case TermOp::and_:
      return a() != 0 && evaluate(t.b, state) != 0 ? 1 : 0;
    case TermOp::or_:
      return a() != 0 || evaluate(t.b, state) != 0 ? 1 : 0;
    case TermOp::select:
      return evaluate(a() != 0 ? t.b : t.c, state);
    default:
      return result(t, state, a(), evaluate(t.b, state), 0);
  }
}

}  // namespace lockstep::footprint
