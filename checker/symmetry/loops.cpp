#include "checker/symmetry/loops.hpp"

#include <algorithm>
#include <vector>

namespace lockstep::symmetry {

namespace {

using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::Segment;
using recorded::Statement;

bool is_variable(const Expression& e, const std::string& name) {
  return e->op == Op::parameter && e->text == name;
}

// What the iterations of a loop read and write.
struct Body {
  std::vector<Path> reads;
  std::vector<Path> writes;
  std::vector<Path> constants;  // written, and whoever writes them writes one value
  std::map<std::string, std::string> values;

  void read(const Expression& e) {
    if (!e) return;
    if (e->op == Op::read || e->op == Op::contains) reads.push_back(e->path);
    read(e->path);
    for (const Expression& child : e->children) read(child);
  }
  void read(const Path& path) {
    for (const Segment& segment : path) {
      for (const Expression& index : segment.index) read(index);
    }
  }
  void of(const std::vector<Statement>& block, const std::string& variable) {
    for (const Statement& s : block) {
      read(s.value);
      read(s.target);
      for (const auto& [name, value] : s.row) read(value);
      if (s.kind == Statement::Kind::assign && !has(s.target, variable) && is_one_value(s)) {
        constants.push_back(s.target);
      } else if (!s.target.empty()) {
        writes.push_back(s.target);
      }
      of(s.then, variable);
      of(s.otherwise, variable);
    }
  }
  static bool has(const Path& path, const std::string& variable) {
    return std::any_of(path.begin(), path.end(), [&](const Segment& segment) {
      return std::any_of(segment.index.begin(), segment.index.end(),
                         [&](const Expression& index) { return is_variable(index, variable); });
    });
  }

 private:
  bool is_one_value(const Statement& s) {
    if (s.value->op != Op::constant || s.value->type.sort == recorded::Sort::index) return false;
    std::string names;
    for (const Segment& segment : s.target) names += "." + segment.name;
    return values.try_emplace(names, s.value->text).first->second == s.value->text;
  }
};

// Whether two paths may lead to one field, or one into the other, in different iterations.
bool may_meet(const Path& one, const Path& other, const std::string& variable) {
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (one[i].name != other[i].name) return false;
    for (std::size_t d = 0; d < std::min(one[i].index.size(), other[i].index.size()); ++d) {
      if (is_variable(one[i].index[d], variable) && is_variable(other[i].index[d], variable)) return false;
    }
  }
  return true;
}

bool is_ordered(const Statement& loop) {
  Body body;
  body.of(loop.then, loop.name);
  for (const auto* all : {&body.writes, &body.constants}) {
    for (const Path& write : *all) {
      for (const auto* others : {&body.reads, &body.writes, &body.constants}) {
        // That two write one constant is nothing to tell.
        if (all == &body.constants && others == &body.constants) continue;
        for (const Path& other : *others) {
          if (may_meet(write, other, loop.name)) return true;
        }
      }
    }
  }
  return false;
}

void find(const std::vector<Statement>& block, const std::string& rule,
          std::map<std::string, std::string>& found) {
  for (const Statement& s : block) {
    if (s.kind == Statement::Kind::for_each && is_ordered(s)) found.try_emplace(s.over, rule);
    find(s.then, rule, found);
    find(s.otherwise, rule, found);
  }
}

}  // namespace

std::map<std::string, std::string> ordered_loops(const recorded::WholeDescription& whole) {
  std::map<std::string, std::string> found;
  for (const recorded::RecordedRule& rule : whole.rules) find(rule.action, rule.name, found);
  find(whole.restore, "restore", found);
  return found;
}

}  // namespace lockstep::symmetry
