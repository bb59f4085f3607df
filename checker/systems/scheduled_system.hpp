// Building the model of a program under a scheduler on one memory system. Included by a translation unit of
// the memory system's own.
#pragma once

#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "checker/scheduling/setup.hpp"
#include "checker/systems/contract.hpp"
#include "checker/systems/program_system.hpp"
#include "checker/systems/scheduled_registry.hpp"
#include "spec/scheduler/progress_models.hpp"
#include "spec/scheduler/scheduled.hpp"
#include "spec/scheduler/waiting_policies.hpp"

namespace lockstep {

template <class Info>
inline constexpr bool performs_at_once = requires {
  requires Info::performs_at_once;
};
// Where every request is performed at once there is room for more threads.
template <class Info>
using CapacitiesOf = std::conditional_t<performs_at_once<Info>, ScheduledCapacities, FullCapacities>;
template <class Info>
using ScheduledSizes = typename ScheduledSizesOf<typename Info::template Sizes<CapacitiesOf<Info>>>::type;

template <class Info, template <class> class Scheduler>
class ModelOfScheduled final
    : public CompiledModel<ScheduledSystem<Info, Scheduler, Concrete<ScheduledSizes<Info>>>, ProgramModel> {
 public:
  using K = Concrete<ScheduledSizes<Info>>;
  using Sys = ScheduledSystem<Info, Scheduler, K>;
  using CompiledModel<Sys, ProgramModel>::CompiledModel;

  [[nodiscard]] std::int32_t final_register(const std::uint64_t* state, int thread,
                                            int index) const override {
    return this->load(state)
        .machine.context(K::template constant<ThreadTag>(thread))
        .registers(K::template constant<RegisterTag>(index))
        .v;
  }
  [[nodiscard]] std::int32_t final_location(const std::uint64_t* state, int index) const override {
    const Location& location = this->system().program().locations[static_cast<std::size_t>(index)];
    return this->system().final_value(this->load(state), location).v;
  }
  [[nodiscard]] StateFacts facts(const std::uint64_t* packed) const override {
    const auto state = this->load(packed);
    return facts_of<K>(this->system().program(), state.machine,
                       [&](auto i) { return this->system().owes(state, i); });
  }
};

// The place of each work-group in the order of their numbers in the program, whatever the order in which its
// threads name them; those of equal number in the order of agents.
inline std::vector<int> work_group_ids(const Program& program, const PlacementTable& placement) {
  std::map<std::pair<int, int>, int> cu_of_number;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const Placement& at = program.threads[t].placement;
    if (!at.host) cu_of_number[{at.wg, at.agent}] = placement.cu_of_thread[t];
  }
  std::vector<int> ids(static_cast<std::size_t>(placement.cus), 0);
  int next = 0;
  for (const auto& [number, cu] : cu_of_number) ids[static_cast<std::size_t>(cu)] = next++;
  return ids;
}

template <class Info>
ScheduledSizes<Info> scheduled_sizes(const Program& program, const PlacementTable& placement,
                                     const SystemOptions& options, const SystemEntry& entry) {
  ScheduledSizes<Info> sizes;
  auto memory_sizes = sizes_for<Info, CapacitiesOf<Info>>(program, placement, options, entry);
  memory_sizes.visit([&]<class Tag>(Tag, int size) { sizes.template set<Tag>(size); });
  sizes.template set<OrderTag>(std::max(1, placement.cus));
  return sizes;
}

template <class Info, template <class> class Scheduler>
std::unique_ptr<ProgramModel> model_of_scheduled(std::shared_ptr<const Program> program,
                                                 const PlacementTable& placement,
                                                 const SystemOptions& options) {
  const SystemEntry& entry = find_system(Info::name);
  using Model = ModelOfScheduled<Info, Scheduler>;
  using K = typename Model::K;
  const auto sizes = scheduled_sizes<Info>(*program, placement, options, entry);
  WorkGroupOrder<K> order{};
  const std::vector<int> ids = work_group_ids(*program, placement);
  for (std::size_t w = 0; w < ids.size(); ++w) order.image.at(w) = static_cast<std::uint8_t>(ids[w]);
  typename Model::Sys system(kind_for(sizes, *program, options), placed<K>(placement), order, program,
                             *options.scheduler, fault_mask(entry, options.faults),
                             variant_index(entry, options.variant));
  return std::make_unique<Model>(std::move(system), options.reductions.only_moves(),
                                 instruction_text(std::move(program)));
}

template <class Info>
std::unique_ptr<ProgramModel> build_scheduled_model(std::shared_ptr<const Program> program,
                                                    const SystemOptions& options) {
  refuse_slots(*program, "schedulers look at a thread's own port");
  const PlacementTable placement = place(*program);
  check_setup(*options.scheduler, placement.cus, placement.agents, performs_at_once<Info>, Info::name);
  if constexpr (HasMonitor<Info>) {
    if (options.scheduler->is_policy)
      return model_of_scheduled<Info, WaitingPolicies>(std::move(program), placement, options);
  }
  return model_of_scheduled<Info, ProgressModels>(std::move(program), placement, options);
}

// What the translation unit of a memory system with schedulers registers.
template <class Info>
struct RegisteredWithSchedulers {
  explicit RegisteredWithSchedulers(std::string_view header) {
    if constexpr (RunsPrograms<Info, Concrete>) {
      ScheduledEntry entry{.build = build_scheduled_model<Info>, .performs_at_once = performs_at_once<Info>};
      if constexpr (HasMonitor<Info>) entry.monitor = Info::monitor;
      const RegisteredScheduled registered(origin<Info>(header), entry);
    }
  }
};

}  // namespace lockstep
