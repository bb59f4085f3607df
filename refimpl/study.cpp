#include "refimpl/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "refimpl/section.hpp"

namespace lockstep {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> texts(FileSection& section, const std::string& key) {
  std::vector<std::string> found;
  for (const toml::node& node : section.list(key)) {
    if (!node.is_string()) section.fail(node, fmt::format("'{}' is a list of names", key));
    found.push_back(**node.as_string());
  }
  return found;
}

template <class F>
void each_of(FileSection& root, const MachineDescription& where, const std::string& key, F&& f) {
  for (const toml::node& node : root.list(key)) {
    if (!node.is_table()) root.fail(node, fmt::format("'{}' are sections: say [[{}]]", key, key));
    FileSection one(where, *node.as_table(), key);
    f(one);
    one.done();
  }
}

std::vector<std::string> sizes_of(FileSection& section) {
  std::vector<std::string> sizes;
  section.entries("sizes", [&](const std::string& size, const toml::node& node) {
    if (!node.is_integer() || **node.as_integer() < 0)
      section.fail(node, fmt::format("size '{}' is no whole number", size));
    sizes.push_back(fmt::format("{}={}", size, **node.as_integer()));
  });
  return sizes;
}

// In place of the systems that are compared.
void read_programs(FileSection& root, const MachineDescription& where, Study& study) {
  root.ask("programs");
  if (!root.has("programs")) return;
  if (study.systems.size() != 1) root.fail_at("systems", "programs are compared on one system");
  study.on = study.systems.front();
  study.systems.clear();
  each_of(root, where, "programs", [&](FileSection& one) {
    Study::Program program{one.text("name"), one.text("workload"), {}};
    if (std::find(study.systems.begin(), study.systems.end(), program.name) != study.systems.end())
      one.fail_at("name", fmt::format("'{}' is there twice", program.name));
    program.sizes = sizes_of(one);
    study.systems.push_back(program.name);
    study.programs.push_back(std::move(program));
  });
}

std::string number(double ratio) {
  if (std::isnan(ratio)) return "-";
  return fmt::format("{:.2f}", ratio);
}

// "1.04", "1.04 0.98-1.2", with a ~ where the sign is not the same at every point.
std::string cell(double ratio, const Conclusion& c, bool ranges) {
  if (!ranges || std::isnan(ratio)) return number(ratio);
  return fmt::format("{} {:.2f}-{:.2f}{}", number(ratio), c.least, c.most, c.stands() ? " " : "~");
}

bool with_ranges(const std::vector<Sweep>& sweeps) {
  return std::any_of(sweeps.begin(), sweeps.end(),
                     [](const Sweep& s) { return !s.alone.empty() || !s.together.empty(); });
}

std::string rows_of(const Study& study, const Study::Panel& panel, const std::vector<Sweep>& sweeps) {
  const bool ranges = with_ranges(sweeps);
  // Five of them, numbered, within 80 columns.
  const bool many = study.systems.size() > 4;
  const int width = ranges ? 17 : many ? 10 : 16;
  const PanelRatios ratios = ratios_of(study, panel, sweeps);
  const bool named = std::all_of(study.systems.begin() + 1, study.systems.end(), [&](const std::string& s) {
    return s.size() < static_cast<std::size_t>(width);
  });
  std::string text = fmt::format("\n{}: {}\n", panel.title, panel.figure);
  for (std::size_t s = 1; s < study.systems.size() && !named; ++s)
    text += fmt::format("  ({}) {}\n", s, study.systems[s]);
  text += fmt::format("  {:26}", "");
  for (std::size_t s = 1; s < study.systems.size(); ++s)
    text += fmt::format("{:>{}}", named ? study.systems[s] : fmt::format("({})", s), width);
  text += "\n";
  for (std::size_t b = 0; b < sweeps.size(); ++b) {
    text += fmt::format("  {:26.26}", study.bars[b].name());
    for (std::size_t s = 1; s < study.systems.size(); ++s)
      text += fmt::format("{:>{}}", cell(ratios.bars[b][s], ratios.conclusions[b][s], ranges), width);
    text += "\n";
  }
  const auto line = [&](const std::string& name, const auto& value) {
    text += fmt::format("  {:26}", name);
    for (std::size_t s = 1; s < study.systems.size(); ++s) text += fmt::format("{:>{}}", value(s), width);
    text += "\n";
  };
  line("geometric mean", [&](std::size_t s) { return number(ratios.mean[s]); });
  if (panel.paper.empty()) return text;
  const auto printed = [&](std::size_t s) { return panel.paper_of(study.systems[s]); };
  line("the paper's, of its own", [&](std::size_t s) { return number(printed(s)); });
  line("ours to the paper's", [&](std::size_t s) { return number(ratios.mean[s] / printed(s)); });
  return text;
}

}  // namespace

