// Systems: what they are, their states one by one, and all of them at once.
#include <pybind11/numpy.h>

#include <algorithm>
#include <functional>

#include "checker/check/check.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/runs/coverage.hpp"
#include "checker/support/diagnostic.hpp"
#include "python/objects.hpp"

namespace lockstep::python {

namespace {

// ---- states -----------------------------------------------------------------------------------------------

// A model with all that it refers to. Room to expand states in is shared: whoever expands holds Python's
// lock.
struct Posing {
  Subject subject;
  std::shared_ptr<const LitmusTest> test;  // null where its client is none of a test's
  Posed posed;
  Successors successors;

  [[nodiscard]] const Model& model() const { return *posed.model; }
  [[nodiscard]] unsigned words() const { return std::max(1U, model().words()); }
};
using SharedPosing = std::shared_ptr<Posing>;

struct Walk {
  SharedPosing posing;
};

struct State {
  SharedPosing posing;
  std::vector<std::uint64_t> words;
  // In one model alone are packed states comparable.
  bool operator==(const State& other) const { return posing == other.posing && words == other.words; }
};

struct Step {
  State before;
  Firing firing;
  State after;
  [[nodiscard]] const RuleDescription& rule() const { return before.posing->model().rules().at(firing.rule); }
  [[nodiscard]] std::vector<NarratedStep> narration() const {
    return before.posing->model().narrate(before.words.data(), firing);
  }
  // "wL1 evicts (cu 0, block 1)".
  [[nodiscard]] std::string what() const { return narration().front().rule; }
};

// What a run that is no run of an engine's makes of an exception: what the engines' runs make of it.
template <class Work>
decltype(auto) described(const Posing& posing, Work&& work) {
  try {
    return work();
  } catch (const BrokenRule&) {
    throw;
  } catch (...) {
    const RunError error = describe_error(std::current_exception(),
                                          posing.subject.program ? *posing.subject.program : Program{});
    if (error.bad_input) throw BadInput(*error.bad_input);
    throw std::runtime_error(error.message);
  }
}

State state_of(const SharedPosing& posing, const std::uint64_t* words) {
  return {posing, {words, words + posing->words()}};
}

std::vector<State> initial_states(const Walk& walk) {
  Successors& out = walk.posing->successors;
  out.clear(walk.posing->words());
  walk.posing->model().initial(out);
  std::vector<State> states;
  for (std::size_t i = 0; i < out.size(); ++i) states.push_back(state_of(walk.posing, out.state(i)));
  return states;
}

const Successors& expand(const State& state) {
  return described(*state.posing, [&]() -> const Successors& {
    Successors& out = state.posing->successors;
    out.clear(state.posing->words());
    state.posing->model().expand(state.words.data(), out);
    return out;
  });
}

std::vector<Step> enabled(const State& state) {
  const Successors& out = expand(state);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < out.size(); ++i)
    steps.push_back({state, out.firing(i), state_of(state.posing, out.state(i))});
  return steps;
}

State take(const State& state, const std::variant<Step, std::string>& wanted) {
  if (const auto* const step = std::get_if<Step>(&wanted)) {
    if (!(step->before == state)) throw BadInput("'" + step->what() + "' is a step from another state");
    return step->after;
  }
  const auto& name = std::get<std::string>(wanted);
  std::vector<std::string> names;
  for (const Step& step : enabled(state)) {
    names.push_back(step.what());
    if (names.back() == name) return step.after;
  }
  throw BadInput("'" + name + "' is not enabled", suggestion(name, names));
}

bool is_end(const State& state) {
  return !expand(state).live && state.posing->model().proper_end(state.words.data());
}
bool is_stuck(const State& state) {
  return !expand(state).live && !state.posing->model().proper_end(state.words.data());
}

py::dict fields(const State& state) {
  py::dict all;
  for (const auto& [path, printed] : state.posing->model().fields(state.words.data()))
    all[text(path)] = field_value(printed);
  return all;
}

py::object field(const State& state, const std::string& path) {
  std::vector<std::string> paths;
  for (const auto& [known, printed] : state.posing->model().fields(state.words.data())) {
    if (known == path) return field_value(printed);
    paths.push_back(known);
  }
  throw BadInput("there is no field '" + path + "'", suggestion(path, paths));
}

py::object outcome(const State& state) {
  if (state.posing->test == nullptr || !is_end(state)) return py::none();
  return outcome_dict(*state.posing->test, state.posing->posed.outcome(state.words.data()));
}

// ---- whole systems ----------------------------------------------------------------------------------------

std::vector<std::string> all_reductions() {
  std::vector<std::string> names;
  for (const ReductionSwitch& one : reduction_switches) names.emplace_back(one.name);
  return names;
}

// A system with a test's client, or alone, with reductions that keep invariants.
Subject with_test(const System& system, const std::optional<Test>& test,
                  const std::vector<std::string>& no_reduce) {
  Subject subject = system.subject;
  subject.options.reductions = reductions_for_invariants(*subject.system, no_reduce);
  return test ? with_client(std::move(subject), *test->test) : subject;
}

std::optional<Test> test_or_none(const std::optional<TestArgument>& given) {
  if (!given) return std::nullopt;
  return test_of(*given);
}

Walk walk(const System& system, const std::optional<TestArgument>& given,
          const std::vector<std::string>& no_reduce) {
  const std::optional<Test> test = test_or_none(given);
  auto posing = std::make_shared<Posing>();
  posing->subject = with_test(system, test, no_reduce);
  // Their trees are read for this, which can take a while.
  posing->posed = without_lock([&](const std::atomic<bool>&) {
    return described(*posing, [&] {
      return test ? pose(*test->test, posing->subject) : Posed{posing->subject.build(), {}};
    });
  });
  if (test) posing->test = test->test;
  return {posing};
}

// A callable of Python's is told how far a search has come.
CheckRun explored(const std::function<CheckRun(const CheckOptions&)>& work, bool deadlocks,
                  const LimitArguments& given, const py::object& progress) {
  Newest<Progress> newest;
  Meanwhile tell;
  CheckOptions options;
  options.deadlocks = deadlocks;
  if (!progress.is_none()) {
    options.on_progress = [&](const Progress& now) { newest.put(now); };
    tell = [&](std::atomic<bool>&) {
      if (const auto now = newest.take()) progress(*now);
    };
  }
  CheckRun run = without_lock(
      [&](const std::atomic<bool>& interrupted) {
        options.limits = given.limits(interrupted);
        return work(options);
      },
      tell);
  if (run.status == CheckStatus::error) raise_error_of(run);
  return run;
}

// ---- the classes ------------------------------------------------------------------------------------------

void define_system(py::module_& module) {
  declared<SizeDescription>(module, "Size")
      .def_property_readonly(
          "capacity", [](const SizeDescription& s) { return s.capacity; }, "At most.")
      .def_property_readonly(
          "default", [](const SizeDescription& s) { return text(s.what_sets_it); },
          "A number, or what sets it: 'the program'.")
      .def("__repr__", [](const SizeDescription& s) {
        return text("<lockstep.Size at most " + std::to_string(s.capacity) + ", by default " +
                    s.what_sets_it + ">");
      });
  declared<System>(module, "System")
      .def_property_readonly(
          "name", [](const System& s) { return text(s.subject.name()); },
          "With its variant: 'quick-release/split-fifo'.")
      .def_property_readonly(
          "description", [](const System& s) { return text(s.subject.description()); },
          "With all that differs from the defaults.")
      .def_property_readonly("what", [](const System& s) { return text(s.subject.system->what); })
      .def_property_readonly(
          "variants", [](const System& s) { return named(s.subject.system->variants); },
          "That there are: what each is, by name.")
      .def_property_readonly(
          "faults", [](const System& s) { return named(s.subject.system->faults); },
          "Deliberate mistakes that there are: what each is, by name.")
      .def_property_readonly(
          "sizes",
          [](const System& s) {
            py::dict all;
            for (const SizeDescription& size : s.subject.system->sizes) all[text(size.name)] = size;
            return all;
          },
          "That may be set: a Size each, by name.")
      .def_property_readonly("runs_programs", [](const System& s) { return s.subject.system->runs_programs; })
      .def_property_readonly("takes_launches",
                             [](const System& s) { return s.subject.system->build_launched != nullptr; })
      .def("model", &walk,
           R"(The states of the system one by one, under a test or, where it is its own client, alone.

test: a name, a file or a lockstep.Test. no_reduce: reductions to do without; as it is, all: every
rule fires by itself. Raises BadInput where the test or an option does not fit.)",
           py::arg("test") = py::none(), py::kw_only(), py::arg("no_reduce") = all_reductions())
      .def(
          "check",
          [](const System& system, const std::optional<TestArgument>& test,
             const std::vector<std::string>& no_reduce, bool deadlocks, int threads,
             std::optional<double> timeout, std::optional<double> memory, const py::object& progress) {
            const Subject subject = with_test(system, test_or_none(test), no_reduce);
            return explored([&](const CheckOptions& options) { return check(subject, options); }, deadlocks,
                            {threads, timeout, memory}, progress);
          },
          R"(Verifies it in every reachable state, as `lockstep check` does: invariants, assertions, deadlock.

test: what it runs; None where it is its own client. no_reduce: reductions to do without. deadlocks:
whether they are looked for. threads, timeout, memory: as of Test.on. progress: called a few times a
second with how far it is. Raises BadInput where the test or an option does not fit.)",
          py::arg("test") = py::none(), py::kw_only(), py::arg("no_reduce") = py::list(),
          py::arg("deadlocks") = true, py::arg("threads") = 1, py::arg("timeout") = py::none(),
          py::arg("memory") = py::none(), py::arg("progress") = py::none())
      .def("__repr__",
           [](const System& s) { return text("<lockstep.System " + s.subject.description() + ">"); });
  module.def(
      "systems", [] { return named(systems()); }, "The systems that there are: what each is, by name.");
  module.def(
      "system",
      [](const std::string& name, const std::string& variant, const std::vector<std::string>& faults,
         const Sizes& sizes) { return System{subject_of(name, variant, faults, sizes)}; },
      R"(A system by name, 'quick-release' or 'quick-release/split-fifo', with what is chosen of it.

variant: the same as behind the slash. faults: deliberate mistakes to switch on. sizes: of queues
and so on, by name. Raises BadInput with the nearest name.)",
      py::arg("name"), py::kw_only(), py::arg("variant") = "", py::arg("faults") = py::list(),
      py::arg("sizes") = py::dict());
}

