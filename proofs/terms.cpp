#include "proofs/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "spec/kernel/index.hpp"

namespace lockstep::symbolic {

namespace {

thread_local Session* active = nullptr;

bool same(const Term& a, const Term& b) {
  return z3::eq(a, b);
}
// Different numerals are different values.
bool is_number(const Term& t) {
  return t.is_numeral() || t.is_true() || t.is_false();
}

Term substituted(const Term& term, const Arguments& from, const Arguments& to) {
  if (from.empty()) return term;
  z3::expr_vector sources(term.ctx());
  z3::expr_vector targets(term.ctx());
  for (const Term& t : from) sources.push_back(t);
  for (const Term& t : to) targets.push_back(t);
  Term copy = term;
  return copy.substitute(sources, targets);
}

unsigned bits_of(const Domain& domain) {
  return std::max(1U, bits_for(static_cast<unsigned long long>(domain.size)));
}

// Both are of the row of the loop's own member, by the same index: different iterations mean different rows.
bool own_rows(const Arguments& a, const Arguments& b, const Term& member) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (same(a[i], member) && same(b[i], member)) return true;
  }
  return false;
}

std::string access_text(const std::string& field, const Arguments& arguments) {
  std::string indices;
  for (const Term& t : arguments) indices += (indices.empty() ? "" : ", ") + t.to_string();
  return indices.empty() ? field : fmt::format("{}({})", field, indices);
}

}  // namespace

// ---- folding ---------------------------------------------------------------------------------------------

namespace {

// Among the conjuncts of a, as far as they were added last.
bool is_conjunct(const Term& t, const Term& a) {
  constexpr int far = 8;
  Term rest = a;
  for (int i = 0; i < far; ++i) {
    if (same(t, rest)) return true;
    if (!rest.is_and() || rest.num_args() != 2) return false;
    if (same(t, rest.arg(1))) return true;
    rest = rest.arg(0);
  }
  return false;
}

}  // namespace

Term both(const Term& a, const Term& b) {
  if (a.is_true() || b.is_false()) return b;
  if (b.is_true() || a.is_false() || is_conjunct(b, a)) return a;
  if (is_conjunct(a, b)) return b;
  if (is_conjunct(negation(b), a) || is_conjunct(negation(a), b)) return a.ctx().bool_val(false);
  return a && b;
}
Term either(const Term& a, const Term& b) {
  if (a.is_false() || b.is_true()) return b;
  if (b.is_false() || a.is_true() || same(a, b)) return a;
  if (same(negation(a), b) || same(a, negation(b))) return a.ctx().bool_val(true);
  return a || b;
}
Term negation(const Term& a) {
  if (a.is_true()) return a.ctx().bool_val(false);
  if (a.is_false()) return a.ctx().bool_val(true);
  if (a.is_not()) return a.arg(0);
  return !a;
}
Term equal(const Term& a, const Term& b) {
  if (same(a, b)) return a.ctx().bool_val(true);
  if (is_number(a) && is_number(b)) return a.ctx().bool_val(false);
  if (a.is_bool()) {
    if (b.is_true()) return a;
    if (b.is_false()) return negation(a);
    if (a.is_true()) return b;
    if (a.is_false()) return negation(b);
  }
  return a == b;
}
Term choice(const Term& condition, const Term& a, const Term& b) {
  if (condition.is_true() || same(a, b)) return a;
  if (condition.is_false()) return b;
  if (a.is_bool()) {
    if (a.is_true()) return either(condition, b);
    if (a.is_false()) return both(negation(condition), b);
    if (b.is_true()) return either(negation(condition), a);
    if (b.is_false()) return both(condition, a);
  }
  return z3::ite(condition, a, b);
}

Term paired(const Domain& from, const Domain& to, const Term& member) {
  Session& session = Session::current();
  if (to.kind != Domain::Kind::finite)
    return session.rigid(fmt::format("{}_of_{}", to.name, from.name), {from}, to, {member});
  Term result = session.member(to, 0);
  for (int n = 1; n < std::min(from.size, to.size); ++n)
    result = choice(equal(member, session.member(from, n)), session.member(to, n), result);
  return result;
}

Term unknown_function(const char* name, const Domain& to, const Arguments& arguments) {
  Session& session = Session::current();
  z3::sort_vector from(session.context());
  z3::expr_vector given(session.context());
  for (const Term& argument : arguments) {
    from.push_back(argument.get_sort());
    given.push_back(argument);
  }
  return session.context().function(name, from, session.sort(to))(given);
}

