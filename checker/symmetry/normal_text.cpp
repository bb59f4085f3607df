// A block's statements form a partial order: one that touches what an earlier one changes, or changes what an
// earlier one touches, comes after it. Of those that may come next, the one with the least text does.
#include "checker/symmetry/normal_text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace lockstep::symmetry {

namespace {

using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::RecordedRule;
using recorded::Segment;
using recorded::Sort;
using recorded::Statement;

// Between an index type and the member that a constant names.
constexpr char member_mark = '#';

// A field by its names and the texts of its indices.
using Field = std::vector<std::pair<std::string, std::vector<std::string>>>;

bool is_member(const std::string& index) {
  const std::size_t mark = index.find(member_mark);
  return mark != std::string::npos && index.find_first_of(".([{") == std::string::npos &&
         index.find_first_not_of("0123456789", mark + 1) == std::string::npos;
}

// Whether two fields may be one, or one a part of the other.
bool may_meet(const Field& a, const Field& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].first != b[i].first) return false;
    const auto& [left, right] = std::pair(a[i].second, b[i].second);
    for (std::size_t d = 0; d < std::min(left.size(), right.size()); ++d) {
      if (left[d] != right[d] && is_member(left[d]) && is_member(right[d])) return false;
    }
  }
  return true;
}

bool may_meet(const std::vector<Field>& some, const std::vector<Field>& others) {
  return std::any_of(some.begin(), some.end(), [&](const Field& one) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Field& other) { return may_meet(one, other); });
  });
}

struct Touched {
  std::vector<Field> read;
  std::vector<Field> changed;
  void add(const Touched& other) {
    read.insert(read.end(), other.read.begin(), other.read.end());
    changed.insert(changed.end(), other.changed.begin(), other.changed.end());
  }
  // Whether who touches so has to stay behind who touches as `earlier`.
  [[nodiscard]] bool has_to_follow(const Touched& earlier) const {
    return may_meet(changed, earlier.changed) || may_meet(changed, earlier.read) ||
           may_meet(read, earlier.changed);
  }
};

// Whether a push leaves a field of its message at a member that is not meant.
bool is_not_meant(const Statement& push, const std::string& field, const Expression& value,
                  const std::vector<NotMeant>& not_meant) {
  return symmetry::is_left(value) &&
         std::any_of(not_meant.begin(), not_meant.end(), [&](const NotMeant& one) {
           return one.field == field && one.queue == names_of(push.target);
         });
}

class Normal {
 public:
  Normal(const Renaming& renaming, const std::vector<NotMeant>& not_meant)
      : renaming_(renaming), not_meant_(not_meant) {}

  std::string rule(const RecordedRule& rule) {
    Touched touched;
    std::string text = rule.fairness == Fairness::fair ? "fair" : "optional";
    for (const std::string& parameter : rule.parameters) text += " " + parameter;
    text += "\ntakes " + path(rule.trigger, touched) + "\nwhere " + expression(rule.guard, touched) + "\n";
    return text + block(rule.action, touched);
  }

  std::string expression(const Expression& e, Touched& touched) {
    switch (e->op) {
      case Op::constant:
        return constant(*e);
      case Op::parameter: {
        const auto bound = bound_.find(e->text);
        return bound == bound_.end() ? e->text : bound->second;
      }
      case Op::local: {
        const std::string& name = locals_.at(e->text);
        touched.read.push_back({{name, {}}});
        return name;
      }
      case Op::read:
        return path(e->path, touched);
      case Op::apply:
        return "apply " + e->text + e->over + operands(e->children, touched, false);
      case Op::and_:
      case Op::or_:
      case Op::add: {
        std::vector<Expression> all;
        flatten(e, e->op, all);
        return (e->op == Op::and_ ? "and" : e->op == Op::or_ ? "or" : "sum") + operands(all, touched, true);
      }
      case Op::equal:
      case Op::not_equal:
        return (e->op == Op::equal ? "equal" : "differ") + operands(e->children, touched, true);
      case Op::forall:
      case Op::exists:
      case Op::count: {
        const Bound bound(*this, e->text, e->over);
        return std::to_string(static_cast<int>(e->op)) + " " + bound.name() +
               operands(e->children, touched, false);
      }
      case Op::contains:
        return "contains " + path(e->path, touched) + operands(e->children, touched, false);
      default:
        return std::to_string(static_cast<int>(e->op)) + operands(e->children, touched, false);
    }
  }

 private:
  // A loop's or a quantifier's variable, named by its type and how many are around it.
  class Bound {
   public:
    Bound(Normal& normal, const std::string& name, const std::string& type) : normal_(normal), name_(name) {
      const std::string text = type + "$" + std::to_string(normal.bound_.size());
      const auto [at, fresh] = normal.bound_.try_emplace(name, text);
      if (!fresh) before_ = std::exchange(at->second, text);
    }
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;
    ~Bound() {
      if (before_) {
        normal_.bound_[name_] = *before_;
      } else {
        normal_.bound_.erase(name_);
      }
    }
    [[nodiscard]] const std::string& name() const { return normal_.bound_.at(name_); }

   private:
    Normal& normal_;
    std::string name_;
    std::optional<std::string> before_;
  };

  std::string constant(const recorded::Node& e) {
    if (e.type.sort != Sort::index) return e.text + ":" + e.type.name;
    std::string member = e.text;
    if (const auto found = renaming_.find(e.type.name); found != renaming_.end())
      member = std::to_string(found->second.at(std::stoul(e.text)));
    return e.type.name + member_mark + member;
  }

