// The data-race-free models, and those of cat.
#include "checker/generate/model.hpp"

#include <algorithm>

#include "checker/axiomatic/model.hpp"
#include "checker/generate/screen.hpp"
#include "checker/litmus/runner.hpp"

namespace lockstep::generate {

namespace {

class RaceFreeModel final : public ConsistencyModel {
 public:
  explicit RaceFreeModel(RaceModel model) : model_(model), sc_(subject_named("sc")) {}

  [[nodiscard]] std::string name() const override { return std::string(lockstep::name(model_)); }
  [[nodiscard]] bool owes_nothing(const Blueprint& blueprint) const override {
    return surely_races(blueprint, model_);
  }

  [[nodiscard]] Obligation obligation(const LitmusTest& test, const RunLimits& limits) const override {
    Obligation obligation;
    RaceOptions options;
    options.models = {model_};
    options.explore.threads = limits.threads;
    options.explore.memory_limit = limits.memory;
    options.explore.time_limit = limits.time;
    options.explore.interrupted = limits.interrupted;
    const RaceReport races = analyse_races(test.program, options);
    const RaceVerdict& any = races.of(model_, SyncReading::any_location);
    const RaceVerdict& same = races.of(model_, SyncReading::same_location);
    obligation.race_states = any.states + same.states;
    for (const RaceVerdict* verdict : {&any, &same}) {
      if (verdict->answer != RaceAnswer::inconclusive) continue;
      obligation.reason = verdict->reason;
      return obligation;
    }
    if (!races.judged || any.answer == RaceAnswer::not_judged) {
      obligation.owed = Owed::not_judged;
      obligation.reason = races.reason;
      return obligation;
    }
    if (any.answer == RaceAnswer::race && same.answer == RaceAnswer::race) {
      obligation.owed = Owed::nothing;
      return obligation;
    }
    obligation.by_one_reading = any.answer != same.answer;
    const SystemRun run = run_on_system(test, sc_, limits);
    obligation.outcome_states = run.exploration.states;
    if (run.status != RunStatus::complete) {
      obligation.reason = run.status == RunStatus::error ? run.message : std::string(word(run.status));
      return obligation;
    }
    obligation.owed = Owed::outcomes;
    obligation.allowed = run.outcomes;
    return obligation;
  }

 private:
  RaceModel model_;
  Subject sc_;
};

bool has_kernels(const Program& program) {
  return std::any_of(program.threads.begin(), program.threads.end(), [](const Thread& thread) {
    return std::any_of(thread.code.begin(), thread.code.end(), [](const Instruction& instruction) {
      return instruction.opcode == Opcode::kernel_begin || instruction.opcode == Opcode::kernel_end;
    });
  });
}

class AxiomaticView final : public ConsistencyModel {
 public:
  explicit AxiomaticView(const std::string& name) : model_(name) { refuse_vacuous(model_); }

  [[nodiscard]] std::string name() const override { return model_.name(); }
  [[nodiscard]] bool owes_nothing(const Blueprint&) const override { return false; }

  [[nodiscard]] Obligation obligation(const LitmusTest& test, const RunLimits& limits) const override {
    Obligation obligation;
    if (!model_.orders_kernels() && has_kernels(test.program)) {
      obligation.owed = Owed::not_judged;
      obligation.reason = "the model says nothing of kernels";
      return obligation;
    }
    JudgeOptions options;
    options.time = limits.time;
    options.interrupted = limits.interrupted;
    const ModelRun run = judge(test, model_, options);
    obligation.outcome_states = run.candidates;
    if (run.status != RunStatus::complete || run.cut) {
      obligation.reason = run.status == RunStatus::error ? run.message
                          : run.cut                      ? "loops were cut"
                                                         : std::string(word(run.status));
      return obligation;
    }
    if (run.raised != 0) {
      obligation.owed = Owed::nothing;
      return obligation;
    }
    obligation.owed = Owed::outcomes;
    for (const AllowedOutcome& one : run.outcomes) obligation.allowed.push_back(one.outcome);
    return obligation;
  }

 private:
  AxiomaticModel model_;
};

}  // namespace

std::unique_ptr<ConsistencyModel> axiomatic_model(const std::string& name_or_path) {
  return std::make_unique<AxiomaticView>(name_or_path);
}

std::unique_ptr<ConsistencyModel> race_free_model(RaceModel model) {
  return std::make_unique<RaceFreeModel>(model);
}

}  // namespace lockstep::generate
