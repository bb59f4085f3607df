(** * What is proved, for each model in the words of semantics.md

    A memory system obeys a model if every race-free program has only SC outcomes on it.  Each theorem says so
    of any memory system in all of whose reachable states "raced, or every completed load and RMW returned
    the newest write at its point" holds ([run]), for any program and either reading of so_S. *)
From Coq Require Import List Arith Lia Bool.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Theorems Reads Counterexamples.
Import ListNotations.

Definition only_sc_outcomes (P : program) (M : model) : Prop :=
  forall s, run P mended M s -> drained s -> exists R, sc_run P R /\ outcome_of P s R.

Local Ltac obeys lawful printed :=
  intros Hfree s; apply race_free_programs_see_only_sc; [apply lawful|];
  intros R HR Hrace; apply (Hfree R HR); now apply printed.

Theorem drf_is_obeyed rd P :
  (forall R, sc_run P R -> ~ race_drf rd R) -> only_sc_outcomes P (drf rd).
Proof. obeys drf_lawful race_drf_as_printed. Qed.

Theorem hrf_direct_is_obeyed rd P :
  (forall R, sc_run P R -> ~ race_direct rd R) -> only_sc_outcomes P (hrf_direct rd).
Proof. obeys hrf_direct_lawful race_direct_as_printed. Qed.

Theorem hrf_indirect_is_obeyed rd P :
  (forall R, sc_run P R -> ~ race_indirect rd R) -> only_sc_outcomes P (hrf_indirect rd).
Proof. obeys hrf_indirect_lawful race_indirect_as_printed. Qed.

Theorem hrf_relaxed_direct_is_obeyed member within rd P :
  (forall R, sc_run P R -> ~ race_relaxed_direct member within rd R) ->
  only_sc_outcomes P (hrf_relaxed_direct member within rd).
Proof. obeys hrf_relaxed_direct_lawful race_relaxed_direct_as_printed. Qed.

Theorem hrf_relaxed_indirect_is_obeyed member within rd P :
  (forall R, sc_run P R -> ~ race_relaxed_indirect member within rd R) ->
  only_sc_outcomes P (hrf_relaxed_indirect member within rd).
Proof. obeys hrf_relaxed_indirect_lawful race_relaxed_indirect_as_printed. Qed.

(** Runs that exist, so that none of this is said of nothing: message passing by release and acquire, drained,
    with the message received. *)
Definition message_passing : program := threads_that (fun t h =>
  match t, h with
  | 0, [] => Some (access_of (Store 1) plain 0)
  | 0, [_] => Some (access_of (Store 1) release 1)
  | 1, [] => Some (access_of Load acquire 1)
  | 1, [(_, 1)] => Some (access_of Load plain 0)
  | _, _ => None
  end).

Section MessagePassing.
  Notation P := message_passing.
  Definition store_data := access_of (Store 1) plain 0.
  Definition release_flag := access_of (Store 1) release 1.
  Definition acquire_flag := access_of Load acquire 1.
  Definition load_data := access_of Load plain 0.

  (** The StRel completes before its point. *)
  Definition message_received : port :=
    answer (perform P mended (ask
      (answer (perform P mended (ask (perform P mended (answer (ask
        (answer (perform P mended (ask idle 0 store_data) 0 0 store_data) 0 0)
      0 release_flag) 0 0) 0 1 release_flag) 1 acquire_flag) 1 0 acquire_flag) 1 1)
    1 load_data) 1 1 load_data) 1 1.

  Theorem message_passing_runs M : lawful M ->
    run P mended M message_received /\ drained message_received /\
    history_of 1 (points message_received) = [(acquire_flag, 1); (load_data, 1)].
  Proof.
    intros HM. split; [|split; [|easy]].
    - unfold message_received.
      repeat first [apply run_nothing | apply run_ask | apply run_perform | eapply run_answer];
        try (now apply threads_may_issue); try (performable; fail); try easy.
      all: newest_returned.
    - intros [|[|t]]; simpl; (split; [easy|]); intros k Hk; [| |easy];
        destruct k as [|[|k]]; easy || lia.
  Qed.

  (** It has no race under HRF-indirect where both accesses of the flag name one scope instance, and has one
      where the reader names another. *)
  Example it_does_not_race rd : ~ race_indirect rd (points message_received).
  Proof.
    rewrite <- race_indirect_as_printed, <- monitor_decides_races.
    - destruct rd; easy.
    - repeat split; simpl; intuition (subst; simpl in *; auto; easy).
    - apply hrf_indirect_lawful.
  Qed.
End MessagePassing.
