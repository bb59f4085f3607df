// Trees are walked with their parameters bound to numbers: loops are spelt out, rigid functions looked up,
// rows selected. A row that state selects is every row that it may be, under the condition that it is.
#include "checker/footprint/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "checker/footprint/nodes.hpp"
#include "spec/program/port.hpp"
#include "spec/program/threads.hpp"

namespace lockstep::footprint {

namespace {

using recorded::Declaration;
using recorded::Expression;
using recorded::Node;
using recorded::Op;
using recorded::Path;
using recorded::RecordedRule;
using recorded::Segment;
using recorded::Statement;

// "memory(0)(1).kind" and "memory(0,1).kind" are one place.
std::string merged(std::string path) {
  for (std::size_t at = path.find(")("); at != std::string::npos; at = path.find(")(", at))
    path.replace(at, 2, ",");
  return path;
}

}  // namespace

class Grounder {
 public:
  Grounder(Footprints& out, const recorded::WholeDescription& whole)
      : out_(out), whole_(whole), functions_(whole.functions), constants_(whole.state) {
    for (std::size_t i = 0; i < terms().places().size(); ++i)
      places_.emplace(merged(terms().places()[i].path), static_cast<std::uint32_t>(i));
    note_queues(whole.state, "");
  }

  // What no rule accesses has no location.
  void note_places() {
    out_.location_of_.assign(terms().places().size(), Footprints::nowhere);
    for (const auto& [name, l] : locations_) {
      if (!out_.is_queue(l)) {
        out_.location_of_[place(name)] = l;
        continue;
      }
      const std::string first = merged(name + ".count");
      const std::string slots = merged(name + "(");
      for (const auto& [path, p] : places_) {
        if (path == first || path.starts_with(slots.substr(0, slots.size() - 1))) {
          const std::string rest = path.substr(std::min(path.size(), slots.size() - 1));
          if (path == first || rest.starts_with("(") || rest.starts_with(",")) out_.location_of_[p] = l;
        }
      }
    }
  }

  void note_counters() {
    if (whole_.program == nullptr) return;
    for (std::size_t t = 0; t < whole_.program->threads.size(); ++t) {
      if (whole_.program->threads[t].slot_of >= 0) continue;  // it goes to wherever its thread sends it
      const std::string name = counter_name(static_cast<int>(t));
      const auto found = locations_.find(name);
      if (found == locations_.end()) continue;
      out_.counters_.push_back({found->second, place(name), whole_.program->threads[t].code.size()});
    }
  }

  // A claim, or another expression over the whole state.
  TermId read_claim(const Expression& predicate) {
    threads_.clear();
    fixed_.clear();
    known_.clear();
    written_.clear();
    locals_.clear();
    return expression(predicate, {});
  }

  void read_rules() {
    for (const RecordedRule& rule : whole_.rules) {
      std::vector<int> members(rule.parameters.size(), 0);
      for_each_instance(rule, members, 0);
    }
  }

 private:
  using Environment = std::map<std::string, TermId>;
  struct QueueInfo {
    int capacity = 0;
  };
  // What distinguishes the cases of an instance: a thread's place in its program, a message's index.
  struct Split {
    TermId term;  // a scalar or a head
    std::vector<std::int64_t> values;
  };

  Terms& terms() { return out_.terms_; }
  const std::vector<Location>& reads_of(TermId id) {
    out_.note_reads();
    return out_.reads_of(id);
  }

  // ---- the run -------------------------------------------------------------------------------------------

  // Queues by the names of the fields that lead to them, without indices.
  void note_queues(const Declaration& d, const std::string& name) {
    switch (d.kind) {
      case Declaration::Kind::record:
        for (std::size_t i = 0; i < d.parts.size(); ++i)
          note_queues(d.parts[i], name.empty() ? d.names[i] : name + "." + d.names[i]);
        break;
      case Declaration::Kind::table:
        note_queues(d.parts.front(), name);
        break;
      case Declaration::Kind::queue:
        queues_[name] = {extent(d.over.front())};
        break;
      case Declaration::Kind::leaf:
        break;
    }
  }
  [[nodiscard]] int extent(const std::string& index_type) const {
    const auto found = whole_.extents.find(index_type);
    if (found == whole_.extents.end()) throw std::logic_error("no size is known of '" + index_type + "'");
    return found->second;
  }

