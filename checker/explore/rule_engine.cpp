// A state is unpacked, every guard is asked, and each enabled instance acts on a copy. Copies wait to be
// packed together: an action writes single bytes, and reading those back as words at once would hold up the
// processor.
#include "checker/explore/rule_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "checker/footprint/dead.hpp"
#include "checker/footprint/stubborn.hpp"
#include "checker/interpret/tree_rule.hpp"

namespace lockstep {

namespace {

constexpr unsigned word_bits = 64;
constexpr std::size_t cache_line = 64;
constexpr std::size_t first_cache_share = 8192;  // bytes of waiting states, so that they stay in it

// Every combination of members, the last parameter running fastest.
std::vector<std::array<std::uint8_t, max_parameters>> combinations(
    const std::vector<RuleParameter<ConcreteErased>>& parameters) {
  std::vector<std::array<std::uint8_t, max_parameters>> all{{}};
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<std::array<std::uint8_t, max_parameters>> longer;
    for (const auto& chosen : all) {
      for (int i = 0; i < parameters[p].extent; ++i) {
        longer.push_back(chosen);
        longer.back()[p] = static_cast<std::uint8_t>(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

// What derived reductions need room for.
struct RuleEngine::Room {
  footprint::StubbornSets::Room stubborn;
  footprint::DeadFields::Room dead;
};

// Steps as people read them: after each, what it changed.
struct RuleEngine::Narration {
  const RuleEngine& engine;
  std::vector<std::pair<std::string, std::string>> before;
  std::vector<NarratedStep> steps;

  void record(const void* after, const Rule& rule, std::string_view parameters) {
    auto now = engine.states_.fields_of_state(after);
    NarratedStep step{std::string(rule.name), std::string(rule.unit), std::string(rule.source), {}};
    if (!parameters.empty()) step.rule += fmt::format(" ({})", parameters);
    if (rule.instruction != nullptr)
      step.rule += fmt::format(" {}", engine.instruction_text_(*rule.instruction, rule.thread));
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].second != before[i].second)
        step.changes.push_back({now[i].first, before[i].second, now[i].second});
    }
    before = std::move(now);
    steps.push_back(std::move(step));
  }
};

RuleEngine::RuleEngine(Lists lists, const PlainStates& states, Reductions reductions,
                       InstructionText instruction_text)
    : lists_(std::move(lists)),
      states_(states),
      reductions_(reductions),
      instruction_text_(std::move(instruction_text)) {
  stride_ = (states_.state_bytes() + cache_line - 1) / cache_line * cache_line;
  most_waiting_ = std::clamp<std::size_t>(first_cache_share / stride_, 1, 8);
  number_instances();
  find_segments();
  if (reductions_.moves) own_moves_ = own_moves();
  if (!own_moves_.empty()) all_woken_ = wakes_moves;
  for (const auto* claims : {&lists_.assertions, &lists_.invariants}) {
    for (const auto& claim : *claims) invariant_names_.emplace_back(claim.name);
  }
}

void RuleEngine::number_instances() {
  if (lists_.rules.size() > std::numeric_limits<std::uint16_t>::max())
    throw std::length_error("more rules than are numbered");
  for (std::size_t r = 0; r < lists_.rules.size(); ++r) {
    const RuleOf& value = lists_.rules[r];
    const auto chosen = combinations(value.parameters);
    if (members_.size() + chosen.size() >= std::numeric_limits<std::uint32_t>::max())
      throw std::length_error(fmt::format("'{}' has more instances than are numbered", value.rule.name));
    ranges_.push_back(
        {static_cast<std::uint32_t>(members_.size()), static_cast<std::uint32_t>(chosen.size())});
    members_.insert(members_.end(), chosen.begin(), chosen.end());
    rule_of_.insert(rule_of_.end(), chosen.size(), static_cast<std::uint16_t>(r));
    RuleDescription description{std::string(value.rule.name),
                                std::string(value.rule.unit),
                                std::string(value.rule.source),
                                value.rule.fairness,
                                {},
                                value.rule.instruction != nullptr,
                                value.rule.thread,
                                value.rule.own_move};
    for (const auto& parameter : value.parameters) description.parameters.emplace_back(parameter.name);
    descriptions_.push_back(std::move(description));
  }
}

void RuleEngine::find_segments() {
  std::size_t at = 0;
  for (std::size_t i = 0; i < lists_.splits.size(); ++i) {
    const RuleSplit& split = lists_.splits[i];
    if (split.cases.front() > at) segments_.push_back({at, split.cases.front(), -1});
    segments_.push_back({split.cases.front(), split.cases.back(), static_cast<int>(i)});
    at = split.cases.back();
  }
  if (at < lists_.rules.size()) segments_.push_back({at, lists_.rules.size(), -1});
}

// Those stretches of the segments whose rules are threads' own moves; of a split, whole.
std::vector<RuleEngine::Segment> RuleEngine::own_moves() const {
  const auto is_own = [&](std::size_t r) { return lists_.rules[r].rule.own_move; };
  std::vector<Segment> chosen;
  for (const Segment& segment : segments_) {
    if (segment.split >= 0) {
      bool any = false;
      for (std::size_t r = segment.first; r < segment.last; ++r) any = any || is_own(r);
      if (any) chosen.push_back(segment);
      continue;
    }
    for (std::size_t r = segment.first; r < segment.last; ++r) {
      if (!is_own(r)) continue;
      if (!chosen.empty() && chosen.back().split < 0 && chosen.back().last == r) {
        ++chosen.back().last;
      } else {
        chosen.push_back({r, r + 1, -1});
      }
    }
  }
  return chosen;
}

template <class F>
void RuleEngine::for_each_range(const std::vector<Segment>& segments, const void* state, F&& f) const {
  for (const Segment& segment : segments) {
    if (segment.split < 0) {
      f(segment.first, segment.last);
      continue;
    }
    const RuleSplit& split = lists_.splits[static_cast<std::size_t>(segment.split)];
    const auto current = static_cast<std::size_t>(split.counter(state));
    if (current + 1 < split.cases.size()) f(split.cases[current], split.cases[current + 1]);
  }
}

std::uint32_t* RuleEngine::scan(std::size_t rule, const void* state, std::uint32_t* to,
                                Successors& out) const {
  const Range& range = ranges_[rule];
  out.acting = {static_cast<std::uint32_t>(rule), Acting::none};
  return lists_.rules[rule].guard.scan(state, &members_[range.first], range.first, range.count, to);
}

void RuleEngine::prepare(Successors& out) const {
  out.begin_state();
  if (out.fired.size() < lists_.rules.size()) out.fired.resize(lists_.rules.size());
  // Enabled instances twice over: those of a state, and those of a successor that is being settled.
  out.scratch.reserve(stride_ * (1 + most_waiting_), 2 * (members_.size() + 1));
}

// The second half: the first lists what the state that is expanded has enabled.
std::uint32_t* RuleEngine::room_for_enabled(Successors& out) const {
  return out.scratch.numbers() + members_.size() + 1;
}

std::uint32_t* RuleEngine::ask_all(const std::byte* state, std::uint32_t* to, Successors& out) const {
  for_each_range(segments_, state, [&](std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) to = scan(r, state, to, out);
  });
  return to;
}

std::uint32_t* RuleEngine::list_enabled(const std::byte* state, const std::uint64_t* packed,
                                        std::uint32_t* to, Successors& out) const {
  if (inputs_.empty()) return ask_all(state, to, out);
  const unsigned words = inputs_.set_words();
  if (out.enabled.size() < words) out.enabled.resize(words);
  std::uint64_t* const set = out.enabled.data();
  const auto add = [&](const std::uint32_t* from, const std::uint32_t* end) {
    for (; from != end; ++from) set[*from / word_bits] |= std::uint64_t{1} << *from % word_bits;
  };
  std::fill_n(set, words, 0);
  if (out.known.enabled == nullptr) {
    std::uint32_t* const end = ask_all(state, to, out);
    add(to, end);
    return end;
  }
  // Whose guards are asked; then what holds.
  inputs_.add_touched(out.known.state, packed, set);
  for (unsigned w = 0; w < words; ++w) {
    const std::uint64_t asked = set[w] & ~in_splits_[w];
    set[w] = out.known.enabled[w] & ~set[w] & ~in_splits_[w];
    for (std::uint64_t left = asked; left != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint32_t instance = w * word_bits + first;
      const std::uint16_t rule = rule_of_[instance];
      // As many of the rule's as come one after the other.
      const Range& range = ranges_[rule];
      const auto together = std::min({static_cast<std::uint32_t>(std::countr_one(left >> first)),
                                      range.first + range.count - instance, word_bits - first});
      out.acting = {rule, Acting::none};
      const std::uint32_t* const end =
          lists_.rules[rule].guard.scan(state, &members_[instance], instance, together, to);
      add(to, end);
      left &= together + first == word_bits ? (std::uint64_t{1} << first) - 1
                                            : ~(((std::uint64_t{1} << together) - 1) << first);
    }
  }
  for_each_range(splits_, state, [&](std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) add(to, scan(r, state, to, out));
  });
  for (unsigned w = 0; w < words; ++w) {
    for (std::uint64_t left = set[w]; left != 0; left &= left - 1)
      *to++ = w * word_bits + static_cast<std::uint32_t>(std::countr_zero(left));
  }
  return to;
}

void RuleEngine::ask_again(GuardInputs inputs) {
  inputs_ = std::move(inputs);
  in_splits_.assign(inputs_.set_words(), 0);
  splits_.clear();
  for (const Segment& segment : segments_) {
    if (segment.split < 0) continue;
    splits_.push_back(segment);
    for (std::size_t r = segment.first; r < segment.last; ++r) {
      for (std::uint32_t i = ranges_[r].first; i < ranges_[r].first + ranges_[r].count; ++i)
        in_splits_[i / word_bits] |= std::uint64_t{1} << i % word_bits;
    }
  }
}

// Other reductions may pass over states, or change fields that only invariants look at.
bool RuleEngine::judges_invariants() const {
  return !reductions_.stubborn && !reductions_.dead && (!reductions_.at_once || reductions_.invariants);
}

void RuleEngine::judge(const void* state, Successors& out) const {
  constexpr Members none{};
  int number = 0;
  out.acting = {};
  const auto all_hold = [&](const auto& claims) {
    for (const auto& claim : claims) {
      if (!claim.predicate(state, none.data())) {
        out.violated = number;
        return false;
      }
      ++number;
    }
    return true;
  };
  if (all_hold(lists_.assertions) && judges_invariants()) all_hold(lists_.invariants);
}

void RuleEngine::expand(const std::uint64_t* packed, Successors& out) const {
  prepare(out);
  std::byte* const state = out.scratch.bytes();
  out.acting = {};
  try {
    states_.unpack_state(packed, state);
    expand_plain(state, packed, out);
  } catch (const RuleMisuse& misuse) {
    throw broken_rule(out.acting, misuse.what_it_did);
  }
}

BrokenRule RuleEngine::broken_rule(const Acting& acting, Misuse what) const {
  if (acting.rule == Acting::none)
    return BrokenRule(fmt::format("a claim, or a state as it was found, {}", misuse_text(what)));
  const RuleOf& rule = lists_.rules[acting.rule];
  if (acting.instance == Acting::none)
    return BrokenRule(fmt::format("the guard of '{}' {}", rule.rule.name, misuse_text(what)));
  const std::string members = parameters_text(rule.parameters, members_[acting.instance]);
  return BrokenRule(fmt::format("'{}'{} {}", rule.rule.name, members.empty() ? "" : " (" + members + ")",
                                misuse_text(what)));
}

void RuleEngine::expand_plain(std::byte* state, const std::uint64_t* packed, Successors& out) const {
  std::byte* const waiting = state + stride_;
  const std::size_t bytes = states_.state_bytes();
  judge(state, out);

  std::uint32_t* const enabled = out.scratch.numbers();
  std::uint32_t* end = list_enabled(state, packed, enabled, out);
  if (checks_footprints_) {
    check_kept(state, enabled, end, out);
    for (std::uint32_t i = 0; i < members_.size() && !trees_.empty(); ++i)
      check_tree(i, std::find(enabled, end, i) != end, state, waiting);
  }
  end = leave_waiting(state, enabled, end, out);
  if (checks_footprints_ && stubborn_) check_footprints(state, enabled, end, waiting);
  for (const std::uint32_t* at = enabled; at != end; ++at)
    out.live |= lists_.rules[rule_of_[*at]].rule.fairness == Fairness::fair;
  if (stubborn_ && out.live)
    end = enabled + choose(state, enabled, static_cast<std::size_t>(end - enabled), out);

  std::size_t count = 0;
  const auto pack_waiting = [&] {
    states_.repack_states(state, packed, waiting, stride_, count, out.last(count));
    count = 0;
  };
  for (const std::uint32_t* at = enabled; at != end; ++at) {
    const std::uint16_t number = rule_of_[*at];
    const RuleOf& rule = lists_.rules[number];
    out.acting = {number, *at};
    std::byte* const after = waiting + count * stride_;
    std::memcpy(after, state, bytes);
    rule.action(after, members_[*at].data());
    out.add(Firing{number, static_cast<std::uint8_t>(rule.parameters.size()), members_[*at]});
    ++out.fired[number];
    finish(after, woken_by(*at), out);
    if (++count == most_waiting_) pack_waiting();
  }
  if (count > 0) pack_waiting();
}

// Holds what is listed against what all guards say.
void RuleEngine::check_kept(const std::byte* state, const std::uint32_t* enabled, const std::uint32_t* end,
                            Successors& out) const {
  const std::uint32_t* const room = room_for_enabled(out);
  const std::uint32_t* const all = ask_all(state, room_for_enabled(out), out);
  if (std::equal(enabled, end, room, all)) return;
  const auto [listed, asked] = std::mismatch(enabled, end, room, all);
  const bool is_enabled = listed == end || (asked != all && *asked < *listed);
  const std::uint32_t instance = is_enabled ? *asked : *listed;
  throw std::logic_error(fmt::format(
      "the guard of '{}' ({}) looks at something else than its tree: it {} now", rule_of(instance).rule.name,
      parameters_text(rule_of(instance).parameters, members_[instance]),
      is_enabled ? "holds" : "does not hold"));
}

// Holds every instance's footprint against the instance itself.
void RuleEngine::check_footprints(const std::byte* state, const std::uint32_t* enabled,
                                  const std::uint32_t* end, std::byte* room) const {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const bool is_enabled = std::find(enabled, end, i) != end;
    const RuleOf& rule = lists_.rules[rule_of_[i]];
    if (is_enabled) {
      std::memcpy(room, state, states_.state_bytes());
      rule.action(room, members_[i].data());
    }
    const std::string difference =
        stubborn_->footprints().difference(i, is_enabled, state, is_enabled ? room : nullptr);
    if (!difference.empty()) {
      throw std::logic_error(fmt::format("the footprint of '{}' ({}) is not what it does: {}", rule.rule.name,
                                         parameters_text(rule.parameters, members_[i]), difference));
    }
  }
}

