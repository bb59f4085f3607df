// Renders recorded rules as text, JSON and a graph of units and fields.
#include "checker/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "checker/support/json_text.hpp"

namespace lockstep {

namespace {

// "rl1(cu_of(thread), port(thread).request.block).written" -> "rl1.written": the field, whatever the index.
std::string without_indices(const std::string& path) {
  std::string field;
  int depth = 0;
  for (const char c : path) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) field += c;
    depth -= c == ')' ? 1 : 0;
  }
  return field;
}
// "rl1.written" -> "rl1".
std::string part_of(const std::string& path) {
  return without_indices(path).substr(0, without_indices(path).find('.'));
}

std::string list(const std::set<std::string>& paths, std::string_view title) {
  std::string text;
  std::string label(title);
  for (const std::string& path : paths) {
    text += fmt::format("  {:<8}{}\n", label, path);
    label.clear();
  }
  return text;
}

std::string_view word(Fairness fairness) {
  return fairness == Fairness::fair ? "fair" : "optional";
}

std::string parameters(const recorded::RecordedRule& rule) {
  return rule.parameters.empty() ? "" : fmt::format(" ({})", fmt::join(rule.parameters, ", "));
}

}  // namespace

std::string explain_text(const recorded::Description& description, const ExplainOptions& options) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& rule : description.rules) {
    if (rule.name.find(options.only) == std::string::npos) continue;
    ++shown;
    text +=
        fmt::format("{}{}\n  unit    {}, {}\n", rule.name, parameters(rule), rule.unit, word(rule.fairness));
    if (!rule.source.empty()) text += fmt::format("  source  {}\n", rule.source);
    if (!rule.trigger.empty()) text += fmt::format("  trigger {}\n", print(rule.trigger));
    if (options.trees) {
      text += fmt::format("  guard   {}\n  action\n{}", print(rule.guard), print(rule.action, "    "));
    }
    text += list(rule.reads, "reads") + list(rule.writes, "writes");
    for (const std::string& problem : rule.problems) text += fmt::format("  PROBLEM {}\n", problem);
    text += "\n";
  }
  if (!options.only.empty()) return text;
  for (const auto& invariant : description.invariants) {
    text += fmt::format("invariant: {}\n", invariant.name);
    if (options.trees) text += fmt::format("  {}\n", print(invariant.predicate));
  }
  const auto unread = unread_fields(description);
  if (!unread.empty()) text += fmt::format("fields that no rule reads: {}\n", fmt::join(unread, ", "));
  text += fmt::format("{} rules, {} invariants, {} fields\n", shown, description.invariants.size(),
                      description.fields.size());
  return text;
}

std::string explain_json(const recorded::Description& description, const std::string& system) {
  nlohmann::ordered_json json{{"schema", "lockstep.explain/1"}, {"system", system}};
  for (const auto& rule : description.rules) {
    json["rules"].push_back({{"name", rule.name},
                             {"unit", rule.unit},
                             {"source", rule.source},
                             {"fairness", word(rule.fairness)},
                             {"parameters", rule.parameters},
                             {"trigger", print(rule.trigger)},
                             {"guard", print(rule.guard)},
                             {"action", print(rule.action, "")},
                             {"reads", rule.reads},
                             {"writes", rule.writes}});
  }
  for (const auto& invariant : description.invariants) {
    json["invariants"].push_back({{"name", invariant.name}, {"predicate", print(invariant.predicate)}});
  }
  json["fields"] = description.fields;
  return json_text(json, 2) + "\n";
}

std::vector<std::string> unread_fields(const recorded::Description& description) {
  std::set<std::string> read;
  const auto see = [&](const std::set<std::string>& paths) {
    for (const std::string& path : paths) read.insert(without_indices(path));
  };
  for (const auto& rule : description.rules) see(rule.reads);
  for (const auto& invariant : description.invariants) see(invariant.reads);
  std::vector<std::string> unread;
  for (const std::string& field : description.fields) {
    const std::string name = without_indices(field);
    // A queue is read through its parts.
    const bool found = std::any_of(read.begin(), read.end(), [&](const std::string& path) {
      return path == name || path.rfind(name + ".", 0) == 0;
    });
    if (!found) unread.push_back(field);
  }
  return unread;
}

std::string explain_graph(const recorded::Description& description) {
  struct Vertex {
    std::string label;
    bool unit = false;
  };
  struct Edge {
    bool write = false;
  };
  using Graph = boost::adjacency_list<boost::setS, boost::vecS, boost::bidirectionalS, Vertex, Edge>;
  Graph graph;
  std::map<std::string, Graph::vertex_descriptor> vertices;
  const auto vertex = [&](const std::string& label, bool unit) {
    const auto [at, fresh] = vertices.try_emplace((unit ? "u:" : "f:") + label, 0);
    if (fresh) at->second = boost::add_vertex({label, unit}, graph);
    return at->second;
  };
  for (const auto& rule : description.rules) {
    const auto unit = vertex(rule.unit, true);
    for (const auto& path : rule.reads) boost::add_edge(vertex(part_of(path), false), unit, {false}, graph);
    for (const auto& path : rule.writes) boost::add_edge(unit, vertex(part_of(path), false), {true}, graph);
  }
  std::ostringstream out;
  boost::write_graphviz(
      out, graph,
      [&](std::ostream& o, auto v) {
        o << "[label=\"" << graph[v].label
          << "\", shape=" << (graph[v].unit ? "box, style=filled, fillcolor=lightgrey" : "ellipse") << "]";
      },
      [&](std::ostream& o, auto e) { o << (graph[e].write ? "[color=firebrick]" : "[color=steelblue]"); },
      [](std::ostream& o) { o << "rankdir=LR;\nnode [fontname=\"Helvetica\"];\n"; });
  return out.str();
}

}  // namespace lockstep
