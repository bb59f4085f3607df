#include "checker/axiomatic/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

namespace lockstep {

namespace {

using Pair = std::pair<int, int>;

// "a", "b", ... "z", "aa", ...: events that are no initial writes, in their order.
std::string letter(const Candidate& c, int event) {
  const int initial = static_cast<int>(c.program->locations.size());
  if (event < initial) return "init " + c.program->locations[static_cast<std::size_t>(event)].name;
  int n = event - initial;
  std::string name;
  do {
    name.insert(name.begin(), static_cast<char>('a' + n % 26));
    n = n / 26 - 1;
  } while (n >= 0);
  return name;
}

std::string described(const Candidate& c, int event) {
  return fmt::format("{}: {}", letter(c, event),
                     event_text(c.execution, event, c.values[static_cast<std::size_t>(event)]));
}

std::string failure_text(const Candidate& c, const Candidate::Failure& failure) {
  std::string text = fmt::format("{} fails ({}:{})", failure.label, failure.file, failure.place.line);
  if (failure.cycle.empty()) return text;
  text += failure.cycle.size() > 2 ? ", cycle" : ",";
  for (const int event : failure.cycle) text += " " + letter(c, event);
  return text;
}

// The edges of a failing check that the picture shows: along its cycle.
std::set<Pair> cycle_edges(const Candidate& c) {
  std::set<Pair> edges;
  if (c.failures.empty()) return edges;
  const std::vector<int>& cycle = c.failures.front().cycle;
  for (std::size_t i = 0; i < cycle.size(); ++i) edges.insert({cycle[i], cycle[(i + 1) % cycle.size()]});
  return edges;
}

}  // namespace

std::string candidate_text(const LitmusTest& test, const Candidate& c) {
  std::string text;
  const Execution& e = c.execution;
  for (std::size_t t = 0; t < e.first.size(); ++t) {
    const int end = t + 1 < e.first.size() ? e.first[t + 1] : e.size();
    text += fmt::format("  {}\n", test.program.threads[t].name);
    for (int event = e.first[t]; event < end; ++event) {
      text += "    " + described(c, event);
      for (const auto& [write, read] : c.rf) {
        if (read == event) text += fmt::format("  (from {})", letter(c, write));
      }
      text += "\n";
    }
  }
  std::string order;
  for (const auto& [first, second] : c.co) {
    if (first < static_cast<int>(c.program->locations.size())) continue;
    order += fmt::format(" {} < {}", letter(c, first), letter(c, second));
  }
  if (!order.empty()) text += "  coherence:" + order + "\n";
  for (const Candidate::Failure& failure : c.failures) text += "  " + failure_text(c, failure) + "\n";
  for (const std::string& flag : c.flags) text += "  raises " + flag + "\n";
  return text;
}

std::string candidate_dot(const LitmusTest& test, const Candidate& c, const std::string& title) {
  const Execution& e = c.execution;
  const std::set<Pair> cycle = cycle_edges(c);
  const auto in_cycle = [&](int event) {
    return std::any_of(cycle.begin(), cycle.end(),
                       [&](const Pair& edge) { return edge.first == event || edge.second == event; });
  };
  constexpr int column = 190;  // points
  constexpr int row = 76;
  std::string text = fmt::format(
      "digraph execution {{\n  graph [label=\"{}\", labelloc=t, fontname=\"Helvetica\", splines=true];\n"
      "  node [shape=plaintext, fontname=\"Helvetica\", fontsize=12];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, arrowsize=0.7, labeldistance=2.6, labelangle=18];\n",
      title);
  // An initial write is drawn where something reads it or its cycle needs it.
  std::set<int> drawn;
  for (const auto& [write, read] : c.rf) drawn.insert({write, read});
  for (const auto& [first, second] : cycle) drawn.insert({first, second});
  int left = 0;
  for (int event = 0; event < static_cast<int>(e.writes.size()); ++event) {
    if (drawn.count(event) == 0) continue;
    text += fmt::format("  e{} [label=\"{}\", pos=\"{},{}!\"{}];\n", event,
                        event_text(e, event, c.values[static_cast<std::size_t>(event)]), left, row,
                        in_cycle(event) ? ", fontcolor=\"#b00020\"" : "");
    left += column;
  }
  for (std::size_t t = 0; t < e.first.size(); ++t) {
    const int end = t + 1 < e.first.size() ? e.first[t + 1] : e.size();
    text += fmt::format("  t{} [label=\"{}\", pos=\"{},{}!\", fontsize=14];\n", t,
                        test.program.threads[t].name, static_cast<int>(t) * column, row + row / 2);
    for (int event = e.first[t]; event < end; ++event) {
      text += fmt::format("  e{} [label=\"{}\", pos=\"{},{}!\"{}];\n", event, described(c, event),
                          static_cast<int>(t) * column, -(event - e.first[t]) * row,
                          in_cycle(event) ? ", fontcolor=\"#b00020\"" : "");
    }
  }
  std::set<Pair> shown;
  const auto edge = [&](const Pair& pair, std::string_view label, std::string_view color) {
    const bool bold = cycle.count(pair) > 0;
    shown.insert(pair);
    text += fmt::format("  e{} -> e{} [taillabel=\"{}\", color=\"{}\", fontcolor=\"{}\"{}];\n", pair.first,
                        pair.second, label, color, color, bold ? ", penwidth=2.6" : "");
  };
  for (std::size_t t = 0; t < e.first.size(); ++t) {
    const int end = t + 1 < e.first.size() ? e.first[t + 1] : e.size();
    for (int event = e.first[t]; event + 1 < end; ++event) edge({event, event + 1}, "po", "#808080");
  }
  for (const Pair& pair : c.rf) edge(pair, "rf", "#c62828");
  for (const Pair& pair : c.co) {
    if (drawn.count(pair.first) > 0 || pair.first >= static_cast<int>(e.writes.size()))
      edge(pair, "co", "#8d5524");
  }
  for (const Pair& pair : c.fr) edge(pair, "fr", "#1565c0");
  for (const Pair& pair : cycle) {
    if (shown.count(pair) > 0) continue;
    std::string_view name = c.failures.front().label;
    for (const auto& [relation, pairs] : c.shown) {
      if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) name = relation;
    }
    edge(pair, name, "#6a1b9a");
  }
  return text + "}\n";
}

std::string render_svg(const std::string& dot) {
  const TemporaryFolder folder;
  write_file(folder.path() / "execution.dot", dot);
  const ProcessResult result = run_process({{"neato", "-n2", "-Tsvg", "-o", "execution.svg", "execution.dot"},
                                            folder.path(),
                                            std::chrono::seconds(30),
                                            nullptr});
  if (result.end == ProcessResult::End::missing) {
    throw BadInput("pictures need Graphviz, and there is no `neato`", "apt-get install graphviz");
  }
  if (result.end != ProcessResult::End::exited || result.status != 0) {
    throw BadInput("Graphviz could not draw an execution: " + result.output);
  }
  return read_file(folder.path() / "execution.svg");
}

}  // namespace lockstep
