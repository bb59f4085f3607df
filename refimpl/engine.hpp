// An event engine for the rules of one protocol: its state, its rules and those of the program's
// instructions. Everything else is compiled once (event_engine.hpp).
#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checker/systems/sizes.hpp"
#include "refimpl/event_engine.hpp"
#include "refimpl/scheduled.hpp"
#include "refimpl/simulator.hpp"
#include "refimpl/timed.hpp"
#include "spec/program/outstanding.hpp"
#include "spec/program/threads.hpp"

namespace lockstep {

// `Info` describes the memory system, as for System (spec/program/system.hpp).
template <class Info>
class Engine final : public EventEngine {
 public:
  using K = Timed<typename Info::template Sizes<TimedCapacities>>;
  using Memory = typename Info::template Memory<K>;
  using ThreadsOfProgram = Threads<K, typename Memory::State>;
  using State = typename ThreadsOfProgram::State;

  // `entry` is the system's own, of which names of variants and faults are wanted.
  Engine(const Workload& workload, const MachineDescription& machine, const SimulationOptions& options,
         const SystemEntry& entry = find_system(Info::name))
      : EventEngine(workload, machine, options, entry) {
    if constexpr (requires { Info::releases_cover_others(0); }) {
      if (!Info::releases_cover_others(variant_)) refuse_releases_for_others();
    }
    if constexpr (requires { Info::leaves(0); }) {
      if (Info::leaves(variant_) != Outstanding::none) refuse_outstanding();
    }
    machine_.cu_of.image = seats_.cu_of;
    machine_.work_group_of.image = seats_.work_group_of;
    machine_.agent_of.image = seats_.agent_of;
    machine_.is_host.member = seats_.is_host;
    machine_.predecessor_of.image.resize(threads_count());
    std::iota(machine_.predecessor_of.image.begin(), machine_.predecessor_of.image.end(), 0U);
    set_sizes();
    if constexpr (is_scheduled) set_policy();
    k_.bind(state_, binder_);
    describe_rules(static_cast<int>(entry.variants.size()));
    set_up(entry);
    fill_memory();
    begin();
  }

  [[nodiscard]] Lanes word(int location) const override {
    const Location& l = program().locations[static_cast<std::size_t>(location)];
    return memory()
        .final_value(state_.memory, K::template constant<BlockTag>(l.block),
                     K::template constant<WordTag>(l.word))
        .v;
  }

  [[nodiscard]] std::int32_t final_register(std::size_t thread, std::size_t index) const override {
    return state_.context.row(static_cast<std::uint32_t>(thread)).registers.rows.at(index).v.front();
  }

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const K& kind() const { return k_; }

 private:
  static constexpr bool is_scheduled = requires(Memory m) { m.run; };
  struct NoPolicy {};
  using Policy = std::conditional_t<is_scheduled, PolicyOfRun<K>, NoPolicy>;

  [[nodiscard]] Memory memory_with(const Policy& policy, std::uint64_t faults, int variant) const {
    if constexpr (is_scheduled) {
      return Memory{k_, machine_, faults, variant, &policy};
    } else {
      return Memory{k_, machine_, faults, variant};
    }
  }
  [[nodiscard]] Memory memory() const { return memory_with(policy_, fault_bits_, variant_); }
  [[nodiscard]] ThreadsOfProgram threads_of_program() const { return {k_, machine_, program(), counted_}; }

  // ---- setting up ----------------------------------------------------------------------------------------

  // Sizes that follow from neither the program nor other sizes.
  template <class Tag>
  static constexpr bool may_be_said = FreeSize<Tag> || (Tag::fixed && !std::is_same_v<Tag, RegisterTag> &&
                                                        !std::is_same_v<Tag, WordTag>);

  void set_sizes() {
    auto& sizes = k_.sizes;
    sizes.template set<BlockTag>(blocks_needed());
    sizes.template set<ThreadTag>(static_cast<int>(threads_count()));
    sizes.template set<RegisterTag>(most_registers);
    sizes.template set<WorkGroupTag>(work_groups_);
    sizes.template set<CuTag>(cus_);
    sizes.template set<AgentTag>(agents_);
    sizes.template set<WordTag>(description_.words_per_block());
    Info::default_sizes(sizes, variant_);
    std::vector<std::string> queues;
    sizes.visit([&]<class Tag>(Tag, int&) {
      if (may_be_said<Tag>) queues.emplace_back(Tag::name);
    });
    const auto said = queue_sizes(queues);
    sizes.visit([&]<class Tag>(Tag, int& size) {
      if (const auto found = said.find(std::string(Tag::name)); found != said.end()) size = found->second;
    });
  }

