// How an event engine runs: what is looked at when, and what follows from a firing.
#include "refimpl/event_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/describe.hpp>
#include <set>
#include <tuple>

#include "checker/scheduling/setup.hpp"

namespace lockstep {

namespace {

constexpr std::string_view unit_of_waves = "thread";

}  // namespace

SimulationEnd EventEngine::run(const std::atomic<bool>* interrupted, std::uint64_t limit) {
  const std::uint64_t until = limit > ~std::uint64_t{0} - firings_ ? ~std::uint64_t{0} : firings_ + limit;
  std::uint64_t next_check = firings_ + 4096;
  journal_.looks.clear();  // of whoever has looked at memory between runs
  while (!wheel_.empty()) {
    const timed::Event event = wheel_.pop();
    journal_.now = wheel_.now();
    if (journal_.now >= next_epoch_) end_epochs();
    const std::uint64_t fired = firings_;
    if (event.family == timed::Event::service) {
      serve(event.a);
    } else if (event.family == timed::Event::memory) {
      advance_memory(event.a);
    } else if (event.family == timed::Event::bank) {
      serve_bank(event.a);
    } else {
      attempt(event);
    }
    const bool polled = event.family == polled_family_ && event.rule == polled_rule_;
    if ((firings_ != fired && !polled) || event.family >= timed::Event::bank) drained_ = journal_.now;
    if (firings_ >= until) return SimulationEnd::limit;
    if (firings_ >= next_check) {
      next_check = firings_ + 4096;
      if (options_.cycles > 0 && journal_.now / timed::ticks_per_cycle > options_.cycles)
        return SimulationEnd::late;
      if (interrupted != nullptr && interrupted->load(std::memory_order_relaxed))
        return SimulationEnd::interrupted;
    }
  }
  return end();
}

std::string EventEngine::waiting_threads() const {
  std::string text;
  int named = 0;
  int waiting = 0;
  for (std::size_t t = 0; t < threads_count(); ++t) {
    if (status_of(static_cast<std::uint32_t>(t)).ended || program().threads[t].slot_of >= 0) continue;
    ++waiting;
    if (named++ < 4) {
      text += fmt::format("{}{} at instruction {}", text.empty() ? "" : ", ", program().threads[t].name,
                          place_of(static_cast<std::uint32_t>(t)));
    }
  }
  return waiting > named ? text + fmt::format(" and {} more", waiting - named) : text;
}

SimulationEnd EventEngine::end() const {
  bool ended = true;
  for (std::size_t t = 0; t < threads_count(); ++t) {
    const ThreadStatus status = status_of(static_cast<std::uint32_t>(t));
    if (status.failed) return SimulationEnd::failed;
    ended &= status.ended;
  }
  return ended && drained() ? SimulationEnd::finished : SimulationEnd::stuck;
}

// ---- the rules of one family ------------------------------------------------------------------------------

EventEngine::RuleInfo& EventEngine::info(const Family& family, std::uint16_t rule, std::uint32_t thread) {
  if (rule < first_case) return rules_[static_cast<std::size_t>(family.rules[rule])];
  const Thread& self = program().threads[thread];
  const std::size_t pc = place_of(thread);
  const auto& cases = self.slot_of >= 0       ? cases_of_slots()
                      : pc < self.code.size() ? cases_of(self.code[pc])
                                              : cases_of(Instruction{});
  return rules_[static_cast<std::size_t>(std::max(cases[rule - first_case], 0))];
}

void EventEngine::consider_family(std::uint16_t f, Parameters at, std::uint64_t mask) {
  if (f == threads_family_) {
    if (const std::uint64_t cases = mask >> first_case << first_case; cases != 0) {
      const std::uint16_t behind = consider_cases(at, cases);
      // Rules that this instruction does not have come back when the thread moves on.
      if (behind < 64) waiting_[context_key_ + at.a * context_keys_].own |= cases >> behind << behind;
      mask &= ~(~std::uint64_t{0} << first_case);
    }
  }
  const auto members = members_of(families_[f], at);
  for (; mask != 0; mask &= mask - 1) {
    const auto n = static_cast<std::uint16_t>(std::countr_zero(mask));
    if (n >= families_[f].listed_rules.size()) return;
    begin_guard();
    // Of an empty queue the head is a default message: it tells which message a rule waits for.
    judge(f, at, n, families_[f].listed_rules[n]->guard(state_of_rules_, members.data()));
  }
}

bool EventEngine::fire_family(std::uint16_t f, Parameters at, std::uint16_t rule) {
  if (f == threads_family_ && rule >= first_case) {
    const CaseFired outcome = fire_case(at, rule);
    if (!outcome.exists) waiting_[context_key_ + at.a * context_keys_].own |= std::uint64_t{1} << rule;
    return outcome.fired;
  }
  const RuleOf& value = *families_[f].listed_rules[rule];
  const auto members = members_of(families_[f], at);
  if (!may_fire(f, at, rule, [&] { return value.guard(state_of_rules_, members.data()); })) return false;
  const RuleInfo& r = rules_[static_cast<std::size_t>(families_[f].rules[rule])];
  firing_ = &r;
  firing_family_ = &families_[f];
  firing_at_ = at;
  journal_.weights = r.weights.data();
  value.action(state_of_rules_, members.data());
  return true;
}

// ---- guards ----------------------------------------------------------------------------------------------

timed::MainMemory::Port EventEngine::port_of(const Family& family, Parameters at) {
  return family.first_port +
         (family.listed ? static_cast<timed::MainMemory::Port>(instance_of(family, at)) : 0);
}

void EventEngine::poll(std::uint16_t f, Parameters at, std::uint16_t rule) {
  // Where nothing else is to come it stays as it is; whether it is, is known when all have been looked at.
  if (started_ && wheel_.empty()) {
    to_poll_ = {f, rule, at.a, at.b};
    return;
  }
  Family& family = families_[f];
  const Tick every = rules_[static_cast<std::size_t>(family.rules[rule])].every;
  family.scheduled[instance_of(family, at)] |= std::uint64_t{1} << rule;
  wheel_.push((journal_.now / every + 1) * every, {f, rule, at.a, at.b});
}

void EventEngine::park(std::uint16_t f, Parameters at, std::uint16_t rule, timed::Stamp rests_on) {
  if (observed_) profile_parked(f, at, rule, rests_on);
  if (f == polled_family_ && rule == polled_rule_) return poll(f, at, rule);
  Family& family = families_[f];
  std::uint32_t epoch = 0;
  const std::size_t instance = instance_of(family, at);
  if (family.listed) epoch = ++family.parked[family.spot(instance, rule)].epoch;
  const auto watch = [&](Key key) {
    if (Waiting& waiting = waiting_[key];
        family.listed && waiting.family == f && waiting.instance == instance) {
      waiting.own |= std::uint64_t{1} << rule;
      return;
    }
    Watch& w = watch_of(key);
    if (w.room != nullptr && !family.listed) {
      if (rules_[static_cast<std::size_t>(family.rules[rule])].cache >= 0) {
        w.replacements.push_back({f, rule, at.a, at.b, 0});
      } else if (blocks_in_line_.insert({packed({f, rule, at.a, at.b}), waiting_[key].watch}).second) {
        w.others.push_back({f, rule, at.a, at.b, 0});
      }
      return;
    }
    const Watcher watcher{f, rule, at.a, at.b, epoch};
    // Whoever was offered room that somebody else has taken, again and again, goes to the front of the line.
    if (w.room != nullptr && family.parked[family.spot(instance, rule)].offer == waiting_[key].watch &&
        ++family.parked[family.spot(instance, rule)].lost >= patience) {
      if (w.first > 0) {
        w.others[--w.first] = watcher;
      } else {
        w.others.insert(w.others.begin(), watcher);
      }
      return;
    }
    if (w.others.size() >= w.limit) compact(w);
    w.others.push_back(watcher);
  };
  // The row that makes an instance over blocks a candidate needs no watch.
  Key candidate = timed::any_key;
  std::uint64_t candidate_row = 0;
  if (!family.listed && candidate_tables_[f][rule] != nullptr) {
    const std::uint32_t where[2] = {at.a, at.b};
    candidate = candidate_tables_[f][rule]->table->key_of(where);
    candidate_row = candidate_tables_[f][rule]->table->number_of(where);
  }
  if (probing_all_) rests_on = timed::reads.stamp_now();
  Key only = timed::any_key;
  int keys = 0;
  timed::reads.for_each_key(rests_on, [&](Key key, std::uint64_t row) {
    if (key == candidate && row == candidate_row && key != timed::any_key) return;
    watch(key);
    only = key;
    ++keys;
  });
  if (family.listed) family.parked[family.spot(instance, rule)].key = keys == 1 ? only : timed::any_key;
}

void EventEngine::compact(Watch& w) {
  w.others.erase(w.others.begin(), w.others.begin() + w.first);
  w.first = 0;
  std::erase_if(w.others, [&](const Watcher& x) {
    const Family& family = families_[x.family];
    return family.listed &&
           family.parked[family.spot(instance_of(family, {x.a, x.b}), x.rule)].epoch != x.epoch;
  });
  if (w.room != nullptr) {
    w.limit = static_cast<std::uint32_t>(std::max<std::size_t>(16, 2 * w.others.size()));
    return;
  }
  std::sort(w.others.begin(), w.others.end(), [](const Watcher& x, const Watcher& y) {
    return std::tie(x.family, x.rule, x.a, x.b) < std::tie(y.family, y.rule, y.a, y.b);
  });
  w.others.erase(std::unique(w.others.begin(), w.others.end(),
                             [](const Watcher& x, const Watcher& y) {
                               return x.family == y.family && x.rule == y.rule && x.a == y.a && x.b == y.b;
                             }),
                 w.others.end());
  w.limit = static_cast<std::uint32_t>(std::max<std::size_t>(16, 2 * w.others.size()));
}

void EventEngine::mark(std::uint16_t f, std::uint32_t instance, std::uint64_t rules) {
  Family& family = families_[f];
  rules &= ~family.scheduled[instance];
  if (rules == 0) return;
  if (family.dirty[instance] == 0) dirty_.push_back({f, instance});
  family.dirty[instance] |= rules;
}

EventEngine::Watch& EventEngine::watch_of(Key key) {
  std::uint32_t& number = waiting_[key].watch;
  if (number == 0) {
    number = static_cast<std::uint32_t>(watches_.size());
    watches_.emplace_back();
  }
  return watches_[number];
}

void EventEngine::wake_watch(std::uint32_t number) {
  if (number == 0) return;
  Watch& w = watches_[number];
  for (const Watcher& x : w.replacements) dirty_blocks_.push_back({x.family, x.rule, x.a, x.b});
  w.replacements.clear();
  if (w.others.empty()) return;
  if (w.room != nullptr) {
    offer_room(number);
    return;
  }
  woken_.clear();
  woken_.swap(w.others);
  for (const Watcher& x : woken_) {
    const Family& family = families_[x.family];
    if (!family.listed) {
      dirty_blocks_.push_back({x.family, x.rule, x.a, x.b});
      continue;
    }
    const std::size_t instance = instance_of(family, {x.a, x.b});
    if (family.parked[family.spot(instance, x.rule)].epoch != x.epoch) continue;
    mark(x.family, static_cast<std::uint32_t>(instance), std::uint64_t{1} << x.rule);
  }
}

void EventEngine::offer_room(std::uint32_t number) {
  Watch& w = watches_[number];
  while (w.first < w.others.size() && w.offers < *w.room) {
    const Watcher x = w.others[w.first++];
    Family& family = families_[x.family];
    if (!family.listed) {
      const std::uint64_t block = packed({x.family, x.rule, x.a, x.b});
      blocks_in_line_.erase({block, number});
      if (scheduled_blocks_.contains(block) || !offered_blocks_.try_emplace(block, number).second) continue;
      ++w.offers;
      dirty_blocks_.push_back({x.family, x.rule, x.a, x.b});
      continue;
    }
    const std::size_t instance = instance_of(family, {x.a, x.b});
    Parked& parked = family.parked[family.spot(instance, x.rule)];
    const std::uint64_t bit = std::uint64_t{1} << x.rule;
    if (parked.epoch != x.epoch || ((family.scheduled[instance] | family.dirty[instance]) & bit) != 0)
      continue;
    parked.offer = number;
    ++w.offers;
    mark(x.family, static_cast<std::uint32_t>(instance), bit);
  }
  if (w.first == w.others.size()) {
    w.others.clear();
    w.first = 0;
  }
}

void EventEngine::pass_offer(std::uint16_t f, Parameters at, std::uint16_t rule) {
  Family& family = families_[f];
  std::uint32_t number = 0;
  if (family.listed) {
    number = std::exchange(family.parked[family.spot(instance_of(family, at), rule)].offer, 0);
  } else if (!offered_blocks_.empty()) {
    if (const auto offered = offered_blocks_.find(packed({f, rule, at.a, at.b}));
        offered != offered_blocks_.end()) {
      number = offered->second;
      offered_blocks_.erase(offered);
    }
  }
  if (number == 0) return;
  --watches_[number].offers;
  passed_on_.push_back(number);
}

void EventEngine::wake(Key key) {
  Waiting& waiting = waiting_[key];
  rechecks_ |= anew_ != 0 && waiting.family == anew_family_;
  if (waiting.own != 0) wake_owner(key, waiting);
  wake_watch(waiting.watch);
  wake_watch(waiting_[waiting.table].watch);
}

// Those of its rules that wait for something else by now are left where they are.
void EventEngine::wake_owner(Key key, Waiting& waiting) {
  const Family& family = families_[waiting.family];
  std::uint64_t rules = std::exchange(waiting.own, 0);
  for (std::uint64_t rest = rules & ~family.scheduled[waiting.instance] & ~of_cases; rest != 0;
       rest &= rest - 1) {
    const auto rule = static_cast<std::uint16_t>(std::countr_zero(rest));
    const Key waits_for = family.parked[family.spot(waiting.instance, rule)].key;
    if (waits_for != timed::any_key && waits_for != key) rules &= ~(std::uint64_t{1} << rule);
  }
  mark(waiting.family, waiting.instance, rules);
}

void EventEngine::recheck() {
  rechecks_ = false;
  Family& family = families_[anew_family_];
  for (std::uint32_t instance = 0; instance < family.instances; ++instance) {
    const auto members = members_of(family, parameters_of(family, instance));
    for (std::uint64_t rest = family.scheduled[instance] & anew_; rest != 0; rest &= rest - 1) {
      const auto n = static_cast<std::uint16_t>(std::countr_zero(rest));
      timed::reads.begin_unlisted();
      const bool enabled = family.listed_rules[n]->guard(state_of_rules_, members.data()).v;
      timed::reads.end();
      if (enabled) continue;
      family.scheduled[instance] &= ~(std::uint64_t{1} << n);
      due_[std::size_t{instance} * 64 + n] = ~Tick{0};
      mark(anew_family_, instance, std::uint64_t{1} << n);
    }
  }
}

void EventEngine::consider_woken() {
  if (rechecks_) recheck();
  do {
    consider_marked();
    for (std::size_t i = 0; i < passed_on_.size(); ++i) offer_room(passed_on_[i]);
    passed_on_.clear();
  } while (!dirty_.empty() || !dirty_blocks_.empty());
  if (const auto late = std::exchange(to_poll_, std::nullopt); late && !wheel_.empty())
    poll(late->family, {late->a, late->b}, late->rule);
}

void EventEngine::consider_marked() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    const auto [f, instance] = dirty_[i];
    Family& family = families_[f];
    const std::uint64_t rules =
        std::exchange(family.dirty[instance], 0) & ~family.scheduled[instance] & family.fair;
    if (rules == 0) continue;
    consider_family(f, parameters_of(family, instance), rules);
  }
  dirty_.clear();
  for (std::size_t i = 0; i < dirty_blocks_.size(); ++i) {
    const timed::Event e = dirty_blocks_[i];
    const RuleInfo& rule = rules_[static_cast<std::size_t>(families_[e.family].rules[e.rule])];
    if (rule.cache >= 0) {
      make_room_again(rule.cache, {e.a, e.b});
    } else if (!scheduled_blocks_.contains(packed(e))) {
      consider_family(e.family, {e.a, e.b}, std::uint64_t{1} << e.rule);
    }
  }
  dirty_blocks_.clear();
}

