// Litmus tests, what they show on systems, and whole suites.
#include <pybind11/numpy.h>

#include <algorithm>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/axiomatic/model.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/report.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/liveness/table.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "python/objects.hpp"

namespace lockstep::python {

namespace {

namespace fs = std::filesystem;

// ---- outcomes ---------------------------------------------------------------------------------------------

// Those that pass the test's filter, as everything that prints them has them.
std::vector<Outcome> filtered(const LitmusTest& test, const std::vector<Outcome>& outcomes) {
  std::vector<Outcome> passing;
  std::copy_if(outcomes.begin(), outcomes.end(), std::back_inserter(passing),
               [&](const Outcome& outcome) { return satisfies(test.filter, test, outcome); });
  return passing;
}

py::list outcome_list(const LitmusTest& test, const std::vector<Outcome>& outcomes) {
  py::list all;
  for (const Outcome& outcome : outcomes) all.append(outcome_dict(test, outcome));
  return all;
}

// A row each, with further columns after the values.
py::object outcome_frame(const LitmusTest& test, const std::vector<Outcome>& outcomes,
                         const std::vector<std::string>& more = {},
                         const std::function<py::tuple(std::size_t)>& more_of = {}) {
  std::vector<std::string> columns = term_names(test);
  columns.insert(columns.end(), more.begin(), more.end());
  py::list rows;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    py::list row;
    for (std::size_t term = 0; term < outcomes[i].size(); ++term)
      row.append(term_value(test, term, outcomes[i][term]));
    if (more_of) row.attr("extend")(more_of(i));
    rows.append(py::tuple(row));
  }
  return frame(columns, rows);
}

py::array_t<std::int32_t> outcome_array(const LitmusTest& test, const std::vector<Outcome>& outcomes) {
  py::array_t<std::int32_t> array({outcomes.size(), test.observed.size()});
  auto cells = array.mutable_unchecked<2>();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (std::size_t j = 0; j < outcomes[i].size(); ++j)
      cells(static_cast<py::ssize_t>(i), static_cast<py::ssize_t>(j)) = outcomes[i][j];
  }
  return array;
}

// Some terms with the values that they are to have.
using Wanted = std::map<std::string, std::variant<std::int32_t, std::string>>;
std::function<bool(const Outcome&)> matcher(const LitmusTest& test, const Wanted& wanted) {
  const std::vector<std::string> names = term_names(test);
  for (const auto& [name, value] : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw BadInput("'" + test.name + "' observes no '" + name + "'", suggestion(name, names));
  }
  return [&test, names, wanted](const Outcome& outcome) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = wanted.find(names[i]);
      if (found == wanted.end()) continue;
      const auto word = value_word(test, i, outcome[i]);
      const auto* const asked = std::get_if<std::string>(&found->second);
      if (asked != nullptr ? word != *asked : outcome[i] != std::get<std::int32_t>(found->second))
        return false;
    }
    return true;
  };
}

// ---- runs -------------------------------------------------------------------------------------------------

struct Run {
  Test test;
  SystemRun run;
  [[nodiscard]] std::vector<Outcome> outcomes() const { return filtered(*test.test, run.outcomes); }
};

struct Verdict {
  Test test;
  std::shared_ptr<const AxiomaticModel> model;
  ModelRun run;
  // With those flags and executions.
  [[nodiscard]] std::vector<AllowedOutcome> allowed() const {
    std::vector<AllowedOutcome> passing;
    std::copy_if(
        run.outcomes.begin(), run.outcomes.end(), std::back_inserter(passing),
        [&](const AllowedOutcome& one) { return satisfies(test.test->filter, *test.test, one.outcome); });
    return passing;
  }
  [[nodiscard]] std::vector<Outcome> outcomes() const {
    std::vector<Outcome> all;
    for (const AllowedOutcome& one : allowed()) all.push_back(one.outcome);
    return all;
  }
};

Run run_on(const Test& test, const SystemArgument& system, const std::string& variant,
           const std::vector<std::string>& faults, const Sizes& sizes,
           const std::vector<std::string>& no_reduce, const LimitArguments& given) {
  Subject subject = subject_of(system, variant, faults, sizes);
  subject.options.reductions = reductions_without(no_reduce);
  Run run{test, without_lock([&](const std::atomic<bool>& interrupted) {
            return run_on_system(*test.test, subject, given.limits(interrupted));
          })};
  if (run.run.status == RunStatus::error) raise_error_of(run.run);
  return run;
}

