#include "checker/interpret/tree_rule.hpp"

#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace lockstep {

using footprint::TermOp;
using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::Statement;

// Makes numbered nodes of a rule's tree: names become variables, paths become fields with indices.
class TreeRule::Reader {
 public:
  explicit Reader(TreeRule& rule) : rule_(rule), functions_(rule.run_->functions) {}

  void read(const recorded::RecordedRule& tree) {
    std::map<std::string, int> seen;
    for (const std::string& parameter : tree.parameters) {
      const int n = ++seen[parameter];
      bind(n == 1 ? parameter : parameter + std::to_string(n));
    }
    rule_.parameters_ = tree.parameters.size();
    rule_.guard_ = expression(tree.guard);
    if (!tree.trigger.empty()) {
      Statement pop;
      pop.kind = Statement::Kind::pop;
      pop.target = tree.trigger;
      rule_.trigger_ = block({pop});
    }
    acts_ = true;
    rule_.action_ = block(tree.action);
  }

 private:
  [[nodiscard]] const Run& run() const { return *rule_.run_; }
  [[nodiscard]] int extent(const std::string& index_type) const {
    const auto found = run().extents.find(index_type);
    if (found == run().extents.end()) throw std::logic_error("no size is known of '" + index_type + "'");
    return found->second;
  }

  Number bind(const std::string& name) {
    const auto [at, fresh] = variables_.try_emplace(name, static_cast<Number>(variables_.size()));
    if (variables_.size() > most_variables) throw std::length_error("a rule has too many variables");
    return at->second;
  }
  Number add(Node node) {
    rule_.nodes_.push_back(std::move(node));
    return static_cast<Number>(rule_.nodes_.size() - 1);
  }
  Number constant(std::int64_t value) {
    Node node;
    node.value = value;
    return add(std::move(node));
  }
  Number variable(Number which) {
    Node node;
    node.kind = Kind::variable;
    node.variable = which;
    return add(std::move(node));
  }
  Number binary(TermOp op, Number a, Number b) {
    Node node;
    node.kind = Kind::binary;
    node.op = op;
    node.children = {a, b};
    return add(std::move(node));
  }
  Number reading(Where where) {
    Node node;
    node.kind = Kind::read;
    node.where = std::move(where);
    return add(std::move(node));
  }

  // ---- paths ----

