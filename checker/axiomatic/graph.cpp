#include "checker/axiomatic/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
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

std::vector<Derivation> leaves_of(const Candidate::Failure& failure) {
  std::vector<Derivation> all;
  for (const Derivation& pair : failure.pairs) {
    const std::vector<Derivation> some = leaves(pair);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// "a po b rf c fr a": the pairs of the check down to base relations; empty where there are none.
std::string chain_text(const Candidate& c, const Candidate::Failure& failure) {
  std::string text;
  for (const Derivation& leaf : leaves_of(failure)) {
    if (text.empty()) text = letter(c, leaf.from);
    text += fmt::format(" {}{} {}", leaf.name, leaf.inverted ? "^-1" : "", letter(c, leaf.to));
  }
  return text;
}

// The edges of a failing check that the picture shows: what its cycle is made of, in the direction in which
// the relations hold.
std::map<Pair, std::string> cycle_edges(const Candidate& c) {
  std::map<Pair, std::string> edges;
  if (c.failures.empty()) return edges;
  const Candidate::Failure& failure = c.failures.front();
  for (const Derivation& leaf : leaves_of(failure)) {
    edges.try_emplace(leaf.inverted ? Pair{leaf.to, leaf.from} : Pair{leaf.from, leaf.to},
                      leaf.name.empty() ? failure.label : leaf.name);
  }
  const std::vector<int>& cycle = failure.cycle;
  for (std::size_t i = 0; failure.pairs.empty() && i < cycle.size(); ++i)
    edges.try_emplace({cycle[i], cycle[(i + 1) % cycle.size()]}, failure.label);
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
  for (const Candidate::Failure& failure : c.failures) {
    text += "  " + failure_text(c, failure) + "\n";
    const std::string chain = chain_text(c, failure);
    if (!chain.empty()) text += "    " + chain + "\n";
  }
  for (const std::string& flag : c.flags) text += "  raises " + flag + "\n";
  return text;
}

namespace {

nlohmann::json derivation_json(const Derivation& derivation) {
  nlohmann::json out{{"from", derivation.from}, {"to", derivation.to}, {"name", derivation.name}};
  if (derivation.inverted) out["inverted"] = true;
  for (const Derivation& part : derivation.parts) out["parts"].push_back(derivation_json(part));
  return out;
}

std::vector<Pair> pairs_of(const Execution& execution, cat::Base base) {
  const auto words = static_cast<std::size_t>(execution.words());
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(execution.size()) * words);
  execution.fill(base, rows.data());
  std::vector<Pair> pairs;
  for (int i = 0; i < execution.size(); ++i) {
    for (int j = 0; j < execution.size(); ++j) {
      const std::uint64_t word = rows[static_cast<std::size_t>(i) * words + static_cast<std::size_t>(j) / 64];
      if (((word >> (j % 64)) & 1U) != 0) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

}  // namespace

nlohmann::json candidate_json(const LitmusTest& test, const Candidate& c) {
  using nlohmann::json;
  const Execution& e = c.execution;
  json threads = json::array();
  for (const Thread& thread : test.program.threads) threads.push_back(thread.name);
  json events = json::array();
  for (int event = 0; event < e.size(); ++event) {
    const ProgramEvent& what = e.events[static_cast<std::size_t>(event)];
    events.push_back({{"letter", letter(c, event)},
                      {"text", event_text(e, event, c.values[static_cast<std::size_t>(event)])},
                      {"thread", what.thread},
                      {"initial", what.kind == EventKind::initial}});
  }
  json relations = json::array();
  std::vector<Pair> po;
  for (std::size_t t = 0; t < e.first.size(); ++t) {
    const int end = t + 1 < e.first.size() ? e.first[t + 1] : e.size();
    for (int event = e.first[t]; event + 1 < end; ++event) po.emplace_back(event, event + 1);
  }
  const auto add = [&](std::string_view name, std::string_view kind, const std::vector<Pair>& pairs) {
    if (!pairs.empty()) relations.push_back({{"name", name}, {"kind", kind}, {"pairs", pairs}});
  };
  add("po", "base", po);
  add("rf", "base", c.rf);
  add("co", "base", c.co);
  add("fr", "base", c.fr);
  for (const auto& [name, base] : {std::pair{"rmw", cat::Base::rmw}, std::pair{"addr", cat::Base::addr},
                                   std::pair{"data", cat::Base::data}, std::pair{"ctrl", cat::Base::ctrl},
                                   std::pair{"syncbar", cat::Base::syncbar}}) {
    add(name, "base", pairs_of(e, base));
  }
  for (const auto& [name, pairs] : c.shown) add(name, "shown", pairs);
  for (const auto& [name, pairs] : c.named) {
    if (name != "fr") add(name, "named", pairs);
  }
  json failures = json::array();
  for (const Candidate::Failure& failure : c.failures) {
    json pairs = json::array();
    for (const Derivation& pair : failure.pairs) pairs.push_back(derivation_json(pair));
    failures.push_back(
        {{"check", failure.label},
         {"place",
          fmt::format("{}:{}", std::filesystem::path(failure.file).filename().string(), failure.place.line)},
         {"cycle", failure.cycle},
         {"pairs", std::move(pairs)},
         {"chain", chain_text(c, failure)}});
  }
  return {{"threads", std::move(threads)},
          {"events", std::move(events)},
          {"relations", std::move(relations)},
          {"failures", std::move(failures)},
          {"flags", c.flags},
          {"text", candidate_text(test, c)}};
}

std::string candidate_dot(const LitmusTest& test, const Candidate& c, const std::string& title) {
  const Execution& e = c.execution;
  const std::map<Pair, std::string> cycle = cycle_edges(c);
  const auto in_cycle = [&](int event) {
    return std::any_of(cycle.begin(), cycle.end(), [&](const auto& edge) {
      return edge.first.first == event || edge.first.second == event;
    });
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
  for (const auto& [edge, name] : cycle) drawn.insert({edge.first, edge.second});
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
  for (const auto& [pair, name] : cycle) {
    if (shown.count(pair) == 0) edge(pair, name, "#6a1b9a");
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
