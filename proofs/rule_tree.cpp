#include "proofs/rule_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "checker/interpret/mutation.hpp"
#include "checker/support/diagnostic.hpp"
#include "proofs/solving.hpp"

namespace lockstep {

namespace symbolic {

using recorded::Declaration;
using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::Sort;
using recorded::Statement;

namespace {

const Domain truths{Domain::Kind::boolean, "bool"};
const Domain numbers{Domain::Kind::integer, "int"};
const Domain words{Domain::Kind::word, "value"};

void note_enumerations(const Declaration& declaration, std::map<std::string, Domain>& all) {
  if (!declaration.members.empty()) {
    all.emplace(declaration.type.name,
                Domain{Domain::Kind::finite, "enum", static_cast<int>(declaration.members.size()), 0, 0,
                       declaration.members});
  }
  for (const Declaration& part : declaration.parts) note_enumerations(part, all);
}

// A rule's tree on one state.
class Walk {
 public:
  Walk(const TreeSystem& system, const recorded::RecordedRule& rule, const Term* members)
      : system_(system), rule_(rule), state_(session().held()) {
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < rule.parameters.size(); ++i) {
      const int n = ++seen[rule.parameters[i]];
      variables_.insert_or_assign(n == 1 ? rule.parameters[i] : fmt::format("{}{}", rule.parameters[i], n),
                                  Value{members[i], {}});
    }
  }

  Term guard() { return term(rule_.guard); }
  void act() {
    // What a taken message held is asked of the state before.
    before_ = &session().freeze();
    if (!rule_.trigger.empty()) pop(at(rule_.trigger));
    run(rule_.action);
  }

 private:
  // Of a Maybe: whether there is an index, and which.
  struct Value {
    Term term;
    std::optional<Term> has;
  };
  // Something of the state, and what it was declared to be.
  struct Spot {
    Place place;
    const Declaration* declared = nullptr;
    std::string bit = {};  // of a queue: "empty", "full", "lacks_slot1"
  };

  static Session& session() { return Session::current(); }

  // ---- places ----

  [[nodiscard]] const Domain& index_type(const std::string& name) const {
    const auto found = system_.index_types.find(name);
    if (found == system_.index_types.end())
      throw Unreadable(fmt::format("'{}' is no index type of the system", name));
    return found->second;
  }
  static const Declaration& part_of(const Declaration& record, const std::string& name) {
    const auto found = std::find(record.names.begin(), record.names.end(), name);
    if (found == record.names.end()) throw Unreadable(fmt::format("there is no field '{}'", name));
    return record.parts[static_cast<std::size_t>(found - record.names.begin())];
  }
  static Place slot(const Place& queue, std::size_t which) {
    Place place = queue;
    place.name += fmt::format("[{}]", which);
    return place;
  }
  [[nodiscard]] std::size_t slots(const Spot& queue) const {
    return static_cast<std::size_t>(index_type(queue.declared->over.front()).size);
  }

  Spot at(const Path& path) {
    Spot spot{{&state_, system_.within, {}, {}}, &system_.description->state};
    for (const recorded::Segment& segment : path) {
      if (spot.declared->kind == Declaration::Kind::record) {
        spot.declared = &part_of(*spot.declared, segment.name);
        spot.place = spot.place.member(segment.name);
      } else if (spot.declared->kind == Declaration::Kind::queue) {
        if (segment.name == "head") {
          spot.place = slot(spot.place, 0);
          if (segment.consumed && before_ != nullptr) spot.place.store = before_;
        } else if (segment.name == "entry") {
          spot.place = slot(spot.place, entries_.at(spot.place.name));
        } else if (segment.name.starts_with("slot")) {
          spot.place = slot(spot.place, std::stoul(segment.name.substr(4)));
        } else {
          spot.bit = segment.name;
          return spot;
        }
        spot.declared = &spot.declared->parts.front();
      } else {
        throw Unreadable(fmt::format("'{}' has no parts", recorded::print(path)));
      }
      descend(spot, segment);
    }
    return spot;
  }
  // Into the rows that a segment names.
  void descend(Spot& spot, const recorded::Segment& segment) {
    std::size_t next = 0;
    while (spot.declared->kind == Declaration::Kind::table && next < segment.index.size()) {
      for (const std::string& over : spot.declared->over) {
        const Term index = term(segment.index.at(next++));
        if (spot.declared->unrolled) {
          spot.place = slot(spot.place, static_cast<std::size_t>(index.get_numeral_int()));
        } else {
          spot.place.arguments.push_back(index);
          spot.place.indices.push_back(index_type(over));
        }
      }
      spot.declared = &spot.declared->parts.front();
    }
  }