  std::vector<Number> indices(const Path& path, std::size_t from, std::size_t to) {
    std::vector<Number> all;
    for (std::size_t s = from; s < to; ++s) {
      for (const Expression& index : path[s].index) all.push_back(expression(index));
    }
    return all;
  }
  static std::string names(const Path& path, std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t s = from; s < to; ++s) text += (text.empty() ? "" : ".") + path[s].name;
    return text;
  }
  Where scalar(const std::string& name, std::vector<Number> index, bool before = false) {
    const FieldPlaces& field = run().layout.field(name, index.size());
    return {&field, std::move(index), before};
  }
  Where count_of(const Path& path, std::size_t segments) {
    return scalar(names(path, 0, segments) + ".count", indices(path, 0, segments));
  }

  // A scalar of the state or of a queue's entry.
  Where scalar_at(const Path& path) {
    std::size_t segments = 0;
    const QueuePlaces* const queue = run().layout.queue(path, segments);
    if (queue == nullptr) return scalar(names(path, 0, path.size()), indices(path, 0, path.size()));
    const recorded::Segment& which = path.at(segments);
    const std::string name = names(path, 0, segments);
    std::vector<Number> index = indices(path, 0, segments);
    if (which.name == "entry") {
      index.push_back(variable(entries_.at(name)));
    } else {
      index.push_back(constant(which.name == "head" ? 0 : std::stoll(which.name.substr(4))));
    }
    for (const Number more : indices(path, segments + 1, path.size())) index.push_back(more);
    const std::string rest = names(path, segments + 1, path.size());
    return scalar(rest.empty() ? name : name + "." + rest, std::move(index), acts_ && which.consumed);
  }
  Number read_at(const Path& path) {
    std::size_t segments = 0;
    const QueuePlaces* const queue = run().layout.queue(path, segments);
    if (queue != nullptr && path.size() == segments + 1) {
      const std::string& what = path[segments].name;
      const auto count = [&] { return reading(count_of(path, segments)); };
      if (what == "empty") return binary(TermOp::equal, count(), constant(0));
      if (what == "full") return binary(TermOp::less_equal, constant(queue->capacity), count());
      if (what.starts_with("lacks_slot"))
        return binary(TermOp::less_equal, count(), constant(std::stoll(what.substr(10))));
    }
    return reading(scalar_at(path));
  }

  // ---- expressions ----

  Number expression(const Expression& e) {
    if (const auto op = footprint::binary_operator(e->op))
      return binary(*op, expression(e->children[0]), expression(e->children[1]));
    Node node;
    switch (e->op) {
      case Op::constant:
        return constant(run().constants.of(*e));
      case Op::parameter:
      case Op::local: {
        const auto found = variables_.find(e->text);
        if (found == variables_.end()) throw std::logic_error("no value for '" + e->text + "'");
        return variable(found->second);
      }
      case Op::read:
        return read_at(e->path);
      case Op::apply:
        node.kind = Kind::apply;
        node.function = functions_.applied(*e);
        node.children[0] = expression(e->children[0]);
        return add(std::move(node));
      case Op::not_:
        node.kind = Kind::not_;
        node.children[0] = expression(e->children[0]);
        return add(std::move(node));
      case Op::select:
        node.kind = Kind::select;
        for (std::size_t i = 0; i < 3; ++i) node.children.at(i) = expression(e->children[i]);
        return add(std::move(node));
      case Op::some:
        return binary(TermOp::add, expression(e->children[0]), constant(1));
      case Op::has:
        return binary(TermOp::not_equal, expression(e->children[0]), constant(0));
      case Op::value_of:
        return binary(TermOp::subtract, expression(e->children[0]), constant(1));
      case Op::forall:
      case Op::exists:
      case Op::count:
        node.kind = Kind::loop;
        node.loop = e->op;
        node.value = extent(e->over);
        node.variable = bind(e->text);
        node.children[0] = expression(e->children[0]);
        return add(std::move(node));
      case Op::contains: {
        std::size_t segments = 0;
        if (run().layout.queue(e->path, segments) == nullptr || segments != e->path.size())
          throw std::logic_error("'" + recorded::print(e->path) + "' is no queue");
        const std::string name = names(e->path, 0, segments);
        node.kind = Kind::contains;
        node.where = count_of(e->path, segments);
        node.variable = bind("an entry's place, " + std::to_string(variables_.size()));
        const auto outer = entries_.find(name) == entries_.end() ? std::optional<Number>() : entries_[name];
        entries_[name] = node.variable;
        node.children[0] = expression(e->children[0]);
        if (outer) {
          entries_[name] = *outer;
        } else {
          entries_.erase(name);
        }
        return add(std::move(node));
      }
      default:
        throw std::logic_error("an expression of no kind");
    }
  }

  // ---- statements ----

  std::vector<Step> block(const std::vector<Statement>& statements) {
    std::vector<Step> steps;
    for (const Statement& statement : statements) steps.push_back(step(statement));
    return steps;
  }
  Step step(const Statement& statement) {
    Step step;
    step.kind = statement.kind;
    switch (statement.kind) {
      case Statement::Kind::assign:
        step.where = scalar_at(statement.target);
        step.value = expression(statement.value);
        break;
      case Statement::Kind::let:
        step.value = expression(statement.value);
        step.variable = bind(statement.name);
        break;
      case Statement::Kind::when:
        step.value = expression(statement.value);
        step.then = block(statement.then);
        step.otherwise = block(statement.otherwise);
        break;
      case Statement::Kind::for_each:
        step.extent = extent(statement.over);
        step.variable = bind(statement.name);
        step.then = block(statement.then);
        break;
      case Statement::Kind::push:
      case Statement::Kind::push_front:
      case Statement::Kind::pop: {
        std::size_t segments = 0;
        step.queue = run().layout.queue(statement.target, segments);
        if (step.queue == nullptr || segments != statement.target.size())
          throw std::logic_error("'" + recorded::print(statement.target) + "' is no queue");
        step.where = count_of(statement.target, segments);
        const std::string name = names(statement.target, 0, segments);
        for (const auto& [part, value] : statement.row)
          step.row.push_back(entry(name, step.queue->leading, part, value));
        break;
      }
    }
    return step;
  }
  // A part of a row, "mask(1)", that is pushed.
  Entry entry(const std::string& queue, std::size_t leading, const std::string& part,
              const Expression& value) {
    Entry entry;
    std::string name = queue;
    for (std::size_t at = 0; at < part.size();) {
      if (at == 0) name += ".";
      if (part[at] == '(') {
        const std::size_t close = part.find(')', at);
        entry.index.push_back(std::stoi(part.substr(at + 1, close - at - 1)));
        at = close + 1;
      } else {
        name += part[at++];
      }
    }
    entry.field = &run().layout.field(name, leading + 1 + entry.index.size());
    entry.value = expression(value);
    return entry;
  }

  TreeRule& rule_;
  footprint::RigidFunctions functions_;
  bool acts_ = false;  // the message of a triggered rule has been taken
  std::map<std::string, Number> variables_;
  std::map<std::string, Number> entries_;  // by queue: the variable of the entry that is asked about
};

