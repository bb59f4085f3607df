// Running, and printing for people and programs.
#include "refimpl/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t firings_between_progress = 1'000'000;

SystemResult run_system(const SimulationRequest& request, const Workload& workload, const std::string& name,
                        SimulationOptions options, const std::atomic<bool>& interrupted,
                        const std::function<void(const std::string&)>& on_progress) {
  SystemResult result;
  result.system = name;
  const TimedSystem system = find_timed_system(name, options);
  const auto simulator = system.build(workload, request.machine, options);
  const auto start = std::chrono::steady_clock::now();
  do {
    result.end = simulator->run(&interrupted, firings_between_progress);
    if (result.end == SimulationEnd::limit && on_progress) {
      const Statistics now = simulator->statistics();
      on_progress(fmt::format("{} on {}: cycle {:.0f}, {} firings", workload.program.name, name, now.drained,
                              now.firings));
    }
  } while (result.end == SimulationEnd::limit);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.statistics = simulator->statistics();
  if (result.end == SimulationEnd::stuck) result.waiting = simulator->waiting_threads();
  if (result.end == SimulationEnd::finished) {
    for (std::size_t i = 0; i < workload.outputs.size(); ++i) {
      if (simulator->word(workload.outputs[i]) != workload.expected[i]) ++result.wrong;
    }
  }
  if (const auto timing = request.machine.systems.find(std::string(system.name));
      timing != request.machine.systems.end())
    result.described_in = timing->second.borrowed;
  return result;
}

std::string verdict(const ComparedRun& run, const SystemResult& r) {
  switch (r.end) {
    case SimulationEnd::finished:
      if (run.checked == 0) return "ran to its end; it says nothing of memory then";
      return r.wrong == 0 ? fmt::format("right: all {} words checked", run.checked)
                          : fmt::format("WRONG: {} of {} words checked", r.wrong, run.checked);
    case SimulationEnd::stuck:
      return fmt::format("STUCK: no rule is enabled; {}", r.waiting.empty() ? "not drained" : r.waiting);
    case SimulationEnd::failed:
      return "FAILED: an assertion of the program does not hold";
    case SimulationEnd::late:
      return "NOT AT ITS END after the cycles that it was given";
    default:
      return "interrupted: figures so far";
  }
}

// Of a system that is not described by the machine's file.
std::string borrowed_text(const SystemResult& r) {
  if (r.described_in.empty()) return {};
  return fmt::format("  The machine file does not describe {}: as in {}\n", r.system, r.described_in);
}

std::string race_text(const ComparedRun& run, int width) {
  return run.race.empty()
             ? ""
             : fmt::format("  {:<{}} {}\n", width > 0 ? "Data race" : "Data race:", width, run.race);
}

// One row of a comparison.
struct Figure {
  std::string name;
  std::function<double(const Statistics&)> of;
};

// Results that are written back lazily are still to come when the last kernel ends.
bool drains_lazily(const ComparedRun& run) {
  return std::any_of(run.results.begin(), run.results.end(), [](const SystemResult& r) {
    return std::any_of(r.statistics.operations.begin(), r.statistics.operations.end(),
                       [](const Statistics::Operation& o) { return o.name == "kernel"; });
  });
}