  // ---- scalars ----

  [[nodiscard]] Domain domain_of(const Declaration& leaf) const {
    switch (leaf.type.sort) {
      case Sort::boolean:
        return truths;
      case Sort::integer:
        return {Domain::Kind::integer, "int", leaf.high - leaf.low + 1, leaf.low, leaf.high};
      case Sort::word:
        return words;
      case Sort::index:
      case Sort::maybe:
        return index_type(index_name(leaf.type));
      case Sort::enumeration:
        return system_.enumerations.at(leaf.type.name);
    }
    throw Unreadable("a field of no type");
  }
  // Of an index, or of a Maybe of one.
  static std::string index_name(const recorded::Type& type) {
    return type.sort == Sort::maybe ? type.name.substr(std::string_view("maybe ").size()) : type.name;
  }
  static Cell& cell(const Place& place, const Domain& domain) {
    return place.store->cell(place.name, place.indices, domain, by_default(domain));
  }
  static Term read(const Place& place, const Domain& domain) {
    const Cell& field = cell(place, domain);
    session().read(field, place.arguments);
    return field.at(place.arguments);
  }
  [[nodiscard]] Value read(const Place& place, const Declaration& leaf) const {
    const Domain domain = domain_of(leaf);
    if (leaf.type.sort == Sort::maybe)
      return {read(place.member("index"), domain), read(place.member("has"), truths)};
    return {read(place, domain), {}};
  }
  static void write(const Place& place, const Domain& domain, const Term& value) {
    if (domain.kind == Domain::Kind::integer)
      session().require(value >= domain.low && value <= domain.high, "a number stays in its range");
    session().write(cell(place, domain), place.arguments, value);
  }
  void write(const Place& place, const Declaration& leaf, const Value& value) const {
    const Domain domain = domain_of(leaf);
    if (leaf.type.sort == Sort::maybe) {
      write(place.member("has"), truths, *value.has);
      return write(place.member("index"), domain, value.term);
    }
    write(place, domain, value.term);
  }

  // ---- queues ----