EventEngine::Parameters EventEngine::parameters_of(const Family& family, std::size_t instance) {
  if (family.extents.size() < 2) return {static_cast<std::uint32_t>(instance), 0};
  return {static_cast<std::uint32_t>(instance / family.behind_first()),
          static_cast<std::uint32_t>(instance % family.behind_first())};
}

std::uint64_t EventEngine::packed(const timed::Event& e) {
  return (std::uint64_t{e.family} << 58) ^ (std::uint64_t{e.rule} << 52) ^ (std::uint64_t{e.a} << 32) ^ e.b;
}

// ---- time ------------------------------------------------------------------------------------------------

std::size_t EventEngine::place(const Family& family, Per per, Parameters at) const {
  if (per == Per::system) return 0;
  const auto& places = family.places[static_cast<std::size_t>(per)];
  return family.listed ? places[instance_of(family, at)] : places[at.a];
}

std::size_t EventEngine::unit_of(const Family& family, const RuleInfo& rule, Parameters at) const {
  const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(rule.unit)];
  return kind.first + place(family, kind.per, at);
}

void EventEngine::schedule(std::uint16_t f, Parameters at, std::uint16_t rule, Tick arrival) {
  Family& family = families_[f];
  const RuleInfo& r = info(family, rule, at.a);
  const timed::Event event{f, rule, at.a, at.b};
  if (observed_) observed_->profile.scheduled(key_of(f, at, rule), journal_.now, cause_, head_seen());
  if (family.listed) {
    const std::size_t instance = instance_of(family, at);
    family.scheduled[instance] |= std::uint64_t{1} << rule;
    if (!r.looks_up.empty()) family.looked_up[family.spot(instance, rule)] = block_of_news(event);
  } else {
    scheduled_blocks_.insert(packed(event));
  }
  // Who has waited for room has been looked up long since.
  const bool offered = family.listed && family.parked[family.spot(instance_of(family, at), rule)].offer != 0;
  const auto unit = static_cast<std::size_t>(r.unit);
  const bool to_its_like = !paths_[unit][unit].links.empty();
  const bool news = r.carries && cause_unit_ >= 0 && (cause_unit_ != r.unit || to_its_like);
  if (news && cause_wait_ != no_wait) {
    Wait& wait = waits_[cause_wait_];
    wait.done = std::max(wait.done, cause_done_);
    wait.news.push_back({event, {cause_unit_, cause_place_, block_of_news(event)}, arrival, offered});
    return;
  }
  Tick due = journal_.now;
  if (rule >= first_case) due = std::max(due, paused_until_[at.a]);
  if (observed_) {
    profile_wait(event, observed_->computing, due);
    if (news) profile_wait(event, observed_->memory_queue, cause_begun_);
  }
  if (news) {
    const Sender from{cause_unit_, cause_place_, networks_.empty() ? 0 : block_of_news(event)};
    due = std::max(due, news_arrives(event, r, from, std::max(journal_.now, cause_done_)));
  }
  due_at(event, r, due, arrival, offered);
}