  Location location(const std::string& name, bool queue) {
    const auto [found, fresh] =
        locations_.try_emplace(name, static_cast<Location>(out_.location_names_.size()));
    if (fresh) {
      out_.location_names_.push_back(name);
      out_.queue_.push_back(queue ? std::int8_t{0} : std::int8_t{-1});
      if (queue) {
        for (const char* aspect : {" full", " head", " entries"}) {
          out_.location_names_.push_back(name + aspect);
          out_.queue_.push_back(static_cast<std::int8_t>(out_.queue_.back() + 1));
        }
      }
    }
    return found->second;
  }
  [[nodiscard]] std::uint32_t place(const std::string& path) const {
    const auto found = places_.find(path);
    if (found == places_.end()) throw std::logic_error("no field '" + path + "'");
    return found->second;
  }

  // ---- instances and cases -------------------------------------------------------------------------------

  void for_each_instance(const RecordedRule& rule, std::vector<int>& members, std::size_t next) {
    if (next < members.size()) {
      for (int i = 0; i < extent(rule.parameters[next]); ++i) {
        members[next] = i;
        for_each_instance(rule, members, next + 1);
      }
      return;
    }
    Environment environment;
    std::map<std::string, int> seen;
    threads_.clear();
    for (std::size_t p = 0; p < members.size(); ++p) {
      const int n = ++seen[rule.parameters[p]];
      environment[n == 1 ? rule.parameters[p] : rule.parameters[p] + std::to_string(n)] =
          terms().constant(members[p]);
      if (rule.parameters[p] == "thread") threads_.insert(members[p]);
    }
    fixed_.clear();
    read_case(rule, environment, {});
    out_.first_case_.push_back(static_cast<std::uint32_t>(out_.cases_.size()));
  }

  // One case, or those that it has to be split into.
  void read_case(const RecordedRule& rule, const Environment& environment, std::vector<TermId> chosen) {
    split_ = {};
    has_split_ = false;
    Case one;
    one.instance = static_cast<std::uint32_t>(out_.first_case_.size() - 1);
    locals_.clear();
    known_.clear();
    written_.clear();
    std::vector<Access> accesses;
    accesses_ = &accesses;
    conditions_.clear();
    TermId guard = expression(rule.guard, environment);
    if (!has_split_ && !terms().is_false(guard)) {
      know(guard);
      if (!rule.trigger.empty()) note_queue_change(rule.trigger, environment, AccessKind::pop);
      block(rule.action, environment);
    }
    if (has_split_) {
      const Split split = split_;
      const auto before = fixed_;
      for (const std::int64_t value : split.values) {
        fixed_ = before;
        fixed_[split.term] = terms().constant(value);
        auto with = chosen;
        with.push_back(terms().binary(TermOp::equal, split.term, terms().constant(value)));
        read_case(rule, environment, std::move(with));
      }
      fixed_ = before;
      return;
    }
    if (terms().is_false(guard)) return;
    terms().conjuncts(guard, one.guard);
    for (const TermId atom : chosen) {
      // A queue that is looked at by its head holds something.
      if (std::find(one.guard.begin(), one.guard.end(), atom) == one.guard.end()) one.guard.push_back(atom);
    }
    note_entries(one.guard);
    one.accesses = std::move(accesses);
    out_.cases_.push_back(std::move(one));
  }

  // What the guard says that a term is, the action may rely on.
  void know(TermId guard) {
    std::vector<TermId> atoms;
    terms().conjuncts(guard, atoms);
    for (const TermId atom : atoms) {
      const Term t = terms()[atom];
      const auto plain = [](const Term& x) { return x.op == TermOp::scalar || x.op == TermOp::head; };
      if (plain(t)) known_.emplace(atom, terms().constant(1));
      if (t.op == TermOp::not_ && plain(terms()[t.a])) known_.emplace(t.a, terms().constant(0));
      if (t.op == TermOp::equal && plain(terms()[t.a]) && terms().is_constant(t.b)) known_.emplace(t.a, t.b);
    }
  }

  void ask_split(TermId term, std::vector<std::int64_t> values) {
    if (has_split_) return;
    has_split_ = true;
    split_ = {term, std::move(values)};
  }

  // ---- places --------------------------------------------------------------------------------------------