std::string Study::Bar::name() const {
  if (!title.empty()) return title;
  return sizes.empty() ? workload : fmt::format("{} {}", workload, fmt::join(sizes, " "));
}

bool Study::Panel::is_of(const std::string& system) const {
  return systems.empty() || std::find(systems.begin(), systems.end(), system) != systems.end();
}

double Study::Panel::paper_of(const std::string& system) const {
  const auto found = paper.find(system);
  return found == paper.end() ? none : found->second;
}

Study parse_study(std::string_view text, const std::string& file) {
  MachineDescription where;  // for places in messages
  const toml::table table = parsed(text, file, where);
  FileSection root(where, table, "");
  Study study;
  study.name = std::filesystem::path(file).stem().string();
  study.title = root.text("title");
  study.source = root.text("source");
  study.machine = root.text("machine");
  study.cycles = root.whole("cycles", 1, std::uint64_t{1} << 50, 0);
  root.ask("settings");
  if (root.has("settings")) study.settings = texts(root, "settings");
  study.systems = texts(root, "systems");
  read_programs(root, where, study);
  if (study.systems.size() < 2) root.fail_at("systems", "a study compares two systems or programs at least");
  root.ask("missing");
  if (root.has("missing")) study.missing = texts(root, "missing");
  each_of(root, where, "panels", [&](FileSection& one) {
    Study::Panel panel{one.text("title"), one.text("figure"), {}, {}};
    one.ask("systems");
    if (one.has("systems")) panel.systems = texts(one, "systems");
    for (const std::string& system : panel.systems) {
      if (std::find(study.systems.begin(), study.systems.end(), system) == study.systems.end())
        one.fail_at("systems", fmt::format("'{}' is none of the systems", system));
    }
    one.entries("paper", [&](const std::string& system, const toml::node& node) {
      if (std::find(study.systems.begin(), study.systems.end(), system) == study.systems.end())
        one.fail(node, fmt::format("'{}' is none of the systems", system), suggestion(system, study.systems));
      const std::optional<double> ratio = node.value<double>();
      if (!ratio || !(*ratio > 0)) one.fail(node, fmt::format("'{}' is no ratio", system));
      panel.paper[system] = *ratio;
    });
    study.panels.push_back(std::move(panel));
  });
  each_of(root, where, "bars", [&](FileSection& one) {
    Study::Bar bar;
    if (study.programs.empty()) bar.workload = one.text("workload");
    bar.title = one.text("title", "");
    bar.sizes = sizes_of(one);
    one.ask("settings");
    if (one.has("settings")) bar.settings = texts(one, "settings");
    study.bars.push_back(std::move(bar));
  });
  root.done();
  return study;
}

