(** * Flat memory and SC runs *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Programs Port.
Import ListNotations.

Definition writes_at (e : event) (x : nat) : bool :=
  match wrote_at e x with Some _ => true | None => false end.

Lemma writes_at_iff e x : writes_at e x = true <-> loc e = x /\ writes e = true.
Proof.
  unfold writes_at, wrote_at, writes. destruct (loc e =? x) eqn:H.
  - apply Nat.eqb_eq in H. tauto.
  - apply Nat.eqb_neq in H. now split.
Qed.

Lemma writes_at_none e x : writes_at e x = false <-> wrote_at e x = None.
Proof. unfold writes_at. now destruct (wrote_at e x). Qed.

Section Flat.
  Variable P : program.

  (** ** Memory *)

  Lemma memory_depends A E E' x : memory P E x = memory P E' x -> memory P (A ++ E) x = memory P (A ++ E') x.
  Proof. intros H. induction A as [|e A IH]; simpl; [easy|]. destruct (wrote_at e x); easy. Qed.

  Lemma memory_unwritten A E x :
    (forall e, In e A -> writes_at e x = false) -> memory P (A ++ E) x = memory P E x.
  Proof.
    intros H. induction A as [|e A IH]; simpl; [easy|].
    rewrite (proj1 (writes_at_none e x)); [|apply H; now left]. apply IH. intros. apply H. now right.
  Qed.

  Lemma memory_written A E E' x e :
    In e A -> writes_at e x = true -> memory P (A ++ E) x = memory P (A ++ E') x.
  Proof.
    intros He Hw. induction A as [|f A IH]; simpl; [easy|].
    destruct (wrote_at f x) eqn:Hf; [easy|]. apply IH.
    destruct He as [<-|He]; [|easy]. apply writes_at_none in Hf. congruence.
  Qed.

  Definition some_writes (A : list event) (x : nat) : bool := existsb (fun e => writes_at e x) A.

  Lemma some_writes_true A x : some_writes A x = true -> exists e, In e A /\ writes_at e x = true.
  Proof. unfold some_writes. now rewrite existsb_exists. Qed.
  Lemma some_writes_false A x : some_writes A x = false -> forall e, In e A -> writes_at e x = false.
  Proof.
    intros H e He. destruct (writes_at e x) eqn:Hw; [|easy].
    assert (some_writes A x = true) by (apply existsb_exists; now exists e). congruence.
  Qed.

  (** ** SC runs *)

  Definition count (t : nat) (E : list event) : nat := length (history_of t E).

  Lemma count_cons t e E : count t (e :: E) = if thread e =? t then S (count t E) else count t E.
  Proof.
    unfold count. simpl. destruct (thread e =? t); [|easy]. rewrite app_length. simpl. lia.
  Qed.

  Lemma sc_run_index E e : sc_run P E -> In e E -> idx e < count (thread e) E.
  Proof.
    intros H. induction H as [|E f H IH Hi _ _ _]; [easy|].
    rewrite count_cons. intros [->|He].
    - rewrite Nat.eqb_refl, Hi. unfold count. lia.
    - apply IH in He. destruct (thread f =? thread e); lia.
  Qed.

  Lemma sc_run_wf E : sc_run P E -> wf E.
  Proof.
    induction 1 as [|E e H IH Hi _ _ _]; [easy|]. split; [easy|].
    intros f Hf Ht. left. apply (sc_run_index E f H) in Hf. rewrite Ht in Hf. unfold count in Hf. lia.
  Qed.

  Lemma history_nth E t k h :
    sc_run P E -> nth_error (history_of t E) k = Some h ->
    exists e, In e E /\ thread e = t /\ idx e = k /\ h = (what e, got e).
  Proof.
    intros H. induction H as [|E e H IH Hi _ _ _]; simpl; [now destruct k|].
    destruct (thread e =? t) eqn:Ht.
    - apply Nat.eqb_eq in Ht. rewrite nth_error_snoc.
      destruct (k =? length (history_of t E)) eqn:Hk.
      + apply Nat.eqb_eq in Hk. injection 1 as <-. exists e. rewrite Ht in Hi. subst k. auto.
      + intros (f & Hf & ?)%IH. exists f. auto.
    - intros (f & Hf & ?)%IH. exists f. auto.
  Qed.

  Lemma sc_run_past A E : sc_run P (A ++ E) -> sc_run P E.
  Proof. induction A; simpl; [easy|]. intros H. inversion H. auto. Qed.

  Lemma sc_run_got E e : sc_run P E -> In e E -> reads e = false -> got e = 0.
  Proof.
    induction 1 as [|E f H IH _ _ _ Hg]; [easy|].
    intros [->|He] Hr; [|auto]. now rewrite Hr in Hg.
  Qed.

  (** [before] among events that a filter keeps is [before] in what it keeps. *)
  Lemma before_filter p E e f :
    p e = true -> p f = true -> (before (filter p E) e f <-> before E e f).
  Proof.
    intros He Hf. induction E as [|g E IH]; simpl; [easy|].
    destruct (p g) eqn:Hg; simpl; rewrite IH.
    - rewrite filter_In. tauto.
    - split; [auto|]. intros [[-> _]|H]; [congruence|easy].
  Qed.
End Flat.