std::vector<Figure> figures(const ComparedRun& run) {
  std::vector<Figure> all{
      {"cycles", [](const Statistics& s) { return s.cycles; }},
      {"cycles, read by host",
       [lazily = drains_lazily(run)](const Statistics& s) { return lazily ? s.drained : 0; }},
      {"rule firings", [](const Statistics& s) { return static_cast<double>(s.firings); }},
      {"atomics", [](const Statistics& s) { return static_cast<double>(s.atomics); }},
  };
  // What a sequence of launches is about.
  for (const std::string operation : {"acquire", "release"}) {
    all.push_back({operation + "s issued", [operation](const Statistics& s) {
                     for (const Statistics::Operation& o : s.operations) {
                       if (o.name == operation) return static_cast<double>(o.count);
                     }
                     return 0.0;
                   }});
  }
  for (const std::string level : {"L1", "L2"}) {
    all.push_back({level + " hits", [level](const Statistics& s) {
                     const auto found = s.levels.find(level);
                     return found == s.levels.end() ? 0.0 : static_cast<double>(found->second.hits);
                   }});
    all.push_back({level + " misses", [level](const Statistics& s) {
                     const auto found = s.levels.find(level);
                     return found == s.levels.end() ? 0.0 : static_cast<double>(found->second.misses);
                   }});
  }
  std::vector<std::string> ways;
  for (const SystemResult& r : run.results) {
    for (const Statistics::Messages& m : r.statistics.messages) {
      if (std::find(ways.begin(), ways.end(), m.way) == ways.end()) ways.push_back(m.way);
    }
  }
  for (const std::string& way : ways) {
    all.push_back(
        {"bytes, " + way, [way](const Statistics& s) { return static_cast<double>(s.bytes_on(way)); }});
  }
  all.push_back(
      {"lines invalidated", [](const Statistics& s) { return static_cast<double>(s.lines_invalidated); }});
  all.push_back({"L3 hits", [](const Statistics& s) { return static_cast<double>(s.memory.l3_hits); }});
  all.push_back({"DRAM reads", [](const Statistics& s) { return static_cast<double>(s.memory.reads); }});
  all.push_back({"DRAM writes", [](const Statistics& s) { return static_cast<double>(s.memory.writes); }});
  all.push_back(
      {"DRAM bytes read", [](const Statistics& s) { return static_cast<double>(s.memory.read_bytes); }});
  all.push_back(
      {"DRAM bytes written", [](const Statistics& s) { return static_cast<double>(s.memory.write_bytes); }});
  all.push_back({"energy, nJ", [](const Statistics& s) { return s.picojoules() / 1000; }});
  for (const std::string operation :
       {"load", "store", "rmw", "fence", "acquire", "release", "launch", "kernel"}) {
    const std::string article = operation == "acquire" ? "an " : "a ";
    all.push_back({"cycles " + article + operation, [operation](const Statistics& s) {
                     for (const Statistics::Operation& o : s.operations) {
                       if (o.name == operation && o.count > 0) return o.waited / static_cast<double>(o.count);
                     }
                     return 0.0;
                   }});
  }
  return all;
}

std::string side_by_side(const ComparedRun& run) {
  std::string text = fmt::format("  {:<24}", "");
  for (const SystemResult& r : run.results) text += fmt::format(" {:>15}", r.system.substr(0, 15));
  if (run.results.size() == 2) text += fmt::format(" {:>9}", "ratio");
  text += "\n";
  for (const Figure& figure : figures(run)) {
    std::vector<double> values;
    for (const SystemResult& r : run.results) values.push_back(figure.of(r.statistics));
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) continue;
    text += fmt::format("  {:<24}", figure.name);
    for (const double v : values) text += fmt::format(" {:>15.0f}", v);
    if (values.size() == 2)
      text += values[0] > 0 ? fmt::format(" {:>9.2f}", values[1] / values[0]) : fmt::format(" {:>9}", "-");
    text += "\n";
  }
  return text;
}

}  // namespace

std::string_view word(SimulationEnd end) {
  constexpr std::array<std::string_view, 6> words{"finished",    "stuck", "failed",
                                                  "interrupted", "limit", "late"};
  return words[static_cast<std::size_t>(end)];
}

std::vector<std::pair<std::string, double>> figures_of(const ComparedRun& run, const SystemResult& result) {
  std::vector<std::pair<std::string, double>> all;
  for (const Figure& figure : figures(run)) {
    const auto has = [&](const SystemResult& r) { return figure.of(r.statistics) != 0; };
    if (std::any_of(run.results.begin(), run.results.end(), has))
      all.emplace_back(figure.name, figure.of(result.statistics));
  }
  return all;
}

WorkloadShape shape_for(const MachineDescription& machine, const SimulationOptions& options) {
  WorkloadShape shape;
  shape.cus = options.cus > 0 ? options.cus : machine.cus;
  shape.agents = machine.agents;
  shape.waves_per_cu = machine.waves_per_cu;
  shape.accesses_per_wave = machine.accesses_per_wave;
  shape.waves_end_kernels = machine.waves_end_kernels;
  shape.words_per_block = machine.words_per_block();
  shape.seed = options.seed;
  return shape;
}