std::optional<RecordedTrace> find(const Run& run, const Wanted& wanted, const LimitArguments& given) {
  const auto matches = matcher(*run.test.test, wanted);
  return without_lock([&](const std::atomic<bool>& interrupted) {
    return find_outcome(*run.test.test, run.run.subject, given.limits(interrupted), matches);
  });
}

using ModelArgument = std::variant<std::shared_ptr<AxiomaticModel>, fs::path>;

std::shared_ptr<AxiomaticModel> model_named(const fs::path& name, const std::vector<std::string>& include) {
  auto model = std::make_shared<AxiomaticModel>(name.string(), include);
  refuse_vacuous(*model);
  return model;
}

Verdict judge_under(const Test& test, const ModelArgument& given, const std::vector<std::string>& include,
                    int unroll, const LimitArguments& limits) {
  refuse_launches(*test.test, "models judge programs");
  const auto* const made = std::get_if<std::shared_ptr<AxiomaticModel>>(&given);
  const std::shared_ptr<AxiomaticModel> model =
      made != nullptr ? *made : model_named(std::get<fs::path>(given), include);
  Verdict verdict{test, model, without_lock([&](const std::atomic<bool>& interrupted) {
                    JudgeOptions options;
                    options.unroll.iterations = unroll;
                    options.time = limits.limits(interrupted).time;
                    options.interrupted = &interrupted;
                    return judge(*test.test, *model, options);
                  })};
  if (verdict.run.status == RunStatus::error) raise_error_of(verdict.run);
  return verdict;
}

// ---- progress ---------------------------------------------------------------------------------------------

LivenessRun progress_of(const Test& test, const SystemArgument& system, const std::string& scheduler,
                        const std::vector<std::string>& settings, const std::string& situation,
                        const std::string& fairness, const LimitArguments& given) {
  refuse_launches(*test.test, "schedulers run programs");
  SchedulerSetup setup = scheduler_named(scheduler);
  for (const std::string& setting : settings) apply_setting(setup, setting);
  Subject subject = subject_of(system);
  subject.program = std::make_shared<const Program>(for_memory_systems(*test.test));
  subject.options.scheduler =
      in_situation(setup, situation_named(situation), work_groups_of(*subject.program));
  if (!subject.options.scheduler)
    throw BadInput("'" + situation + "' means nothing for '" + test.test->name + "' under " + scheduler);
  LivenessOptions options;
  set_fairness(options, fairness);
  LivenessRun run = without_lock([&](const std::atomic<bool>& interrupted) {
    options.limits = given.limits(interrupted);
    return judge_termination(subject, options);
  });
  if (run.termination == Termination::error) raise_error_of(run);
  return run;
}

// ---- suites -----------------------------------------------------------------------------------------------

struct Suite {
  std::vector<nlohmann::json> reports;
  SuiteTotals totals;
};

Suite run_all(const std::vector<TestArgument>& tests, const std::vector<SystemArgument>& systems,
              const std::vector<std::string>& against, const std::vector<std::string>& no_reduce,
              const LimitArguments& given, const py::object& progress) {
  LitmusTests programs;
  LitmusTests launches;
  for (const TestArgument& one : tests) {
    const Test test = test_of(one);
    (test.test->launches != nullptr ? launches : programs).push_back(test.test);
  }
  std::vector<Subject> run_programs;
  std::vector<Subject> take_launches;
  for (const SystemArgument& one : systems) {
    Subject subject = subject_of(one);
    subject.options.reductions = reductions_without(no_reduce);
    (subject.system->runs_programs ? run_programs : take_launches).push_back(std::move(subject));
  }
  SuiteOptions options;
  options.judged.clear();
  for (const std::string& model : against) options.judged.push_back(find_race_model(model));
  Suite suite;
  options.on_report = [&](const TestReport& report) { suite.reports.push_back(report_json(report)); };
  Newest<SuiteProgress> newest;
  options.on_progress = [&](const SuiteProgress& now) { newest.put(now); };
  Meanwhile tell;
  if (!progress.is_none()) {
    tell = [&](std::atomic<bool>&) {
      if (const auto now = newest.take()) progress(now->done, now->all);
    };
  }
  for (const auto& [of_kind, on] :
       {std::pair(&programs, &run_programs), std::pair(&launches, &take_launches)}) {
    if (of_kind->empty()) continue;
    if (on->empty()) {
      throw BadInput(Diagnostic{of_kind->front()->file, {}, "runs on none of these systems", {}, {}});
    }
    options.systems = *on;
    suite.totals.add(without_lock(
        [&](const std::atomic<bool>& interrupted) {
          options.limits = given.limits(interrupted);
          return run_suite(*of_kind, options);
        },
        tell));
  }
  return suite;
}