  void set_policy() {
    policy_.setup = setup_of_policy();
    k_.sizes.template set<OrderTag>(work_groups_);
    policy_.order.image.resize(static_cast<std::size_t>(work_groups_));
    std::iota(policy_.order.image.begin(), policy_.order.image.end(), 0U);
    policy_.threads_of.resize(static_cast<std::size_t>(work_groups_));
    for (std::uint32_t t = 0; t < threads_count(); ++t) {
      if (seats_.is_host[t] == 0) policy_.threads_of[seats_.work_group_of[t]].push_back(t);
    }
    policy_.asks_to_wait = [this](std::uint32_t t) {
      const auto& code = program().threads[t].code;
      return place_of(t) < code.size() && code[place_of(t)].waits;
    };
  }

  template <class AnyMemory>
  void note_names(const AnyMemory& of) {
    RuleList<K, typename AnyMemory::State> rules(k_);
    rules.keep(of).rules(rules);
    for (const auto& value : rules.values()) rules_of_variants_.insert(std::string(value.rule.name));
  }
  // A variant may have other rules at sizes of its own.
  void note_rules_of_variant(int variant) {
    K kind = k_;
    Info::default_sizes(kind.sizes, variant);
    if constexpr (is_scheduled) {
      note_names(Memory{kind, machine_, 0, variant, &policy_});
    } else {
      note_names(Memory{kind, machine_, 0, variant});
    }
  }
  // Whatever policies do may be timed by a machine file, whether one runs or not.
  void note_rules_of_policies() {
    using Watched = std::conditional_t<is_scheduled, Memory, ScheduledMemory<Memory, K>>;
    for (const NamedWaitingPolicy& named : waiting_policies) {
      for (const bool expiry_resumes : {false, true}) {
        PolicyOfRun<K> policy;
        policy.setup.policy = named.policy;
        policy.setup.timeouts = Timeouts::all;
        policy.setup.readings.expiry_resumes = expiry_resumes;
        note_names(Watched{k_, machine_, 0, variant_, &policy});
      }
    }
  }

  // The rules of the instructions, once for each opcode.
  struct DescribeCases {
    Engine& engine;
    std::array<int, 4>& cases;
    std::size_t next = 0;
    template <class... Tags, class Guard, class Action>
    void rule(const Rule& rule, Over<Tags...>, Guard&&, Action&&) {
      cases.at(next++) = engine.add_case(rule);
    }
  };
  void describe_rules(int variants) {
    for (int v = 0; v < variants; ++v) note_rules_of_variant(v);
    if constexpr (PerformsAtOnce<Info>) note_rules_of_policies();
    RuleList<K, typename Memory::State> of_memory(k_);
    of_memory.keep(memory()).rules(of_memory);
    listed_.part(of_memory, &State::memory);
    // The rules of work-groups come behind those of memory.
    if (has_barriers()) listed_.keep(threads_of_program()).rules_of_work_groups(listed_);
    list_rules(listed_.values(), &state_);
    for (std::size_t t = 0; t < threads_count(); ++t) {
      const Thread& thread = program().threads[t];
      for (std::size_t pc = 0; pc < thread.code.size(); ++pc) {
        const Instruction& at = thread.code[pc];
        auto& cases = cases_of(at);
        if (cases[0] >= 0) continue;
        DescribeCases describe_cases{*this, cases};
        threads_of_program().rules_of(describe_cases, static_cast<int>(t), static_cast<int>(pc));
        if (at.slot == 0 || cases_of_slots()[0] >= 0) continue;
        DescribeCases describe_cases_of_slots{*this, cases_of_slots()};
        threads_of_program().rules_of(describe_cases_of_slots, static_cast<int>(t) + at.slot,
                                      static_cast<int>(pc));
      }
    }
  }

  void fill_memory() {
    const Memory m = memory();
    if constexpr (is_scheduled) m.start(state_.memory);
    const auto& locations = program().locations;
    for (std::size_t i = 0; i < locations.size(); ++i) {
      m.initialise(state_.memory, K::template constant<BlockTag>(locations[i].block),
                   K::template constant<WordTag>(locations[i].word), typename K::Value(workload_.initial[i]));
    }
    place_blocks(m);
    threads_of_program().start(state_);
  }
  // As the machine file has them: where the system finds a block's home itself, this comes first.
  void place_blocks(const Memory& m) {
    if constexpr (requires(typename Memory::Block b, typename Memory::Agent a) {
                    m.place(state_.memory, b, a);
                  }) {
      const int blocks_of_program = blocks_needed();
      for (int b = 0; b < blocks_of_program; ++b) {
        if (const auto home = home_of(b))
          m.place(state_.memory, K::template constant<BlockTag>(b), K::template constant<AgentTag>(*home));
      }
    } else {
      refuse_homes();
    }
  }