void define_model(py::module_& module) {
  declared<RuleDescription>(module, "Rule")
      .def_property_readonly("name", [](const RuleDescription& r) { return text(r.name); })
      .def_property_readonly(
          "unit", [](const RuleDescription& r) { return text(r.unit); }, "The hardware that performs it.")
      .def_property_readonly(
          "source", [](const RuleDescription& r) { return text(r.source); }, "Its place in the paper.")
      .def_property_readonly("fair", [](const RuleDescription& r) { return r.fairness == Fairness::fair; })
      .def_property_readonly(
          "parameters", [](const RuleDescription& r) { return texts(r.parameters); }, "Names of index types.")
      .def_property_readonly(
          "of_program", [](const RuleDescription& r) { return r.of_program; },
          "Whether it executes an instruction.")
      .def("__repr__", [](const RuleDescription& r) { return text("<lockstep.Rule " + r.name + ">"); });
  declared<Walk>(module, "Model")
      .def_property_readonly("system", [](const Walk& w) { return text(w.posing->subject.description()); })
      .def_property_readonly("test",
                             [](const Walk& w) -> std::optional<Test> {
                               if (w.posing->test == nullptr) return std::nullopt;
                               return Test{w.posing->test};
                             })
      .def("initial", &initial_states, "The states that it may start in.")
      .def_property_readonly("rules", [](const Walk& w) { return w.posing->model().rules(); })
      .def_property_readonly("invariants",
                             [](const Walk& w) { return texts(w.posing->model().invariants()); })
      .def_property_readonly(
          "state_bits", [](const Walk& w) { return w.posing->model().state_bits(); }, "Of a packed state.")
      .def(
          "explore",
          [](const Walk& w, bool deadlocks, int threads, std::optional<double> timeout,
             std::optional<double> memory, const py::object& progress) {
            return explored(
                [&](const CheckOptions& options) {
                  return check(w.posing->subject, w.posing->model(), options);
                },
                deadlocks, {threads, timeout, memory}, progress);
          },
          "Visits every reachable state of this model. Arguments are those of System.check.", py::kw_only(),
          py::arg("deadlocks") = true, py::arg("threads") = 1, py::arg("timeout") = py::none(),
          py::arg("memory") = py::none(), py::arg("progress") = py::none())
      .def("__repr__", [](const Walk& w) {
        const std::string client = w.posing->subject.client();
        return text("<lockstep.Model " + w.posing->subject.description() +
                    (client.empty() ? "" : " running " + client) + ">");
      });
}

