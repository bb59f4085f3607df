// A memory system as expression trees: alone, or with the threads of a program. Included by a translation
// unit of the system's own, apart from that of its model: what only prints and analyses is not optimized.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/systems/program_system.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// What a system lists of its client, or of its memory system, alone.
template <class System>
struct ClientOf {
  using State = typename System::State;
  const System& system;
  void rules(RuleList<typename System::Kind, State>& r) const { system.client_rules(r); }
  void invariants(InvariantList<typename System::Kind, State>&) const {}
  void assertions(InvariantList<typename System::Kind, State>& v) const { system.assertions(v); }
  void start(StartList<typename System::Kind, State>& s) const { system.start(s); }
  void restore(State& s) const { system.restore(s); }
  [[nodiscard]] auto proper_end(const State& s) const { return system.proper_end(s); }
};
template <class System>
struct MemoryOf {
  const System& system;
  void rules(RuleList<typename System::Kind, typename System::State>& r) const { system.memory_rules(r); }
  void invariants(InvariantList<typename System::Kind, typename System::State>& v) const {
    system.invariants(v);
  }
};

// Trees of memory systems that were asked for before: what takes longest to record is the same for every
// program. Safe to use from several threads at once.
class RecordedMemories {
 public:
  using Key = std::tuple<std::vector<int>, std::uint64_t, int>;  // sizes, faults, variant

  template <class Record>
  std::shared_ptr<const recorded::Description> find(const Key& key, Record&& record) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    auto made = std::make_shared<const recorded::Description>(record());
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= most) known_.clear();
    return known_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  static constexpr std::size_t most = 64;  // some megabytes each
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const recorded::Description>> known_;
};

// The system with the threads of a program, and what is claimed to wait of its memory, as trees, at the sizes
// that build_program_model would give it.
template <class Info, template <class> class Claims>
recorded::WholeDescription describe_program_system(std::shared_ptr<const Program> program,
                                                   const SystemOptions& options, const SystemEntry& entry) {
  using K = Recorded<typename Info::template Sizes<FullCapacities>>;
  using Sys = System<Info, K>;
  program = as_issued<Info>(std::move(program), options, entry);
  const PlacementTable placement = place(*program);
  const Sys system(K(sizes_for<Info>(*program, placement, options, entry)), named_machine<K>(), program,
                   fault_mask(entry, options.faults), variant_index(entry, options.variant));
  recorded::WholeDescription whole;
  const ValueRange values = options.value_range.value_or(values_of(*program));
  whole.value_low = values.low;
  whole.value_high = values.high;
  whole.functions = rigid_functions(placement);
  using State = typename Sys::State;
  recorded::describe_system(ClientOf<Sys>{system}, system.kind(), whole);
  static RecordedMemories memories;
  RecordedMemories::Key key{{}, fault_mask(entry, options.faults), variant_index(entry, options.variant)};
  auto sizes = system.kind().sizes;
  sizes.visit([&](auto, int& size) { std::get<0>(key).push_back(size); });
  const auto memory = memories.find(key, [&] {
    recorded::Description description;
    recorded::describe_rules<K, State>(MemoryOf<Sys>{system}, system.kind(), description);
    if constexpr (has_claims<Claims, K>) {
      const recorded::Recorder constants;
      AtOnceList<K, typename Sys::MemoryState> of_memory(system.kind());
      Claims<K>{of_memory.keep(system.memory())}.at_once(of_memory);
      AtOnceList<K, State> claims(system.kind());
      claims.part(of_memory, &State::memory);
      auto waiting = claims.values();
      std::erase_if(waiting, [](const auto& claim) { return claim.why != WhyAtOnce::waits; });
      recorded::read_claims(waiting, recorded::bound_state<K, State>, description.claims);
    }
    return description;
  });
  whole.rules.insert(whole.rules.end(), memory->rules.begin(), memory->rules.end());
  whole.invariants = memory->invariants;
  whole.claims = memory->claims;
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

// The memory system's rules and what is claimed of them as trees, at two members of every index type.
template <class Info, template <class> class Claims, class Capacities = FullCapacities>
recorded::Description describe_memory(const SystemOptions& options, const SystemEntry& entry) {
  using Sizes = typename Info::template Sizes<Capacities>;
  using K = Recorded<Sizes>;
  using Memory = typename Info::template Memory<K>;
  const int variant = variant_index(entry, options.variant);
  Sizes sizes;
  sizes.visit([]<class Tag>(Tag, int& size) { size = std::min(2, Sizes::template capacity<Tag>()); });
  Info::default_sizes(sizes, variant);
  apply_sizes(sizes, options, [](auto) { return false; });
  const K k(sizes);
  const Machine<K> machine = named_machine<K>();
  recorded::Description description;
  const Memory memory{k, machine, fault_mask(entry, options.faults), variant};
  using State = typename Memory::State;
  recorded::describe_rules<K, State>(memory, k, description);
  const recorded::Recorder recorder;
  if constexpr (has_claims<Claims, K>) {
    AtOnceList<K, State> claims(k);
    Claims<K>{memory}.at_once(claims);
    recorded::read_claims(claims.values(), recorded::bound_state<K, State>, description.claims);
  }
  State state;
  recorded::list_fields_of<K>(state, description.fields);
  return description;
}

}  // namespace lockstep
