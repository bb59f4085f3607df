#include "proofs/suggest/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace lockstep::suggest {

using symbolic::Arguments;
using symbolic::Domain;
using symbolic::Session;
using symbolic::Term;

namespace {

constexpr int most_of_a_type = 2;          // variables
constexpr std::size_t most_of_some = 600;  // questions of some member of a type
constexpr int most_number_values = 5;      // that a lemma may name

// node(2).queue(0).kind: what stands between the groups, and the numbers in each.
struct Path {
  std::vector<std::string> between;
  std::vector<std::vector<int>> groups;
};
Path parsed(const std::string& path) {
  Path p;
  p.between.emplace_back();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '(') {
      p.between.back() += path[i];
      continue;
    }
    std::vector<int>& numbers = p.groups.emplace_back(1);
    for (++i; path[i] != ')'; ++i) {
      if (path[i] == ',') {
        numbers.push_back(0);
      } else {
        numbers.back() = 10 * numbers.back() + (path[i] - '0');
      }
    }
    p.between.emplace_back();
  }
  return p;
}

// A field as cells name it, and the row that a path has of it. Which groups are rows of tables, and which
// elements that stand each for itself, only the names of the cells tell.
struct Named {
  std::string cell;
  std::vector<std::string> text;
  std::vector<int> row;
};
bool is_field(const Cells& cells, const Named& named) {
  const auto found = cells.find(named.cell);
  const auto maybe = found == cells.end() ? cells.find(named.cell + ".has") : found;
  return maybe != cells.end() && maybe->second.indices.size() == named.row.size();
}
std::optional<Named> named(const Cells& cells, const Path& path, std::size_t next, Named so_far) {
  if (next == path.groups.size()) return is_field(cells, so_far) ? std::optional(so_far) : std::nullopt;
  const std::vector<int>& group = path.groups[next];
  Named row = so_far;
  row.text.back() += "(";
  for (std::size_t i = 0; i < group.size(); ++i) {
    row.row.push_back(group[i]);
    row.text.emplace_back(i + 1 < group.size() ? "," : ")");
  }
  row.cell += path.between[next + 1];
  row.text.back() += path.between[next + 1];
  if (auto found = named(cells, path, next + 1, std::move(row))) return found;
  if (group.size() != 1) return std::nullopt;
  so_far.cell += fmt::format("[{}]{}", group.front(), path.between[next + 1]);
  so_far.text.back() += fmt::format("({}){}", group.front(), path.between[next + 1]);
  return named(cells, path, next + 1, std::move(so_far));
}

Field shaped(const Cells& cells, const Named& named) {
  Field field{named.cell, named.text, {}};
  const auto found = cells.find(named.cell);
  const bool maybe = found == cells.end();
  const CellShape& shape = maybe ? cells.at(named.cell + ".has") : found->second;
  for (const Domain& over : shape.indices) field.over.push_back(over.name);
  const Domain& values = maybe ? cells.at(named.cell + ".index").values : shape.values;
  field.type = values.name;
  switch (values.kind) {
    case Domain::Kind::boolean:
      field.sort = Sort::truth;
      break;
    case Domain::Kind::word:
      field.sort = Sort::word;
      break;
    case Domain::Kind::integer:
      field.sort = Sort::number;
      field.low = values.low;
      field.high = values.high;
      break;
    case Domain::Kind::any:
      field.sort = Sort::index;
      break;
    case Domain::Kind::finite:
      field.members = values.members;
      field.sort = !values.members.empty() ? Sort::enumeration : Sort::index;
      if (values.members.empty() && values.name == "count") {  // of a queue's entries
        field.sort = Sort::number;
        field.high = values.size - 1;
      }
  }
  if (maybe) field.sort = Sort::maybe;
  return field;
}

}  // namespace

// ---- extents ----------------------------------------------------------------------------------------

Extents::Extents(std::map<std::string, int> of, const std::vector<Field>& fields) : of_(std::move(of)) {
  for (const Field& field : fields) {
    first_.push_back(scalars_);
    std::size_t rows = 1;
    std::vector<int>& over = over_.emplace_back();
    for (const std::string& type : field.over) {
      over.push_back(of_.at(type));
      rows *= static_cast<std::size_t>(of_.at(type));
    }
    scalars_ += rows;
  }
}
std::size_t Extents::scalar(std::size_t field, const std::vector<int>& row) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    at = at * static_cast<std::size_t>(over_[field][i]) + static_cast<std::size_t>(row[i]);
  return first_[field] + at;
}
void Extents::each_row(const Field& field, const std::function<void(const std::vector<int>&)>& f) const {
  std::vector<int> row(field.over.size(), 0);
  while (true) {
    f(row);
    std::size_t i = row.size();
    while (i > 0 && ++row[i - 1] == of_.at(field.over[i - 1])) row[--i] = 0;
    if (i == 0) return;
  }
}