// Holds the tree of an instance's rule against the rule.
void RuleEngine::check_tree(std::uint32_t instance, bool is_enabled, const std::byte* state,
                            std::byte* room) const {
  const TreeRule& tree = *trees_[rule_of_[instance]];
  const RuleOf& rule = lists_.rules[rule_of_[instance]];
  const std::uint8_t* const members = members_[instance].data();
  const auto differs = [&](const std::string& how) {
    throw std::logic_error(fmt::format("the tree of '{}' ({}) is not what it does: {}", rule.rule.name,
                                       parameters_text(rule.parameters, members_[instance]), how));
  };
  if (tree.enabled(state, members) != is_enabled) differs(is_enabled ? "it is enabled" : "it is not enabled");
  if (!is_enabled) return;
  const std::size_t bytes = states_.state_bytes();
  std::memcpy(room, state, bytes);
  rule.action(room, members);
  std::vector<std::byte> walked(state, state + bytes);
  tree.fire(walked.data(), members);
  for (const footprint::Place& place : places_) {
    const std::int64_t by_rule = footprint::value_at(place, room);
    const std::int64_t by_tree = footprint::value_at(place, walked.data());
    if (by_rule != by_tree) differs(fmt::format("{} becomes {}, and not {}", place.path, by_rule, by_tree));
  }
}