std::uint32_t EventEngine::block_of_news(const timed::Event& event) const {
  const Family& family = families_[event.family];
  if (!family.listed) return family.extents.size() == 2 ? event.b : event.a;
  const std::uint32_t block = timed::reads.message_block();
  if (block != timed::Reads::no_block) return block;
  return family.of_threads ? block_of(event.a) : 0;
}

timed::Tick EventEngine::news_arrives(const timed::Event& event, const RuleInfo& r, const Sender& from,
                                      Tick leaves) {
  const auto unit = static_cast<std::size_t>(r.unit);
  const auto sender = static_cast<std::size_t>(from.kind);
  Path& path = paths_[sender][unit];
  if (observed_) profile_wait(event, observed_->memory, leaves);
  if (path.links.empty()) return leaves;
  const Family& family = families_[event.family];
  const Parameters at{event.a, event.b};
  const timed::Bytes bytes = total(r, r.carried, nullptr, thread_of(family, at), 0);
  const std::size_t to = place(family, unit_kinds_[unit].per, at);
  timed::Link& link = path.links[to];
  Tick starts = std::max(leaves, link.free_at);
  Tick arrives = link.send(leaves, bytes, r.carried_kind);
  if (path.network >= 0) {
    NetworkInUse& through = networks_[static_cast<std::size_t>(path.network)];
    const auto sent =
        through.network.send(journal_.now, arrives, node_of(through, from.kind, from.unit, from.block),
                             node_of(through, r.unit, to, from.block), bytes.header + bytes.data);
    starts += sent.waited;
    arrives = sent.arrival;
  }
  if (observed_) {
    const auto [turn, way] = observed_->paths[sender][unit];
    profile_wait(event, turn, starts);
    profile_wait(event, way, arrives);
  }
  return arrives;
}

