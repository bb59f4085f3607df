// Liveness is a closure over changes, found once for each combination of places of the threads.
#include "checker/footprint/dead.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

namespace lockstep::footprint {

std::vector<bool> DeadFields::candidates(const Footprints& footprints) {
  std::vector<bool> found(footprints.locations(), false);
  const auto& places = footprints.terms().places();
  for (std::uint32_t p = 0; p < places.size(); ++p) {
    const Location l = footprints.location_of(p);
    const std::string& path = places[p].path;
    if (l == Footprints::nowhere || path.find("context(") != std::string::npos ||
        path.find("port(") != std::string::npos)
      continue;
    for (std::size_t i = 0; i < (footprints.is_queue(l) ? Footprints::aspects : 1); ++i) found[l + i] = true;
  }
  return found;
}

void DeadFields::put(Set& set, Location l) const {
  const Location unit = footprints_->unit_of(l);
  set[unit / 64] |= std::uint64_t{1} << (unit % 64);
}

void DeadFields::put(Set& set, const std::vector<Location>& locations) const {
  for (const Location l : locations) put(set, l);
}

// The places of threads that a case asks for.
DeadFields::When DeadFields::when_of(const Case& one) const {
  When when;
  const Terms& terms = footprints_->terms();
  const auto& counters = footprints_->counters();
  for (const TermId atom : one.guard) {
    const Term& t = terms[atom];
    if (t.op != TermOp::equal || !terms.is_constant(t.b) || terms[t.a].op != TermOp::scalar) continue;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (terms[t.a].location == counters[i].location) when.push_back({i, terms[t.b].value});
    }
  }
  std::sort(when.begin(), when.end());
  return when;
}

std::uint32_t DeadFields::number_of(const When& when) {
  const auto at = static_cast<std::size_t>(std::find(whens_.begin(), whens_.end(), when) - whens_.begin());
  if (at == whens_.size()) whens_.push_back(when);
  return static_cast<std::uint32_t>(at);
}

// Where threads may go: what a case may leave in their counters.
void DeadFields::note_moves(const std::vector<bool>& possible) {
  const auto& counters = footprints_->counters();
  for (const Counter& counter : counters) {
    auto& ahead = ahead_.emplace_back(counter.ends + 1, std::vector<bool>(counter.ends + 1, false));
    for (std::size_t place = 0; place <= counter.ends; ++place) ahead[place][place] = true;
  }
  const auto& cases = footprints_->cases();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (!possible[c]) continue;
    const When when = when_of(cases[c]);
    for (const Access& access : cases[c].accesses) {
      if (access.kind == AccessKind::read) continue;
      for (std::size_t t = 0; t < counters.size(); ++t) {
        if (access.location != counters[t].location) continue;
        const auto asks = [&](std::size_t place) {
          return std::all_of(when.begin(), when.end(), [&](const At& at) {
            return at.thread != t || at.place == static_cast<std::int64_t>(place);
          });
        };
        for (std::size_t from = 0; from <= counters[t].ends; ++from) {
          if (!asks(from)) continue;
          for (std::size_t to = 0; to <= counters[t].ends; ++to) {
            if (!access.is_constant || access.constant == static_cast<std::int64_t>(to))
              ahead_[t][from][to] = true;
          }
        }
      }
    }
  }
  // Warshall's closure.
  for (auto& ahead : ahead_) {
    for (std::size_t via = 0; via < ahead.size(); ++via) {
      for (auto& from : ahead) {
        if (!from[via]) continue;
        for (std::size_t to = 0; to < ahead.size(); ++to) {
          if (ahead[via][to]) from[to] = true;
        }
      }
    }
  }
}

// With all threads at their ends, and every field of the memory system as it is at the start.
std::vector<std::byte> DeadFields::drained_state() const {
  std::vector<std::byte> state = initial_;
  const auto put_at = [&](std::uint32_t place, std::size_t value) {
    const Place& at = footprints_->terms().places()[place];
    for (std::size_t i = 0; i < at.bytes; ++i)
      state[at.offset + i] = static_cast<std::byte>(value >> (8 * i));
  };
  const auto& places = footprints_->terms().places();
  for (std::uint32_t p = 0; p < places.size(); ++p) {
    if (is_of_port(places[p].path, "ended")) put_at(p, 1);
  }
  for (const Counter& counter : footprints_->counters()) put_at(counter.place, counter.ends);
  return state;
}

bool DeadFields::is_of_port(const std::string& path, std::string_view field) {
  const std::size_t at = path.find("port(");
  return at != std::string::npos && path.ends_with(field) &&
         path.find('.', at) == path.size() - field.size() - 1;
}

bool DeadFields::stirs_when_drained(const std::vector<bool>& possible, const std::vector<bool>& fair) const {
  const Footprints& footprints = *footprints_;
  const std::vector<std::byte> state = drained_state();
  std::vector<bool> known = candidates_;
  const auto& places = footprints.terms().places();
  for (std::uint32_t p = 0; p < places.size(); ++p) {
    const Location l = footprints.location_of(p);
    if (l == Footprints::nowhere) continue;
    for (const std::string_view field : {"pending", "done", "ended"})
      known[l] = known[l] || is_of_port(places[p].path, field);
  }
  for (const Counter& counter : footprints.counters()) known[counter.location] = true;
  // What else threads hold may be anything.
  const auto may_hold = [&](TermId atom) {
    const auto& reads = footprints.reads_of(atom);
    return !std::all_of(reads.begin(), reads.end(), [&](Location l) { return known[l]; }) ||
           footprints.terms().evaluate(atom, state.data()) != 0;
  };
  const auto& cases = footprints.cases();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (possible[c] && fair[cases[c].instance] &&
        std::all_of(cases[c].guard.begin(), cases[c].guard.end(), may_hold))
      return true;
  }
  return false;
}

