// The test-and-set lock: one word, taken by whoever changes it from 0 to 1.
//
// Source: named by Dutu et al., "Independent Forward Progress of Work-groups" (2020), Table 2 (SpinMutex, and
// SpinMutexLocal: `narrow=1`); no code is printed, and the default is the usual one. HeteroSync's code
// (cudaLocksMutexSpin.cu) has a fence behind the compare-and-swap and one in front of the exchange: variant
// `as-released`. With backoff (SpinMutexEBO and its like) it is the same program: only time tells them apart,
// and there is none here. The loop is one waiting atomic, which under a scheduler without such instructions
// tries again.
#pragma once

#include <array>

#include "spec/sync/critical_section.hpp"

namespace lockstep::sync {

inline constexpr std::array test_and_set_variants{
    Variant{"default", "compare-and-swap until it succeeds, exchange to unlock"},
    Variant{"as-released", "HeteroSync's code: relaxed accesses, and fences inside of them"}};
inline constexpr std::array test_and_set_faults{
    Fault{"unlock-relaxed", "unlocking releases nothing"},
    Fault{"lock-relaxed", "locking acquires nothing"},
    Fault{"test-then-set", "it reads 0 and then writes 1, in two steps"},
};
inline constexpr std::array test_and_set_parameters{
    SyncParameter{"threads", "work-groups, of one thread each", 1, most_work_groups, 2}, rounds_parameter,
    narrow_fences_parameter};

inline Program test_and_set(const SyncChoice& choice) {
  constexpr Scope agent = Scope::agent;
  const int threads = choice["threads"];
  const int rounds = choice["rounds"];
  const LockOrders orders(choice);
  Assembler program(choice.name());
  const Word lock = program.word("lock");
  const CriticalSection critical(program, threads, rounds);
  for (int t = 0; t < threads; ++t) {
    CodeOf thread = program.thread({.wg = t});
    const Register r = thread.reg("r");
    repeat(thread, rounds, [&] {
      if (choice.has("test-then-set")) {
        thread.wait_load(r, lock, 0, orders.take(choice.has("lock-relaxed")));
        thread.store(lock, 1, relaxed(agent));
      } else {
        thread.wait_cas(lock, 0, 1, orders.take(choice.has("lock-relaxed")));
      }
      orders.fence_inside(thread, choice.has("lock-relaxed"));
      critical.execute(thread, r);
      orders.fence_inside(thread, choice.has("unlock-relaxed"));
      thread.update(RmwFunction::exchange, lock, 0, orders.give(choice.has("unlock-relaxed")));
    });
    thread.finish();
  }
  if (rounds > 0) program.finally("the lock is free", lock, 0);
  return program.take();
}

}  // namespace lockstep::sync