void EventEngine::due_at(const timed::Event& event, const RuleInfo& r, Tick due, Tick arrival, bool offered) {
  if (arrival > 0) {
    due = std::max(due, arrival + r.latency);
  } else if (!offered) {
    due += r.latency;
  }
  if (observed_) profile_wait(event, observed_->work[static_cast<std::size_t>(r.unit)], due);
  if (r.spreads && options_.start_spread > 0)
    due += random_() % (static_cast<Tick>(options_.start_spread) * timed::ticks_per_cycle);
  if (options_.jitter > 0)
    due += random_() % (static_cast<Tick>(options_.jitter) * timed::ticks_per_cycle + 1);
  if (r.every > 0) due = (due / r.every + 1) * r.every;
  if (r.turn > 0) {
    const Tick own = r.turn * r.own_turn[instance_of(families_[event.family], {event.a, event.b})];
    const Tick round = r.turn * r.turns;
    const Tick since = (due + round - own) % round;  // its last turn began
    if (since >= r.turn) due += round - since;
  }
  if (r.anew) due_[instance_of(families_[event.family], {event.a, event.b}) * 64 + event.rule] = due;
  wheel_.push(due, event);
}

void EventEngine::attempt(const timed::Event& event) {
  const Family& family = families_[event.family];
  RuleInfo& r = info(family, event.rule, event.a);
  if (is_stale(event, r)) return;
  if (!r.looks_up.empty() && !look_up(event, r, 0)) return;
  take_or_wait(event, r);
}

void EventEngine::take_or_wait(const timed::Event& event, RuleInfo& r) {
  const std::size_t u = unit_of(families_[event.family], r, {event.a, event.b});
  Unit& unit = units_[u];
  if (r.occupancy == 0) {
    if (r.fetches < 0 || may_fetch(event, r)) fire(event, r);
  } else if (unit.free_at > journal_.now || !unit.queue.empty() || unit.stalls > 0) {
    unit.queue.emplace_back(event, journal_.now);
    call_service(u);
  } else {
    take_turn(unit, event, r);
  }
}

bool EventEngine::look_up(const timed::Event& event, const RuleInfo& r, std::size_t nth) {
  const Family& family = families_[event.family];
  const Parameters at{event.a, event.b};
  const std::uint32_t block = family.listed
                                  ? family.looked_up[family.spot(instance_of(family, at), event.rule)]
                                  : block_of_news(event);
  for (; nth < r.looks_up.size(); ++nth) {
    const auto c = static_cast<std::size_t>(r.looks_up[nth]);
    Cache& cache = caches_[c];
    const std::size_t unit = cache.extents.size() == 2
                                 ? place(family, unit_kinds_[static_cast<std::size_t>(cache.unit)].per, at)
                                 : 0;
    if (cache.extents.size() == 2 && unit >= cache.extents[0]) continue;  // of a host
    const std::size_t number =
        cache.first_bank + unit * cache.bank_index.count() + cache.bank_index.member(block);
    Bank& bank = banks_[number];
    ++cache.look_ups;
    if (bank.free_at > journal_.now || !bank.queue.empty()) {
      ++cache.conflicts;
      bank.queue.push_back({event, nth, journal_.now});
      if (!std::exchange(bank.service_due, true)) {
        wheel_.push(std::max(bank.free_at, journal_.now),
                    {timed::Event::bank, 0, static_cast<std::uint32_t>(number), 0});
      }
      return false;
    }
    bank.free_at = journal_.now + cache.bank_turn;
  }
  return true;
}

