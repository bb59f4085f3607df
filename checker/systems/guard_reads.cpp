// Trees may have been recorded at other sizes than those of the run: what they say of one member of an index
// type is taken to be said of any, unless it is a parameter of the rule.
#include "checker/systems/guard_reads.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "checker/systems/trees.hpp"

namespace lockstep {

namespace {

using recorded::Expression;
using recorded::Op;
using recorded::Path;

using Indices = std::vector<int>;
struct Step {
  std::string name;
  Indices index;
};
struct Scalar {
  std::vector<Step> steps;  // of a queue's, those that lead to the queue
  bool in_queue = false;
  BitRange bits;
};

Indices indices_in(std::string_view text) {
  Indices all;
  while (!text.empty()) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    all.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);  // a comma
  }
  return all;
}

std::vector<Step> steps_of(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".("), path.size());
    Step& step = steps.emplace_back();
    step.name = path.substr(0, end);
    path.remove_prefix(end);
    if (path.starts_with('(')) {
      const std::size_t close = path.find(')');
      step.index = indices_in(path.substr(1, close - 1));
      path.remove_prefix(close + 1);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return steps;
}

// The variables of parameters, as the recorder names them, with their values.
class Members {
 public:
  Members(const std::vector<std::string>& parameters, const std::uint8_t* values,
          const std::vector<recorded::RigidFunction>& functions)
      : parameters_(parameters), values_(values), functions_(functions) {}

  // The index that an expression is, -1 where it may be any.
  [[nodiscard]] int index(const Expression& e) const {
    if (e->op == Op::parameter) {
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        if (e->text == variable(p)) return values_[p];
      }
    }
    if (e->op == Op::apply && e->children.size() == 1) {
      const Expression& argument = e->children.front();
      const int of = index(argument);
      if (of < 0) return -1;
      const auto function =
          std::find_if(functions_.begin(), functions_.end(), [&](const recorded::RigidFunction& f) {
            return f.name == e->text && f.from == argument->type.name && f.to == e->type.name;
          });
      // One that pairs up two index types.
      if (function == functions_.end()) return functions_.empty() ? -1 : of;
      return static_cast<std::size_t>(of) < function->image.size()
                 ? function->image[static_cast<std::size_t>(of)]
                 : -1;
    }
    return -1;
  }

 private:
  // Numbered where an index type is repeated.
  [[nodiscard]] std::string variable(std::size_t p) const {
    const auto n =
        std::count(parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(p), parameters_[p]);
    return n == 0 ? parameters_[p] : parameters_[p] + std::to_string(n + 1);
  }

  const std::vector<std::string>& parameters_;
  const std::uint8_t* values_;
  const std::vector<recorded::RigidFunction>& functions_;
};

