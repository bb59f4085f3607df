// Cycles, then straight programs.
//
// A critical cycle (Shasha and Snir; Alglave, Maranget, Sarkar and Sewell) visits each thread once, for one
// access or for two that are one program-order edge apart, and each location once, for two accesses by
// different threads or three. So it is a ring of threads with two accesses, from each to the next a
// communication: rf, fr or co, or by way of a third thread's single write co;rf or fr;rf. The other
// compositions say no more than one edge does (co;co is co, fr;co is fr, rf;fr is co). A ring of one thread
// is a test of coherence: both accesses are on one location, and the way back leads through another thread.
//
// Rotations of a ring are the only renamings that leave it a ring: a blueprint is taken when none of its
// rotations comes before it.
#include "checker/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "checker/support/diagnostic.hpp"

namespace lockstep::generate {

namespace {

constexpr Role R = Role::read;
constexpr Role W = Role::write;

// ---- rings -----------------------------------------------------------------------------------------------

// From the last access of a thread to the first of the next: the roles at both ends, the single access on the
// way where there is one, and the values that make it what it is.
struct Path {
  Role from;
  Role to;
  std::optional<Role> through;
  std::int8_t from_value;
  std::int8_t to_value;
  std::int8_t through_value;
  std::int8_t last;  // the location's final value, where it has several writes
  std::int8_t edges;
};
constexpr auto none = Blueprint::unobserved;
constexpr std::array paths{
    Path{W, R, {}, 1, 1, 0, none, 1},  // rf
    Path{R, W, {}, 0, 1, 0, none, 1},  // fr
    Path{W, W, {}, 1, 2, 0, 2, 1},     // co
    Path{W, R, W, 1, 2, 2, 2, 2},      // co;rf
    Path{R, R, W, 0, 1, 1, none, 2},   // fr;rf
};

// Two accesses of one thread on one location, then another thread's, and back.
struct Coherence {
  Role first;
  Role second;
  Role other;
  std::int8_t first_value;
  std::int8_t second_value;
  std::int8_t other_value;
  std::int8_t last;
};
constexpr std::array coherence{
    Coherence{R, R, W, 1, 0, 1, none},  // CoRR: fr, rf
    Coherence{W, R, W, 2, 0, 1, 2},     // CoWR: fr, co
    Coherence{R, W, W, 2, 1, 2, 2},     // CoRW: co, rf
    Coherence{W, W, W, 3, 1, 2, 3},     // CoWW: co, co
    Coherence{W, W, R, 2, 1, 1, 2},     // CoWW seen by a reader: rf, fr
};

// A ring without flavours, links and seats.
struct Ring {
  Blueprint frame;
  std::vector<int> symmetries;  // by how many threads it may be turned and stay the same, 0 left out
};

// With `kernels` the first thread is split in two: its first access ends a kernel, its second is in the next.
Ring ring_of(const std::vector<int>& around, bool kernels) {
  Ring ring;
  Blueprint& frame = ring.frame;
  const auto multiple = around.size();
  std::vector<std::int8_t> start;  // number of the thread with which each path begins
  std::int8_t threads = kernels ? 1 : 0;
  for (std::size_t i = 0; i < multiple; ++i) {
    const Path& path = paths.at(static_cast<std::size_t>(around[i]));
    start.push_back(threads);
    threads = static_cast<std::int8_t>(threads + (path.through ? 2 : 1));
    frame.edges = static_cast<std::int8_t>(frame.edges + 1 + path.edges);
  }
  frame.threads = threads;
  frame.locations = static_cast<std::int8_t>(multiple);
  for (std::size_t i = 0; i < multiple; ++i) {
    const Path& path = paths.at(static_cast<std::size_t>(around[i]));
    const auto location = static_cast<std::int8_t>(i);
    PlannedThread& from = frame.thread.at(static_cast<std::size_t>(start[i]));
    const bool closes = kernels && i + 1 == multiple;
    PlannedThread& to =
        frame.thread.at(closes ? std::size_t{0} : static_cast<std::size_t>(start[(i + 1) % multiple]));
    const bool splits = kernels && i == 0;
    from.count = splits ? 1 : 2;
    from.accesses[splits ? 0 : 1] = {path.from, Flavour::plain, Scope::system, location, path.from_value};
    to.accesses[0] = {path.to, Flavour::plain, Scope::system, location, path.to_value};
    if (path.through) {
      PlannedThread& single = frame.thread.at(static_cast<std::size_t>(start[i] + 1));
      single.count = 1;
      single.accesses[0] = {*path.through, Flavour::plain, Scope::system, location, path.through_value};
    }
    frame.last.at(i) = path.last;
  }
  if (kernels) {
    ++frame.edges;
    frame.thread[0].count = 1;
    frame.thread[0].kernel = 0;
    frame.thread[1].kernel = 1;
    return ring;
  }
  for (std::size_t by = 1; by < multiple; ++by) {
    std::vector<int> turned(around);
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(by), turned.end());
    if (turned == around) ring.symmetries.push_back(start[by]);
  }
  return ring;
}

Ring ring_of(const Coherence& shape) {
  Ring ring;
  Blueprint& frame = ring.frame;
  frame.threads = 2;
  frame.locations = 1;
  frame.edges = 3;
  frame.thread[0].count = 2;
  frame.thread[0].accesses[0] = {shape.first, Flavour::plain, Scope::system, 0, shape.first_value};
  frame.thread[0].accesses[1] = {shape.second, Flavour::plain, Scope::system, 0, shape.second_value};
  frame.thread[1].count = 1;
  frame.thread[1].accesses[0] = {shape.other, Flavour::plain, Scope::system, 0, shape.other_value};
  frame.last[0] = shape.last;
  return ring;
}

// Every ring with so many edges, once up to rotation.
std::vector<Ring> rings_of(int edges) {
  std::vector<Ring> rings;
  if (edges == 3) {
    for (const Coherence& shape : coherence) rings.push_back(ring_of(shape));
  }
  std::vector<int> around;
  const auto least_of_rotations = [&] {
    std::vector<int> turned(around);
    for (std::size_t by = 1; by < around.size(); ++by) {
      std::rotate(turned.begin(), turned.begin() + 1, turned.end());
      if (turned < around) return false;
    }
    return true;
  };
  const auto threads_of = [](const std::vector<int>& all) {
    int threads = 0;
    for (const int i : all) threads += paths.at(static_cast<std::size_t>(i)).through ? 2 : 1;
    return threads;
  };
  const auto extend = [&](auto&& self, int left) -> void {
    if (left <= 1) {
      const int threads = threads_of(around);
      const int most = static_cast<int>(Blueprint::most_threads);
      if (left == 0 && around.size() >= 2 && threads <= most && least_of_rotations())
        rings.push_back(ring_of(around, false));
      if (left == 1 && !around.empty() && threads < most) rings.push_back(ring_of(around, true));
      return;
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (1 + paths.at(i).edges > left) continue;
      around.push_back(static_cast<int>(i));
      self(self, left - 1 - paths.at(i).edges);
      around.pop_back();
    }
  };
  extend(extend, edges);
  return rings;
}

// ---- placements ------------------------------------------------------------------------------------------

// Every way to seat so many threads, numbers in order of first appearance.
std::vector<std::vector<Seat>> placements(int threads) {
  constexpr std::int8_t most_agents = 4;
  std::vector<std::vector<Seat>> all;
  std::vector<Seat> seats;
  const auto extend = [&](auto&& self) -> void {
    if (seats.size() == static_cast<std::size_t>(threads)) {
      all.push_back(seats);
      return;
    }
    std::vector<Seat> taken;  // distinct
    std::int8_t agents = 0;
    for (const Seat& seat : seats) {
      if (seat.host) continue;
      agents = std::max(agents, static_cast<std::int8_t>(seat.agent + 1));
      if (std::find(taken.begin(), taken.end(), seat) == taken.end()) taken.push_back(seat);
    }
    const auto groups = static_cast<std::int8_t>(taken.size());
    const auto seat_at = [&](const Seat& seat) {
      seats.push_back(seat);
      self(self);
      seats.pop_back();
    };
    for (const Seat& seat : taken) seat_at(seat);
    for (std::int8_t agent = 0; agent < std::min<std::int8_t>(most_agents, agents + 1); ++agent)
      seat_at({false, agent, groups});
    seat_at({true, 0, 0});
  };
  extend(extend);
  return all;
}

// ---- what is added to a ring -----------------------------------------------------------------------------

struct AccessChoice {
  Flavour flavour;
  Scope scope;
  std::int8_t cost;
};
struct LinkChoice {
  Dependency dependency;
  bool fenced;
  Scope fence;
  std::int8_t cost;
};
constexpr std::array device_scopes{Scope::wg, Scope::agent, Scope::system};
constexpr std::array host_scopes{Scope::system};

std::span<const Scope> scopes_of(const Seat& seat) {
  if (seat.host) return host_scopes;
  return device_scopes;
}

// In order of cost.
std::vector<AccessChoice> access_choices(const Seat& seat, bool strong = true) {
  std::vector<AccessChoice> all{{Flavour::plain, Scope::system, 0}};
  for (const Scope scope : scopes_of(seat)) all.push_back({Flavour::synchronizing, scope, 0});
  for (const Scope scope : scopes_of(seat)) all.push_back({Flavour::update, scope, 1});
  for (const Scope scope : scopes_of(seat)) {
    if (strong) all.push_back({Flavour::strong, scope, 1});
  }
  for (const Flavour half : {Flavour::acquiring_update, Flavour::releasing_update}) {
    for (const Scope scope : scopes_of(seat)) {
      if (strong) all.push_back({half, scope, 1});
    }
  }
  return all;
}

std::vector<LinkChoice> link_choices(const PlannedThread& thread) {
  std::vector<Dependency> dependencies{Dependency::none};
  if (thread.accesses[0].role == R) {
    dependencies.push_back(Dependency::guard);
    if (thread.accesses[1].role == W) dependencies.push_back(Dependency::data);
  }
  std::vector<LinkChoice> all;
  all.reserve(dependencies.size() * (1 + scopes_of(thread.seat).size()));
  for (const Dependency dependency : dependencies) all.push_back({dependency, false, Scope::system, 0});
  for (const Dependency dependency : dependencies) {
    for (const Scope scope : scopes_of(thread.seat)) all.push_back({dependency, true, scope, 1});
  }
  return all;
}

// What tells two blueprints of one ring apart, thread by thread.
std::uint32_t code_of(const PlannedThread& thread) {
  std::uint32_t code = 0;
  const auto add = [&](auto value, unsigned bits) {
    code = (code << bits) | static_cast<std::uint32_t>(value);
  };
  for (const Access& access : thread.accesses) {
    add(access.flavour, 3);
    add(access.scope, 2);
  }
  add(thread.link.dependency, 2);
  add(thread.link.fenced, 1);
  add(thread.link.fence, 2);
  add(thread.warms + 1, 2);
  add(thread.bystander, 1);
  return code;
}

// Places as seen from thread `first` on: numbers in order of first appearance.
std::uint32_t seats_code(const Blueprint& blueprint, int first) {
  std::array<std::int8_t, Blueprint::most_threads> agents{-1, -1, -1, -1, -1};
  std::array<std::int8_t, Blueprint::most_threads> groups{-1, -1, -1, -1, -1};
  std::int8_t next_agent = 0;
  std::int8_t next_group = 0;
  std::uint32_t code = 0;
  for (int t = 0; t < blueprint.threads; ++t) {
    const Seat& seat = blueprint.thread.at(static_cast<std::size_t>((first + t) % blueprint.threads)).seat;
    if (seat.host) {
      code = (code << 6) | 63U;
      continue;
    }
    auto& agent = agents.at(static_cast<std::size_t>(seat.agent));
    auto& group = groups.at(static_cast<std::size_t>(seat.group));
    if (agent < 0) agent = next_agent++;
    if (group < 0) group = next_group++;
    code = (code << 6) | static_cast<std::uint32_t>(agent * 8 + group);
  }
  return code;
}

// Whether the blueprint turned by some threads comes before it.
bool turns_to_less(const Blueprint& blueprint, std::span<const int> symmetries) {
  if (symmetries.empty()) return false;
  std::array<std::uint32_t, Blueprint::most_threads> codes{};
  for (int t = 0; t < blueprint.threads; ++t)
    codes.at(static_cast<std::size_t>(t)) = code_of(blueprint.thread.at(static_cast<std::size_t>(t)));
  const std::uint32_t seats = seats_code(blueprint, 0);
  for (const int by : symmetries) {
    const std::uint32_t turned = seats_code(blueprint, by);
    if (turned != seats) {
      if (turned < seats) return true;
      continue;
    }
    for (int t = 0; t < blueprint.threads; ++t) {
      const std::uint32_t here = codes.at(static_cast<std::size_t>(t));
      const std::uint32_t there = codes.at(static_cast<std::size_t>((t + by) % blueprint.threads));
      if (there == here) continue;
      if (there < here) return true;
      break;
    }
  }
  return false;
}

// Adds flavours, links and extras to a seated ring in every way that costs exactly what is to be spent.
class Decorator {
 public:
  Decorator(const Ring& ring, const Family& family, const std::function<void(const Blueprint&)>& take)
      : symmetries_(ring.symmetries), only_warm_(family.only_warm), blueprint_(ring.frame), take_(take) {
    blueprint_.extras = static_cast<std::int8_t>(family.extras);
    for (std::size_t t = 0; t < family.seats.size(); ++t) blueprint_.thread.at(t).seat = family.seats[t];
    for (int t = 0; t < blueprint_.threads; ++t) {
      const PlannedThread& thread = at(t);
      accesses_.push_back(access_choices(thread.seat));
      links_.push_back(thread.count == 2 ? link_choices(thread) : std::vector<LinkChoice>{{}});
    }
  }

