// The discrete-event engine. Every change of protocol state is the firing of a rule of spec/, whose guard has
// been evaluated just before; the engine decides when, never what. It knows no protocol: which unit performs
// a rule is said by the rule, how long that takes by the machine file.
//
// A rule with its parameters is an instance. An instance that is found disabled is parked on the rows that
// its guard's value rests on (reads.hpp) and looked at again when one of them has been written. One that is
// found enabled is due after the rule's latency, and then waits for a turn of its unit; when the turn comes
// its guard is evaluated again, and either it fires or it is parked. Instances over blocks are too many to be
// listed: such a rule has to be disabled on rows that are absent, and its instances are looked at when their
// rows are written.
//
// Replacements are optional rules. The machine file names the one that makes room in each cache; when a
// firing has filled a set beyond its ways, the engine fires it for the first victim, in the policy's order,
// for which it is enabled, and the unit stalls while there is none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <random>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "refimpl/main_memory.hpp"
#include "refimpl/simulator.hpp"
#include "refimpl/timed.hpp"
#include "refimpl/wheel.hpp"
#include "spec/program/threads.hpp"

namespace lockstep {

// `Info` describes the memory system, as for System (spec/program/system.hpp).
template <class Info>
class Engine final : public Simulator {
 public:
  using K = Timed<typename Info::template Sizes<TimedCapacities>>;
  using Memory = typename Info::template Memory<K>;
  using ThreadsOfProgram = Threads<K, typename Memory::State>;
  using State = typename ThreadsOfProgram::State;
  using RuleOf = RuleValue<typename K::Erased>;
  using Bool = typename K::Bool;
  using Tick = timed::Tick;
  using Key = timed::Key;

  Engine(const Workload& workload, const MachineDescription& machine, const SimulationOptions& options)
      : workload_(workload),
        description_(machine),
        timing_(system_timing(machine)),
        options_(options),
        entry_(find_system(Info::name)),
        variant_(variant_index(entry_, options.variant)),
        fault_bits_(fault_mask(entry_, options.faults)),
        random_(options.seed) {
    place_threads();
    set_sizes();
    k_.bind(state_, binder_);
    describe_rules();
    set_timing();
    own_.assign(binder_.next, 0);
    owners_.resize(binder_.next);
    watch_of_.assign(binder_.next, 0);
    watches_.resize(1);
    set_owners();
    find_candidates();
    fill_memory();
    start();
  }

  SimulationEnd run(const std::atomic<bool>* interrupted, std::uint64_t limit) override {
    const std::uint64_t until = limit > ~std::uint64_t{0} - firings_ ? ~std::uint64_t{0} : firings_ + limit;
    std::uint64_t next_check = firings_ + 4096;
    while (!wheel_.empty()) {
      const timed::Event event = wheel_.pop();
      journal_.now = wheel_.now();
      if (event.family == timed::Event::service) {
        serve(event.a);
      } else if (event.family == timed::Event::memory) {
        advance_memory(event.a);
      } else {
        attempt(event);
      }
      if (firings_ >= until) return SimulationEnd::limit;
      if (firings_ >= next_check) {
        next_check = firings_ + 4096;
        if (interrupted != nullptr && interrupted->load(std::memory_order_relaxed))
          return SimulationEnd::interrupted;
      }
    }
    return end();
  }

  [[nodiscard]] Statistics statistics() const override;

  [[nodiscard]] Lanes word(int location) const override {
    const Location& l = workload_.program.locations[static_cast<std::size_t>(location)];
    return memory()
        .final_value(state_.memory, K::template constant<BlockTag>(l.block),
                     K::template constant<WordTag>(l.word))
        .v;
  }

  [[nodiscard]] std::string waiting_threads() const override {
    std::string text;
    int named = 0;
    int waiting = 0;
    for (std::size_t t = 0; t < threads_count(); ++t) {
      if (state_.memory.port.row(t).ended.v) continue;
      ++waiting;
      if (named++ < 4) {
        text += fmt::format("{}{} at instruction {}", text.empty() ? "" : ", ",
                            workload_.program.threads[t].name, state_.context.row(t).pc.v);
      }
    }
    return waiting > named ? text + fmt::format(" and {} more", waiting - named) : text;
  }

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const K& kind() const { return k_; }
  [[nodiscard]] std::uint64_t firings() const { return firings_; }
  // Called after every firing, replacements included.
  std::function<void()> on_firing;

  // Every enabled instance of a fair rule, found by evaluating all guards, that the engine does not know to
  // be enabled. Empty unless the engine is wrong; for tests at small sizes.
  [[nodiscard]] std::vector<std::string> overlooked();

 private:
  static constexpr std::uint16_t first_case = 60;  // rules of a thread's instruction, above those of memory
  static constexpr std::uint32_t nowhere = ~0U;

  struct Watcher {
    std::uint16_t family;
    std::uint16_t rule;
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t epoch;
  };
  // Who waits for a key, besides the rules of the instance whose row it is.
  struct Watch {
    std::uint32_t limit = 16;
    std::vector<Watcher> others;
    // Of a queue that may be full: how much room it has, to how many waiting instances room has been offered,
    // and how many of `others` have had their turn.
    const std::uint32_t* room = nullptr;
    std::uint32_t offers = 0;
    std::uint32_t first = 0;
    std::vector<Watcher> replacements;  // wait for room, too, and go first: a unit may stall for them
  };
  struct Owner {
    std::uint32_t instance = 0;
    std::uint16_t family = 0xFFFF;
  };
  // What the engine knows of one rule of one instance.
  struct Parked {
    std::uint32_t epoch = 0;  // watchers from before the last parking are stale
    std::uint32_t offer = 0;  // the watch whose room it has been offered, or 0
  };

  struct RuleInfo {
    std::string name;
    std::string unit_name;
    Fairness fairness = Fairness::fair;
    int unit = 0;
    int cache = -1;  // that it makes room in
    Tick latency = 0;
    Tick occupancy = 0;
    bool carries = false;
    std::size_t carried_kind = 0;
    unsigned carried_bytes = 0;
    MemoryUse memory = MemoryUse::none;
    bool sends = false;  // to memory, or may have a cache make room by what does
    int hit = -1;
    int miss = -1;
    std::uint64_t firings = 0;
    Tick waited = 0;
  };
  struct Parameters {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
  };
  // All rules with the same parameters.
  struct Family {
    std::vector<std::string_view> tags;
    std::vector<std::uint32_t> extents;
    bool listed = true;                       // its instances are; false where a parameter is a block
    std::size_t instances = 0;                // where they are listed
    timed::MainMemory::Port first_port = 0;   // of its instances; of all, where they are not listed
    std::vector<int> rules;                   // by number within the family: index into rules_
    std::vector<const RuleOf*> listed_rules;  // likewise
    std::uint64_t fair = 0;                   // which of them are
    std::vector<std::uint64_t> dirty;         // by instance: rules to look at
    std::vector<std::uint64_t> scheduled;     // by instance: rules known to be enabled
    std::vector<Parked> parked;               // by instance and rule
    std::array<std::vector<std::uint32_t>, 4> places;  // by Per and instance: which unit
  };
  struct Unit {
    Tick free_at = 0;
    int stalls = 0;  // caches that wait for room
    bool service_due = false;
    std::deque<std::pair<timed::Event, Tick>> queue;
  };
  struct UnitKind {
    std::string name;
    Per per = Per::system;
    double per_cycle = 1;
    std::size_t first = 0;  // index into units_
    std::size_t count = 1;
  };
  struct Cache {
    std::string table_name;
    int unit = -1;
    int level = -1;
    timed::Interleave index;  // of blocks over sets
    std::size_t sets = 1;
    std::size_t ways = 1;
    bool random = false;
    std::uint16_t family = 0;
    std::uint16_t rule = 0;
    timed::TableBase* table = nullptr;
    std::vector<std::uint32_t> extents;
    std::vector<std::vector<std::uint32_t>> lines;  // by unit and set: slots of the table
    std::vector<Tick> stalled_since;                // by unit and set; 0: not stalled
    std::uint64_t installed = 0;
    std::uint64_t replaced = 0;
    std::uint64_t dropped = 0;
    Tick stalled = 0;
  };
  struct OfTable {  // what the engine does with a sparse table
    int cache = -1;
    bool is_memory = false;
    std::size_t block_place = 0;
    std::vector<std::pair<std::uint16_t, std::uint64_t>> candidates;  // families and rules
  };