void RuleEngine::replace(std::size_t rule, std::shared_ptr<const TreeRule> tree) {
  TreeClosures closures = closures_of(std::move(tree));
  lists_.rules[rule].guard = std::move(closures.guard);
  lists_.rules[rule].action = std::move(closures.action);
}

void RuleEngine::check_trees(std::vector<std::shared_ptr<const TreeRule>> trees,
                             std::vector<footprint::Place> places) {
  trees_ = std::move(trees);
  places_ = std::move(places);
}

RuleEngine::Room& RuleEngine::room_of(Successors& out) {
  if (out.room == nullptr) out.room = std::make_shared<Room>();
  return *static_cast<Room*>(out.room.get());
}

std::size_t RuleEngine::choose(const std::byte* state, std::uint32_t* enabled, std::size_t count,
                               Successors& out) const {
  return stubborn_->choose(state, {enabled, count}, room_of(out).stubborn);
}

std::vector<bool> RuleEngine::fair_instances() const {
  std::vector<bool> fair;
  for (const std::uint16_t r : rule_of_) fair.push_back(lists_.rules[r].rule.fairness == Fairness::fair);
  return fair;
}

void RuleEngine::rest_on(const Claims& claims) {
  const auto claim_of = [&](const AtOnceValue<ConcreteErased>& claim) {
    const auto named = [&](const RuleOf& rule) {
      return rule.rule.name == claim.rule &&
             std::equal(rule.parameters.begin(), rule.parameters.end(), claim.parameters.begin(),
                        claim.parameters.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; });
    };
    const auto at = std::find_if(lists_.rules.begin(), lists_.rules.end(), named);
    if (at == lists_.rules.end())
      throw std::logic_error(
          fmt::format("a claim names '{}', which is no rule over those members", claim.rule));
    return Claim{static_cast<std::size_t>(at - lists_.rules.begin()), claim.where};
  };
  for (const auto& claim : claims.at_once) claims_.push_back(claim_of(claim));
  for (const auto& claim : claims.waits) waits_.push_back(claim_of(claim));
  if (claims_.size() > most_claims) throw std::length_error("more claims than are numbered");
  all_woken_ |= (Wakes{1} << claims_.size()) - 1;
  lemmas_ = claims.lemmas;
  wakes_ = claims.wakes;
  for (Wakes& wakes : wakes_) wakes &= all_woken_;
  for (const Keeper::Kept& kept : claims.kept)
    lists_.kept.insert(lists_.kept.end(), kept.begin(), kept.end());
}

