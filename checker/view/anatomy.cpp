#include "checker/view/anatomy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace lockstep::view {

using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::RecordedRule;
using recorded::Segment;
using recorded::Statement;

namespace {

// Of each thread and each address: no unit is one of these.
bool is_of_programs(const std::string& type) {
  static const std::set<std::string> names{"thread", "register", "block", "word", "wg"};
  return names.contains(type);
}

std::string without_indices(const Path& path) {
  std::string text;
  for (const Segment& segment : path) text += (text.empty() ? "" : ".") + segment.name;
  return text;
}

template <class Use>
void for_each_write(const std::vector<Statement>& block, Use&& use) {
  for (const Statement& s : block) {
    if (!s.target.empty()) use(s);
    for_each_write(s.then, use);
    for_each_write(s.otherwise, use);
  }
}

// Paths that an expression reads, without indices.
void collect_fields(const Expression& e, std::set<std::string>& fields) {
  if (!e) return;
  if (e->op == Op::read || e->op == Op::contains) fields.insert(without_indices(e->path));
  for (const Segment& segment : e->path) {
    for (const Expression& index : segment.index) collect_fields(index, fields);
  }
  for (const Expression& child : e->children) collect_fields(child, fields);
}

// The table or queue that a field is part of: "memory.l1" of "memory.l1.present".
std::string table_of(const Path& path) {
  std::string text;
  for (const Segment& segment : path) {
    text += (text.empty() ? "" : ".") + segment.name;
    if (!segment.index.empty()) break;
  }
  return text;
}

bool is_port(const std::string& field) {
  return field == "port" || field.starts_with("port.") || field.find(".port.") != std::string::npos;
}

// Whether one field is, or lies within, the other.
bool overlap(const std::string& a, const std::string& b) {
  const std::string& shorter = a.size() < b.size() ? a : b;
  const std::string& longer = a.size() < b.size() ? b : a;
  return longer.starts_with(shorter) && (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

}  // namespace

Anatomy::Anatomy(const recorded::Description& description,
                 const std::vector<recorded::RigidFunction>& functions)
    : functions_(functions) {
  // A program's own instructions are performed by its threads.
  std::copy_if(description.rules.begin(), description.rules.end(), std::back_inserter(rules_),
               [](const RecordedRule& rule) { return rule.thread < 0; });
  for (const RecordedRule& rule : rules_) find_sames(rule);
  find_units();
  find_connections();
}

namespace {

template <class Use>
void for_each_node(const Expression& e, Use&& use) {
  if (!e) return;
  use(*e);
  for (const Segment& segment : e->path) {
    for (const Expression& index : segment.index) for_each_node(index, use);
  }
  for (const Expression& child : e->children) for_each_node(child, use);
}

template <class Use>
void for_each_node(const std::vector<Statement>& block, Use&& use) {
  for (const Statement& s : block) {
    for_each_node(s.value, use);
    for (const Segment& segment : s.target) {
      for (const Expression& index : segment.index) for_each_node(index, use);
    }
    for (const auto& [name, value] : s.row) for_each_node(value, use);
    for_each_node(s.then, use);
    for_each_node(s.otherwise, use);
  }
}

}  // namespace

// Index types that are one set under two names: what makes a member of the one a member of the other.
void Anatomy::find_sames(const RecordedRule& rule) {
  const auto note = [&](const recorded::Node& node) {
    if (node.op == Op::apply && !node.over.empty()) sames_.insert({node.over, node.type.name});
  };
  for_each_node(rule.guard, note);
  for_each_node(rule.action, note);
}

// Whether an expression follows from a rule's parameters and from who sits where.
bool Anatomy::determines(const Expression& e) const {
  if (e->op == Op::parameter) return true;
  return e->op == Op::apply && e->children.size() == 1 && determines(e->children[0]);
}

// A member of an index type that the rule's parameters determine: a parameter, or what rigid functions make
// of one.
Expression Anatomy::reach(const RecordedRule& rule, const std::string& type) const {
  std::map<std::string, int> seen;
  std::vector<Expression> reached;
  for (const std::string& parameter : rule.parameters) {
    const int n = ++seen[parameter];
    const std::string name = n == 1 ? parameter : parameter + std::to_string(n);
    reached.push_back(recorded::make(Op::parameter, {parameter, true, recorded::Sort::index}, {}, name));
  }
  for (std::size_t i = 0; i < reached.size() && reached.size() < 32; ++i) {
    if (reached[i]->type.name == type) return reached[i];
    for (const recorded::RigidFunction& function : functions_) {
      if (function.from != reached[i]->type.name || function.to.empty() || function.to == function.from)
        continue;
      reached.push_back(
          recorded::make(Op::apply, {function.to, true, recorded::Sort::index}, {reached[i]}, function.name));
    }
    for (const auto& [from, to] : sames_) {
      if (from != reached[i]->type.name) continue;
      auto node = std::make_shared<recorded::Node>();
      node->op = Op::apply;
      node->type = {to, true, recorded::Sort::index};
      node->over = from;
      node->children = {reached[i]};
      reached.push_back(std::move(node));
    }
  }
  return nullptr;
}

void Anatomy::find_units() {
  std::map<std::string, std::size_t> numbers;
  for (const RecordedRule& rule : rules_) {
    const auto [at, fresh] = numbers.try_emplace(rule.unit, units_.size());
    if (fresh) units_.push_back({rule.unit, {}, {}, {}});
    Unit& unit = units_[at->second];
    if (std::find(unit.rules.begin(), unit.rules.end(), rule.name) == unit.rules.end())
      unit.rules.push_back(rule.name);
    by_name_.try_emplace(rule.name, RuleParts{&rule, at->second, nullptr});
  }
  const std::map<std::string, Kept> fields = kept_fields(numbers);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    Unit& unit = units_[u];
    std::set<std::string> tables;
    std::map<std::string, std::size_t> over;  // by index type: how many of its fields are
    std::size_t count = 0;
    for (const auto& [name, kept] : fields) {
      if (kept.unit != u) continue;
      tables.insert(kept.table);
      if (kept.over.contains("thread")) continue;
      ++count;
      for (const std::string& type : kept.over) {
        if (!is_of_programs(type)) ++over[type];
      }
    }
    unit.fields.assign(tables.begin(), tables.end());
    for (const auto& [type, times] : over) {
      const bool all_say =
          std::all_of(rules_.begin(), rules_.end(), [&, type = type](const RecordedRule& rule) {
            return rule.unit != unit.name || reach(rule, type) != nullptr;
          });
      // Most of what it keeps: a field or two may be one for all, such as a proof's own.
      if (all_say && 3 * times >= 2 * count) unit.per = type;
    }
  }
  // Which member: the row that it writes, where that follows from the parameters.
  for (auto& [name, parts] : by_name_) {
    const Unit& unit = units_[parts.unit];
    if (unit.per.empty()) continue;
    for_each_write(parts.rule->action, [&, &parts = parts](const Statement& s) {
      const auto kept = fields.find(without_indices(s.target));
      if (parts.member || kept == fields.end() || kept->second.unit != parts.unit) return;
      for (const Segment& segment : s.target) {
        for (const Expression& index : segment.index) {
          if (!parts.member && index->type.name == unit.per && determines(index)) parts.member = index;
        }
      }
    });
    if (!parts.member) parts.member = reach(*parts.rule, unit.per);
  }
}

// Which unit keeps a field: the one most of whose rules write it.
std::map<std::string, Anatomy::Kept> Anatomy::kept_fields(
    const std::map<std::string, std::size_t>& numbers) const {
  std::map<std::string, Kept> fields;
  std::map<std::string, std::map<std::size_t, std::size_t>> writers;  // rules by unit
  for (const RecordedRule& rule : rules_) {
    std::set<std::string> here;
    for_each_write(rule.action, [&](const Statement& s) {
      // What it pushes is a message for others.
      if (s.kind != Statement::Kind::assign) return;
      const std::string field = without_indices(s.target);
      here.insert(field);
      Kept& kept = fields[field];
      kept.table = table_of(s.target);
      for (const Segment& segment : s.target) {
        for (const Expression& index : segment.index) kept.over.insert(index->type.name);
      }
    });
    for (const std::string& field : here) ++writers[field][numbers.at(rule.unit)];
  }
  for (auto& [field, kept] : fields) {
    std::size_t most = 0;
    for (const auto& [unit, count] : writers[field]) {
      if (count == most) kept.unit = nobody;
      if (count > most) kept.unit = unit;
      most = std::max(most, count);
    }
  }
  return fields;
}

namespace {

// What a guard asks of a field: that it is a constant, or is not; or anything at all.
struct Asked {
  std::string constant;  // empty: of anything
  bool equal = true;
};

void collect_asked(const Expression& e, bool positive, std::multimap<std::string, Asked>& asked) {
  switch (e->op) {
    case Op::and_:
    case Op::or_:
      for (const Expression& child : e->children) collect_asked(child, positive, asked);
      return;
    case Op::not_:
      return collect_asked(e->children[0], !positive, asked);
    case Op::forall:
    case Op::exists:
      return collect_asked(e->children[0], positive, asked);
    case Op::equal:
    case Op::not_equal:
      for (const std::size_t i : {0U, 1U}) {
        const Expression& field = e->children[i];
        const Expression& other = e->children[1 - i];
        if (field->op == Op::read && other->op == Op::constant) {
          asked.emplace(without_indices(field->path), Asked{other->text, (e->op == Op::equal) == positive});
          return;
        }
      }
      break;
    case Op::read:
      if (e->type.sort == recorded::Sort::boolean) {
        asked.emplace(without_indices(e->path), Asked{"true", positive});
        return;
      }
      break;
    default:
      break;
  }
  std::set<std::string> fields;
  collect_fields(e, fields);
  for (const std::string& field : fields) asked.emplace(field, Asked{});
}

// Whether a field may have become what the guard asks for.
bool may_meet(const Asked& asked, const Expression& written) {
  if (asked.constant.empty() || !written || written->op != Op::constant) return true;
  return (asked.constant == written->text) == asked.equal;
}

}  // namespace

void Anatomy::find_connections() {
  std::set<std::tuple<std::string, std::string, std::string, bool>> seen;
  const auto add = [&](const std::string& from, const std::string& to, const std::string& field,
                       bool channel) {
    if (from != to && seen.insert({from, to, field, channel}).second)
      connections_.push_back({from, to, field, channel});
  };
  std::set<std::string> channels;
  std::vector<std::multimap<std::string, Asked>> asked(rules_.size());
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    if (!rules_[r].trigger.empty()) channels.insert(without_indices(rules_[r].trigger));
    collect_asked(rules_[r].guard, true, asked[r]);
  }
  for (const RecordedRule& writer : rules_) {
    for_each_write(writer.action, [&](const Statement& s) {
      const std::string field = without_indices(s.target);
      const bool pushes = s.kind == Statement::Kind::push || s.kind == Statement::Kind::push_front;
      for (std::size_t r = 0; r < rules_.size(); ++r) {
        const RecordedRule& reader = rules_[r];
        if (reader.unit == writer.unit) continue;
        if (pushes && !reader.trigger.empty() && without_indices(reader.trigger) == field)
          add(writer.unit, reader.unit, field, true);
        if (channels.contains(field) || is_port(field)) continue;
        for (const auto& [read, what] : asked[r]) {
          if (overlap(read, field) && may_meet(what, read == field ? s.value : nullptr))
            add(writer.unit, reader.unit, table_of(s.target), false);
        }
      }
    });
  }
}