  // ---- the machine and the program -----------------------------------------------------------------------

  static const SystemTiming& system_timing(const MachineDescription& machine) {
    const auto found = machine.systems.find(std::string(Info::name));
    if (found != machine.systems.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, system] : machine.systems) names.push_back(name);
    machine_error(machine, {}, fmt::format("the machine says nothing of '{}'", Info::name),
                  suggestion(Info::name, names));
  }

  [[nodiscard]] std::size_t threads_count() const { return workload_.program.threads.size(); }
  [[nodiscard]] Memory memory() const { return Memory{k_, machine_, fault_bits_, variant_}; }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, workload_.program}; }

  // Work-groups go to CUs in turn, those of an agent to its own CUs.
  void place_threads() {
    cus_ = options_.cus > 0 ? options_.cus : description_.cus;
    agents_ = description_.agents;
    if (cus_ % agents_ != 0) {
      throw BadInput(fmt::format("{} CUs cannot be shared out evenly among {} agents", cus_, agents_));
    }
    const int cus_per_agent = cus_ / agents_;
    std::map<std::pair<int, int>, int> groups;
    std::vector<int> groups_of_agent(static_cast<std::size_t>(agents_), 0);
    std::vector<int> cu_of_group;
    std::map<std::pair<int, int>, int> resident;  // by kernel and CU
    for (const Thread& thread : workload_.program.threads) {
      const Placement& at = thread.placement;
      machine_.is_host.member.push_back(at.host ? 1 : 0);
      if (at.host) {
        machine_.cu_of.image.push_back(0);
        machine_.work_group_of.image.push_back(0);
        continue;
      }
      if (at.agent >= agents_) {
        throw BadInput(
            fmt::format("'{}' runs on agent {}, the machine has {}", thread.name, at.agent, agents_));
      }
      const auto [group, fresh] = groups.try_emplace({at.agent, at.wg}, static_cast<int>(groups.size()));
      if (fresh) {
        const int turn = groups_of_agent[static_cast<std::size_t>(at.agent)]++;
        cu_of_group.push_back(at.agent * cus_per_agent + turn % cus_per_agent);
      }
      const int cu = cu_of_group[static_cast<std::size_t>(group->second)];
      machine_.cu_of.image.push_back(static_cast<std::uint32_t>(cu));
      machine_.work_group_of.image.push_back(static_cast<std::uint32_t>(group->second));
      if (++resident[{at.kernel, cu}] > description_.waves_per_cu) {
        throw BadInput(fmt::format("'{}' is too large for the machine: more than {} waves on one CU",
                                   workload_.program.name, description_.waves_per_cu),
                       "fewer waves, more CUs, or several kernels");
      }
    }
    for (int c = 0; c < cus_; ++c)
      machine_.agent_of.image.push_back(static_cast<std::uint32_t>(c / cus_per_agent));
    work_groups_ = std::max<int>(1, static_cast<int>(groups.size()));
  }

  void set_sizes() {
    auto& sizes = k_.sizes;
    int blocks = 1;
    int registers = 1;
    for (const Location& l : workload_.program.locations) {
      blocks = std::max(blocks, l.block + 1);
      if (l.word >= description_.words_per_block()) {
        throw BadInput(fmt::format("'{}' uses {} words of a block, the machine's blocks have {}",
                                   workload_.program.name, l.word + 1, description_.words_per_block()));
      }
    }
    for (const Thread& t : workload_.program.threads)
      registers = std::max(registers, static_cast<int>(t.registers.size()));
    if (registers > RegisterTag::capacity) {
      throw BadInput(fmt::format("'{}' needs {} registers, threads have {}", workload_.program.name,
                                 registers, RegisterTag::capacity));
    }
    sizes.template set<ThreadTag>(static_cast<int>(threads_count()));
    sizes.template set<RegisterTag>(RegisterTag::capacity);
    sizes.template set<WorkGroupTag>(work_groups_);
    sizes.template set<CuTag>(cus_);
    sizes.template set<AgentTag>(agents_);
    sizes.template set<BlockTag>(blocks);
    sizes.template set<WordTag>(description_.words_per_block());
    Info::default_sizes(sizes, variant_);
    std::vector<std::string> names;
    auto asked = options_.sizes;
    auto given = timing_.sizes;
    sizes.visit([&]<class Tag>(Tag, int& size) {
      const std::string name(Tag::name);
      const bool queue = Tag::fixed && !std::is_same_v<Tag, RegisterTag> && !std::is_same_v<Tag, WordTag>;
      if (!queue) return;
      names.push_back(name);
      if (const auto found = given.find(name); found != given.end()) {
        size = found->second.first;
        given.erase(found);
      }
      if (const auto found = asked.find(name); found != asked.end()) {
        if (found->second < 1) throw BadInput(fmt::format("size {}={} is not positive", name, found->second));
        size = found->second;
        asked.erase(found);
      }
    });
    if (!given.empty()) {
      machine_error(description_, given.begin()->second.second,
                    fmt::format("{} has no size '{}'", Info::name, given.begin()->first),
                    suggestion(given.begin()->first, names));
    }
    if (!asked.empty()) {
      names.insert(names.begin(), options_.size_names.begin(), options_.size_names.end());
      throw BadInput(fmt::format("unknown size '{}' of {} on {}", asked.begin()->first,
                                 workload_.program.name, Info::name),
                     suggestion(asked.begin()->first, names));
    }
  }

  // ---- the rules -----------------------------------------------------------------------------------------

  std::uint16_t family_of(const std::vector<RuleParameter<typename K::Erased>>& parameters) {
    if (parameters.size() > 2) throw std::logic_error("a timed rule has at most two parameters");
    std::vector<std::string_view> tags;
    for (const auto& parameter : parameters) tags.push_back(parameter.name);
    for (std::size_t f = 0; f < families_.size(); ++f) {
      if (families_[f].tags == tags) return static_cast<std::uint16_t>(f);
    }
    Family family;
    family.tags = std::move(tags);
    for (const auto& parameter : parameters) {
      family.extents.push_back(static_cast<std::uint32_t>(parameter.extent));
      family.listed = family.listed && parameter.name != BlockTag::name;
    }
    if (family.listed) {
      family.instances = 1;
      for (const std::uint32_t e : family.extents) family.instances *= e;
      family.dirty.assign(family.instances, 0);
      family.scheduled.assign(family.instances, 0);
      family.parked.resize(family.instances * 64);
    }
    families_.push_back(std::move(family));
    return static_cast<std::uint16_t>(families_.size() - 1);
  }

  int add_rule(const Rule& rule) {
    RuleInfo info;
    info.name = rule.name;
    info.unit_name = rule.unit;
    info.fairness = rule.fairness;
    rules_.push_back(std::move(info));
    return static_cast<int>(rules_.size() - 1);
  }

  // The rules of the instructions, once for each opcode.
  struct DescribeCases {
    Engine& engine;
    std::array<int, 4>& cases;
    std::size_t next = 0;
    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...>, Guard&&, Action&&) {
      cases.at(next) = -1;
      for (std::size_t i = 0; i < engine.rules_.size(); ++i) {
        if (engine.rules_[i].unit_name == rule.unit && engine.rules_[i].name == rule.name)
          cases.at(next) = static_cast<int>(i);
      }
      if (cases.at(next) < 0) cases.at(next) = engine.add_rule(rule);
      ++next;
    }
  };
  void describe_rules() {
    threads_family_ = family_of(detail::parameters_of<K, ThreadTag>(k_));
    RuleList<K, typename Memory::State> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    listed_.part(of_memory, &State::memory);
    // The rules of work-groups come behind those of memory.
    for (const Thread& thread : workload_.program.threads) {
      for (const Instruction& i : thread.code) has_barriers_ |= i.opcode == Opcode::barrier;
    }
    if (has_barriers_) listed_.keep(threads_of_program()).rules_of_work_groups(listed_);
    for (const RuleOf& value : listed_.values()) {
      Family& family = families_[family_of(value.parameters)];
      if (family.rules.size() >= first_case)
        throw std::logic_error("more rules with the same parameters than an engine numbers");
      if (value.rule.fairness == Fairness::fair) family.fair |= std::uint64_t{1} << family.rules.size();
      family.rules.push_back(add_rule(value.rule));
      family.listed_rules.push_back(&value);
    }
    families_[threads_family_].fair |= ~std::uint64_t{0} << first_case;
    for (auto& cases : program_rules_) cases.fill(-1);
    for (std::size_t t = 0; t < threads_count(); ++t) {
      const Thread& thread = workload_.program.threads[t];
      for (std::size_t pc = 0; pc < thread.code.size(); ++pc) {
        auto& cases = program_rules_[static_cast<std::size_t>(thread.code[pc].opcode)];
        if (cases[0] >= 0) continue;
        DescribeCases describe_cases{*this, cases};
        threads_of_program().rules_of(describe_cases, static_cast<int>(t), static_cast<int>(pc));
      }
    }
  }

  [[nodiscard]] RuleInfo& info(const Family& family, std::uint16_t rule, std::uint32_t thread) {
    if (rule < first_case) return rules_[static_cast<std::size_t>(family.rules[rule])];
    const auto& code = workload_.program.threads[thread].code;
    const auto pc = static_cast<std::size_t>(state_.context.row(thread).pc.v);
    const auto opcode = pc < code.size() ? code[pc].opcode : Opcode::move;
    const int index = program_rules_[static_cast<std::size_t>(opcode)][rule - first_case];
    return rules_[static_cast<std::size_t>(std::max(index, 0))];
  }

  // ---- reading the rules of one family -------------------------------------------------------------------

  // The rules of a thread's instruction, all over(): which they are rests on where the thread is.
  struct ConsiderCases {
    Engine& engine;
    std::uint16_t family;
    Parameters at;
    std::uint64_t mask;
    std::uint16_t next = first_case;
    template <class Guard, class Action>
    void rule(const Rule&, Over<>, Guard&& guard, Action&&) {
      const std::uint16_t n = next++;
      if (((mask >> n) & 1U) == 0) return;
      engine.begin_guard();
      (void)std::as_const(engine.state_).context(typename K::template Ix<ThreadTag>{at.a});
      engine.judge(family, at, n, Bool(guard(std::as_const(engine.state_))));
    }
  };
  struct FireCase {
    Engine& engine;
    std::uint16_t family;
    Parameters at;
    std::uint16_t wanted;
    bool fired = false;
    std::uint16_t next = first_case;
    template <class Guard, class Action>
    void rule(const Rule&, Over<>, Guard&& guard, Action&& action) {
      if (next++ != wanted) return;
      const auto enabled = [&] {
        (void)std::as_const(engine.state_).context(typename K::template Ix<ThreadTag>{at.a});
        return Bool(guard(std::as_const(engine.state_)));
      };
      if (!engine.may_fire(family, at, wanted, enabled)) return;
      action(engine.state_);
      fired = true;
    }
  };

  // Looks at the rules of one instance that the mask names.
  void consider_family(std::uint16_t f, Parameters at, std::uint64_t mask) {
    if (f == threads_family_) {
      if (const std::uint64_t cases = mask >> first_case << first_case; cases != 0) {
        ConsiderCases reader{*this, f, at, cases};
        threads_of_program().rules_of(reader, static_cast<int>(at.a), state_.context.row(at.a).pc.v);
        // Rules that this instruction does not have come back when the thread moves on.
        if (reader.next < 64)
          own_[context_key_ + at.a * context_keys_] |= cases >> reader.next << reader.next;
        mask &= ~(~std::uint64_t{0} << first_case);
      }
    }
    const std::array members{at.a, at.b};
    for (; mask != 0; mask &= mask - 1) {
      const auto n = static_cast<std::uint16_t>(std::countr_zero(mask));
      if (n >= families_[f].listed_rules.size()) return;
      begin_guard();
      // Of an empty queue the head is a default message: it tells which message a rule waits for.
      judge(f, at, n, families_[f].listed_rules[n]->guard(&state_, members.data()));
    }
  }
  // Fires one rule of one instance if its guard holds.
  bool fire_family(std::uint16_t f, Parameters at, std::uint16_t rule) {
    if (f == threads_family_ && rule >= first_case) {
      FireCase reader{*this, f, at, rule};
      threads_of_program().rules_of(reader, static_cast<int>(at.a), state_.context.row(at.a).pc.v);
      if (reader.next <= rule && !reader.fired)
        own_[context_key_ + at.a * context_keys_] |= std::uint64_t{1} << rule;
      return reader.fired;
    }
    const RuleOf& value = *families_[f].listed_rules[rule];
    const std::array members{at.a, at.b};
    if (!may_fire(f, at, rule, [&] { return value.guard(&state_, members.data()); })) return false;
    value.action(&state_, members.data());
    return true;
  }

  // ---- guards --------------------------------------------------------------------------------------------

  void begin_guard() {
    timed::reads.begin(binder_.table_of.data());
    if (binder_.has_scalars) timed::reads.note(timed::any_key, nullptr, 0);
  }
  [[gnu::always_inline]] void judge(std::uint16_t family, Parameters at, std::uint16_t rule,
                                    const Bool& enabled) {
    if (probing_ != nullptr) {
      timed::reads.end();
      if (enabled.v) probing_->push_back({family, rule, at.a, at.b});
      return;
    }
    if (enabled.v) {
      const Tick arrival = timed::reads.not_before();
      timed::reads.end();
      schedule(family, at, rule, arrival);
    } else {
      park(family, at, rule, enabled.stamp());
      timed::reads.end();
      pass_offer(family, at, rule);
    }
  }
  // Whether the guard of an instance that is due holds, as it does nearly always; what it looks at is only
  // listed where it does not.
  template <class Enabled>
  [[gnu::always_inline]] bool may_fire(std::uint16_t family, Parameters at, std::uint16_t rule,
                                       const Enabled& enabled) {
    timed::reads.begin_unlisted();
    const bool holds = enabled().v;
    timed::reads.end();
    if (!holds) park_due(family, at, rule, enabled);
    pass_offer(family, at, rule);
    return holds;
  }
  template <class Enabled>
  [[gnu::noinline]] void park_due(std::uint16_t family, Parameters at, std::uint16_t rule,
                                  const Enabled& enabled) {
    begin_guard();
    const Bool again = enabled();
    park(family, at, rule, again.stamp());
    timed::reads.end();
  }

  static timed::MainMemory::Port port_of(const Family& family, Parameters at) {
    return family.first_port +
           (family.listed ? static_cast<timed::MainMemory::Port>(instance_of(family, at)) : 0);
  }
  static std::size_t instance_of(const Family& family, Parameters at) {
    return family.extents.size() == 2 ? std::size_t{at.a} * family.extents[1] + at.b : at.a;
  }

  // Waits for a write to one of the rows that the guard rests on.
  [[gnu::noinline]] void park(std::uint16_t f, Parameters at, std::uint16_t rule, timed::Stamp rests_on) {
    Family& family = families_[f];
    std::uint32_t epoch = 0;
    const std::size_t instance = instance_of(family, at);
    if (family.listed) epoch = ++family.parked[instance * 64 + rule].epoch;
    const auto watch = [&](Key key) {
      if (family.listed && owners_[key].family == f && owners_[key].instance == instance) {
        own_[key] |= std::uint64_t{1} << rule;
        return;
      }
      Watch& w = watch_of(key);
      if (w.room != nullptr && !family.listed) {
        w.replacements.push_back({f, rule, at.a, at.b, 0});
        return;
      }
      if (w.others.size() >= w.limit) compact(w);
      w.others.push_back({f, rule, at.a, at.b, epoch});
    };
    const std::uint32_t rows = timed::rows_of(rests_on);
    if (rows > timed::Reads::capacity) {
      watch(timed::any_key);
      return;
    }
    for (std::uint32_t i = 0; i < rows; ++i) {
      const Key key = timed::reads.key(i, rests_on);
      // Rows that make an instance over blocks a candidate need no watch.
      if (!family.listed && binder_.table_of[key] == candidate_table_[f]) continue;
      watch(key);
    }
  }
  // Forgets watchers that have been woken by another row since.
  void compact(Watch& w) {
    w.others.erase(w.others.begin(), w.others.begin() + w.first);
    w.first = 0;
    std::erase_if(w.others, [&](const Watcher& x) {
      const Family& family = families_[x.family];
      return family.listed && family.parked[instance_of(family, {x.a, x.b}) * 64 + x.rule].epoch != x.epoch;
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

  void mark(std::uint16_t f, std::uint32_t instance, std::uint64_t rules) {
    Family& family = families_[f];
    rules &= ~family.scheduled[instance];
    if (rules == 0) return;
    if (family.dirty[instance] == 0) dirty_.push_back({f, instance});
    family.dirty[instance] |= rules;
  }
  Watch& watch_of(Key key) {
    if (watch_of_[key] == 0) {
      watch_of_[key] = static_cast<std::uint32_t>(watches_.size());
      watches_.emplace_back();
    }
    return watches_[watch_of_[key]];
  }
  void wake_watch(std::uint32_t number) {
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
      if (family.parked[instance * 64 + x.rule].epoch != x.epoch) continue;
      mark(x.family, static_cast<std::uint32_t>(instance), std::uint64_t{1} << x.rule);
    }
  }
  // Of all who wait for room in a queue, as many are woken as there is room for, in the order in which they
  // came; whoever has made use of it, or could not, passes the offer on. As long as somebody waits while
  // there is room, an offer is on its way.
  void offer_room(std::uint32_t number) {
    Watch& w = watches_[number];
    while (w.first < w.others.size() && w.offers < *w.room) {
      const Watcher x = w.others[w.first++];
      Family& family = families_[x.family];
      const std::size_t instance = instance_of(family, {x.a, x.b});
      Parked& parked = family.parked[instance * 64 + x.rule];
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
  [[gnu::noinline]] void pass_offer(std::uint16_t f, Parameters at, std::uint16_t rule) {
    Family& family = families_[f];
    if (!family.listed) return;
    const std::uint32_t number = std::exchange(family.parked[instance_of(family, at) * 64 + rule].offer, 0);
    if (number == 0) return;
    --watches_[number].offers;
    passed_on_.push_back(number);
  }
  void wake(Key key) {
    if (own_[key] != 0) mark(owners_[key].family, owners_[key].instance, std::exchange(own_[key], 0));
    wake_watch(watch_of_[key]);
    wake_watch(watch_of_[binder_.table_of[key]]);
  }

  // Looks at every instance that the last firings may concern.
  void consider_woken() {
    do {
      consider_marked();
      for (std::size_t i = 0; i < passed_on_.size(); ++i) offer_room(passed_on_[i]);
      passed_on_.clear();
    } while (!dirty_.empty() || !dirty_blocks_.empty());
  }
  void consider_marked() {
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
  static Parameters parameters_of(const Family& family, std::size_t instance) {
    if (family.extents.size() < 2) return {static_cast<std::uint32_t>(instance), 0};
    return {static_cast<std::uint32_t>(instance / family.extents[1]),
            static_cast<std::uint32_t>(instance % family.extents[1])};
  }
  static std::uint64_t packed(const timed::Event& e) {
    return (std::uint64_t{e.family} << 58) ^ (std::uint64_t{e.rule} << 52) ^ (std::uint64_t{e.a} << 32) ^ e.b;
  }

  // ---- time ----------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t place(const Family& family, Per per, Parameters at) const {
    if (per == Per::system) return 0;
    const auto& places = family.places[static_cast<std::size_t>(per)];
    return family.listed ? places[instance_of(family, at)] : places[at.a];
  }
  [[nodiscard]] std::size_t unit_of(const Family& family, const RuleInfo& rule, Parameters at) const {
    const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(rule.unit)];
    return kind.first + place(family, kind.per, at);
  }

  [[gnu::noinline]] void schedule(std::uint16_t f, Parameters at, std::uint16_t rule, Tick arrival) {
    Family& family = families_[f];
    const RuleInfo& r = info(family, rule, at.a);
    const timed::Event event{f, rule, at.a, at.b};
    if (family.listed) {
      family.scheduled[instance_of(family, at)] |= std::uint64_t{1} << rule;
    } else {
      scheduled_blocks_.insert(packed(event));
    }
    // Who has waited for room has been looked up long since.
    const bool offered = family.listed && family.parked[instance_of(family, at) * 64 + rule].offer != 0;
    const bool news = r.carries && cause_unit_ >= 0 && cause_unit_ != r.unit;
    if (news && cause_wait_ != no_wait) {
      Wait& wait = waits_[cause_wait_];
      wait.done = std::max(wait.done, cause_done_);
      wait.news.push_back({event, cause_unit_, arrival, offered});
      return;
    }
    Tick due = journal_.now;
    if (news)
      due = std::max(due, news_arrives(family, r, at, cause_unit_, std::max(journal_.now, cause_done_)));
    due_at(event, r, due, arrival, offered);
  }
  // When news that leaves a unit then is with an instance.
  Tick news_arrives(const Family& family, const RuleInfo& r, Parameters at, int from, Tick leaves) {
    Path& path = paths_[static_cast<std::size_t>(from)][static_cast<std::size_t>(r.unit)];
    if (path.links.empty()) return leaves;
    const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(r.unit)];
    return path.links[place(family, kind.per, at)].send(leaves, r.carried_bytes, r.carried_kind);
  }
  // Look-ups are pipelined, also those of messages behind one another on a link: each takes its time from the
  // message's arrival on.
  void due_at(const timed::Event& event, const RuleInfo& r, Tick due, Tick arrival, bool offered) {
    if (arrival > 0) {
      due = std::max(due, arrival + r.latency);
    } else if (!offered) {
      due += r.latency;
    }
    if (options_.jitter > 0)
      due += random_() % (static_cast<Tick>(options_.jitter) * timed::ticks_per_cycle + 1);
    wheel_.push(due, event);
  }

  // An instance is due: it takes its turn, or waits for one.
  void attempt(const timed::Event& event) {
    const Family& family = families_[event.family];
    const Parameters at{event.a, event.b};
    RuleInfo& r = info(family, event.rule, event.a);
    const std::size_t u = unit_of(family, r, at);
    Unit& unit = units_[u];
    if (r.occupancy == 0) {
      fire(event, r);
    } else if (unit.free_at > journal_.now || !unit.queue.empty() || unit.stalls > 0) {
      unit.queue.emplace_back(event, journal_.now);
      call_service(u);
    } else {
      take_turn(unit, event, r);
    }
  }
  // Returns whether the turn was used.
  bool take_turn(Unit& unit, const timed::Event& event, RuleInfo& r) {
    if (r.sends && !may_send(event)) return false;
    const Tick occupancy = r.occupancy;
    if (!fire(event, r)) return false;
    unit.free_at = std::max(unit.free_at, journal_.now) + occupancy;
    return true;
  }
  // An instance whose port is taken tries again when it is free.
  [[gnu::noinline]] bool may_send(const timed::Event& event) {
    const timed::MainMemory::Port port = port_of(families_[event.family], {event.a, event.b});
    const Tick free = main_memory_.accepts_at(port);
    if (free <= journal_.now) return true;
    if (free == timed::MainMemory::later) {
      held_[port].emplace_back(event, journal_.now);
    } else {
      memory_stalled_ += free - journal_.now;
      wheel_.push(free, event);
    }
    return false;
  }
  void call_service(std::size_t u) {
    Unit& unit = units_[u];
    if (unit.service_due || unit.stalls > 0 || unit.queue.empty()) return;
    unit.service_due = true;
    wheel_.push(std::max(unit.free_at, journal_.now),
                {timed::Event::service, 0, static_cast<std::uint32_t>(u), 0});
  }
  void serve(std::size_t u) {
    Unit& unit = units_[u];
    unit.service_due = false;
    while (!unit.queue.empty() && unit.stalls == 0 && unit.free_at <= journal_.now) {
      const auto [event, since] = unit.queue.front();
      unit.queue.pop_front();
      RuleInfo& r = info(families_[event.family], event.rule, event.a);
      if (take_turn(unit, event, r)) r.waited += journal_.now - since;
    }
    call_service(u);
  }

  // ---- firing --------------------------------------------------------------------------------------------

  bool fire(const timed::Event& event, RuleInfo& r) {
    Family& family = families_[event.family];
    const Parameters at{event.a, event.b};
    if (family.listed) {
      family.scheduled[instance_of(family, at)] &= ~(std::uint64_t{1} << event.rule);
    } else {
      scheduled_blocks_.erase(packed(event));
    }
    if (!fire_family(event.family, at, event.rule)) {
      if (!passed_on_.empty()) consider_woken();
      return false;
    }
    // It may be enabled again at once.
    if (family.listed) {
      mark(event.family, static_cast<std::uint32_t>(instance_of(family, at)), std::uint64_t{1} << event.rule);
    } else {
      dirty_blocks_.push_back(event);
    }
    fired(r);
    if (event.rule >= first_case) note_operation(event.a);
    port_ = port_of(family, at);
    settle(r);
    while (!overfull_.empty()) {
      const auto [cache, set] = overfull_.back();
      overfull_.pop_back();
      make_room(cache, set);
    }
    cause_unit_ = r.unit;
    consider_woken();
    cause_unit_ = -1;
    cause_wait_ = no_wait;
    return true;
  }
  void fired(RuleInfo& r) {
    ++r.firings;
    ++firings_;
    if (r.hit >= 0) ++levels_[static_cast<std::size_t>(r.hit)].hits;
    if (r.miss >= 0) ++levels_[static_cast<std::size_t>(r.miss)].misses;
    if (on_firing) on_firing();
  }

  // Brings caches, memory and the list of who may be concerned up to date with what a firing wrote.
  void settle(const RuleInfo& r) {
    cause_done_ = journal_.now;
    for (std::size_t i = 0; i < journal_.rows.size(); ++i) {
      const auto [table, slot] = journal_.rows[i];
      const auto change = table->settle(slot);
      if (table->number < 0) continue;
      OfTable& use = of_table_[static_cast<std::size_t>(table->number)];
      const std::uint32_t* const at = table->coordinates(slot);
      if (use.cache >= 0 && change != timed::TableBase::Change::none) line_changed(use, slot, at, change, r);
      if (use.is_memory && r.memory != MemoryUse::none)
        access_memory(r, at[use.block_place], table->accesses(slot));
      for (const auto& [family, rules] : use.candidates) {
        for (std::uint64_t rest = rules; rest != 0; rest &= rest - 1) {
          dirty_blocks_.push_back({family, static_cast<std::uint16_t>(std::countr_zero(rest)), at[0],
                                   families_[family].extents.size() == 2 ? at[1] : 0});
        }
      }
    }
    for (std::size_t i = 0; i < journal_.keys.size(); ++i) wake(journal_.keys[i]);
    wake_watch(watch_of_[timed::any_key]);
    journal_.clear();
  }

  void access_memory(const RuleInfo& r, std::uint32_t block, unsigned accesses) {
    if (r.memory != MemoryUse::write) read_memory(block);
    // Words are written one by one, each an access to the row.
    const unsigned words = r.memory == MemoryUse::read_write ? 1 : accesses;
    if (r.memory != MemoryUse::read) {
      main_memory_.write(journal_.now, port_, block,
                         std::min(description_.block_bytes, words * timed::word_bytes));
    }
    call_memory();
  }
  void read_memory(std::uint32_t block) {
    // A replacement's own read is not what the firing that caused it waits for.
    if (replacing_) {
      main_memory_.read(journal_.now, port_, block, timed::MainMemory::nobody);
      return;
    }
    const timed::MainMemory::Token token = cause_wait_ != no_wait ? cause_wait_ : free_wait();
    const Tick there = main_memory_.read(journal_.now, port_, block, token);
    if (there == timed::MainMemory::later) {
      if (cause_wait_ == no_wait) free_waits_.pop_back();
      cause_wait_ = token;
      ++waits_[token].outstanding;
    } else {
      cause_done_ = std::max(cause_done_, there);
    }
  }
  // One that nothing is waited for with; it stays free until something is.
  std::uint32_t free_wait() {
    if (free_waits_.empty()) {
      free_waits_.push_back(static_cast<std::uint32_t>(waits_.size()));
      waits_.emplace_back();
    }
    return free_waits_.back();
  }
  void call_memory() {
    for (const auto& [at, channel] : main_memory_.calls) {
      wheel_.push(at, {timed::Event::memory, 0, channel, 0});
    }
    main_memory_.calls.clear();
  }
  void advance_memory(std::uint32_t channel) {
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
        wheel_.push(journal_.now, event);
      }
      held_[port].clear();
    }
    main_memory_.released.clear();
    call_memory();
  }
  // All that a firing has asked of memory is there: news of it leaves.
  void answer(std::uint32_t token) {
    Wait& wait = waits_[token];
    for (const News& news : wait.news) {
      const Family& family = families_[news.event.family];
      const Parameters at{news.event.a, news.event.b};
      const RuleInfo& r = info(family, news.event.rule, news.event.a);
      const Tick leaves = std::max(journal_.now, wait.done);
      due_at(news.event, r, news_arrives(family, r, at, news.from, leaves), news.arrival, news.offered);
    }
    wait.news.clear();
    wait.done = 0;
    free_waits_.push_back(token);
  }

  // Loads, stores and the like are timed from issue to completion.
  void note_operation(std::uint32_t t) {
    const auto& port = state_.memory.port.row(t);
    if (port.pending.v) {
      issued_[t] = journal_.now + 1;
      return;
    }
    if (issued_[t] == 0) return;
    auto& operation = operations_[static_cast<std::size_t>(port.request.operation.v)];
    ++operation.first;
    operation.second += journal_.now + 1 - issued_[t];
    issued_[t] = 0;
    if (port.ended.v) last_end_ = journal_.now;
  }

  // ---- caches --------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t set_of(const Cache& cache, const std::uint32_t* at) const {
    const std::size_t unit = cache.extents.size() == 2 ? at[0] : 0;
    return unit * cache.sets + cache.index.member(at[cache.extents.size() - 1]);
  }
  void line_changed(const OfTable& use, std::uint32_t slot, const std::uint32_t* at,
                    timed::TableBase::Change change, const RuleInfo& r) {
    Cache& cache = caches_[static_cast<std::size_t>(use.cache)];
    const std::size_t set = set_of(cache, at);
    auto& lines = cache.lines[set];
    if (change == timed::TableBase::Change::inserted) {
      ++cache.installed;
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

  // Fires the replacement of the first victim that may go, in the policy's order, until the set fits.
  void make_room(int c, std::size_t set) {
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
      for (std::size_t i = 0; i < victims.size() && !done; ++i) {
        if (i == 1 && !cache.random) std::stable_sort(victims.begin() + 1, victims.end(), older);
        const std::uint32_t* const at = cache.table->coordinates(victims[i]);
        const Parameters victim{at[0], cache.extents.size() == 2 ? at[1] : 0};
        done = fire_family(cache.family, victim, cache.rule);
      }
      if (!done) {
        begin_stall(cache, set);
        return;
      }
      fired(r);
      settle_replacement(r);
    }
  }
  // A replacement's own memory access is not what the firing that caused it waits for.
  void settle_replacement(const RuleInfo& r) {
    const Tick done = cause_done_;
    replacing_ = true;
    settle(r);
    replacing_ = false;
    cause_done_ = done;
  }
  void make_room_again(int c, Parameters at) {
    Cache& cache = caches_[static_cast<std::size_t>(c)];
    const std::uint32_t where[2] = {at.a, at.b};
    const std::size_t set = set_of(cache, where);
    if (cache.lines[set].size() > cache.ways) make_room(c, set);
  }
  [[nodiscard]] Unit& unit_of_set(const Cache& cache, std::size_t set) {
    const UnitKind& kind = unit_kinds_[static_cast<std::size_t>(cache.unit)];
    return units_[kind.first + (kind.count > 1 ? set / cache.sets : 0)];
  }
  void begin_stall(Cache& cache, std::size_t set) {
    if (cache.stalled_since[set] != 0) return;
    cache.stalled_since[set] = journal_.now + 1;
    ++unit_of_set(cache, set).stalls;
  }
  void end_stall(Cache& cache, std::size_t set) {
    cache.stalled += journal_.now + 1 - std::exchange(cache.stalled_since[set], 0);
    Unit& unit = unit_of_set(cache, set);
    --unit.stalls;
    call_service(static_cast<std::size_t>(&unit - units_.data()));
  }

  // ---- setting up ----------------------------------------------------------------------------------------

  void set_timing();
  void set_places(Family& family);
  void set_links();
  void set_caches();
  void set_memory();

  // A row of a table over the parameters of a family belongs to that instance.
  void set_owners() {
    for (const auto& [key, room] : binder_.rooms) watch_of(key).room = room;
    for (const timed::TableInfo& table : binder_.tables) {
      if (table.name == "context") {
        context_key_ = table.first_key + 1;
        context_keys_ = table.keys_per_row;
      }
      if (table.keys_per_row == 0) continue;
      for (std::size_t f = 0; f < families_.size(); ++f) {
        const Family& family = families_[f];
        if (!family.listed || family.tags != table.tags) continue;
        for (std::uint32_t i = 0; i < family.instances; ++i) {
          for (Key aspect = 0; aspect < table.keys_per_row; ++aspect) {
            owners_[table.first_key + 1 + i * table.keys_per_row + aspect] = {i,
                                                                              static_cast<std::uint16_t>(f)};
          }
        }
      }
    }
  }

  // Finds, for each rule over blocks, the table whose absent row disables it.
  void find_candidates() {
    candidate_table_.assign(families_.size(), timed::any_key);
    for (std::size_t f = 0; f < families_.size(); ++f) {
      Family& family = families_[f];
      if (family.listed) continue;
      for (std::size_t n = 0; n < family.rules.size(); ++n) {
        if (((family.fair >> n) & 1U) == 0) continue;
        find_candidates_of(static_cast<std::uint16_t>(f), static_cast<std::uint16_t>(n));
      }
    }
  }
  void find_candidates_of(std::uint16_t f, std::uint16_t rule) {
    Family& family = families_[f];
    const std::string& name = rules_[static_cast<std::size_t>(family.rules[rule])].name;
    Parameters last{family.extents[0] - 1, family.extents.size() == 2 ? family.extents[1] - 1 : 0};
    consider_family(f, last, std::uint64_t{1} << rule);
    for (const timed::TableInfo& table : binder_.tables) {
      if (!table.sparse || table.tags != family.tags) continue;
      bool watched = false;
      for (Key key = table.first_key; key < binder_.next && binder_.table_of[key] == table.first_key; ++key) {
        auto& others = watches_[watch_of_[key]].others;
        watched |=
            std::erase_if(others, [&](const Watcher& w) { return w.family == f && w.rule == rule; }) > 0;
      }
      if (!watched) continue;
      if (candidate_table_[f] != timed::any_key && candidate_table_[f] != table.first_key) break;
      candidate_table_[f] = table.first_key;
      auto& candidates = of_table_[static_cast<std::size_t>(table.table->number)].candidates;
      if (candidates.empty() || candidates.back().first != f) candidates.push_back({f, 0});
      candidates.back().second |= std::uint64_t{1} << rule;
      return;
    }
    throw std::logic_error(
        fmt::format("rule '{}' is not disabled by one absent row of its parameters", name));
  }

  void fill_memory() {
    const Memory m = memory();
    const auto& locations = workload_.program.locations;
    for (std::size_t i = 0; i < locations.size(); ++i) {
      m.initialise(state_.memory, K::template constant<BlockTag>(locations[i].block),
                   K::template constant<WordTag>(locations[i].word), typename K::Value(workload_.initial[i]));
    }
    threads_of_program().start(state_);
    for (std::size_t i = 0; i < journal_.rows.size(); ++i)
      journal_.rows[i].table->settle(journal_.rows[i].slot);
    journal_.clear();
    issued_.assign(threads_count(), 0);
  }

  // Waves start one by one, in an order that the seed decides.
  void start() {
    for (std::size_t f = 0; f < families_.size(); ++f) {
      Family& family = families_[f];
      for (std::size_t i = 0; i < family.instances; ++i) {
        const std::uint64_t rules = family.fair;
        const Tick now = journal_.now;
        if (f == threads_family_ && options_.start_spread > 0) {
          journal_.now = random_() % (static_cast<Tick>(options_.start_spread) * timed::ticks_per_cycle);
        }
        consider_family(static_cast<std::uint16_t>(f), parameters_of(family, i), rules);
        journal_.now = now;
      }
    }
  }

  [[nodiscard]] SimulationEnd end() const {
    bool ended = true;
    for (std::size_t t = 0; t < threads_count(); ++t) {
      if (state_.context.row(t).failed.v) return SimulationEnd::failed;
      ended &= state_.memory.port.row(t).ended.v;
    }
    return ended && memory().drained(state_.memory).v ? SimulationEnd::finished : SimulationEnd::stuck;
  }

  // News of a firing that leaves when what the firing has asked of memory is there.
  struct News {
    timed::Event event;
    int from;  // unit
    Tick arrival;
    bool offered;
  };
  struct Wait {
    std::uint32_t outstanding = 0;
    Tick done = 0;
    std::vector<News> news;
  };
  static constexpr std::uint32_t no_wait = ~0U;

  struct Path {
    std::string name;
    std::vector<timed::Link> links;
    std::unique_ptr<std::vector<timed::Link::Traffic>> traffic;
  };

  Workload workload_;
  MachineDescription description_;
  SystemTiming timing_;
  SimulationOptions options_;
  const SystemEntry& entry_;
  int variant_;
  std::uint64_t fault_bits_;
  std::mt19937_64 random_;

  int cus_ = 1;
  int agents_ = 1;
  int work_groups_ = 1;
  K k_;
  Machine<K> machine_;
  timed::Journal journal_;
  timed::Binder binder_{journal_};
  State state_;

  std::vector<RuleInfo> rules_;
  RuleList<K, State> listed_{k_};  // all but those of threads' instructions
  std::vector<Family> families_;
  std::uint16_t threads_family_ = 0;
  bool has_barriers_ = false;
  std::array<std::array<int, 4>, 16> program_rules_{};
  std::vector<UnitKind> unit_kinds_;
  std::vector<Unit> units_;
  std::vector<std::vector<Path>> paths_;  // from, to
  std::vector<std::string> carried_kinds_;
  std::deque<timed::Link> links_;
  struct LinkLevel {
    const timed::QueueInfo* queue;
    std::vector<timed::Link::Traffic> traffic;
    std::size_t first;  // index into links_
  };
  std::deque<LinkLevel> link_levels_;
  std::vector<Cache> caches_;
  std::vector<OfTable> of_table_;
  std::vector<std::string> level_names_;
  std::vector<Statistics::Level> levels_;
  timed::MainMemory main_memory_;
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> free_waits_;
  std::vector<std::vector<std::pair<timed::Event, Tick>>> held_;  // by port: since when it waits for it

  std::vector<std::uint64_t> own_;       // by key: rules of the owner that wait for it
  std::vector<Owner> owners_;            // by key: the instance whose row it is
  std::vector<std::uint32_t> watch_of_;  // by key: index into watches_, 0 where nobody else has waited
  std::deque<Watch> watches_;
  std::vector<Watcher> woken_;
  std::vector<std::uint32_t> passed_on_;
  std::vector<Key> candidate_table_;  // by family
  Key context_key_ = 0;               // of the first thread's context
  Key context_keys_ = 1;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> dirty_;
  std::vector<timed::Event> dirty_blocks_;
  boost::unordered_flat_set<std::uint64_t> scheduled_blocks_;
  std::vector<std::pair<int, std::size_t>> overfull_;
  std::vector<std::uint32_t> victims_;
  std::vector<timed::Event>* probing_ = nullptr;

  timed::Wheel wheel_;
  int cause_unit_ = -1;                 // of the firing whose consequences are being looked at
  Tick cause_done_ = 0;                 // when what it asked of memory is there
  std::uint32_t cause_wait_ = no_wait;  // or who will be told
  timed::MainMemory::Port port_ = 0;    // of that firing
  bool replacing_ = false;
  std::uint64_t firings_ = 0;
  std::uint64_t lines_invalidated_ = 0;
  Tick last_end_ = 0;
  Tick memory_stalled_ = 0;
  std::vector<Tick> issued_;  // by thread: when its operation was issued, plus one
  std::array<std::pair<std::uint64_t, Tick>, 4> operations_{};
};