void define_state(py::module_& module) {
  declared<State>(module, "State")
      .def_property_readonly("fields", &fields,
                             "The value of every field by its path: bool, int, or str for what has a name.")
      .def("field", &field, "The value of one field. Raises BadInput with the nearest path.", py::arg("path"))
      .def_property_readonly(
          "enabled", &enabled,
          R"(The steps that may be taken. Raises BrokenRule where a rule does what its types do not allow.)")
      .def(
          "take", &take,
          R"(The state after a step: one of enabled, or its text, 'store enters wL1 (thread 1)'. Raises BadInput
with the nearest where it is not enabled.)",
          py::arg("step"))
      .def_property_readonly(
          "violated",
          [](const State& s) -> py::object {
            const int violated = expand(s).violated;
            if (violated < 0) return py::none();
            return text(s.posing->model().invariants().at(static_cast<std::size_t>(violated)));
          },
          "The first invariant that it violates, or None.")
      .def_property_readonly("is_end", &is_end, "Every thread has ended, and everything has drained.")
      .def_property_readonly("is_stuck", &is_stuck,
                             "No fair rule is enabled, and it is no proper end: a deadlock.")
      .def_property_readonly("outcome", &outcome,
                             "At an end, the values of the test's columns, as in Run.outcomes; else None.")
      .def_property_readonly(
          "packed",
          [](const State& s) {
            return py::array_t<std::uint64_t>(static_cast<py::ssize_t>(s.words.size()), s.words.data());
          },
          "As the explorer stores it: a numpy array of uint64.")
      .def(
          "__eq__", [](const State& a, const State& b) { return a == b; }, py::is_operator())
      .def(
          "__ne__", [](const State& a, const State& b) { return !(a == b); }, py::is_operator())
      .def("__hash__",
           [](const State& s) {
             const std::string_view bytes(reinterpret_cast<const char*>(s.words.data()),
                                          s.words.size() * sizeof(std::uint64_t));
             return std::hash<std::string_view>()(bytes);
           })
      .def("__repr__", [](const State& s) {
        return text("<lockstep.State of " + s.posing->subject.description() + ", " +
                    std::to_string(s.posing->model().state_bits()) + " bits>");
      });
  declared<Step>(module, "Step")
      .def_property_readonly("rule", [](const Step& s) { return text(s.rule().name); })
      .def_property_readonly("unit", [](const Step& s) { return text(s.rule().unit); })
      .def_property_readonly("source", [](const Step& s) { return text(s.rule().source); })
      .def_property_readonly("fair", [](const Step& s) { return s.rule().fairness == Fairness::fair; })
      .def_property_readonly(
          "parameters",
          [](const Step& s) {
            py::list all;
            for (std::size_t i = 0; i < s.firing.parameter_count; ++i)
              all.append(py::make_tuple(text(s.rule().parameters.at(i)), s.firing.parameters[i]));
            return all;
          },
          "Names of index types, each with the member: [('thread', 1)].")
      .def_property_readonly("narration", &Step::narration,
                             "The rules that fire, one after the other: this one, and what follows at once.")
      .def_property_readonly(
          "changes",
          [](const Step& s) {
            std::vector<FieldChange> all;
            for (const NarratedStep& fired : s.narration())
              all.insert(all.end(), fired.changes.begin(), fired.changes.end());
            return all;
          },
          "The fields that change, in order.")
      .def_readonly("after", &Step::after, "The state that it leads to.")
      .def("__str__", [](const Step& s) { return text(s.what()); })
      .def("__repr__", [](const Step& s) { return text("<lockstep.Step " + s.what() + ">"); });
}

