// Building the model of a program on one memory system: the sizes a program needs, the machine it is placed
// on, and the entry of the registry. Included by the system's own translation unit only.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/language/test.hpp"
#include "checker/needs/placement.hpp"
#include "checker/needs/slots.hpp"
#include "checker/needs/values.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/guard_reads.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"
#include "checker/systems/tree_rules.hpp"
#include "checker/systems/wakes.hpp"
#include "spec/kernel/at_once.hpp"
#include "spec/program/claims.hpp"
#include "spec/program/outstanding.hpp"
#include "spec/program/system.hpp"

namespace lockstep {

// What liveness asks, of a state of the threads of a program; `owes(t)`: the scheduler owes thread t.
template <class K, class MachineState, class Owes>
StateFacts facts_of(const Program& program, const MachineState& machine, Owes&& owes) {
  StateFacts facts;
  facts.owed = 0;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    if (program.threads[t].slot_of >= 0) continue;
    const auto i = K::template constant<ThreadTag>(static_cast<int>(t));
    const std::uint32_t bit = std::uint32_t{1} << t;
    if (K::truth(machine.port(i).ended)) {
      facts.ended |= bit;
    } else if (K::truth(owes(i))) {
      facts.owed |= bit;
    }
  }
  for (const Section& section : program.sections) {
    for (const Stretch& stretch : section.stretches) {
      if (K::truth(is_within<K>(machine, stretch))) facts.progressing |= std::uint32_t{1} << stretch.thread;
    }
  }
  return facts;
}

template <class Info, class Sizes>
class ModelOfProgram final : public CompiledModel<System<Info, Concrete<Sizes>>, ProgramModel> {
 public:
  using K = Concrete<Sizes>;
  using Sys = System<Info, K>;
  using CompiledModel<Sys, ProgramModel>::CompiledModel;

  [[nodiscard]] std::int32_t final_register(const std::uint64_t* state, int thread,
                                            int index) const override {
    return this->load(state)
        .context(K::template constant<ThreadTag>(thread))
        .registers(K::template constant<RegisterTag>(index))
        .v;
  }
  [[nodiscard]] std::int32_t final_location(const std::uint64_t* state, int index) const override {
    const Location& location = this->system().program().locations[static_cast<std::size_t>(index)];
    return this->system().final_value(this->load(state), location).v;
  }
  [[nodiscard]] StateFacts facts(const std::uint64_t* state) const override {
    return facts_of<K>(this->system().program(), this->load(state),
                       [](auto) { return typename K::Bool(true); });
  }
};

template <class Sizes>
Concrete<Sizes> kind_for(const Sizes& sizes, const Program& program, const SystemOptions& options) {
  Concrete<Sizes> k;
  k.sizes = sizes;
  k.set_value_range(options.value_range.value_or(values_of(program)));
  return k;
}

template <class K>
Machine<K> placed(const PlacementTable& placement) {
  Machine<K> machine{};
  for (std::size_t t = 0; t < placement.host.size(); ++t) {
    machine.is_host.member[t] = placement.host[t];
    machine.cu_of.image[t] = static_cast<std::uint8_t>(placement.cu_of_thread[t]);
    machine.work_group_of.image[t] = machine.cu_of.image[t];
    machine.predecessor_of.image[t] = static_cast<std::uint8_t>(placement.predecessor[t]);
  }
  for (std::size_t c = 0; c < placement.agent_of_cu.size(); ++c) {
    machine.agent_of.image[c] = static_cast<std::uint8_t>(placement.agent_of_cu[c]);
  }
  return machine;
}

// How people read a program's instruction: "P0: ld r0, x".
inline auto instruction_text(std::shared_ptr<const Program> program) {
  return [program = std::move(program)](const Instruction& i, int thread) {
    return program->threads[static_cast<std::size_t>(thread)].name + ": " +
           print_instruction(i, *program, thread);
  };
}

// Reductions that follow from a system's trees; none where they are not wanted.
struct Derived {
  std::shared_ptr<const footprint::StubbornSets> stubborn;
  std::shared_ptr<const footprint::DeadFields> dead;
};

