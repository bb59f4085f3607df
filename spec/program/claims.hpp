// What a program claims about its own runs, as predicates on a state.
#pragma once

#include <cstddef>

#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// Whether a thread is within a stretch. `machine` is the state of a program's threads.
template <class K, class MachineState>
typename K::Bool is_within(const MachineState& machine, const Stretch& stretch) {
  const auto t = K::template constant<ThreadTag>(stretch.thread);
  const auto& pc = machine.context(t).pc;
  return !machine.port(t).ended && pc >= typename K::Number(stretch.begin) &&
         pc < typename K::Number(stretch.end);
}
// Whether a thread has come as far as a place.
template <class K, class MachineState>
typename K::Bool has_reached(const MachineState& machine, int thread, int place) {
  const auto t = K::template constant<ThreadTag>(thread);
  return machine.port(t).ended || machine.context(t).pc >= typename K::Number(place);
}

// Lists the claims of the system's program. `machine(state)` is the state of its threads.
template <class Reader, class System, class MachineOf>
void claims(Reader& v, const System& system, MachineOf machine) {
  using K = typename System::Kind;
  using Bool = typename K::Bool;
  using Number = typename K::Number;
  const K& k = system.kind();
  const Program& program = system.program();
  v.invariant("no assertion of the program fails", [&k, machine](const auto& s) {
    return k.forall(threads, [&](auto t) { return !machine(s).context(t).failed; });
  });
  for (const Section& section : program.sections) {
    v.invariant(section.name, [&k, &section, machine](const auto& s) {
      Number weight(0);
      for (const Stretch& stretch : section.stretches) {
        const Number there(stretch.weight);
        weight = weight + k.select(is_within<K>(machine(s), stretch), there, Number(0));
      }
      return weight <= Number(section.capacity);
    });
  }
  for (const Rendezvous& meeting : program.meetings) {
    v.invariant(meeting.name, [&meeting, machine](const auto& s) {
      Bool left(false);
      Bool arrived(true);
      for (const Rendezvous::Participant& p : meeting.participants) {
        left = left || has_reached<K>(machine(s), p.thread, p.leave);
        arrived = arrived && has_reached<K>(machine(s), p.thread, p.arrive);
      }
      return !left || arrived;
    });
  }
  for (const FinalValue& final : program.final_values) {
    const Location& location = program.locations[static_cast<std::size_t>(final.location)];
    v.invariant(final.name, [&system, &final, &location](const auto& s) {
      return !Bool(system.proper_end(s)) || system.final_value(s, location) == typename K::Value(final.value);
    });
  }
}

}  // namespace lockstep
