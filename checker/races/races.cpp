// The SC model of the program, each of whose memory steps also moves the monitor; a race is a state in which
// some thread's next operation races.
#include "checker/races/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <utility>

#include "checker/language/test.hpp"
#include "checker/needs/slots.hpp"
#include "checker/races/monitor.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"
#include "checker/systems/program_system.hpp"
#include "spec/memory/sc.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/lower_for_systems.hpp"

namespace lockstep {

namespace {

// The program on flat memory, and the steps of its SC executions.
class Execution {
 public:
  explicit Execution(const Program& program) : program_(program) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  virtual ~Execution() = default;

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] virtual const ProgramModel& model() const = 0;
  // What each thread that waits for memory in this state does there next.
  virtual void waiting(const std::uint64_t* state, std::vector<PerformedOperation>& out) const = 0;
  // The thread whose operation a rule performs, or -1 where the rule performs none.
  [[nodiscard]] virtual int performer(const Firing& firing) const = 0;

 private:
  const Program& program_;
};

template <class Capacities>
using FlatModel = ModelOfProgram<sc::Info, typename sc::Info::Sizes<Capacities>>;

template <class Flat>
class ExecutionOn final : public Execution {
 public:
  ExecutionOn(const Program& program, std::unique_ptr<const Flat> model)
      : Execution(program), model_(std::move(model)) {
    for (const RuleDescription& rule : model_->rules()) of_memory_.push_back(rule.unit == "memory");
  }

  [[nodiscard]] const ProgramModel& model() const override { return *model_; }
  [[nodiscard]] int performer(const Firing& firing) const override {
    return of_memory_[firing.rule] ? firing.parameters[0] : -1;
  }
  void waiting(const std::uint64_t* state, std::vector<PerformedOperation>& out) const override {
    out.clear();
    const State loaded = model_->load(state);
    for (int t = 0; t < static_cast<int>(program().threads.size()); ++t) {
      const auto i = Kind::template constant<ThreadTag>(t);
      if (Kind::truth(loaded.port(i).pending)) out.push_back(next(loaded, t, i));
    }
  }

 private:
  using Kind = typename Flat::Kind;
  using State = typename Flat::State;

  template <class ThreadIx>
  [[nodiscard]] PerformedOperation next(const State& state, int thread, ThreadIx i) const {
    const auto& request = state.port(i).request;
    PerformedOperation next{thread, state.context(i).pc.v, false, false, 0};
    const Operation operation = request.operation.v;
    if (operation == Operation::fence) {
      next.reads = acquires(request.order.v);
      next.writes = releases(request.order.v);
    } else if (operation == Operation::store) {
      next.writes = true;
      next.value = request.a.v;
    } else {
      const auto& code = program().threads[static_cast<std::size_t>(thread)].code;
      const auto location = code[static_cast<std::size_t>(next.instruction)].location;
      next.value =
          model_->system().final_value(state, program().locations[static_cast<std::size_t>(location)]).v;
      next.reads = true;
      const bool swap_fails = request.function.v == RmwFunction::compare_swap && next.value != request.a.v;
      next.writes = operation == Operation::rmw && !swap_fails;
    }
    return next;
  }