// A row a test and system, of what the reports say of both.
py::object suite_frame(const Suite& suite) {
  py::list rows;
  for (const nlohmann::json& report : suite.reports) {
    for (const nlohmann::json& run : report.at("systems")) {
      py::list row;
      for (const char* const of_test : {"name", "verdict"}) row.append(from_json(report.at(of_test)));
      for (const char* const of_run : {"system", "status", "observation", "validates", "positive", "negative",
                                       "states", "transitions", "depth", "seconds", "memory_bytes"})
        row.append(run.contains(of_run) ? from_json(run.at(of_run)) : py::object(py::none()));
      rows.append(py::tuple(row));
    }
  }
  return frame({"test", "verdict", "system", "status", "observation", "validates", "positive", "negative",
                "states", "transitions", "depth", "seconds", "memory"},
               rows);
}

// ---- names ------------------------------------------------------------------------------------------------

// Everything that comes with Lockstep and can be read.
py::dict all_tests() {
  const std::string home = shipped("litmus").string();
  const SuiteFiles files = read_tests(std::vector{home}, home, Clients::include);
  py::dict all;
  for (const LitmusTests& some : {files.tests, files.launches}) {
    for (const auto& test : some) all[text(test->name)] = text(test->doc);
  }
  return all;
}

py::dict all_models() {
  py::dict all;
  for (const std::string& name : cat::model_names()) all[text(name)] = text(cat::model_title(name));
  return all;
}

template <class Observed>
py::object observation_or_none(bool known, const Observed& observed) {
  return known ? py::object(text(word(observed()))) : py::none();
}

// ---- the classes ------------------------------------------------------------------------------------------

