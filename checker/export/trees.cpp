// Folding, and taking paths apart.
#include "checker/export/trees.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lockstep {

using recorded::Declaration;
using recorded::Expression;
using recorded::Node;
using recorded::Op;
using recorded::Path;
using recorded::RigidFunction;
using recorded::Sort;
using recorded::Statement;
using recorded::WholeDescription;

const RigidFunction* function_of(const Node& apply, const WholeDescription& whole) {
  for (const RigidFunction& function : whole.functions) {
    if (function.name == apply.text && function.from == apply.children[0]->type.name) return &function;
  }
  return nullptr;
}

Path folded(const Path& path, const Bindings& bindings, const WholeDescription& whole) {
  Path result = path;
  for (recorded::Segment& segment : result) {
    for (Expression& index : segment.index) index = folded(index, bindings, whole);
  }
  return result;
}

namespace {

Expression folded_apply(const Expression& e, const Expression& argument, const WholeDescription& whole) {
  const RigidFunction* function = function_of(*e, whole);
  if (function == nullptr && argument->op == Op::constant) return recorded::constant(e->type, argument->text);
  if (function != nullptr && argument->op == Op::constant) {
    const int value = function->image.at(std::stoul(argument->text));
    if (function->to.empty()) return recorded::constant(recorded::bool_type, value != 0 ? "true" : "false");
    return recorded::constant(e->type, std::to_string(value));
  }
  return recorded::make(Op::apply, e->type, {argument}, e->text);
}

}  // namespace

Expression folded(const Expression& e, const Bindings& bindings, const WholeDescription& whole) {
  std::vector<Expression> children;
  for (const Expression& child : e->children) children.push_back(folded(child, bindings, whole));
  switch (e->op) {
    case Op::parameter: {
      const auto bound = bindings.find(e->text);
      return bound == bindings.end() ? e : recorded::constant(e->type, std::to_string(bound->second));
    }
    case Op::not_:
      return recorded::negation(children[0]);
    case Op::and_:
      return recorded::conjunction(children[0], children[1]);
    case Op::or_:
      return recorded::disjunction(children[0], children[1]);
    case Op::equal:
    case Op::not_equal:
      return recorded::comparison(e->op, children[0], children[1]);
    case Op::select:
      return recorded::choice(children[0], children[1], children[2]);
    case Op::apply:
      return folded_apply(e, children[0], whole);
    default: {
      auto node = std::make_shared<Node>(*e);
      node->children = std::move(children);
      node->path = folded(e->path, bindings, whole);
      return node;
    }
  }
}

Rows rows_of(const Declaration& table) {
  Rows rows{{}, &table};
  while (rows.row->kind == Declaration::Kind::table) {
    rows.over.insert(rows.over.end(), rows.row->over.begin(), rows.row->over.end());
    rows.row = &rows.row->parts.front();
  }
  return rows;
}

int default_of(const Declaration& leaf) {
  return leaf.type.sort == Sort::integer ? std::clamp(0, leaf.low, leaf.high) : 0;
}
std::string index_of(const recorded::Type& maybe) {
  return maybe.name.substr(maybe.name.find(' ') + 1);
}

namespace {

bool starts_with_number(const std::string& text, std::string_view prefix, int& number) {
  if (!text.starts_with(prefix)) return false;
  number = std::stoi(text.substr(prefix.size()));
  return true;
}

Step entry_step(const recorded::Segment& segment) {
  Step step;
  if (segment.name == "head") {
    step.kind = segment.consumed ? Step::Kind::message : Step::Kind::head;
  } else if (segment.name == "entry") {
    step.kind = Step::Kind::entry;
  } else if (segment.name == "empty") {
    step.kind = Step::Kind::empty;
  } else if (segment.name == "full") {
    step.kind = Step::Kind::full;
  } else if (starts_with_number(segment.name, "lacks_slot", step.slot)) {
    step.kind = Step::Kind::lacks;
  } else if (starts_with_number(segment.name, "slot", step.slot)) {
    step.kind = Step::Kind::slot;
  } else {
    throw std::logic_error("a queue is asked for '" + segment.name + "'");
  }
  return step;
}

}  // namespace