  std::size_t run() {
    blueprint_.one_block = false;
    thread(0, blueprint_.extras);
    if (blueprint_.locations > 1 && blueprint_.extras > 0 && !only_warm_) {
      blueprint_.one_block = true;
      thread(0, blueprint_.extras - 1);
    }
    return duplicates_;
  }

 private:
  PlannedThread& at(int t) { return blueprint_.thread.at(static_cast<std::size_t>(t)); }

  void thread(int t, int left) {
    if (t == blueprint_.threads) {
      if (left == 0) finish();
      return;
    }
    access(t, 0, left);
  }
  void access(int t, int i, int left) {
    if (i == at(t).count) return link(t, left);
    Access& access = at(t).accesses.at(static_cast<std::size_t>(i));
    for (const AccessChoice& choice : accesses_[static_cast<std::size_t>(t)]) {
      if (choice.cost > (only_warm_ ? 0 : left)) break;
      access.flavour = choice.flavour;
      access.scope = choice.scope;
      this->access(t, i + 1, left - choice.cost);
    }
  }
  void link(int t, int left) {
    PlannedThread& thread = at(t);
    for (const LinkChoice& choice : links_[static_cast<std::size_t>(t)]) {
      if (choice.cost > (only_warm_ ? 0 : left)) break;
      thread.link = {choice.dependency,
                     choice.dependency == Dependency::none ? std::int8_t{0} : thread.accesses[0].value,
                     choice.fenced, choice.fence};
      warm(t, left - choice.cost);
    }
    thread.link = {};
  }
  void warm(int t, int left) {
    PlannedThread& thread = at(t);
    thread.warms = -1;
    this->thread(t + 1, left);
    if (left == 0 || blueprint_.one_block) return;
    const bool apart = thread.count == 2 && thread.accesses[0].location != thread.accesses[1].location;
    for (std::int8_t i = 0; i < (apart ? 2 : 1); ++i) {
      thread.warms = i;
      this->thread(t + 1, left - 1);
      if (bystanders_ + blueprint_.threads == static_cast<int>(Blueprint::most_threads)) continue;
      thread.bystander = true;
      ++bystanders_;
      this->thread(t + 1, left - 1);
      --bystanders_;
      thread.bystander = false;
    }
    thread.warms = -1;
  }
  void finish() {
    if (turns_to_less(blueprint_, symmetries_)) {
      ++duplicates_;
    } else {
      take_(blueprint_);
    }
  }

