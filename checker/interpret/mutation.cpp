#include "checker/interpret/mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace lockstep {

namespace {

using recorded::Expression;
using recorded::Node;
using recorded::Op;
using recorded::Path;
using recorded::Statement;

// ---- what a tree says at any size -------------------------------------------------------------------------

std::string without_number(std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return name;
}

void flatten(const Expression& e, Op op, std::vector<Expression>& parts) {
  if (e->op != op) {
    parts.push_back(e);
    return;
  }
  for (const Expression& child : e->children) flatten(child, op, parts);
}

Expression joined(Op op, const std::vector<Expression>& parts) {
  Expression all = recorded::constant(recorded::bool_type, op == Op::and_ ? "true" : "false");
  for (const Expression& part : parts)
    all = op == Op::and_ ? recorded::conjunction(all, part) : recorded::disjunction(all, part);
  return all;
}

bool binds_variable(const Expression& e) {
  return e->op == Op::forall || e->op == Op::exists || e->op == Op::count;
}

bool is_index(const Expression& e) {
  return e->op == Op::constant && e->type.sort == recorded::Sort::index;
}

// What trees say, as it is said of the system alone: `part` is the name of its part of a larger state, or "".
class General {
 public:
  explicit General(std::string_view part) : part_(part) {}

  // A variable over an index type, from here on. Its number in a recording says how many there were before.
  void enter(const std::string& name, const std::string& over) {
    const auto others = std::count_if(scope_.begin(), scope_.end(),
                                      [&](const Variable& variable) { return variable.over == over; });
    scope_.push_back({name, over, others == 0 ? over : fmt::format("{}{}", over, others + 1)});
  }
  void leave() { scope_.pop_back(); }

  [[nodiscard]] std::string said(const Expression& e) { return recorded::print(of(e)); }
  [[nodiscard]] std::string said(const Statement& statement) {
    Statement one = statement;
    one.target = of(one.target);
    if (one.value) one.value = of(one.value);
    one.row.clear();
    for (const auto& [name, value] : statement.row) {
      std::pair<std::string, Expression> part{without_members(name), of(value)};
      const auto same = [&](const auto& other) {
        return other.first == part.first && recorded::print(other.second) == recorded::print(part.second);
      };
      if (std::none_of(one.row.begin(), one.row.end(), same)) one.row.push_back(std::move(part));
    }
    std::string text = recorded::print({one}, "");
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

 private:
  [[nodiscard]] Path of(Path path) {
    if (!part_.empty() && path.size() > 1 && path.front().name == part_ && path.front().index.empty())
      path.erase(path.begin());
    for (recorded::Segment& segment : path) {
      for (Expression& index : segment.index) index = of(index);
    }
    return path;
  }
  // Members of fixed index types are any, and what differs in them alone is one.
  [[nodiscard]] Expression of(const Expression& e) {
    auto node = std::make_shared<Node>(*e);
    node->time = 0;
    if (is_index(e)) node->text = "*";
    const bool binds = binds_variable(e);
    if (binds) enter(e->text, e->over);
    if (binds || e->op == Op::parameter) node->text = name_of(e->text);
    if (e->op == Op::local) node->text = without_number(e->text);
    node->path = of(e->path);
    for (Expression& child : node->children) child = of(child);
    if (binds) leave();
    if (e->op == Op::select && recorded::print(node->children[1]) == recorded::print(node->children[2]))
      return node->children[1];
    if (e->op == Op::and_ || e->op == Op::or_) {
      std::vector<Expression> parts;
      flatten(node, e->op, parts);
      std::set<std::string> seen;
      std::erase_if(parts,
                    [&](const Expression& part) { return !seen.insert(recorded::print(part)).second; });
      return joined(e->op, parts);
    }
    return node;
  }
  [[nodiscard]] std::string name_of(const std::string& variable) const {
    const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                    [&](const Variable& one) { return one.name == variable; });
    return found == scope_.rend() ? variable : found->said;
  }
  // "mask(1)" of a row as "mask(*)".
  static std::string without_members(const std::string& name) {
    std::string general;
    bool within = false;
    for (const char c : name) {
      if (c == ')') within = false;
      if (!within) general += c;
      if (c == '(') {
        within = true;
        general += '*';
      }
    }
    return general;
  }

  struct Variable {
    std::string name;
    std::string over;
    std::string said;
  };
  std::string_view part_;
  std::vector<Variable> scope_;
};

// Whether it only selects a member of a fixed index type.
bool selects_member(const Expression& condition) {
  return condition->op == Op::equal && (is_index(condition->children[0]) || is_index(condition->children[1]));
}

bool is_push(const Statement& statement) {
  return statement.kind == Statement::Kind::push || statement.kind == Statement::Kind::push_front;
}

// ---- one walk for finding and for changing ----------------------------------------------------------------

class Walk {
 public:
  Walk(std::string rule, std::string_view part, std::optional<Mutation> wanted)
      : rule_(std::move(rule)), general_(part), wanted_(std::move(wanted)) {}

  std::vector<Mutation> found;

  recorded::RecordedRule rule(recorded::RecordedRule tree) {
    std::map<std::string, int> seen;
    for (const std::string& parameter : tree.parameters) {
      const int n = ++seen[parameter];
      general_.enter(n == 1 ? parameter : parameter + std::to_string(n), parameter);
    }
    tree.guard = guard(tree);
    if (!tree.action.empty() && meets(MutationKind::does_nothing, "its action")) {
      tree.action.clear();
    } else {
      tree.action = block(tree.action);
    }
    tree.reads.clear();
    tree.writes.clear();
    collect_reads(tree.guard, tree.reads);
    collect_accesses(tree.action, tree.reads, tree.writes);
    if (!tree.trigger.empty()) tree.writes.insert(recorded::print(tree.trigger));
    return tree;
  }

