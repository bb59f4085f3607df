// What an event engine notes where somebody wants to know where time goes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "checker/support/diagnostic.hpp"
#include "refimpl/event_engine.hpp"

namespace lockstep {

namespace {

constexpr std::size_t most_epochs = std::size_t{1} << 17;

}  // namespace

void EventEngine::set_profile() {
  if (!options_.profile) return;
  observed_ = std::make_unique<Observed>();
  Observed& o = *observed_;
  timed::Profile& p = o.profile;
  o.computing = p.station("computing");
  for (const UnitKind& kind : unit_kinds_) {
    o.work.push_back(p.station(fmt::format("{}: work", kind.name)));
    o.turns.push_back(p.station(fmt::format("{}: turns", kind.name)));
  }
  for (const LinkLevel& level : link_levels_) {
    const std::string name = short_name(level.queue->name);
    o.links.push_back({p.station(fmt::format("{}: bandwidth", name)), p.station(fmt::format("{}: way", name)),
                       p.station(fmt::format("{}: behind others", name))});
  }
  o.paths.resize(paths_.size());
  for (std::size_t from = 0; from < paths_.size(); ++from) {
    for (const Path& path : paths_[from]) {
      o.paths[from].emplace_back();
      if (path.links.empty()) continue;
      o.paths[from].back() = {p.station(fmt::format("{}: bandwidth", path.name)),
                              p.station(fmt::format("{}: way", path.name))};
    }
  }
  for (const Cache& cache : caches_) {
    o.caches.push_back({p.station(fmt::format("banks of {}", cache.table_name)),
                        p.station(fmt::format("MSHRs of {}", cache.table_name))});
  }
  for (const auto& [key, room] : binder_.rooms) {
    const Key whole = binder_.table_of[key];
    const auto of = std::find_if(binder_.tables.begin(), binder_.tables.end(),
                                 [&](const timed::TableInfo& table) { return table.first_key == whole; });
    if (of != binder_.tables.end()) o.rooms[key] = p.station(fmt::format("{}: room", short_name(of->name)));
  }
  o.memory = p.station("memory");
  o.memory_queue = p.station("memory: behind others");
  o.memory_room = p.station("memory: room");
  o.timers = p.station("timers");

  o.units.resize(units_.size());
  for (Observed::OfUnit& unit : o.units) unit.levels.resize(levels_.size());
  o.last.assign(threads_count(), 0);
  o.kernel_of.assign(threads_count(), -1);
  const auto& kernels = workload_.kernels;
  for (const Workload::Kernel& kernel : kernels) o.kernels.push_back({kernel.name, -1, -1, {}});
  o.left.assign(kernels.size(), 0);
  for (std::size_t t = 0; t < threads_count(); ++t) {
    const Thread& thread = program().threads[t];
    const int number = thread.placement.kernel;
    const auto behind = std::upper_bound(kernels.begin(), kernels.end(), number,
                                         [](int n, const Workload::Kernel& k) { return n < k.first; });
    if (thread.slot_of >= 0 || behind == kernels.begin() || number > std::prev(behind)->last) continue;
    o.kernel_of[t] = static_cast<int>(behind - kernels.begin()) - 1;
    ++o.left[static_cast<std::size_t>(o.kernel_of[t])];
  }
  if (options_.epoch > 0) next_epoch_ = options_.epoch * timed::ticks_per_cycle;
}

timed::Profile::Head EventEngine::head_seen() const {
  const timed::Reads::Arrival& seen = timed::reads.last_arrival();
  if (seen.sent_by == timed::nobody) return {};
  const auto [turn, way, queue] = observed_->links[seen.level];
  return {seen.sent_by, seen.starts, seen.at, turn, way, queue};
}

void EventEngine::profile_parked(std::uint16_t f, Parameters at, std::uint16_t rule, timed::Stamp rests_on) {
  Observed& o = *observed_;
  auto room = o.rooms.end();
  timed::reads.for_each_key(rests_on, [&](Key key, std::uint64_t) {
    if (room == o.rooms.end()) room = o.rooms.find(key);
  });
  if (room == o.rooms.end()) {
    o.profile.is_disabled(key_of(f, at, rule), head_seen());
    return;
  }
  const auto unit = static_cast<std::size_t>(info(families_[f], rule, at.a).unit);
  o.profile.finds_no_room(key_of(f, at, rule), journal_.now, cause_, head_seen(), o.turns[unit],
                          room->second);
}

std::string EventEngine::activity_of(std::uint32_t thread, const RuleInfo& r) const {
  if (r.name == "executes") return "computing";
  if (r.name == "is dispatched" || r.name == "begins its kernel") return "";
  if (r.name == "awaits") return "waiting for accesses under way";
  const auto& code = program().threads[thread].code;
  const std::size_t pc = place_of(thread);
  const Opcode opcode = pc < code.size() ? code[pc].opcode : Opcode::move;
  if (opcode == Opcode::barrier) return "waiting at barriers";
  if (r.name != "completes") return "waiting to issue";
  switch (opcode) {
    case Opcode::load:
      return "waiting for loads";
    case Opcode::store:
      return "waiting for stores";
    case Opcode::rmw:
      return "waiting for RMWs";
    case Opcode::fence:
      return "waiting for fences";
    case Opcode::kernel_begin:
      return "acquiring at kernel begins";
    case Opcode::kernel_end:
      return "releasing at kernel ends";
    default:
      return "else";
  }
}

void EventEngine::profile_firing(const timed::Event& event, const RuleInfo& r) {
  Observed& o = *observed_;
  static_cast<void>(o.profile.fired(key_of(event.family, {event.a, event.b}, event.rule), journal_.now,
                                    o.turns[static_cast<std::size_t>(r.unit)]));
}

void EventEngine::profile_wave(std::uint32_t t) {
  if (program().threads[t].slot_of >= 0) return;
  Observed& o = *observed_;
  const auto k = static_cast<std::size_t>(o.kernel_of[t]);
  if (!o.activity.empty()) {
    o.profile.spent(o.activity, journal_.now - o.last[t]);
  } else if (o.kernel_of[t] >= 0 && o.kernels[k].from < 0) {
    o.kernels[k].from = in_cycles(journal_.now);
  }
  o.last[t] = journal_.now;
  if (o.kernel_of[t] < 0 || !status_of(t).ended || --o.left[k] > 0) return;
  Statistics::Counters counters = counters_of(counted());
  o.kernels[k].to = in_cycles(journal_.now);
  o.kernels[k].counters = difference(counters, o.at_kernel);
  o.at_kernel = std::move(counters);
}

void EventEngine::profile_counts(const RuleInfo& r, const Family& family, Parameters at) {
  Observed::OfUnit& unit = observed_->units[unit_of(family, r, at)];
  ++unit.firings;
  unit.busy += r.occupancy;
  if (r.hit >= 0) ++unit.levels[static_cast<std::size_t>(r.hit)].hits;
  if (r.miss >= 0) ++unit.levels[static_cast<std::size_t>(r.miss)].misses;
}

void EventEngine::end_epochs() {
  Observed& o = *observed_;
  const Tick length = options_.epoch * timed::ticks_per_cycle;
  Statistics::Counters counters = counters_of(counted());
  // What has come until now has come in the epoch that ends; nothing has in those behind it.
  Statistics::Counters come = difference(counters, o.at_epoch);
  if (!come.empty()) {
    if (o.epochs.size() == most_epochs)
      throw BadInput(fmt::format("more than {} epochs of {} cycles", most_epochs, options_.epoch),
                     "longer ones: --epoch N");
    o.epochs.push_back({in_cycles(next_epoch_ - length), in_cycles(next_epoch_), std::move(come)});
  }
  o.at_epoch = std::move(counters);
  next_epoch_ += ((journal_.now - next_epoch_) / length + 1) * length;
}

Statistics::Profile EventEngine::profile_statistics() const {
  const Observed& o = *observed_;
  Statistics::Profile all;
  for (std::size_t i = 0; i < o.profile.stations().size(); ++i) {
    Statistics::Profile::Station station{o.profile.stations()[i]};
    for (std::size_t op = 0; op < station.cycles.size(); ++op)
      station.cycles[op] = in_cycles(o.profile.spent_at(i, op));
    if (std::any_of(station.cycles.begin(), station.cycles.end(), [](double c) { return c > 0; }))
      all.stations.push_back(std::move(station));
  }
  for (std::size_t op = 0; op < operations_.size(); ++op) {
    const timed::Profile::Latencies& latencies = o.profile.latencies(op);
    if (latencies.buckets.empty()) continue;
    Statistics::Profile::Latencies one;
    one.operation = boost::describe::enum_to_string(static_cast<Operation>(op), "?");
    one.most = in_cycles(latencies.most);
    for (std::size_t b = 0; b < latencies.buckets.size(); ++b) {
      if (latencies.buckets[b] > 0)
        one.buckets.emplace_back(timed::Profile::least_of(b), latencies.buckets[b]);
    }
    all.latencies.push_back(std::move(one));
  }
  for (const auto& [name, ticks] : o.profile.activities()) all.activities[name] = in_cycles(ticks);
  for (const UnitKind& kind : unit_kinds_) {
    for (std::size_t i = 0; i < kind.count; ++i) {
      const Observed::OfUnit& unit = o.units[kind.first + i];
      if (unit.firings == 0) continue;
      Statistics::Profile::Unit one{kind.name, i, unit.firings, in_cycles(unit.busy), in_cycles(unit.waited),
                                    {}};
      for (std::size_t l = 0; l < unit.levels.size(); ++l) {
        if (unit.levels[l].hits + unit.levels[l].misses > 0) one.levels[level_names_[l]] = unit.levels[l];
      }
      all.units.push_back(std::move(one));
    }
  }
  const auto add = [&](const std::string& name, std::size_t number, const timed::Link& link) {
    if (link.messages == 0) return;
    all.links.push_back(
        {name, number, link.messages, link.bytes, in_cycles(link.busy), in_cycles(link.full)});
  };
  for (const LinkLevel& level : link_levels_) {
    for (std::size_t i = 0; i < level.queue->places.size(); ++i)
      add(short_name(level.queue->name), i, links_[level.first + i]);
  }
  for (const auto& row : paths_) {
    for (const Path& path : row) {
      for (std::size_t i = 0; i < path.links.size(); ++i) add(path.name, i, path.links[i]);
    }
  }
  for (const NetworkInUse& network : networks_) {
    for (const timed::Network::Channel& channel : network.network.channels()) {
      if (channel.messages == 0) continue;
      const char* const end = channel.from != channel.to ? "" : channel.out ? ": out" : ": in";
      Statistics::Profile::Link one{network.name + end, channel.from, channel.messages, channel.bytes,
                                    in_cycles(channel.busy)};
      one.to = static_cast<int>(channel.to);
      all.links.push_back(std::move(one));
    }
  }
  for (const Statistics::Kernel& kernel : o.kernels) {
    if (kernel.to >= 0) all.kernels.push_back(kernel);
  }
  all.epochs = o.epochs;
  if (options_.epoch > 0) {
    // The last one is cut short.
    Statistics::Counters rest = difference(counters_of(counted()), o.at_epoch);
    const double from = in_cycles(next_epoch_ - options_.epoch * timed::ticks_per_cycle);
    if (!rest.empty()) all.epochs.push_back({from, std::max(from, in_cycles(drained_)), std::move(rest)});
  }
  return all;
}

}  // namespace lockstep
