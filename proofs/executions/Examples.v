(** * Small executions that the models tell apart

    The proofs take the definitions as they stand; these hold the definitions against what the papers say of
    well-known executions (tests/races_test.cpp has the same ones for the C++ monitor). *)
From Coq Require Import List Arith Bool.
From Lockstep Require Import Executions Models HappensBefore Monitor.
Import ListNotations.

(** Thread, place in program order, operation, order, location, scope instance; what was read. *)
Definition does (t i : nat) (k : kind) (r : order) (x s g : nat) : event :=
  {| thread := t; idx := i; got := g;
     what := {| kind_of := k; order_of := r; loc_of := x; scope_of := s |} |}.

Definition races_under (E : list event) : list bool :=
  map (fun M => flag (monitor M (rev E)))
    [drf any_location; hrf_direct any_location; hrf_indirect any_location;
     drf same_location; hrf_direct same_location; hrf_indirect same_location].

(** Data handed over at a scope that includes both threads: no race. *)
Example handed_over : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 (Store 1) release 1 5 0;
   does 1 0 Load acquire 1 5 1; does 1 1 Load plain 0 0 1] = [false; false; false; false; false; false].
Proof. easy. Qed.

(** What stands behind the release is not handed over. *)
Example behind_the_release : races_under
  [does 0 0 (Store 1) release 1 5 0; does 0 1 (Store 1) plain 0 0 0;
   does 1 0 Load acquire 1 5 1; does 1 1 Load plain 0 0 1] = [true; true; true; true; true; true].
Proof. easy. Qed.

(** Nor if it overtook the release, which has its point after it. *)
Example overtook_the_release : races_under
  [does 0 1 (Store 1) plain 0 0 0; does 0 0 (Store 1) release 1 5 0;
   does 1 0 Load acquire 1 5 1; does 1 1 Load plain 0 0 1] = [true; true; true; true; true; true].
Proof. easy. Qed.

(** Scope instances that differ: a race in HRF, of the data and of the flag, none in DRF. *)
Example unequal_scopes : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 (Store 1) release 1 5 0;
   does 1 0 Load acquire 1 6 1; does 1 1 Load plain 0 0 1] = [false; true; true; false; true; true].
Proof. easy. Qed.

(** Of the flag alone. *)
Example unequal_scopes_of_the_flag : races_under
  [does 0 0 (Store 1) release 1 5 0; does 1 0 Load acquire 1 6 1] = [false; true; true; false; true; true].
Proof. easy. Qed.

(** A hand-over that changes scope on the way: ordered where closures are taken together. *)
Example handed_on : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 (Store 1) release 1 5 0;
   does 1 0 Load acquire 1 5 1; does 1 1 (Store 1) release 2 6 0;
   does 2 0 Load acquire 2 6 1; does 2 1 Load plain 0 0 1] = [false; true; false; false; true; false].
Proof. easy. Qed.

(** A release of one location and an acquire of another: the readings differ. *)
Example another_location : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 (Store 1) release 1 5 0;
   does 1 0 Load acquire 2 5 0; does 1 1 Load plain 0 0 1] = [false; false; false; true; true; true].
Proof. easy. Qed.

(** A compare-and-swap that fails is a load: it releases nothing, and two of them don't conflict. *)
Definition swap_from_1 : kind := Rmw (fun v => if v =? 1 then Some 2 else None).
Example failed_swap : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 swap_from_1 acq_rel 1 5 0;
   does 1 0 Load acquire 1 5 0; does 1 1 Load plain 0 0 1] = [true; true; true; true; true; true].
Proof. easy. Qed.
Example successful_swap : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 swap_from_1 acq_rel 1 5 1;
   does 1 0 Load acquire 1 5 2; does 1 1 Load plain 0 0 1] = [false; false; false; false; false; false].
Proof. easy. Qed.
Example failed_swaps : races_under
  [does 0 0 swap_from_1 acq_rel 1 5 0; does 1 0 swap_from_1 acq_rel 1 6 0] =
  [false; false; false; false; false; false].
Proof. easy. Qed.

(** A barrier orders what is before an arrival and what is behind a departure. *)
Example barrier : races_under
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 Arrive sc 7 5 0; does 1 0 Arrive sc 7 5 0;
   does 0 2 Depart sc 7 5 0; does 1 1 Depart sc 7 5 0; does 1 2 Load plain 0 0 1] =
  [false; false; false; false; false; false].
Proof. easy. Qed.

(** Scope instances that include each other's thread synchronize in HRF-relaxed, though they differ; 5 is
    threads 0 and 1, 6 is all. *)
Definition in_instance (s t : nat) : bool := if s =? 5 then t <=? 1 else true.
Definition inside (s s' : nat) : bool := (s =? s') || (s' =? 6).
Example inclusive_scopes : map (fun M => flag (monitor M (rev
  [does 0 0 (Store 1) plain 0 0 0; does 0 1 (Store 1) release 1 5 0;
   does 1 0 Load acquire 1 6 1; does 1 1 Load plain 0 0 1])))
  [hrf_indirect same_location; hrf_relaxed_direct in_instance inside same_location;
   hrf_relaxed_indirect in_instance inside same_location] = [true; false; false].
Proof. easy. Qed.