Term less(const Term& a, const Term& b) {
  return a.is_int() ? a < b : z3::slt(a, b);
}

Term bitwise(Bitwise operation, const Term& a, const Term& b) {
  constexpr std::array<const char*, 3> names{"bit-and", "bit-or", "bit-xor"};
  if (a.is_int()) {
    z3::context& context = a.ctx();
    const z3::sort whole = context.int_sort();
    return context.function(names[static_cast<std::size_t>(operation)], whole, whole, whole)(a, b);
  }
  switch (operation) {
    case Bitwise::both:
      return a & b;
    case Bitwise::either:
      return a | b;
    case Bitwise::one:
      return a ^ b;
  }
  throw std::logic_error("no such operation");
}

// ---- fields ----------------------------------------------------------------------------------------------

Place Place::member(std::string_view part) const {
  Place place = *this;
  place.name = name.empty() ? std::string(part) : fmt::format("{}.{}", name, part);
  return place;
}

Cell& Store::cell(const std::string& name, const std::vector<Domain>& indices, const Domain& values,
                  const Term& otherwise) {
  std::unique_ptr<Cell>& cell = cells_[name];
  if (cell) return *cell;
  cell = std::make_unique<Cell>(Cell{name, indices, values, {}, {}});
  if (start_ == Start::defaults) {
    cell->before = [otherwise](const Arguments&) { return otherwise; };
  } else {
    cell->before = [variable = is_apart(name) ? "other " + name : name, indices,
                    values](const Arguments& arguments) {
      return Session::current().base(variable, indices, values, arguments);
    };
  }
  cell->at = cell->before;
  return *cell;
}

bool Store::is_apart(std::string_view name) const {
  return std::any_of(apart_.begin(), apart_.end(), [&](const std::string& field) {
    return name.starts_with(field) &&
           (name.size() == field.size() || name[field.size()] == '.' || name[field.size()] == '[');
  });
}

Store::Store(const Store& other, Start start) : start_(start), apart_(other.apart_) {
  for (const auto& [name, cell] : other.cells_) {
    auto& copy = cells_[name] = std::make_unique<Cell>(*cell);
    copy->before = copy->at;
  }
}

// ---- sessions --------------------------------------------------------------------------------------------

Session::Session(bool any_size, Words words)
    : any_size_(any_size),
      only_bits_(!any_size && words == Words::bits),
      words_(words),
      previous_(std::exchange(active, this)) {}
Session::~Session() {
  active = previous_;
}
Session& Session::current() {
  if (active == nullptr) throw std::logic_error("symbolic values exist only within a session");
  return *active;
}

Store& Session::held() const {
  if (store_ == nullptr) throw std::logic_error("no state is held");
  return *store_;
}

Store& Session::freeze() {
  if (!loops_.empty()) throw std::logic_error("a state is copied within a loop");
  return *frozen_.emplace_back(std::make_unique<Store>(held(), held().start()));
}

z3::sort Session::sort(const Domain& domain) {
  switch (domain.kind) {
    case Domain::Kind::boolean:
      return context_.bool_sort();
    case Domain::Kind::finite:
      return context_.bv_sort(bits_of(domain));
    case Domain::Kind::any:
      return context_.uninterpreted_sort(domain.name.c_str());
    case Domain::Kind::word:
      return words_ == Words::bits ? context_.bv_sort(32) : context_.int_sort();
    case Domain::Kind::integer:
      only_bits_ = false;
      return context_.int_sort();
  }
  throw std::logic_error("a domain of no kind");
}

Term Session::member(const Domain& domain, int i) {
  switch (domain.kind) {
    case Domain::Kind::boolean:
      return truth(i != 0);
    case Domain::Kind::finite:
      return context_.bv_val(static_cast<unsigned>(i), bits_of(domain));
    case Domain::Kind::any:
      if (i != 0) throw Unreadable(fmt::format("member {} of '{}', of any size", i, domain.name));
      return context_.constant(fmt::format("{}-0", domain.name).c_str(), sort(domain));
    case Domain::Kind::word:
      return words_ == Words::bits ? context_.bv_val(i, 32) : context_.int_val(i);
    case Domain::Kind::integer:
      return context_.int_val(i);
  }
  throw std::logic_error("a domain of no kind");
}

