#include "refimpl/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {

namespace {

using Point = Roofline::Point;

double counted(const Statistics::Counters& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::string name_of(const Point& p, bool workloads) {
  if (p.kernel.empty()) return p.workload;
  return workloads ? fmt::format("{}: {}", p.workload, p.kernel) : p.kernel;
}
bool has_several_workloads(const Roofline& roofline) {
  return std::any_of(roofline.points.begin(), roofline.points.end(),
                     [&](const Point& p) { return p.workload != roofline.points.front().workload; });
}
std::vector<std::string> systems_of(const Roofline& roofline) {
  std::vector<std::string> all;
  for (const Point& p : roofline.points) {
    if (std::find(all.begin(), all.end(), p.system) == all.end()) all.push_back(p.system);
  }
  return all;
}

}  // namespace

bool Point::by_memory() const {
  return bytes * issue_peak > per_cycle * memory_peak;
}
double Point::share() const {
  return by_memory() ? bytes / memory_peak : per_cycle / issue_peak;
}

Roofline roofline_of(const std::vector<ComparedRun>& runs) {
  Roofline roofline;
  for (const ComparedRun& run : runs) {
    for (const SystemResult& r : run.results) {
      const Statistics& s = r.statistics;
      const auto add = [&](const std::string& kernel, double cycles, const Statistics::Counters& counters) {
        if (cycles <= 0 || s.issue_peak <= 0 || s.memory.peak <= 0) return;
        roofline.points.push_back(
            {r.system, run.workload, kernel, counted(counters, "issued") / cycles,
             (counted(counters, "DRAM bytes read") + counted(counters, "DRAM bytes written")) / cycles,
             s.issue_peak, s.memory.peak});
      };
      if (!s.profile || s.profile->kernels.empty()) {
        add("", s.drained, counters_of(s));
        continue;
      }
      // What is counted of a kernel has come since the one before it ended.
      std::vector<Statistics::Kernel> kernels = s.profile->kernels;
      std::stable_sort(kernels.begin(), kernels.end(),
                       [](const auto& a, const auto& b) { return a.to < b.to; });
      double before = 0;
      for (const Statistics::Kernel& kernel : kernels) {
        add(kernel.name, kernel.to - before, kernel.counters);
        before = kernel.to;
      }
    }
  }
  return roofline;
}

std::string roofline_text(const Roofline& roofline) {
  if (roofline.points.empty()) return {};
  constexpr std::size_t most_lines = 16;  // of a system
  std::string text = "Roofline\n";
  const bool workloads = has_several_workloads(roofline);
  for (const std::string& system : systems_of(roofline)) {
    std::size_t lines = 0;
    for (const Point& p : roofline.points) {
      if (p.system != system) continue;
      if (lines++ == 0) {
        text += fmt::format("  {}: at most {:.4g} turns and {:.4g} bytes a cycle\n", system, p.issue_peak,
                            p.memory_peak);
        text += fmt::format("    {:<26} {:>9} {:>9} {:>9}  {}\n", "", "turns a", "bytes a", "turns a",
                            "of what is");
        text += fmt::format("    {:<26} {:>9} {:>9} {:>9}  {}\n", "", "cycle", "cycle", "byte", "possible");
      }
      if (lines > most_lines) continue;
      text += fmt::format("    {:<26} {:>9.3f} {:>9.2f} {:>9}  {:>5.1f} %, {}\n",
                          clipped(name_of(p, workloads), 26), p.per_cycle, p.bytes,
                          p.bytes > 0 ? fmt::format("{:.3f}", p.per_byte()) : "-", 100 * p.share(),
                          p.by_memory() ? "by memory" : "by issue");
    }
    if (lines > most_lines) text += fmt::format("    and {} more: --json\n", lines - most_lines);
  }
  return text;
}

nlohmann::ordered_json roofline_json(const Roofline& roofline) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Point& p : roofline.points) {
    nlohmann::ordered_json one{{"system", p.system}, {"workload", p.workload}};
    if (!p.kernel.empty()) one["kernel"] = p.kernel;
    one.update({{"turns_per_cycle", p.per_cycle},
                {"dram_bytes_per_cycle", p.bytes},
                {"most_turns_per_cycle", p.issue_peak},
                {"most_dram_bytes_per_cycle", p.memory_peak},
                {"share", p.share()},
                {"by", p.by_memory() ? "memory" : "issue"}});
    json.push_back(std::move(one));
  }
  return json;
}

