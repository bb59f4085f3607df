// Our count, theirs, and the comparison.
#include "checker/export/crosscheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "checker/explore/explorer.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/litmus/runner.hpp"

namespace lockstep {

namespace {

// A model that counts the states of each claim as it is expanded. It ends an exploration that has seen too
// many states by the flag that explorers watch.
class Counting final : public ModelView {
 public:
  Counting(const Model& model, const CrosscheckOptions& options)
      : ModelView(model), violations_(model.invariants().size()), options_(options) {}

  void expand(const std::uint64_t* state, Successors& out) const override {
    model_.expand(state, out);
    const bool violated = out.violated >= 0;
    const bool deadlocked = !out.live && !model_.proper_end(state);
    if (violated) violations_[static_cast<std::size_t>(out.violated)].fetch_add(1);
    if (deadlocked) deadlocks_.fetch_add(1);
    if (violated || deadlocked) failures_.fetch_add(1);
    expanded_.fetch_add(1);
    const std::atomic<bool>* interrupted = options_.limits.interrupted;
    if (too_many() || gives_up_counting() || (interrupted != nullptr && interrupted->load())) {
      stop_.store(true);
    }
  }

  // In the order of claims_of.
  [[nodiscard]] std::vector<std::uint64_t> claims() const {
    std::vector<std::uint64_t> counts;
    for (const auto& count : violations_) counts.push_back(count.load());
    counts.push_back(deadlocks_.load());
    return counts;
  }
  [[nodiscard]] bool too_many() const {
    return options_.most_states != 0 && expanded_.load() > options_.most_states;
  }
  // Some state fails, and there are more states than are worth counting past it.
  [[nodiscard]] bool gives_up_counting() const {
    return failures_.load() != 0 && expanded_.load() > options_.past_failure;
  }
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }

 private:
  mutable std::vector<std::atomic<std::uint64_t>> violations_;
  mutable std::atomic<std::uint64_t> deadlocks_{0};
  mutable std::atomic<std::uint64_t> failures_{0};
  mutable std::atomic<std::uint64_t> expanded_{0};
  mutable std::atomic<bool> stop_{false};
  const CrosscheckOptions& options_;
};

// The ends that pass a test's filter, with its condition and without.
struct Ends {
  std::uint64_t reached = 0;
  std::uint64_t missed = 0;
};
void count_end(const LitmusTest& test, const Outcome& outcome, Ends& ends) {
  if (!satisfies(test.filter, test, outcome)) return;
  (satisfies(test.condition, test, outcome) ? ends.reached : ends.missed) += 1;
}

struct OurCount {
  Count count;
  Purpose purpose = Purpose::count;
  bool too_many = false;
};

void finish(const ExploreResult& result, const Counting& counting, OurCount& ours) {
  ours.count.states = result.states;
  ours.count.firings = result.transitions;
  ours.count.seconds = result.seconds;
  ours.count.claims = counting.claims();
  if (result.verdict == Verdict::holds) return;
  if (result.verdict == Verdict::broken) {
    ours.count.status = CountStatus::unexpected;
    ours.count.message = result.broken;
    return;
  }
  if (counting.gives_up_counting()) {
    ours.purpose = Purpose::verdict;
    ours.count.failed = true;
    return;
  }
  ours.too_many = counting.too_many();
  ours.count.status = result.verdict == Verdict::out_of_time     ? CountStatus::out_of_time
                      : result.verdict == Verdict::out_of_memory ? CountStatus::out_of_memory
                                                                 : CountStatus::interrupted;
  ours.count.message = ours.too_many ? "it has too many states" : std::string(word(ours.count.status));
}

OurCount count_ours(const Subject& subject, const LitmusTest* test, const CrosscheckOptions& options) {
  OurCount ours;
  try {
    const Posed posed = test != nullptr ? pose(*test, subject) : Posed{subject.build(), {}};
    const Counting counting(*posed.model, options);
    Ends ends;
    ExploreOptions explore_options;
    explore_options.threads = options.limits.threads;
    explore_options.memory_limit = options.limits.memory;
    explore_options.time_limit = options.limits.time;
    explore_options.interrupted = &counting.stop();
    explore_options.invariants = false;
    explore_options.deadlocks = false;
    const bool asked = test != nullptr && !test->observed.empty();
    if (asked) {
      explore_options.on_end = [&](const std::uint64_t* state) {
        count_end(*test, posed.outcome(state), ends);
      };
    }
    finish(explore(counting, explore_options), counting, ours);
    if (asked) ours.count.claims.insert(ours.count.claims.end(), {ends.reached, ends.missed});
  } catch (...) {
    static const Program none;
    const RunError error =
        describe_error(std::current_exception(), subject.program ? *subject.program : none);
    ours.count.status =
        error.status == RunStatus::out_of_memory ? CountStatus::out_of_memory : CountStatus::unexpected;
    ours.count.message = error.message;
  }
  return ours;
}

}  // namespace