// A variable's sort may hold more than its domain; what lies outside stands for a member, so that no range
// has to be assumed.
Term Session::range(const Term& term, const Domain& domain) {
  if (domain.kind == Domain::Kind::finite && (1U << bits_of(domain)) != static_cast<unsigned>(domain.size)) {
    return z3::ite(z3::ult(term, context_.bv_val(static_cast<unsigned>(domain.size), bits_of(domain))), term,
                   member(domain, 0));
  }
  if (domain.kind == Domain::Kind::integer) {
    return z3::ite(term >= domain.low && term <= domain.high, term, context_.int_val(domain.low));
  }
  return term;
}

Term Session::variable(const Domain& domain, const std::string& name) {
  if (domain.kind == Domain::Kind::finite && domain.size == 1) return member(domain, 0);
  return range(context_.constant(name.c_str(), sort(domain)), domain);
}

std::string Session::fresh(std::string_view name) {
  const int n = ++names_[std::string(name)];
  return n == 1 ? std::string(name) : fmt::format("{}{}", name, n);
}

Term Session::unbound(const Domain& domain) {
  return context_.constant(fresh(domain.name + "?").c_str(), sort(domain));
}

Term Session::by_cases(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                       Arguments arguments, std::size_t next, std::string text) {
  if (next == from.size()) {
    return range(
        context_.constant(text.empty() ? name.c_str() : fmt::format("{}({})", name, text).c_str(), sort(to)),
        to);
  }
  const auto at = [&](int i) {
    return by_cases(name, from, to, arguments, next + 1,
                    fmt::format("{}{}{}", text, text.empty() ? "" : ",", i));
  };
  if (arguments[next].is_numeral()) return at(arguments[next].get_numeral_int());
  Term result = at(0);
  for (int i = 1; i < from[next].size; ++i) {
    result = choice(equal(arguments[next], member(from[next], i)), at(i), result);
  }
  return result;
}

// At fixed sizes each field of each row is a variable of its own, so that what remains is propositional.
Term Session::base(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                   const Arguments& arguments) {
  if (to.kind == Domain::Kind::finite && to.size == 1) return member(to, 0);
  if (!any_size_ || from.empty()) return by_cases(name, from, to, arguments, 0, {});
  auto known = functions_.find(name);
  if (known == functions_.end()) {
    z3::sort_vector sorts(context_);
    for (const Domain& domain : from) sorts.push_back(sort(domain));
    known = functions_.emplace(name, context_.function(name.c_str(), sorts, sort(to))).first;
  }
  z3::expr_vector terms(context_);
  for (const Term& term : arguments) terms.push_back(term);
  return range(known->second(terms), to);
}

Term Session::rigid(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                    const Arguments& arguments) {
  return base(name, from, to, arguments);
}

Term Session::path_since(std::size_t depth) {
  Term all = truth(true);
  for (std::size_t i = depth; i < conditions_.size(); ++i) all = both(all, conditions_[i]);
  return all;
}

void Session::write(Cell& cell, const Arguments& arguments, const Term& value) {
  Write write{&cell, {}, {}, path_since(0), value, arguments};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    write.points.emplace_back(arguments[i]);
    if (!loops_.empty()) {
      write.rows.push_back(context_.constant(fresh("row").c_str(), arguments[i].get_sort()));
    }
  }
  note(write);
  apply(write);
}

void Session::read(const Cell& cell, const Arguments& arguments) {
  if (!loops_.empty()) note(Read{&cell, arguments, path_since(0)});
}

void Session::note(const Read& read) {
  if (loops_.empty()) return;
  // Terms that are kept have numbers of their own.
  const auto address = reinterpret_cast<std::uintptr_t>(read.cell);
  std::vector<unsigned> key{static_cast<unsigned>(address), static_cast<unsigned>(address >> 32U),
                            read.guard.id()};
  for (const Term& t : read.arguments) key.push_back(t.id());
  if (loops_.back().known_reads.insert(std::move(key)).second) loops_.back().reads.push_back(read);
}

void Session::note(const Write& write) {
  if (loops_.empty()) return;
  loops_.back().before.emplace(write.cell, write.cell->at);
  loops_.back().writes.push_back(write);
}