void define_test(py::module_& module) {
  auto test = declared<Test>(module, "Test");
  test.def_property_readonly("name", [](const Test& t) { return text(t.test->name); })
      .def_property_readonly(
          "file", [](const Test& t) { return text(t.test->file); }, "As it was named.")
      .def_property_readonly("doc", [](const Test& t) { return text(t.test->doc); })
      .def_property_readonly(
          "dialect", [](const Test& t) { return text(t.test->dialect); },
          "The first word of its file: 'HRF', 'PTX', 'C', 'LAUNCHES', ...")
      .def_property_readonly("tags", [](const Test& t) { return texts(t.test->tags); })
      .def_property_readonly(
          "quantifier", [](const Test& t) { return text(word(t.test->quantifier)); },
          "'exists', '~exists' or 'forall'.")
      .def_property_readonly(
          "condition", [](const Test& t) { return text(t.test->condition_text); },
          "As herd prints it: '(P1:r0=1 /\\ P1:r1=0)'.")
      .def_property_readonly(
          "program", [](const Test& t) { return text(print_program(t.test->program)); },
          "The initial state and the code of each thread, in the HRF dialect; empty for launches.")
      .def_property_readonly(
          "launches", [](const Test& t) { return t.test->launches != nullptr; },
          "Whether it is a sequence of kernel launches.")
      .def_property_readonly(
          "columns", [](const Test& t) { return texts(term_names(*t.test)); },
          "The registers and locations that an outcome gives the values of.")
      .def_property_readonly(
          "expected",
          [](const Test& t) {
            py::dict all;
            for (const ExpectedObservation& one : t.test->expected)
              all[text(one.system)] = text(word(one.observation));
            return all;
          },
          "What its file expects, 'never', 'sometimes' or 'always', by system.")
      .def("__repr__", [](const Test& t) { return text("<lockstep.Test " + t.test->name + ">"); })
      .def("__str__", [](const Test& t) {
        const LitmusTest& one = *t.test;
        return text(one.name + "\n" + print_program(one.program) + std::string(word(one.quantifier)) + " " +
                    one.condition_text);
      });
  test.def(
      "on",
      [](const Test& t, const SystemArgument& system, const std::string& variant,
         const std::vector<std::string>& faults, const Sizes& sizes,
         const std::vector<std::string>& no_reduce, int threads, std::optional<double> timeout,
         std::optional<double> memory) {
        return run_on(t, system, variant, faults, sizes, no_reduce, {threads, timeout, memory});
      },
      R"(Runs it on a system: every outcome, by exhaustive exploration.

system: a name, 'quick-release/split-fifo', or a lockstep.System. variant, faults, sizes: what is
chosen of it besides. no_reduce: reductions to do without, of 'moves', 'stubborn', 'dead',
'at-once'. threads: that explore. timeout: seconds. memory: GiB for visited states (default: 3/4 of this
machine's). Where a limit is reached, the run's status says so. Raises BadInput where the test or an
option does not fit the system.)",
      py::arg("system"), py::kw_only(), py::arg("variant") = "", py::arg("faults") = py::list(),
      py::arg("sizes") = py::dict(), py::arg("no_reduce") = py::list(), py::arg("threads") = 1,
      py::arg("timeout") = py::none(), py::arg("memory") = py::none());
  test.def(
      "under",
      [](const Test& t, const ModelArgument& model, const std::vector<std::string>& include, int unroll,
         std::optional<double> timeout) {
        return judge_under(t, model, include, unroll, {1, timeout, {}});
      },
      R"(What an axiomatic model says of it: the outcomes of all candidate executions that the model allows.

model: a name ('ptx-v6.0'), a .cat file, or a lockstep.AxiomaticModel, which is compiled once.
include: folders where a file finds what it includes. unroll: how often an execution runs one
instruction at most. timeout: seconds. Raises BadInput for a sequence of launches, and where the
model has errors.)",
      py::arg("model"), py::kw_only(), py::arg("include") = py::list(),
      py::arg("unroll") = UnrollLimits{}.iterations, py::arg("timeout") = py::none());
  test.def(
      "progress",
      [](const Test& t, const SystemArgument& on, const std::string& scheduler,
         const std::vector<std::string>& settings, const std::string& situation, const std::string& fairness,
         int threads, std::optional<double> timeout, std::optional<double> memory) {
        return progress_of(t, on, scheduler, settings, situation, fairness, {threads, timeout, memory});
      },
      R"(Does it end, whatever its scheduler does within its promises?

on: a system. scheduler: a progress model or waiting policy ('obe', 'awg'; lockstep.schedulers()).
settings: as `progress --set` takes them, 'slots=2'. situation: 'resident', 'oversubscribed' or
'taken'. fairness: 'weak', 'strong' or 'paths'. Limits as in on(). Raises BadInput where these do
not fit.)",
      py::arg("on") = "sc", py::kw_only(), py::arg("scheduler") = "fair", py::arg("settings") = py::list(),
      py::arg("situation") = "resident", py::arg("fairness") = "weak", py::arg("threads") = 1,
      py::arg("timeout") = py::none(), py::arg("memory") = py::none());
}

