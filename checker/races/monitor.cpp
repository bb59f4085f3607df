#include "checker/races/monitor.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <utility>

#include "spec/program/machine.hpp"

namespace lockstep {

namespace {

constexpr bool is_direct(RaceModel model) {
  return model == RaceModel::hrf_direct || model == RaceModel::hrf_relaxed_direct;
}
constexpr bool is_relaxed(RaceModel model) {
  return model == RaceModel::hrf_relaxed_direct || model == RaceModel::hrf_relaxed_indirect;
}

constexpr std::uint32_t bit_of(int thread) {
  return std::uint32_t{1} << thread;
}

bool share(const Placement& a, const Placement& b, Scope scope) {
  if (scope == Scope::system) return true;
  if (a.host || b.host) return false;
  if (scope == Scope::agent) return a.agent == b.agent;
  return scope == Scope::wg && a.agent == b.agent && a.wg == b.wg;
}

// The instance of a scope that a thread names; under DRF every scope is the system.
ScopeInstance instance_of(const Program& program, int thread, Scope scope, RaceModel model) {
  const auto& all = program.threads;
  const Placement& self = all[static_cast<std::size_t>(thread)].placement;
  ScopeInstance instance{model == RaceModel::drf ? Scope::system : scope, bit_of(thread)};
  for (std::size_t u = 0; u < all.size(); ++u) {
    if (share(self, all[u].placement, instance.scope)) instance.members |= bit_of(static_cast<int>(u));
  }
  return instance;
}

bool contains(const ScopeInstance& a, const ScopeInstance& b) {
  return (b.members & ~a.members) == 0;
}

AccessClass access_class(const Program& program, int thread, const Instruction& i, bool writes,
                         RaceModel model) {
  AccessClass c{thread, i.location, i.order != Order::plain, writes, {}};
  if (c.atomic) c.instance = instance_of(program, thread, i.scope, model);
  return c;
}

bool may_read(const Instruction& i) {
  return i.opcode == Opcode::load || i.opcode == Opcode::rmw;
}
bool may_write(const Instruction& i) {
  return i.opcode == Opcode::store || i.opcode == Opcode::rmw;
}

// An RMW is one access, a write; a compare-and-swap is a read when it fails.
bool may_only_read(const Instruction& i) {
  return i.opcode == Opcode::load || (i.opcode == Opcode::rmw && i.rmw == RmwFunction::compare_swap);
}

template <class T>
int index_in(const std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (index_in(all, one) < 0) all.push_back(one);
}

// The classes of the program's text that some class of another thread conflicts with, by location.
std::vector<AccessClass> conflicting_classes(const Program& program, RaceModel model) {
  std::vector<AccessClass> all;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    for (const Instruction& i : program.threads[t].code) {
      if (may_only_read(i)) add_once(all, access_class(program, static_cast<int>(t), i, false, model));
      if (may_write(i)) add_once(all, access_class(program, static_cast<int>(t), i, true, model));
    }
  }
  std::vector<AccessClass> found;
  for (const AccessClass& a : all) {
    const auto conflicts = [&](const AccessClass& b) { return conflict(a, b, model).has_value(); };
    if (std::any_of(all.begin(), all.end(), conflicts)) found.push_back(a);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.location < b.location; });
  return found;
}

// Whole locations together, as many as fit.
std::vector<std::vector<AccessClass>> groups_of(const std::vector<AccessClass>& classes) {
  // Plain and four scopes, each read and written, in every thread: one location always fits.
  static_assert(ThreadTag::capacity * 5 * 2 <= Monitor::max_classes);
  std::vector<std::vector<AccessClass>> groups;
  for (auto at = classes.begin(); at != classes.end();) {
    const auto next =
        std::find_if(at, classes.end(), [&](const auto& c) { return c.location != at->location; });
    const auto count = static_cast<std::size_t>(next - at);
    if (groups.empty() || groups.back().size() + count > Monitor::max_classes) groups.emplace_back();
    groups.back().insert(groups.back().end(), at, next);
    at = next;
  }
  return groups;
}

}  // namespace

std::optional<ConflictKind> conflict(const AccessClass& a, const AccessClass& b, RaceModel model) {
  if (a.thread == b.thread || a.location != b.location || (!a.writes && !b.writes)) return std::nullopt;
  if (!a.atomic || !b.atomic) return ConflictKind::ordinary;
  const bool fit = is_relaxed(model) ? contains(a.instance, b.instance) || contains(b.instance, a.instance)
                                     : a.instance == b.instance;
  if (fit) return std::nullopt;
  return ConflictKind::synchronization;
}