void EventEngine::serve_bank(std::size_t number) {
  Bank& bank = banks_[number];
  const Bank::LookUp next = bank.queue.front();
  bank.queue.pop_front();
  Cache& cache = caches_[bank.cache];
  cache.waited += journal_.now - next.since;
  bank.free_at = journal_.now + cache.bank_turn;
  bank.service_due = !bank.queue.empty();
  if (bank.service_due)
    wheel_.push(bank.free_at, {timed::Event::bank, 0, static_cast<std::uint32_t>(number), 0});
  if (observed_) profile_wait(next.event, observed_->caches[bank.cache][0], journal_.now);
  RuleInfo& r = info(families_[next.event.family], next.event.rule, next.event.a);
  if (look_up(next.event, r, next.nth + 1)) take_or_wait(next.event, r);
}

std::size_t EventEngine::unit_within(const Cache& cache, const timed::Event& event) const {
  if (cache.extents.size() < 2) return 0;
  return place(families_[event.family], unit_kinds_[static_cast<std::size_t>(cache.unit)].per,
               {event.a, event.b});
}

bool EventEngine::may_fetch(const timed::Event& event, const RuleInfo& r) {
  Cache& cache = caches_[static_cast<std::size_t>(r.fetches)];
  const std::size_t unit = unit_within(cache, event);
  const std::uint32_t block = block_of(event.a);
  for (Miss& miss : cache.misses[unit]) {
    if (miss.block != block) continue;
    ++cache.merged;
    miss.others.push_back({event, journal_.now});
    offer_mshr(cache, unit);
    return false;
  }
  if (cache.misses[unit].size() < cache.mshrs) return true;
  ++cache.mshr_stalls;
  cache.without_mshr[unit].push_back({event, journal_.now});
  return false;
}

void EventEngine::begin_miss(const timed::Event& event, const RuleInfo& r) {
  Cache& cache = caches_[static_cast<std::size_t>(r.fetches)];
  cache.misses[unit_within(cache, event)].push_back({block_of(event.a), event.a, {}});
}

void EventEngine::end_miss(const timed::Event& event, const RuleInfo& r) {
  Cache& cache = caches_[static_cast<std::size_t>(r.fills)];
  const std::size_t unit = unit_within(cache, event);
  auto& misses = cache.misses[unit];
  const auto found =
      std::find_if(misses.begin(), misses.end(), [&](const Miss& m) { return m.thread == event.a; });
  if (found == misses.end()) return;
  for (const Held& held : found->others) try_again(cache, held);
  misses.erase(found);
  offer_mshr(cache, unit);
}

void EventEngine::offer_mshr(Cache& cache, std::size_t unit) {
  auto& waiting = cache.without_mshr[unit];
  if (waiting.empty() || cache.misses[unit].size() >= cache.mshrs) return;
  try_again(cache, waiting.front());
  waiting.pop_front();
}

void EventEngine::try_again(Cache& cache, const Held& held) {
  cache.mshr_waited += journal_.now - held.since;
  if (observed_)
    profile_wait(held.event, observed_->caches[static_cast<std::size_t>(&cache - caches_.data())][1],
                 journal_.now);
  wheel_.push(journal_.now, held.event);
}

bool EventEngine::take_turn(Unit& unit, const timed::Event& event, RuleInfo& r) {
  if (r.fetches >= 0 && !may_fetch(event, r)) return false;
  if (r.asks_memory && !may_send(event)) return false;
  const Tick occupancy = r.occupancy;
  if (!fire(event, r)) return false;
  unit.free_at = std::max(unit.free_at, journal_.now) + occupancy;
  return true;
}

bool EventEngine::may_send(const timed::Event& event) {
  const timed::MainMemory::Port port = port_of(families_[event.family], {event.a, event.b});
  const Tick free = main_memory_.accepts_at(port);
  if (free <= journal_.now) return true;
  if (free == timed::MainMemory::later) {
    held_[port].emplace_back(event, journal_.now);
  } else {
    memory_stalled_ += free - journal_.now;
    if (observed_) profile_wait(event, observed_->memory_room, free);
    wheel_.push(free, event);
  }
  return false;
}

void EventEngine::call_service(std::size_t u) {
  Unit& unit = units_[u];
  if (unit.service_due || unit.stalls > 0 || unit.queue.empty()) return;
  unit.service_due = true;
  wheel_.push(std::max(unit.free_at, journal_.now),
              {timed::Event::service, 0, static_cast<std::uint32_t>(u), 0});
}

void EventEngine::serve(std::size_t u) {
  Unit& unit = units_[u];
  unit.service_due = false;
  while (!unit.queue.empty() && unit.stalls == 0 && unit.free_at <= journal_.now) {
    const auto [event, since] = unit.queue.front();
    unit.queue.pop_front();
    RuleInfo& r = info(families_[event.family], event.rule, event.a);
    if (!take_turn(unit, event, r)) continue;
    r.waited += journal_.now - since;
    if (observed_) observed_->units[u].waited += journal_.now - since;
  }
  call_service(u);
}

// ---- firing ----------------------------------------------------------------------------------------------