std::int64_t Vocabulary::bits_at(const std::uint64_t* state, const Placed& placed) {
  if (placed.count == 0) return 0;
  const std::uint32_t shift = placed.first % 64;
  std::uint64_t code = state[placed.first / 64] >> shift;
  if (shift + placed.count > 64) code |= state[placed.first / 64 + 1] << (64 - shift);
  return static_cast<std::int64_t>(code & (~std::uint64_t{0} >> (64 - placed.count)));
}

// ---- what there is ----------------------------------------------------------------------------------

Vocabulary::Vocabulary(const Cells& cells, const std::vector<ScalarBits>& scalars,
                       const std::vector<std::string>& texts, const std::uint64_t* state) {
  find_fields(cells, scalars, texts, state);
  find_variables();
  find_atoms();
  plain_ = atoms_.size();
  find_questions_of_some();
  find_renamings();
  explored_asking_ = asking(explored_);
  proved_asking_ = asking(proved_);
}

void Vocabulary::find_fields(const Cells& cells, const std::vector<ScalarBits>& scalars,
                             const std::vector<std::string>& texts, const std::uint64_t* state) {
  struct Found {
    std::size_t field;
    std::vector<int> row;
    Placed placed;
  };
  std::vector<Found> found;
  std::map<std::string, std::size_t> numbers;
  std::map<std::string, int> explored;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const Path path = parsed(scalars[i].path);
    const std::optional<Named> place =
        named(cells, path, 0, {path.between.front(), {path.between.front()}, {}});
    if (!place) continue;
    const auto [at, fresh] = numbers.emplace(place->cell, fields_.size());
    if (fresh) fields_.push_back(shaped(cells, *place));
    const Field& field = fields_[at->second];
    for (std::size_t n = 0; n < place->row.size(); ++n)
      explored[field.over[n]] = std::max(explored[field.over[n]], place->row[n] + 1);
    Placed placed{scalars[i].bits.first, scalars[i].bits.count, 0};
    if (field.sort == Sort::word || field.sort == Sort::number)
      placed.offset = std::stoll(texts[i]) - static_cast<std::int64_t>(bits_at(state, placed));
    found.push_back({at->second, place->row, placed});
  }
  std::map<std::string, int> proved;
  for (const auto& [name, shape] : cells) {
    for (const Domain& over : shape.indices) proved.emplace(over.name, over.size);
    if (shape.values.kind == Domain::Kind::finite) proved.emplace(shape.values.name, shape.values.size);
  }
  explored_ = Extents(explored, fields_);
  proved_ = Extents(std::move(proved), fields_);
  placed_.resize(explored_.scalars());
  for (const Found& one : found) placed_[explored_.scalar(one.field, one.row)] = one.placed;
}

void Vocabulary::find_variables() {
  std::set<std::string> types;
  for (const Field& field : fields_) types.insert(field.over.begin(), field.over.end());
  char name = 'i';
  for (const std::string& type : types) {
    const int several = std::min({most_of_a_type, explored_.of(type), proved_.of(type)});
    for (int n = 0; n < several; ++n) variables_.push_back({std::string(1, name++), type});
  }
}

// In all rows that variables name.
std::vector<Use> Vocabulary::uses_of(std::size_t field) const {
  std::vector<Use> uses{{field, {}}};
  for (const std::string& type : fields_[field].over) {
    std::vector<Use> longer;
    for (const Use& use : uses) {
      for (std::size_t v = 0; v < variables_.size(); ++v) {
        if (variables_[v].type != type) continue;
        longer.push_back(use);
        longer.back().row.push_back(v);
      }
    }
    uses = std::move(longer);
  }
  return uses;
}

bool Vocabulary::comparable(const Use& a, const Use& b) const {
  const Field& one = fields_[a.field];
  const Field& other = fields_[b.field];
  const auto is_index = [](const Field& f) { return f.sort == Sort::index || f.sort == Sort::maybe; };
  if (is_index(one) && is_index(other)) return one.type == other.type;
  return one.sort == other.sort && one.low == other.low && one.high == other.high &&
         (one.sort == Sort::word || one.sort == Sort::number);
}

