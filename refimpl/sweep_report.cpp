// Sweeps for people and programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "refimpl/sweep.hpp"

namespace lockstep {

namespace {

constexpr std::size_t name_width = 34;

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Lines of at most 79 characters, broken behind commas.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size() - 2) + 2;
    if (!line.empty() && line.size() + end - at > 80) {
      lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = "      ";
    }
    line += text.substr(at, end - at);
    at = end;
  }
  return lines + line + "\n";
}

// Calls f(point, how it was moved) for all points that the sweep is made of.
template <class F>
void for_each_point(const Sweep& sweep, F&& f) {
  f(sweep.base, "as it is");
  for (const SweepPoint& point : sweep.alone) f(point, "alone");
  for (const SweepPoint& point : sweep.together) f(point, sweep.grid ? "grid" : "together");
  for (const SweepPoint& point : sweep.reduced) f(point, "reduced");
}

struct Bounds {
  double least = 0;
  double most = 0;
  std::size_t points = 0;
  std::size_t holding = 0;
};

// Of points that were run, those that `wanted` takes; the base is among them.
template <class Wanted>
Bounds bounds(const Sweep& sweep, const std::vector<SweepPoint>& points, std::size_t system,
              const Wanted& wanted) {
  Bounds b;
  b.least = b.most = sweep.ratio(sweep.base, system);
  for (const SweepPoint& point : points) {
    if (!point.right() || !wanted(point)) continue;
    const double r = sweep.ratio(point, system);
    b.least = std::min(b.least, r);
    b.most = std::max(b.most, r);
    ++b.points;
    b.holding += sweep.sign(point, system) == sweep.sign(sweep.base, system) ? 1 : 0;
  }
  return b;
}

Bounds bounds_alone(const Sweep& sweep, std::size_t assumption, std::size_t system) {
  return bounds(sweep, sweep.alone, system,
                [&](const SweepPoint& point) { return point.choices[assumption].has_value(); });
}

Bounds bounds_together(const Sweep& sweep, std::size_t system) {
  return bounds(sweep, sweep.together, system, [](const SweepPoint&) { return true; });
}

// "4, 8, 16" or "8 to 256".
std::string range_text(const Assumption& a) {
  if (is_range(a)) return fmt::format("{} to {}", a.text(a.least), a.text(a.most));
  std::string text;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    text += (i == 0 ? "" : ", ") + a.text(static_cast<double>(i));
  return text;
}

std::string sign_text(const Sweep& sweep, Sign sign) {
  switch (sign) {
    case Sign::less:
      return "less";
    case Sign::more:
      return "more";
    case Sign::equal:
      return fmt::format("no difference (within {:g} %)", 100 * sweep.within);
  }
  return {};
}

std::string row(const std::string& name, const Bounds& b, const std::string& holds) {
  return fmt::format("  {:<{}} {:>8.2f} {:>8.2f}  {}\n", clipped(name, name_width), name_width, b.least,
                     b.most, holds);
}

// The part of a comparison that a machine file's assumptions decide.
std::string table(const Sweep& sweep, std::size_t system) {
  const bool compared = sweep.systems.size() > 1;
  std::string text = fmt::format("  {:<{}} {:>8} {:>8}  {}\n", "moved alone", name_width, "lowest", "highest",
                                 compared ? "same sign" : "");
  std::vector<std::size_t> quiet;  // that change nothing worth a line
  std::vector<std::pair<double, std::size_t>> by_effect;
  for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
    const Bounds b = bounds_alone(sweep, a, system);
    if (b.points == 0) continue;
    if (b.holding == b.points && b.most - b.least < sweep.within) {
      quiet.push_back(a);
    } else {
      by_effect.emplace_back(std::isfinite(b.most) ? b.least - b.most : std::numeric_limits<double>::lowest(),
                             a);
    }
  }
  std::sort(by_effect.begin(), by_effect.end());
  for (const auto& [effect, a] : by_effect) {
    const Bounds b = bounds_alone(sweep, a, system);
    const std::string holds = compared ? holds_where(sweep, a, system) : "";
    const bool fits = holds.size() <= 24;
    text += row(sweep.assumptions[a].name, b, fits ? holds : "in places");
    if (!fits) text += wrapped("    same sign: " + holds);
    if (holds != "everywhere") text += wrapped("    of " + range_text(sweep.assumptions[a]));
  }
  if (!quiet.empty()) {
    Bounds b = bounds_alone(sweep, quiet.front(), system);
    for (const std::size_t a : quiet) {
      const Bounds one = bounds_alone(sweep, a, system);
      b.least = std::min(b.least, one.least);
      b.most = std::max(b.most, one.most);
    }
    text += row(fmt::format("{}, each", counted(quiet.size(), "other")), b, compared ? "everywhere" : "");
  }
  return text;
}