  // Its length, as a number of entries.
  struct Count {
    Place place;
    Domain domain;
    [[nodiscard]] Term now() const { return read(place, domain); }
    [[nodiscard]] Term number(std::size_t n) const { return session().member(domain, static_cast<int>(n)); }
    void set(const Term& t) const { session().write(cell(place, domain), place.arguments, t); }
  };
  [[nodiscard]] Count count_of(const Spot& queue) const {
    return {queue.place.member("count"), {Domain::Kind::finite, "count", static_cast<int>(slots(queue)) + 1}};
  }
  // Every scalar of an entry, from where it begins.
  template <class F>
  void each_scalar(const Declaration& part, const std::string& name, F&& f) const {
    if (part.kind == Declaration::Kind::leaf) return f(name, part);
    for (std::size_t i = 0; part.kind == Declaration::Kind::record && i < part.parts.size(); ++i)
      each_scalar(part.parts[i], fmt::format("{}.{}", name, part.names[i]), f);
    if (part.kind != Declaration::Kind::table) return;
    for (int i = 0; i < index_type(part.over.front()).size; ++i)
      each_scalar(part.parts.front(), fmt::format("{}[{}]", name, i), f);
  }
  static Place within(const Place& entry, const std::string& scalar) {
    Place place = entry;
    place.name += scalar;
    return place;
  }
  void move(const Spot& queue, std::size_t from, std::size_t to) const {
    each_scalar(queue.declared->parts.front(), "", [&](const std::string& name, const Declaration& leaf) {
      write(within(slot(queue.place, to), name), leaf, read(within(slot(queue.place, from), name), leaf));
    });
  }
  void pop(const Spot& queue) const {
    const Count count = count_of(queue);
    session().require(negation(equal(count.now(), count.number(0))),
                      "a queue that is popped holds something");
    const std::size_t last = slots(queue) - 1;
    for (std::size_t i = 0; i < last; ++i) move(queue, i + 1, i);
    each_scalar(queue.declared->parts.front(), "", [&](const std::string& name, const Declaration& leaf) {
      const Term nothing = by_default(domain_of(leaf));
      write(within(slot(queue.place, last), name), leaf, Value{nothing, session().truth(false)});
    });
    count.set(count.now() - count.number(1));
  }
  void push(const Spot& queue, const Statement& statement) {
    const bool in_front = statement.kind == Statement::Kind::push_front;
    const Count count = count_of(queue);
    std::map<std::string, Value> row;
    for (const auto& [part, expression] : statement.row) {
      std::string name = part.empty() || part.front() == '(' ? part : "." + part;
      std::replace(name.begin(), name.end(), '(', '[');
      std::replace(name.begin(), name.end(), ')', ']');
      row.emplace(name, value(expression));
    }
    const Term length = count.now();
    session().require(negation(equal(length, count.number(slots(queue)))),
                      "a queue that is pushed onto has room");
    const auto fill = [&](std::size_t i) {
      each_scalar(queue.declared->parts.front(), "", [&](const std::string& name, const Declaration& leaf) {
        write(within(slot(queue.place, i), name), leaf, row.at(name));
      });
    };
    if (in_front) {
      for (std::size_t i = slots(queue) - 1; i > 0; --i) move(queue, i - 1, i);
      fill(0);
    } else {
      for (std::size_t i = 0; i < slots(queue); ++i)
        session().under(equal(length, count.number(i)), [&] { fill(i); });
    }
    count.set(length + count.number(1));
  }

  // ---- expressions ----

  Term term(const Expression& e) { return value(e).term; }