// ---- setting up -------------------------------------------------------------------------------------------

template <class Info>
void Engine<Info>::set_timing() {
  for (const auto& [name, timing] : description_.units) {
    const std::array<std::size_t, 4> counts{threads_count(), static_cast<std::size_t>(cus_) + 1,
                                            static_cast<std::size_t>(agents_) + 1, 1};
    const std::size_t count = counts[static_cast<std::size_t>(timing.per)];
    unit_kinds_.push_back({name, timing.per, timing.per_cycle, units_.size(), count});
    units_.resize(units_.size() + count);
  }
  for (Family& family : families_) set_places(family);
  std::vector<std::string> names;
  auto given = timing_.rules;
  for (RuleInfo& r : rules_) {
    names.push_back(r.name);
    const auto unit = std::find_if(unit_kinds_.begin(), unit_kinds_.end(),
                                   [&](const UnitKind& u) { return u.name == r.unit_name; });
    if (unit == unit_kinds_.end()) {
      machine_error(description_, {},
                    fmt::format("no [units.{}], which performs '{}' in {}", r.unit_name, r.name, Info::name));
    }
    r.unit = static_cast<int>(unit - unit_kinds_.begin());
    RuleTiming timing;
    if (const auto found = given.find(r.name); found != given.end()) timing = found->second;
    const auto cycles = [](double c) {
      return static_cast<Tick>(c * static_cast<double>(timed::ticks_per_cycle) + 0.5);
    };
    const auto level = [&](const std::string& name) {
      if (name.empty()) return -1;
      const auto known = std::find(level_names_.begin(), level_names_.end(), name);
      if (known != level_names_.end()) return static_cast<int>(known - level_names_.begin());
      level_names_.push_back(name);
      levels_.emplace_back();
      return static_cast<int>(level_names_.size() - 1);
    };
    r.latency = cycles(timing.latency);
    r.occupancy = cycles(timing.occupancy / unit->per_cycle);
    r.memory = timing.memory;
    r.hit = level(timing.hit);
    r.miss = level(timing.miss);
    if (!timing.carries.empty()) {
      r.carries = true;
      r.carried_bytes = timing.bytes;
      const auto known = std::find(carried_kinds_.begin(), carried_kinds_.end(), timing.carries);
      r.carried_kind = static_cast<std::size_t>(known - carried_kinds_.begin());
      if (known == carried_kinds_.end()) carried_kinds_.push_back(timing.carries);
    }
  }
  // A program may lack instructions that the machine file times.
  for (const char* name : {"issues", "completes", "executes", "begins its kernel", "arrives at",
                           "departs from", "opens the barrier"}) {
    given.erase(name);
  }
  for (const std::string& name : names) given.erase(name);
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no rule '{}'", Info::name, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
  paths_.resize(unit_kinds_.size());
  for (auto& row : paths_) row.resize(unit_kinds_.size());
  for (const PathTiming& timing : description_.paths) {
    const auto number = [&](const std::string& name) {
      return static_cast<std::size_t>(std::find_if(unit_kinds_.begin(), unit_kinds_.end(),
                                                   [&](const UnitKind& u) { return u.name == name; }) -
                                      unit_kinds_.begin());
    };
    Path& path = paths_[number(timing.from)][number(timing.to)];
    path.name = timing.from + " to " + timing.to;
    path.traffic = std::make_unique<std::vector<timed::Link::Traffic>>();
    timed::Link link;
    link.latency = static_cast<Tick>(timing.latency * static_cast<double>(timed::ticks_per_cycle));
    link.ticks_per_byte_256 =
        static_cast<Tick>(256.0 * static_cast<double>(timed::ticks_per_cycle) / timing.bytes_per_cycle);
    link.by_kind = path.traffic.get();
    path.links.assign(unit_kinds_[number(timing.to)].count, link);
  }
  set_links();
  set_caches();
  set_memory();
}

