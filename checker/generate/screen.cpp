// All interleavings of a handful of accesses, each with the set of accesses that happen before it.
//
// The definitions are those of semantics.md, "SC and races", in the reading "any location": an acquire with
// respect to a scope instance takes in what the releases with respect to it have left there.
#include "checker/generate/screen.hpp"

#include <algorithm>
#include <vector>

namespace lockstep::generate {

namespace {

using Set = std::uint16_t;  // of accesses: two for each thread
constexpr std::size_t most_accesses = 2 * Blueprint::most_threads;
constexpr std::size_t most_instances = 16;

class Screen {
 public:
  Screen(const Blueprint& blueprint, RaceModel model)
      : blueprint_(blueprint), all_system_(model == RaceModel::drf), relaxed_(is_relaxed(model)) {
    for (int t = 0; t < blueprint_.threads; ++t) {
      for (int i = 0; i < thread(t).count; ++i) add(t, i);
      if (thread(t).kernel < 0) continue;
      // Its edges, taken together with its first access and its last.
      const std::uint32_t edge = 1U << instance(t, Scope::system);
      events_[number(t, 0)].acquires |= edge;
      events_[number(t, thread(t).count - 1)].releases |= edge;
    }
    const bool direct = model == RaceModel::hrf_direct || model == RaceModel::hrf_relaxed_direct;
    closures_ = direct && !relaxed_ ? std::max<std::size_t>(1, instances_.size()) : 1;
    find_conflicts();
  }

  bool races() {
    if (conflicts_ == 0) return false;
    return from(State{});
  }

 private:
  struct Event {
    int location = 0;
    bool atomic = false;
    int instance = -1;           // of an atomic
    std::uint32_t acquires = 0;  // one bit an instance
    std::uint32_t releases = 0;
    Set conflicting = 0;
  };
  struct Instance {
    Scope scope;
    std::uint32_t members;
    bool operator==(const Instance&) const = default;
  };
  struct State {
    std::array<std::int8_t, Blueprint::most_threads> next{};
    std::array<std::int8_t, Blueprint::most_locations> memory{};
    std::array<std::int8_t, Blueprint::most_threads> read{};  // by each thread's first access
    Set performed = 0;
    std::array<std::array<Set, most_instances>, Blueprint::most_threads> known{};  // by thread and closure
    std::array<Set, most_instances> released{};
  };

  static bool is_relaxed(RaceModel model) {
    return model == RaceModel::hrf_relaxed_direct || model == RaceModel::hrf_relaxed_indirect;
  }
  [[nodiscard]] const PlannedThread& thread(int t) const {
    return blueprint_.thread[static_cast<std::size_t>(t)];
  }
  static std::size_t number(int t, int i) { return static_cast<std::size_t>(2 * t + i); }

  // The index of the scope instance that a thread names. In the relaxed models there is but one.
  int instance(int t, Scope scope) {
    if (all_system_ || relaxed_) scope = Scope::system;
    Instance wanted{scope, 0};
    const Seat& self = thread(t).seat;
    for (int u = 0; u < blueprint_.threads; ++u) {
      const Seat& other = thread(u).seat;
      const bool device = !self.host && !other.host;
      const bool shared =
          scope == Scope::system || u == t ||
          (device && self.agent == other.agent && (scope == Scope::agent || self.group == other.group));
      if (shared) wanted.members |= 1U << u;
    }
    const auto found = std::find(instances_.begin(), instances_.end(), wanted);
    if (found != instances_.end()) return static_cast<int>(found - instances_.begin());
    instances_.push_back(wanted);
    return static_cast<int>(instances_.size()) - 1;
  }

  void add(int t, int i) {
    const PlannedThread& self = thread(t);
    const Access& access = self.accesses[static_cast<std::size_t>(i)];
    Event& event = events_[number(t, i)];
    event.location = access.location;
    event.atomic = access.flavour != Flavour::plain;
    if (!event.atomic) return;
    event.instance = instance(t, access.scope);
    const std::uint32_t own = 1U << event.instance;
    if (acquires(access)) event.acquires |= own;
    if (releases(access)) event.releases |= own;
    // A fence acts through the atomic before it and the atomic behind it.
    if (self.count == 2 && self.link.fenced) {
      const std::uint32_t fence = 1U << instance(t, self.link.fence);
      if (i == 0 && has_register(access)) event.acquires |= fence;
      if (i == 1 && writes(access)) event.releases |= fence;
    }
  }

