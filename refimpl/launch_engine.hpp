// Runs a sequence of launches on a closed protocol, with time. Every change of protocol state is the firing
// of a rule of spec/ whose guard has just been evaluated; this engine chooses which, as a kernel's work, the
// command processors' latencies and the caches' sizes say, and throws where the rules do not allow it. Data
// go where the rules move copies, and are not seen by them: a stale copy gives a wrong result.
//
// Kernels follow one another, so there is no queue of events: the chiplets of a kernel take turns by their
// clocks.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/timed.hpp"
#include "spec/program/kernel_rules.hpp"
#include "spec/program/launches.hpp"
#include "spec/program/launching.hpp"

namespace lockstep {

template <class Info>
class LaunchEngine {
 public:
  using K = Timed<typename Info::template Sizes<TimedCapacities>>;
  using Protocol = typename Info::template Launched<K>;
  using State = typename Protocol::State;

  LaunchEngine(const LaunchWorkload& workload, const ChipletMachine& machine,
               const SimulationOptions& options)
      : workload_(workload), machine_(machine), chiplets_(workload.launches.chiplets) {
    const SystemEntry& entry = find_system(Info::name);
    protocol_.fault_bits = static_cast<decltype(protocol_.fault_bits)>(fault_mask(entry, options.faults));
    protocol_.variant = variant_index(entry, options.variant);
    if (protocol_.home_served()) {
      throw BadInput(fmt::format("{}/{} serves accesses of other chiplets, which is not simulated",
                                 Info::name, options.variant));
    }
    if (protocol_.has_l1s())
      throw BadInput(fmt::format(
          "{}: accesses of single CUs are not simulated; leave the variant or fault of L1s out", Info::name));
    Info::sizes_for(protocol_.k.sizes, workload.launches);
    protocol_.k.bind(state_, binder_);
    pages_ = static_cast<int>(workload.launches.structures.size()) * workload.launches.words;
    protocol_.place([&](auto& map, std::string_view, auto, auto, auto&& image) {
      for (int page = 0; page < pages_; ++page) map.image.push_back(static_cast<std::uint32_t>(image(page)));
    });
    RulesAndRequests<K, State> rules(listed_, &asked_);
    protocol_.rules(rules);
    for (const auto& value : listed_.values())
      rules_.push_back({std::string(value.rule.name), std::string(value.rule.unit), 0});
    memory_ = workload.initial;
    l2_.resize(static_cast<std::size_t>(chiplets_));
    for (L2& l2 : l2_) {
      l2.data.resize(memory_.size());
      l2.used.resize(memory_.size());
    }
  }

  // Until the last launch has ended and the host has read every structure, or `interrupted` is set.
  SimulationEnd run(const std::atomic<bool>& interrupted) {
    for (std::size_t i = 0; i < workload_.launches.launches.size(); ++i) {
      if (interrupted.load(std::memory_order_relaxed)) return SimulationEnd::interrupted;
      launch(workload_.launches.launches[i], workload_.tasks[i]);
    }
    kernels_ended_ = now_;
    for (std::size_t d = 0; d < workload_.launches.structures.size(); ++d) {
      Launch reads;
      reads.kind = Launch::Kind::host_reads;
      reads.structure = static_cast<int>(d);
      launch(reads, {});
    }
    return SimulationEnd::finished;
  }

  // What the host has read of a page.
  [[nodiscard]] std::uint32_t page(int p) const { return memory_[at(p)]; }
  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const K& kind() const { return protocol_.k; }
  // Called after every firing.
  std::function<void()> on_firing;

 private:
  using Copy = typename decltype(std::declval<State>().l2.at(0, 0).copy)::enumeration;
  static constexpr const KernelRules& kernel = Info::kernel;

  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // ---- firing --------------------------------------------------------------------------------------------