  std::span<const int> symmetries_;
  bool only_warm_;
  Blueprint blueprint_;
  const std::function<void(const Blueprint&)>& take_;
  std::vector<std::vector<AccessChoice>> accesses_;  // by thread, in order of cost
  std::vector<std::vector<LinkChoice>> links_;
  int bystanders_ = 0;
  std::size_t duplicates_ = 0;
};

// ---- straight programs -----------------------------------------------------------------------------------

// The operations of one thread: loads, stores and exchanges of either flavour on two locations.
std::vector<Access> operations_of(const Seat& seat) {
  std::vector<Access> all;
  for (std::int8_t location = 0; location < 2; ++location) {
    for (const AccessChoice& choice : access_choices(seat, false)) {
      if (!is_update(choice.flavour)) all.push_back({R, choice.flavour, choice.scope, location, 0});
      all.push_back({W, choice.flavour, choice.scope, location, 0});
    }
  }
  return all;
}

// Whether a guard after this operation is of interest: it acquires.
bool may_guard(const Access& access) {
  return has_register(access) && access.flavour != Flavour::plain;
}

class Straight {
 public:
  Straight(const Family& family, std::span<const Key> taken,
           const std::function<void(const Blueprint&)>& take)
      : family_(family), taken_(taken), take_(take) {}

