// A memory system as expression trees: alone, or with the threads of a program. Included by a translation
// unit of the system's own, apart from that of its model: what only prints and analyses is not optimized.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "checker/systems/program_system.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// The system with the threads of a program, as trees, at the sizes that build_program_model would give it.
template <class Info>
recorded::WholeDescription describe_program_system(std::shared_ptr<const Program> program,
                                                   const SystemOptions& options, const SystemEntry& entry) {
  using K = Recorded<typename Info::template Sizes<FullCapacities>>;
  using Sys = System<Info, K>;
  const PlacementTable placement = place(*program);
  const Sys system(K(sizes_for<Info>(*program, placement, options, entry)), named_machine<K>(), program,
                   fault_mask(entry, options.faults), variant_index(entry, options.variant));
  recorded::WholeDescription whole;
  const ValueRange values = options.value_range.value_or(values_of(*program));
  whole.value_low = values.low;
  whole.value_high = values.high;
  whole.functions = rigid_functions(placement);
  recorded::describe_system(system, system.kind(), whole);
  using State = typename Sys::State;
  for (std::size_t t = 0; t < program->threads.size(); ++t) {
    auto& registers = whole.final_registers.emplace_back();
    for (std::size_t r = 0; r < program->threads[t].registers.size(); ++r) {
      registers.push_back(recorded::record_expression<K, State>([&](const State& s) {
        return s.context(K::template constant<ThreadTag>(static_cast<int>(t)))
            .registers(K::template constant<RegisterTag>(static_cast<int>(r)));
      }));
    }
  }
  for (const Location& location : program->locations) {
    whole.final_locations.push_back(recorded::record_expression<K, State>(
        [&](const State& s) { return system.final_value(s, location); }));
  }
  whole.program = std::move(program);
  return whole;
}

// The memory system's rules as trees, at two members of every index type.
template <class Info>
recorded::Description describe_memory(const SystemOptions& options, const SystemEntry& entry) {
  using Sizes = typename Info::template Sizes<FullCapacities>;
  using K = Recorded<Sizes>;
  using Memory = typename Info::template Memory<K>;
  const int variant = variant_index(entry, options.variant);
  Sizes sizes;
  sizes.visit([]<class Tag>(Tag, int& size) { size = std::min(2, Tag::capacity); });
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  const K k(sizes);
  const Machine<K> machine = named_machine<K>();
  recorded::Description description;
  const Memory memory{k, machine, fault_mask(entry, options.faults), variant};
  recorded::describe_rules<K, typename Memory::State>(memory, k, description);
  const recorded::Recorder recorder;
  typename Memory::State state;
  recorded::list_fields_of<K>(state, description.fields);
  return description;
}

}  // namespace lockstep