ComparedRun run_workload(const SimulationRequest& request, const std::string& workload,
                         const std::atomic<bool>& interrupted,
                         const std::function<void(const std::string&)>& on_progress) {
  return run_workload(request, find_workload(workload), interrupted, on_progress);
}

ComparedRun run_workload(const SimulationRequest& request, const WorkloadEntry& entry,
                         const std::atomic<bool>& interrupted,
                         const std::function<void(const std::string&)>& on_progress) {
  SimulationOptions options = request.options;
  WorkloadShape shape = shape_for(request.machine, options);
  shape.graphs = request.graphs;
  shape.interrupted = &interrupted;
  for (const WorkloadSize& size : entry.sizes) options.size_names.emplace_back(size.name);
  for (const auto& [size, value] : request.sizes) {
    const bool of_workload = std::any_of(entry.sizes.begin(), entry.sizes.end(),
                                         [&](const WorkloadSize& s) { return s.name == size; });
    (of_workload ? shape.sizes : options.sizes)[size] = value;
  }
  const Workload workload = build_workload(entry, shape);
  ComparedRun run{
      std::string(entry.name), shape.cus, shape.seed, static_cast<int>(workload.outputs.size()), {}};
  run.race = workload.race;
  for (const std::string& system : request.systems) {
    run.results.push_back(run_system(request, workload, system, options, interrupted, on_progress));
    if (run.results.back().end == SimulationEnd::interrupted) break;
  }
  return run;
}

std::string comparison_text(const ComparedRun& run, bool rules) {
  std::string text;
  const std::string where = !run.where.empty()
                                ? run.where
                                : fmt::format("{} CU{}, seed {}", run.cus, run.cus == 1 ? "" : "s", run.seed);
  if (run.results.size() == 1) {
    const SystemResult& r = run.results.front();
    text += fmt::format("Sim {} on {}: {}\n", run.workload, r.system, where);
    text += statistics_text(r.statistics, rules);
    text += fmt::format("  {:<14} {}\n", "Results", verdict(run, r));
    return text + race_text(run, 14) + borrowed_text(r) + "\n";
  }
  text += fmt::format("Sim {}: {}\n", run.workload, where);
  text += side_by_side(run);
  for (const SystemResult& r : run.results)
    text += fmt::format("  Results on {}: {}\n", r.system, verdict(run, r));
  text += race_text(run, 0);
  for (const SystemResult& r : run.results) text += borrowed_text(r);
  for (const SystemResult& r : run.results) {
    if (r.statistics.profile) text += fmt::format("  On {}\n{}", r.system, profile_text(r.statistics));
  }
  return text + "\n";
}

nlohmann::ordered_json comparison_json(const std::string& machine, const std::vector<ComparedRun>& runs) {
  nlohmann::ordered_json json;
  json["schema"] = "lockstep.sim/1";
  json["machine"] = machine;
  json["runs"] = nlohmann::ordered_json::array();
  for (const ComparedRun& run : runs) {
    for (const SystemResult& r : run.results) {
      nlohmann::ordered_json one;
      one["workload"] = run.workload;
      one["cus"] = run.cus;
      one["seed"] = run.seed;
      one["end"] = word(r.end);
      one["words_checked"] = run.checked;
      one["words_wrong"] = r.wrong;
      if (!run.race.empty()) one["race"] = run.race;
      if (!r.waiting.empty()) one["waiting"] = r.waiting;
      if (!r.described_in.empty()) one["described_in"] = r.described_in;
      one.update(statistics_json(r.statistics));
      json["runs"].push_back(std::move(one));
    }
  }
  return json;
}

std::string epochs_csv(const std::vector<ComparedRun>& runs) {
  std::set<std::string> names;
  const auto for_each_epoch = [&](auto&& f) {
    for (const ComparedRun& run : runs) {
      for (const SystemResult& r : run.results) {
        if (!r.statistics.profile) continue;
        for (const Statistics::Epoch& epoch : r.statistics.profile->epochs) f(run, r, epoch);
      }
    }
  };
  for_each_epoch([&](const auto&, const auto&, const Statistics::Epoch& epoch) {
    for (const auto& [name, value] : epoch.counters) names.insert(name);
  });
  std::string text = "workload,system,from,to";
  for (const std::string& name : names) text += "," + csv_quoted(name);
  text += "\n";
  for_each_epoch([&](const ComparedRun& run, const SystemResult& r, const Statistics::Epoch& epoch) {
    text += fmt::format("{},{},{:.0f},{:.0f}", csv_quoted(run.workload), csv_quoted(r.system), epoch.from,
                        epoch.to);
    for (const std::string& name : names) {
      const auto found = epoch.counters.find(name);
      text += fmt::format(",{}", found == epoch.counters.end() ? 0 : found->second);
    }
    text += "\n";
  });
  return text;
}