void define_exploration(py::module_& module) {
  declared<Progress>(module, "Search")
      .def_readonly("states", &Progress::states)
      .def_readonly("waiting", &Progress::waiting, "States found, and not yet expanded.")
      .def_readonly("transitions", &Progress::transitions)
      .def_readonly("depth", &Progress::depth)
      .def_readonly("seconds", &Progress::seconds)
      .def_readonly("memory", &Progress::memory, "Bytes.")
      .def("__str__", [](const Progress& p) { return text(progress_text("", p)); });
  declared<CheckRun>(module, "Exploration")
      .def_property_readonly("system", [](const CheckRun& r) { return text(r.subject.description()); })
      .def_property_readonly(
          "verdict", [](const CheckRun& r) { return text(word(r.status)); },
          "'holds', 'violated', or 'inconclusive' where a limit was reached.")
      .def_property_readonly(
          "message", [](const CheckRun& r) { return text(r.message); }, "Why it is inconclusive.")
      .def_property_readonly(
          "violated",
          [](const CheckRun& r) -> py::object {
            if (!r.counterexample) return py::none();
            return text(trace_end_text(*r.counterexample));
          },
          "What is violated, or None: 'violated: a copy is current', 'deadlock', 'broken: ...'.")
      .def_property_readonly(
          "trace", [](const CheckRun& r) { return r.counterexample; }, "A shortest counterexample, or None.")
      .def_property_readonly("states", [](const CheckRun& r) { return r.exploration.states; })
      .def_property_readonly("transitions", [](const CheckRun& r) { return r.exploration.transitions; })
      .def_property_readonly(
          "depth", [](const CheckRun& r) { return r.exploration.depth; },
          "Steps from a start to the state that is farthest away.")
      .def_property_readonly("seconds", [](const CheckRun& r) { return r.exploration.seconds; })
      .def_property_readonly(
          "memory", [](const CheckRun& r) { return r.exploration.memory; },
          "Bytes, of visited states and their index.")
      .def_property_readonly("state_bits", [](const CheckRun& r) { return r.exploration.state_bits; })
      .def_property_readonly(
          "fired", [](const CheckRun& r) { return fired_by_name(r.rules, r.exploration.fired); },
          "How often each rule fired, by name; what was taken at once with another counts, too.")
      .def_property_readonly(
          "never_fired",
          [](const CheckRun& r) {
            py::list names;
            const RuleCoverage coverage = coverage_of({&r, 1});
            for (const RuleDescription& rule : coverage.never_fired(r.subject.name()))
              names.append(text(rule.name));
            return names;
          },
          "Rules of the system that never fired: the first sign of a wrong model.")
      .def(
          "rules", [](const CheckRun& r) { return fired_frame(r.rules, r.exploration.fired); },
          "The rules as a pandas.DataFrame: a row each, with unit, source and how often it fired.")
      .def(
          "text", [](const CheckRun& r) { return text(check_text(r)); }, "As the command prints it.")
      .def("__repr__", [](const CheckRun& r) {
        return text("<lockstep.Exploration of " + r.subject.description() + ": " +
                    std::string(word(r.status)) + ", " + std::to_string(r.exploration.states) + " states>");
      });
}

}  // namespace

Subject subject_of(const SystemArgument& system, const std::string& variant,
                   const std::vector<std::string>& faults, const Sizes& sizes) {
  const auto* const made = std::get_if<System>(&system);
  Subject subject = made != nullptr ? made->subject : subject_named(std::get<std::string>(system));
  apply_shared({variant, faults, sizes}, std::span(&subject, 1));
  return subject;
}

void declare_systems(py::module_& module) {
  py::class_<SizeDescription>(module, "Size", "What a system may have how many of.");
  py::class_<System>(module, "System", "A system, with what was chosen of it.");
  py::class_<RuleDescription>(module, "Rule", "What may happen in a system.");
  py::class_<Walk>(module, "Model", "A system under a test, to be walked state by state.");
  py::class_<State>(module, "State",
                    "A state of a model. States of one model can be compared, and kept in sets.");
  py::class_<Step>(module, "Step", "A rule that is enabled in a state, with its parameters.");
  py::class_<Progress>(module, "Search", "How far a search has come.");
  py::class_<CheckRun>(module, "Exploration", "Every reachable state of a system, and whether one is bad.");
}

void define_systems(py::module_& module) {
  define_system(module);
  define_model(module);
  define_state(module);
  define_exploration(module);
}

}  // namespace lockstep::python
