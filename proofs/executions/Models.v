(** * Models: happens-before, conflicts and races

    First the definitions of semantics.md, "SC and races", word for word, for DRF, HRF-direct, HRF-indirect
    and the two kinds of HRF-relaxed (Hower et al., ASPLOS 2014, section 3; Gaster, Hower and Howes, TACO
    2015).  Then [model], the form in which all proofs are made once, and that each of the five is one. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions.
Import ListNotations.

(** ** As printed *)

(** The two readings of so_S: "any location" as first printed, "same location" as later refined. *)
Inductive reading := any_location | same_location.

(** A barrier's edges are at a place of their own, whatever number the barrier has. *)
Definition same_place (e f : event) : Prop := access e = access f /\ loc e = loc f.
Definition places_fit (rd : reading) (e f : event) : Prop := rd = same_location -> same_place e f.

(** Release before acquire in the execution. *)
Definition released_before (E : list event) (r a : event) : Prop :=
  before E r a /\ releases r = true /\ acquires a = true.

(** so_S: both with respect to the scope instance S. *)
Definition so_S (rd : reading) (E : list event) (S : nat) (r a : event) : Prop :=
  released_before E r a /\ scope r = S /\ scope a = S /\ places_fit rd r a.

(** Program order, of the events of an execution. *)
Definition po_in (E : list event) (e f : event) : Prop := In e E /\ In f E /\ po e f.

(** HRF-direct: the union, over scope instances S, of (po ∪ so_S)⁺. *)
Definition hb_direct (rd : reading) (E : list event) (e f : event) : Prop :=
  exists S, clos_trans event (fun x y => po_in E x y \/ so_S rd E S x y) e f.

(** HRF-indirect: (po ∪ ⋃_S so_S)⁺. *)
Definition hb_indirect (rd : reading) (E : list event) (e f : event) : Prop :=
  clos_trans event (fun x y => po_in E x y \/ exists S, so_S rd E S x y) e f.

(** DRF: every scope is taken to be the system. *)
Definition so_drf (rd : reading) (E : list event) (r a : event) : Prop :=
  released_before E r a /\ places_fit rd r a.
Definition hb_drf (rd : reading) (E : list event) (e f : event) : Prop :=
  clos_trans event (fun x y => po_in E x y \/ so_drf rd E x y) e f.

(** HRF-relaxed: each one's scope instance includes the other's thread.  In the direct kind such a pair is
    part of the closures of both scope instances. *)
Section Relaxed.
  Variable member : nat -> nat -> bool.  (** scope instance, thread *)
  Variable within : nat -> nat -> bool.  (** the first scope instance is contained in the second *)

  Definition so_relaxed (rd : reading) (E : list event) (r a : event) : Prop :=
    released_before E r a /\ member (scope r) (thread a) = true /\ member (scope a) (thread r) = true /\
    places_fit rd r a.
  Definition hb_relaxed_indirect (rd : reading) (E : list event) (e f : event) : Prop :=
    clos_trans event (fun x y => po_in E x y \/ so_relaxed rd E x y) e f.
  Definition hb_relaxed_direct (rd : reading) (E : list event) (e f : event) : Prop :=
    exists S, clos_trans event
      (fun x y => po_in E x y \/ (so_relaxed rd E x y /\ (scope x = S \/ scope y = S))) e f.
End Relaxed.

(** Two operations on one location by different threads, at least one a write. *)
Definition collide (e f : event) : Prop :=
  thread e <> thread f /\ access e = true /\ access f = true /\ loc e = loc f /\
  (writes e = true \/ writes f = true).

(** Ordinary conflict: at least one is plain. *)
Definition ordinary_conflict (e f : event) : Prop :=
  collide e f /\ (is_plain e = true \/ is_plain f = true).

(** Synchronization conflict: both atomic, performed with respect to different scope instances. *)
Definition synchronization_conflict (e f : event) : Prop :=
  collide e f /\ is_plain e = false /\ is_plain f = false /\ scope e <> scope f.

(** The same in HRF-relaxed: neither scope instance contains the other. *)
Definition relaxed_synchronization_conflict (within : nat -> nat -> bool) (e f : event) : Prop :=
  collide e f /\ is_plain e = false /\ is_plain f = false /\
  within (scope e) (scope f) = false /\ within (scope f) (scope e) = false.

(** A heterogeneous race: a conflicting pair that happens-before leaves unordered. *)
Definition has_race (conflict hb : event -> event -> Prop) (E : list event) : Prop :=
  exists e f, In e E /\ In f E /\ conflict e f /\ ~ hb e f /\ ~ hb f e.

Definition race_drf rd E := has_race ordinary_conflict (hb_drf rd E) E.
Definition hrf_conflict e f := ordinary_conflict e f \/ synchronization_conflict e f.
Definition race_direct rd E := has_race hrf_conflict (hb_direct rd E) E.
Definition race_indirect rd E := has_race hrf_conflict (hb_indirect rd E) E.
Definition relaxed_conflict within e f :=
  ordinary_conflict e f \/ relaxed_synchronization_conflict within e f.
Definition race_relaxed_direct member within rd E :=
  has_race (relaxed_conflict within) (hb_relaxed_direct member rd E) E.
Definition race_relaxed_indirect member within rd E :=
  has_race (relaxed_conflict within) (hb_relaxed_indirect member rd E) E.

(** ** As one

    A release has a *key*: the place, scope instance and thread at which it publishes, as far as the model
    looks at them.  An acquire *hears* keys, in some closures; a closure is a scope instance where each is
    closed on its own, and 0 where all are closed together. *)
Record key := { k_access : bool; k_loc : nat; k_scope : nat; k_thread : nat }.

Record model := {
  key_of : event -> key;
  hears : nat -> key -> event -> bool;
  closures : list event -> list nat;  (** those in which an execution can have synchronization *)
  conflicts : event -> event -> bool
}.

(** What the proofs use of a model. *)
Record lawful (M : model) : Prop := {
  closures_suffice : forall E c r a,
    In r E -> In a E -> hears M c (key_of M r) a = true -> In c (closures M E);
  conflicts_collide : forall e f, conflicts M e f = true -> collide e f;
  conflicts_symmetric : forall e f, conflicts M e f = conflicts M f e;
  plain_conflicts : forall e f, ordinary_conflict e f -> conflicts M e f = true;
  (** A conflict looks at what was read only to see whether there is a write. *)
  conflicts_looks : forall e e' f,
    thread e = thread e' -> what e = what e' -> writes e = writes e' -> conflicts M e f = conflicts M e' f;
  hears_looks : forall c k a a',
    thread a = thread a' -> what a = what a' -> hears M c k a = hears M c k a'
}.

Section Model.
  Variable M : model.
  Variable E : list event.

  Definition so (c : nat) (r a : event) : Prop :=
    before E r a /\ releases r = true /\ acquires a = true /\ hears M c (key_of M r) a = true.
  Definition hb_in (c : nat) : event -> event -> Prop :=
    clos_trans event (fun e f => po_in E e f \/ so c e f).
  Definition hb (e f : event) : Prop := exists c, hb_in c e f.
  Definition raced : Prop :=
    exists e f, In e E /\ In f E /\ conflicts M e f = true /\ ~ hb e f /\ ~ hb f e.
End Model.

(** ** The five models *)

Definition at_place (rd : reading) (e : event) : bool * nat :=
  match rd with any_location => (true, 0) | same_location => (access e, loc e) end.

Definition key_with (rd : reading) (s t : nat) (e : event) : key :=
  {| k_access := fst (at_place rd e); k_loc := snd (at_place rd e); k_scope := s; k_thread := t |}.

Definition hears_place (rd : reading) (k : key) (a : event) : bool :=
  eqb (k_access k) (fst (at_place rd a)) && (k_loc k =? snd (at_place rd a)).

Definition collides (e f : event) : bool :=
  negb (thread e =? thread f) && access e && access f && (loc e =? loc f) && (writes e || writes f).

Definition conflicts_with (fit : nat -> nat -> bool) (e f : event) : bool :=
  collides e f && (is_plain e || is_plain f || negb (fit (scope e) (scope f))).

Definition drf (rd : reading) : model := {|
  key_of := key_with rd 0 0;
  hears := fun c k a => (c =? 0) && hears_place rd k a;
  closures := fun _ => [0];
  conflicts := conflicts_with (fun _ _ => true)
|}.

Definition hrf_direct (rd : reading) : model := {|
  key_of := fun r => key_with rd (scope r) 0 r;
  hears := fun c k a => (c =? scope a) && (k_scope k =? scope a) && hears_place rd k a;
  closures := map scope;
  conflicts := conflicts_with Nat.eqb
|}.

Definition hrf_indirect (rd : reading) : model := {|
  key_of := fun r => key_with rd (scope r) 0 r;
  hears := fun c k a => (c =? 0) && (k_scope k =? scope a) && hears_place rd k a;
  closures := fun _ => [0];
  conflicts := conflicts_with Nat.eqb
|}.

Definition includes (within : nat -> nat -> bool) (s t : nat) : bool := within s t || within t s.

Definition hrf_relaxed_direct member within (rd : reading) : model := {|
  key_of := fun r => key_with rd (scope r) (thread r) r;
  hears := fun c k a =>
    ((c =? k_scope k) || (c =? scope a)) &&
    member (k_scope k) (thread a) && member (scope a) (k_thread k) && hears_place rd k a;
  closures := map scope;
  conflicts := conflicts_with (includes within)
|}.

Definition hrf_relaxed_indirect member within (rd : reading) : model := {|
  key_of := fun r => key_with rd (scope r) (thread r) r;
  hears := fun c k a =>
    (c =? 0) && member (k_scope k) (thread a) && member (scope a) (k_thread k) && hears_place rd k a;
  closures := fun _ => [0];
  conflicts := conflicts_with (includes within)
|}.

(** ** They are lawful *)

Lemma collides_iff e f : collides e f = true <-> collide e f.
Proof.
  unfold collides, collide.
  rewrite !andb_true_iff, negb_true_iff, Nat.eqb_neq, Nat.eqb_eq, orb_true_iff. tauto.
Qed.

Lemma collides_symmetric e f : collides e f = collides f e.
Proof.
  apply eq_true_iff_eq. rewrite !collides_iff. unfold collide. intuition congruence.
Qed.

Lemma conflicts_with_lawful fit :
  (forall s t, fit s t = fit t s) ->
  (forall e f, conflicts_with fit e f = true -> collide e f) /\
  (forall e f, conflicts_with fit e f = conflicts_with fit f e) /\
  (forall e f, ordinary_conflict e f -> conflicts_with fit e f = true) /\
  (forall e e' f, thread e = thread e' -> what e = what e' -> writes e = writes e' ->
     conflicts_with fit e f = conflicts_with fit e' f).
Proof.
  intros Hfit. repeat split.
  1-5: unfold conflicts_with in *; rewrite andb_true_iff, collides_iff in *; unfold collide in *; tauto.
  - intros e f. unfold conflicts_with. rewrite collides_symmetric, Hfit, (orb_comm (is_plain e)). easy.
  - intros e f [H Hp]. unfold conflicts_with. apply collides_iff in H. rewrite H. simpl.
    apply orb_true_iff. left. now apply orb_true_iff.
  - intros e e' f Ht Hw Hr. unfold conflicts_with, collides, access, loc, is_plain, scope.
    now rewrite Ht, Hw, Hr.
Qed.

Local Ltac lawful_by fits closed :=
  destruct (conflicts_with_lawful _ fits) as (? & ? & ? & ?);
  constructor; simpl; try assumption; [closed|]; intros c k a a' Ht Hw;
  unfold hears_place, at_place, scope, access, loc; now rewrite ?Ht, ?Hw.

Lemma includes_symmetric within s t : includes within s t = includes within t s.
Proof. apply orb_comm. Qed.

Local Ltac at_zero :=
  intros E c r a _ _ Hh; repeat rewrite andb_true_iff in Hh; rewrite Nat.eqb_eq in Hh; left; symmetry; tauto.
Local Ltac at_scope :=
  intros E c r a Hr Ha Hh; repeat rewrite andb_true_iff in Hh; repeat rewrite orb_true_iff in Hh;
  repeat rewrite Nat.eqb_eq in Hh; apply in_map_iff;
  first [ exists a; split; [symmetry; tauto | assumption]
        | destruct Hh as [[[[Hh|Hh] _] _] _]; [exists r | exists a]; split; auto ].

Theorem drf_lawful rd : lawful (drf rd).
Proof. lawful_by (fun _ _ : nat => eq_refl true) at_zero. Qed.
Theorem hrf_direct_lawful rd : lawful (hrf_direct rd).
Proof. lawful_by Nat.eqb_sym at_scope. Qed.
Theorem hrf_indirect_lawful rd : lawful (hrf_indirect rd).
Proof. lawful_by Nat.eqb_sym at_zero. Qed.
Theorem hrf_relaxed_direct_lawful member within rd : lawful (hrf_relaxed_direct member within rd).
Proof. lawful_by (includes_symmetric within) at_scope. Qed.
Theorem hrf_relaxed_indirect_lawful member within rd : lawful (hrf_relaxed_indirect member within rd).
Proof. lawful_by (includes_symmetric within) at_zero. Qed.

(** ** They are what is printed *)

Lemma hears_place_fits rd s t r a : hears_place rd (key_with rd s t r) a = true <-> places_fit rd r a.
Proof.
  unfold hears_place, key_with, places_fit, same_place. simpl.
  rewrite andb_true_iff, eqb_true_iff, Nat.eqb_eq.
  destruct rd; simpl; [easy|]. intuition.
Qed.

Lemma clos_trans_iff (R S : event -> event -> Prop) :
  (forall x y, R x y <-> S x y) -> forall e f, clos_trans event R e f <-> clos_trans event S e f.
Proof.
  intros H e f. split; induction 1;
    try (apply t_step; now apply H); eapply t_trans; eassumption.
Qed.

(** Program order alone is in every closure. *)
Lemma hb_in_empty M E c0 :
  (forall c r a, hears M c (key_of M r) a = true -> c = c0) -> forall e f, hb M E e f <-> hb_in M E c0 e f.
Proof.
  intros Honly e f. split; [|now exists c0].
  intros [c H]. induction H as [x y [H|H]|x y z _ IH1 _ IH2].
  - apply t_step. now left.
  - apply t_step. right. destruct H as (? & ? & ? & H). rewrite <- (Honly _ _ _ H). now repeat split.
  - now apply t_trans with y.
Qed.

Local Ltac one_closure :=
  rewrite (hb_in_empty _ _ 0); [|intros c r a Hc; simpl in Hc; repeat rewrite andb_true_iff in Hc;
                                 rewrite Nat.eqb_eq in Hc; tauto].
Local Ltac same_steps :=
  apply clos_trans_iff; intros x y; unfold so, so_S, so_drf, so_relaxed, released_before; simpl;
  repeat rewrite andb_true_iff; repeat rewrite orb_true_iff; repeat rewrite Nat.eqb_eq;
  rewrite hears_place_fits.

Theorem drf_as_printed rd E e f : hb (drf rd) E e f <-> hb_drf rd E e f.
Proof. one_closure. same_steps. tauto. Qed.

Theorem hrf_indirect_as_printed rd E e f : hb (hrf_indirect rd) E e f <-> hb_indirect rd E e f.
Proof.
  one_closure. same_steps. split.
  - intros [H|(H1 & H2 & H3 & H4 & H5)]; [now left|]. right. exists (scope x). auto 6.
  - intros [H|(S & (H1 & H2 & H3) & <- & H4 & H5)]; [now left|]. right. auto 6.
Qed.

Theorem hrf_direct_as_printed rd E e f : hb (hrf_direct rd) E e f <-> hb_direct rd E e f.
Proof.
  unfold hb, hb_in, hb_direct.
  assert (forall c, hb_in (hrf_direct rd) E c e f <->
                    clos_trans event (fun x y => po_in E x y \/ so_S rd E c x y) e f) as H.
  { intros c. same_steps. intuition congruence. }
  split; intros [c Hc]; exists c; now apply H.
Qed.

Theorem hrf_relaxed_indirect_as_printed member within rd E e f :
  hb (hrf_relaxed_indirect member within rd) E e f <-> hb_relaxed_indirect member rd E e f.
Proof. one_closure. same_steps. tauto. Qed.

Theorem hrf_relaxed_direct_as_printed member within rd E e f :
  hb (hrf_relaxed_direct member within rd) E e f <-> hb_relaxed_direct member rd E e f.
Proof.
  unfold hb, hb_in, hb_relaxed_direct.
  assert (forall c, hb_in (hrf_relaxed_direct member within rd) E c e f <->
    clos_trans event
      (fun x y => po_in E x y \/ (so_relaxed member rd E x y /\ (scope x = c \/ scope y = c))) e f) as H.
  { intros c. same_steps. intuition. }
  split; intros [c Hc]; exists c; now apply H.
Qed.

Lemma race_as_printed M (conflict hb' : event -> event -> Prop) E :
  (forall e f, conflicts M e f = true <-> conflict e f) ->
  (forall e f, hb M E e f <-> hb' e f) ->
  (raced M E <-> has_race conflict hb' E).
Proof.
  intros Hc Hh. unfold raced, has_race.
  split; intros (e & f & H1 & H2 & H3 & H4 & H5); exists e, f;
    rewrite Hc, !Hh in * || rewrite <- Hc, <- !Hh in *; auto.
Qed.

Lemma conflicts_with_iff fit e f :
  conflicts_with fit e f = true <->
  ordinary_conflict e f \/
  (collide e f /\ is_plain e = false /\ is_plain f = false /\ fit (scope e) (scope f) = false).
Proof.
  unfold conflicts_with, ordinary_conflict.
  rewrite andb_true_iff, collides_iff, !orb_true_iff, negb_true_iff.
  destruct (is_plain e), (is_plain f); intuition congruence.
Qed.

Lemma hrf_conflicts_as_printed e f : conflicts_with Nat.eqb e f = true <-> hrf_conflict e f.
Proof.
  rewrite conflicts_with_iff. unfold hrf_conflict, synchronization_conflict. now rewrite Nat.eqb_neq.
Qed.

Lemma relaxed_conflicts_as_printed within e f :
  conflicts_with (includes within) e f = true <-> relaxed_conflict within e f.
Proof.
  rewrite conflicts_with_iff. unfold relaxed_conflict, relaxed_synchronization_conflict, includes.
  now rewrite orb_false_iff.
Qed.

Theorem race_drf_as_printed rd E : raced (drf rd) E <-> race_drf rd E.
Proof.
  apply race_as_printed; [|apply drf_as_printed].
  intros e f. simpl. rewrite conflicts_with_iff. intuition congruence.
Qed.
Theorem race_direct_as_printed rd E : raced (hrf_direct rd) E <-> race_direct rd E.
Proof. apply race_as_printed; [apply hrf_conflicts_as_printed|apply hrf_direct_as_printed]. Qed.
Theorem race_indirect_as_printed rd E : raced (hrf_indirect rd) E <-> race_indirect rd E.
Proof. apply race_as_printed; [apply hrf_conflicts_as_printed|apply hrf_indirect_as_printed]. Qed.
Theorem race_relaxed_direct_as_printed member within rd E :
  raced (hrf_relaxed_direct member within rd) E <-> race_relaxed_direct member within rd E.
Proof. apply race_as_printed; [apply relaxed_conflicts_as_printed|apply hrf_relaxed_direct_as_printed]. Qed.
Theorem race_relaxed_indirect_as_printed member within rd E :
  raced (hrf_relaxed_indirect member within rd) E <-> race_relaxed_indirect member within rd E.
Proof. apply race_as_printed; [apply relaxed_conflicts_as_printed|apply hrf_relaxed_indirect_as_printed]. Qed.