bool EventEngine::fire(const timed::Event& event, RuleInfo& r) {
  if (is_stale(event, r)) return false;
  Family& family = families_[event.family];
  const Parameters at{event.a, event.b};
  if (family.listed) {
    family.scheduled[instance_of(family, at)] &= ~(std::uint64_t{1} << event.rule);
  } else {
    scheduled_blocks_.erase(packed(event));
  }
  const std::uint32_t used = event.rule >= first_case ? port_in_use(event.a) : nowhere;
  if (observed_) {
    journal_.firing = observed_->profile.next();
    if (used != nowhere) observed_->activity = activity_of(event.a, r);
  }
  if (!fire_family(event.family, at, event.rule)) {
    if (r.fetches >= 0) {
      Cache& cache = caches_[static_cast<std::size_t>(r.fetches)];
      offer_mshr(cache, unit_within(cache, event));
    }
    if (!passed_on_.empty()) consider_woken();
    return false;
  }
  // It may be enabled again at once.
  if (family.listed) {
    family.parked[family.spot(instance_of(family, at), event.rule)].lost = 0;
    mark(event.family, static_cast<std::uint32_t>(instance_of(family, at)), std::uint64_t{1} << event.rule);
  } else {
    dirty_blocks_.push_back(event);
  }
  fired(r, family, at);
  if (observed_) profile_firing(event, r);
  if (r.fetches >= 0) begin_miss(event, r);
  if (r.fills >= 0) end_miss(event, r);
  if (used != nowhere) {
    note_operation(used);
    if (status_of(event.a).ended) last_end_ = journal_.now;
    if (observed_) profile_wave(event.a);
  }
  port_ = port_of(family, at);
  settle(r);
  while (!overfull_.empty()) {
    const auto [cache, set] = overfull_.back();
    overfull_.pop_back();
    make_room(cache, set);
  }
  cause_unit_ = r.unit;
  if (!networks_.empty())
    cause_place_ = unit_of(family, r, at) - unit_kinds_[static_cast<std::size_t>(r.unit)].first;
  cause_ = journal_.firing;
  consider_woken();
  cause_unit_ = -1;
  cause_ = timed::nobody;
  cause_wait_ = no_wait;
  return true;
}

void EventEngine::fired(RuleInfo& r, const Family& family, Parameters at) {
  ++r.firings;
  ++firings_;
  if (r.hit >= 0) ++levels_[static_cast<std::size_t>(r.hit)].hits;
  if (r.miss >= 0) ++levels_[static_cast<std::size_t>(r.miss)].misses;
  if (observed_) profile_counts(r, family, at);
  if (on_firing) on_firing();
  if (options_.observer != nullptr) tell(r, family, at);
}

void EventEngine::tell(const RuleInfo& r, const Family& family, Parameters at) const {
  const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(r.unit)];
  const std::uint32_t thread = thread_of(family, at);
  options_.observer->fired({in_cycles(journal_.now), in_cycles(r.occupancy), kind.name,
                            unit_of(family, r, at) - kind.first, r.name,
                            thread == nowhere ? -1 : static_cast<int>(thread)});
}

void EventEngine::settle(const RuleInfo& r) {
  cause_done_ = journal_.now;
  cause_begun_ = journal_.now;
  for (std::size_t i = 0; i < journal_.rows.size(); ++i) {
    const auto [table, slot] = journal_.rows[i];
    const auto change = table->settle(slot);
    if (table->number < 0) continue;
    OfTable& use = of_table_[static_cast<std::size_t>(table->number)];
    const std::uint32_t* const at = table->coordinates(slot);
    if (use.cache >= 0 && change != timed::TableBase::Change::none) line_changed(use, slot, at, change, r);
    if (use.is_memory) note_memory(at[use.block_place], table->changed_words(slot));
    // On rows that are absent they are disabled.
    if (change == timed::TableBase::Change::dropped) continue;
    for (const auto& [family, rules] : use.candidates) {
      for (std::uint64_t rest = rules; rest != 0; rest &= rest - 1) {
        dirty_blocks_.push_back({family, static_cast<std::uint16_t>(std::countr_zero(rest)), at[0],
                                 families_[family].extents.size() == 2 ? at[1] : 0});
      }
    }
  }
  for (const timed::Journal::Look& look : journal_.looks) note_memory(look.block, 0);
  if (!touched_.empty()) access_memory(r);
  for (std::size_t i = 0; i < journal_.keys.size(); ++i) wake(journal_.keys[i]);
  wake_watch(waiting_[timed::any_key].watch);
  journal_.clear();
}

void EventEngine::note_memory(std::uint32_t block, unsigned changed_words) {
  for (Touched& t : touched_) {
    if (t.block != block) continue;
    t.changed_words += changed_words;
    return;
  }
  touched_.push_back({block, changed_words});
}

void EventEngine::access_memory(const RuleInfo& r) {
  const timed::Message* const message = journal_.has_message ? &journal_.message : nullptr;
  const std::uint32_t thread = thread_of(*firing_family_, firing_at_);
  for (const Touched& t : touched_) {
    if (!r.read.said && !r.write.said) {
      bytes_error(r, "accesses memory, and says no bytes", "say reads = ... or writes = ... of it");
    }
    const unsigned most = description_.block_bytes;
    const unsigned read = std::min(most, total(r, r.read, message, thread, t.block).data);
    const unsigned written = std::min(most, total(r, r.write, message, thread, t.block).data);
    if (written < t.changed_words * timed::word_bytes) {
      bytes_error(r,
                  fmt::format("changes {} bytes of a block of memory, and says that it writes {}",
                              t.changed_words * timed::word_bytes, written),
                  "say writes = ... of it");
    }
    if (read > 0) read_memory(t.block, read);
    if (written > 0) main_memory_.write(journal_.now, port_, t.block, written);
  }
  touched_.clear();
  call_memory();
}

void EventEngine::read_memory(std::uint32_t block, unsigned bytes) {
  // A replacement's own read is not what the firing that caused it waits for.
  if (replacing_) {
    main_memory_.read(journal_.now, port_, block, bytes, timed::MainMemory::nobody);
    return;
  }
  const timed::MainMemory::Token token = cause_wait_ != no_wait ? cause_wait_ : free_wait();
  const Tick there = main_memory_.read(journal_.now, port_, block, bytes, token);
  if (there == timed::MainMemory::later) {
    if (cause_wait_ == no_wait) free_waits_.pop_back();
    cause_wait_ = token;
    ++waits_[token].outstanding;
  } else if (there > cause_done_) {
    cause_done_ = there;
    cause_begun_ = main_memory_.begun();
  }
}

std::uint32_t EventEngine::free_wait() {
  if (free_waits_.empty()) {
    free_waits_.push_back(static_cast<std::uint32_t>(waits_.size()));
    waits_.emplace_back();
  }
  return free_waits_.back();
}

