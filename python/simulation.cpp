// The reference simulator.
#include "refimpl/simulation.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "python/objects.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/outcomes.hpp"
#include "refimpl/workloads/workload.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep::python {

namespace {

namespace fs = std::filesystem;

using Systems = std::variant<std::string, std::vector<std::string>>;
using MachineFile = std::optional<fs::path>;

// What simulations are chosen by, whatever runs.
struct Chosen {
  Systems on;
  MachineFile machine;
  py::dict set;
  Sizes sizes;
  std::vector<std::string> faults;
  int cus = 0;
  std::uint64_t seed = 1;
};

// "memory.queue=64"; None takes an entry away.
MachineSettings settings_of(const py::dict& set) {
  MachineSettings settings;
  for (const auto& [path, value] : set) {
    std::string said;
    if (py::isinstance<py::bool_>(value)) {
      said = value.cast<bool>() ? "true" : "false";
    } else if (!value.is_none()) {
      said = py::str(value);
    }
    settings.push_back(path.cast<std::string>() + "=" + said);
  }
  return settings;
}

SimulationChoice choice_of(const Chosen& chosen) {
  SimulationChoice choice;
  if (const auto* const one = std::get_if<std::string>(&chosen.on)) {
    choice.systems = {*one};
  } else {
    choice.systems = std::get<std::vector<std::string>>(chosen.on);
  }
  if (chosen.machine) choice.machine = chosen.machine->string();
  for (const auto& [name, value] : chosen.sizes) choice.sizes.push_back(name + "=" + std::to_string(value));
  choice.faults = chosen.faults;
  choice.settings = settings_of(chosen.set);
  choice.cus = chosen.cus;
  choice.seed = chosen.seed;
  return choice;
}

// A simulation knows no limit of time: at ours it is interrupted, and has the figures so far.
Meanwhile until(const std::optional<double>& timeout) {
  if (!timeout) return {};
  const std::atomic<bool> nobody{false};
  const auto end = std::chrono::steady_clock::now() + LimitArguments{1, timeout, {}}.limits(nobody).time;
  return [end](std::atomic<bool>& interrupted) {
    if (std::chrono::steady_clock::now() >= end) interrupted = true;
  };
}

// ---- one run ----------------------------------------------------------------------------------------------

struct Simulated {
  std::string machine;
  ComparedRun run;

  [[nodiscard]] const SystemResult& of(const std::string& system) const {
    std::vector<std::string> names;
    for (const SystemResult& one : run.results) {
      if (one.system == system) return one;
      names.push_back(one.system);
    }
    throw BadInput("'" + run.workload + "' did not run on '" + system + "'", suggestion(system, names));
  }
};

Simulated simulate(const std::variant<Test, std::string>& workload, const Chosen& chosen,
                   const std::optional<double>& timeout) {
  SimulationChoice choice = choice_of(chosen);
  if (const auto* const test = std::get_if<Test>(&workload)) {
    choice.test = test->test;
  } else {
    choice.workload = std::get<std::string>(workload);
  }
  const Simulation simulation(choice, shipped("litmus").string());
  if (simulation.workloads().size() != 1)
    throw BadInput("'" + choice.workload + "' is several workloads", "simulate them one by one");
  return without_lock(
      [&](const std::atomic<bool>& interrupted) {
        return Simulated{simulation.machine_name(),
                         simulation.run(simulation.workloads().front(), interrupted)};
      },
      until(timeout));
}

py::dict figures(const Simulated& simulated) {
  py::dict systems;
  for (const SystemResult& result : simulated.run.results) {
    py::dict all;
    for (const auto& [name, value] : figures_of(simulated.run, result)) all[text(name)] = value;
    systems[text(result.system)] = all;
  }
  return systems;
}

py::object figures_frame(const Simulated& simulated) {
  std::vector<std::string> columns{"figure"};
  std::vector<std::vector<std::pair<std::string, double>>> all;
  for (const SystemResult& result : simulated.run.results) {
    columns.push_back(result.system);
    all.push_back(figures_of(simulated.run, result));
  }
  py::list rows;
  for (std::size_t i = 0; !all.empty() && i < all.front().size(); ++i) {
    py::list row;
    row.append(text(all.front()[i].first));
    for (const auto& of_system : all) row.append(of_system[i].second);
    rows.append(py::tuple(row));
  }
  return frame(columns, rows).attr("set_index")("figure");
}

// ---- a litmus test, again and again -----------------------------------------------------------------------

struct Sampled {
  Test test;
  TimedTest runs;
};

Sampled sample(const Test& test, const Chosen& chosen, std::size_t runs, int jitter,
               const std::optional<double>& timeout) {
  SimulationChoice choice = choice_of(chosen);
  choice.test = test.test;
  const Simulation simulation(choice, shipped("litmus").string());
  return {test, without_lock(
                    [&](const std::atomic<bool>& interrupted) {
                      return simulation.run_test(runs, jitter, interrupted);
                    },
                    until(timeout))};
}

py::object sampled_frame(const Sampled& sampled) {
  const LitmusTest& test = *sampled.test.test;
  std::vector<std::string> columns{"system"};
  for (const std::string& name : term_names(test)) columns.push_back(name);
  columns.emplace_back("runs");
  py::list rows;
  for (const TimedOutcomes& system : sampled.runs.systems) {
    for (const auto& [outcome, count] : system.outcomes) {
      py::list row;
      row.append(text(system.system));
      for (std::size_t i = 0; i < outcome.size(); ++i) row.append(term_value(test, i, outcome[i]));
      row.append(count);
      rows.append(py::tuple(row));
    }
  }
  return frame(columns, rows);
}

py::dict all_workloads(bool launches) {
  if (launches) return named(launch_workloads());
  py::dict all = named(workloads());
  all.attr("update")(named(sync_programs()));
  return all;
}

}  // namespace