Place place_of(const Path& path, const WholeDescription& whole) {
  Place place;
  const Declaration* at = &whole.state;
  for (const recorded::Segment& segment : path) {
    if (at->kind == Declaration::Kind::queue) {
      Step step = entry_step(segment);
      step.of = at;
      at = step.kind >= Step::Kind::empty ? nullptr : &at->parts.front();
      place.steps.push_back(std::move(step));
    } else {
      const auto found = std::find(at->names.begin(), at->names.end(), segment.name);
      if (found == at->names.end()) throw std::logic_error("no field " + recorded::print(path));
      Step step;
      step.name = segment.name;
      step.of = at;
      at = &at->parts[static_cast<std::size_t>(found - at->names.begin())];
      place.steps.push_back(std::move(step));
    }
    if (segment.index.empty()) continue;
    const Rows rows = rows_of(*at);
    Step step;
    step.kind = Step::Kind::rows;
    step.index = segment.index;
    step.over = rows.over;
    step.of = at;
    if (step.index.size() != step.over.size()) throw std::logic_error("part of a table: " + print(path));
    place.steps.push_back(std::move(step));
    at = rows.row;
  }
  place.declaration = at;
  return place;
}

bool is_derived(const Path& path, const WholeDescription& whole) {
  const Place place = place_of(path, whole);
  return std::any_of(place.steps.begin(), place.steps.end(),
                     [](const Step& step) { return step.of != nullptr && step.of->derived; });
}

std::string field_of(const Path& path) {
  std::string text;
  for (const recorded::Segment& segment : path) text += (text.empty() ? "" : ".") + segment.name;
  return text;
}

namespace {

void fields_read(const Expression& e, std::set<std::string>& fields) {
  if (!e) return;
  if (!e->path.empty()) fields.insert(field_of(e->path));
  for (const recorded::Segment& segment : e->path) {
    for (const Expression& index : segment.index) fields_read(index, fields);
  }
  for (const Expression& child : e->children) fields_read(child, fields);
}

void fields_of(const std::vector<Statement>& block, std::set<std::string>& read,
               std::set<std::string>& written) {
  for (const Statement& s : block) {
    fields_read(s.value, read);
    for (const auto& [name, value] : s.row) fields_read(value, read);
    if (!s.target.empty()) written.insert(field_of(s.target));
    fields_of(s.then, read, written);
    fields_of(s.otherwise, read, written);
  }
}

}  // namespace

bool touches_derived(const std::vector<Statement>& action, const WholeDescription& whole) {
  std::set<std::string> depends;
  std::set<std::string> written;
  fields_of(whole.restore, depends, written);
  depends.insert(written.begin(), written.end());
  std::set<std::string> read;
  written.clear();
  fields_of(action, read, written);
  return std::any_of(written.begin(), written.end(),
                     [&](const std::string& field) { return depends.contains(field); });
}

void collect_locals(const std::vector<Statement>& block, std::vector<Local>& locals) {
  for (const Statement& s : block) {
    if (s.kind == Statement::Kind::let) locals.push_back({s.name, s.value->type});
    collect_locals(s.then, locals);
    collect_locals(s.otherwise, locals);
  }
}

void for_each_leaf_of(const Declaration& row, const std::string& path, const WholeDescription& whole,
                      const std::function<void(const Declaration&, const std::string&)>& f) {
  switch (row.kind) {
    case Declaration::Kind::leaf:
      f(row, path);
      return;
    case Declaration::Kind::record:
      for (std::size_t i = 0; i < row.parts.size(); ++i) {
        for_each_leaf_of(row.parts[i], path.empty() ? row.names[i] : path + "." + row.names[i], whole, f);
      }
      return;
    case Declaration::Kind::table:
      for (int i = 0; i < whole.extents.at(row.over.front()); ++i) {
        for_each_leaf_of(row.parts.front(), path + "(" + std::to_string(i) + ")", whole, f);
      }
      return;
    case Declaration::Kind::queue:
      throw std::logic_error("a queue in the row of a queue");
  }
}

namespace {

Declaration pruned(const Declaration& declaration) {
  Declaration kept = declaration;
  kept.names.clear();
  kept.parts.clear();
  for (std::size_t i = 0; i < declaration.parts.size(); ++i) {
    Declaration part = pruned(declaration.parts[i]);
    if (part.kind == Declaration::Kind::record && part.parts.empty()) continue;
    kept.parts.push_back(std::move(part));
    if (i < declaration.names.size()) kept.names.push_back(declaration.names[i]);
  }
  return kept;
}

}  // namespace

recorded::WholeDescription without_empty_records(recorded::WholeDescription whole) {
  whole.state = pruned(whole.state);
  return whole;
}

}  // namespace lockstep