void define_run(py::module_& module) {
  auto run = declared<Run>(module, "Run");
  run.def_readonly("test", &Run::test)
      .def_property_readonly(
          "system", [](const Run& r) { return text(r.run.subject.description()); },
          "With what was chosen of it: 'quick-release, fault early-ack, s-fifo1-entries=2'.")
      .def_property_readonly(
          "status", [](const Run& r) { return text(word(r.run.status)); },
          R"('complete'; what went wrong, 'deadlock', 'assertion' or 'broken': see trace; or a limit, 'out of
time' or 'out of memory': then outcomes are not all.)")
      .def_property_readonly("message", [](const Run& r) { return text(r.run.message); })
      .def_property_readonly(
          "outcomes", [](const Run& r) { return outcome_list(*r.test.test, r.outcomes()); },
          "Those that pass the test's filter, in ascending order: a dict each, of test.columns.")
      .def_property_readonly(
          "observation",
          [](const Run& r) {
            return observation_or_none(r.run.status == RunStatus::complete,
                                       [&] { return r.run.tally.observation(); });
          },
          R"(Whether outcomes satisfy the condition: 'never', 'sometimes', 'always'; None where the run is not
complete.)")
      .def_property_readonly(
          "positive", [](const Run& r) { return r.run.tally.positive; },
          "Outcomes that satisfy the condition.")
      .def_property_readonly(
          "negative", [](const Run& r) { return r.run.tally.negative; }, "Outcomes that do not.")
      .def_property_readonly(
          "validates",
          [](const Run& r) -> py::object {
            if (r.run.status != RunStatus::complete) return py::none();
            return py::bool_(r.run.tally.validates(r.test.test->quantifier));
          },
          "The answer to the question as it was put; None where the run is not complete.")
      .def_property_readonly("states", [](const Run& r) { return r.run.exploration.states; })
      .def_property_readonly("transitions", [](const Run& r) { return r.run.exploration.transitions; })
      .def_property_readonly(
          "depth", [](const Run& r) { return r.run.exploration.depth; },
          "Steps from a start to the state that is farthest away.")
      .def_property_readonly("seconds", [](const Run& r) { return r.run.exploration.seconds; })
      .def_property_readonly(
          "memory", [](const Run& r) { return r.run.exploration.memory; },
          "Bytes, of visited states and their index.")
      .def_property_readonly(
          "fired", [](const Run& r) { return fired_by_name(r.run.rules, r.run.exploration.fired); },
          "How often each rule fired, by name; what was taken at once with another counts, too.")
      .def_property_readonly(
          "trace", [](const Run& r) { return r.run.failure; },
          "A shortest execution that goes wrong, where one does; else None.")
      .def(
          "frame", [](const Run& r) { return outcome_frame(*r.test.test, r.outcomes()); },
          "The outcomes as a pandas.DataFrame: a row each, a column for each of test.columns.")
      .def(
          "array", [](const Run& r) { return outcome_array(*r.test.test, r.outcomes()); },
          "The outcomes as a numpy array of int32, of shape (outcomes, columns).")
      .def(
          "rules", [](const Run& r) { return fired_frame(r.run.rules, r.run.exploration.fired); },
          "The rules as a pandas.DataFrame: a row each, with unit, source and how often it fired.")
      .def(
          "text", [](const Run& r) { return text(herd_block(*r.test.test, r.run)); }, "As herd prints it.")
      .def(
          "find",
          [](const Run& r, const Wanted& outcome, int threads, std::optional<double> timeout,
             std::optional<double> memory) {
            return find(r, outcome, {threads, timeout, memory});
          },
          R"(A shortest execution to an outcome, as a Trace; None where there is none within the limits.

outcome: values by columns, as in outcomes; those that are left out may be any.)",
          py::arg("outcome"), py::kw_only(), py::arg("threads") = 1, py::arg("timeout") = py::none(),
          py::arg("memory") = py::none())
      .def("__repr__", [](const Run& r) {
        return text("<lockstep.Run " + r.test.test->name + " on " + r.run.subject.description() + ": " +
                    std::string(word(r.run.status)) + ", " + std::to_string(r.outcomes().size()) +
                    " outcomes>");
      });
}