bool RuleEngine::waits(std::uint32_t instance, const void* state) const {
  const std::uint16_t rule = rule_of_[instance];
  return std::any_of(waits_.begin(), waits_.end(), [&](const Claim& claim) {
    return claim.rule == rule && claim.where(state, members_[instance].data());
  });
}

std::uint32_t* RuleEngine::leave_waiting(const void* state, std::uint32_t* enabled, std::uint32_t* end,
                                         Successors& out) const {
  if (waits_.empty()) return end;
  out.acting = {};
  return std::remove_if(enabled, end, [&](std::uint32_t i) { return waits(i, state); });
}

void RuleEngine::fire(std::uint32_t instance, void* state, Successors& out, Narration* narration) const {
  const RuleOf& rule = lists_.rules[rule_of_[instance]];
  out.acting = {rule_of_[instance], instance};
  rule.action(state, members_[instance].data());
  ++out.fired[rule_of_[instance]];
  if (narration != nullptr)
    narration->record(state, rule.rule, parameters_text(rule.parameters, members_[instance]));
}

// Fires every enabled move of a thread's own once; returns what that woke.
RuleEngine::Wakes RuleEngine::take_moves(void* state, Successors& out, Narration* narration) const {
  Wakes woken = 0;
  std::uint32_t* const enabled = room_for_enabled(out);
  for_each_range(own_moves_, state, [&](std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) {
      const RuleOf& rule = lists_.rules[r];
      if (!rule.rule.own_move) continue;
      std::uint32_t* const end = scan(r, state, enabled, out);
      for (const std::uint32_t* at = enabled; at != end; ++at) {
        out.acting = {static_cast<std::uint32_t>(r), Acting::none};
        if (at != enabled && !rule.guard(state, members_[*at].data())) continue;
        fire(*at, state, out, narration);
        woken |= woken_by(*at);
      }
    }
  });
  return woken;
}