PanelRatios ratios_of(const Study& study, const Study::Panel& panel, const std::vector<Sweep>& sweeps) {
  PanelRatios ratios;
  ratios.mean.assign(study.systems.size(), none);
  for (Sweep sweep : sweeps) {
    sweep.figure = panel.figure;
    std::vector<double> bar(study.systems.size(), none);
    std::vector<Conclusion> conclusions(study.systems.size());
    for (std::size_t s = 0; s < bar.size(); ++s) {
      if (!panel.is_of(study.systems[s]) || !sweep.base.right(s)) continue;
      if (sweep.base.results[0].figures.count(panel.figure) == 0) continue;
      const double ratio = sweep.ratio(sweep.base, s);
      if (!std::isfinite(ratio)) continue;
      bar[s] = ratio;
      conclusions[s] = conclusion(sweep, s);
    }
    ratios.bars.push_back(std::move(bar));
    ratios.conclusions.push_back(std::move(conclusions));
  }
  for (std::size_t s = 0; s < study.systems.size(); ++s) {
    double logarithms = 0;
    int counted = 0;
    for (const std::vector<double>& bar : ratios.bars) {
      if (std::isnan(bar[s])) continue;
      logarithms += std::log(bar[s]);  // of 0 there is none, nor a mean
      ++counted;
    }
    if (counted > 0 && std::isfinite(logarithms)) ratios.mean[s] = std::exp(logarithms / counted);
  }
  return ratios;
}

std::string study_text(const Study& study, const std::vector<Sweep>& sweeps) {
  std::string text = fmt::format("Study {}: {}\n  {}\n", study.name, study.title, study.source);
  if (!sweeps.empty())
    text += fmt::format("  {}{}; ratios to {}\n", study.on.empty() ? "" : study.on + ", ",
                        sweeps.front().where, study.systems.front());
  for (const Study::Panel& panel : study.panels) text += rows_of(study, panel, sweeps);
  text += "\n";
  if (std::any_of(sweeps.begin(), sweeps.end(), [](const Sweep& s) { return s.interrupted; }) ||
      sweeps.size() < study.bars.size())
    text += fmt::format("Interrupted: {} of {} bars were begun, and means are of those.\n", sweeps.size(),
                        study.bars.size());
  if (!study.missing.empty())
    text += fmt::format("Not here, and in the paper: {}.\n", fmt::join(study.missing, ", "));
  for (std::size_t b = 0; b < sweeps.size(); ++b) {
    for (const SweepPoint::Result& r : sweeps[b].base.results) {
      if (r.end != "finished" || r.wrong > 0)
        text += fmt::format("{} on {}: {}\n", study.bars[b].name(), r.system,
                            r.wrong > 0 ? fmt::format("{} results are wrong", r.wrong) : r.end);
    }
  }
  text += with_ranges(sweeps)
              ? "Ranges are over what the machine file assumes; ~ where the sign is not the same\n"
                "at every point: nothing is to be concluded from such a bar.\n"
              : "As the machine file stands, with values that nobody knows: nothing is to be\n"
                "concluded from these bars. Without --quick each comes with its range.\n";
  return text;
}

nlohmann::ordered_json study_json(const Study& study, const std::vector<Sweep>& sweeps) {
  nlohmann::ordered_json json{{"schema", "lockstep.study/1"}, {"study", study.name},
                              {"title", study.title},         {"source", study.source},
                              {"machine", study.machine},     {"systems", study.systems},
                              {"missing", study.missing}};
  if (!study.on.empty()) json["on"] = study.on;
  for (const Study::Panel& panel : study.panels) {
    const PanelRatios ratios = ratios_of(study, panel, sweeps);
    nlohmann::ordered_json one{{"title", panel.title}, {"figure", panel.figure}, {"paper", panel.paper}};
    one["bars"] = nlohmann::ordered_json::array();
    for (std::size_t b = 0; b < sweeps.size(); ++b) {
      nlohmann::ordered_json bar{{"workload", study.bars[b].workload}, {"sizes", study.bars[b].sizes}};
      if (!study.bars[b].title.empty()) bar["title"] = study.bars[b].title;
      if (!study.bars[b].settings.empty()) bar["settings"] = study.bars[b].settings;
      for (std::size_t s = 1; s < study.systems.size(); ++s) {
        const double ratio = ratios.bars[b][s];
        nlohmann::ordered_json value{{"ratio", nullptr}};
        if (!std::isnan(ratio)) {
          const Conclusion& c = ratios.conclusions[b][s];
          value["ratio"] = ratio;
          value["least"] = c.least;
          value["most"] = c.most;
          value["points"] = c.points;
          value["same_sign"] = c.holding;
          value["stands"] = c.stands();
        }
        bar["systems"][study.systems[s]] = std::move(value);
      }
      one["bars"].push_back(std::move(bar));
    }
    for (std::size_t s = 1; s < study.systems.size(); ++s) {
      if (!std::isnan(ratios.mean[s])) one["geometric_mean"][study.systems[s]] = ratios.mean[s];
    }
    json["panels"].push_back(std::move(one));
  }
  json["sweeps"] = nlohmann::ordered_json::array();
  for (const Sweep& sweep : sweeps) json["sweeps"].push_back(sweep_json(sweep));
  return json;
}