void define_verdict(py::module_& module) {
  declared<AxiomaticModel, std::shared_ptr<AxiomaticModel>>(module, "AxiomaticModel")
      .def_property_readonly("name", [](const AxiomaticModel& m) { return text(m.name()); })
      .def_property_readonly(
          "warnings", [](const AxiomaticModel& m) { return text(m.warnings()); },
          "'file:3:8: warning: ...', a line each; empty where there are none.")
      .def("__repr__",
           [](const AxiomaticModel& m) { return text("<lockstep.AxiomaticModel " + m.name() + ">"); });
  declared<Verdict>(module, "Verdict")
      .def_readonly("test", &Verdict::test)
      .def_property_readonly("model", [](const Verdict& v) { return text(v.run.model); })
      .def_property_readonly(
          "status", [](const Verdict& v) { return text(word(v.run.status)); },
          "'complete', or 'out of time': then outcomes are not all.")
      .def_property_readonly(
          "outcomes", [](const Verdict& v) { return outcome_list(*v.test.test, v.outcomes()); },
          "That the model allows and that pass the test's filter, as those of a Run.")
      .def_property_readonly(
          "observation",
          [](const Verdict& v) {
            const auto observed = v.run.observation();
            return observation_or_none(observed.has_value(), [&] { return *observed; });
          },
          R"(As of a Run; None where the search ended early, loops were cut, or a flag leaves the program
undefined.)")
      .def_property_readonly("positive", [](const Verdict& v) { return v.run.tally.positive; })
      .def_property_readonly("negative", [](const Verdict& v) { return v.run.tally.negative; })
      .def_property_readonly(
          "flags", [](const Verdict& v) { return texts(v.run.raised_flags()); },
          "Of the model, raised in some allowed execution, such as a race.")
      .def_property_readonly(
          "cut", [](const Verdict& v) { return v.run.cut; },
          "Loops were cut at `unroll`: other outcomes may be possible.")
      .def_property_readonly(
          "assertion_fails", [](const Verdict& v) { return v.run.assertion_fails; },
          "In some allowed execution.")
      .def_property_readonly(
          "candidates", [](const Verdict& v) { return v.run.candidates; },
          "Complete candidate executions that were looked at.")
      .def_property_readonly(
          "executions", [](const Verdict& v) { return v.run.executions; },
          "Of these, those that the model allows.")
      .def_property_readonly("seconds", [](const Verdict& v) { return v.run.seconds; })
      .def(
          "frame",
          [](const Verdict& v) {
            const auto allowed = v.allowed();
            return outcome_frame(*v.test.test, v.outcomes(), {"executions", "flagged"}, [&](std::size_t i) {
              return py::make_tuple(allowed[i].executions, allowed[i].flags != 0);
            });
          },
          R"(The outcomes as a pandas.DataFrame, a row each: test.columns, how many executions end with it, and
whether one of them raises a flag.)")
      .def(
          "array", [](const Verdict& v) { return outcome_array(*v.test.test, v.outcomes()); },
          "The outcomes as a numpy array of int32, of shape (outcomes, columns).")
      .def("__repr__", [](const Verdict& v) {
        return text("<lockstep.Verdict " + v.test.test->name + " under " + v.run.model + ": " +
                    std::string(word(v.run.status)) + ", " + std::to_string(v.outcomes().size()) +
                    " outcomes>");
      });
  declared<LivenessRun>(module, "Progress")
      .def_property_readonly("system", [](const LivenessRun& r) { return text(r.subject.description()); })
      .def_property_readonly(
          "verdict", [](const LivenessRun& r) { return text(word(r.termination)); },
          R"('terminates', 'progresses'; 'deadlock', 'trap', 'livelock', 'starvation'; 'unsafe': a claim fails;
or 'inconclusive'.)")
      .def_property_readonly("message", [](const LivenessRun& r) { return text(r.message); })
      .def_property_readonly("states", [](const LivenessRun& r) { return r.states; })
      .def_property_readonly("edges", [](const LivenessRun& r) { return r.edges; })
      .def_property_readonly("seconds", [](const LivenessRun& r) { return r.seconds; })
      .def_property_readonly(
          "memory", [](const LivenessRun& r) { return r.memory; }, "Bytes.")
      .def_property_readonly(
          "trace", [](const LivenessRun& r) { return r.counterexample; },
          "A lasso or path that anybody can fire again, where it does not end; else None.")
      .def(
          "text", [](const LivenessRun& r) { return text(liveness_text(r)); }, "As the command prints it.")
      .def("__repr__", [](const LivenessRun& r) {
        return text("<lockstep.Progress " + r.subject.client() + " on " + r.subject.description() + ": " +
                    std::string(word(r.termination)) + ">");
      });
}

