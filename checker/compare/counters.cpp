#include "checker/compare/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "checker/support/diagnostic.hpp"

namespace lockstep::compare {

namespace {

using nlohmann::json;
using Counters = std::map<std::string, double>;

// Said of a run, not counted in it.
const std::set<std::string> not_counted{"cus", "seed", "words_checked", "words_wrong"};

// "caches" of several things are known apart by what each says of itself in words.
std::string label(const json& one, std::size_t index) {
  std::string words;
  if (one.is_object()) {
    for (const auto& [key, value] : one.items()) {
      if (value.is_string()) words += (words.empty() ? "" : " ") + value.get<std::string>();
    }
  }
  return words.empty() ? std::to_string(index) : words;
}

void collect(const json& value, const std::string& name, Counters& into) {
  const auto below = [&](const std::string& key) { return name.empty() ? key : name + " " + key; };
  if (value.is_number()) {
    into[name] += value.get<double>();
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items()) collect(one, below(key), into);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], below(label(value[i], i)), into);
  }
}

Counters counters_of(const json& run) {
  Counters all;
  for (const auto& [key, value] : run.items()) {
    if (!not_counted.contains(key)) collect(value, key, all);
  }
  return all;
}

const json* run_of(const json& document, const std::string& workload, const std::string& system) {
  for (const json& run : document.at("runs")) {
    if (run.at("workload") == workload && run.at("system") == system) return &run;
  }
  return nullptr;
}

WorkloadCounters compared(const Both<const json*>& runs, const std::string& workload) {
  WorkloadCounters found;
  found.workload = workload;
  Both<Counters> counters;
  std::set<std::string> names;
  for (const std::size_t side : {0U, 1U}) {
    found.end[side] = runs[side]->at("end").get<std::string>();
    found.wrong[side] = runs[side]->at("words_wrong").get<int>();
    counters[side] = counters_of(*runs[side]);
    for (const auto& [name, value] : counters[side]) names.insert(name);
  }
  found.counters = names.size();
  for (const std::string& name : names) {
    // What one side never counted is 0 there.
    const Moved one{name, {counters[0][name], counters[1][name]}};
    if (one.values[0] != one.values[1]) found.moved.push_back(one);
  }
  std::stable_sort(found.moved.begin(), found.moved.end(), [](const Moved& a, const Moved& b) {
    if ((a.counter == "cycles") != (b.counter == "cycles")) return a.counter == "cycles";
    return a.by() > b.by();
  });
  return found;
}

std::string change_text(const Moved& moved) {
  if (moved.values[0] == 0) return "new";
  return fmt::format("{:+.1f} %", (moved.values[1] / moved.values[0] - 1) * 100);
}

}  // namespace

double Moved::by() const {
  const double less = std::min(values[0], values[1]);
  return less == 0 ? std::numeric_limits<double>::infinity() : std::max(values[0], values[1]) / less - 1;
}

bool WorkloadCounters::differ() const {
  return !moved.empty() || end[0] != end[1] || wrong[0] != wrong[1];
}

bool CounterReport::differ() const {
  return std::any_of(workloads.begin(), workloads.end(), [](const auto& one) { return one.differ(); });
}

CounterReport compare_counters(const Both<json>& simulated, const Both<std::string>& systems) {
  CounterReport report;
  report.names = systems;
  try {
    report.machine = simulated[0].at("machine").get<std::string>();
    for (const json& run : simulated[0].at("runs")) {
      const auto workload = run.at("workload").get<std::string>();
      const Both<const json*> runs{run_of(simulated[0], workload, systems[0]),
                                   run_of(simulated[1], workload, systems[1])};
      if (runs[0] != &run || runs[1] == nullptr) continue;
      report.workloads.push_back(compared(runs, workload));
    }
  } catch (const json::exception& error) {
    throw BadInput(fmt::format("the simulations' figures cannot be read: {}", error.what()));
  }
  return report;
}

std::string counters_text(const CounterReport& report) {
  constexpr std::size_t most_shown = 8;
  constexpr std::size_t name_width = 42;
  std::string text =
      fmt::format("Simulated on {}: {} and {}\n", report.machine, report.names[0], report.names[1]);
  for (const WorkloadCounters& one : report.workloads) {
    text += fmt::format("  {}: {} of {} counters moved\n", one.workload, one.moved.size(), one.counters);
    for (const std::size_t side : {0U, 1U}) {
      if (one.end[side] != "finished")
        text += fmt::format("    {} is {}\n", report.names[side], one.end[side]);
      if (one.wrong[side] > 0)
        text += fmt::format("    {} words wrong on {}\n", one.wrong[side], report.names[side]);
    }
    const std::size_t shown = std::min(most_shown, one.moved.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Moved& moved = one.moved[i];
      std::string name = moved.counter;
      if (name.size() > name_width) name = name.substr(0, name_width - 3) + "...";
      text += fmt::format("    {:<{}} {:>10.10g} {:>10.10g} {:>9}\n", name, name_width, moved.values[0],
                          moved.values[1], change_text(moved));
    }
    if (one.moved.size() > shown)
      text += fmt::format("    and {} more (--json has all)\n", one.moved.size() - shown);
  }
  return text;
}

json counters_json(const CounterReport& report) {
  json all{{"machine", report.machine}, {"workloads", json::array()}};
  for (const WorkloadCounters& one : report.workloads) {
    json moved = json::array();
    for (const Moved& counter : one.moved)
      moved.push_back({{"counter", counter.counter}, {"values", counter.values}});
    all["workloads"].push_back({{"workload", one.workload},
                                {"end", one.end},
                                {"words_wrong", one.wrong},
                                {"counters", one.counters},
                                {"moved", std::move(moved)}});
  }
  return all;
}

}  // namespace lockstep::compare
