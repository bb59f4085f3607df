// A walk over the statements and expressions of each rule.
#include "refimpl/accesses.hpp"

#include "checker/systems/trees.hpp"
#include "spec/program/machine.hpp"

namespace lockstep {

namespace {

using namespace recorded;

class Walk {
 public:
  explicit Walk(RuleAccesses& found) : found_(found) {}

  void guard(const Expression& e) {
    in_guard_ = true;
    expression(e);
    in_guard_ = false;
  }
  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }

 private:
  // The field that a path leads to, and those around it that have no index.
  static std::vector<std::string> names(const Path& path) {
    std::vector<std::string> all;
    for (const Segment& segment : path) {
      all.push_back(all.empty() ? segment.name : all.back() + "." + segment.name);
      if (!segment.index.empty()) break;
    }
    return all;
  }
  void note(const Path& path, std::set<std::string>* accesses) {
    const std::vector<std::string> fields = names(path);
    if (accesses != nullptr) accesses->insert(fields.begin(), fields.end());
    for (const Segment& segment : path) {
      for (const Expression& index : segment.index) {
        expression(index);
        if (index->type.name == BlockTag::name && !is_loop_variable(index))
          found_.looked_up.insert(fields.back());
      }
    }
  }
  [[nodiscard]] bool is_loop_variable(const Expression& e) const {
    return e->op == Op::parameter && loops_.contains(e->text);
  }
  void expression(const Expression& e) {
    if (!e) return;
    if (e->op == Op::read || e->op == Op::contains) note(e->path, in_guard_ ? nullptr : &found_.reads);
    const bool quantifies =
        e->op == Op::forall || e->op == Op::exists || e->op == Op::count || e->op == Op::contains;
    const bool fresh = quantifies && loops_.insert(e->text).second;
    for (const Expression& child : e->children) expression(child);
    if (fresh) loops_.erase(e->text);
  }
  void statement(const Statement& s) {
    expression(s.value);
    for (const auto& [field, value] : s.row) expression(value);
    switch (s.kind) {
      case Statement::Kind::push:
      case Statement::Kind::push_front:
        found_.pushes.insert(names(s.target).back());
        break;
      case Statement::Kind::assign:
        note(s.target, &found_.writes);
        break;
      case Statement::Kind::for_each: {
        const bool fresh = loops_.insert(s.name).second;
        block(s.then);
        if (fresh) loops_.erase(s.name);
        return;
      }
      default:
        break;
    }
    block(s.then);
    block(s.otherwise);
  }

  RuleAccesses& found_;
  bool in_guard_ = false;
  std::set<std::string> loops_;  // variables
};

Accesses read_off(const Description& description) {
  Accesses accesses;
  for (const RecordedRule& rule : description.rules) {
    RuleAccesses& found = accesses[rule.name];
    Walk walk(found);
    walk.guard(rule.guard);
    walk.block(rule.action);
    for (const Segment& segment : rule.trigger) {
      found.takes += (found.takes.empty() ? "" : ".") + segment.name;
      if (!segment.index.empty()) break;
    }
  }
  return accesses;
}

}  // namespace

const Accesses* accesses_of(const SystemEntry& system, const std::string& variant,
                            const std::vector<std::string>& faults) {
  if (system.describe == nullptr) return nullptr;
  SystemOptions options;
  options.variant = variant;
  options.faults = faults;
  return &derived_from_trees<Accesses>(system, options, read_off);
}

}  // namespace lockstep
