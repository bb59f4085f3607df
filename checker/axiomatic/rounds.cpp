// Lets the threads arrive one by one, in every order that makes a difference. A barrier without a number of
// participants opens for the n-th time when all that have it arrived for the n-th time, so there the order
// makes none.
#include "checker/axiomatic/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

constexpr std::size_t most_states = 100'000;

class Meetings {
 public:
  Meetings(const Execution& execution, bool with_hangs) : execution_(execution), with_hangs_(with_hangs) {
    number_barriers();
  }

  std::vector<Meeting> all() {
    const auto n = static_cast<std::size_t>(execution_.size());
    State start{execution_.first, std::vector<int>(execution_.first.size(), -1), Rounds(n, -1), {}};
    if (none_) return {{start.round}};
    if (execution_.any_path(PathEnd::cut)) {
      return {{loosest()}};
    }
    if (!adds_up()) return {};
    start.arrived.resize(barriers_.size());
    explore(start);
    std::vector<Meeting> found;
    for (const auto& [round, hangs] : ways_) found.push_back({round, hangs});
    return found;
  }

 private:
  // A barrier of one work-group; without a number of participants, one of its rounds.
  struct Barrier {
    int awaited = 0;
    bool has_quorum = false;
  };
  struct State {
    std::vector<int> at;                    // by thread: its next event
    std::vector<int> waiting;               // the arrival that it waits behind, -1: none
    Rounds round;                           // by event
    std::vector<std::vector<int>> arrived;  // by barrier and round: how many
  };