  struct RuleCount {
    std::string name;
    std::string unit;
    std::uint64_t firings = 0;
  };
  bool try_fire(std::size_t number, const std::vector<int>& parameters) {
    const auto& rule = listed_.values()[number];
    std::array<std::uint32_t, max_parameters> members{};
    std::transform(parameters.begin(), parameters.end(), members.begin(),
                   [](int i) { return static_cast<std::uint32_t>(i); });
    timed::reads.begin_unlisted();
    const bool enabled = rule.guard(&state_, members.data()).v;
    timed::reads.end();
    if (!enabled) return false;
    rule.action(&state_, members.data());
    // In the order in which rows were written.
    for (std::size_t i = 0; i < journal_.rows.size(); ++i)
      journal_.rows[i].table->settle(journal_.rows[i].slot);
    journal_.clear();
    ++rules_[number].firings;
    ++firings_;
    if (on_firing) on_firing();
    return true;
  }
  bool try_fire(std::string_view name, const std::vector<int>& parameters = {}) {
    const auto found =
        std::find_if(rules_.begin(), rules_.end(), [&](const RuleCount& rule) { return rule.name == name; });
    if (found == rules_.end()) throw std::logic_error(fmt::format("no rule is called '{}'", name));
    return try_fire(static_cast<std::size_t>(found - rules_.begin()), parameters);
  }
  void fire(std::string_view name, const std::vector<int>& parameters = {}) {
    if (!try_fire(name, parameters)) throw std::logic_error(fmt::format("'{}' is not enabled", name));
  }
  void ask(LaunchRequest request, const std::vector<int>& parameters) {
    const std::size_t rule = asked_[static_cast<std::size_t>(request)];
    if (!try_fire(rule, parameters))
      throw std::logic_error(fmt::format("'{}' is not enabled", rules_[rule].name));
  }
  void ask(const LaunchAct& act) { ask(act.request, act.members); }

  [[nodiscard]] Copy copy(int chiplet, int page) const {
    return state_.l2.at(static_cast<std::uint32_t>(chiplet), static_cast<std::uint32_t>(page)).copy.v;
  }
  static bool dirty(Copy copy) { return copy == Copy::dirty || copy == Copy::overwritten; }

  // ---- a launch ------------------------------------------------------------------------------------------

  void launch(const Launch& launch, const std::vector<PageTask>& tasks) {
    const double packet = now_;
    const bool kernel_runs = launch.structure < 0;
    const std::vector<LaunchAct> acts = acts_of(launch);
    const std::size_t complete = acts.size() - 2;
    for (std::size_t i = 0; i < complete; ++i) ask(acts[i]);
    now_ += static_cast<double>(workload_.launches.structures.size()) * machine_.cp.lookup;
    ask(acts[complete]);
    operate(protocol_.at_boundaries(state_).v);
    fire(kernel.launches);
    if (kernel_runs) now_ += machine_.cp.message;  // "launch enable"
    launches_ += kernel_runs ? 1 : 0;
    launching_ += kernel_runs ? now_ - packet : 0;
    const double begun = now_;
    if (kernel_runs) work(tasks);
    ask(acts.back());
    if (kernel_runs) now_ += machine_.cp.message;  // that it has ended
    if (state_.phase.v != decltype(state_.phase)::enumeration::labelling) {
      operate(true);
      fire(kernel.completes);
    }
    running_ += kernel_runs ? now_ - begun : 0;
  }