  // Every ground path that a path may mean, each with the condition that it does.
  struct Ground {
    std::string path;
    TermId condition;
  };
  std::vector<Ground> ground(const Path& path, std::size_t segments, const Environment& environment) {
    std::vector<Ground> all{{"", terms().constant(1)}};
    for (std::size_t s = 0; s < segments; ++s) {
      const Segment& segment = path[s];
      for (Ground& g : all) g.path += (g.path.empty() ? "" : ".") + segment.name;
      for (std::size_t i = 0; i < segment.index.size(); ++i) {
        const TermId index = expression(segment.index[i], environment);
        const std::string before = i == 0 ? "(" : ",";
        if (terms().is_constant(index)) {
          for (Ground& g : all) g.path += before + std::to_string(terms()[index].value);
        } else {
          const int n = extent(segment.index[i]->type.name);
          const TermOp op = terms()[index].op;
          if (op == TermOp::head) ask_split(index, numbers(n));
          std::vector<Ground> longer;
          for (const Ground& g : all) {
            for (int v = 0; v < n; ++v) {
              const TermId here = terms().binary(TermOp::equal, index, terms().constant(v));
              longer.push_back({g.path + before + std::to_string(v), terms().conjunction(g.condition, here)});
            }
          }
          all = std::move(longer);
        }
      }
      if (!segment.index.empty()) {
        for (Ground& g : all) g.path += ")";
      }
    }
    return all;
  }
  static std::vector<std::int64_t> numbers(int n) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // How many segments lead to a queue, if the path goes through one; 0 else.
  [[nodiscard]] std::size_t queue_prefix(const Path& path) const {
    std::string name;
    for (std::size_t s = 0; s < path.size(); ++s) {
      name += (s == 0 ? "" : ".") + path[s].name;
      if (queues_.contains(name)) return s + 1;
    }
    return 0;
  }
  [[nodiscard]] const QueueInfo& queue_of(const Path& path, std::size_t segments) const {
    std::string name;
    for (std::size_t s = 0; s < segments; ++s) name += (s == 0 ? "" : ".") + path[s].name;
    return queues_.at(name);
  }

  // ---- expressions ---------------------------------------------------------------------------------------

  TermId expression(const Expression& e, const Environment& environment) {
    const auto child = [&](std::size_t i) { return expression(e->children[i], environment); };
    switch (e->op) {
      case Op::constant:
        return terms().constant(constants_.of(*e));
      case Op::parameter: {
        const auto found = environment.find(e->text);
        if (found == environment.end()) throw std::logic_error("no value for '" + e->text + "'");
        return found->second;
      }
      case Op::local:
        return locals_.at(e->text);
      case Op::read:
        return read(*e, environment);
      case Op::apply:
        return apply(*e, environment);
      case Op::not_:
        return terms().negation(child(0));
      case Op::and_: {
        const TermId a = child(0);
        return terms().is_false(a) ? a : terms().conjunction(a, child(1));
      }
      case Op::or_: {
        const TermId a = child(0);
        return terms().is_true(a) ? a : terms().disjunction(a, child(1));
      }
      case Op::equal:
      case Op::not_equal:
      case Op::less:
      case Op::less_equal:
      case Op::add:
      case Op::subtract:
      case Op::multiply:
      case Op::bit_and:
      case Op::bit_or:
      case Op::bit_xor:
        return terms().binary(*binary_operator(e->op), child(0), child(1));
      case Op::select: {
        const TermId condition = child(0);
        if (terms().is_true(condition)) return child(1);
        if (terms().is_false(condition)) return child(2);
        return terms().choice(condition, child(1), child(2));
      }
      case Op::some:
        return terms().binary(TermOp::add, child(0), terms().constant(1));
      case Op::has:
        return terms().binary(TermOp::not_equal, child(0), terms().constant(0));
      case Op::value_of:
        return terms().binary(TermOp::subtract, child(0), terms().constant(1));
      case Op::forall:
      case Op::exists:
      case Op::count: {
        TermId all = terms().constant(e->op == Op::forall ? 1 : 0);
        Environment inner = environment;
        for (int i = 0; i < extent(e->over); ++i) {
          inner[e->text] = terms().constant(i);
          const TermId one = expression(e->children[0], inner);
          if (e->op == Op::forall) all = terms().conjunction(all, one);
          if (e->op == Op::exists) all = terms().disjunction(all, one);
          if (e->op == Op::count)
            all = terms().binary(TermOp::add, all,
                                 terms().choice(one, terms().constant(1), terms().constant(0)));
        }
        return all;
      }
      case Op::contains:
        return contains(*e, environment);
    }
    throw std::logic_error("an expression of no kind");
  }

  TermId apply(const Node& node, const Environment& environment) {
    const TermId argument = expression(node.children[0], environment);
    const recorded::RigidFunction* const function = functions_.applied(node);
    const auto value = [&](std::int64_t i) { return terms().constant(RigidFunctions::value(function, i)); };
    if (terms().is_constant(argument)) return value(terms()[argument].value);
    const int n = extent(node.children[0]->type.name);
    TermId result = value(n - 1);
    for (int i = n - 2; i >= 0; --i) {
      result = terms().choice(terms().binary(TermOp::equal, argument, terms().constant(i)), value(i), result);
    }
    return result;
  }

