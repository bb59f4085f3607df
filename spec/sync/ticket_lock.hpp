// The centralized ticket lock: draw a number, wait until it is served.
//
// Source: named by Dutu et al., "Independent Forward Progress of Work-groups" (2020), Table 2 (FAMutex); no
// code is printed, and this is the usual one. Tickets are drawn with atomicInc, which wraps, at the number of
// threads: no more are out at once, so that endless rounds are finitely many states.
#pragma once

#include <array>

#include "spec/sync/critical_section.hpp"

namespace lockstep::sync {

inline constexpr std::array ticket_lock_variants{
    Variant{"default", "tickets and turns count modulo threads"}};
inline constexpr std::array ticket_lock_faults{
    Fault{"two-tickets", "it draws two tickets and takes the first"},
    Fault{"turn-relaxed", "the turn is passed on without a release"},
    Fault{"turn-not-read-to-acquire", "seeing one's turn acquires nothing"},
};
inline constexpr std::array ticket_lock_parameters{
    SyncParameter{"threads", "work-groups, of one thread each", 1, 6, 2}, rounds_parameter};

inline Program ticket_lock(const SyncChoice& choice) {
  constexpr Scope agent = Scope::agent;
  const int threads = choice["threads"];
  const int rounds = choice["rounds"];
  Assembler program(choice.name());
  const Word next = program.word("next");
  const Word serving = program.word("serving");
  const CriticalSection critical(program, threads, rounds);
  for (int t = 0; t < threads; ++t) {
    CodeOf thread = program.thread({.wg = t});
    const Register ticket = thread.reg("ticket");
    const Register r = thread.reg("r");
    repeat(thread, rounds, [&] {
      thread.update(RmwFunction::increment, ticket, next, threads - 1, relaxed(agent));
      if (choice.has("two-tickets")) {
        thread.update(RmwFunction::increment, next, threads - 1, relaxed(agent));
      }
      thread.wait_load(ticket, serving, ticket,
                       choice.has("turn-not-read-to-acquire") ? relaxed(agent) : acquire(agent));
      thread.move(ticket, 0);
      critical.execute(thread, r);
      thread.update(RmwFunction::increment, serving, threads - 1,
                    choice.has("turn-relaxed") ? relaxed(agent) : release(agent));
    });
    thread.finish();
  }
  if (rounds > 0) {
    program.finally("every ticket was drawn", next, 0);
    program.finally("every ticket was served", serving, 0);
  }
  return program.take();
}

}  // namespace lockstep::sync