TreeRule::TreeRule(std::shared_ptr<const Run> run, const recorded::RecordedRule& rule)
    : run_(std::move(run)) {
  Reader(*this).read(rule);
}

bool TreeRule::enabled(const std::byte* state, const std::uint8_t* members) const {
  Frame frame;
  frame.before = state;
  for (std::size_t p = 0; p < parameters_; ++p) frame.variables.at(p) = members[p];
  return evaluate(guard_, frame) != 0;
}

void TreeRule::fire(std::byte* state, const std::uint8_t* members) const {
  Frame frame;
  const std::vector<std::byte> before(state, state + run_->layout.bytes());
  frame.before = before.data();
  frame.state = state;
  for (std::size_t p = 0; p < parameters_; ++p) frame.variables.at(p) = members[p];
  run(trigger_, frame);
  run(action_, frame);
}

std::int64_t TreeRule::evaluate(Number number, Frame& frame) const {
  const Node& node = nodes_[number];
  const auto child = [&](std::size_t i) { return evaluate(node.children.at(i), frame); };
  switch (node.kind) {
    case Kind::constant:
      return node.value;
    case Kind::variable:
      return frame.variables.at(node.variable);
    case Kind::read:
      return run_->layout.read(place(node.where, frame),
                               node.where.before || frame.state == nullptr ? frame.before : frame.state);
    case Kind::binary: {
      const std::int64_t a = child(0);
      if (node.op == TermOp::and_ && a == 0) return 0;
      if (node.op == TermOp::or_ && a != 0) return 1;
      return footprint::computed(node.op, a, child(1));
    }
    case Kind::not_:
      return child(0) == 0 ? 1 : 0;
    case Kind::select:
      return child(child(0) != 0 ? 1 : 2);
    case Kind::apply:
      return footprint::RigidFunctions::value(node.function, child(0));
    case Kind::loop: {
      std::int64_t holds = 0;
      for (std::int64_t i = 0; i < node.value; ++i) {
        frame.variables.at(node.variable) = i;
        holds += child(0) != 0 ? 1 : 0;
      }
      if (node.loop == Op::count) return holds;
      return (node.loop == Op::forall ? holds == node.value : holds > 0) ? 1 : 0;
    }
    case Kind::contains: {
      const std::byte* const state = frame.state == nullptr ? frame.before : frame.state;
      const std::int64_t entries = run_->layout.read(place(node.where, frame), state);
      for (std::int64_t i = 0; i < entries; ++i) {
        frame.variables.at(node.variable) = i;
        if (child(0) != 0) return 1;
      }
      return 0;
    }
  }
  return 0;
}

std::uint32_t TreeRule::place(const Where& where, Frame& frame) const {
  std::size_t at = 0;
  for (std::size_t d = 0; d < where.index.size(); ++d) {
    const std::int64_t i = evaluate(where.index[d], frame);
    if (i < 0 || i >= where.field->extents[d]) misuse(Misuse::no_row);
    at = at * static_cast<std::size_t>(where.field->extents[d]) + static_cast<std::size_t>(i);
  }
  return where.field->numbers[at];
}

void TreeRule::assign(const FieldPlaces& field, std::uint32_t place, std::int64_t value, Frame& frame) const {
  if (field.ranged && (value < field.low || value > field.high)) misuse(Misuse::out_of_range);
  run_->layout.write(place, value, frame.state);
}