  TermId read(const Node& node, const Environment& environment) {
    const std::size_t prefix = queue_prefix(node.path);
    const std::vector<Ground> where = ground(node.path, prefix == 0 ? node.path.size() : prefix, environment);
    TermId result = 0;
    for (std::size_t i = where.size(); i-- > 0;) {
      const TermId one =
          prefix == 0 ? scalar(where[i].path) : of_queue(node.path, prefix, where[i].path, environment);
      result = i + 1 == where.size() ? one : terms().choice(where[i].condition, one, result);
    }
    return result;
  }

  TermId scalar(const std::string& path) {
    const TermId term =
        terms().intern({.op = TermOp::scalar, .location = location(path, false), .place = place(path)});
    if (const auto fixed = fixed_.find(term); fixed != fixed_.end()) return fixed->second;
    if (const auto known = known_.find(term);
        known != known_.end() && !written_.contains(terms()[term].location))
      return known->second;
    return request(path, term);
  }

  // The place of a thread in its program is its context's, next to the memory system's part.
  static std::string counter_name(int thread) { return fmt::format("context({}).pc", thread); }

  // What a thread asks follows from its place in its program.
  TermId request(const std::string& path, TermId term) {
    if (whole_.program == nullptr) return term;
    const std::size_t at = path.find("port(");
    if (at == std::string::npos) return term;
    const std::size_t close = path.find(").request.", at);
    if (close == std::string::npos) return term;
    const int t = std::stoi(path.substr(at + 5));
    if (!threads_.contains(t)) return term;
    const std::string counter = counter_name(t);
    if (!places_.contains(counter)) return term;
    const TermId pc =
        terms().intern({.op = TermOp::scalar, .location = location(counter, false), .place = place(counter)});
    const auto& self = whole_.program->threads[static_cast<std::size_t>(t)];
    if (self.slot_of >= 0) return term;
    const auto& code = self.code;
    const auto where = fixed_.find(pc);
    if (where == fixed_.end()) {
      std::vector<std::int64_t> asking;
      for (std::size_t at_pc = 0; at_pc < code.size(); ++at_pc) {
        if (asks(code[at_pc].opcode)) asking.push_back(static_cast<std::int64_t>(at_pc));
      }
      ask_split(pc, std::move(asking));
      return term;
    }
    const auto at_pc = static_cast<std::size_t>(terms()[where->second].value);
    return asked(code[at_pc], path.substr(close + 10), term);
  }

  // Whether the instruction asks the memory system for something: a rule that looks at a thread's request
  // does so while it is pending, hence at one of these places.
  static bool asks(Opcode opcode) {
    switch (opcode) {
      case Opcode::load:
      case Opcode::store:
      case Opcode::rmw:
      case Opcode::fence:
      case Opcode::kernel_begin:
      case Opcode::kernel_end:
      case Opcode::barrier:
        return true;
      default:
        return false;
    }
  }

  // One field of what an instruction asks; `term` where that is not known of the instruction alone.
  TermId asked(const Instruction& at, const std::string& field, TermId term) {
    const auto number = [&](auto value) { return terms().constant(static_cast<std::int64_t>(value)); };
    const bool of_memory =
        at.opcode == Opcode::load || at.opcode == Opcode::store || at.opcode == Opcode::rmw;
    if (field == "operation") {
      return number(at.opcode == Opcode::load    ? Operation::load
                    : at.opcode == Opcode::store ? Operation::store
                    : at.opcode == Opcode::rmw   ? Operation::rmw
                                                 : Operation::fence);
    }
    if (!of_memory && at.opcode != Opcode::fence) return term;
    if (field == "function") return number(at.rmw);
    if (field == "order") return number(order_asked(at));
    if (field == "scope") return number(at.scope);
    if (at.location < 0) return term;
    const lockstep::Location& location = whole_.program->locations[static_cast<std::size_t>(at.location)];
    if (field == "block") return number(location.block);
    if (field == "word") return number(location.word);
    return term;
  }