  std::size_t run() {
    const std::vector<Access> first = operations_of(family_.seats[0]);
    const std::vector<Access> second = operations_of(family_.seats[1]);
    blueprint_.threads = 2;
    blueprint_.cycle = false;
    for (std::size_t t = 0; t < 2; ++t) {
      blueprint_.thread.at(t).seat = family_.seats[t];
      blueprint_.thread.at(t).count = 2;
    }
    auto& p0 = blueprint_.thread[0].accesses;
    auto& p1 = blueprint_.thread[1].accesses;
    p0[0] = first.at(static_cast<std::size_t>(family_.shape));
    for (const Access& p0_second : first) {
      p0[1] = p0_second;
      for (const Access& p1_first : second) {
        p1[0] = p1_first;
        for (const Access& p1_second : second) {
          p1[1] = p1_second;
          number();
          guard(0);
        }
      }
    }
    return duplicates_;
  }

 private:
  // Locations in order of use, and a value for each write, different for each location's writes.
  void number() {
    std::array<std::int8_t, 2> next{1, 1};
    std::array<bool, 2> used{};
    for (std::size_t t = 0; t < 2; ++t) {
      for (Access& access : blueprint_.thread.at(t).accesses) {
        used.at(static_cast<std::size_t>(access.location)) = true;
        access.value =
            access.role == W ? next.at(static_cast<std::size_t>(access.location))++ : std::int8_t{0};
      }
    }
    blueprint_.locations = used[1] ? 2 : 1;
    only_second_ = !used[0];
  }