  std::string operands(const std::vector<Expression>& all, Touched& touched, bool commute) {
    std::vector<std::string> texts;
    texts.reserve(all.size());
    for (const Expression& one : all) texts.push_back(expression(one, touched));
    if (commute) std::sort(texts.begin(), texts.end());
    std::string text = "(";
    for (const std::string& one : texts) text += one + ",";
    return text + ")";
  }
  static void flatten(const Expression& e, Op op, std::vector<Expression>& all) {
    if (e->op != op) {
      all.push_back(e);
      return;
    }
    for (const Expression& child : e->children) flatten(child, op, all);
  }

  Field field(const Path& of, Touched& touched) {
    Field field;
    for (const Segment& segment : of) {
      field.emplace_back(segment.name + (segment.consumed ? "!" : ""), std::vector<std::string>{});
      for (const Expression& index : segment.index) field.back().second.push_back(expression(index, touched));
    }
    return field;
  }
  static std::string text(const Field& field) {
    std::string text;
    for (const auto& [name, indices] : field) {
      text += "." + name;
      for (const std::string& index : indices) text += "[" + index + "]";
    }
    return text;
  }
  std::string path(const Path& of, Touched& touched) {
    if (of.empty()) return "";
    touched.read.push_back(field(of, touched));
    return text(touched.read.back());
  }

  struct Unit {
    std::string text;
    Touched touched;
  };

  Unit unit(const Statement& s) {
    Unit one;
    const auto target = [&] {
      Field to = field(s.target, one.touched);
      const std::string name = text(to);
      one.touched.changed.push_back(std::move(to));
      return name;
    };
    switch (s.kind) {
      case Statement::Kind::assign: {
        const std::string value = expression(s.value, one.touched);
        one.text = target() + " = " + value;
        break;
      }
      case Statement::Kind::let: {
        // By what it holds, and how many have held the same.
        const std::string value = expression(s.value, one.touched);
        const std::string name = "let{" + value + "}" + std::to_string(lets_[value]++);
        locals_[s.name] = name;
        one.touched.changed.push_back({{name, {}}});
        one.text = name;
        break;
      }
      case Statement::Kind::when: {
        one.text = "when " + expression(s.value, one.touched) + "{" + block(s.then, one.touched) + "}{" +
                   block(s.otherwise, one.touched) + "}";
        break;
      }
      case Statement::Kind::for_each: {
        const Bound bound(*this, s.name, s.over);
        one.text = "each " + bound.name() + "{" + block(s.then, one.touched) + "}";
        break;
      }
      case Statement::Kind::push:
      case Statement::Kind::push_front:
      case Statement::Kind::pop: {
        std::string row;
        for (const auto& [name, value] : s.row) {
          if (!is_not_meant(s, name, value, not_meant_))
            row += name + "=" + expression(value, one.touched) + ";";
        }
        one.text = std::to_string(static_cast<int>(s.kind)) + " " + target() + " " + row;
        break;
      }
    }
    return one;
  }

  std::string block(const std::vector<Statement>& statements, Touched& touched) {
    std::vector<Unit> left;
    left.reserve(statements.size());
    for (const Statement& s : statements) left.push_back(unit(s));
    for (const Unit& one : left) touched.add(one.touched);
    std::string text;
    while (!left.empty()) {
      std::size_t least = 0;  // the first waits for nobody
      for (std::size_t i = 1; i < left.size(); ++i) {
        if (left[i].text >= left[least].text) continue;
        const bool waits =
            std::any_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Unit& earlier) { return left[i].touched.has_to_follow(earlier.touched); });
        if (!waits) least = i;
      }
      text += left[least].text + "\n";
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(least));
    }
    return text;
  }

  const Renaming& renaming_;
  const std::vector<NotMeant>& not_meant_;
  std::map<std::string, std::string> bound_;   // variables of loops and quantifiers
  std::map<std::string, std::string> locals_;  // names of lets
  std::map<std::string, int> lets_;            // how many, by what they hold
};

}  // namespace

std::string normal_text(const RecordedRule& rule, const Renaming& renaming,
                        const std::vector<NotMeant>& not_meant) {
  return Normal(renaming, not_meant).rule(rule);
}

std::string normal_text(const Expression& expression, const Renaming& renaming) {
  Touched touched;
  const std::vector<NotMeant> none;
  return Normal(renaming, none).expression(expression, touched);
}

void Mentions::of(const RecordedRule& rule) {
  of(rule.trigger);
  of(rule.guard);
  of(rule.action);
}

void Mentions::of(const Expression& e) {
  if (!e) return;
  if (e->type.sort == Sort::index) {
    types.try_emplace(e->type.name, e->type.interchangeable);
    if (e->op == Op::constant) members.emplace(e->type.name, std::stoi(e->text));
  }
  if (e->op == Op::apply) {
    if (e->over.empty()) {
      functions.insert(e->text);
    } else {
      taken_over.emplace(e->over, e->type.name);
    }
  }
  of(e->path);
  for (const Expression& child : e->children) of(child);
}

void Mentions::of(const Path& path) {
  for (const Segment& segment : path) {
    for (const Expression& index : segment.index) of(index);
  }
}

void Mentions::of(const std::vector<Statement>& block) {
  for (const Statement& s : block) {
    of(s.target);
    of(s.value);
    for (const auto& [name, value] : s.row) {
      if (!is_not_meant(s, name, value, not_meant_)) of(value);
    }
    of(s.then);
    of(s.otherwise);
  }
}

}  // namespace lockstep::symmetry