// Bars carry their values inside, where no line of the grid runs; the axis goes on to the first line above
// the highest of them.
std::string comparison_svg(const std::vector<ComparedRun>& runs) {
  constexpr int left = 70, top = 64, bottom = 40, height = 260, group = 110, bar = 38;
  constexpr double shortest = 16;  // of a bar that holds its value
  struct Pair {
    std::string workload;
    std::array<double, 2> ratios;  // negative where there is nothing to relate to
  };
  const auto ratio = [](double of, double to) { return to > 0 ? of / to : -1; };
  double most = 1;
  std::vector<Pair> pairs;
  for (const ComparedRun& run : runs) {
    if (run.results.size() < 2) continue;
    const Statistics& base = run.results[0].statistics;
    const Statistics& other = run.results[1].statistics;
    pairs.push_back({run.workload,
                     {ratio(other.cycles, base.cycles), ratio(static_cast<double>(other.memory.writes),
                                                              static_cast<double>(base.memory.writes))}});
    most = std::max({most, pairs.back().ratios[0], pairs.back().ratios[1]});
  }
  double step = 0.2;
  while (most / step > 8) step *= 2;
  const int lines = static_cast<int>(most / step) + 1;
  std::string title;
  if (!pairs.empty()) {
    const ComparedRun& first = runs.front();
    title = fmt::format("{} relative to {}, {} CU{}, seed {}", first.results[1].system,
                        first.results[0].system, first.cus, first.cus == 1 ? "" : "s", first.seed);
  }
  const int width = std::max({left + group * static_cast<int>(pairs.size()) + 20,
                              left + 8 * static_cast<int>(title.size()) + 10, left + 300});
  const auto y = [&](double v) { return top + height - v / (step * lines) * height; };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, top + height + bottom);
  const std::array<std::string_view, 2> colours{"#77aadd", "#ee8866"};
  svg += fmt::format("<text x=\"{}\" y=\"20\" font-size=\"14\">{}</text>\n", left, title);
  svg += fmt::format(
      "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">ratio, lower is "
      "better</text>\n",
      top + height / 2);
  const std::array<std::string_view, 2> names{"run time (cycles)", "DRAM write requests"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int x = left + static_cast<int>(i) * 150;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"33\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"43\">{}</text>\n",
        x, colours[i], x + 14, names[i]);
  }
  for (int i = 0; i <= lines; ++i) {
    const double v = i * step;
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/><text x=\"{}\" "
        "y=\"{:.1f}\" "
        "text-anchor=\"end\">{:.1f}</text>\n",
        left, width - 10, y(v), y(v), left - 6, y(v) + 4, v);
  }
  svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"black\"/>\n", left,
                     width - 10, y(1), y(1));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const int x = left + 15 + group * static_cast<int>(i);
    for (std::size_t j = 0; j < 2; ++j) {
      const int at = x + static_cast<int>(j) * (bar + 4);
      const double value = pairs[i].ratios[j];
      const double tall = value < 0 ? 0 : y(0) - y(value);
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>"
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
          at, y(0) - tall, bar, tall, colours[j], at + bar / 2, y(0) - tall + (tall < shortest ? -3 : 13),
          value < 0 ? "none" : fmt::format("{:.2f}", value));
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x + bar + 2,
                       top + height + 20, pairs[i].workload);
  }
  return svg + "</svg>\n";
}

// A quote in it stands twice.
std::string gnuplot_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

int exit_status_of(const std::vector<ComparedRun>& runs) {
  bool wrong = false;
  for (const ComparedRun& run : runs) {
    for (const SystemResult& r : run.results) {
      if (r.end == SimulationEnd::interrupted) return 130;
      wrong |= r.wrong > 0 || r.end != SimulationEnd::finished;
    }
  }
  return wrong ? 1 : 0;
}

}  // namespace lockstep