  TermId of_queue(const Path& path, std::size_t prefix, const std::string& queue,
                  const Environment& environment) {
    const Location first = location(queue, true);
    capacity_of_[first] = queue_of(path, prefix).capacity;
    const std::string& what = path[prefix].name;
    const std::uint32_t count = place(merged(queue + ".count"));
    if (path.size() == prefix + 1 && what == "empty")
      return terms().intern({.op = TermOp::empty, .location = first, .place = count});
    if (path.size() == prefix + 1 && what == "full")
      return terms().intern({.op = TermOp::full,
                             .location = first,
                             .place = count,
                             .extent = static_cast<std::uint32_t>(queue_of(path, prefix).capacity)});
    if (path.size() == prefix + 1 && what.starts_with("lacks_slot")) {
      const auto n = std::stoll(what.substr(10));
      return terms().intern({.op = TermOp::lacks_slot, .value = n, .location = first, .place = count});
    }
    int slot = 0;
    bool is_head = what == "head";
    if (what == "entry") {
      slot = entry_;
      is_head = false;
    } else if (what.starts_with("slot")) {
      slot = std::stoi(what.substr(4));
    }
    Path rest(path.begin() + static_cast<std::ptrdiff_t>(prefix) + 1, path.end());
    const std::vector<Ground> fields = ground(rest, rest.size(), environment);
    TermId result = 0;
    for (std::size_t i = fields.size(); i-- > 0;) {
      const std::string leaf = merged(entry_place(queue, slot, fields[i].path));
      const TermId term = terms().intern({.op = is_head ? TermOp::head : TermOp::slot,
                                          .value = slot,
                                          .location = first,
                                          .place = place(leaf)});
      const TermId one = entry_known(term, is_head && (path[prefix].consumed || !written_.contains(first)));
      result = i + 1 == fields.size() ? one : terms().choice(fields[i].condition, one, result);
    }
    return result;
  }

  // A scalar of an entry; an entry may be one itself.
  static std::string entry_place(const std::string& queue, int slot, const std::string& scalar) {
    return fmt::format("{}({}){}{}", queue, slot, scalar.empty() ? "" : ".", scalar);
  }

  // What is known of a scalar of a queue's entry; `is_first` where it is the entry that the guard looked at.
  TermId entry_known(TermId term, bool is_first) {
    if (!is_first) return term;
    if (const auto fixed = fixed_.find(term); fixed != fixed_.end()) return fixed->second;
    const auto known = known_.find(term);
    return known != known_.end() ? known->second : term;
  }

  TermId contains(const Node& node, const Environment& environment) {
    const std::size_t prefix = node.path.size();
    const int capacity = queue_of(node.path, prefix).capacity;
    TermId result = 0;
    const std::vector<Ground> where = ground(node.path, prefix, environment);
    for (std::size_t w = where.size(); w-- > 0;) {
      const Location first = location(where[w].path, true);
      const std::uint32_t count = place(merged(where[w].path + ".count"));
      TermId any = terms().constant(0);
      TermId of_first = 0;
      for (int i = 0; i < capacity; ++i) {
        entry_ = i;
        const TermId body = expression(node.children[0], environment);
        if (i == 0) of_first = body;
        any = terms().disjunction(any, terms().conjunction(holds_slot(first, count, i), body));
      }
      const TermId one = contained(first, any, of_first);
      result = w + 1 == where.size() ? one : terms().choice(where[w].condition, one, result);
    }
    return result;
  }

  TermId holds_slot(Location queue, std::uint32_t count, int slot) {
    return terms().negation(
        terms().intern({.op = TermOp::lacks_slot, .value = slot, .location = queue, .place = count}));
  }
  TermId contained(Location queue, TermId any, TermId of_first) {
    if (terms().is_constant(any)) return any;
    return terms().intern({.op = TermOp::contains, .location = queue, .a = any, .b = of_first});
  }

