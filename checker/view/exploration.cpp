#include "checker/view/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/explore/explorer.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/view/run.hpp"
#include "checker/view/state_condition.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

// The rest of the states from one on; a state in which the condition holds counts as a violation.
class SearchedModel final : public ModelView {
 public:
  SearchedModel(const Model& model, std::vector<std::uint64_t> from, const StateCondition& condition)
      : ModelView(model), from_(std::move(from)), condition_(condition) {}

  void initial(Successors& out) const override { std::copy(from_.begin(), from_.end(), out.add({})); }
  void expand(const std::uint64_t* state, Successors& out) const override {
    const std::size_t before = out.size();
    model_.expand(state, out);
    const Fields fields = model_.fields(state);
    Situation situation{fields, {}};
    for (std::size_t i = before; i < out.size(); ++i)
      situation.enabled.push_back(&model_.rules()[out.firing(i).rule].name);
    situation.end = !out.live && model_.proper_end(state);
    situation.deadlock = !out.live && !situation.end;
    situation.violated = out.violated >= 0;
    out.violated = condition_.holds(situation) ? 0 : -1;
  }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return names_; }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t) const override { return {}; }

 private:
  std::vector<std::uint64_t> from_;
  const StateCondition& condition_;
  std::vector<std::string> names_{"the condition"};
};

RunStatus status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::out_of_time:
      return RunStatus::out_of_time;
    case Verdict::out_of_memory:
      return RunStatus::out_of_memory;
    case Verdict::interrupted:
      return RunStatus::interrupted;
    case Verdict::broken:
      return RunStatus::broken;
    default:
      return RunStatus::complete;
  }
}

}  // namespace

Exploration::Exploration(const Subject& subject, std::shared_ptr<const LitmusTest> test, bool moves_at_once,
                         std::size_t initial)
    : walk_(subject), test_(std::move(test)), moves_at_once_(moves_at_once), initial_(initial) {
  if (!walk_.start(initial)) throw BadInput(fmt::format("there is no initial state number {}", initial));
  settle();
}

Exploration::Exploration(const RecordedTrace& trace, std::size_t rows, bool moves_at_once)
    : walk_([&] {
        Retraced retraced = retrace(trace);
        if (retraced.walk.rows().size() < rows) {
          throw BadInput(retraced.difference.empty()
                             ? fmt::format("the run has {} rows, not {}", retraced.walk.rows().size(), rows)
                             : retraced.difference);
        }
        return std::move(retraced.walk);
      }()),
      moves_at_once_(moves_at_once),
      initial_(trace.initial) {
  walk_.back_to(std::max<std::size_t>(rows, 1));
  settle();
}

void Exploration::settle() {
  if (moves_at_once_) walk_.settle();
  rows_.push_back(walk_.rows().size());
}

std::vector<Choice> Exploration::choices() const {
  std::vector<Choice> all = walk_.choices();
  if (moves_at_once_) std::erase_if(all, [&](const Choice& one) { return walk_.is_own_move(one.firing); });
  return all;
}

void Exploration::go(const Decisions& path) {
  const auto common = static_cast<std::size_t>(
      std::mismatch(path.begin(), path.end(), path_.begin(), path_.end()).first - path.begin());
  walk_.back_to(rows_[common]);
  rows_.resize(common + 1);
  path_.resize(common);
  for (std::size_t i = common; i < path.size(); ++i) {
    const std::vector<Choice> open = choices();
    if (path[i] >= open.size()) {
      throw BadInput(
          fmt::format("step {} is rule number {}, and {} are enabled there", i + 1, path[i], open.size()),
          "the link may be of another version of the protocol");
    }
    walk_.take(open[path[i]].firing);
    path_.push_back(path[i]);
    settle();
  }
}