  // Has the local CPs perform what was issued. At the boundaries of kernels they do so by themselves; else
  // the global CP asks, and waits for the last acknowledgement.
  void operate(bool by_themselves) {
    const double message = by_themselves ? 0 : machine_.cp.message;
    double last = now_;
    std::vector<double> ready(at(chiplets_), now_ + message);
    for (bool any = true; any;) {
      any = false;
      for (int c = 0; c < chiplets_; ++c) {
        double& clock = ready[at(c)];
        const double before = clock;
        if (release(c, clock)) {
          ++releases_;
          releasing_ += clock - before;
        } else if (acquire(c, clock)) {
          ++acquires_;
          acquiring_ += clock - before;
        } else {
          continue;
        }
        any = true;
        last = std::max(last, clock + message);
      }
    }
    now_ = last;
  }
  bool release(int c, double& clock) {
    const std::vector<Copy> before = copies(c);
    if (!try_fire(kernel.releases[0], {c}) && !try_fire(kernel.releases[1], {c})) return false;
    clock = std::max(clock, write_back(c, before, clock));
    return true;
  }
  bool acquire(int c, double& clock) {
    const std::vector<Copy> before = copies(c);
    if (!try_fire(kernel.acquires[0], {c}) && !try_fire(kernel.acquires[1], {c})) return false;
    clock += machine_.l2.invalidate;
    for (int p = 0; p < pages_; ++p) {
      const bool gone = before[at(p)] != Copy::absent && copy(c, p) == Copy::absent;
      invalidated_ += gone ? 1 : 0;
      l2_[at(c)].resident -= gone ? 1 : 0;
    }
    return true;
  }
  [[nodiscard]] std::vector<Copy> copies(int c) const {
    std::vector<Copy> all;
    for (int p = 0; p < pages_; ++p) all.push_back(copy(c, p));
    return all;
  }
  // Moves what a firing has written back; when the last page has arrived.
  double write_back(int c, const std::vector<Copy>& before, double clock) {
    double last = clock;
    for (int p = 0; p < pages_; ++p) {
      if (!dirty(before[at(p)]) || dirty(copy(c, p))) continue;
      memory_[at(p)] = l2_[at(c)].data[at(p)];
      ++written_back_;
      last = std::max(last, transfer(c, clock));
    }
    return last;
  }

  // ---- a kernel's work -----------------------------------------------------------------------------------

  struct L2 {
    std::vector<std::uint32_t> data;
    std::vector<std::uint64_t> used;  // when, by accesses
    int resident = 0;
    double link_free = 0;
  };
  struct Worker {
    std::vector<const PageTask*> tasks;
    std::size_t task = 0;
    std::size_t term = 0;
    std::uint32_t sum = 0;
    double clock = 0;
    std::vector<double> outstanding;  // when they complete
    [[nodiscard]] bool done() const { return task == tasks.size(); }
  };

  void work(const std::vector<PageTask>& tasks) {
    std::vector<Worker> workers(at(chiplets_));
    for (Worker& w : workers) w.clock = now_;
    for (const PageTask& task : tasks) workers[at(task.chiplet)].tasks.push_back(&task);
    for (;;) {
      int next = -1;
      for (int c = 0; c < chiplets_; ++c) {
        if (workers[at(c)].done()) continue;
        if (next < 0 || workers[at(c)].clock < workers[at(next)].clock) next = c;
      }
      if (next < 0) break;
      step(next, workers[at(next)]);
    }
    for (const Worker& w : workers) {
      now_ = std::max(now_, w.clock);
      for (const double completes : w.outstanding) now_ = std::max(now_, completes);
    }
  }
  // One access: a page that is read, or, when all have been, the one that is written.
  void step(int c, Worker& w) {
    const PageTask& task = *w.tasks[w.task];
    if (w.term < task.terms.size()) {
      const auto& [page, factor] = task.terms[w.term++];
      access(c, page, false, w);
      w.sum += factor * l2_[at(c)].data[at(page)];
      return;
    }
    access(c, task.page, true, w);
    l2_[at(c)].data[at(task.page)] = w.sum;
    if (!dirty(copy(c, task.page))) memory_[at(task.page)] = w.sum;  // written through
    ++w.task;
    w.term = 0;
    w.sum = 0;
  }
  void access(int c, int page, bool write, Worker& w) {
    L2& l2 = l2_[at(c)];
    if (w.outstanding.size() == at(machine_.l2.outstanding)) {
      const auto first = std::min_element(w.outstanding.begin(), w.outstanding.end());
      w.clock = std::max(w.clock, *first);
      w.outstanding.erase(first);
    }
    const bool miss = copy(c, page) == Copy::absent;
    ask(write ? LaunchRequest::stores : LaunchRequest::loads, {c, c, page});
    w.clock += bytes() / machine_.l2.bytes_per_cycle;
    double completes = w.clock + machine_.l2.latency;
    ++(miss ? misses_ : hits_);
    if (miss) {
      l2.data[at(page)] = memory_[at(page)];
      ++filled_;
      ++l2.resident;
      completes = transfer(c, completes);
    }
    w.outstanding.push_back(completes);
    l2.used[at(page)] = ++accesses_;
    if (l2.resident > capacity()) evict(c, page, w.clock);
  }
  void evict(int c, int kept, double clock) {
    int victim = -1;
    for (int p = 0; p < pages_; ++p) {
      if (p == kept || copy(c, p) == Copy::absent) continue;
      if (victim < 0 || l2_[at(c)].used[at(p)] < l2_[at(c)].used[at(victim)]) victim = p;
    }
    if (victim < 0) return;
    const std::vector<Copy> before = copies(c);
    fire(kernel.evicts, {c, victim});
    write_back(c, before, clock);
    --l2_[at(c)].resident;
    ++replaced_;
  }
  [[nodiscard]] double bytes() const { return static_cast<double>(machine_.page_bytes); }
  [[nodiscard]] int capacity() const { return static_cast<int>(machine_.l2.bytes / machine_.page_bytes); }
  // A page between a chiplet's L2 and the L3, either way.
  double transfer(int c, double from) {
    double& link_free = l2_[at(c)].link_free;
    const double starts = std::max({from, link_free, l3_free_});
    link_free = starts + bytes() / machine_.l3.link_bytes_per_cycle;
    l3_free_ = starts + bytes() / machine_.l3.bytes_per_cycle;
    return std::max(link_free, l3_free_) + machine_.l3.latency;
  }