// Which unit each instance belongs to. Host threads have a place of their own behind the CUs and agents.
template <class Info>
void Engine<Info>::set_places(Family& family) {
  if (family.tags.empty()) {
    for (auto& places : family.places) places.assign(1, 0);
    return;
  }
  const auto of_thread = [&](std::uint32_t t) {
    const bool host = machine_.is_host.member[t] != 0;
    const std::uint32_t cu = machine_.cu_of.image[t];
    family.places[0].push_back(t);
    family.places[1].push_back(host ? static_cast<std::uint32_t>(cus_) : cu);
    family.places[2].push_back(host ? static_cast<std::uint32_t>(agents_) : machine_.agent_of.image[cu]);
  };
  const auto of_cu = [&](std::uint32_t c) {
    family.places[0].push_back(0);
    family.places[1].push_back(c);
    family.places[2].push_back(machine_.agent_of.image[c]);
  };
  const std::string tag(family.tags.front());
  Per per = Per::system;
  if (tag == ThreadTag::name) per = Per::thread;
  if (tag == CuTag::name) per = Per::cu;
  if (tag == AgentTag::name) per = Per::agent;
  if (tag == WorkGroupTag::name) per = Per::cu;
  if (const auto found = timing_.index_types.find(tag); found != timing_.index_types.end())
    per = found->second.first;
  std::vector<std::uint32_t> cu_of_group(static_cast<std::size_t>(work_groups_), 0);
  for (std::size_t t = 0; t < threads_count(); ++t) {
    if (machine_.is_host.member[t] == 0)
      cu_of_group[machine_.work_group_of.image[t]] = machine_.cu_of.image[t];
  }
  const std::uint32_t members = family.extents.front();
  const std::uint32_t repeat = family.listed && family.extents.size() == 2 ? family.extents[1] : 1;
  for (std::uint32_t i = 0; i < members * (tag == BlockTag::name ? 0 : 1); ++i) {
    for (std::uint32_t j = 0; j < repeat; ++j) {
      if (per == Per::thread && i < threads_count()) {
        of_thread(i);
      } else if (tag == WorkGroupTag::name) {
        of_cu(cu_of_group[i]);
      } else if (per == Per::cu) {
        of_cu(i % static_cast<std::uint32_t>(cus_));
      } else {
        family.places[0].push_back(0);
        family.places[1].push_back(0);
        family.places[2].push_back(per == Per::agent ? i : 0);
      }
    }
  }
}