 private:
  // Notes the change; whether it is to be made.
  bool meets(MutationKind kind, const std::string& what) {
    Mutation mutation{rule_, kind, what, where_};
    const bool wanted = wanted_ && *wanted_ == mutation;
    if (std::find(found.begin(), found.end(), mutation) == found.end()) found.push_back(std::move(mutation));
    return wanted;
  }

  Expression guard(const recorded::RecordedRule& tree) {
    if (meets(MutationKind::never_fires, "its guard"))
      return recorded::constant(recorded::bool_type, "false");
    std::vector<Expression> conditions;
    flatten(tree.guard, Op::and_, conditions);
    // That a channel is not empty is the trigger's to say.
    const std::size_t own = tree.trigger.empty() ? 0 : 1;
    std::vector<Expression> kept(
        conditions.begin(),
        conditions.begin() + static_cast<std::ptrdiff_t>(std::min(own, conditions.size())));
    for (std::size_t i = own; i < conditions.size(); ++i) {
      if (recorded::is_constant(conditions[i], "true")) continue;
      if (!meets(MutationKind::drops_condition, general_.said(conditions[i])))
        kept.push_back(alternatives(conditions[i]));
    }
    return joined(Op::and_, kept);
  }
  Expression alternatives(const Expression& condition) {
    if (condition->op != Op::or_) return value(condition);
    std::vector<Expression> parts;
    flatten(condition, Op::or_, parts);
    std::vector<Expression> kept;
    for (const Expression& part : parts) {
      if (!meets(MutationKind::drops_alternative, general_.said(part))) kept.push_back(value(part));
    }
    return joined(Op::or_, kept);
  }

  Expression value(const Expression& e) {
    if (!e || e->children.empty()) return e;
    auto node = std::make_shared<Node>(*e);
    const bool binds = binds_variable(e);
    if (binds) general_.enter(e->text, e->over);
    for (Expression& child : node->children) child = value(child);
    if (binds) general_.leave();
    const bool chooses = e->op == Op::select && !selects_member(e->children[0]) &&
                         recorded::print(e->children[1]) != recorded::print(e->children[2]);
    if (chooses && meets(MutationKind::takes_other, general_.said(e)))
      std::swap(node->children[1], node->children[2]);
    return node;
  }

  std::vector<Statement> block(const std::vector<Statement>& statements) {
    std::vector<Statement> kept;
    for (const Statement& statement : statements) {
      Statement one = statement;
      switch (statement.kind) {
        case Statement::Kind::let:
          one.value = value(statement.value);
          break;
        case Statement::Kind::when:
          when(one);
          break;
        case Statement::Kind::for_each:
          general_.enter(statement.name, statement.over);
          one.then = block(statement.then);
          general_.leave();
          break;
        default:
          if (meets(MutationKind::drops_statement, general_.said(statement))) continue;
          one.value = value(statement.value);
          for (auto& [name, part] : one.row) part = value(part);
      }
      kept.push_back(std::move(one));
    }
    swap_pushes(kept);
    return kept;
  }
  void when(Statement& statement) {
    const std::string condition = general_.said(statement.value);
    const bool negated =
        !selects_member(statement.value) && meets(MutationKind::negates_condition, condition);
    const auto within = [&](const std::string& here, std::vector<Statement>& part) {
      const std::string outer = where_;
      where_ += (outer.empty() ? "" : ", ") + here;
      part = block(part);
      where_ = outer;
    };
    within(condition, statement.then);
    within("else of " + condition, statement.otherwise);
    if (negated) std::swap(statement.then, statement.otherwise);
  }
  // Two with nothing but values between them.
  void swap_pushes(std::vector<Statement>& block) {
    for (auto first = block.begin(); first != block.end(); ++first) {
      if (!is_push(*first)) continue;
      const auto second = std::find_if(std::next(first), block.end(), [](const Statement& statement) {
        return statement.kind != Statement::Kind::let;
      });
      if (second == block.end()) return;
      if (!is_push(*second)) continue;
      if (meets(MutationKind::swaps_pushes, general_.said(*first) + ", then " + general_.said(*second))) {
        std::rotate(first, std::next(first), std::next(second));
        return;
      }
    }
  }

  std::string rule_;
  General general_;
  std::optional<Mutation> wanted_;
  std::string where_;
};

}  // namespace

std::string text(const Mutation& mutation) {
  const std::string where = mutation.where.empty() ? "" : fmt::format(", where {}", mutation.where);
  switch (mutation.kind) {
    case MutationKind::drops_statement:
      return fmt::format("lacks `{}`{}", mutation.what, where);
    case MutationKind::drops_condition:
      return fmt::format("does not ask for `{}`", mutation.what);
    case MutationKind::drops_alternative:
      return fmt::format("is not enabled by `{}`", mutation.what);
    case MutationKind::never_fires:
      return "never fires";
    case MutationKind::negates_condition:
      return fmt::format("takes `{}` for its contrary{}", mutation.what, where);
    case MutationKind::takes_other:
      return fmt::format("takes the other of `{}`{}", mutation.what, where);
    case MutationKind::does_nothing:
      return "does nothing";
    case MutationKind::swaps_pushes:
      return fmt::format("swaps `{}`{}", mutation.what, where);
  }
  return "";
}

std::vector<Mutation> mutations_of(const recorded::RecordedRule& rule) {
  Walk walk(rule.name, "", std::nullopt);
  walk.rule(rule);
  return std::move(walk.found);
}

recorded::RecordedRule mutated(const recorded::RecordedRule& rule, const Mutation& mutation,
                               std::string_view part) {
  return Walk(rule.name, part, mutation).rule(rule);
}

}  // namespace lockstep