std::string together_text(const Sweep& sweep, std::size_t system) {
  const Bounds b = bounds_together(sweep, system);
  const auto refused = static_cast<std::size_t>(std::count_if(
      sweep.together.begin(), sweep.together.end(), [](const SweepPoint& p) { return !p.refused.empty(); }));
  std::string text;
  if (b.points > 0) {
    text += row(sweep.grid ? "all combinations" : "all moved at once", b,
                sweep.systems.size() > 1 ? fmt::format("at {} of {}", b.holding, b.points)
                                         : counted(b.points, "point"));
  }
  if (refused > 0) {
    const auto first = std::find_if(sweep.together.begin(), sweep.together.end(),
                                    [](const SweepPoint& p) { return !p.refused.empty(); });
    text += fmt::format("  {} left out, no machine: {}\n", counted(refused, "combination"), first->refused);
  }
  return text;
}

std::string conclusion_text(const Sweep& sweep, std::size_t system) {
  const Conclusion c = conclusion(sweep, system);
  const std::string& name = sweep.systems[system];
  std::string text;
  const std::string claim =
      c.sign == Sign::equal
          ? fmt::format("{} and {}: {} in {}", sweep.systems[0], name, sign_text(sweep, c.sign), sweep.figure)
          : fmt::format("{} has {} {} than {}", name, c.sign == Sign::less ? "fewer" : "more", sweep.figure,
                        sweep.systems[0]);
  if (c.wrong > 0) {
    return fmt::format("  {}: NOTHING FOLLOWS\n  at {} something got stuck or had wrong results\n", claim,
                       counted(c.wrong, "point"));
  }
  if (c.stands() && !sweep.interrupted) {
    return fmt::format("  {}: STANDS\n  at all {}, {:.2f} to {:.2f}; {} moved, all else as it is\n", claim,
                       counted(c.points, "point"), c.least, c.most,
                       counted(sweep.assumptions.size(), "value"));
  }
  if (c.holding == c.points)
    return fmt::format("  {}: at all {}{}\n", claim, counted(c.points, "point"),
                       sweep.interrupted ? " so far" : ", which is too few to say more");
  text += fmt::format("  {}: DOES NOT STAND\n  at {} of {} points, {:.2f} to {:.2f}", claim, c.holding,
                      c.points, c.least, c.most);
  if (c.turns_on.empty()) {
    const auto few = sweep.fewest.find(system);
    if (few == sweep.fewest.end())
      return text + (sweep.grid ? "\n" : "; it turns on several values together\n");
    text += fmt::format("; it turns on several\n  values together: {:.2f}, {} with\n",
                        sweep.ratio(few->second, system), sign_text(sweep, sweep.sign(few->second, system)));
    for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
      if (const auto choice = few->second.choices[a])
        text += fmt::format("    {}: {}\n", sweep.assumptions[a].name, sweep.assumptions[a].text(*choice));
    }
    return text;
  }
  text += "; it turns on\n";
  for (const std::size_t a : c.turns_on) text += fmt::format("    {}\n", sweep.assumptions[a].name);
  return text;
}

// What went wrong at some point, with the settings to see it again.
std::string failures_text(const Sweep& sweep) {
  std::string text;
  for_each_point(sweep, [&](const SweepPoint& point, const char*) {
    for (const SweepPoint::Result& r : point.results) {
      if (r.end == "finished" && r.wrong == 0) continue;
      text += fmt::format("  {} on {}: {}", sweep.workload, r.system,
                          r.wrong > 0 ? fmt::format("WRONG, {} words", r.wrong) : r.end);
      text +=
          point.settings.empty() ? " as it is\n" : fmt::format(" with {}\n", fmt::join(point.settings, " "));
    }
  });
  return text;
}

nlohmann::ordered_json point_json(const Sweep& sweep, const SweepPoint& point) {
  nlohmann::ordered_json json;
  json["moved"] = nlohmann::ordered_json::object();
  for (std::size_t a = 0; a < point.choices.size(); ++a) {
    if (point.choices[a])
      json["moved"][sweep.assumptions[a].name] = sweep.assumptions[a].text(*point.choices[a]);
  }
  json["settings"] = point.settings;
  if (!point.refused.empty()) json["refused"] = point.refused;
  json["results"] = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < point.results.size(); ++s) {
    const SweepPoint::Result& r = point.results[s];
    json["results"].push_back({{"system", r.system},
                               {"end", r.end},
                               {"words_wrong", r.wrong},
                               {"ratio", sweep.ratio(point, s)},
                               {"figures", r.figures}});
  }
  return json;
}