  [[nodiscard]] Value constant(const recorded::Node& node) const {
    const auto number = static_cast<int>(system_.constants.of(node));
    switch (node.type.sort) {
      case Sort::boolean:
        return {session().truth(number != 0), {}};
      case Sort::integer:
        return {session().member(numbers, number), {}};
      case Sort::word:
        return {session().member(words, number), {}};
      case Sort::index:
        return {session().member(index_type(node.type.name), number), {}};
      case Sort::maybe:
        return {session().member(index_type(index_name(node.type)), std::max(number - 1, 0)),
                session().truth(number != 0)};
      case Sort::enumeration:
        return {session().member(system_.enumerations.at(node.type.name), number), {}};
    }
    throw Unreadable("a constant of no type");
  }
  static Term same(const Value& a, const Value& b) {
    const Term index = equal(a.term, b.term);
    return a.has ? both(equal(*a.has, *b.has), either(negation(*a.has), index)) : index;
  }
  Term binary(const recorded::Node& node) {
    const Value a = value(node.children[0]);
    const Value b = value(node.children[1]);
    const Sort sort = node.children[0]->type.sort;
    switch (node.op) {
      case Op::and_:
        return both(a.term, b.term);
      case Op::or_:
        return either(a.term, b.term);
      case Op::equal:
        return same(a, b);
      case Op::not_equal:
        return negation(same(a, b));
      case Op::less:
        if (sort == Sort::index) return z3::ult(a.term, b.term);
        return sort == Sort::word ? less(a.term, b.term) : a.term < b.term;
      case Op::less_equal:
        return sort == Sort::word ? negation(less(b.term, a.term)) : a.term <= b.term;
      case Op::add:
        return a.term + b.term;
      case Op::subtract:
        return a.term - b.term;
      case Op::multiply:
        return a.term * b.term;
      case Op::bit_and:
        return bitwise(Bitwise::both, a.term, b.term);
      case Op::bit_or:
        return bitwise(Bitwise::either, a.term, b.term);
      case Op::bit_xor:
        return bitwise(Bitwise::one, a.term, b.term);
      default:
        throw Unreadable("an operator of no kind");
    }
  }
  Term applied(const recorded::Node& node) {
    const Domain& from = index_type(node.children[0]->type.name);
    const Term member = term(node.children[0]);
    const bool truth = node.type.sort == Sort::boolean;
    const Domain to = truth ? truths : index_type(node.type.name);
    return node.over.empty() ? session().rigid(node.text, {from}, to, {member}) : paired(from, to, member);
  }
  // A question of every member of an index type, or of any one where there is no last.
  template <class Join, class Quantify>
  Term quantified(const recorded::Node& node, bool unit, Join&& join, Quantify&& quantify) {
    const Domain& domain = index_type(node.over);
    const auto outer = variables_.find(node.text) == variables_.end()
                           ? std::optional<Value>()
                           : std::optional<Value>(variables_.at(node.text));
    const auto body = [&](const Term& member) {
      variables_.insert_or_assign(node.text, Value{member, {}});
      return term(node.children[0]);
    };
    Term all = session().truth(unit);
    if (domain.kind == Domain::Kind::any) {
      const Term member = session().unbound(domain);
      all = body(member);
      if (!all.is_true() && !all.is_false()) all = quantify(member, all);
    } else {
      for (int i = 0; i < domain.size; ++i) all = join(all, body(session().member(domain, i)));
    }
    variables_.erase(node.text);
    if (outer) variables_.emplace(node.text, *outer);
    return all;
  }
  Term counted(const recorded::Node& node) {
    if (index_type(node.over).kind == Domain::Kind::any)
      throw Unreadable(fmt::format("a count over '{}' has no meaning at any size", node.over));
    Term n = session().member(numbers, 0);
    quantified(
        node, false,
        [&](const Term&, const Term& one) {
          n = n + choice(one, session().member(numbers, 1), session().member(numbers, 0));
          return one;
        },
        [](const Term&, const Term& body) { return body; });
    return n;
  }
  Term contained(const recorded::Node& node) {
    const Spot queue = at(node.path);
    const Count count = count_of(queue);
    const std::string& name = queue.place.name;
    const auto outer = entries_.find(name) == entries_.end() ? std::optional<std::size_t>()
                                                             : std::optional<std::size_t>(entries_[name]);
    Term any = session().truth(false);
    for (std::size_t i = 0; i < slots(queue); ++i) {
      entries_[name] = i;
      any = either(any, both(z3::ugt(count.now(), count.number(i)), term(node.children[0])));
    }
    entries_.erase(name);
    if (outer) entries_[name] = *outer;
    return any;
  }
  Value read(const Path& path) {
    const Spot spot = at(path);
    if (spot.bit.empty()) return read(spot.place, *spot.declared);
    const Count count = count_of(spot);
    if (spot.bit == "empty") return {equal(count.now(), count.number(0)), {}};
    if (spot.bit == "full") return {equal(count.now(), count.number(slots(spot))), {}};
    const std::size_t which = std::stoul(spot.bit.substr(std::string_view("lacks_slot").size()));
    return {negation(z3::ugt(count.now(), count.number(which))), {}};
  }

  Value value(const Expression& e) {
    switch (e->op) {
      case Op::constant:
        return constant(*e);
      case Op::parameter:
      case Op::local: {
        const auto found = variables_.find(e->text);
        if (found == variables_.end()) throw Unreadable(fmt::format("no value for '{}'", e->text));
        return found->second;
      }
      case Op::read:
        return read(e->path);
      case Op::apply:
        return {applied(*e), {}};
      case Op::not_:
        return {negation(term(e->children[0])), {}};
      case Op::select: {
        const Term condition = term(e->children[0]);
        const Value a = value(e->children[1]);
        const Value b = value(e->children[2]);
        return {choice(condition, a.term, b.term),
                a.has ? std::optional<Term>(choice(condition, *a.has, *b.has)) : std::nullopt};
      }
      case Op::some:
        return {term(e->children[0]), session().truth(true)};
      case Op::has:
        return {*value(e->children[0]).has, {}};
      case Op::value_of:
        return {term(e->children[0]), {}};
      case Op::forall:
        return {quantified(*e, true, both,
                           [](const Term& member, const Term& body) { return z3::forall(member, body); }),
                {}};
      case Op::exists:
        return {quantified(*e, false, either,
                           [](const Term& member, const Term& body) { return z3::exists(member, body); }),
                {}};
      case Op::count:
        return {counted(*e), {}};
      case Op::contains:
        return {contained(*e), {}};
      default:
        return {binary(*e), {}};
    }
  }