// ---- building --------------------------------------------------------------------------------------------

// Lays out the sets, and compiles each instruction to what it does to them.
class Monitor::Builder {
 public:
  Builder(const Program& program, RaceModel model, SyncReading reading)
      : program_(program), model_(model), reading_(reading) {
    find_halves();
    find_closures();
  }

  [[nodiscard]] Monitor build(std::vector<AccessClass> classes) {
    Monitor m;
    m.classes_ = std::move(classes);
    m.closures_ = closures_.size();
    m.own_.resize(program_.threads.size(), 0);
    for (std::size_t c = 0; c < m.classes_.size(); ++c) {
      m.own_[static_cast<std::size_t>(m.classes_[c].thread)] |= Classes{1} << c;
      Classes others = 0;
      for (std::size_t d = 0; d < m.classes_.size(); ++d) {
        if (conflict(m.classes_[c], m.classes_[d], model_)) others |= Classes{1} << d;
      }
      m.conflicting_.push_back(others);
    }
    set_count_ = program_.threads.size() * m.closures_;
    lay_out_releases();
    for (int t = 0; t < count(); ++t) {
      std::vector<Site> sites;
      for (const Instruction& i : code(t)) sites.push_back(site_of(m, t, i));
      m.sites_.push_back(std::move(sites));
    }
    m.set_count_ = set_count_;
    return m;
  }

 private:
  // One side of synchronization as the text of the program has it: a release or an acquire by a thread, with
  // respect to a scope instance, at a place. Places are the locations, then one for all edges of kernels,
  // then one for the barriers of each work-group; where the reading is any location, they are all the same.
  struct Half {
    int thread;
    ScopeInstance instance;
    int place;
    bool operator==(const Half&) const = default;
  };
  using Halves = std::vector<Half>;
  // A set of released classes: in which closure, and which acquires it is for.
  using Audience = std::pair<std::size_t, std::vector<bool>>;
  using Fence = std::pair<int, std::uint64_t>;

  [[nodiscard]] int count() const { return static_cast<int>(program_.threads.size()); }
  [[nodiscard]] const std::vector<Instruction>& code(int t) const {
    return program_.threads[static_cast<std::size_t>(t)].code;
  }
  [[nodiscard]] int place(int location) const { return reading_ == SyncReading::any_location ? 0 : location; }
  [[nodiscard]] int edge_place(int t, const Instruction& i) const {
    const int kernels = static_cast<int>(program_.locations.size());
    if (i.opcode != Opcode::barrier) return place(kernels);
    return place(kernels + 1 +
                 std::countr_zero(instance_of(program_, t, Scope::wg, RaceModel::hrf_direct).members));
  }
  [[nodiscard]] ScopeInstance instance(int t, Scope scope) const {
    return instance_of(program_, t, scope, model_);
  }

  // The atomic accesses of a thread that its fences act through.
  [[nodiscard]] Halves through(int t, const ScopeInstance& instance, bool (*acts)(const Instruction&)) const {
    Halves found;
    for (const Instruction& i : code(t)) {
      if (acts(i) && i.order != Order::plain) add_once(found, Half{t, instance, place(i.location)});
    }
    return found;
  }
  static bool is_edge(const Instruction& i) {
    return i.opcode == Opcode::barrier || i.opcode == Opcode::kernel_begin || i.opcode == Opcode::kernel_end;
  }
  // An edge is a barrier's side or a kernel's: acquires at one end, releases at the other.
  [[nodiscard]] std::optional<Half> edge(int t, const Instruction& i) const {
    if (!is_edge(i)) return std::nullopt;
    return Half{t, instance(t, i.opcode == Opcode::barrier ? Scope::wg : Scope::system), edge_place(t, i)};
  }
  [[nodiscard]] std::optional<Half> acquire_of(int t, const Instruction& i) const {
    if (may_read(i) && acquires(i.order)) return Half{t, instance(t, i.scope), place(i.location)};
    return i.opcode == Opcode::kernel_end ? std::nullopt : edge(t, i);
  }
  [[nodiscard]] std::optional<Half> release_of(int t, const Instruction& i) const {
    if (may_write(i) && releases(i.order)) return Half{t, instance(t, i.scope), place(i.location)};
    return i.opcode == Opcode::kernel_begin ? std::nullopt : edge(t, i);
  }