void EventEngine::call_memory() {
  for (const auto& [at, channel] : main_memory_.calls) {
    wheel_.push(at, {timed::Event::memory, 0, channel, 0});
  }
  main_memory_.calls.clear();
}

void EventEngine::advance_memory(std::uint32_t channel) {
  main_memory_.advance(journal_.now, channel);
  for (const auto& [token, at] : main_memory_.answers) {
    Wait& wait = waits_[token];
    wait.done = std::max(wait.done, at);
    if (--wait.outstanding == 0) answer(token);
  }
  main_memory_.answers.clear();
  for (const timed::MainMemory::Port port : main_memory_.released) {
    for (const auto& [event, since] : held_[port]) {
      memory_stalled_ += journal_.now - since;
      if (observed_) profile_wait(event, observed_->memory_room, journal_.now);
      wheel_.push(journal_.now, event);
    }
    held_[port].clear();
  }
  main_memory_.released.clear();
  call_memory();
}

void EventEngine::answer(std::uint32_t token) {
  Wait& wait = waits_[token];
  for (const News& news : wait.news) {
    const RuleInfo& r = info(families_[news.event.family], news.event.rule, news.event.a);
    const Tick leaves = std::max(journal_.now, wait.done);
    due_at(news.event, r, news_arrives(news.event, r, news.from, leaves), news.arrival, news.offered);
  }
  wait.news.clear();
  wait.done = 0;
  free_waits_.push_back(token);
}

std::uint32_t EventEngine::port_in_use(std::uint32_t t) const {
  const auto& code = program().threads[t].code;
  const std::size_t pc = place_of(t);
  return pc < code.size() ? t + static_cast<std::uint32_t>(code[pc].slot) : t;
}

void EventEngine::note_operation(std::uint32_t t) {
  const ThreadStatus status = status_of(t);
  if (status.pending) {
    issued_[t] = journal_.now + 1;
    return;
  }
  if (issued_[t] == 0) return;
  auto& operation = operations_[static_cast<std::size_t>(status.operation)];
  ++operation.first;
  if (status.is_atomic) ++atomics_;
  operation.second += journal_.now + 1 - issued_[t];
  if (options_.observer != nullptr) {
    options_.observer->completed({t, program().threads[t].name, seats_.cu_of[t],
                                  boost::describe::enum_to_string(status.operation, "?"),
                                  in_cycles(issued_[t] - 1), in_cycles(journal_.now)});
  }
  if (observed_)
    observed_->profile.completed(static_cast<std::size_t>(status.operation), issued_[t] - 1, journal_.firing);
  issued_[t] = 0;
}

// ---- caches ----------------------------------------------------------------------------------------------

std::size_t EventEngine::set_of(const Cache& cache, const std::uint32_t* at) const {
  const std::size_t unit = cache.extents.size() == 2 ? at[0] : 0;
  return unit * cache.sets + cache.index.member(at[cache.extents.size() - 1]);
}

void EventEngine::line_changed(const OfTable& use, std::uint32_t slot, const std::uint32_t* at,
                               timed::TableBase::Change change, const RuleInfo& r) {
  Cache& cache = caches_[static_cast<std::size_t>(use.cache)];
  const std::size_t set = set_of(cache, at);
  auto& lines = cache.lines[set];
  if (change == timed::TableBase::Change::inserted) {
    ++cache.installed;
    cache.used[set] = 1;
    lines.push_back(slot);
    if (lines.size() > cache.ways) overfull_.push_back({use.cache, set});
    return;
  }
  const auto found = std::find(lines.begin(), lines.end(), slot);
  *found = lines.back();
  lines.pop_back();
  if (r.cache == use.cache) {
    ++cache.replaced;
  } else {
    ++cache.dropped;
    if (r.carries) ++lines_invalidated_;
  }
  if (cache.stalled_since[set] != 0 && lines.size() <= cache.ways) end_stall(cache, set);
}

void EventEngine::make_room(int c, std::size_t set) {
  Cache& cache = caches_[static_cast<std::size_t>(c)];
  while (cache.lines[set].size() > cache.ways) {
    std::vector<std::uint32_t>& victims = victims_;
    victims = cache.lines[set];
    const auto older = [&](std::uint32_t x, std::uint32_t y) {
      return cache.table->used(x) < cache.table->used(y);
    };
    if (cache.random) {
      std::shuffle(victims.begin(), victims.end(), random_);
    } else {
      std::iter_swap(victims.begin(), std::min_element(victims.begin(), victims.end(), older));
    }
    Family& family = families_[cache.family];
    RuleInfo& r = rules_[static_cast<std::size_t>(family.rules[cache.rule])];
    bool done = false;
    Parameters victim;
    for (std::size_t i = 0; i < victims.size() && !done; ++i) {
      if (i == 1 && !cache.random) std::stable_sort(victims.begin() + 1, victims.end(), older);
      const std::uint32_t* const at = cache.table->coordinates(victims[i]);
      victim = {at[0], cache.extents.size() == 2 ? at[1] : 0};
      done = fire_family(cache.family, victim, cache.rule);
    }
    if (!done) {
      begin_stall(cache, set);
      return;
    }
    fired(r, family, victim);
    settle_replacement(r);
  }
}

void EventEngine::settle_replacement(const RuleInfo& r) {
  const Tick done = cause_done_;
  const Tick begun = cause_begun_;
  replacing_ = true;
  settle(r);
  replacing_ = false;
  cause_done_ = done;
  cause_begun_ = begun;
}

void EventEngine::make_room_again(int c, Parameters at) {
  Cache& cache = caches_[static_cast<std::size_t>(c)];
  const std::uint32_t where[2] = {at.a, at.b};
  const std::size_t set = set_of(cache, where);
  if (cache.lines[set].size() > cache.ways) make_room(c, set);
}

EventEngine::Unit& EventEngine::unit_of_set(const Cache& cache, std::size_t set) {
  const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(cache.unit)];
  return units_[kind.first + (kind.count > 1 ? set / cache.sets : 0)];
}