void Vocabulary::find_atoms() {
  using Kind = Atom::Kind;
  std::vector<Use> compared;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    for (const Use& use : uses_of(f)) {
      const auto add = [&](Kind kind, std::int64_t member = 0, std::size_t variable = 0) {
        atoms_.push_back({.kind = kind, .use = use, .member = member, .variable = variable});
      };
      switch (field.sort) {
        case Sort::truth:
          add(Kind::holds);
          break;
        case Sort::enumeration:
          // Of two, not being the one is being the other.
          for (std::size_t m = field.members.size() == 2 ? 1 : 0; m < field.members.size(); ++m)
            add(Kind::is_member, static_cast<std::int64_t>(m));
          break;
        case Sort::maybe:
          add(Kind::has);
          [[fallthrough]];
        case Sort::index:
          for (std::size_t v = 0; v < variables_.size(); ++v) {
            if (variables_[v].type == field.type) add(Kind::is_variable, 0, v);
          }
          break;
        case Sort::word:
          add(Kind::is_member, 0);
          break;
        case Sort::number:
          for (int n = field.low; n <= field.high && n < field.low + most_number_values; ++n)
            add(Kind::is_member, n);
          break;
      }
      for (const Use& other : compared) {
        if (comparable(use, other)) atoms_.push_back({.kind = Kind::same, .use = use, .other = other});
      }
      compared.push_back(use);
    }
  }
}

bool Vocabulary::is_last_of_type(std::size_t variable) const {
  const std::string& type = variables_[variable].type;
  return variable > 0 && variables_[variable - 1].type == type &&
         (variable + 1 == variables_.size() || variables_[variable + 1].type != type);
}

// Of one thing or two, about a member beside those that the first variables of each type name.
void Vocabulary::find_questions_of_some() {
  for (std::size_t bound = 0; bound < variables_.size(); ++bound) {
    if (!is_last_of_type(bound)) continue;
    std::vector<Literal> literals;
    for (std::size_t a = 0; a < plain_; ++a) {
      std::set<std::size_t> used;
      note_variables(atoms_[a], used);
      const bool plain = std::all_of(used.begin(), used.end(), [&](std::size_t v) {
        return v == bound || v == 0 || variables_[v - 1].type != variables_[v].type;
      });
      if (!plain || !used.contains(bound)) continue;
      literals.push_back({a, true});
      literals.push_back({a, false});
    }
    const auto add = [&](std::vector<Literal> inner) {
      atoms_.push_back({.kind = Atom::Kind::some, .variable = bound, .inner = std::move(inner)});
    };
    for (const Literal& literal : literals) add({literal});
    if (literals.size() * literals.size() / 2 > most_of_some) continue;
    for (const Literal& one : literals) {
      for (const Literal& other : literals) {
        if (one.atom < other.atom) add({one, other});
      }
    }
  }
}

void Vocabulary::find_renamings() {
  static_assert(most_of_a_type == 2, "variables of a type are renamed by swapping two");
  std::vector<std::size_t> seconds;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    if (is_last_of_type(v)) seconds.push_back(v);
  }
  for (std::size_t swapped = 0; swapped < std::size_t{1} << seconds.size(); ++swapped) {
    std::vector<std::size_t> to(variables_.size());
    std::iota(to.begin(), to.end(), std::size_t{0});
    for (std::size_t n = 0; n < seconds.size(); ++n) {
      if ((swapped >> n & 1U) != 0) std::swap(to[seconds[n] - 1], to[seconds[n]]);
    }
    std::vector<std::size_t> renamed;
    for (Atom atom : atoms_) {
      if (atom.kind == Atom::Kind::some) {
        renamed.push_back(swapped == 0 ? renamed.size() : atoms_.size());
        continue;
      }
      for (std::size_t& v : atom.use.row) v = to[v];
      for (std::size_t& v : atom.other.row) v = to[v];
      if (atom.kind == Atom::Kind::is_variable) atom.variable = to[atom.variable];
      auto found = std::find(atoms_.begin(), atoms_.end(), atom);
      if (found == atoms_.end()) {
        std::swap(atom.use, atom.other);
        found = std::find(atoms_.begin(), atoms_.end(), atom);
      }
      renamed.push_back(static_cast<std::size_t>(found - atoms_.begin()));
    }
    renamings_.push_back(std::move(renamed));
  }
}