void Session::apply(const Write& write) {
  write.cell->at = [write, before = write.cell->at](const Arguments& arguments) {
    Term selected = write.guard;
    Term value = write.value;
    Arguments points;
    for (const auto& point : write.points) points.push_back(point ? *point : Session::current().truth(true));
    // Only what has been through a loop mentions rows.
    if (!write.rows.empty()) {
      selected = substituted(selected, write.rows, arguments);
      value = substituted(value, write.rows, arguments);
      for (Term& point : points) point = substituted(point, write.rows, arguments);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (write.points[i]) selected = both(equal(arguments[i], points[i]), selected);
    }
    if (selected.is_true()) return value;
    const Term old = before(arguments);
    return choice(selected, value, old);
  };
}

Term Session::begin_loop(const Domain& domain) {
  const Term member = context_.constant(fresh(domain.name + "!").c_str(), sort(domain));
  loops_.push_back({member, requirements_.size(), {}, {}, {}, {}});
  return member;
}

Term Session::selects(const Write& write, const Arguments& row, const Term& member, const Term& by) {
  const auto placed = [&](const Term& t) {
    return substituted(substituted(t, write.rows, row), {member}, {by});
  };
  Term selected = placed(write.guard);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (write.points[i]) selected = both(equal(row[i], placed(*write.points[i])), selected);
  }
  return selected;
}

Term Session::value_at(const Write& write, const Arguments& row, const Term& member, const Term& by) {
  return substituted(substituted(write.value, write.rows, row), {member}, {by});
}

bool Session::impossible(const Term& conflict) {
  if (conflict.is_false()) return true;
  z3::solver solver(context_);
  z3::params parameters(context_);
  parameters.set("timeout", 10000U);
  parameters.set("ctrl_c", false);
  solver.set(parameters);
  solver.add(conflict);
  return solver.check() == z3::unsat;
}

// Two different iterations stand for any two. That none reads what another writes makes each do what it does
// alone; that two agree on every row that both write makes their order indifferent.
void Session::check_independent(const Loop& loop) {
  const Term one = context_.constant(fresh("one").c_str(), loop.member.get_sort());
  const Term other = context_.constant(fresh("another").c_str(), loop.member.get_sort());
  const auto refuse = [&](const std::string& what, const std::string& first, const std::string& second) {
    throw Unreadable(fmt::format(
        "in a loop over {0} {1}: {2} and {3}, where {4} is an iteration's own {0}. At any size the "
        "iterations of a loop must be independent",
        loop.member.get_sort().name().str(), what, first, second, loop.member.to_string()));
  };
  for (const Write& write : loop.writes) {
    for (const Read& read : loop.reads) {
      if (read.cell != write.cell || own_rows(write.written, read.arguments, loop.member)) continue;
      Arguments row;
      for (const Term& t : read.arguments) row.push_back(substituted(t, {loop.member}, {other}));
      const Term reads = substituted(read.guard, {loop.member}, {other});
      if (impossible(one != other && both(reads, selects(write, row, loop.member, one)))) continue;
      refuse("one iteration may write what another reads", access_text(write.cell->name, write.written),
             access_text(read.cell->name, read.arguments));
    }
  }
  // What an iteration leaves in a row is its last write of it.
  const auto leaves = [&](std::size_t n, const Arguments& row, const Term& by) {
    Term last = selects(loop.writes[n], row, loop.member, by);
    for (std::size_t later = n + 1; later < loop.writes.size(); ++later) {
      const Write& write = loop.writes[later];
      if (write.cell == loop.writes[n].cell)
        last = both(last, negation(selects(write, row, loop.member, by)));
    }
    return last;
  };
  for (std::size_t i = 0; i < loop.writes.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Write& a = loop.writes[i];
      const Write& b = loop.writes[j];
      if (a.cell != b.cell || own_rows(a.written, b.written, loop.member)) continue;
      Arguments row;
      for (const Domain& domain : a.cell->indices)
        row.push_back(context_.constant(fresh("row").c_str(), sort(domain)));
      const Term meet = both(leaves(i, row, one), leaves(j, row, other));
      const Term differ =
          negation(equal(value_at(a, row, loop.member, one), value_at(b, row, loop.member, other)));
      if (impossible(one != other && both(meet, differ))) continue;
      refuse("two iterations may leave different values in one row", access_text(a.cell->name, a.written),
             access_text(b.cell->name, b.written));
    }
  }
}