// Of a system with a program, as it was recorded, from its initial state of that many bytes. What the program
// asserts is watched; invariants are not. `memory_observed`: whether somebody reads the final locations.
// Where claims are rested on, of rules that wait where they may.
Derived derive_reductions(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
                          const std::vector<bool>& fair, const std::byte* initial, std::size_t bytes,
                          bool memory_observed, const Reductions& wanted);

// Has a model do what its trees are asked for: explore by those reductions that are wanted of them, walk the
// tree of a rule that is changed, and hold trees against rules. `describe()` gives them; `part` as in
// mutated().
template <class CompiledModel, class Describe>
void read_trees(CompiledModel& model, const Reductions& wanted, const SystemOptions& options,
                std::string_view part, Describe&& describe) {
  const bool reduces = wanted.stubborn || wanted.dead;
  if (!reduces && !options.mutation && !options.check_footprints) return;
  const recorded::WholeDescription whole = with_mutation(describe(), options, part);
  if (reduces) {
    const auto initial = model.first_state();
    Derived derived = derive_reductions(whole, model.places(), model.engine().fair_instances(),
                                        reinterpret_cast<const std::byte*>(initial.get()), sizeof(*initial),
                                        options.memory_observed, wanted);
    model.reduce(std::move(derived.stubborn), std::move(derived.dead));
  }
  walk_trees(model, options, whole);
}

template <class Info, template <class> class Claims, class Sizes>
std::unique_ptr<ProgramModel> model_of_program(const Sizes& sizes, std::shared_ptr<const Program> program,
                                               const PlacementTable& placement, const SystemOptions& options,
                                               const SystemEntry& entry) {
  using K = Concrete<Sizes>;
  System<Info, K> system(kind_for<Sizes>(sizes, *program, options), placed<K>(placement), program,
                         fault_mask(entry, options.faults), variant_index(entry, options.variant));
  Reductions reductions = options.reductions;
  // Without trees nothing can be derived from them.
  if (entry.describe_whole == nullptr) reductions.stubborn = reductions.dead = false;
  if (options.mutation) reductions.at_once = false;
  auto model =
      std::make_unique<ModelOfProgram<Info, Sizes>>(std::move(system), reductions, instruction_text(program));
  if (entry.describe_whole != nullptr)
    read_trees(*model, reductions, options, "memory", [&] { return entry.describe_whole(program, options); });
  // A thread's request follows from where it is (spec/program/threads.hpp).
  if (!options.mutation && (options.many_states || options.check_footprints))
    ask_by_trees(*model, entry, options, {"memory", {"memory.port", "context"}, rigid_functions(placement)});
  model->check_footprints(options.check_footprints);
  if constexpr (has_claims<Claims, K>) {
    if (reductions.at_once) {
      using State = typename System<Info, K>::State;
      using Memory = typename System<Info, K>::Memory;
      const K& k = model->system().kind();
      AtOnceList<K, typename Memory::State> of_memory(k);
      const Claims<K> claims{of_memory.keep(model->system().memory())};
      claims.at_once(of_memory);
      AtOnceList<K, State> at_once(k);
      at_once.part(of_memory, &State::memory);
      InvariantList<K, State> lemmas;
      if constexpr (requires(InvariantList<K, typename Memory::State> & list) { claims.lemmas(list); }) {
        InvariantList<K, typename Memory::State> lemmas_of_memory;
        claims.lemmas(lemmas_of_memory);
        lemmas.part(lemmas_of_memory, &State::memory);
      }
      std::vector<AtOnceValue<ConcreteErased>> taken;
      std::vector<AtOnceValue<ConcreteErased>> waits;
      for (const AtOnceValue<ConcreteErased>& claim : at_once.values()) {
        if (!reductions.invariants || claim.mending != may_mend)
          (claim.why == WhyAtOnce::waits ? waits : taken).push_back(claim);
      }
      auto wakes = wakes_of(entry, options, model->engine().lists().rules, taken);
      model->rest_on({std::move(taken),
                      std::move(waits),
                      lemmas.values(),
                      std::move(wakes),
                      {at_once.kept(), lemmas.kept()}});
    }
  }
  return model;
}