// ---- states -----------------------------------------------------------------------------------------

void Vocabulary::unpack(const std::uint64_t* state, Codes& codes) const {
  codes.resize(placed_.size());
  for (std::size_t i = 0; i < placed_.size(); ++i) codes[i] = bits_at(state, placed_[i]) + placed_[i].offset;
}

// Members of the variables, those of one type different; of no others.
std::vector<std::vector<int>> Vocabulary::choices(const std::vector<std::size_t>& variables,
                                                  const Extents& extents) const {
  std::vector<std::vector<int>> all{std::vector<int>(variables_.size(), -1)};
  for (const std::size_t v : variables) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& some : all) {
      for (int m = 0; m < extents.of(variables_[v].type); ++m) {
        const bool taken = std::any_of(variables.begin(), variables.end(), [&](std::size_t other) {
          return variables_[other].type == variables_[v].type && some[other] == m;
        });
        if (taken) continue;
        longer.push_back(some);
        longer.back()[v] = m;
      }
    }
    all = std::move(longer);
  }
  return all;
}

Vocabulary::Asking Vocabulary::asking(const Extents& extents) const {
  std::vector<std::size_t> variables(variables_.size());
  std::iota(variables.begin(), variables.end(), std::size_t{0});
  Asking all;
  const std::vector<std::vector<int>> every = choices(variables, extents);
  for (const std::vector<int>& members : every) {
    std::vector<std::vector<std::size_t>>& others = all.others.emplace_back(variables_.size());
    for (std::size_t other = 0; other < every.size(); ++other) {
      for (std::size_t v = 0; v < variables_.size(); ++v) {
        std::vector<int> changed = members;
        changed[v] = every[other][v];
        if (changed == every[other]) others[v].push_back(other);
      }
    }
    const auto scalar = [&](const Use& use) {
      std::vector<int> row;
      for (const std::size_t v : use.row) row.push_back(members[v]);
      return static_cast<std::uint32_t>(extents.scalar(use.field, row));
    };
    // An index as a Maybe has it, so that both compare.
    const auto plus = [&](const Use& use) {
      return static_cast<std::int8_t>(fields_[use.field].sort == Sort::index ? 1 : 0);
    };
    for (std::size_t a = 0; a < plain_; ++a) {
      const Atom& atom = atoms_[a];
      Question& q = all.questions.emplace_back();
      q.scalar = scalar(atom.use);
      switch (atom.kind) {
        case Atom::Kind::holds:
        case Atom::Kind::has:
          q.differs = true;  // from 0
          break;
        case Atom::Kind::is_member:
          q.number = atom.member;
          break;
        case Atom::Kind::is_variable:
          q.plus = plus(atom.use);
          q.number = members[atom.variable] + 1;
          break;
        case Atom::Kind::same:
          q.compares = true;
          q.other = scalar(atom.other);
          q.plus = plus(atom.use);
          q.plus_other = plus(atom.other);
          break;
        case Atom::Kind::some:
          break;
      }
    }
  }
  return all;
}

Bits Vocabulary::asked_of(const std::vector<std::size_t>& variables, bool of_some) const {
  Bits bits((atoms_.size() + 63) / 64);
  for (std::size_t a = 0; a < (of_some ? atoms_.size() : plain_); ++a) {
    std::set<std::size_t> used;
    note_variables(atoms_[a], used);
    const bool all = std::includes(variables.begin(), variables.end(), used.begin(), used.end());
    bits[a / 64] |= std::uint64_t{all} << (a % 64);
  }
  return bits;
}

// ---- clauses ----------------------------------------------------------------------------------------

void Vocabulary::note_variables(const Atom& atom, std::set<std::size_t>& used) const {
  if (atom.kind == Atom::Kind::some) {
    for (const Literal& literal : atom.inner) note_variables(atoms_[literal.atom], used);
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (variables_[v].type == variables_[atom.variable].type) used.insert(v);
    }
    used.erase(atom.variable);
    return;
  }
  used.insert(atom.use.row.begin(), atom.use.row.end());
  used.insert(atom.other.row.begin(), atom.other.row.end());
  if (atom.kind == Atom::Kind::is_variable) used.insert(atom.variable);
}
std::vector<std::size_t> Vocabulary::variables_of(const Clause& clause) const {
  std::set<std::size_t> used;
  for (const Literal& literal : clause) note_variables(atoms_[literal.atom], used);
  return {used.begin(), used.end()};
}