template <class Info>
void Engine<Info>::set_links() {
  auto given = timing_.links;
  std::vector<std::string> names;
  const auto short_name = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
  std::size_t sparse = 0;
  for (timed::TableInfo& table : binder_.tables) {
    if (table.sparse) table.table->number = static_cast<int>(sparse++);
  }
  of_table_.resize(sparse);
  for (timed::QueueInfo& queue : binder_.queues) {
    const std::string name = short_name(queue.name);
    names.push_back(name);
    const auto found = given.find(name);
    if (found == given.end()) continue;
    link_levels_.push_back({&queue, {}, links_.size()});
    timed::Link link;
    link.latency = static_cast<Tick>(found->second.latency * static_cast<double>(timed::ticks_per_cycle));
    link.ticks_per_byte_256 = static_cast<Tick>(256.0 * static_cast<double>(timed::ticks_per_cycle) /
                                                found->second.bytes_per_cycle);
    link.header_bytes = found->second.header_bytes;
    link.by_kind = &link_levels_.back().traffic;
    for (timed::Link** place : queue.places) {
      links_.push_back(link);
      *place = &links_.back();
    }
    given.erase(found);
  }
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no queue '{}'", Info::name, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
}

template <class Info>
void Engine<Info>::set_caches() {
  auto given = timing_.caches;
  std::vector<std::string> names;
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse) continue;
    const std::string name = table.name.substr(table.name.rfind('.') + 1);
    names.push_back(name);
    const auto found = given.find(name);
    if (found == given.end()) continue;
    const CacheGeometry& geometry = found->second;
    Cache cache;
    cache.table_name = name;
    cache.index = timed::Interleave(geometry.sets, geometry.hashed);
    cache.sets = geometry.sets;
    cache.ways = geometry.ways;
    cache.random = geometry.random;
    cache.table = table.table;
    cache.extents = table.extents;
    std::vector<std::string> optional;
    bool known = false;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      for (std::size_t n = 0; n < families_[f].rules.size(); ++n) {
        RuleInfo& r = rules_[static_cast<std::size_t>(families_[f].rules[n])];
        if (r.fairness != Fairness::optional || families_[f].tags != table.tags) continue;
        optional.push_back(r.name);
        if (r.name != geometry.evict) continue;
        known = true;
        cache.family = static_cast<std::uint16_t>(f);
        cache.rule = static_cast<std::uint16_t>(n);
        cache.unit = r.unit;
        r.cache = static_cast<int>(caches_.size());
      }
    }
    if (!known) {
      machine_error(description_, geometry.place,
                    fmt::format("'{}' is no rule that makes room in '{}'", geometry.evict, name),
                    suggestion(geometry.evict, optional));
    }
    const std::size_t units = cache.extents.size() == 2 ? cache.extents[0] : 1;
    cache.lines.resize(units * cache.sets);
    cache.stalled_since.assign(units * cache.sets, 0);
    of_table_[static_cast<std::size_t>(table.table->number)].cache = static_cast<int>(caches_.size());
    caches_.push_back(std::move(cache));
    given.erase(found);
  }
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no table of blocks '{}'", Info::name, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
}