class Reads {
 public:
  Reads(const std::vector<ScalarBits>& scalars, const WhereTreesLie& where) : where_(where) {
    std::string_view queue;  // the one that the last counter was of
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const std::string_view path = scalars[i].path;
      if (queue.empty() || !is_within(path, queue)) queue = queue_counted_by(scalars, i);
      scalars_.push_back({steps_of(queue.empty() ? path : queue), !queue.empty(), scalars[i].bits});
      by_name_[name_of(scalars_.back().steps)].push_back(i);
    }
  }

  void add(const recorded::RecordedRule& rule, const std::uint8_t* members,
           std::vector<BitRange>& bits) const {
    const Members known(rule.parameters, members, where_.functions);
    add(rule.guard, known, bits);
    if (rule.trigger.empty()) return;
    add_path(rule.trigger, known, bits);
    add_indices(rule.trigger, known, bits);
  }

 private:
  // An entry of a queue.
  static bool is_within(std::string_view path, std::string_view queue) {
    return path.starts_with(queue) && path.substr(queue.size()).starts_with('(');
  }
  // A queue's entries follow its counter.
  static std::string_view queue_counted_by(const std::vector<ScalarBits>& scalars, std::size_t i) {
    constexpr std::string_view counter = ".count";
    const std::string_view path = scalars[i].path;
    if (!path.ends_with(counter) || i + 1 == scalars.size()) return {};
    const std::string_view queue = path.substr(0, path.size() - counter.size());
    return is_within(scalars[i + 1].path, queue) ? queue : std::string_view{};
  }
  // Up to the first index.
  static std::string name_of(const std::vector<Step>& steps) {
    std::string name;
    for (const Step& step : steps) {
      name += "." + step.name;
      if (!step.index.empty()) break;
    }
    return name;
  }

  void add(const Expression& e, const Members& members, std::vector<BitRange>& bits) const {
    if (!e) return;
    if (e->op == Op::read || e->op == Op::contains) add_path(e->path, members, bits);
    add_indices(e->path, members, bits);
    for (const Expression& child : e->children) add(child, members, bits);
  }
  void add_indices(const Path& path, const Members& members, std::vector<BitRange>& bits) const {
    for (const recorded::Segment& segment : path) {
      for (const Expression& index : segment.index) add(index, members, bits);
    }
  }

  // The scalars that a path may mean, and where it means none, those that it follows from.
  void add_path(const Path& path, const Members& members, std::vector<BitRange>& bits) const {
    std::vector<Step> steps;
    if (!where_.part.empty()) steps.push_back({std::string(where_.part), {}});
    std::optional<int> row;
    for (const recorded::Segment& segment : path) {
      Step& step = steps.emplace_back(Step{segment.name, {}});
      for (const Expression& index : segment.index) step.index.push_back(members.index(index));
      if (!row && !step.index.empty()) row = step.index.front();
    }
    if (add_scalars(steps, bits)) return;
    if (where_.restored_from.empty()) {
      for (const Scalar& scalar : scalars_) bits.push_back(scalar.bits);
      return;
    }
    for (const std::string_view table : where_.restored_from) {
      std::vector<Step> source = steps_of(table);
      source.back().index = {row.value_or(-1)};
      add_scalars(source, bits);
    }
  }

  // Whether there are any.
  bool add_scalars(const std::vector<Step>& wanted, std::vector<BitRange>& bits) const {
    const std::size_t before = bits.size();
    const auto add_if = [&](const Scalar& scalar) {
      if (may_be(wanted, scalar)) bits.push_back(scalar.bits);
    };
    if (const auto found = by_name_.find(name_of(wanted)); found != by_name_.end()) {
      for (const std::size_t i : found->second) add_if(scalars_[i]);
    } else {
      // Says more than leads to a queue, or less than leads to an index.
      std::for_each(scalars_.begin(), scalars_.end(), add_if);
    }
    return bits.size() > before;
  }
  static bool may_be(const std::vector<Step>& wanted, const Scalar& scalar) {
    for (std::size_t i = 0; i < wanted.size() && i < scalar.steps.size(); ++i) {
      const Step& a = wanted[i];
      const Step& b = scalar.steps[i];
      if (a.name != b.name) return false;
      for (std::size_t j = 0; j < a.index.size() && j < b.index.size(); ++j) {
        if (a.index[j] >= 0 && a.index[j] != b.index[j]) return false;
      }
    }
    return wanted.size() <= scalar.steps.size() || scalar.in_queue;
  }

  const WhereTreesLie& where_;
  std::vector<Scalar> scalars_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

using RulesByName = std::unordered_map<std::string_view, const recorded::RecordedRule*>;

RulesByName by_name(const std::vector<recorded::RecordedRule>& rules) {
  RulesByName found;
  for (const recorded::RecordedRule& rule : rules) found[rule.name] = &rule;
  return found;
}

}  // namespace

std::vector<std::vector<BitRange>> guard_reads(const SystemEntry& entry, const SystemOptions& options,
                                               const RuleEngine& engine,
                                               const std::vector<ScalarBits>& scalars,
                                               std::uint32_t state_bits, const WhereTreesLie& where) {
  const RulesByName rules = by_name(trees_of(entry, options).rules);
  const Reads reads(scalars, where);
  std::vector<std::vector<BitRange>> of_instances(engine.instances());
  for (std::uint32_t i = 0; i < engine.instances(); ++i) {
    const Rule& rule = engine.rule_of(i).rule;
    const auto found = rules.find(rule.name);
    if (found == rules.end() || rule.instruction != nullptr) {
      of_instances[i].push_back({0, state_bits});
    } else {
      reads.add(*found->second, engine.members_of(i), of_instances[i]);
    }
  }
  return of_instances;
}

}  // namespace lockstep