  std::unique_ptr<const Flat> model_;
  std::vector<bool> of_memory_;
};

std::unique_ptr<const Execution> execution_of(const Program& program) {
  refuse_slots(program, "races are of program order");
  SystemOptions options;
  options.reductions = Reductions{}.only_moves();
  auto model = build_program_model<sc::Info>(std::make_shared<const Program>(program), options,
                                             find_system(sc::Info::name));
  const auto as = [&]<class Flat>(const Flat*) -> std::unique_ptr<const Execution> {
    const auto* flat = dynamic_cast<const Flat*>(model.get());
    if (flat == nullptr) return nullptr;
    model.release();
    return std::make_unique<ExecutionOn<Flat>>(program, std::unique_ptr<const Flat>(flat));
  };
  auto execution = as(static_cast<const FlatModel<SmallCapacities>*>(nullptr));
  return execution ? std::move(execution) : as(static_cast<const FlatModel<FullCapacities>*>(nullptr));
}

const PerformedOperation& of_thread(const std::vector<PerformedOperation>& operations, int thread) {
  return *std::find_if(operations.begin(), operations.end(),
                       [&](const auto& o) { return o.thread == thread; });
}

Event event_of(const PerformedOperation& operation) {
  return {operation.thread, operation.instruction, operation.reads, operation.writes};
}

// A packed state is the packed state of the program on flat memory, then the monitor's sets from a new word
// on.
class MonitoredModel final : public Model {
 public:
  MonitoredModel(const Execution& execution, const Monitor& monitor)
      : execution_(execution), monitor_(monitor), flat_words_(execution.model().words()) {}

  [[nodiscard]] unsigned state_bits() const override { return flat_words_ * 64 + monitor_.bits(); }

  void initial(Successors& out) const override {
    Successors flat;
    flat.clear(flat_words_);
    execution_.model().initial(flat);
    for (std::size_t i = 0; i < flat.size(); ++i) add(flat, i, monitor_.initial(), out);
  }

  void expand(const std::uint64_t* state, Successors& out) const override {
    Successors flat;
    flat.clear(flat_words_);
    execution_.model().expand(state, flat);
    out.begin_state();
    out.live = flat.live;

    std::vector<PerformedOperation> waiting;
    execution_.waiting(state, waiting);
    Monitor::Sets sets;
    monitor_.unpack(state + flat_words_, sets);
    if (racing(waiting, sets)) out.violated = 0;
    for (std::size_t i = 0; i < flat.size(); ++i) {
      Monitor::Sets after = sets;
      const int thread = execution_.performer(flat.firing(i));
      if (thread >= 0) monitor_.perform(event_of(of_thread(waiting, thread)), after);
      add(flat, i, after, out);
    }
  }

  [[nodiscard]] bool proper_end(const std::uint64_t* state) const override {
    return execution_.model().proper_end(state);
  }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override {
    return execution_.model().rules();
  }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const override {
    return execution_.model().fields(state);
  }
  // An SC execution is told by its operations, see race_at_end.
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t*, const Firing&) const override {
    return {};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t) const override { return {}; }

  // The race that the last state of a trace shows.
  [[nodiscard]] Race race_at_end(const Trace& trace, RaceModel model) const {
    Race race;
    std::vector<PerformedOperation> waiting;
    for (std::size_t i = 1; i < trace.steps.size(); ++i) {
      const int thread = execution_.performer(trace.steps[i].firing);
      if (thread < 0) continue;
      execution_.waiting(trace.steps[i - 1].state.data(), waiting);
      race.execution.push_back(of_thread(waiting, thread));
    }
    const std::uint64_t* last = trace.steps.back().state.data();
    execution_.waiting(last, waiting);
    Monitor::Sets sets;
    monitor_.unpack(last + flat_words_, sets);
    race.second = racing(waiting, sets).value();
    const int earlier = std::countr_zero(monitor_.races(event_of(race.second), sets));
    const auto first = std::find_if(
        race.execution.rbegin(), race.execution.rend(),
        [&](const auto& operation) { return monitor_.class_of(event_of(operation)) == earlier; });
    race.first = *first;
    race.execution.push_back(race.second);
    const AccessClass& a = monitor_.classes()[static_cast<std::size_t>(earlier)];
    const AccessClass& b =
        monitor_.classes()[static_cast<std::size_t>(monitor_.class_of(event_of(race.second)))];
    race.location = a.location;
    race.kind = conflict(a, b, model).value();
    return race;
  }