template <class Info>
void Engine<Info>::set_memory() {
  const MemoryTiming& m = timing_.memory;
  std::vector<std::string> names;
  bool known = false;
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse) continue;
    const std::string name = table.name.substr(table.name.find('.') + 1);
    names.push_back(name);
    if (name != m.table) continue;
    known = true;
    OfTable& use = of_table_[static_cast<std::size_t>(table.table->number)];
    use.is_memory = true;
    use.block_place = static_cast<std::size_t>(
        std::find(table.tags.begin(), table.tags.end(), BlockTag::name) - table.tags.begin());
  }
  if (!known) {
    machine_error(description_, timing_.place,
                  fmt::format("{} has no table '{}' to be memory", Info::name, m.table),
                  suggestion(m.table, names));
  }
  timed::MainMemory::Port ports = 0;
  for (Family& family : families_) {
    family.first_port = ports;
    ports += family.listed ? static_cast<timed::MainMemory::Port>(family.instances) : 1;
  }
  main_memory_.set(m, description_.block_bytes, description_.gigahertz, ports);
  held_.resize(m.kind == MemoryKind::dram ? ports : 0);
  // A replacement's requests count among those of the instance whose firing causes it.
  for (RuleInfo& r : rules_) {
    r.sends =
        r.memory != MemoryUse::none || std::any_of(rules_.begin(), rules_.end(), [&](const RuleInfo& evict) {
          return evict.cache >= 0 && evict.memory != MemoryUse::none && evict.unit == r.unit;
        });
  }
}