  const LaunchWorkload& workload_;
  const ChipletMachine& machine_;
  int chiplets_;
  int pages_ = 0;
  Protocol protocol_{};
  State state_{};
  timed::Journal journal_;
  timed::Binder binder_{journal_};
  RuleList<K, State> listed_{protocol_.k};
  typename RulesAndRequests<K, State>::Places asked_{};  // rules by request
  std::vector<RuleCount> rules_;
  std::vector<std::uint32_t> memory_;  // what the L3 holds
  std::vector<L2> l2_;
  double now_ = 0;
  double l3_free_ = 0;

  std::uint64_t firings_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t filled_ = 0;
  std::uint64_t written_back_ = 0;
  std::uint64_t replaced_ = 0;
  std::uint64_t invalidated_ = 0;
  std::uint64_t acquires_ = 0;
  std::uint64_t releases_ = 0;
  std::uint64_t launches_ = 0;
  double acquiring_ = 0;
  double releasing_ = 0;
  double launching_ = 0;
  double running_ = 0;
  double kernels_ended_ = 0;
};

template <class Info>
Statistics LaunchEngine<Info>::statistics() const {
  Statistics s;
  s.system = Info::name;
  s.cycles = kernels_ended_;
  s.drained = now_;
  s.firings = firings_;
  s.lines_invalidated = invalidated_;
  s.levels["L2"] = {hits_, misses_};
  s.caches.push_back({"l2", filled_, replaced_, invalidated_, 0});
  s.messages.push_back({"L3 to L2", "page", filled_, 0, filled_ * machine_.page_bytes});
  s.messages.push_back({"L2 to L3", "page", written_back_, 0, written_back_ * machine_.page_bytes});
  s.operations = {{"acquire", acquires_, acquiring_},
                  {"release", releases_, releasing_},
                  {"launch", launches_, launching_},
                  {"kernel", launches_, running_}};
  for (const RuleCount& rule : rules_) s.rules.push_back({rule.name, rule.unit, rule.firings, 0});
  return s;
}

// The entry of a system, for refimpl/systems/.
template <class Info>
LaunchedSystem launched_system() {
  return {Info::name, [](const LaunchWorkload& workload, const ChipletMachine& machine,
                         const SimulationOptions& options, const std::atomic<bool>& interrupted) {
            LaunchEngine<Info> engine(workload, machine, options);
            SystemResult result;
            result.end = engine.run(interrupted);
            result.statistics = engine.statistics();
            if (result.end != SimulationEnd::finished) return result;
            for (std::size_t p = 0; p < workload.expected.size(); ++p) {
              if (engine.page(static_cast<int>(p)) != workload.expected[p]) ++result.wrong;
            }
            return result;
          }};
}

}  // namespace lockstep
