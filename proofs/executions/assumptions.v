(* The statements of the main theorems and what each rests on: compared with assumptions.expected. *)
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Theorems.
From Lockstep Require Import Reads Counterexamples Summary.
Set Printing Width 110.

Check monitor_of_drf.                          Print Assumptions monitor_of_drf.
Check monitor_of_hrf_direct.                   Print Assumptions monitor_of_hrf_direct.
Check monitor_of_hrf_indirect.                 Print Assumptions monitor_of_hrf_indirect.
Check monitor_of_hrf_relaxed_direct.           Print Assumptions monitor_of_hrf_relaxed_direct.
Check monitor_of_hrf_relaxed_indirect.         Print Assumptions monitor_of_hrf_relaxed_indirect.
Check happens_before_is_acyclic.               Print Assumptions happens_before_is_acyclic.
Check run_without_race_is_sc.                  Print Assumptions run_without_race_is_sc.
Check first_race_is_a_race_in_an_sc_run.       Print Assumptions first_race_is_a_race_in_an_sc_run.
Check race_free_programs_see_only_sc.          Print Assumptions race_free_programs_see_only_sc.
Check race_free_programs_see_only_sc_so_far.   Print Assumptions race_free_programs_see_only_sc_so_far.
Check plain_read_returns_newest_before.        Print Assumptions plain_read_returns_newest_before.
Check drf_is_obeyed.                           Print Assumptions drf_is_obeyed.
Check hrf_direct_is_obeyed.                    Print Assumptions hrf_direct_is_obeyed.
Check hrf_indirect_is_obeyed.                  Print Assumptions hrf_indirect_is_obeyed.
Check hrf_relaxed_direct_is_obeyed.            Print Assumptions hrf_relaxed_direct_is_obeyed.
Check hrf_relaxed_indirect_is_obeyed.          Print Assumptions hrf_relaxed_indirect_is_obeyed.
Check printed_acquires_are_too_few.            Print Assumptions printed_acquires_are_too_few.
Check numbers_at_points_break_coherence.       Print Assumptions numbers_at_points_break_coherence.
Check atomic_reads_need_not_be_ordered.        Print Assumptions atomic_reads_need_not_be_ordered.
Check message_passing_runs.                    Print Assumptions message_passing_runs.