// ---- what was counted -------------------------------------------------------------------------------------

template <class Info>
Statistics Engine<Info>::statistics() const {
  const auto cycles = [](Tick t) {
    return static_cast<double>(t) / static_cast<double>(timed::ticks_per_cycle);
  };
  Statistics s;
  s.system = Info::name;
  if (options_.variant != "default") s.system += "/" + options_.variant;
  s.cycles = cycles(last_end_ == 0 ? journal_.now : last_end_);
  s.drained = cycles(journal_.now);
  s.firings = firings_;
  s.lines_invalidated = lines_invalidated_;
  for (std::size_t i = 0; i < level_names_.size(); ++i) s.levels[level_names_[i]] = levels_[i];
  for (const Cache& c : caches_) {
    s.caches.push_back({c.table_name, c.installed, c.replaced, c.dropped, cycles(c.stalled)});
  }
  for (const auto& [queue, traffic, first] : link_levels_) {
    Tick full = 0;
    for (std::size_t i = 0; i < queue->places.size(); ++i) full += links_[first + i].full;
    s.full[queue->name.substr(queue->name.rfind('.') + 1)] = cycles(full);
    for (std::size_t kind = 0; kind < traffic.size(); ++kind) {
      if (traffic[kind].messages == 0) continue;
      s.messages.push_back(
          {queue->name.substr(queue->name.rfind('.') + 1),
           kind < queue->kind_names.size() ? std::string(queue->kind_names[kind]) : "message",
           traffic[kind].messages, traffic[kind].bytes});
    }
  }
  for (const auto& row : paths_) {
    for (const Path& path : row) {
      if (!path.traffic) continue;
      for (std::size_t kind = 0; kind < path.traffic->size(); ++kind) {
        const auto& t = (*path.traffic)[kind];
        if (t.messages > 0) s.messages.push_back({path.name, carried_kinds_[kind], t.messages, t.bytes});
      }
    }
  }
  for (const RuleInfo& r : rules_) {
    s.rules.push_back({r.name, r.unit_name, r.firings, cycles(r.waited)});
    s.unit_waits[r.unit_name] += cycles(r.waited);
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    s.operations.push_back({boost::describe::enum_to_string(static_cast<Operation>(i), "?"),
                            operations_[i].first, cycles(operations_[i].second)});
  }
  s.memory = main_memory_.statistics(journal_.now);
  s.memory.stalled = cycles(memory_stalled_);
  return s;
}

template <class Info>
std::vector<std::string> Engine<Info>::overlooked() {
  std::vector<timed::Event> enabled;
  probing_ = &enabled;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    const std::uint64_t rules = family.fair;
    std::size_t instances = 1;
    for (const std::uint32_t e : family.extents) instances *= e;
    for (std::size_t i = 0; i < instances; ++i) {
      consider_family(static_cast<std::uint16_t>(f), parameters_of(family, i), rules);
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

// The entry of the list of systems; for the system's own translation unit.
template <class Info>
TimedSystem timed_system() {
  return {Info::name,
          [](const Workload& workload, const MachineDescription& machine,
             const SimulationOptions& options) -> std::unique_ptr<Simulator> {
            return std::make_unique<Engine<Info>>(workload, machine, options);
          }};
}

}  // namespace lockstep