  void find_halves() {
    for (int t = 0; t < count(); ++t) {
      for (const Instruction& i : code(t)) {
        if (const auto half = acquire_of(t, i)) add_once(acquires_, *half);
        if (const auto half = release_of(t, i)) add_once(releases_, *half);
        if (i.opcode != Opcode::fence) continue;
        const ScopeInstance at = instance(t, i.scope);
        if (acquires(i.order)) {
          add_once(acquire_fences_[static_cast<std::size_t>(t)], at);
          for (const Half& half : through(t, at, may_read)) add_once(acquires_, half);
        }
        if (releases(i.order)) {
          add_once(release_fences_[static_cast<std::size_t>(t)], at);
          for (const Half& half : through(t, at, may_write)) add_once(releases_, half);
        }
      }
    }
  }

  [[nodiscard]] bool pair(const Half& release, const Half& acquire) const {
    if (release.place != acquire.place) return false;
    if (!is_relaxed(model_)) return release.instance == acquire.instance;
    return (release.instance.members & bit_of(acquire.thread)) != 0 &&
           (acquire.instance.members & bit_of(release.thread)) != 0;
  }

  void find_closures() {
    if (is_direct(model_)) {
      for (const Half& release : releases_) {
        for (const Half& acquire : acquires_) {
          if (release.thread == acquire.thread || !pair(release, acquire)) continue;
          add_once(closures_, release.instance);
          add_once(closures_, acquire.instance);
        }
      }
    }
    if (closures_.empty()) closures_.emplace_back();
  }
  [[nodiscard]] bool in_closure(const Half& release, const Half& acquire, std::size_t closure) const {
    return !is_direct(model_) || release.instance == closures_[closure] ||
           acquire.instance == closures_[closure];
  }

  // Releases that the same acquires pair with share their sets.
  void lay_out_releases() {
    released_.assign(releases_.size(), {});
    for (std::size_t r = 0; r < releases_.size(); ++r) {
      for (std::size_t closure = 0; closure < closures_.size(); ++closure) {
        Audience audience{closure, std::vector<bool>(acquires_.size(), false)};
        bool heard = false;
        for (std::size_t a = 0; a < acquires_.size(); ++a) {
          if (!pair(releases_[r], acquires_[a]) || !in_closure(releases_[r], acquires_[a], closure)) continue;
          audience.second[a] = true;
          heard |= acquires_[a].thread != releases_[r].thread;
        }
        if (!heard) continue;
        const auto [at, fresh] = released_sets_.try_emplace(audience, set_count_);
        if (fresh) ++set_count_;
        released_[r].emplace_back(closure, at->second);
      }
    }
  }
  // The sets, with their closures, that a release adds to.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> released_by(const Half& release) const {
    return released_[static_cast<std::size_t>(index_in(releases_, release))];
  }
  // The sets, with their closures, that an acquire takes in.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> acquired_by(const Half& acquire) const {
    const auto a = static_cast<std::size_t>(index_in(acquires_, acquire));
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (const auto& [audience, set] : released_sets_) {
      if (audience.second[a]) found.emplace_back(audience.first, set);
    }
    return found;
  }

  // A set for each closure: the classes before a release fence of the thread, or seen for an acquire fence.
  std::size_t fence_set(int t, const ScopeInstance& at, bool release, std::size_t closure) {
    const auto [found, fresh] =
        fence_sets_.try_emplace(std::tuple(t, static_cast<int>(at.scope), release), set_count_);
    if (fresh) set_count_ += closures_.size();
    return found->second + closure;
  }

  Site site_of(const Monitor& m, int t, const Instruction& i) {
    Site site;
    if (is_memory(i.opcode)) {
      site.read_class = index_in(m.classes_, access_class(program_, t, i, false, model_));
      site.write_class = index_in(m.classes_, access_class(program_, t, i, true, model_));
    }
    if (const auto half = acquire_of(t, i)) {
      for (const auto& [closure, set] : acquired_by(*half))
        site.acquiring.push_back({m.known(t, closure), set});
    }
    if (const auto half = release_of(t, i)) {
      for (const auto& [closure, set] : released_by(*half))
        site.releasing.push_back({set, m.known(t, closure)});
    }
    if (i.opcode == Opcode::fence) pass_fence(m, t, i, site);
    if (is_memory(i.opcode) && i.order != Order::plain) act_for_fences(t, i, site);
    return site;
  }

  void pass_fence(const Monitor& m, int t, const Instruction& i, Site& site) {
    const ScopeInstance at = instance(t, i.scope);
    for (std::size_t closure = 0; closure < closures_.size(); ++closure) {
      const std::size_t known = m.known(t, closure);
      if (acquires(i.order)) site.acquiring.push_back({known, fence_set(t, at, false, closure)});
      if (releases(i.order)) site.releasing.push_back({fence_set(t, at, true, closure), known});
    }
  }
  void act_for_fences(int t, const Instruction& i, Site& site) {
    if (may_read(i)) {
      for (const ScopeInstance& at : acquire_fences_[static_cast<std::size_t>(t)]) {
        for (const auto& [closure, set] : acquired_by(Half{t, at, place(i.location)})) {
          site.seeing.push_back({fence_set(t, at, false, closure), set});
        }
      }
    }
    if (may_write(i)) {
      for (const ScopeInstance& at : release_fences_[static_cast<std::size_t>(t)]) {
        for (const auto& [closure, set] : released_by(Half{t, at, place(i.location)})) {
          site.releasing.push_back({set, fence_set(t, at, true, closure)});
        }
      }
    }
  }

  const Program& program_;
  RaceModel model_;
  SyncReading reading_;
  Halves acquires_;
  Halves releases_;
  std::array<std::vector<ScopeInstance>, ThreadTag::capacity> acquire_fences_;
  std::array<std::vector<ScopeInstance>, ThreadTag::capacity> release_fences_;
  std::vector<ScopeInstance> closures_;  // one of any kind where the model has a single closure
  std::map<Audience, std::size_t> released_sets_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> released_;  // by release
  std::map<std::tuple<int, int, bool>, std::size_t> fence_sets_;
  std::size_t set_count_ = 0;
};

