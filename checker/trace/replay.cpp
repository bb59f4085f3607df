// Fires a recorded trace on a model built anew.
//
// A step is found by its rule's name and parameters among the successors of the state before it; where
// several bear that name (a program's instructions), the one that leads to the recorded state is taken.
// States are compared bit by bit, or, when the layout of a state has changed since, by the fields that the
// step changes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/support/diagnostic.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep {

namespace {

using Step = RecordedTrace::Step;

bool same_changes(const std::vector<NarratedStep>& left, const std::vector<NarratedStep>& right) {
  const auto same_change = [](const FieldChange& a, const FieldChange& b) {
    return a.path == b.path && a.before == b.before && a.after == b.after;
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](const NarratedStep& a, const NarratedStep& b) {
                      return a.rule == b.rule && std::equal(a.changes.begin(), a.changes.end(),
                                                            b.changes.begin(), b.changes.end(), same_change);
                    });
}

// Whether both begin with the same rule, of the same instruction.
bool bear_same_name(const Step& left, const Step& right) {
  return !left.narration.empty() && !right.narration.empty() &&
         left.narration.front().rule == right.narration.front().rule;
}

// The value that each changed field has after a step, in order of path.
std::map<std::string, std::string> effect_of(const Step& step) {
  std::map<std::string, std::string> effect;
  for (const NarratedStep& fired : step.narration) {
    for (const FieldChange& change : fired.changes) effect[change.path] = change.after;
  }
  return effect;
}

// The first field in which two steps' effects differ, in words.
std::string first_difference(const Step& recorded, const Step& now) {
  const auto was = effect_of(recorded);
  const auto is = effect_of(now);
  for (const auto& [path, value] : was) {
    const auto found = is.find(path);
    if (found == is.end()) return fmt::format("{} is not changed; in the trace it becomes {}", path, value);
    if (found->second != value)
      return fmt::format("{} becomes {}; in the trace {}", path, found->second, value);
  }
  for (const auto& [path, value] : is) {
    if (!was.contains(path)) return fmt::format("{} becomes {}; in the trace it is not changed", path, value);
  }
  return "its state differs from the trace's";
}

class Replayer {
 public:
  explicit Replayer(const RecordedTrace& trace) : recorded_(trace), model_(trace.subject.build()) {
    result_.trace = RecordedTrace{trace.subject, trace.end, trace.what,      model_->state_bits(),
                                  trace.initial, {},        trace.loop_start};
    same_layout_ = model_->state_bits() == trace.state_bits;
    for (const Step& step : trace.steps) same_layout_ = same_layout_ && step.state.size() == model_->words();
  }

  Replay run() {
    if (!start()) return std::move(result_);
    for (std::size_t i = 1; i < recorded_.steps.size(); ++i) {
      if (!take(i)) return std::move(result_);
    }
    check_end();
    return std::move(result_);
  }

 private:
  bool differ(std::size_t step, std::string why) {
    result_.different_step = step;
    result_.difference = std::move(why);
    return false;
  }

  [[nodiscard]] bool agrees(const Step& recorded, const Step& now) const {
    if (same_layout_) return recorded.state == now.state;
    return same_changes(recorded.narration, now.narration);
  }

  bool start() {
    successors_.clear(model_->words());
    model_->initial(successors_);
    if (recorded_.initial >= successors_.size()) {
      return differ(0, fmt::format("there are {} initial states, the trace starts in number {}",
                                   successors_.size(), recorded_.initial));
    }
    Step now;
    now.rule = recorded_.steps[0].rule;
    now.narration = model_->narrate_initial(recorded_.initial);
    now.state = state_at(recorded_.initial);
    if (!agrees(recorded_.steps[0], now)) return differ(0, first_difference(recorded_.steps[0], now));
    result_.trace.steps.push_back(std::move(now));
    return true;
  }

  bool take(std::size_t number) {
    const Step& wanted = recorded_.steps[number];
    const std::vector<std::uint64_t> before = result_.trace.steps.back().state;
    successors_.clear(model_->words());
    model_->expand(before.data(), successors_);
    std::optional<Step> other;
    for (std::size_t i = 0; i < successors_.size(); ++i) {
      const Firing firing = successors_.firing(i);
      if (!is_meant(firing, wanted)) continue;
      Step now{wanted.rule, wanted.parameters, model_->narrate(before.data(), firing), state_at(i)};
      if (agrees(wanted, now)) {
        result_.trace.steps.push_back(std::move(now));
        return true;
      }
      if (!other || bear_same_name(now, wanted)) other = std::move(now);
    }
    if (other) return differ(number, "leads elsewhere: " + first_difference(wanted, *other));
    return differ(number, "is not enabled");
  }