  // ---- statements ----

  void run(const std::vector<Statement>& block) {
    for (const Statement& statement : block) run(statement);
  }
  void run(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::assign: {
        const Value assigned = value(statement.value);
        const Spot spot = at(statement.target);
        return write(spot.place, *spot.declared, assigned);
      }
      case Statement::Kind::let:
        variables_.insert_or_assign(statement.name, value(statement.value));
        return;
      case Statement::Kind::when: {
        const Term holds = term(statement.value);
        session().under(holds, [&] { run(statement.then); });
        session().under(negation(holds), [&] { run(statement.otherwise); });
        return;
      }
      case Statement::Kind::for_each: {
        const Domain& domain = index_type(statement.over);
        const auto body = [&](const Term& member) {
          variables_.insert_or_assign(statement.name, Value{member, {}});
          run(statement.then);
        };
        if (domain.kind == Domain::Kind::any) return session().for_all(domain, body);
        for (int i = 0; i < domain.size; ++i) body(session().member(domain, i));
        return;
      }
      case Statement::Kind::push:
      case Statement::Kind::push_front:
        return push(at(statement.target), statement);
      case Statement::Kind::pop:
        return pop(at(statement.target));
    }
  }

  const TreeSystem& system_;
  const recorded::RecordedRule& rule_;
  Store& state_;
  Store* before_ = nullptr;  // once the rule acts
  std::map<std::string, Value> variables_;
  std::map<std::string, std::size_t> entries_;  // by queue: the slot of the entry that is asked about
};

// What closures of terms say of a guard.
struct OfTerms {
  static Term erased(const Term& t) { return t; }
};

}  // namespace

TreeSystem::TreeSystem(std::shared_ptr<const recorded::Description> described, std::string_view place,
                       std::map<std::string, Domain> types)
    : description(std::move(described)),
      constants(description->state),
      index_types(std::move(types)),
      within(place) {
  note_enumerations(description->state, enumerations);
}

Term guard_of(const TreeSystem& system, const recorded::RecordedRule& rule, const Term* members) {
  return Walk(system, rule, members).guard();
}

void act(const TreeSystem& system, const recorded::RecordedRule& rule, const Term* members) {
  Walk(system, rule, members).act();
}

}  // namespace symbolic

RuleTrees::RuleTrees(const Describe& describe, const SystemOptions& options,
                     const std::vector<std::pair<std::string, int>>& sizes, bool all) {
  if (!all && !options.mutation) return;
  if (!describe) throw BadInput("the system was built without its rules' trees");
  SystemOptions at = options;
  for (const auto& [name, size] : sizes) at.sizes[name] = size;
  auto description = std::make_shared<recorded::Description>(describe(at));
  for (recorded::RecordedRule& rule : description->rules) {
    if (options.mutation && rule.name == options.mutation->rule) rule = mutated(rule, *options.mutation, "");
  }
  if (!all) only_ = options.mutation->rule;
  description_ = std::move(description);
}

RuleTrees RuleTrees::placed(std::string_view within, std::map<std::string, symbolic::Domain> types) const {
  RuleTrees placed = *this;
  if (description_)
    placed.system_ = std::make_shared<const symbolic::TreeSystem>(description_, within, std::move(types));
  return placed;
}

void RuleTrees::replace(RuleValue<SymbolicErased>& value) const {
  if (!system_ || (!only_.empty() && value.rule.name != only_)) return;
  for (const recorded::RecordedRule& rule : description_->rules) {
    if (rule.name != value.rule.name) continue;
    value.guard = ErasedGuard<SymbolicErased>::of<symbolic::OfTerms, std::byte>(
        [system = system_, &rule](const std::byte&, const symbolic::Term* members) {
          return symbolic::guard_of(*system, rule, members);
        });
    value.action = ErasedAction<SymbolicErased>::of<std::byte>(
        [system = system_, &rule](std::byte&, const symbolic::Term* members) {
          symbolic::act(*system, rule, members);
        });
    return;
  }
}

}  // namespace lockstep