  void find_conflicts() {
    for (int t = 0; t < blueprint_.threads; ++t) {
      for (int i = 0; i < thread(t).count; ++i) {
        for (int u = 0; u < blueprint_.threads; ++u) {
          for (int j = 0; u != t && j < thread(u).count; ++j) {
            if (conflict(t, i, u, j)) {
              events_[number(t, i)].conflicting |= static_cast<Set>(1U << number(u, j));
              ++conflicts_;
            }
          }
        }
      }
    }
  }
  [[nodiscard]] bool conflict(int t, int i, int u, int j) const {
    const Event& a = events_[number(t, i)];
    const Event& b = events_[number(u, j)];
    if (a.location != b.location) return false;
    if (!writes(thread(t).accesses[static_cast<std::size_t>(i)]) &&
        !writes(thread(u).accesses[static_cast<std::size_t>(j)]))
      return false;
    if (!a.atomic || !b.atomic) return true;
    return !relaxed_ && a.instance != b.instance;
  }

  // Whether some continuation of the execution has a race.
  bool from(const State& state) {
    for (int t = 0; t < blueprint_.threads; ++t) {
      const auto at = static_cast<std::size_t>(t);
      if (state.next[at] >= thread(t).count || waits(t, state)) continue;
      State after = state;
      if (perform(t, state.next[at], after) || from(after)) return true;
    }
    return false;
  }

  // For the end of an earlier kernel.
  [[nodiscard]] bool waits(int t, const State& state) const {
    if (thread(t).kernel != 1) return false;
    for (int u = 0; u < blueprint_.threads; ++u) {
      if (thread(u).kernel == 0 && state.next[static_cast<std::size_t>(u)] < thread(u).count) return true;
    }
    return false;
  }

  // Whether the access races with an earlier one.
  bool perform(int t, int i, State& state) {
    const auto at = static_cast<std::size_t>(t);
    const PlannedThread& self = thread(t);
    const Access& access = self.accesses[static_cast<std::size_t>(i)];
    const Event& event = events_[number(t, i)];
    auto& known = state.known[at];
    for (std::size_t s = 0; s < instances_.size(); ++s) {
      if ((event.acquires >> s & 1U) != 0) known[closures_ == 1 ? 0 : s] |= state.released[s];
    }
    Set ordered = 0;
    for (std::size_t c = 0; c < closures_; ++c) ordered |= known[c];
    if ((event.conflicting & state.performed & ~ordered) != 0) return true;
    const auto self_bit = static_cast<Set>(1U << number(t, i));
    state.performed |= self_bit;
    for (std::size_t c = 0; c < closures_; ++c) known[c] |= self_bit;
    for (std::size_t s = 0; s < instances_.size(); ++s) {
      if ((event.releases >> s & 1U) != 0) state.released[s] |= known[closures_ == 1 ? 0 : s];
    }

    auto& memory = state.memory[static_cast<std::size_t>(access.location)];
    if (i == 0) state.read[at] = memory;
    if (access.role == Role::write) {
      const bool computed = i == 1 && self.link.dependency == Dependency::data;
      memory = static_cast<std::int8_t>(computed ? access.value + state.read[at] - self.link.expected
                                                 : access.value);
    }
    ++state.next[at];
    const bool leaves = i == 0 && self.count == 2 && self.link.dependency == Dependency::guard &&
                        state.read[at] != self.link.expected;
    if (leaves) state.next[at] = self.count;
    return false;
  }

  const Blueprint& blueprint_;
  bool all_system_;
  bool relaxed_;
  std::size_t closures_ = 1;
  std::size_t conflicts_ = 0;
  std::array<Event, most_accesses> events_{};
  std::vector<Instance> instances_;
};

}  // namespace

bool surely_races(const Blueprint& blueprint, RaceModel model) {
  return Screen(blueprint, model).races();
}

}  // namespace lockstep::generate