void Session::end_loop() {
  const Loop loop = std::move(loops_.back());
  loops_.pop_back();
  for (const auto& [cell, before] : loop.before) cell->at = before;
  check_independent(loop);
  for (const Read& read : loop.reads) note(read);
  for (Write write : loop.writes) {
    const auto mentions = [&](const Term& t) {
      return !same(t, substituted(t, {loop.member}, {context_.constant("another", loop.member.get_sort())}));
    };
    std::size_t own = 0;
    while (own < write.points.size() && !(write.points[own] && same(*write.points[own], loop.member))) ++own;
    if (own < write.points.size()) {
      const Arguments from{loop.member};
      const Arguments to{write.rows[own]};
      write.guard = substituted(write.guard, from, to);
      write.value = substituted(write.value, from, to);
      for (auto& point : write.points) {
        if (point) point = substituted(*point, from, to);
      }
      write.points[own].reset();
    } else {
      // Not its own row, but the same for whichever member does it.
      for (std::size_t i = 0; i < write.points.size(); ++i) {
        if (!write.points[i] || !mentions(*write.points[i])) continue;
        write.guard = both(equal(write.rows[i], *write.points[i]), write.guard);
        write.points[i].reset();
      }
      if (mentions(write.value)) {
        throw Unreadable(
            fmt::format("a loop over {} writes {}, which is not a row of its own, with a value of its own",
                        loop.member.get_sort().name().str(), access_text(write.cell->name, write.written)));
      }
      if (mentions(write.guard)) write.guard = z3::exists(loop.member, write.guard);
    }
    note(write);
    apply(write);
  }
  for (std::size_t i = loop.requirements; i < requirements_.size(); ++i) {
    requirements_[i].holds = z3::forall(loop.member, requirements_[i].holds);
  }
}

void Session::require(const Term& what, const std::string& text) {
  const Term holds = either(negation(path_since(0)), what);
  if (!holds.is_true()) requirements_.push_back({holds, text});
}
std::vector<Session::Requirement> Session::take_requirements() {
  return std::exchange(requirements_, {});
}

namespace {

// In all rows: each of them, or any one where there is no last.
void same_rows(const Cell& a, const Cell& b, Arguments& arguments, Term& all) {
  if (arguments.size() == a.indices.size()) {
    all = both(all, equal(a.at(arguments), b.at(arguments)));
    return;
  }
  const Domain& domain = a.indices[arguments.size()];
  const auto at = [&](const Term& member) {
    arguments.push_back(member);
    same_rows(a, b, arguments, all);
    arguments.pop_back();
  };
  if (domain.kind == Domain::Kind::any) return at(Session::current().unbound(domain));
  for (int i = 0; i < domain.size; ++i) at(Session::current().member(domain, i));
}

}  // namespace

Term same_but(Store& a, Store& b, const std::function<bool(const std::string&)>& may_differ) {
  Term all = Session::current().truth(true);
  for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    for (const auto& [name, cell] : from->cells()) {
      if (may_differ(name) || (from == &b && a.cells().contains(name))) continue;
      Arguments arguments;
      same_rows(*cell, to->cell(name, cell->indices, cell->values, Session::current().truth(false)),
                arguments, all);
    }
  }
  return all;
}

// ---- scalars ---------------------------------------------------------------------------------------------

Scalar::Scalar(Term value)
    : value_(std::move(value)), depth_(Session::current().depth()), loops_(Session::current().loops()) {}
Scalar::Scalar(const Scalar& other) : Scalar(other.term()) {}
Scalar& Scalar::operator=(const Scalar& other) {
  if (this != &other) assign(other.term());
  return *this;
}

Term Scalar::term() const {
  if (cell_ == nullptr) return value_;
  Session::current().read(*cell_, arguments_);
  return cell_->at(arguments_);
}

void Scalar::assign(const Term& value) {
  Session& session = Session::current();
  if (cell_ != nullptr) {
    session.write(*cell_, arguments_, value);
    return;
  }
  if (session.loops() > loops_) throw Unreadable("a loop carries a value from one iteration to the next");
  value_ = choice(session.path_since(depth_), value, value_);
}

void Scalar::bind_to_cell(const Place& place, const Domain& values) {
  cell_ = &place.store->cell(place.name, place.indices, values, value_);
  arguments_ = place.arguments;
}

}  // namespace lockstep::symbolic