// Rules keep the claims' lemmas. To reset dead fields is no rule: after it they are asked.
bool RuleEngine::lemmas_hold(const void* state) const {
  constexpr Members none{};
  return dead_ == nullptr || std::all_of(lemmas_.begin(), lemmas_.end(), [&](const auto& lemma) {
           return lemma.predicate(state, none.data());
         });
}

// Likewise what is claimed to be something that nobody can tell, of what was woken; returns what is woken
// then.
RuleEngine::Wakes RuleEngine::take_claimed(void* state, Wakes woken, Successors& out,
                                           Narration* narration) const {
  std::uint32_t* const enabled = room_for_enabled(out);
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    const Wakes own = Wakes{1} << i;
    if ((woken & own) == 0) continue;
    woken &= ~own;
    const Claim& claim = claims_[i];
    const RuleOf& rule = lists_.rules[claim.rule];
    const std::uint32_t* const end = scan(claim.rule, state, enabled, out);
    for (const std::uint32_t* at = enabled; at != end; ++at) {
      out.acting = {static_cast<std::uint32_t>(claim.rule), Acting::none};
      const std::uint8_t* const members = members_[*at].data();
      if (at != enabled && !rule.guard(state, members)) continue;
      if (!claim.where(state, members) || !lemmas_hold(state)) continue;
      if (waits(*at, state)) continue;
      fire(*at, state, out, narration);
      woken |= woken_by(*at);
    }
  }
  return woken;
}