std::string_view word(Agreement agreement) {
  constexpr std::array<std::string_view, 6> words{"agree", "differ",   "inconclusive",
                                                  "error", "left out", "interrupted"};
  return words.at(static_cast<std::size_t>(agreement));
}

Agreement judge(Purpose purpose, const Count& ours, std::span<const OtherCount> others) {
  const auto differs = [&](const Count& count) {
    if (purpose == Purpose::verdict) return count.failed != ours.failed;
    return count.states != ours.states || count.firings != ours.firings || count.claims != ours.claims;
  };
  bool limit = ours.status != CountStatus::complete;
  bool error = ours.status == CountStatus::unexpected || others.empty();
  for (const auto& [checker, count] : others) {
    switch (count.status) {
      case CountStatus::interrupted:
        return Agreement::interrupted;
      case CountStatus::out_of_time:
      case CountStatus::out_of_memory:
        limit = true;
        break;
      case CountStatus::complete:
        if (ours.status == CountStatus::complete && differs(count)) return Agreement::differ;
        break;
      default:
        error = true;
        break;
    }
  }
  if (error) return Agreement::error;
  return limit ? Agreement::inconclusive : Agreement::agree;
}

CrosscheckRun crosscheck(Subject subject, std::shared_ptr<const LitmusTest> test,
                         const CrosscheckOptions& options) {
  CrosscheckRun run;
  subject.options.reductions = Reductions::none();
  subject.options.memory_observed = true;
  run.subject = std::move(subject);
  run.test = std::move(test);
  const auto progress = [&](std::string_view checker) {
    if (options.on_progress) options.on_progress(fmt::format("{}: {}", crosscheck_title(run), checker));
  };
  progress("lockstep");
  const OurCount ours = count_ours(run.subject, run.test.get(), options);
  run.ours = ours.count;
  run.purpose = ours.purpose;
  if (run.ours.status != CountStatus::complete) {
    run.agreement = ours.too_many                                 ? Agreement::left_out
                    : run.ours.status == CountStatus::unexpected  ? Agreement::error
                    : run.ours.status == CountStatus::interrupted ? Agreement::interrupted
                                                                  : Agreement::inconclusive;
    return run;
  }
  const recorded::WholeDescription whole = run.subject.describe();
  // A litmus test's question is one for counts.
  run.claims = claims_of(whole, run.purpose == Purpose::count ? run.test.get() : nullptr);
  CountOptions count_options;
  count_options.time = options.limits.time;
  count_options.memory = options.limits.memory;
  count_options.interrupted = options.limits.interrupted;
  count_options.purpose = run.purpose;
  count_options.expected_states = run.ours.states;
  for (const Checker checker : options.with) {
    progress(word(checker));
    run.others.push_back(
        {checker, count_with(checker, whole, run.claims, crosscheck_title(run), count_options)});
    if (run.others.back().count.status == CountStatus::interrupted) break;
  }
  run.agreement = judge(run.purpose, run.ours, run.others);
  return run;
}

int exit_status(std::span<const CrosscheckRun> runs, bool bad_input) {
  const auto any = [&](Agreement agreement) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const CrosscheckRun& run) { return run.agreement == agreement; });
  };
  if (any(Agreement::interrupted)) return 130;
  if (bad_input || any(Agreement::error)) return 2;
  if (any(Agreement::differ)) return 1;
  return any(Agreement::inconclusive) ? 3 : 0;
}

}  // namespace lockstep