Found Exploration::find(const std::string& text, const RunLimits& limits) {
  const StateCondition condition(text, walk_.fields(walk_.rows().size() - 1), walk_.subject().program.get());
  // What the walk does at once the search does, too, so that each of its steps is a choice here.
  Subject subject = walk_.subject();
  subject.options.reductions = Reductions::none();
  subject.options.reductions.moves = moves_at_once_;
  const std::unique_ptr<Model> model = subject.build();
  const SearchedModel searched(*model, walk_.state(), condition);
  ExploreOptions options;
  options.threads = limits.threads;
  options.memory_limit = limits.memory;
  options.time_limit = limits.time;
  options.interrupted = limits.interrupted;
  options.deadlocks = false;
  const ExploreResult result = explore(searched, options);
  Found found{std::nullopt, status_of(result.verdict), result.states};
  if (result.verdict != Verdict::invariant) return found;
  Decisions path = path_;
  const Decisions before = path_;
  for (std::size_t i = 1; i < result.trace.steps.size(); ++i) {
    const std::vector<Choice> open = choices();
    const auto at = std::find_if(open.begin(), open.end(), [&](const Choice& one) {
      return one.firing == result.trace.steps[i].firing;
    });
    if (at == open.end()) throw std::logic_error("a search took a step that a walk cannot take");
    path.push_back(static_cast<std::size_t>(at - open.begin()));
    go(path);
  }
  go(before);
  found.path = std::move(path);
  return found;
}

RecordedTrace Exploration::trace() const {
  RecordedTrace trace;
  trace.subject = walk_.subject();
  trace.end = TraceEnd::state;
  trace.what = "a state that was explored";
  trace.state_bits = walk_.model().state_bits();
  trace.initial = initial_;
  for (std::size_t i = 0; i < walk_.rows().size(); ++i) {
    const Row& row = walk_.rows()[i];
    RecordedTrace::Step& step = trace.steps.emplace_back();
    step.rule = "starts";
    if (i > 0) {
      const RuleDescription& rule = walk_.model().rules()[row.firing.rule];
      step.rule = rule.name;
      for (std::size_t p = 0; p < row.firing.parameter_count; ++p)
        step.parameters.push_back(fmt::format("{} {}", rule.parameters.at(p), row.firing.parameters[p]));
    }
    step.narration = {row.narrated};
    step.state = walk_.state_after(i);
  }
  return trace;
}

json Exploration::document() const {
  json document = walk_json(walk_);
  document["kind"] = "explore";
  document["title"] =
      walk_.subject().client().empty()
          ? walk_.subject().description()
          : fmt::format("{} running {}", walk_.subject().description(), walk_.subject().client());
  document["path"] = path_;
  document["marks"] = rows_;
  document["moves_at_once"] = moves_at_once_;
  json open = json::array();
  for (const Choice& choice : choices()) {
    open.push_back({{"performer", choice.performer},
                    {"rule", choice.narrated.rule},
                    {"unit", choice.narrated.unit},
                    {"source", choice.narrated.source},
                    {"fair", choice.fair},
                    {"changes", changes_json(choice.narrated)}});
  }
  document["choices"] = std::move(open);
  const std::vector<std::uint64_t>& state = walk_.state();
  document["digest"] =
      digest({reinterpret_cast<const char*>(state.data()), state.size() * sizeof(state[0])}).substr(0, 8);
  if (walk_.violated() >= 0)
    document["violated"] = walk_.model().invariants().at(static_cast<std::size_t>(walk_.violated()));
  if (!walk_.broken().empty()) document["broken"] = walk_.broken();
  if (!walk_.live() && walk_.broken().empty()) {
    const bool proper = walk_.model().proper_end(state.data());
    document["end"] = proper ? "end" : "deadlock";
    const auto* program = dynamic_cast<const ProgramModel*>(&walk_.model());
    if (proper && test_ != nullptr && program != nullptr)
      document["outcome"] = outcome_text(*test_, outcome_at(*test_, *program, state.data()));
  }
  return document;
}

}  // namespace lockstep::view