  // ---- threads -------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t place_of(std::uint32_t thread) const override {
    return static_cast<std::size_t>(state_.context.row(thread).pc.v);
  }
  [[nodiscard]] ThreadStatus status_of(std::uint32_t thread) const override {
    const auto& port = state_.memory.port.row(thread);
    const Operation operation = port.request.operation.v;
    return {port.ended.v, state_.context.row(thread).failed.v, port.pending.v, operation,
            operation != Operation::fence && port.request.order.v != Order::plain};
  }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t thread) const override {
    return state_.memory.port.row(thread).request.block.v;
  }
  [[nodiscard]] bool drained() const override { return memory().drained(state_.memory).v; }

  // The rules of a thread's instruction, all over(): which they are rests on where the thread is.
  struct ConsiderCases {
    Engine& engine;
    Parameters at;
    std::uint64_t mask;
    std::uint16_t next = first_case;
    template <class Guard, class Action>
    void rule(const Rule&, Over<>, Guard&& guard, Action&&) {
      const std::uint16_t n = next++;
      if (((mask >> n) & 1U) == 0) return;
      engine.begin_guard();
      (void)std::as_const(engine.state_).context(typename K::template Ix<ThreadTag>{at.a});
      timed::reads.pin();
      engine.judge(engine.threads_family_, at, n, Bool(guard(std::as_const(engine.state_))));
    }
  };
  struct FireCase {
    Engine& engine;
    Parameters at;
    std::uint16_t wanted;
    bool fired = false;
    std::uint16_t next = first_case;
    template <class Guard, class Action>
    void rule(const Rule&, Over<>, Guard&& guard, Action&& action) {
      if (next++ != wanted) return;
      const auto enabled = [&] {
        (void)std::as_const(engine.state_).context(typename K::template Ix<ThreadTag>{at.a});
        timed::reads.pin();
        return Bool(guard(std::as_const(engine.state_)));
      };
      if (!engine.may_fire(engine.threads_family_, at, wanted, enabled)) return;
      action(engine.state_);
      engine.go_on(at.a);
      if (const std::int32_t cycles = engine.k_.taken_pause(); cycles > 0) engine.pause(at.a, cycles);
      fired = true;
    }
  };

  // More code, where the thread has come to the end of what there is.
  void go_on(std::uint32_t t) {
    if (source_ == nullptr) return;
    Thread& self = workload_.program.threads[t];
    if (!source_->is_at_mark(t, self, place_of(t))) return;
    auto& context = state_.context(typename K::template Ix<ThreadTag>{t});
    const auto registers = [&](int r) -> Lanes& {
      return context.registers.rows[static_cast<std::size_t>(r)].v;
    };
    if (const int place = source_->write(t, self, registers); place >= 0) context.pc = place;
  }

  std::uint16_t consider_cases(Parameters at, std::uint64_t mask) override {
    ConsiderCases reader{*this, at, mask};
    threads_of_program().rules_of(reader, static_cast<int>(at.a), state_.context.row(at.a).pc.v);
    return reader.next;
  }
  CaseFired fire_case(Parameters at, std::uint16_t rule) override {
    FireCase reader{*this, at, rule};
    threads_of_program().rules_of(reader, static_cast<int>(at.a), state_.context.row(at.a).pc.v);
    return {reader.fired, reader.next > rule};
  }

  K k_;
  Machine<K> machine_;
  Policy policy_;
  std::unique_ptr<CodeSource> source_ = workload_.source ? workload_.source() : nullptr;
  CountedBarriers counted_{program()};
  State state_;
  RuleList<K, State> listed_{k_};  // all but those of threads' instructions
};

// The entry of the list of systems; for the system's own translation unit. Where a waiting policy can watch
// it, that policy's name may stand in place of a variant's.
template <class Info>
TimedSystem timed_system() {
  return {Info::name,
          [](const Workload& workload, const MachineDescription& machine,
             const SimulationOptions& options) -> std::unique_ptr<Simulator> {
            if constexpr (PerformsAtOnce<Info>) {
              if (options.policy)
                return std::make_unique<Engine<ScheduledInfo<Info>>>(workload, machine, options);
            }
            return std::make_unique<Engine<Info>>(workload, machine, options);
          },
          PerformsAtOnce<Info>};
}

}  // namespace lockstep