std::string roofline_plot(const Roofline& roofline, const std::string& file) {
  // Roofs differ where systems have other units.
  std::vector<std::pair<double, double>> roofs;
  double least = 0;
  double most = 0;
  double lowest = 0;
  double highest = 0;
  const auto widen = [](double& from, double& to, double value) {
    from = from == 0 ? value : std::min(from, value);
    to = std::max(to, value);
  };
  for (const Point& p : roofline.points) {
    const std::pair roof(p.issue_peak, p.memory_peak);
    if (std::find(roofs.begin(), roofs.end(), roof) == roofs.end()) roofs.push_back(roof);
    widen(least, most, p.issue_peak / p.memory_peak);
    widen(lowest, highest, p.issue_peak);
    if (p.bytes <= 0 || p.per_cycle <= 0) continue;
    widen(least, most, p.per_byte());
    widen(lowest, highest, p.per_cycle);
  }
  std::string text =
      fmt::format("set terminal svg size 900,560 font 'sans-serif,12' background 'white'\nset output {}\n",
                  gnuplot_quoted(file));
  const std::vector<std::string> systems = systems_of(roofline);
  const bool workloads = has_several_workloads(roofline);
  text += fmt::format("set title {} noenhanced\n",
                      gnuplot_quoted(roofline.points.empty() ? "Roofline"
                                     : workloads             ? "Roofline, a point for each kernel"
                                                 : "Roofline of " + roofline.points.front().workload));
  text += "set logscale xy\nset grid\nset key inside bottom right noenhanced\n";
  text += "set xlabel 'turns of CUs for each byte of DRAM'\nset ylabel 'turns of CUs a cycle'\n";
  text += fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\nset samples 500\n", least / 4, most * 8,
                      lowest / 4, highest * 2);
  const std::vector<std::string> colours{"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"};
  // A few names can be read; many cannot. Each stands once.
  constexpr std::size_t most_names = 12;
  std::vector<std::string> names;
  std::string labels;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    text += fmt::format("$points{} << EOD\n", i);
    for (const Point& p : roofline.points) {
      if (p.system != systems[i] || p.bytes <= 0 || p.per_cycle <= 0) continue;
      text += fmt::format("{} {}\n", p.per_byte(), p.per_cycle);
      const std::string name = name_of(p, workloads);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      names.push_back(name);
      labels += fmt::format("set label {} at {},{} noenhanced left offset 0.8,-0.5 font ',10'\n",
                            gnuplot_quoted(name), p.per_byte(), p.per_cycle);
    }
    text += "EOD\n";
  }
  if (names.size() <= most_names) text += labels;
  std::string plots;
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const auto& [issue, memory] = roofs[i];
    plots += fmt::format(
        "{}(x*{} < {} ? x*{} : {}) with lines lw 2 lc 'black' dt {} title '{:.4g} turns, {:.4g} bytes a "
        "cycle'",
        i == 0 ? "" : ", ", memory, issue, memory, issue, i + 1, issue, memory);
  }
  for (std::size_t i = 0; i < systems.size(); ++i) {
    plots += fmt::format(", $points{} using 1:2 with points pt {} ps 1 lc rgb '{}' title {}", i,
                         5 + 2 * (i % 5), colours[i % colours.size()], gnuplot_quoted(systems[i]));
  }
  return text + (plots.empty() ? "" : "plot " + plots + "\n");
}

}  // namespace lockstep