  [[nodiscard]] bool is_meant(const Firing& firing, const Step& wanted) const {
    const RuleDescription& rule = model_->rules().at(firing.rule);
    if (rule.name != wanted.rule || firing.parameter_count != wanted.parameters.size()) return false;
    for (std::size_t i = 0; i < firing.parameter_count; ++i) {
      if (wanted.parameters[i] != fmt::format("{} {}", rule.parameters.at(i), firing.parameters[i]))
        return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint64_t> state_at(std::size_t i) const {
    return {successors_.state(i), successors_.state(i) + model_->words()};
  }

  bool check_end() {
    const std::size_t last = recorded_.steps.size() - 1;
    const std::vector<std::uint64_t>& state = result_.trace.steps.back().state;
    successors_.clear(model_->words());
    std::string broken;
    try {
      model_->expand(state.data(), successors_);
    } catch (const BrokenRule& rule) {
      broken = rule.what();
    }
    if (recorded_.end == TraceEnd::broken ? broken != recorded_.what : !broken.empty()) {
      return differ(last, broken.empty()
                              ? fmt::format("its last state does not break a rule: {}", recorded_.what)
                              : fmt::format("its last state breaks a rule: {}", broken));
    }
    switch (recorded_.end) {
      case TraceEnd::invariant: {
        const auto& names = model_->invariants();
        const bool violated = successors_.violated >= 0 &&
                              names.at(static_cast<std::size_t>(successors_.violated)) == recorded_.what;
        if (!violated)
          return differ(last, fmt::format("its last state does not violate '{}'", recorded_.what));
        break;
      }
      case TraceEnd::deadlock:
        if (successors_.live) return differ(last, "its last state is no deadlock: a rule is enabled");
        if (model_->proper_end(state.data()))
          return differ(last, "its last state is no deadlock but a proper end");
        break;
      case TraceEnd::outcome:
        if (successors_.live || !model_->proper_end(state.data())) {
          return differ(last, "its last state is not an end of the program");
        }
        break;
      case TraceEnd::cycle:
        if (result_.trace.steps.at(recorded_.loop_start.value_or(0)).state != state) {
          return differ(last, fmt::format("its last state is not that of step {}: the loop does not close",
                                          recorded_.loop_start.value_or(0)));
        }
        break;
      case TraceEnd::broken:
      case TraceEnd::state:
        break;
    }
    return true;
  }

  const RecordedTrace& recorded_;
  std::unique_ptr<Model> model_;
  bool same_layout_ = false;
  Successors successors_;
  Replay result_;
};

}  // namespace

Replay replay(const RecordedTrace& trace) {
  return Replayer(trace).run();
}

std::string replay_text(const RecordedTrace& recorded, const Replay& replayed) {
  std::string text = fmt::format("Replay {}", recorded.subject.description());
  if (recorded.subject.program) text += " running " + recorded.subject.program->name;
  if (recorded.subject.launches) text += " under " + recorded.subject.launches->name;
  text += "\n" + trace_text(replayed.trace);
  if (replayed.difference.empty()) {
    return text +
           fmt::format("As recorded: {} steps, {}\n", recorded.steps.size() - 1, trace_end_text(recorded));
  }
  const Step& step = recorded.steps.at(replayed.different_step);
  std::string name = step.narration.empty() ? step.rule : step.narration.front().rule;
  return text + fmt::format("Not as recorded: step {} of {}, '{}', {}\n", replayed.different_step,
                            recorded.steps.size() - 1, name, replayed.difference);
}

nlohmann::json replay_json(const RecordedTrace& recorded, const Replay& replayed) {
  nlohmann::json out{{"schema", "lockstep.replay/1"},
                     {"as_recorded", replayed.difference.empty()},
                     {"steps_recorded", recorded.steps.size()},
                     {"replayed", trace_json(replayed.trace)}};
  if (!replayed.difference.empty()) {
    out["different_step"] = replayed.different_step;
    out["difference"] = replayed.difference;
  }
  return out;
}

}  // namespace lockstep
