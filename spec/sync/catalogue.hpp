// The synchronization programs that Lockstep knows, by name. A new one is a header beside this one, and a
// line here.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spec/sync/ccg_barrier.hpp"
#include "spec/sync/decentralized_ticket_lock.hpp"
#include "spec/sync/flag_barrier.hpp"
#include "spec/sync/hybrid_barrier.hpp"
#include "spec/sync/parameters.hpp"
#include "spec/sync/semaphores.hpp"
#include "spec/sync/sense_barrier.hpp"
#include "spec/sync/test_and_set.hpp"
#include "spec/sync/the_deque.hpp"
#include "spec/sync/ticket_lock.hpp"
#include "spec/sync/tree_barrier.hpp"

namespace lockstep {

inline std::span<const SyncProgram> sync_programs() {
  static constexpr std::array programs{
      SyncProgram{"test-and-set", "a lock that is one word", "Dutu et al. 2020, Table 2 (SpinMutex)",
                  sync::test_and_set_variants, sync::test_and_set_faults, sync::test_and_set_parameters,
                  sync::test_and_set},
      SyncProgram{"ticket-lock", "a lock that is passed on in the order of tickets",
                  "Dutu et al. 2020, Table 2 (FAMutex)", sync::ticket_lock_variants, sync::ticket_lock_faults,
                  sync::ticket_lock_parameters, sync::ticket_lock},
      SyncProgram{"decentralized-ticket-lock", "a ticket lock with a word for each ticket",
                  "Dutu et al. 2020, Fig. 10 (SleepMutex)", sync::decentralized_variants,
                  sync::decentralized_faults, sync::decentralized_parameters,
                  sync::decentralized_ticket_lock},
      SyncProgram{"spin-sem", "a reader-writer semaphore, its number of permits under a lock",
                  "Dalmia, ch. 4, Fig. 4.4 (SpinSem)", sync::spin_semaphore_variants, sync::semaphore_faults,
                  sync::semaphore_parameters, sync::spin_semaphore},
      SyncProgram{"prior-sem", "the same, with priority for those that leave",
                  "Dalmia, ch. 4, Fig. 4.8 (PriorSem)", sync::prior_semaphore_variants,
                  sync::prior_semaphore_faults, sync::semaphore_parameters, sync::prior_semaphore},
      SyncProgram{"sleep-sem", "the same without a lock", "Dalmia, ch. 4, 4.2.1.2 (SleepSem)",
                  sync::sleep_semaphore_variants, sync::sleep_semaphore_faults, sync::semaphore_parameters,
                  sync::sleep_semaphore},
      SyncProgram{"tree-barrier", "a two-level barrier of counters", "Dalmia, ch. 4, Fig. 4.2 (atomTreeBarr)",
                  sync::tree_barrier_variants, sync::tree_barrier_faults, sync::grid_parameters,
                  sync::tree_barrier},
      SyncProgram{"g-srb", "a two-level sense-reversing barrier, with a leader for each CU",
                  "Dalmia, ch. 4, Fig. 4.6 (G-SRB)", sync::sense_barrier_variants, sync::sense_barrier_faults,
                  sync::grid_parameters, sync::sense_barrier},
      SyncProgram{"g-cpusrb", "a sense-reversing barrier that all work-groups join",
                  "Dalmia, ch. 4, 4.4.2 and Table 4.2 (G-CPUSRB)", sync::cpu_sense_barrier_variants,
                  sync::sense_barrier_faults, sync::grid_parameters, sync::cpu_sense_barrier},
      SyncProgram{"flag-barrier", "a two-level barrier of flags, two for each work-group",
                  "Dutu et al. 2020, Table 2 (LFTreeBarr)", sync::flag_barrier_variants,
                  sync::flag_barrier_faults, sync::grid_parameters, sync::flag_barrier},
      SyncProgram{"ccg-barrier", "a barrier that is one counter, which overflows",
                  "Dalmia, ch. 4, 4.2.1.1 (CCG)", sync::ccg_barrier_variants, sync::ccg_barrier_faults,
                  sync::grid_parameters, sync::ccg_barrier},
      SyncProgram{"hybrid-barrier", "one level where a CU has few work-groups, else two",
                  "Dalmia, ch. 4, 4.3.1.1 (Hybrid)", sync::hybrid_barrier_variants,
                  sync::hybrid_barrier_faults, sync::hybrid_barrier_parameters, sync::hybrid_barrier},
      SyncProgram{"the-deque", "a work-stealing deque, whose worker seldom locks",
                  "Frigo et al. 1998, section 5 (THE)", sync::the_deque_variants, sync::the_deque_faults,
                  sync::the_deque_parameters, sync::the_deque},
  };
  return programs;
}

// Throws std::invalid_argument, with the names that there are.
inline const SyncProgram& sync_program(std::string_view name) {
  for (const SyncProgram& program : sync_programs()) {
    if (program.name == name) return program;
  }
  throw std::invalid_argument("no synchronization program is called '" + std::string(name) +
                              "'; there are: " + sync::names_of(sync_programs()));
}

}  // namespace lockstep