 private:
  void add(const Successors& flat, std::size_t i, const Monitor::Sets& sets, Successors& out) const {
    std::uint64_t* state = out.add(flat.firing(i));
    std::copy_n(flat.state(i), flat_words_, state);
    monitor_.pack(sets, state + flat_words_);
  }
  // The first of the operations that races if it comes next.
  [[nodiscard]] std::optional<PerformedOperation> racing(const std::vector<PerformedOperation>& waiting,
                                                         const Monitor::Sets& sets) const {
    for (const PerformedOperation& operation : waiting) {
      if (monitor_.races(event_of(operation), sets) != 0) return operation;
    }
    return std::nullopt;
  }

  const Execution& execution_;
  const Monitor& monitor_;
  unsigned flat_words_;
  std::vector<std::string> invariants_{"no two operations race"};
};

std::string reason_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::out_of_time:
      return "the time limit was reached";
    case Verdict::out_of_memory:
      return "the memory limit was reached";
    case Verdict::interrupted:
      return "it was interrupted";
    default:
      return {};
  }
}

// Answers one question after the other within one time limit.
class Analysis {
 public:
  Analysis(const Program& program, const ExploreOptions& options)
      : execution_(execution_of(program)), options_(options), start_(Clock::now()) {
    options_.invariants = true;
    options_.deadlocks = false;
    options_.on_end = nullptr;
  }

  void judge(RaceVerdict& verdict) {
    const Clock::time_point start = Clock::now();
    for (const Monitor& monitor :
         Monitor::monitors_of(execution_->program(), verdict.model, verdict.reading)) {
      try {
        judge(monitor, verdict);
      } catch (const ValueOutOfRange& out) {
        verdict.answer = RaceAnswer::inconclusive;
        verdict.reason = fmt::format("the program computes {}, this run holds values from {} to {}",
                                     out.value, out.range.low, out.range.high);
      }
      if (verdict.answer != RaceAnswer::race_free) break;
    }
    verdict.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void judge(const Monitor& monitor, RaceVerdict& verdict) {
    ExploreOptions options = options_;
    if (options_.time_limit.count() != 0) {
      const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
      options.time_limit = options_.time_limit - spent;
      if (options.time_limit.count() <= 0) return stop(Verdict::out_of_time, verdict);
    }
    const MonitoredModel model(*execution_, monitor);
    const ExploreResult result = explore(model, options);
    verdict.states += result.states;
    verdict.transitions += result.transitions;
    if (inconclusive(result.verdict)) return stop(result.verdict, verdict);
    if (result.verdict == Verdict::broken) {
      verdict.answer = RaceAnswer::inconclusive;
      verdict.reason = result.broken;
      return;
    }
    if (result.verdict != Verdict::invariant) return;
    verdict.answer = RaceAnswer::race;
    verdict.race = model.race_at_end(result.trace, verdict.model);
  }
  static void stop(Verdict why, RaceVerdict& verdict) {
    verdict.answer = RaceAnswer::inconclusive;
    verdict.reason = reason_of(why);
  }

  std::unique_ptr<const Execution> execution_;
  ExploreOptions options_;
  Clock::time_point start_;
};

// Where a program has a relaxed atomic, for people; empty where it has none.
std::string relaxed_atomic_of(const Program& program) {
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    for (const Instruction& i : program.threads[t].code) {
      if (!is_memory(i.opcode) || (i.order != Order::relaxed && i.order != Order::comm)) continue;
      return fmt::format("it has a relaxed atomic: {} '{}'", program.threads[t].name,
                         print_instruction(i, program, static_cast<int>(t)));
    }
  }
  return {};
}

bool judges_relaxed_atomics(RaceModel model) {
  return model == RaceModel::hrf_relaxed_direct || model == RaceModel::hrf_relaxed_indirect;
}

}  // namespace

std::optional<RaceModel> race_model_named(std::string_view text) {
  const auto* const found = std::find_if(race_models.begin(), race_models.end(),
                                         [&](RaceModel model) { return name(model) == text; });
  return found == race_models.end() ? std::nullopt : std::optional(*found);
}