void define_suite(py::module_& module) {
  declared<Suite>(module, "Suite")
      .def_property_readonly(
          "reports",
          [](const Suite& s) {
            py::list all;
            for (const nlohmann::json& report : s.reports) all.append(from_json(report));
            return all;
          },
          R"(A dict for each test, as in the command's JSON (schema lockstep.litmus/1): runs, races, conformance,
findings.)")
      .def_property_readonly(
          "totals", [](const Suite& s) { return from_json(totals_json(s.totals)); },
          "How many tests were as expected, differed, were inconclusive or had errors.")
      .def("frame", &suite_frame, "A pandas.DataFrame with a row for each test on each system.")
      .def("__repr__", [](const Suite& s) {
        return text("<lockstep.Suite of " + std::to_string(s.totals.tests) +
                    " tests: " + std::to_string(s.totals.as_expected) + " as expected>");
      });
  module.def(
      "litmus",
      [](const std::vector<TestArgument>& tests, const std::vector<SystemArgument>& on,
         const std::vector<std::string>& against, const std::vector<std::string>& no_reduce, int threads,
         std::optional<double> timeout, std::optional<double> memory, const py::object& progress) {
        return run_all(tests, on, against, no_reduce, {threads, timeout, memory}, progress);
      },
      R"(Runs tests on systems, several at a time, and judges them: races, conformance, what their files
expect.

tests: names, files or lockstep.Test. on: names or lockstep.System. against: models whose violation
is a finding. threads: runs at a time. timeout: seconds, for each. memory: GiB, for all. progress:
called a few times a second with how many runs are done and how many there are.)",
      py::arg("tests"), py::arg("on"), py::kw_only(),
      py::arg("against") = std::vector<std::string>{"hrf-indirect"}, py::arg("no_reduce") = py::list(),
      py::arg("threads") = 1, py::arg("timeout") = py::none(), py::arg("memory") = py::none(),
      py::arg("progress") = py::none());
}

}  // namespace

Test test_of(const TestArgument& given) {
  if (const auto* const test = std::get_if<Test>(&given)) return *test;
  const std::string name = std::get<fs::path>(given).string();
  std::error_code error;
  return {read_any_test(name, fs::exists(name, error) ? std::string() : shipped("litmus").string())};
}

void declare_tests(py::module_& module) {
  py::class_<Test>(module, "Test", "A litmus test: a program, or a sequence of launches, and a question.");
  py::class_<Run>(module, "Run", "A test on a system: what every execution ends with.");
  py::class_<AxiomaticModel, std::shared_ptr<AxiomaticModel>>(
      module, "AxiomaticModel", "An axiomatic consistency model, compiled once for all tests.");
  py::class_<Verdict>(module, "Verdict", "A test under an axiomatic model.");
  py::class_<LivenessRun>(module, "Progress", "Whether a test ends under a scheduler.");
  py::class_<Suite>(module, "Suite", "Many tests on many systems.");
}

void define_tests(py::module_& module) {
  define_test(module);
  define_run(module);
  define_verdict(module);
  define_suite(module);
  module.def("tests", &all_tests, "The tests that come with Lockstep: what each asks, by name.");
  module.def("models", &all_models, "The axiomatic models that come with Lockstep: what each is, by name.");
  module.def(
      "schedulers",
      [] {
        py::dict all = named(progress_models);
        all.attr("update")(named(waiting_policies));
        return all;
      },
      "Progress models and waiting policies: what each is, by name.");
  module.def(
      "test", [](const fs::path& name) { return test_of(name); },
      R"(A test by the name of one that comes with Lockstep, or from a file.

Raises BadInput, with the place, where it cannot be read; with the nearest name where there is none.)",
      py::arg("name"));
  module.def(
      "parse",
      [](const std::string& source, const std::string& file) {
        return Test{std::make_shared<const LitmusTest>(parse_litmus(source, file))};
      },
      "A test from its text. file: what errors call it. Raises BadInput with the place of the first error.",
      py::arg("text"), py::arg("file") = "text");
  module.def(
      "model",
      [](const fs::path& name, const std::vector<std::string>& include) {
        return model_named(name, include);
      },
      R"(An axiomatic model by the name of one that comes with Lockstep, or from a .cat file.

include: folders where it finds what it includes. Raises BadInput, with the place, where it has
errors, or can tell nothing apart.)",
      py::arg("name"), py::kw_only(), py::arg("include") = py::list());
}

}  // namespace lockstep::python
