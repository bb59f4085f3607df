(** * Executions: operations at their points

    semantics.md, "Operations" and "SC and races".  An execution is a finite list of events, *latest first*:
    the order of the list is the order of the points at which operations count as performed.  In an SC
    execution the points of one thread are in program order; in a run of a memory system a plain operation
    may overtake an atomic of its thread that returns nothing, which is all that [wf] admits. *)
From Coq Require Import List Arith Lia Bool Relations.
Import ListNotations.

(** ** Operations *)

(** [Arrive] and [Depart] are the two sides of a barrier, or a kernel's end and begin: synchronization that
    accesses nothing.  An RMW's function says what it writes from what it reads, and [None] where it writes
    nothing (a compare-and-swap that fails is a load). *)
Inductive kind :=
| Load
| Store (value : nat)
| Rmw (function : nat -> option nat)
| Arrive
| Depart.

Inductive order := plain | relaxed | acquire | release | acq_rel | sc.

(** Locations and scope instances are numbers.  A scope instance is already "seen from its thread": the
    work-groups of two agents are two numbers.  Of an edge, [loc] is which barrier. *)
Record op := { kind_of : kind; order_of : order; loc_of : nat; scope_of : nat }.

(** The [idx]-th operation of [thread] in program order, and what it read (0 where it reads nothing). *)
Record event := { thread : nat; idx : nat; what : op; got : nat }.

Definition loc (e : event) := loc_of (what e).
Definition scope (e : event) := scope_of (what e).

Definition op_reads (o : op) : bool := match kind_of o with Load | Rmw _ => true | _ => false end.
Definition reads (e : event) : bool := op_reads (what e).

(** What an event writes, if it writes. *)
Definition wrote (e : event) : option nat :=
  match kind_of (what e) with
  | Store v => Some v
  | Rmw f => f (got e)
  | _ => None
  end.
Definition writes (e : event) : bool := match wrote e with Some _ => true | None => false end.

Definition op_access (o : op) : bool := match kind_of o with Load | Store _ | Rmw _ => true | _ => false end.
Definition access (e : event) : bool := op_access (what e).

(** Atomic means not plain; RMWs and edges never are plain. *)
Definition op_plain (o : op) : bool :=
  match kind_of o, order_of o with
  | Load, plain | Store _, plain => true
  | _, _ => false
  end.
Definition is_plain (e : event) : bool := op_plain (what e).

Definition order_acquires (r : order) : bool := match r with acquire | acq_rel | sc => true | _ => false end.
Definition order_releases (r : order) : bool := match r with release | acq_rel | sc => true | _ => false end.

Definition op_acquires (o : op) : bool :=
  match kind_of o with
  | Load | Rmw _ => order_acquires (order_of o)
  | Depart => true
  | _ => false
  end.
Definition acquires (e : event) : bool := op_acquires (what e).
Definition releases (e : event) : bool :=
  match kind_of (what e) with
  | Store _ | Rmw _ => writes e && order_releases (order_of (what e))
  | Arrive => true
  | _ => false
  end.

(** Operations that take something in: what is behind them may depend on it. *)
Definition op_takes (o : op) : bool := match kind_of o with Load | Rmw _ | Depart => true | _ => false end.
Definition takes (e : event) : bool := op_takes (what e).

Lemma acquire_takes e : acquires e = true -> takes e = true.
Proof. unfold acquires, op_acquires, takes, op_takes. destruct (kind_of (what e)); easy. Qed.

Lemma reader_takes e : reads e = true -> takes e = true.
Proof. unfold reads, op_reads, takes, op_takes. destruct (kind_of (what e)); easy. Qed.

Lemma acquire_not_plain e : acquires e = true -> is_plain e = false.
Proof.
  unfold acquires, op_acquires, is_plain, op_plain.
  destruct (kind_of (what e)), (order_of (what e)); easy.
Qed.

Lemma release_not_plain e : releases e = true -> is_plain e = false.
Proof.
  unfold releases, is_plain, op_plain.
  destruct (kind_of (what e)), (order_of (what e)); try easy; simpl; now rewrite andb_false_r.
Qed.

Lemma writer_accesses e : writes e = true -> access e = true.
Proof. unfold writes, wrote, access, op_access. destruct (kind_of (what e)); easy. Qed.

(** ** Program order and the order of points *)

Definition po (e f : event) : Prop := thread e = thread f /\ idx e < idx f.

(** [e] has its point before [f] in the execution [E]. *)
Fixpoint before (E : list event) (e f : event) : Prop :=
  match E with
  | [] => False
  | g :: past => (f = g /\ In e past) \/ before past e f
  end.