std::vector<Monitor> Monitor::monitors_of(const Program& program, RaceModel model, SyncReading reading) {
  std::vector<Monitor> monitors;
  for (auto& classes : groups_of(conflicting_classes(program, model))) {
    monitors.push_back(Builder(program, model, reading).build(std::move(classes)));
  }
  return monitors;
}

// ---- running ---------------------------------------------------------------------------------------------

void Monitor::pack(const Sets& sets, std::uint64_t* words) const {
  const auto width = static_cast<unsigned>(classes_.size());
  std::fill_n(words, (bits() + 63) / 64, 0);
  unsigned at = 0;
  for (const Classes set : sets) {
    const unsigned shift = at % 64;
    words[at / 64] |= set << shift;
    if (shift + width > 64) words[at / 64 + 1] |= set >> (64 - shift);
    at += width;
  }
}

void Monitor::unpack(const std::uint64_t* words, Sets& sets) const {
  const auto width = static_cast<unsigned>(classes_.size());
  const Classes mask = ~Classes{0} >> (64 - width);
  sets.resize(set_count_);
  unsigned at = 0;
  for (Classes& set : sets) {
    const unsigned shift = at % 64;
    set = words[at / 64] >> shift;
    if (shift + width > 64) set |= words[at / 64 + 1] << (64 - shift);
    set &= mask;
    at += width;
  }
}

int Monitor::class_of(const Event& event) const {
  return event.writes ? site(event).write_class : site(event).read_class;
}

Monitor::Classes Monitor::races(const Event& event, const Sets& sets) const {
  const int access = class_of(event);
  if (access < 0) return 0;
  Classes occurred = 0;
  for (std::size_t t = 0; t < own_.size(); ++t) occurred |= sets[known(static_cast<int>(t), 0)] & own_[t];
  Classes ordered = 0;
  for (std::size_t closure = 0; closure < closures_; ++closure) ordered |= sets[known(event.thread, closure)];
  if (event.reads) {
    for (const Join& join : site(event).acquiring) ordered |= sets[join.from];
  }
  return conflicting_[static_cast<std::size_t>(access)] & occurred & ~ordered;
}

void Monitor::perform(const Event& event, Sets& sets) const {
  const Site& at = site(event);
  if (event.reads) {
    for (const Join& join : at.acquiring) sets[join.to] |= sets[join.from];
    for (const Join& join : at.seeing) sets[join.to] |= sets[join.from];
  }
  if (const int access = class_of(event); access >= 0) {
    const Classes bit = Classes{1} << access;
    for (Classes& set : sets) set &= ~bit;
    for (std::size_t closure = 0; closure < closures_; ++closure) sets[known(event.thread, closure)] |= bit;
  }
  if (event.writes) {
    for (const Join& join : at.releasing) sets[join.to] |= sets[join.from];
  }
}

}  // namespace lockstep