  // What atoms say of the heads of queues, said of some entry of each.
  void note_entries(std::vector<TermId>& atoms) {
    std::set<Location> heads;
    for (const TermId atom : atoms) {
      for (const Location l : reads_of(atom)) {
        if (out_.is_queue(l) && out_.aspect(l) == Footprints::head) heads.insert(l - Footprints::head);
      }
    }
    const std::vector<TermId> said = atoms;
    for (const Location queue : heads) {
      const std::string name = out_.location_names_[queue];
      const std::uint32_t count = place(merged(name + ".count"));
      TermId any = terms().constant(0);
      TermId of_first = 0;
      for (int i = 0; i < capacity_of_.at(queue); ++i) {
        TermId body = terms().constant(1);
        for (const TermId atom : said) body = terms().conjunction(body, said_of(atom, queue, name, i));
        if (i == 0) of_first = body;
        any = terms().disjunction(any, terms().conjunction(holds_slot(queue, count, i), body));
      }
      if (!terms().is_constant(of_first)) atoms.push_back(contained(queue, any, of_first));
    }
  }
  // What a term says of a queue's head alone, said of one of its slots; true where it says something else.
  TermId said_of(TermId id, Location queue, const std::string& name, int slot) {
    const Term t = terms()[id];
    const auto of_head = [&](TermId side) {
      const Term& s = terms()[side];
      return s.op == TermOp::head && s.location == queue;
    };
    switch (t.op) {
      case TermOp::and_:
        return terms().conjunction(said_of(t.a, queue, name, slot), said_of(t.b, queue, name, slot));
      case TermOp::or_:
        return terms().disjunction(said_of(t.a, queue, name, slot), said_of(t.b, queue, name, slot));
      case TermOp::head:
        return of_head(id) ? at_slot(t, name, slot) : terms().constant(1);
      case TermOp::not_:
        return of_head(t.a) ? terms().negation(at_slot(terms()[t.a], name, slot)) : terms().constant(1);
      case TermOp::equal:
      case TermOp::not_equal:
        if (!of_head(t.a) || !terms().is_constant(t.b)) return terms().constant(1);
        return terms().binary(t.op, at_slot(terms()[t.a], name, slot), t.b);
      default:
        return terms().constant(1);
    }
  }
  // The same scalar of another slot than the head.
  TermId at_slot(Term head, const std::string& queue, int slot) {
    // The path is the first slot's: what follows the slot's number is the scalar's own.
    const std::string own = merged(terms().places()[head.place].path).substr(merged(queue + "(0)").size());
    return terms().intern({.op = TermOp::slot,
                           .value = slot,
                           .location = head.location,
                           .place = place(merged(queue + "(" + std::to_string(slot) + ")") + own)});
  }

  // ---- actions -------------------------------------------------------------------------------------------

  // Of a condition, the atoms that may be judged before the action, since they rest on nothing it has
  // written, and what the others rest on.
  struct Condition {
    std::vector<TermId> judged;
    std::vector<Location> others;
  };
  Condition judged_before(TermId condition) {
    Condition judged;
    std::vector<TermId> atoms;
    terms().conjuncts(condition, atoms);
    for (const TermId atom : atoms) {
      const std::vector<Location> reads = reads_of(atom);
      if (std::any_of(reads.begin(), reads.end(), [&](Location l) { return written_.contains(l); })) {
        judged.others.insert(judged.others.end(), reads.begin(), reads.end());
      } else {
        judged.judged.push_back(atom);
      }
    }
    return judged;
  }
  // Something changes, under the conditions on the way there; what these rest on is read where all the others
  // hold.
  void change(AccessKind kind, Location where, TermId value = 0, Row row = {},
              std::vector<Location> sources = {}) {
    Access a;
    a.kind = kind;
    a.location = where;
    a.row = std::move(row);
    a.sources = std::move(sources);
    if (kind == AccessKind::write && terms().is_constant(value)) {
      a.is_constant = true;
      a.constant = terms()[value].value;
    }
    a.conditions = here();
    for (const Condition& some : conditions_)
      a.sources.insert(a.sources.end(), some.others.begin(), some.others.end());
    for (const TermId atom : a.conditions) {
      Access read;
      read.of_condition = true;
      read.conditions = a.conditions;
      std::erase(read.conditions, atom);
      for (const Location l : reads_of(atom)) {
        read.location = l;
        add(read);
      }
    }
    for (const Condition& some : conditions_) {
      Access read;
      read.conditions = a.conditions;
      for (const Location l : some.others) {
        read.location = l;
        add(read);
      }
    }
    add(std::move(a));
  }
  [[nodiscard]] std::vector<TermId> here() const {
    std::set<TermId> all;
    for (const Condition& some : conditions_) all.insert(some.judged.begin(), some.judged.end());
    return {all.begin(), all.end()};
  }
  void add(Access a) {
    const auto known = std::find_if(accesses_->begin(), accesses_->end(), [&](const Access& b) {
      return b.kind == a.kind && (a.of_condition || !b.of_condition) && b.location == a.location &&
             b.is_constant == a.is_constant && b.constant == a.constant && b.row == a.row &&
             std::includes(a.conditions.begin(), a.conditions.end(), b.conditions.begin(),
                           b.conditions.end());
    });
    if (known == accesses_->end()) {
      accesses_->push_back(std::move(a));
      return;
    }
    // Where the narrower one takes place, the wider one does: it has the sources of both.
    for (const Location l : a.sources) {
      if (std::find(known->sources.begin(), known->sources.end(), l) == known->sources.end())
        known->sources.push_back(l);
    }
    for (const TermId condition : a.conditions) {
      if (std::binary_search(known->conditions.begin(), known->conditions.end(), condition)) continue;
      for (const Location l : reads_of(condition)) {
        if (a.kind != AccessKind::read &&
            std::find(known->sources.begin(), known->sources.end(), l) == known->sources.end())
          known->sources.push_back(l);
      }
    }
  }
  void note_reads(TermId value) {
    Access read;
    read.conditions = here();
    for (const Location l : reads_of(value)) {
      read.location = l;
      add(read);
    }
  }
  // The constants that a value may be; false where it may be anything.
  bool may_be(TermId value, std::vector<std::int64_t>& values) {
    const Term t = terms()[value];
    if (t.op == TermOp::select) return may_be(t.b, values) && may_be(t.c, values);
    if (t.op != TermOp::constant) return false;
    if (std::find(values.begin(), values.end(), t.value) == values.end()) values.push_back(t.value);
    return true;
  }
  void note_queue_change(const Path& path, const Environment& environment, AccessKind kind,
                         const std::vector<std::pair<std::string, TermId>>& row = {}) {
    std::vector<Location> sources;
    for (const auto& [name, value] : row) {
      const std::vector<Location> of_value = reads_of(value);
      sources.insert(sources.end(), of_value.begin(), of_value.end());
    }
    for (const Ground& g : ground(path, path.size(), environment)) {
      under(g.condition, [&] {
        const Location first = location(g.path, true);
        Row entry;
        for (const auto& [name, value] : row) {
          std::vector<std::int64_t> values;
          if (may_be(value, values))
            entry.emplace_back(place(merged(entry_place(g.path, 0, name))), std::move(values));
        }
        change(kind, first, 0, std::move(entry), sources);
        for (std::size_t i = 0; i < Footprints::aspects; ++i)
          pending_.push_back(static_cast<Location>(first + i));
      });
    }
    commit();
  }
  // What is written counts as written from the next statement on.
  void commit() {
    written_.insert(pending_.begin(), pending_.end());
    pending_.clear();
  }
  template <class F>
  void under(TermId condition, F&& f) {
    if (terms().is_false(condition)) return;
    conditions_.push_back(judged_before(condition));
    f();
    conditions_.pop_back();
  }