// The smallest sizes that a placed program and its memory system need, or what the user asks for.
template <class Info, class Capacities = FullCapacities>
typename Info::template Sizes<Capacities> sizes_for(const Program& program, const PlacementTable& placement,
                                                    const SystemOptions& options, const SystemEntry& entry) {
  using Sizes = typename Info::template Sizes<Capacities>;
  check_capacity(program, placement, Sizes::template capacity<ThreadTag>(),
                 Sizes::template capacity<CuTag>());
  Sizes sizes;
  sizes.template set<ThreadTag>(static_cast<int>(program.threads.size()));
  sizes.template set<RegisterTag>(placement.registers);
  sizes.template set<WorkGroupTag>(placement.cus);
  sizes.template set<CuTag>(placement.cus);
  sizes.template set<AgentTag>(placement.agents);
  sizes.template set<BlockTag>(placement.blocks);
  sizes.template set<WordTag>(placement.words);
  Info::default_sizes(sizes, variant_index(entry, options.variant));
  apply_sizes(sizes, options, []<class Tag>(Tag) {
    return (!Tag::fixed && !FreeSize<Tag>) || std::is_same_v<Tag, RegisterTag> ||
           std::is_same_v<Tag, WordTag>;
  });
  return sizes;
}

// The program as threads of the system issue it (spec/program/outstanding.hpp), if it is not already.
template <class Info>
std::shared_ptr<const Program> as_issued(std::shared_ptr<const Program> program, const SystemOptions& options,
                                         const SystemEntry& entry) {
  if constexpr (requires { Info::leaves(0); }) {
    const int variant = variant_index(entry, options.variant);
    if (Info::leaves(variant) == Outstanding::none) return program;
    if (is_issued(*program)) return program;
    refuse_slots(*program, "threads of " + std::string(entry.name) + " have slots of their own");
    typename Info::template Sizes<FullCapacities> sizes;
    Info::default_sizes(sizes, variant);
    apply_sizes(sizes, options, [](auto) { return false; });
    return std::make_shared<const Program>(
        with_outstanding(*program, Info::leaves(variant), Info::most_left(sizes)));
  } else {
    return program;
  }
}

// Of sizes that small capacities do not hold. A unit of its own makes it (full_models.hpp): it takes as long
// to compile as the one for small sizes.
template <class Info, template <class> class Claims>
std::unique_ptr<ProgramModel> full_model_of_program(
    const typename Info::template Sizes<FullCapacities>& sizes, std::shared_ptr<const Program> program,
    const PlacementTable& placement, const SystemOptions& options, const SystemEntry& entry);

template <class Info, template <class> class Claims = NoClaims>
std::unique_ptr<ProgramModel> build_program_model(std::shared_ptr<const Program> program,
                                                  const SystemOptions& options, const SystemEntry& entry) {
  if constexpr (requires { Info::releases_cover_others(0); }) {
    if (!Info::releases_cover_others(variant_index(entry, options.variant)))
      refuse_slots(*program, "releases on " + std::string(entry.name) + "/" + options.variant +
                                 " order their own thread's accesses alone");
  }
  program = as_issued<Info>(std::move(program), options, entry);
  const PlacementTable placement = place(*program);
  const auto sizes = sizes_for<Info>(*program, placement, options, entry);
  if constexpr (compiles_small_states) {
    typename Info::template Sizes<SmallCapacities> small;
    if (fits(sizes, small)) {
      return model_of_program<Info, Claims>(small, std::move(program), placement, options, entry);
    }
  }
  return full_model_of_program<Info, Claims>(sizes, std::move(program), placement, options, entry);
}

// The registry's entry for a memory system.
template <class Info, template <class> class Claims>
SystemEntry program_system_entry() {
  SystemEntry entry;
  entry.name = Info::name;
  entry.what = Info::what;
  entry.faults = Info::faults;
  entry.variants = Info::variants;
  entry.sizes = describe_sizes<Info>();
  if constexpr (requires { Info::only_if_named; }) entry.only_if_named = Info::only_if_named;
  entry.claims = has_claims<Claims, Concrete<typename Info::template Sizes<FullCapacities>>>;
  entry.build = [](std::shared_ptr<const Program> program, const SystemOptions& options) {
    return build_program_model<Info, Claims>(std::move(program), options, find_system(Info::name));
  };
  return entry;
}

}  // namespace lockstep
