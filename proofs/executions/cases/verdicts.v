(* The proved monitor as a program: its verdicts under five models in two readings. Threads 0 and 1 are
   work-group 5, thread 2 is work-group 6, all are agent 7. *)
From Coq Require Import List Bool Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From Lockstep Require Import Executions Models Monitor.
Import ListNotations.

Definition member (s t : nat) : bool := match s with 5 => Nat.leb t 1 | 6 => Nat.eqb t 2 | _ => true end.
Definition within (s s' : nat) : bool := Nat.eqb s s' || Nat.eqb s' 7.
Definition models (rd : reading) : list model :=
  [drf rd; hrf_direct rd; hrf_indirect rd; hrf_relaxed_direct member within rd;
   hrf_relaxed_indirect member within rd].
Definition verdicts (E : list event) : list bool :=
  map (fun M => flag (monitor M E)) (models any_location ++ models same_location).
Extraction "verdicts.ml" verdicts.