  void block(const std::vector<Statement>& statements, const Environment& environment) {
    for (const Statement& s : statements) {
      if (has_split_) return;
      statement(s, environment);
    }
  }
  void statement(const Statement& s, const Environment& environment) {
    switch (s.kind) {
      case Statement::Kind::let:
        // Its value is looked at where it is used; by then it may have been written, so it counts as read
        // here.
        locals_[s.name] = expression(s.value, environment);
        break;
      case Statement::Kind::assign: {
        const TermId value = expression(s.value, environment);
        for (const Ground& g : ground(s.target, s.target.size(), environment)) {
          under(g.condition, [&] {
            const Location l = location(g.path, false);
            note_reads(value);
            change(AccessKind::write, l, value, {}, reads_of(value));
            pending_.push_back(l);
          });
        }
        commit();
        break;
      }
      case Statement::Kind::when: {
        const TermId condition = expression(s.value, environment);
        under(condition, [&] { block(s.then, environment); });
        under(terms().negation(condition), [&] { block(s.otherwise, environment); });
        break;
      }
      case Statement::Kind::for_each: {
        Environment inner = environment;
        for (int i = 0; i < extent(s.over) && !has_split_; ++i) {
          inner[s.name] = terms().constant(i);
          block(s.then, inner);
        }
        break;
      }
      case Statement::Kind::push:
      case Statement::Kind::push_front:
      case Statement::Kind::pop:
        change_queue(s, environment);
        break;
    }
  }

  void change_queue(const Statement& s, const Environment& environment) {
    std::vector<std::pair<std::string, TermId>> row;
    for (const auto& [name, value] : s.row) {
      row.emplace_back(name, expression(value, environment));
      note_reads(row.back().second);
    }
    // It changes the head as well.
    if (s.kind == Statement::Kind::push_front) note_queue_change(s.target, environment, AccessKind::pop);
    note_queue_change(s.target, environment,
                      s.kind == Statement::Kind::pop ? AccessKind::pop : AccessKind::push, row);
  }