std::string Vocabulary::text(const Use& use) const {
  const Field& field = fields_[use.field];
  std::string text = field.text.front();
  for (std::size_t i = 0; i < use.row.size(); ++i) text += variables_[use.row[i]].name + field.text[i + 1];
  return text;
}
std::string Vocabulary::text(const Literal& literal) const {
  const Atom& atom = atoms_[literal.atom];
  if (atom.kind == Atom::Kind::some) {
    const Variable& bound = variables_[atom.variable];
    std::string inner;
    for (const Literal& one : atom.inner) inner += (inner.empty() ? "" : " && ") + text(one);
    return fmt::format("({} {} {} != {}: {})", literal.positive ? "some" : "no", bound.type, bound.name,
                       variables_[atom.variable - 1].name, inner);
  }
  const std::string use = text(atom.use);
  const std::string_view is = literal.positive ? "==" : "!=";
  switch (atom.kind) {
    case Atom::Kind::holds:
      return (literal.positive ? "" : "!") + use;
    case Atom::Kind::has:
      return fmt::format("{} {} none", use, literal.positive ? "!=" : "==");
    case Atom::Kind::is_variable:
      return fmt::format("{} {} {}", use, is, variables_[atom.variable].name);
    case Atom::Kind::same:
      return fmt::format("{} {} {}", use, is, text(atom.other));
    case Atom::Kind::is_member:
    case Atom::Kind::some:
      break;
  }
  const Field& field = fields_[atom.use.field];
  if (field.sort != Sort::enumeration) return fmt::format("{} {} {}", use, is, atom.member);
  const bool two = field.members.size() == 2;
  const auto member = static_cast<std::size_t>(two && !literal.positive ? 1 - atom.member : atom.member);
  return fmt::format("{} {} {}", use, two ? "==" : is, field.members[member]);
}
std::string Vocabulary::text(const Clause& clause) const {
  std::string quantifiers;
  std::string same;
  const std::vector<std::size_t> used = variables_of(clause);
  for (std::size_t n = 0; n < used.size(); ++n) {
    const Variable& variable = variables_[used[n]];
    const bool again = n > 0 && variables_[used[n - 1]].type == variable.type;
    quantifiers += again                 ? ", "
                   : quantifiers.empty() ? fmt::format("for all {} ", variable.type)
                                         : fmt::format(", {} ", variable.type);
    quantifiers += variable.name;
    if (again) same += fmt::format("{} == {} || ", variables_[used[n - 1]].name, variable.name);
  }
  std::string literals;
  for (const Literal& literal : clause) literals += (literals.empty() ? "" : " || ") + text(literal);
  return (quantifiers.empty() ? "" : quantifiers + ": ") + same + literals;
}

Clause Vocabulary::canonical(const Clause& clause) const {
  Clause least;
  for (const std::vector<std::size_t>& renamed : renamings_) {
    Clause other = clause;
    for (Literal& literal : other) literal.atom = renamed[literal.atom];
    const bool known = std::all_of(other.begin(), other.end(),
                                   [&](const Literal& literal) { return literal.atom < atoms_.size(); });
    if (!known) continue;
    std::sort(other.begin(), other.end());
    if (least.empty() || other < least) least = std::move(other);
  }
  return least;
}

double Vocabulary::strength(const Clause& clause) const {
  double part = 0;
  for (const Literal& literal : clause) {
    const Atom& atom = atoms_[literal.atom];
    if (atom.kind == Atom::Kind::some) {
      part -= 1;
      continue;
    }
    const Field& field = fields_[atom.use.field];
    double values = 2;
    if (atom.kind == Atom::Kind::is_member) {
      values = field.sort == Sort::enumeration ? static_cast<double>(field.members.size())
               : field.sort == Sort::number    ? field.high - field.low + 1
                                               : 2;
    } else if (atom.kind == Atom::Kind::is_variable || atom.kind == Atom::Kind::same) {
      const bool of_type = field.sort == Sort::index || field.sort == Sort::maybe;
      values = std::max(2, of_type ? proved_.of(field.type) : 2);
    }
    part += std::log2(literal.positive ? 1 - 1 / values : 1 / values);
  }
  return part;
}

// ---- terms ------------------------------------------------------------------------------------------