RaceModel find_race_model(std::string_view text) {
  if (const auto model = race_model_named(text)) return *model;
  std::vector<std::string> names;
  for (const RaceModel model : race_models) names.emplace_back(name(model));
  throw BadInput(fmt::format("unknown model '{}'", text), suggestion(text, names));
}

std::string_view name(RaceModel model) {
  switch (model) {
    case RaceModel::drf:
      return "drf";
    case RaceModel::hrf_direct:
      return "hrf-direct";
    case RaceModel::hrf_indirect:
      return "hrf-indirect";
    case RaceModel::hrf_relaxed_direct:
      return "hrf-relaxed-direct";
    case RaceModel::hrf_relaxed_indirect:
      return "hrf-relaxed-indirect";
  }
  return {};
}
std::string_view name(SyncReading reading) {
  return reading == SyncReading::any_location ? "any location" : "same location";
}
std::string_view name(ConflictKind kind) {
  return kind == ConflictKind::ordinary ? "ordinary" : "synchronization";
}

const RaceVerdict& RaceReport::of(RaceModel model, SyncReading reading) const {
  for (const RaceVerdict& verdict : verdicts) {
    if (verdict.model == model && verdict.reading == reading) return verdict;
  }
  throw std::out_of_range(fmt::format("races under {}, {}, were not asked for", name(model), name(reading)));
}

bool RaceReport::inconclusive() const {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const RaceVerdict& v) { return v.answer == RaceAnswer::inconclusive; });
}

namespace {

// What was found of the program with an access to each element, told of the one with computed addresses.
RaceReport of_origins(RaceReport report, const lowering::Origins& origins) {
  const auto tell = [&](PerformedOperation& operation) {
    operation.instruction =
        origins[static_cast<std::size_t>(operation.thread)][static_cast<std::size_t>(operation.instruction)];
  };
  for (RaceVerdict& verdict : report.verdicts) {
    if (!verdict.race) continue;
    tell(verdict.race->first);
    tell(verdict.race->second);
    for (PerformedOperation& operation : verdict.race->execution) tell(operation);
  }
  return report;
}

}  // namespace

RaceReport analyse_races(const Program& program, const RaceOptions& options) {
  refuse_for_models(program);
  if (CountedBarriers(program).any()) {
    throw BadInput(
        fmt::format("'{}' has barriers that only some threads of a work-group wait at, and who meets "
                    "there is not followed in search of races",
                    program.name));
  }
  if (needs_lowering(program)) {
    lowering::Origins origins;
    const Program lowered = lowered_for_systems(program, &origins);
    return of_origins(analyse_races(lowered, options), origins);
  }
  RaceReport report;
  report.reason = relaxed_atomic_of(program);
  report.judged = report.reason.empty();
  Analysis analysis(program, options.explore);
  for (const RaceModel model : options.models) {
    for (const SyncReading reading : options.readings) {
      RaceVerdict verdict{.model = model, .reading = reading, .race = {}, .reason = {}};
      if (report.judged || judges_relaxed_atomics(model)) {
        analysis.judge(verdict);
      } else {
        verdict.answer = RaceAnswer::not_judged;
        verdict.reason = report.reason;
      }
      report.verdicts.push_back(std::move(verdict));
    }
  }
  return report;
}

std::string print(const Race& race, const Program& program) {
  const auto told = [&](const PerformedOperation& operation) {
    const Thread& thread = program.threads[static_cast<std::size_t>(operation.thread)];
    return fmt::format("{} '{}'", thread.name,
                       print_instruction(thread.code[static_cast<std::size_t>(operation.instruction)],
                                         program, operation.thread));
  };
  return fmt::format("{} race on {}: {} and {}", name(race.kind),
                     program.locations[static_cast<std::size_t>(race.location)].name, told(race.first),
                     told(race.second));
}

}  // namespace lockstep