Anatomy::Members Anatomy::named(const RecordedRule& rule, const std::vector<std::uint8_t>& members) {
  Members all;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < rule.parameters.size() && i < members.size(); ++i) {
    const int n = ++seen[rule.parameters[i]];
    all[n == 1 ? rule.parameters[i] : rule.parameters[i] + std::to_string(n)] = members[i];
  }
  return all;
}

std::optional<int> Anatomy::value(const Expression& e, const Members& members) const {
  if (e->op == Op::constant) {
    return e->text.empty() || e->text.find_first_not_of("0123456789") != std::string::npos
               ? std::nullopt
               : std::optional(std::stoi(e->text));
  }
  if (e->op == Op::parameter) {
    const auto found = members.find(e->text);
    return found == members.end() ? std::nullopt : std::optional(found->second);
  }
  if (e->op != Op::apply || e->children.size() != 1) return std::nullopt;
  const auto argument = value(e->children[0], members);
  if (!argument) return std::nullopt;
  // Index types of one set under two names are told apart by `over`.
  if (!e->over.empty()) return argument;
  for (const recorded::RigidFunction& function : functions_) {
    if (function.name == e->text && static_cast<std::size_t>(*argument) < function.image.size())
      return function.image[static_cast<std::size_t>(*argument)];
  }
  return std::nullopt;
}

std::string Anatomy::performer(const std::string& rule, const std::vector<std::uint8_t>& members) const {
  const auto found = by_name_.find(rule);
  if (found == by_name_.end()) return {};
  const RuleParts& parts = found->second;
  const Unit& unit = units_[parts.unit];
  if (!parts.member) return unit.name;
  const auto member = value(parts.member, named(*parts.rule, members));
  return member ? fmt::format("{} {}", unit.name, *member) : unit.name;
}

std::optional<std::string> Anatomy::channel(const std::string& rule,
                                            const std::vector<std::uint8_t>& members) const {
  const auto found = by_name_.find(rule);
  if (found == by_name_.end() || found->second.rule->trigger.empty()) return std::nullopt;
  const Members known = named(*found->second.rule, members);
  std::string text;
  for (const Segment& segment : found->second.rule->trigger) {
    text += (text.empty() ? "" : ".") + segment.name;
    std::string indices;
    for (const Expression& index : segment.index) {
      const auto member = value(index, known);
      if (!member) return std::nullopt;
      indices += (indices.empty() ? "" : ",") + std::to_string(*member);
    }
    if (!indices.empty()) text += "(" + indices + ")";
  }
  return text;
}

}  // namespace lockstep::view