void declare_simulation(py::module_& module) {
  py::class_<Simulated>(module, "Simulation", "A workload on a machine with time, on one system or several.");
  py::class_<Sampled>(module, "Samples", "A litmus test that was run with time again and again.");
}

void define_simulation(py::module_& module) {
  declared<Simulated>(module, "Simulation")
      .def_property_readonly("workload", [](const Simulated& s) { return text(s.run.workload); })
      .def_property_readonly("machine", [](const Simulated& s) { return text(s.machine); })
      .def_property_readonly("systems",
                             [](const Simulated& s) {
                               py::list names;
                               for (const SystemResult& one : s.run.results) names.append(text(one.system));
                               return names;
                             })
      .def_property_readonly(
          "right", [](const Simulated& s) { return exit_status_of({s.run}) == 0; },
          "Whether every system ran to its end, and its results are those that were computed beside it.")
      .def(
          "end", [](const Simulated& s, const std::string& system) { return text(word(s.of(system).end)); },
          "How a system's run ended: 'finished', 'stuck', 'failed', or 'interrupted' where the time was up.",
          py::arg("system"))
      .def(
          "wrong", [](const Simulated& s, const std::string& system) { return s.of(system).wrong; },
          "Locations that do not hold what was computed beside the simulation.", py::arg("system"))
      .def_property_readonly("figures", &figures,
                             "What is put side by side, by system and name: cycles, bytes, requests.")
      .def_property_readonly(
          "counters",
          [](const Simulated& s) {
            py::dict all;
            for (const SystemResult& one : s.run.results)
              all[text(one.system)] = from_json(statistics_json(one.statistics));
            return all;
          },
          "All that was counted, by system: dicts as in the command's JSON (schema lockstep.sim/1).")
      .def("frame", &figures_frame, "The figures as a pandas.DataFrame: a row a figure, a column a system.")
      .def(
          "text", [](const Simulated& s, bool rules) { return text(comparison_text(s.run, rules)); },
          "As the command prints it. rules: of one system, also how often each rule fired.", py::kw_only(),
          py::arg("rules") = false)
      .def("__repr__", [](const Simulated& s) {
        std::string systems;
        for (const SystemResult& one : s.run.results) systems += (systems.empty() ? "" : ", ") + one.system;
        return text("<lockstep.Simulation " + s.run.workload + " on " + systems + ">");
      });
  module.def(
      "simulate",
      [](const std::variant<Test, std::string>& workload, const Systems& on, const MachineFile& machine,
         const py::dict& set, const Sizes& sizes, const std::vector<std::string>& faults, int cus,
         std::uint64_t seed, const std::optional<double>& timeout) {
        return simulate(workload, {on, machine, set, sizes, faults, cus, seed}, timeout);
      },
      R"(Runs a workload with time, on the rules that the checker explores.

workload: a name (lockstep.workloads()), a kernel trace's file, or a litmus test. on: a system's
name, or several side by side. machine: a file (default: refimpl/machines/apu.toml, or
chiplets.toml). set: entries of it, said otherwise: {'memory.queue': 64}; None takes one away.
sizes: of the workload or the protocol. faults: deliberate mistakes. cus: 0: as the machine has.
seed: of data and order. timeout: seconds, after which figures are those so far. Raises BadInput,
with the place in the machine file, on what does not fit.)",
      py::arg("workload"), py::arg("on") = "write-through", py::kw_only(), py::arg("machine") = py::none(),
      py::arg("set") = py::dict(), py::arg("sizes") = py::dict(), py::arg("faults") = py::list(),
      py::arg("cus") = 0, py::arg("seed") = 1, py::arg("timeout") = py::none());
  declared<Sampled>(module, "Samples")
      .def_readonly("test", &Sampled::test)
      .def_property_readonly(
          "counters", [](const Sampled& s) { return from_json(timed_test_json(s.runs)); },
          "As in the command's JSON (schema lockstep.sim/1).")
      .def("frame", &sampled_frame,
           "A pandas.DataFrame with a row for each outcome on each system, and the runs that ended with it.")
      .def(
          "text", [](const Sampled& s) { return text(timed_test_text(s.runs)); }, "As the command prints it.")
      .def("__repr__",
           [](const Sampled& s) { return text("<lockstep.Samples of " + s.test.test->name + ">"); });
  module.def(
      "sample",
      [](const TestArgument& test, const Systems& on, std::size_t runs, int jitter,
         const MachineFile& machine, const py::dict& set, const Sizes& sizes,
         const std::vector<std::string>& faults, int cus, std::uint64_t seed,
         const std::optional<double>& timeout) {
        return sample(test_of(test), {on, machine, set, sizes, faults, cus, seed}, runs, jitter, timeout);
      },
      R"(Runs a litmus test with time again and again, each time with another seed, and counts its outcomes.

runs: so many. jitter: cycles, at most, that anything may take longer, at random. Everything else as
of simulate.)",
      py::arg("test"), py::arg("on") = "write-through", py::kw_only(), py::arg("runs") = 100,
      py::arg("jitter") = 0, py::arg("machine") = py::none(), py::arg("set") = py::dict(),
      py::arg("sizes") = py::dict(), py::arg("faults") = py::list(), py::arg("cus") = 0, py::arg("seed") = 1,
      py::arg("timeout") = py::none());
  module.def(
      "workloads", &all_workloads,
      "The workloads that there are: what each is, by name. launches: those of systems that take launches.",
      py::kw_only(), py::arg("launches") = false);
}

}  // namespace lockstep::python
