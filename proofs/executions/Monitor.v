(** * The race monitor

    A transition function, fed with events in the order of their points: what each thread, and what each
    synchronization location in each scope instance, is ordered behind, as a bound on each thread's program
    order.  [monitor_decides_races] says that it sets its flag exactly when the sequence has a heterogeneous
    race by the definition. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore.
Import ListNotations.

(** ** The transition function *)

(** In each closure: the operations of thread [u] that [t]'s present is ordered behind are those with an
    index below [known c t u]; those that the releases of key [k] have published, below [published c k u]. *)
Record state := {
  known : nat -> nat -> nat -> nat;
  published : nat -> key -> nat -> nat;
  performed : list event;
  flag : bool
}.

Definition start : state :=
  {| known := fun _ _ _ => 0; published := fun _ _ _ => 0; performed := []; flag := false |}.

Definition key_eqb (k l : key) : bool :=
  eqb (k_access k) (k_access l) && (k_loc k =? k_loc l) && (k_scope k =? k_scope l) &&
  (k_thread k =? k_thread l).

Section Step.
  Variable M : model.
  Variable s : state.
  Variable e : event.

  Definition keys : list key := map (key_of M) (filter releases (performed s)).

  (** An acquire takes in what was published at every key that it hears. *)
  Definition heard (c u : nat) : nat :=
    list_max (map (fun k => published s c k u) (filter (fun k => hears M c k e) keys)).
  Definition acquired (c t u : nat) : nat :=
    if (t =? thread e) && acquires e then max (known s c t u) (heard c u) else known s c t u.

  Definition ordered (f : event) : bool :=
    existsb (fun c => idx f <? acquired c (thread e) (thread f)) (closures M (e :: performed s)).
  Definition races : bool := existsb (fun f => conflicts M f e && negb (ordered f)) (performed s).

  (** A release publishes what stands before it in program order, and itself, no more. *)
  Definition released (c : nat) (k : key) (u : nat) : nat :=
    if releases e && key_eqb k (key_of M e)
    then max (published s c k u) (if u =? thread e then S (idx e) else acquired c (thread e) u)
    else published s c k u.

  Definition step : state :=
    {| known := acquired; published := released; performed := e :: performed s; flag := flag s || races |}.
End Step.

Fixpoint monitor (M : model) (E : list event) : state :=
  match E with
  | [] => start
  | e :: past => step M (monitor M past) e
  end.

(** ** That it is right *)

Lemma key_eqb_eq k l : key_eqb k l = true <-> k = l.
Proof.
  unfold key_eqb. rewrite !andb_true_iff, eqb_true_iff, !Nat.eqb_eq.
  destruct k, l; simpl. split; [intros (((-> & ->) & ->) & ->); easy|].
  now injection 1 as -> -> -> ->.
Qed.

Lemma below_list_max n l : n < list_max l <-> exists x, In x l /\ n < x.
Proof.
  induction l as [|y l IH]; simpl; [split; [lia|]|].
  - now intros (x & [] & _).
  - rewrite Nat.max_lt_iff, IH. split.
    + intros [H|(x & Hx & H)]; [exists y|exists x]; auto.
    + intros (x & [->|Hx] & H); [now left|right; now exists x].
Qed.

Lemma monitor_performed M E : performed (monitor M E) = E.
Proof. destruct E as [|e E]; [easy|]. simpl. f_equal. induction E; simpl; congruence. Qed.

(** The invariant, for the past of an execution [E]. *)
Section Invariant.
  Variable M : model.
  Variable E : list event.
  Hypothesis Hwf : wf E.

  Definition knows (past : list event) (c t : nat) (f : event) : Prop :=
    exists a, In a past /\ thread a = t /\ acquires a = true /\ hb_in M E c f a.
  Definition publishes (past : list event) (c : nat) (k : key) (f : event) : Prop :=
    exists r, In r past /\ releases r = true /\ key_of M r = k /\ (f = r \/ hb_in M E c f r).

  Definition known_is_right (past : list event) : Prop :=
    forall c t f, In f E -> thread f <> t ->
      (idx f < known (monitor M past) c t (thread f) <-> knows past c t f).
  Definition published_is_right (past : list event) : Prop :=
    forall c k f, In f E ->
      (idx f < published (monitor M past) c k (thread f) <-> publishes past c k f).

  (** A point of the execution: [e] comes after [past]. *)
  Variables (fut past : list event) (e : event).
  Hypothesis Hsplit : E = fut ++ e :: past.
  Hypothesis Hknown : known_is_right past.
  Hypothesis Hpublished : published_is_right past.

  Lemma past_iff f : In f past <-> before E f e.
  Proof. rewrite Hsplit in *. symmetry. now apply before_at. Qed.
  Lemma present_in : In e E.
  Proof. rewrite Hsplit. apply in_or_app. simpl. auto. Qed.
  Lemma past_in f : In f past -> In f E.
  Proof. rewrite Hsplit. intros. apply in_or_app. simpl. auto. Qed.

  Lemma published_to f r c :
    In r past -> releases r = true -> acquires e = true -> hears M c (key_of M r) e = true ->
    f = r \/ hb_in M E c f r -> hb_in M E c f e.
  Proof.
    intros Hr R A H Hf.
    assert (so M E c r e) as S. { repeat split; try easy. now apply past_iff. }
    destruct Hf as [->|Hf]; [now apply so_hb|]. apply t_trans with r; [easy|]. now apply so_hb.
  Qed.

  Lemma heard_is_right c f :
    In f E -> (idx f < heard M (monitor M past) e c (thread f) <->
               exists r, In r past /\ releases r = true /\ hears M c (key_of M r) e = true /\
                         (f = r \/ hb_in M E c f r)).
  Proof.
    intros Hf. unfold heard. rewrite below_list_max. split.
    - intros (x & Hx & Hlt). apply in_map_iff in Hx. destruct Hx as (k & <- & Hk).
      apply filter_In in Hk. destruct Hk as [_ Hk].
      apply Hpublished in Hlt; [|easy]. destruct Hlt as (r & Hr & R & <- & H). now exists r.
    - intros (r & Hr & R & Hk & H). exists (published (monitor M past) c (key_of M r) (thread f)).
      split.
      + apply in_map_iff. exists (key_of M r). split; [easy|]. apply filter_In. split; [|easy].
        unfold keys. apply in_map. apply filter_In. split; [|easy]. now rewrite monitor_performed.
      + apply Hpublished; [easy|]. now exists r.
  Qed.

  Lemma acquired_is_right c t f :
    In f E -> thread f <> t ->
    (idx f < acquired M (monitor M past) e c t (thread f) <-> knows (e :: past) c t f).
  Proof.
    intros Hf Ht. unfold acquired.
    destruct ((t =? thread e) && acquires e) eqn:Hte.
    - apply andb_true_iff in Hte. destruct Hte as [->%Nat.eqb_eq A].
      rewrite Nat.max_lt_iff, heard_is_right, (Hknown c _ f Hf Ht) by easy. split.
      + intros [(a & Ha & H)|(r & Hr & R & Hk & H)].
        * exists a. split; [now right|easy].
        * exists e. repeat split; try easy; [now left|]. now apply published_to with r.
      + intros (a & [<-|Ha] & Ht' & A' & H); [|left; now exists a].
        destruct (last_synchronization _ _ _ _ _ H Ht) as (r & b & S & X & [->|P]).
        * right. exists r. split; [apply past_iff; apply S|]. now repeat split; try apply S.
        * left. pose proof (before_in _ _ _ (proj1 S)) as [_ Hb].
          exists b. repeat split; try apply P; try apply S.
          -- apply past_iff. apply po_before_sync; try easy; [apply present_in|].
             now apply acquire_not_plain.
          -- destruct X as [->|X]; [now apply so_hb|]. apply t_trans with r; [easy|]. now apply so_hb.
    - rewrite (Hknown c t f Hf Ht). split.
      + intros (a & Ha & H). exists a. split; [now right|easy].
      + intros (a & [<-|Ha] & H); [|now exists a].
        destruct H as (<- & A & _). now rewrite Nat.eqb_refl, A in Hte.
  Qed.

  (** What a release publishes is what happens before it, and itself. *)
  Lemma behind_release_is_right c f :
    In f E -> releases e = true ->
    (idx f < (if thread f =? thread e then S (idx e)
              else acquired M (monitor M past) e c (thread e) (thread f)) <->
     f = e \/ hb_in M E c f e).
  Proof.
    intros Hf R. pose proof present_in as He. destruct (thread f =? thread e) eqn:Ht.
    - apply Nat.eqb_eq in Ht. rewrite Nat.lt_succ_r, Nat.le_lteq. split.
      + intros [H|H]; [right; now apply po_hb|left; now apply (wf_unique E)].
      + intros [->|H]; [auto|]. apply hb_in_any, hb_any_po in H; [|easy..]. left. apply H.
    - apply Nat.eqb_neq in Ht. rewrite acquired_is_right by easy. split.
      + intros (a & Ha & Hta & A & H). right. destruct Ha as [->|Ha]; [easy|].
        apply t_trans with a; [easy|]. apply po_hb; [now apply past_in|easy|]. split; [easy|].
        apply past_iff in Ha as Hb. apply past_in in Ha.
        destruct (lt_eq_lt_dec (idx a) (idx e)) as [[Hi|Hi]|Hi]; [easy| |]; exfalso.
        * rewrite (wf_unique E a e) in Hb by easy. now apply (before_irreflexive E e).
        * apply (before_irreflexive E e Hwf). apply before_trans with a; [easy| |easy].
          apply po_before_sync; try easy; now apply acquire_not_plain.
      + intros [->|H]; [easy|].
        destruct (last_synchronization _ _ _ _ _ H Ht) as (r & a & S & X & P).
        pose proof (before_in _ _ _ (proj1 S)) as [_ Ha].
        assert (hb_in M E c f a) as Hfa.
        { destruct X as [->|X]; [now apply so_hb|]. apply t_trans with r; [easy|]. now apply so_hb. }
        exists a. repeat split; try easy; try apply S; [|now destruct P as [->|P]; [|apply P]].
        destruct P as [->|P]; [now left|]. right. apply past_iff.
        apply po_after_taker; try easy. apply acquire_takes, S.
  Qed.

  Lemma released_is_right c k f :
    In f E -> (idx f < released M (monitor M past) e c k (thread f) <-> publishes (e :: past) c k f).
  Proof.
    intros Hf. unfold released. destruct (releases e && key_eqb k (key_of M e)) eqn:Hk.
    - apply andb_true_iff in Hk. destruct Hk as [R ->%key_eqb_eq].
      rewrite Nat.max_lt_iff, (Hpublished c _ f Hf), behind_release_is_right by easy. split.
      + intros [(r & Hr & H)|H]; [exists r; split; [now right|easy]|]. exists e. now split; [left|].
      + intros (r & [<-|Hr] & H); [now right|left; now exists r].
    - rewrite (Hpublished c k f Hf). split.
      + intros (r & Hr & H). exists r. split; [now right|easy].
      + intros (r & [<-|Hr] & H); [|now exists r]. exfalso.
        destruct H as (R & <- & _). rewrite R in Hk. simpl in Hk.
        assert (key_eqb (key_of M e) (key_of M e) = true) by now apply key_eqb_eq. congruence.
  Qed.

  Hypothesis HM : lawful M.

  Lemma ordered_is_right f :
    In f past -> thread f <> thread e -> (ordered M (monitor M past) e f = true <-> hb M E f e).
  Proof.
    intros Hf Ht. unfold ordered. rewrite existsb_exists, monitor_performed.
    pose proof (past_in _ Hf) as Hf'. split.
    - intros (c & _ & Hlt). apply Nat.ltb_lt in Hlt. apply acquired_is_right in Hlt; [|easy..].
      destruct Hlt as (a & [<-|Ha] & Hta & A & H); exists c; [easy|].
      apply t_trans with a; [easy|]. apply po_hb; [now apply past_in|apply present_in|].
      split; [easy|]. apply past_iff in Ha as Hb. apply past_in in Ha.
      destruct (lt_eq_lt_dec (idx a) (idx e)) as [[Hi|Hi]|Hi]; [easy| |]; exfalso.
      + rewrite (wf_unique E a e) in Hb by (easy || apply present_in). now apply (before_irreflexive E e).
      + apply (before_irreflexive E e Hwf). apply before_trans with a; [easy| |easy].
        apply po_before_sync; try easy; [apply present_in|now apply acquire_not_plain].
    - intros [c H].
      destruct (last_synchronization _ _ _ _ _ H Ht) as (r & a & S & X & P).
      pose proof (before_in _ _ _ (proj1 S)) as [Hr Ha].
      assert (In a (e :: past)) as Hap.
      { destruct P as [->|P]; [now left|]. right. apply past_iff.
        apply po_after_taker; try easy; [apply present_in|]. apply acquire_takes, S. }
      assert (In r (e :: past)) as Hrp.
      { right. destruct Hap as [<-|Hap]; [apply past_iff, S|]. apply past_iff.
        apply before_trans with a; [easy|apply S|now apply past_iff]. }
      exists c. split.
      + apply (closures_suffice M HM (e :: past) c r a Hrp Hap). apply S.
      + apply Nat.ltb_lt. apply acquired_is_right; [easy..|].
        exists a. repeat split; try easy; try apply S; [now destruct P as [->|P]; [|apply P]|].
        destruct X as [->|X]; [now apply so_hb|]. apply t_trans with r; [easy|]. now apply so_hb.
  Qed.
End Invariant.

Lemma monitor_knows M E past fut :
  wf E -> E = fut ++ past -> known_is_right M E past /\ published_is_right M E past.
Proof.
  intros Hwf. revert fut. induction past as [|e past IH]; intros fut Hsplit.
  - split; intros c x f; simpl; split; try lia; now intros (? & [] & _).
  - destruct (IH (fut ++ [e])) as [K P]; [now rewrite <- app_assoc|].
    split; intros c x f; simpl; intros.
    + now apply acquired_is_right with fut.
    + now apply released_is_right with fut.
Qed.

(** The monitor fires exactly at a heterogeneous race: for every model, and any execution of any length. *)
Definition races_at (M : model) (E past : list event) (e : event) : Prop :=
  exists f, In f past /\ conflicts M f e = true /\ ~ hb M E f e.

Lemma races_is_right M E fut past e :
  wf E -> lawful M -> E = fut ++ e :: past ->
  (races M (monitor M past) e = true <-> races_at M E past e).
Proof.
  intros Hwf HM Hsplit.
  destruct (monitor_knows M E past (fut ++ [e]) Hwf) as [K P]; [now rewrite <- app_assoc|].
  unfold races, races_at. rewrite existsb_exists, monitor_performed.
  split; intros (f & Hf & H); exists f; (split; [easy|]).
  - apply andb_true_iff in H. destruct H as [C O]. split; [easy|].
    rewrite <- (ordered_is_right M E Hwf fut past e Hsplit K P HM f Hf); [now destruct ordered|].
    now apply (conflicts_collide M HM).
  - destruct H as [C O]. apply andb_true_iff. split; [easy|].
    rewrite <- (ordered_is_right M E Hwf fut past e Hsplit K P HM f Hf) in O; [now destruct ordered|].
    now apply (conflicts_collide M HM).
Qed.

Lemma flag_is_right M E fut past :
  wf E -> lawful M -> E = fut ++ past ->
  (flag (monitor M past) = true <->
   exists e f, In e past /\ In f past /\ conflicts M e f = true /\ ~ hb M E e f /\ ~ hb M E f e).
Proof.
  intros Hwf HM. revert fut. induction past as [|e past IH]; intros fut Hsplit.
  - simpl. split; [easy|]. now intros (? & ? & [] & _).
  - change (flag (monitor M (e :: past))) with (flag (monitor M past) || races M (monitor M past) e).
    rewrite orb_true_iff, (races_is_right M E fut) by easy.
    rewrite (IH (fut ++ [e])) by (now rewrite <- app_assoc).
    assert (forall f, In f past -> conflicts M f e = true -> ~ hb M E e f) as Hback.
    { intros f Hf C. apply hb_not_back; [easy|now apply (conflicts_collide M HM)|].
      rewrite Hsplit in *. now apply before_at. }
    split.
    + intros [(f & g & Hf & Hg & H)|(f & Hf & C & O)].
      * exists f, g. split; [now right|]. split; [now right|easy].
      * exists f, e. repeat split; auto; [now right|now left].
    + intros (f & g & [<-|Hf] & [<-|Hg] & C & O & O').
      * exfalso. now apply (conflicts_collide M HM) in C as [].
      * right. exists g. rewrite (conflicts_symmetric M HM) in C. now repeat split.
      * right. exists f. now repeat split.
      * left. exists f, g. now repeat split.
Qed.

Theorem monitor_decides_races M E : wf E -> lawful M -> (flag (monitor M E) = true <-> raced M E).
Proof. intros Hwf HM. now apply flag_is_right with (fut := []). Qed.

(** ** For each model, in the printed words *)

Local Ltac printed lawful printed :=
  intros Hwf; rewrite monitor_decides_races by (assumption || apply lawful); apply printed.

Theorem monitor_of_drf rd E : wf E -> (flag (monitor (drf rd) E) = true <-> race_drf rd E).
Proof. printed drf_lawful race_drf_as_printed. Qed.
Theorem monitor_of_hrf_direct rd E :
  wf E -> (flag (monitor (hrf_direct rd) E) = true <-> race_direct rd E).
Proof. printed hrf_direct_lawful race_direct_as_printed. Qed.
Theorem monitor_of_hrf_indirect rd E :
  wf E -> (flag (monitor (hrf_indirect rd) E) = true <-> race_indirect rd E).
Proof. printed hrf_indirect_lawful race_indirect_as_printed. Qed.
Theorem monitor_of_hrf_relaxed_direct member within rd E :
  wf E -> (flag (monitor (hrf_relaxed_direct member within rd) E) = true <->
           race_relaxed_direct member within rd E).
Proof. printed hrf_relaxed_direct_lawful race_relaxed_direct_as_printed. Qed.
Theorem monitor_of_hrf_relaxed_indirect member within rd E :
  wf E -> (flag (monitor (hrf_relaxed_indirect member within rd) E) = true <->
           race_relaxed_indirect member within rd E).
Proof. printed hrf_relaxed_indirect_lawful race_relaxed_indirect_as_printed. Qed.

(** ** What follows *)

(** A race stays one, whatever comes after. *)
Lemma raced_stays M e E : lawful M -> wf (e :: E) -> raced M E -> raced M (e :: E).
Proof.
  intros HM Hwf H. apply monitor_decides_races; [easy..|].
  apply monitor_decides_races in H; [|apply Hwf|easy]. simpl. now rewrite H.
Qed.

Lemma raced_decidable M E : lawful M -> wf E -> {raced M E} + {~ raced M E}.
Proof.
  intros HM Hwf. destruct (flag (monitor M E)) eqn:H; [left|right];
    rewrite <- monitor_decides_races by easy; congruence.
Qed.

(** The first race is between the latest event and an earlier one. *)
Lemma first_race M e E :
  lawful M -> wf (e :: E) -> ~ raced M E -> raced M (e :: E) -> races_at M (e :: E) E e.
Proof.
  intros HM Hwf Hno H. rewrite <- (races_is_right M (e :: E) []) by easy.
  rewrite <- monitor_decides_races in H, Hno by (easy || apply Hwf).
  simpl in H. apply orb_true_iff in H. tauto.
Qed.