(** Points of one thread are in program order, but that a plain operation may overtake an operation that is
    neither plain nor takes anything in: a StRel (or a barrier's arrival) which is still on its way. *)
Fixpoint wf (E : list event) : Prop :=
  match E with
  | [] => True
  | e :: past =>
      wf past /\
      forall f, In f past -> thread f = thread e ->
        idx f < idx e \/ (idx e < idx f /\ is_plain f = true /\ is_plain e = false /\ takes e = false)
  end.

Lemma po_trans e f g : po e f -> po f g -> po e g.
Proof. unfold po. lia. Qed.

Lemma po_irreflexive e : ~ po e e.
Proof. unfold po. lia. Qed.

Lemma before_in E e f : before E e f -> In e E /\ In f E.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros [[-> H]|H]; [tauto|]. apply IH in H. tauto.
Qed.

(** What is the latest event, and no earlier one, has the whole past before it. *)
Lemma wf_fresh e E : wf (e :: E) -> ~ In e E.
Proof.
  intros [_ H] Hin. destruct (H e Hin eq_refl) as [|[? _]]; lia.
Qed.

(** One event for each thread and place in program order. *)
Lemma wf_unique E e f : wf E -> In e E -> In f E -> thread e = thread f -> idx e = idx f -> e = f.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros [Hwf Hg] [<-|He] [<-|Hf] Ht Hi; auto.
  - destruct (Hg f Hf (eq_sym Ht)); lia.
  - destruct (Hg e He Ht); lia.
Qed.

Lemma before_total E e f : In e E -> In f E -> e = f \/ before E e f \/ before E f e.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros [<-|He] [<-|Hf]; auto.
  destruct (IH He Hf) as [|[|]]; auto.
Qed.

Lemma before_trans E e f g : wf E -> before E e f -> before E f g -> before E e g.
Proof.
  induction E as [|h E IH]; [easy|]. intros Hwf. generalize Hwf. simpl.
  intros [Hwf' _] [[-> He]|Hef] [[-> Hf]|Hfg].
  - now left.
  - exfalso. apply before_in in Hfg. exact (wf_fresh _ _ Hwf (proj1 Hfg)).
  - left. apply before_in in Hef. tauto.
  - right. apply IH; tauto.
Qed.

Lemma before_irreflexive E e : wf E -> ~ before E e e.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros Hwf [[-> He]|H].
  - exact (wf_fresh _ _ Hwf He).
  - exact (IH (proj1 Hwf) H).
Qed.

Lemma before_latest e E f : wf (e :: E) -> ~ before (e :: E) e f.
Proof.
  intros Hwf [[-> H]|H].
  - exact (wf_fresh _ _ Hwf H).
  - apply before_in in H. exact (wf_fresh _ _ Hwf (proj1 H)).
Qed.

Lemma before_app_past E fut e f : before E e f -> before (fut ++ E) e f.
Proof. induction fut; simpl; auto. Qed.

Lemma wf_past fut E : wf (fut ++ E) -> wf E.
Proof. induction fut; simpl; [easy|]. intros [H _]. auto. Qed.

(** What is before an event of the past is in the past. *)
Lemma before_past fut E e f : wf (fut ++ E) -> In f E -> before (fut ++ E) e f -> before E e f.
Proof.
  induction fut as [|g fut IH]; simpl; [easy|].
  intros Hwf Hf [[-> _]|H].
  - exfalso. apply (wf_fresh _ _ Hwf). apply in_or_app. auto.
  - apply IH; tauto.
Qed.

(** What is before the event at which a past ends is that past. *)
Lemma before_at fut e E f : wf (fut ++ e :: E) -> (before (fut ++ e :: E) f e <-> In f E).
Proof.
  intros Hwf. split.
  - intros H. apply before_past in H; [|easy|now left].
    destruct H as [[_ H]|H]; [easy|].
    exfalso. apply before_in in H. apply wf_past in Hwf. exact (wf_fresh _ _ Hwf (proj2 H)).
  - intros H. apply before_app_past. now left.
Qed.

(** What is before an atomic in program order has its point before it. *)
Lemma po_before_sync E e f : wf E -> In e E -> In f E -> po e f -> is_plain f = false -> before E e f.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros [Hwf Hg] [<-|He] [<-|Hf] [Ht Hi] Hs; auto.
  - lia.
  - destruct (Hg f Hf (eq_sym Ht)) as [|(_ & Hp & _)]; [lia|congruence].
  - right. apply IH; unfold po; auto.
Qed.

(** What is behind an operation that takes something in has its point after it. *)
Lemma po_after_taker E e f : wf E -> In e E -> In f E -> po e f -> takes e = true -> before E e f.
Proof.
  induction E as [|g E IH]; simpl; [easy|].
  intros [Hwf Hg] [<-|He] [<-|Hf] [Ht Hi] Hs; auto.
  - lia.
  - destruct (Hg f Hf (eq_sym Ht)) as [|(_ & _ & _ & Hk)]; [lia|congruence].
  - right. apply IH; unfold po; auto.
Qed.