// Takes what is taken at once until there is none; before what was woken there was none. The bound keeps a
// program's loop without memory operations from holding up the run: what is left over is explored like any
// other rule.
void RuleEngine::settle(void* state, Wakes woken, Successors& out, Narration* narration) const {
  constexpr int most_rounds = 256;
  for (int round = 0; round < most_rounds && woken != 0; ++round) {
    if ((woken & wakes_moves) != 0) {
      const Wakes by_moves = take_moves(state, out, narration);
      woken = (woken & ~wakes_moves) | by_moves;
      if (by_moves != 0) continue;
    }
    woken = take_claimed(state, woken, out, narration);
  }
}

// Goes on while there is one instance to explore: what lies between need not be stored. The bound keeps a
// loop that nothing interrupts from holding up the run.
void RuleEngine::follow(std::byte* state, Successors& out, Narration* narration) const {
  constexpr int longest = 64;
  constexpr Members none{};
  std::uint32_t* const enabled = room_for_enabled(out);
  for (int i = 0; i < longest; ++i) {
    const auto holds = [&](const auto& claim) { return claim.predicate(state, none.data()); };
    out.acting = {};
    if (!std::all_of(lists_.assertions.begin(), lists_.assertions.end(), holds)) return;
    std::uint32_t* const end = leave_waiting(state, enabled, ask_all(state, enabled, out), out);
    const auto fair = [&](std::uint32_t i) {
      return lists_.rules[rule_of_[i]].rule.fairness == Fairness::fair;
    };
    if (!std::any_of(enabled, end, fair)) return;
    if (choose(state, enabled, static_cast<std::size_t>(end - enabled), out) != 1) return;
    const Wakes woken = woken_by(*enabled);
    fire(*enabled, state, out, narration);
    settle(state, woken, out, narration);
  }
}