DeadFields::DeadFields(std::shared_ptr<const Footprints> all, const std::vector<bool>& possible,
                       const std::vector<bool>& fair, bool memory_observed, const std::byte* initial,
                       std::size_t bytes)
    : footprints_(std::move(all)), initial_(initial, initial + bytes), candidates_(candidates(*footprints_)) {
  const Footprints& footprints = *footprints_;
  note_moves(possible);
  looks_at_draining_ = memory_observed || stirs_when_drained(possible, fair);
  const Set empty((footprints.locations() + 63) / 64, 0);
  std::map<std::pair<std::uint32_t, Location>, Set> changes;
  std::map<std::uint32_t, Set> guards;
  const auto& cases = footprints.cases();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (!possible[c]) continue;
    const std::uint32_t when = number_of(when_of(cases[c]));
    Set guard = empty;
    for (const TermId atom : cases[c].guard) put(guard, footprints.reads_of(atom));
    const auto join = [](Set& set, const Set& more) {
      for (std::size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
    };
    if (fair[cases[c].instance]) join(guards.try_emplace(when, empty).first->second, guard);
    for (const Access& access : cases[c].accesses) {
      if (access.kind == AccessKind::read) continue;
      Set& sources = changes.try_emplace({when, footprints_->unit_of(access.location)}, empty).first->second;
      join(sources, guard);
      put(sources, access.sources);
      for (const TermId condition : access.conditions) put(sources, footprints.reads_of(condition));
    }
  }
  guards_.assign(guards.begin(), guards.end());
  changes_of_.resize(footprints.locations());
  for (auto& [key, sources] : changes) {
    changes_of_[key.second].push_back(static_cast<std::uint32_t>(changes_.size()));
    changes_.push_back({key.first, key.second, std::move(sources)});
  }
  always_ = until_the_end_ = empty;
  for (const auto* observed : {&footprints.assertions(), &footprints.final_registers()}) {
    for (const TermId term : *observed) put(always_, footprints.reads_of(term));
  }
  if (memory_observed) {
    for (const TermId term : footprints.final_locations()) put(always_, footprints.reads_of(term));
  }
  put(looks_at_draining_ ? always_ : until_the_end_, footprints.reads_of(footprints.proper_end()));
  const auto& places = footprints.terms().places();
  for (std::uint32_t p = 0; p < places.size(); ++p) {
    const Location l = footprints.location_of(p);
    if (l != Footprints::nowhere && candidates_[l])
      resettable_.push_back(
          {footprints_->unit_of(l), {static_cast<std::uint32_t>(places[p].offset), places[p].bytes}});
  }
  std::sort(resettable_.begin(), resettable_.end(),
            [](const auto& a, const auto& b) { return a.second.offset < b.second.offset; });
}

std::vector<DeadFields::Stretch> DeadFields::dead_at(const std::string& places) const {
  std::vector<bool> may(whens_.size());
  for (std::size_t w = 0; w < whens_.size(); ++w) {
    may[w] = std::all_of(whens_[w].begin(), whens_[w].end(), [&](const At& at) {
      const auto& ahead = ahead_[at.thread][static_cast<unsigned char>(places[at.thread])];
      return at.place >= 0 && at.place < static_cast<std::int64_t>(ahead.size()) &&
             ahead[static_cast<std::size_t>(at.place)];
    });
  }
  Set live(always_.size(), 0);
  std::vector<Location> waiting;
  const auto join = [&](const Set& more) {
    for (std::size_t w = 0; w < live.size(); ++w) {
      for (std::uint64_t fresh = more[w] & ~live[w]; fresh != 0; fresh &= fresh - 1)
        waiting.push_back(static_cast<Location>(w * 64 + static_cast<unsigned>(std::countr_zero(fresh))));
      live[w] |= more[w];
    }
  };
  join(always_);
  const auto& counters = footprints_->counters();
  bool at_end = true;
  for (std::size_t t = 0; t < counters.size(); ++t)
    at_end = at_end && static_cast<unsigned char>(places[t]) == counters[t].ends;
  if (looks_at_draining_ || !at_end) {
    join(until_the_end_);
    for (const auto& [when, guard] : guards_) {
      if (may[when]) join(guard);
    }
  }
  while (!waiting.empty()) {
    const Location at = waiting.back();
    waiting.pop_back();
    for (const std::uint32_t c : changes_of_[at]) {
      if (may[changes_[c].when]) join(changes_[c].sources);
    }
  }
  std::vector<Stretch> dead;
  for (const auto& [unit, stretch] : resettable_) {
    if (((live[unit / 64] >> (unit % 64)) & 1U) != 0) continue;
    if (!dead.empty() && dead.back().offset + dead.back().bytes == stretch.offset) {
      dead.back().bytes += stretch.bytes;
    } else {
      dead.push_back(stretch);
    }
  }
  return dead;
}

void DeadFields::reset(std::byte* state, Room& room) const {
  room.places.clear();
  for (const Counter& counter : footprints_->counters())
    room.places.push_back(static_cast<char>(footprints_->terms().value_at(counter.place, state)));
  auto found = room.dead.find(room.places);
  if (found == room.dead.end()) found = room.dead.emplace(room.places, dead_at(room.places)).first;
  for (const Stretch& stretch : found->second)
    std::memcpy(state + stretch.offset, initial_.data() + stretch.offset, stretch.bytes);
}

}  // namespace lockstep::footprint