  [[nodiscard]] const ProgramEvent& event(int i) const {
    return execution_.events[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] int barrier_of(int i) const { return of_event_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool is_left_behind(std::size_t t) const {
    return execution_.paths[t]->end == PathEnd::left_behind;
  }
  [[nodiscard]] int end_of(std::size_t t) const {
    return t + 1 < execution_.first.size() ? execution_.first[t + 1] : execution_.size();
  }
  [[nodiscard]] static bool is_arrival(EventKind kind) {
    return kind == EventKind::barrier || kind == EventKind::barrier_entry;
  }

  void number_barriers() {
    std::map<std::tuple<int, int, int, int>, int> known;
    std::map<std::tuple<int, int, int>, int> quorums;
    of_event_.assign(static_cast<std::size_t>(execution_.size()), -1);
    for (int i = 0; i < execution_.size(); ++i) {
      const ProgramEvent& e = event(i);
      if (!is_arrival(e.kind) && e.kind != EventKind::barrier_exit) continue;
      none_ = false;
      if (e.participants < 0) nobody(e);
      const Placement& p = execution_.program->threads[static_cast<std::size_t>(e.thread)].placement;
      const auto [quorum, first] = quorums.emplace(std::tuple(p.agent, p.wg, e.barrier), e.participants);
      if (!first && quorum->second != e.participants) disagree(e, quorum->second);
      const int occurrence = e.participants > 0 ? -1 : e.occurrence;
      const auto [it, added] =
          known.emplace(std::tuple(p.agent, p.wg, e.barrier, occurrence), static_cast<int>(known.size()));
      of_event_[static_cast<std::size_t>(i)] = it->second;
      if (added) barriers_.push_back({execution_.awaited_at(i), e.participants > 0});
    }
  }

  [[noreturn]] void nobody(const ProgramEvent& e) const {
    throw BadInput(
        fmt::format("'{}' has a barrier {} with a register of participants that says none (line {})",
                    execution_.program->name, e.barrier, line_of(e)),
        "a barrier has one participant at least");
  }
  [[nodiscard]] int line_of(const ProgramEvent& e) const {
    const Thread& thread = execution_.program->threads[static_cast<std::size_t>(e.thread)];
    return thread.code[static_cast<std::size_t>(e.instruction)].place.line;
  }
  [[noreturn]] void disagree(const ProgramEvent& e, int other) const {
    const auto count = [](int n) { return n == 0 ? std::string("no number") : std::to_string(n); };
    throw BadInput(
        fmt::format("'{}' has a barrier {} with {} participants, and with {} (line {})",
                    execution_.program->name, e.barrier, count(other), count(e.participants), line_of(e)),
        "all threads that meet at a barrier say the same");
  }

  // Whether as many are left behind at each barrier as do not fill a last round, those aside that need not
  // wait.
  [[nodiscard]] bool adds_up() const {
    std::vector<int> arrivals(barriers_.size());
    std::vector<int> left(barriers_.size());
    std::vector<bool> passed_by(barriers_.size());
    for (int i = 0; i < execution_.size(); ++i) {
      if (!is_arrival(event(i).kind)) continue;
      const auto barrier = static_cast<std::size_t>(barrier_of(i));
      ++arrivals[barrier];
      if (event(i).arrives_only) passed_by[barrier] = true;
    }
    for (std::size_t t = 0; t < execution_.paths.size(); ++t) {
      if (is_left_behind(t)) ++left[static_cast<std::size_t>(barrier_of(end_of(t) - 1))];
    }
    for (std::size_t b = 0; b < barriers_.size(); ++b) {
      const int rest = arrivals[b] % barriers_[b].awaited;
      if (left[b] > rest || (left[b] < rest && !passed_by[b])) return false;
    }
    return true;
  }

  // What any way relates: rounds of barriers that everybody comes to.
  [[nodiscard]] Rounds loosest() const {
    Rounds round(of_event_.size(), -1);
    for (int i = 0; i < execution_.size(); ++i) {
      if (barrier_of(i) < 0) continue;
      const bool alone = barriers_[static_cast<std::size_t>(barrier_of(i))].has_quorum;
      round[static_cast<std::size_t>(i)] = alone ? static_cast<int>(barriers_.size()) + i : barrier_of(i);
    }
    return round;
  }

  [[nodiscard]] bool opened(const State& s, int arrival) const {
    const auto barrier = static_cast<std::size_t>(barrier_of(arrival));
    const auto round = static_cast<std::size_t>(s.round[static_cast<std::size_t>(arrival)]);
    return s.arrived[barrier][round] == barriers_[barrier].awaited;
  }

  // Lets each thread go on to where it arrives next, waits, or ends.
  void go_on(State& s) const {
    for (std::size_t t = 0; t < s.at.size(); ++t) {
      if (s.waiting[t] >= 0) {
        if (!opened(s, s.waiting[t])) continue;
        s.waiting[t] = -1;
      }
      while (s.at[t] < end_of(t) && !is_arrival(event(s.at[t]).kind)) ++s.at[t];
    }
  }

  // Whether some thread waits at a barrier that has never opened.
  [[nodiscard]] bool hangs(const State& s) const {
    return std::any_of(s.waiting.begin(), s.waiting.end(), [&](int arrival) {
      return arrival >= 0 && s.arrived[static_cast<std::size_t>(barrier_of(arrival))].size() < 2;
    });
  }

  void arrive(State& s, std::size_t t) const {
    const int arrival = s.at[t]++;
    const auto barrier = static_cast<std::size_t>(barrier_of(arrival));
    auto& arrived = s.arrived[barrier];
    if (arrived.empty() || arrived.back() == barriers_[barrier].awaited) arrived.push_back(0);
    ++arrived.back();
    const int round = static_cast<int>(arrived.size()) - 1;
    s.round[static_cast<std::size_t>(arrival)] = round;
    if (event(arrival).arrives_only) return;
    s.waiting[t] = arrival;
    // Who is left behind has no departure.
    if (event(arrival).kind == EventKind::barrier_entry && arrival + 1 < end_of(t))
      s.round[static_cast<std::size_t>(arrival) + 1] = round;
  }

  void explore(State s) {
    go_on(s);
    std::vector<std::size_t> ready;
    bool all_ended = true;
    for (std::size_t t = 0; t < s.at.size(); ++t) {
      all_ended = all_ended && s.at[t] == end_of(t) && (s.waiting[t] >= 0) == is_left_behind(t);
      if (s.waiting[t] < 0 && s.at[t] < end_of(t)) ready.push_back(t);
    }
    if (all_ended) {
      const bool hung = hangs(s);
      if (!hung || with_hangs_) ways_.emplace(by_appearance(s.round), hung);
      return;
    }
    for (const std::size_t t : ready) {
      if (barriers_[static_cast<std::size_t>(barrier_of(s.at[t]))].has_quorum) continue;
      arrive(s, t);
      return explore(std::move(s));
    }
    if (!seen_.insert({s.at, by_appearance(s.round)}).second) return;
    if (seen_.size() > most_states) {
      throw BadInput(fmt::format("'{}' has too many ways to meet at its barriers", execution_.program->name),
                     "take threads or barriers away");
    }
    for (const std::size_t t : ready) {
      State next = s;
      arrive(next, t);
      explore(std::move(next));
    }
  }

  // Rounds numbered over all barriers, in the order of events: equal where the same events meet.
  [[nodiscard]] Rounds by_appearance(const Rounds& round) const {
    std::map<std::pair<int, int>, int> numbers;
    Rounds renumbered(round.size(), -1);
    for (std::size_t i = 0; i < round.size(); ++i) {
      if (round[i] < 0) continue;
      renumbered[i] =
          numbers.emplace(std::pair(of_event_[i], round[i]), static_cast<int>(numbers.size())).first->second;
    }
    return renumbered;
  }

  const Execution& execution_;
  bool with_hangs_;
  bool none_ = true;
  std::vector<int> of_event_;
  std::vector<Barrier> barriers_;
  std::set<std::pair<std::vector<int>, Rounds>> seen_;
  std::map<Rounds, bool> ways_;  // and whether it hangs
};

}  // namespace

std::vector<Meeting> ways_to_meet(const Execution& execution, bool with_hangs) {
  return Meetings(execution, with_hangs).all();
}

}  // namespace lockstep