std::string study_plot(const Study& study, const std::vector<Sweep>& sweeps, const std::string& file) {
  const auto quoted = [](std::string text) {
    std::replace(text.begin(), text.end(), '"', '\'');
    return "\"" + text + "\"";
  };
  std::string text = fmt::format(
      "set terminal svg size 960,{} font 'sans,11' background rgb 'white'\nset output {}\n"
      "set multiplot layout {},1 title {}\n"
      "set style data histogram\nset style histogram errorbars gap 1 lw 1\nset style fill solid 0.8 border "
      "-1\n"
      "set boxwidth 0.9\nset yrange [0:*]\nset ylabel {}\nset xtics rotate by -20 noenhanced\n"
      "set key outside right noenhanced\nset grid ytics\nset offsets 0, 0, graph 0.05, 0\n",
      60 + 320 * study.panels.size(), quoted(file), study.panels.size(),
      quoted(fmt::format("{} ({})", study.title, study.source)),
      quoted("relative to " + study.systems.front()));
  for (std::size_t p = 0; p < study.panels.size(); ++p) {
    const Study::Panel& panel = study.panels[p];
    const PanelRatios ratios = ratios_of(study, panel, sweeps);
    text += fmt::format("$data{} << EOD\n", p);
    for (std::size_t b = 0; b < sweeps.size(); ++b) {
      text += quoted(study.bars[b].name());
      for (std::size_t s = 1; s < study.systems.size(); ++s) {
        const double ratio = ratios.bars[b][s];
        if (std::isnan(ratio)) {
          text += " ? ? ?";
          continue;
        }
        const Conclusion& c = ratios.conclusions[b][s];
        text += fmt::format(" {} {} {}", ratio, std::min(c.least, ratio), std::max(c.most, ratio));
      }
      text += "\n";
    }
    const auto line = [&](const std::string& name, const auto& value) {
      text += quoted(name);
      for (std::size_t s = 1; s < study.systems.size(); ++s) {
        const double v = value(s);
        text += std::isnan(v) ? " ? ? ?" : fmt::format(" {0} {0} {0}", v);
      }
      text += "\n";
    };
    line("geometric mean", [&](std::size_t s) { return ratios.mean[s]; });
    if (!panel.paper.empty()) {
      line("the paper's mean", [&](std::size_t s) { return panel.paper_of(study.systems[s]); });
    }
    text += fmt::format("EOD\nset title {} noenhanced\nplot", quoted(panel.title));
    for (std::size_t s = 1; s < study.systems.size(); ++s) {
      const std::size_t column = 2 + 3 * (s - 1);
      text += fmt::format("{} $data{} using {}:{}:{}:xtic(1) title {}", s > 1 ? "," : "", p, column,
                          column + 1, column + 2, quoted(study.systems[s]));
    }
    text += "\n";
  }
  return text + "unset multiplot\n";
}

}  // namespace lockstep