  // With and without a guard on each value that another thread's write, or none, leaves to be read.
  void guard(std::size_t t) {
    if (only_second_) return;  // the same with the first location instead
    if (t == 2) return finish();
    PlannedThread& thread = blueprint_.thread.at(t);
    thread.link = {};
    guard(t + 1);
    if (!may_guard(thread.accesses[0])) return;
    const auto location = thread.accesses[0].location;
    bool written = false;
    for (const Access& other : blueprint_.thread.at(1 - t).accesses) {
      if (!writes(other) || other.location != location) continue;
      written = true;
      guard_on(t, other.value);
    }
    if (written) guard_on(t, 0);
    thread.link = {};
  }
  void guard_on(std::size_t t, std::int8_t value) {
    blueprint_.thread.at(t).link = {Dependency::guard, value, false, Scope::system};
    guard(t + 1);
  }

  // Takes the least of the programs that differ in the names of threads and locations alone.
  void finish() {
    if (renamed_to_less() || std::binary_search(taken_.begin(), taken_.end(), canonical_key(blueprint_))) {
      ++duplicates_;
    } else {
      take_(blueprint_);
    }
  }

  [[nodiscard]] bool renamed_to_less() const {
    const auto code = [&](bool threads_swapped, bool locations_swapped) {
      std::uint64_t all = 0;
      const auto add = [&](auto value, unsigned bits) {
        all = (all << bits) | static_cast<std::uint64_t>(value);
      };
      std::array<std::array<std::int8_t, 5>, 2> values{};  // renamed in order of first appearance
      std::array<std::int8_t, 2> next{1, 1};
      for (std::size_t t = 0; t < 2; ++t) {
        for (const Access& access : blueprint_.thread.at(threads_swapped ? 1 - t : t).accesses) {
          const auto location = static_cast<std::size_t>(access.location);
          if (access.role == W)
            values.at(location).at(static_cast<std::size_t>(access.value)) = next.at(location)++;
        }
      }
      for (std::size_t t = 0; t < 2; ++t) {
        const PlannedThread& thread = blueprint_.thread.at(threads_swapped ? 1 - t : t);
        add(thread.seat.host, 1);
        for (const Access& access : thread.accesses) {
          add(access.location ^ (locations_swapped ? 1 : 0), 1);
          add(access.role, 1);
          add(access.flavour, 2);
          add(access.flavour == Flavour::plain ? Scope::wave : access.scope, 2);
        }
        const bool guarded = thread.link.dependency == Dependency::guard;
        add(guarded, 1);
        const auto location = static_cast<std::size_t>(thread.accesses[0].location);
        add(guarded ? values.at(location).at(static_cast<std::size_t>(thread.link.expected)) : 0, 3);
      }
      return all;
    };
    const std::uint64_t self = code(false, false);
    const bool two = blueprint_.locations == 2;
    return code(true, false) < self || (two && (code(false, true) < self || code(true, true) < self));
  }