constexpr std::array<std::string_view, 3> sign_names{"less", "equal", "more"};

}  // namespace

std::string sweep_text(const Sweep& sweep) {
  std::string text =
      fmt::format("Sweep {}{}: {}\n", sweep.workload,
                  sweep.systems.size() == 1 ? " on " + sweep.systems.front() : "", sweep.where);
  if (!sweep.base.done()) return text + "  interrupted before anything had run\n\n";
  if (!sweep.base.right())
    return text + "  NOTHING FOLLOWS: the machine as it is\n" + failures_text(sweep) + "\n";
  for (std::size_t s = sweep.systems.size() == 1 ? 0 : 1; s < sweep.systems.size(); ++s) {
    const double base = sweep.ratio(sweep.base, s);
    text +=
        sweep.systems.size() == 1
            ? fmt::format("  {}, relative to the {:.0f} of the machine as it is\n", sweep.figure,
                          sweep.base.results[0].figures.contains(sweep.figure)
                              ? sweep.base.results[0].figures.at(sweep.figure)
                              : 0.0)
            : fmt::format("  {} of {}, relative to {}\n", sweep.figure, sweep.systems[s], sweep.systems[0]);
    if (!sweep.grid) {
      text += row("the machine as it is", {base, base, 1, 1},
                  sweep.systems.size() > 1 ? sign_text(sweep, sweep.sign(sweep.base, s)) : "");
      text += table(sweep, s);
    }
    text += together_text(sweep, s);
    if (sweep.systems.size() > 1) text += conclusion_text(sweep, s);
  }
  text += failures_text(sweep);
  if (sweep.interrupted) text += "  interrupted: of the points so far\n";
  return text + "\n";
}

nlohmann::ordered_json sweep_json(const Sweep& sweep) {
  nlohmann::ordered_json json;
  json["workload"] = sweep.workload;
  json["where"] = sweep.where;
  json["systems"] = sweep.systems;
  json["figure"] = sweep.figure;
  json["within"] = sweep.within;
  json["interrupted"] = sweep.interrupted;
  json["seconds"] = sweep.seconds;
  json["assumed"] = nlohmann::ordered_json::array();
  for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
    const Assumption& assumption = sweep.assumptions[a];
    nlohmann::ordered_json one{{"name", assumption.name}, {"range", range_text(assumption)}};
    if (!assumption.why.empty()) one["why"] = assumption.why;
    one["entries"] = nlohmann::ordered_json::array();
    for (const Assumption::Entry& entry : assumption.entries) one["entries"].push_back(entry.path);
    for (std::size_t s = 1; s < sweep.systems.size() && sweep.base.right() && !sweep.grid; ++s)
      one["same_sign"][sweep.systems[s]] = holds_where(sweep, a, s);
    json["assumed"].push_back(std::move(one));
  }
  json["conclusions"] = nlohmann::ordered_json::array();
  for (std::size_t s = 1; s < sweep.systems.size() && sweep.base.done(); ++s) {
    const Conclusion c = conclusion(sweep, s);
    nlohmann::ordered_json one{{"system", sweep.systems[s]},
                               {"than", sweep.systems[0]},
                               {"sign", sign_names[static_cast<std::size_t>(c.sign)]},
                               {"stands", c.stands() && !sweep.interrupted},
                               {"points", c.points},
                               {"holding", c.holding},
                               {"wrong", c.wrong},
                               {"least", c.least},
                               {"most", c.most}};
    one["turns_on"] = nlohmann::ordered_json::array();
    for (const std::size_t a : c.turns_on) one["turns_on"].push_back(sweep.assumptions[a].name);
    if (const auto few = sweep.fewest.find(s); few != sweep.fewest.end())
      one["fewest"] = point_json(sweep, few->second);
    json["conclusions"].push_back(std::move(one));
  }
  json["base"] = point_json(sweep, sweep.base);
  for (const auto& [name, points] : {std::pair("alone", &sweep.alone), std::pair("together", &sweep.together),
                                     std::pair("reduced", &sweep.reduced)}) {
    json[name] = nlohmann::ordered_json::array();
    for (const SweepPoint& point : *points) {
      if (point.done() || !point.refused.empty()) json[name].push_back(point_json(sweep, point));
    }
  }
  return json;
}