Term Vocabulary::term(const Atom& atom, const Cells& cells, const CellReader& read,
                      const Arguments& members) const {
  Session& session = Session::current();
  const auto row = [&](const Use& use) {
    Arguments arguments;
    for (const std::size_t v : use.row) arguments.push_back(members[v]);
    return arguments;
  };
  const auto has = [&](const Use& use) {
    const Field& field = fields_[use.field];
    return field.sort == Sort::maybe ? read(field.name + ".has", row(use)) : session.truth(true);
  };
  const auto value = [&](const Use& use) {
    const Field& field = fields_[use.field];
    return read(field.sort == Sort::maybe ? field.name + ".index" : field.name, row(use));
  };
  switch (atom.kind) {
    case Atom::Kind::some:
      return term_of_some(atom, cells, read, members);
    case Atom::Kind::holds:
      return value(atom.use);
    case Atom::Kind::has:
      return has(atom.use);
    case Atom::Kind::is_member:
      return symbolic::equal(value(atom.use), session.member(cells.at(fields_[atom.use.field].name).values,
                                                             static_cast<int>(atom.member)));
    case Atom::Kind::is_variable:
      return symbolic::both(has(atom.use), symbolic::equal(value(atom.use), members[atom.variable]));
    case Atom::Kind::same: {
      const Term a = has(atom.use);
      const Term b = has(atom.other);
      return symbolic::both(
          symbolic::equal(a, b),
          symbolic::either(symbolic::negation(a), symbolic::equal(value(atom.use), value(atom.other))));
    }
  }
  return session.truth(false);
}

namespace {

std::map<std::string, Domain> index_types(const Cells& cells) {
  std::map<std::string, Domain> types;
  for (const auto& [name, shape] : cells) {
    for (const Domain& domain : shape.indices) types.emplace(domain.name, domain);
  }
  return types;
}

}  // namespace

Term Vocabulary::term_of_some(const Atom& atom, const Cells& cells, const CellReader& read,
                              Arguments members) const {
  Session& session = Session::current();
  const Domain domain = index_types(cells).at(variables_[atom.variable].type);
  const auto is = [&](const Term& member) {
    members[atom.variable] = member;
    Term all = session.truth(true);
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (v != atom.variable && variables_[v].type == variables_[atom.variable].type)
        all = symbolic::both(all, symbolic::negation(symbolic::equal(members[v], member)));
    }
    for (const Literal& literal : atom.inner) {
      const Term holds = term(atoms_[literal.atom], cells, read, members);
      all = symbolic::both(all, literal.positive ? holds : symbolic::negation(holds));
    }
    return all;
  };
  if (domain.kind == Domain::Kind::any) {
    const Term member = session.unbound(domain);
    return z3::exists(member, is(member));
  }
  Term any = session.truth(false);
  for (int m = 0; m < domain.size; ++m) any = symbolic::either(any, is(session.member(domain, m)));
  return any;
}

Term Vocabulary::term(const Clause& clause, const Cells& cells, const CellReader& read) const {
  Session& session = Session::current();
  const std::vector<std::size_t> used = variables_of(clause);
  const std::map<std::string, Domain> types = index_types(cells);
  const auto body = [&](const Arguments& members) {
    Term any = session.truth(false);
    for (const Literal& literal : clause) {
      const Term holds = term(atoms_[literal.atom], cells, read, members);
      any = symbolic::either(any, literal.positive ? holds : symbolic::negation(holds));
    }
    return any;
  };
  // Open index types by a quantifier, the others member by member.
  std::vector<std::size_t> open;
  std::vector<std::size_t> closed;
  for (const std::size_t v : used)
    (types.at(variables_[v].type).kind == Domain::Kind::any ? open : closed).push_back(v);
  Arguments members(variables_.size(), session.truth(false));
  z3::expr_vector bound(session.context());
  Term apart = session.truth(false);  // not all different
  for (const std::size_t v : open) {
    members[v] = session.unbound(types.at(variables_[v].type));
    for (const std::size_t other : open) {
      if (other < v && variables_[other].type == variables_[v].type)
        apart = symbolic::either(apart, symbolic::equal(members[other], members[v]));
    }
    bound.push_back(members[v]);
  }
  Term all = session.truth(true);
  for (const std::vector<int>& choice : choices(closed, proved_)) {
    for (const std::size_t v : closed) members[v] = session.member(types.at(variables_[v].type), choice[v]);
    all = symbolic::both(all, symbolic::either(apart, body(members)));
  }
  return bound.empty() || all.is_true() || all.is_false() ? all : z3::forall(bound, all);
}

}  // namespace lockstep::suggest