  const Family& family_;
  std::span<const Key> taken_;
  const std::function<void(const Blueprint&)>& take_;
  Blueprint blueprint_;
  bool only_second_ = false;
  std::size_t duplicates_ = 0;
};

}  // namespace

Generator::Generator(const GenerateOptions& options) : options_(options) {
  if (options.up_to < 0 || options.up_to > longest_cycle) {
    throw BadInput(fmt::format("cycles of up to {} edges are out of reach", options.up_to),
                   fmt::format("3 to {} can be generated", longest_cycle));
  }
  for (int size = 3; size <= options.up_to; ++size) {
    for (int edges = size; edges >= 3; edges -= edges_of_an_extra) {
      const std::vector<Ring> rings = rings_of(edges);
      for (std::size_t shape = 0; shape < rings.size(); ++shape) {
        for (auto& seats : placements(rings[shape].frame.threads)) {
          families_.push_back({Family::Kind::cycle, edges, (size - edges) / edges_of_an_extra,
                               static_cast<int>(shape), std::move(seats)});
        }
      }
    }
  }
  if (options.warm) add_warm();
  if (options.straight) add_straight();
  // What takes longest comes last: exploring one more thread costs more than anything else.
  const auto place = [](const Family& family) {
    const int size = family.kind == Family::Kind::straight ? size_of_straight
                                                           : family.edges + edges_of_an_extra * family.extras;
    return std::pair(size, family.seats.size());
  };
  std::stable_sort(families_.begin(), families_.end(),
                   [&](const Family& a, const Family& b) { return place(a) < place(b); });
}

void Generator::add_warm() {
  std::vector<Family> warm;
  for (const Family& family : families_) {
    if (family.extras != 0 || family.edges + edges_of_an_extra <= options_.up_to) continue;
    warm.push_back(family);
    warm.back().extras = 1;
    warm.back().only_warm = true;
  }
  families_.insert(families_.end(), warm.begin(), warm.end());
}

void Generator::add_straight() {
  const std::function<void(const Blueprint&)> keep = [this](const Blueprint& blueprint) {
    if (blueprint.threads == 2) cycles_of_two_.push_back(canonical_key(blueprint));
  };
  for (const Family& family : families_) {
    if (family.edges == 4 && !family.only_warm) enumerate(family, keep);
  }
  std::sort(cycles_of_two_.begin(), cycles_of_two_.end());
  for (const auto& seats : placements(2)) {
    for (std::size_t i = 0; i < operations_of(seats[0]).size(); ++i)
      families_.push_back({Family::Kind::straight, 0, 0, static_cast<int>(i), seats});
  }
}

std::size_t Generator::enumerate(const Family& family,
                                 const std::function<void(const Blueprint&)>& take) const {
  if (family.kind == Family::Kind::straight) return Straight(family, cycles_of_two_, take).run();
  const std::vector<Ring> rings = rings_of(family.edges);
  return Decorator(rings.at(static_cast<std::size_t>(family.shape)), family, take).run();
}

std::string Generator::identity() const {
  return "alphabet 1, " + tests_text(options_);
}

std::string tests_text(const GenerateOptions& options) {
  std::string text;
  if (options.up_to > 0)
    text = fmt::format("cycles up to {}{}", options.up_to, options.warm ? ", also warm" : "");
  if (options.straight) text += text.empty() ? "straight 2x2 programs" : ", straight 2x2 programs";
  return text;
}

}  // namespace lockstep::generate
