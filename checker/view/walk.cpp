// A rule was enabled by the row after which it has been enabled ever since. Messages are followed by the
// counts of the channels: what a count grew by has been pushed at the end, and a triggered rule has taken the
// head away.
#include "checker/view/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "checker/support/diagnostic.hpp"

namespace lockstep::view {

namespace {

Subject without_reductions(Subject subject) {
  subject.options.reductions = Reductions::none();
  subject.options.check_footprints = false;
  subject.options.many_states = false;
  return subject;
}

// Not every scheduler has trees; those of the program on its memory tell units and channels all the same.
recorded::WholeDescription described(Subject subject) {
  subject.options.scheduler.reset();
  return subject.describe();
}

constexpr std::string_view count_suffix = ".count";

std::map<std::string, std::string> by_path(const Fields& fields) {
  return {fields.begin(), fields.end()};
}

int number(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The fields of one slot of a channel, but those that are as in an empty one.
Fields slot_of(const Fields& fields, const Fields& empty, const std::string& channel, int slot) {
  const std::string prefix = fmt::format("{}({})", channel, slot);
  Fields content;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [path, value] = fields[i];
    if (!path.starts_with(prefix)) continue;
    std::string name = path.substr(prefix.size());
    if (name.starts_with(".")) name.erase(0, 1);
    if (name == "kind" || value != empty[i].second) content.emplace_back(name, value);
  }
  return content;
}

}  // namespace

Walk::Walk(const Subject& subject)
    : subject_(without_reductions(subject)),
      model_(subject_.build()),
      description_(described(subject_)),
      anatomy_(description_, description_.functions) {}

std::string Walk::performer_of(const Firing& firing) const {
  const RuleDescription& rule = model_->rules().at(firing.rule);
  if (rule.thread >= 0 && subject_.program != nullptr &&
      static_cast<std::size_t>(rule.thread) < subject_.program->threads.size()) {
    return subject_.program->threads[static_cast<std::size_t>(rule.thread)].name;
  }
  const std::vector<std::uint8_t> members(firing.parameters.begin(),
                                          firing.parameters.begin() + firing.parameter_count);
  const std::string performer = anatomy_.performer(rule.name, members);
  return performer.empty() ? rule.unit : performer;
}

std::vector<std::string> Walk::performers() const {
  std::vector<std::string> all;
  if (!rows_.empty()) all.push_back(rows_.front().performer);
  if (subject_.program != nullptr) {
    for (const Thread& thread : subject_.program->threads) all.push_back(thread.name);
  }
  for (const Unit& unit : anatomy_.units()) {
    int count = 1;
    if (!unit.per.empty()) {
      const auto extent = description_.extents.find(unit.per);
      if (extent != description_.extents.end()) count = extent->second;
      for (int i = 0; i < count; ++i) all.push_back(fmt::format("{} {}", unit.name, i));
    } else {
      all.push_back(unit.name);
    }
  }
  const auto note = [&](const std::string& name) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  // A scheduler's.
  for (const Row& row : rows_) note(row.performer);
  return all;
}

bool Walk::start(std::size_t initial) {
  rows_.clear();
  marks_.clear();
  messages_.clear();
  successors_.clear(model_->words());
  model_->initial(successors_);
  if (initial >= successors_.size()) return false;
  Row row;
  std::vector<NarratedStep> narration = model_->narrate_initial(initial);
  row.narrated = std::move(narration.front());
  row.performer = row.narrated.unit;
  Mark mark;
  mark.state.assign(successors_.state(initial), successors_.state(initial) + model_->words());
  arrive(std::move(mark), std::move(row));
  return true;
}

void Walk::arrive(Mark mark, Row row) {
  successors_.clear(model_->words());
  successors_.begin_state();
  try {
    model_->expand(mark.state.data(), successors_);
    mark.violated = successors_.violated;
    mark.live = successors_.live;
  } catch (const BrokenRule& broken) {
    mark.broken = broken.what();
    successors_.clear(model_->words());
  }
  for (std::size_t i = 0; i < successors_.size(); ++i) {
    mark.enabled.push_back(successors_.firing(i));
    mark.after.emplace_back(successors_.state(i), successors_.state(i) + model_->words());
  }
  mark.messages = messages_.size();
  rows_.push_back(std::move(row));
  marks_.push_back(std::move(mark));
}

Fields Walk::fields(std::size_t row) const {
  return model_->fields(marks_.at(row).state.data());
}

std::optional<std::size_t> Walk::enabler(const Firing& firing) const {
  for (std::size_t row = marks_.size(); row-- > 0;) {
    const bool begins = row == 0 || std::find(marks_[row - 1].enabled.begin(), marks_[row - 1].enabled.end(),
                                              firing) == marks_[row - 1].enabled.end();
    // What has just fired and is enabled again owes that to itself.
    const bool again = row > 0 && rows_[row].firing == firing;
    if (row == 0) return std::nullopt;
    if (begins || again) return row;
  }
  return std::nullopt;
}

void Walk::pass_messages(const Fields& before, const Fields& after, const std::optional<std::string>& taken,
                         Mark& mark, Row& row) {
  const std::map<std::string, std::string> was = by_path(before);
  for (const auto& [path, value] : after) {
    if (!path.ends_with(count_suffix)) continue;
    const std::string channel = path.substr(0, path.size() - count_suffix.size());
    const auto next = was.lower_bound(channel + "(");
    if (next == was.end() || !next->first.starts_with(channel + "(")) continue;
    const auto old = was.find(path);
    const int grown = number(value) - (old == was.end() ? 0 : number(old->second));
    // Under a scheduler the memory is a part of the state, and so of every path.
    const bool takes = taken && (channel == *taken || channel.ends_with("." + *taken));
    std::vector<std::size_t>& queue = mark.channels[channel];
    int pushed = grown;
    if (takes) {
      ++pushed;
      if (!queue.empty()) {
        row.taken = queue.front();
        messages_[queue.front()].taken = rows_.size();
        queue.erase(queue.begin());
      }
    }
    for (; pushed < 0; ++pushed) {
      if (queue.empty()) continue;
      messages_[queue.front()].taken = rows_.size();
      if (!row.taken) row.taken = queue.front();
      queue.erase(queue.begin());
    }
    for (int i = 0; i < pushed; ++i) {
      row.sent.push_back(messages_.size());
      queue.push_back(messages_.size());
      messages_.push_back(
          {channel, slot_of(after, fields(0), channel, number(value) - pushed + i), rows_.size(), {}});
    }
  }
}

void Walk::take(const Firing& firing) {
  const Mark& last = marks_.back();
  const auto at = std::find(last.enabled.begin(), last.enabled.end(), firing);
  if (at == last.enabled.end()) throw std::logic_error("a walk takes a step that is not enabled");
  Row row;
  row.firing = firing;
  std::vector<NarratedStep> narration = model_->narrate(last.state.data(), firing);
  row.narrated = std::move(narration.front());
  row.performer = performer_of(firing);
  const RuleDescription& rule = model_->rules()[firing.rule];
  row.fair = rule.fairness == Fairness::fair;
  row.by = enabler(firing);
  Mark mark;
  mark.state = last.after[static_cast<std::size_t>(at - last.enabled.begin())];
  mark.channels = last.channels;
  const std::vector<std::uint8_t> members(firing.parameters.begin(),
                                          firing.parameters.begin() + firing.parameter_count);
  pass_messages(model_->fields(last.state.data()), model_->fields(mark.state.data()),
                rule.thread >= 0 ? std::nullopt : anatomy_.channel(rule.name, members), mark, row);
  arrive(std::move(mark), std::move(row));
}

bool Walk::follow(const NarratedStep& narrated) {
  const Mark& last = marks_.back();
  std::optional<Firing> found;
  for (const Firing& firing : last.enabled) {
    if (!narrated.rule.starts_with(model_->rules()[firing.rule].name)) continue;
    const NarratedStep here = model_->narrate(last.state.data(), firing).front();
    if (here.rule != narrated.rule) continue;
    const bool same = std::equal(
        here.changes.begin(), here.changes.end(), narrated.changes.begin(), narrated.changes.end(),
        [](const FieldChange& a, const FieldChange& b) { return a.path == b.path && a.after == b.after; });
    if (!found || same) found = firing;
    if (same) break;
  }
  if (!found) return false;
  take(*found);
  return true;
}

bool Walk::is_own_move(const Firing& firing) const {
  return model_->rules().at(firing.rule).own_move;
}

void Walk::settle() {
  while (true) {
    const std::vector<Firing>& enabled = marks_.back().enabled;
    const auto move = std::find_if(enabled.begin(), enabled.end(),
                                   [&](const Firing& firing) { return is_own_move(firing); });
    if (move == enabled.end()) return;
    take(Firing(*move));
  }
}

void Walk::back_to(std::size_t rows) {
  if (rows >= rows_.size()) return;
  rows_.resize(rows);
  marks_.resize(rows);
  messages_.resize(marks_.empty() ? 0 : marks_.back().messages);
  for (Message& message : messages_) {
    if (message.taken && *message.taken >= rows) message.taken.reset();
  }
}

std::vector<Choice> Walk::choices() const {
  std::vector<Choice> all;
  const Mark& last = marks_.back();
  for (const Firing& firing : last.enabled) {
    all.push_back({firing, model_->narrate(last.state.data(), firing).front(), performer_of(firing),
                   model_->rules()[firing.rule].fairness == Fairness::fair});
  }
  return all;
}

}  // namespace lockstep::view