std::string sweep_csv(const std::vector<Sweep>& sweeps) {
  std::set<std::string> figures;
  std::vector<std::string> assumed;
  const auto each = [&](const auto& look) {
    for (const Sweep& sweep : sweeps)
      for_each_point(sweep, [&](const SweepPoint& point, const char* moved) { look(sweep, point, moved); });
  };
  each([&](const Sweep&, const SweepPoint& point, const char*) {
    for (const SweepPoint::Result& r : point.results) {
      for (const auto& [name, value] : r.figures) figures.insert(name);
    }
  });
  for (const Sweep& sweep : sweeps) {
    for (const Assumption& a : sweep.assumptions) {
      if (std::find(assumed.begin(), assumed.end(), a.name) == assumed.end()) assumed.push_back(a.name);
    }
  }
  std::string text = "workload,system,moved,end,words wrong";
  for (const std::string& name : assumed) text += "," + csv_quoted(name);
  for (const std::string& name : figures) text += "," + csv_quoted(name);
  text += "\n";
  each([&](const Sweep& sweep, const SweepPoint& point, const char* moved) {
    for (const SweepPoint::Result& r : point.results) {
      text += fmt::format("{},{},{},{},{}", csv_quoted(sweep.workload), csv_quoted(r.system), moved, r.end,
                          r.wrong);
      for (const std::string& name : assumed) {
        text += ",";
        for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
          if (sweep.assumptions[a].name == name && point.choices[a])
            text += csv_quoted(sweep.assumptions[a].text(*point.choices[a]));
        }
      }
      for (const std::string& name : figures) {
        const auto found = r.figures.find(name);
        text += found == r.figures.end() ? "," : fmt::format(",{}", found->second);
      }
      text += "\n";
    }
  });
  return text;
}

std::string sweep_plot(const Sweep& sweep, const std::string& file) {
  // The widest bars on top, as in a tornado diagram.
  struct Bar {
    std::string name;
    Bounds bounds;
  };
  std::vector<Bar> bars;
  for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
    const Bounds b = bounds_alone(sweep, a, 1);
    if (b.points > 0) bars.push_back({sweep.assumptions[a].name, b});
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
    return a.bounds.most - a.bounds.least < b.bounds.most - b.bounds.least;
  });
  if (const Bounds b = bounds_together(sweep, 1); b.points > 0) bars.push_back({"all moved at once", b});
  std::string data;
  std::string names;
  double least = 1;
  double most = 1;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bounds& b = bars[i].bounds;
    data += fmt::format("{} {} {} {}\n", (b.least + b.most) / 2, i, b.least, b.most);
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_quoted(bars[i].name), i);
    least = std::min(least, b.least);
    most = std::max(most, b.most);
  }
  const double margin = 0.05 * (most - least) + 0.01;
  const double base = sweep.ratio(sweep.base, 1);
  std::string text = fmt::format("set terminal svg size 900,{} font 'sans-serif,12' background 'white'\n",
                                 120 + 22 * bars.size());
  text += fmt::format("set output '{}'\n", file);
  text +=
      fmt::format("set title {} noenhanced\n",
                  gnuplot_quoted(fmt::format("{}: {} of {}, relative to {} ({})", sweep.workload,
                                             sweep.figure, sweep.systems[1], sweep.systems[0], sweep.where)));
  text += fmt::format("set ytics ({}) noenhanced\nset yrange [-0.7:{}]\n", names,
                      static_cast<double>(bars.size()) - 0.3);
  text += fmt::format("set xrange [{}:{}]\nset grid xtics\nset style fill solid 0.8 noborder\n",
                      least - margin, most + margin);
  text += fmt::format("set arrow from 1,graph 0 to 1,graph 1 nohead front lw 1.5 lc 'black'\n");
  text += fmt::format("set arrow from {0},graph 0 to {0},graph 1 nohead front dt 2 lc 'black'\n", base);
  text += "set xlabel 'ratio; dashed: the machine as it is'\nunset key\n";
  text += "plot '-' using 1:2:3:4:($2-0.35):($2+0.35) with boxxyerror lc rgb '#77aadd'\n" + data + "e\n";
  return text;
}

int exit_status_of(const std::vector<Sweep>& sweeps) {
  bool wrong = false;
  for (const Sweep& sweep : sweeps) {
    if (sweep.interrupted) return 130;
    wrong = wrong || !failures_text(sweep).empty();
  }
  return wrong ? 1 : 0;
}

}  // namespace lockstep