// What is taken at once after a firing, told where that is asked for.
void RuleEngine::go_on(std::byte* state, Wakes woken, Successors& room, Narration* narration) const {
  settle(state, woken, room, narration);
  if (stubborn_) follow(state, room, narration);
}

void RuleEngine::finish(std::byte* state, Wakes woken, Successors& out) const {
  go_on(state, woken, out, nullptr);
  if (dead_) dead_->reset(state, room_of(out).dead);
}

// ---- initial states ---------------------------------------------------------------------------------------

// Calls f(start, members) for each initial state, in order.
template <class F>
void RuleEngine::for_each_start(F&& f) const {
  for (std::size_t i = 0; i < lists_.starts.size(); ++i) {
    for (const Members& chosen : combinations(lists_.starts[i].parameters)) f(i, chosen);
  }
}

void RuleEngine::initial(unsigned words, Successors& out) const {
  prepare(out);
  std::byte* const state = out.scratch.bytes();
  for_each_start([&](std::size_t i, const Members& chosen) {
    const auto& start = lists_.starts[i];
    states_.construct(state);
    out.acting = {};
    try {
      start.action(state, chosen.data());
      finish(state, all_woken_, out);
    } catch (const RuleMisuse& misuse) {
      throw broken_rule(out.acting, misuse.what_it_did);
    }
    std::uint64_t* const packed = out.add(
        Firing{static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(start.parameters.size()), chosen});
    packed[words - 1] = 0;
    states_.pack_state(state, packed);
  });
}

// ---- for people -------------------------------------------------------------------------------------------

std::string RuleEngine::parameters_text(const std::vector<RuleParameter<ConcreteErased>>& parameters,
                                        const Members& members) const {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parameters[i].name, members[i]);
  return text;
}

std::vector<NarratedStep> RuleEngine::narrate(const std::uint64_t* packed, const Firing& firing) const {
  Successors room;
  prepare(room);
  std::byte* const state = room.scratch.bytes();
  states_.unpack_state(packed, state);
  Narration narration{*this, states_.fields_of_state(state), {}};
  const Range& range = ranges_.at(firing.rule);
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (members_[i] != firing.parameters || !lists_.rules[firing.rule].guard(state, members_[i].data()))
      continue;
    fire(i, state, room, &narration);
    go_on(state, woken_by(i), room, &narration);
    break;
  }
  return std::move(narration.steps);
}

std::vector<NarratedStep> RuleEngine::narrate_initial(std::size_t index) const {
  Successors room;
  prepare(room);
  std::byte* const state = room.scratch.bytes();
  Narration narration{*this, {}, {}};
  std::size_t seen = 0;
  for_each_start([&](std::size_t i, const Members& chosen) {
    if (seen++ != index) return;
    const auto& start = lists_.starts[i];
    states_.construct(state);
    narration.before = states_.fields_of_state(state);
    start.action(state, chosen.data());
    narration.record(state, Rule{.name = "starts", .unit = "system", .source = ""},
                     parameters_text(start.parameters, chosen));
    go_on(state, all_woken_, room, &narration);
  });
  return std::move(narration.steps);
}

}  // namespace lockstep
