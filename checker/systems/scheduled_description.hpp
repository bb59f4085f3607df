// A program under a progress model, on a memory system that performs every request at once, as expression
// trees. Included by the translation unit of the system's trees.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/program_description.hpp"
#include "checker/systems/scheduled_system.hpp"

namespace lockstep {

// At the sizes that build_scheduled_model would give it. Throws BadInput under a policy.
template <class Info>
recorded::WholeDescription describe_scheduled(std::shared_ptr<const Program> program,
                                              const SystemOptions& options, const SystemEntry& entry) {
  if (options.scheduler->is_policy)
    throw BadInput("the queues of a waiting policy tell work-groups apart",
                   "ask of progress models, or without --symmetry");
  if (options.scheduler->slots != 0 || options.scheduler->any_slots)
    throw BadInput("a bound on slots counts work-groups, which no tree says", "ask without slots");
  using K = Recorded<ScheduledSizes<Info>>;
  using Sys = ScheduledSystem<Info, ProgressModels, K>;
  const PlacementTable placement = place(*program);
  WorkGroupOrder<K> order;
  order.name = "order_of";
  const Sys system(K(scheduled_sizes<Info>(*program, placement, options, entry)), named_machine<K>(), order,
                   program, *options.scheduler, fault_mask(entry, options.faults),
                   variant_index(entry, options.variant));
  recorded::WholeDescription whole;
  const ValueRange values = options.value_range.value_or(values_of(*program));
  whole.value_low = values.low;
  whole.value_high = values.high;
  whole.functions = rigid_functions(placement);
  whole.functions.push_back({"order_of", std::string(WorkGroupTag::name), std::string(OrderTag::name),
                             work_group_ids(*program, placement)});
  recorded::describe_system(system, system.kind(), whole);
  // To whom execution is owed has to be kept, too.
  for (std::size_t t = 0; t < program->threads.size(); ++t) {
    whole.assertions.push_back(
        {fmt::format("thread {} is owed its execution", t),
         recorded::record_expression<K, typename Sys::State>([&](const typename Sys::State& s) {
           return system.owes(s, K::template constant<ThreadTag>(static_cast<int>(t)));
         }),
         {}});
  }
  whole.program = std::move(program);
  return whole;
}

}  // namespace lockstep