void TreeRule::run(const std::vector<Step>& block, Frame& frame) const {
  for (const Step& step : block) {
    switch (step.kind) {
      case Statement::Kind::assign: {
        const std::int64_t value = evaluate(step.value, frame);
        assign(*step.where.field, place(step.where, frame), value, frame);
        break;
      }
      case Statement::Kind::let:
        frame.variables.at(step.variable) = evaluate(step.value, frame);
        break;
      case Statement::Kind::when:
        run(evaluate(step.value, frame) != 0 ? step.then : step.otherwise, frame);
        break;
      case Statement::Kind::for_each:
        for (int i = 0; i < step.extent; ++i) {
          frame.variables.at(step.variable) = i;
          run(step.then, frame);
        }
        break;
      default:
        change_queue(step, frame);
    }
  }
}

std::pair<std::size_t, std::size_t> TreeRule::rows(const FieldPlaces& field,
                                                   const std::vector<std::int64_t>& index) {
  std::size_t at = 0;
  std::size_t count = 1;
  for (std::size_t d = 0; d < field.extents.size(); ++d) {
    const auto extent = static_cast<std::size_t>(field.extents[d]);
    at = at * extent + (d < index.size() ? static_cast<std::size_t>(index[d]) : 0);
    if (d >= index.size()) count *= extent;
  }
  return {at, count};
}

// Entries lie from the head on; the slots behind them hold defaults.
void TreeRule::change_queue(const Step& step, Frame& frame) const {
  const FieldLayout& layout = run_->layout;
  const QueuePlaces& queue = *step.queue;
  const std::uint32_t counter = place(step.where, frame);
  const std::int64_t count = layout.read(counter, frame.state);
  std::vector<std::int64_t> index;
  for (const Number i : step.where.index) index.push_back(evaluate(i, frame));
  const auto move = [&](std::int64_t from, std::int64_t to) {
    for (const FieldPlaces* field : queue.scalars) {
      index.push_back(from);
      const auto [source, rows_of_entry] = rows(*field, index);
      index.back() = to;
      const std::size_t target = rows(*field, index).first;
      index.pop_back();
      for (std::size_t r = 0; r < rows_of_entry; ++r)
        layout.write(field->numbers[target + r], layout.read(field->numbers[source + r], frame.state),
                     frame.state);
    }
  };
  if (step.kind == Statement::Kind::pop) {
    if (count == 0) misuse(Misuse::empty_queue);
    for (std::int64_t i = 0; i + 1 < count; ++i) move(i + 1, i);
    for (const FieldPlaces* field : queue.scalars) {
      index.push_back(count - 1);
      const auto [first, rows_of_entry] = rows(*field, index);
      index.pop_back();
      for (std::size_t r = 0; r < rows_of_entry; ++r) layout.reset(field->numbers[first + r], frame.state);
    }
    layout.write(counter, count - 1, frame.state);
    return;
  }
  if (count >= queue.capacity) misuse(Misuse::full_queue);
  std::vector<std::int64_t> values;
  for (const Entry& entry : step.row) values.push_back(evaluate(entry.value, frame));
  const bool in_front = step.kind == Statement::Kind::push_front;
  if (in_front) {
    for (std::int64_t i = count; i > 0; --i) move(i - 1, i);
  }
  for (std::size_t e = 0; e < step.row.size(); ++e) {
    const Entry& entry = step.row[e];
    std::vector<std::int64_t> at = index;
    at.push_back(in_front ? 0 : count);
    at.insert(at.end(), entry.index.begin(), entry.index.end());
    assign(*entry.field, entry.field->numbers[rows(*entry.field, at).first], values[e], frame);
  }
  layout.write(counter, count + 1, frame.state);
}

namespace {

// What closures of plain bytes say of a guard.
struct OfBytes {
  static constexpr bool erased(bool b) { return b; }
};

}  // namespace

TreeClosures closures_of(std::shared_ptr<const TreeRule> rule) {
  return {ErasedGuard<ConcreteErased>::of<OfBytes, std::byte>(
              [rule](const std::byte& state, const std::uint8_t* members) {
                return rule->enabled(&state, members);
              }),
          ErasedAction<ConcreteErased>::of<std::byte>(
              [rule](std::byte& state, const std::uint8_t* members) { rule->fire(&state, members); })};
}

}  // namespace lockstep