  Footprints& out_;
  const recorded::WholeDescription& whole_;
  std::unordered_map<std::string, std::uint32_t> places_;
  std::unordered_map<std::string, Location> locations_;
  RigidFunctions functions_;
  Constants constants_;
  std::map<std::string, QueueInfo> queues_;
  std::map<Location, int> capacity_of_;  // of queues, in entries
  // Of the case that is being read:
  std::set<int> threads_;           // its parameters that are threads
  std::map<TermId, TermId> known_;  // what its guard says
  std::map<TermId, TermId> fixed_;  // what its splits have fixed
  bool has_split_ = false;
  Split split_;
  std::map<std::string, TermId> locals_;
  std::set<Location> written_;
  std::vector<Location> pending_;
  std::vector<Access>* accesses_ = nullptr;
  std::vector<Condition> conditions_;
  int entry_ = 0;
};

Footprints::Footprints(const recorded::WholeDescription& whole, std::vector<Place> places)
    : terms_(std::move(places)) {
  Grounder grounder(*this, whole);
  grounder.read_rules();
  for (const recorded::RecordedInvariant& claim : whole.assertions)
    assertions_.push_back(grounder.read_claim(claim.predicate));
  for (const auto& registers : whole.final_registers) {
    for (const recorded::Expression& value : registers)
      final_registers_.push_back(grounder.read_claim(value));
  }
  for (const recorded::Expression& value : whole.final_locations)
    final_locations_.push_back(grounder.read_claim(value));
  proper_end_ = whole.proper_end ? grounder.read_claim(whole.proper_end) : terms_.constant(1);
  grounder.note_places();
  grounder.note_counters();
  note_reads();
}

// The parts of a term come before it.
void Footprints::note_reads() {
  while (reads_.size() < terms_.size()) {
    const Term& t = terms_[static_cast<TermId>(reads_.size())];
    std::vector<Location> reads;
    const auto join = [&](TermId part) {
      std::vector<Location> both;
      std::set_union(reads.begin(), reads.end(), reads_[part].begin(), reads_[part].end(),
                     std::back_inserter(both));
      reads = std::move(both);
    };
    switch (t.op) {
      case TermOp::constant:
        break;
      case TermOp::scalar:
        reads = {t.location};
        break;
      case TermOp::empty:
        reads = {static_cast<Location>(t.location + empty)};
        break;
      case TermOp::full:
        reads = {static_cast<Location>(t.location + full)};
        break;
      case TermOp::head:
        reads = {static_cast<Location>(t.location + head)};
        break;
      case TermOp::slot:
      case TermOp::lacks_slot:
        reads = {static_cast<Location>(t.location + content)};
        break;
      case TermOp::select:
        join(t.a);
        join(t.b);
        join(t.c);
        break;
      case TermOp::not_:
      case TermOp::contains:
        join(t.a);
        break;
      default:
        join(t.a);
        join(t.b);
        break;
    }
    reads_.push_back(std::move(reads));
  }
}

std::string Footprints::difference(std::uint32_t instance, bool enabled, const std::byte* before,
                                   const std::byte* after) const {
  const std::int64_t c = case_in(instance, before);
  if ((c >= 0) != enabled)
    return enabled ? "its guard holds, its tree's does not" : "its tree's guard holds, its own does not";
  if (c < 0 || after == nullptr) return {};
  const Case& one = cases_[static_cast<std::size_t>(c)];
  const auto holds = [&](TermId atom) { return terms_.evaluate(atom, before) != 0; };
  for (std::size_t p = 0; p < terms_.places().size(); ++p) {
    const Place& place = terms_.places()[p];
    if (std::equal(before + place.offset, before + place.offset + place.bytes, after + place.offset))
      continue;
    const bool noted = std::any_of(one.accesses.begin(), one.accesses.end(), [&](const Access& a) {
      if (a.kind == AccessKind::read || a.location != location_of_[p] || location_of_[p] == nowhere)
        return false;
      if (!std::all_of(a.conditions.begin(), a.conditions.end(), holds)) return false;
      return !a.is_constant || terms_.value_at(static_cast<std::uint32_t>(p), after) == a.constant;
    });
    if (!noted) return "it writes " + place.path + ", its tree does not";
  }
  return {};
}

std::int64_t Footprints::case_in(std::uint32_t instance, const std::byte* state) const {
  for (std::uint32_t c = first_case_[instance]; c < first_case_[instance + 1]; ++c) {
    const std::vector<TermId>& guard = cases_[c].guard;
    if (std::all_of(guard.begin(), guard.end(),
                    [&](TermId atom) { return terms_.evaluate(atom, state) != 0; }))
      return c;
  }
  return -1;
}

}  // namespace lockstep::footprint