void EventEngine::begin_stall(Cache& cache, std::size_t set) {
  if (cache.stalled_since[set] != 0) return;
  cache.stalled_since[set] = journal_.now + 1;
  ++unit_of_set(cache, set).stalls;
}

void EventEngine::end_stall(Cache& cache, std::size_t set) {
  cache.stalled += journal_.now + 1 - std::exchange(cache.stalled_since[set], 0);
  Unit& unit = unit_of_set(cache, set);
  --unit.stalls;
  call_service(static_cast<std::size_t>(&unit - units_.data()));
}

// ---- what was counted
// ---------------------------------------------------------------------------------------

double EventEngine::sets_used(const Cache& cache) {
  std::size_t used = 0;
  std::size_t units = 0;
  for (std::size_t first = 0; first < cache.used.size(); first += cache.sets) {
    const auto begin = cache.used.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = std::count(begin, begin + static_cast<std::ptrdiff_t>(cache.sets), 1);
    used += static_cast<std::size_t>(count);
    units += count > 0 ? 1 : 0;
  }
  return units == 0 ? 0 : static_cast<double>(used) / static_cast<double>(units);
}

Statistics EventEngine::statistics() const {
  Statistics s = counted();
  if (observed_) s.profile = profile_statistics();
  return s;
}

Statistics EventEngine::counted() const {
  const auto cycles = &EventEngine::in_cycles;
  Statistics s;
  s.system = system_;
  if (options_.variant != "default") s.system += "/" + options_.variant;
  if (options_.policy) s.system += "/" + std::string(name_of(*options_.policy));
  s.cycles = cycles(last_end_ == 0 ? journal_.now : last_end_);
  s.drained = cycles(drained_);
  s.firings = firings_;
  s.lines_invalidated = lines_invalidated_;
  s.atomics = atomics_;
  for (std::size_t i = 0; i < level_names_.size(); ++i) s.levels[level_names_[i]] = levels_[i];
  for (const Cache& c : caches_) {
    Statistics::Cache one{c.table_name, c.installed, c.replaced, c.dropped, cycles(c.stalled)};
    one.sets = c.sets;
    one.sets_used = sets_used(c);
    one.banks = c.bank_turn == 0 ? 0 : c.bank_index.count();
    one.look_ups = c.look_ups;
    one.conflicts = c.conflicts;
    one.bank_waits = cycles(c.waited);
    one.mshrs = c.mshrs;
    one.merged = c.merged;
    one.mshr_stalls = c.mshr_stalls;
    one.mshr_waits = cycles(c.mshr_waited);
    s.caches.push_back(std::move(one));
  }
  for (const LinkLevel& level : link_levels_) {
    const timed::QueueInfo* const queue = level.queue;
    const auto& traffic = level.traffic;
    Tick full = 0;
    for (std::size_t i = 0; i < queue->places.size(); ++i) full += links_[level.first + i].full;
    s.full[short_name(queue->name)] = cycles(full);
    for (std::size_t kind = 0; kind < traffic.size(); ++kind) {
      if (traffic[kind].messages == 0) continue;
      s.messages.push_back(
          {short_name(queue->name),
           kind < queue->kind_names.size() ? std::string(queue->kind_names[kind]) : "message",
           traffic[kind].messages, traffic[kind].header_bytes, traffic[kind].data_bytes});
    }
  }
  for (const auto& row : paths_) {
    for (const Path& path : row) {
      if (!path.traffic) continue;
      for (std::size_t kind = 0; kind < path.traffic->size(); ++kind) {
        const auto& t = (*path.traffic)[kind];
        if (t.messages > 0) {
          s.messages.push_back({path.name, carried_kinds_[kind], t.messages, t.header_bytes, t.data_bytes});
        }
      }
    }
  }
  for (const RuleInfo& r : rules_) {
    s.rules.push_back({r.name, r.unit_name, r.firings, cycles(r.waited)});
    s.unit_waits[r.unit_name] += cycles(r.waited);
    if (r.unit_name == unit_of_waves && r.occupancy > 0) s.issued += r.firings;
  }
  for (const UnitKind& kind : unit_kinds_) {
    if (kind.name != unit_of_waves) continue;
    const bool has_one_of_cpus = kind.per == Per::cu || kind.per == Per::agent;
    s.issue_peak = kind.per_cycle * static_cast<double>(kind.count - (has_one_of_cpus ? 1 : 0));
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    s.operations.push_back({boost::describe::enum_to_string(static_cast<Operation>(i), "?"),
                            operations_[i].first, cycles(operations_[i].second)});
  }
  s.memory = main_memory_.statistics(polled_family_ == 0xFFFF ? journal_.now : drained_);
  s.memory.stalled = cycles(memory_stalled_);
  s.energy = energy(s);
  return s;
}

std::vector<std::string> EventEngine::overlooked() {
  std::vector<timed::Event> enabled;
  probing_ = &enabled;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    std::size_t instances = 1;
    for (const std::uint32_t e : family.extents) instances *= e;
    for (std::size_t i = 0; i < instances; ++i) {
      consider_family(static_cast<std::uint16_t>(f), parameters_of(family, i), rules_of(family, i));
    }
  }
  probing_ = nullptr;
  // Those who wait for room while it is on offer to others have their turn when an offer is passed on.
  std::set<std::array<std::uint32_t, 3>> in_line;
  for (const Watch& w : watches_) {
    if (w.room == nullptr || w.offers == 0) continue;
    for (std::size_t i = w.first; i < w.others.size(); ++i) {
      const Watcher& x = w.others[i];
      in_line.insert({x.family * 64U + x.rule, x.a, x.b});
    }
  }
  std::vector<std::string> missed;
  for (const timed::Event& e : enabled) {
    const Family& family = families_[e.family];
    if (in_line.contains({e.family * 64U + e.rule, e.a, e.b})) continue;
    const bool known = family.listed
                           ? ((family.scheduled[instance_of(family, {e.a, e.b})] >> e.rule) & 1U) != 0
                           : scheduled_blocks_.contains(packed(e));
    if (!known) missed.push_back(fmt::format("{} ({}, {})", info(family, e.rule, e.a).name, e.a, e.b));
  }
  return missed;
}

}  // namespace lockstep
