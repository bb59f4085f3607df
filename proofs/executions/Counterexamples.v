(** * Why the conditions were mended

    semantics.md's conditions, as printed, leave two gaps, each filled by one of [mended]'s two fields; with
    either field as printed a memory system may keep the promise "raced, or every completed load and RMW
    returned the newest write at its point" and still show a race-free program what no SC run shows.  The
    third lemma is about a sentence that is true of plain reads alone. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Port Flat Theorems.
Import ListNotations.

(** As printed: acquires alone go first. *)
Definition acquires_alone_go_first : rules := {| goes_first := op_acquires; numbered_below := overtaken |}.
(** As printed: numbers are in the order of points, whatever that is. *)
Definition numbered_at_points : rules := {| goes_first := op_takes; numbered_below := fun _ _ _ => false |}.

Definition access_of (k : kind) (r : order) (x : nat) : op :=
  {| kind_of := k; order_of := r; loc_of := x; scope_of := 0 |}.

(** Threads whose next operation depends on what they have seen. *)
Definition threads_that (next : nat -> history -> option op) : program := {|
  local := history;
  starts := fun _ h => h = [];
  issues := fun t h o => next t h = Some o;
  receives := fun _ h o v h' => h' = h ++ [(o, v)];
  opens := fun _ _ _ => True;
  initial := fun _ => 0
|}.

Lemma threads_may_issue next t h o : may_issue (threads_that next) t h o <-> next t h = Some o.
Proof.
  assert (forall h s, after (threads_that next) t h s -> s = h) as Hafter.
  { intros h' s H. induction H as [s H|h' s o' v s' H IH Hr]; simpl in *; [easy|]. now subst. }
  split.
  - intros (s & H & Hi). apply Hafter in H. now subst.
  - intros H. exists h. split; [|easy]. clear H.
    induction h as [|[o' v] h IH] using rev_ind; [now constructor|].
    now apply after_one with h.
Qed.

(** Steps of a run, for states that are written down. *)
Definition ask (s : port) (t : nat) (o : op) : port :=
  {| issued := put (issued s) t (issued s t ++ [o]); returned := returned s; points := points s |}.
Definition perform (P : program) (R : rules) (s : port) (t k : nat) (o : op) : port :=
  {| issued := issued s; returned := returned s; points := event_at P R s t k o :: points s |}.
Definition answer (s : port) (t v : nat) : port :=
  {| issued := issued s; returned := put (returned s) t (returned s t ++ [v]); points := points s |}.

Lemma run_right P R M s : run P R M s -> raced M (points s) \/ returns_newest s.
Proof. intros H. destruct H; [now right|easy]. Qed.

Lemma run_ask P R M s t o :
  run P R M s -> length (returned s t) = length (issued s t) ->
  may_issue P t (combine (issued s t) (returned s t)) o -> run P R M (ask s t o).
Proof.
  intros H Hl Hi. apply run_one with s; [easy|now apply request|].
  apply run_right in H. destruct H as [H|H]; [now left|now right].
Qed.

Definition may_perform (P : program) (R : rules) (s : port) (t k : nat) (o : op) : Prop :=
  nth_error (issued s t) k = Some o /\ has_point s t k = false /\
  (forall j o', j < k -> nth_error (issued s t) j = Some o' ->
     (op_plain o' = false -> op_plain o = false -> has_point s t j = true) /\
     (goes_first R o' = true -> has_point s t j = true)) /\
  may_depart P (points s) t o.

Lemma run_perform P R M s t k o :
  run P R M s -> may_perform P R s t k o ->
  raced M (event_at P R s t k o :: points s) \/ returns_newest (perform P R s t k o) ->
  run P R M (perform P R s t k o).
Proof.
  intros H (H1 & H2 & H3 & H4) Hr. apply run_one with s; [easy| |easy].
  apply point; try easy; intros j o' Hj Ho'; now apply (H3 j o').
Qed.

Lemma run_answer P R M s t v o :
  run P R M s -> nth_error (issued s t) (length (returned s t)) = Some o ->
  (op_plain o = true -> has_point s t (length (returned s t)) = true) ->
  (op_reads o = false -> v = 0) ->
  raced M (points s) \/ returns_newest (answer s t v) ->
  run P R M (answer s t v).
Proof. intros H H1 H2 H3 Hr. apply run_one with s; [easy| |easy]. now apply complete with o. Qed.

(** Of what is written down. *)
Ltac performable :=
  repeat split; try easy; try (simpl; lia);
  match goal with
  | Hj : ?j < _, H : nth_error _ ?j = Some _ |- _ =>
      destruct j as [|[|[|j]]]; try (simpl in *; lia); simpl in *; injection H as <-; easy
  end.
Ltac newest_returned :=
  right; intros e v He Hr; simpl in He;
  repeat (destruct He as [<-|He]; [simpl in *; congruence|]); now destruct He.

(** ** An RMW that releases may be answered what no memory holds

    P0: r0 = exchange.release y, 1; if r0 = 42: st x, 1      P1: ld x

    Memory answers the RMW 42 before its point, which the printed conditions allow of any atomic; P0 goes on
    and stores x, plainly; P1 loads x, and that is a race, after which nothing is promised.  But no SC run
    stores x at all: the program has no race, and its load returns 0. *)

Definition exchange_y := access_of (Rmw (fun _ => Some 1)) release 1.
Definition store_x := access_of (Store 1) plain 0.
Definition load_x := access_of Load plain 0.

Definition out_of_thin_air : program := threads_that (fun t h =>
  match t, h with
  | 0, [] => Some exchange_y
  | 0, [(_, 42)] => Some store_x
  | 1, [] => Some load_x
  | _, _ => None
  end).

Section ThinAir.
  Notation P := out_of_thin_air.
  Notation A := acquires_alone_go_first.

  Definition thin_air_s3 : port := ask (answer (ask idle 0 exchange_y) 0 42) 0 store_x.
  Definition thin_air_s6 : port := ask (answer (perform P A thin_air_s3 0 1 store_x) 0 0) 1 load_x.
  Definition thin_air_run : port :=
    perform P A (answer (perform P A thin_air_s6 1 0 load_x) 1 1) 0 0 exchange_y.

  Lemma thin_air_sc_run R :
    sc_run P R ->
    (memory P R 1 = 0 /\ history_of 0 R = [] \/ history_of 0 R = [(exchange_y, 0)]) /\
    (forall e, In e R -> (thread e = 0 /\ loc e = 1) \/ (thread e = 1 /\ loc e = 0)) /\
    memory P R 0 = 0 /\ forall o v, In (o, v) (history_of 1 R) -> v = 0.
  Proof.
    induction 1 as [|R e HR (H0 & Hall & Hx & H1) Hi Hissue _ Hg]; [simpl; repeat split; auto; easy|].
    apply threads_may_issue in Hissue. destruct e as [t i o g]. simpl in *.
    destruct t as [|[|t]]; simpl in *; [| |easy].
    - assert (history_of 0 R = [] /\ memory P R 1 = 0) as [Hh Hm].
      { destruct H0 as [[? ?]|H0]; [easy|]. now rewrite H0 in Hissue. }
      rewrite Hh in *. injection Hissue as <-.
      assert (g = 0) as -> by (change (g = memory P R 1) in Hg; congruence).
      repeat split; auto. intros e [<-|He]; auto.
    - destruct (history_of 1 R) as [|? ?]; [|easy]. injection Hissue as <-.
      assert (g = 0) as -> by (change (g = memory P R 0) in Hg; congruence).
      repeat split; auto; [intros e [<-|He]; auto|]. intros o v [H|[]]. now injection H.
  Qed.

  Lemma thin_air_is_race_free M : lawful M -> race_free P M.
  Proof.
    intros HM R HR (e & f & He & Hf & Hc & _). apply (conflicts_collide M HM) in Hc.
    destruct Hc as (Ht & _ & _ & Hl & _). destruct (thin_air_sc_run R HR) as (_ & Hall & _).
    destruct (Hall e He) as [[? ?]|[? ?]], (Hall f Hf) as [[? ?]|[? ?]]; congruence.
  Qed.

  Lemma no_acquire_no_order M E e f :
    (forall a, In a E -> acquires a = false) -> thread e <> thread f -> ~ hb M E e f.
  Proof.
    intros Hno Ht [c H]. destruct (last_synchronization M E c e f H Ht) as (r & a & S & _ & Ha).
    pose proof (before_in _ _ _ (proj1 S)) as [_ Hin].
    destruct S as (_ & _ & A & _). now rewrite (Hno a Hin) in A.
  Qed.

  (** The race between the two plain accesses. *)
  Lemma thin_air_races M E : lawful M ->
    let s := {| thread := 0; idx := 1; what := store_x; got := 0 |} in
    let l := {| thread := 1; idx := 0; what := load_x; got := 1 |} in
    (forall a, In a E -> acquires a = false) -> In s E -> In l E -> raced M E.
  Proof.
    intros HM s l Hno Hs Hl. exists s, l. repeat split; try easy.
    - apply (plain_conflicts M HM). split; [|now left]. unfold collide. simpl. intuition easy.
    - apply no_acquire_no_order; [easy|simpl; lia].
    - apply no_acquire_no_order; [easy|simpl; lia].
  Qed.

  Theorem printed_acquires_are_too_few M : lawful M ->
    exists s, race_free P M /\ run P A M s /\ drained s /\ ~ exists R, sc_run P R /\ outcome_of P s R.
  Proof.
    intros HM. exists thin_air_run. split; [now apply thin_air_is_race_free|]. split; [|split].
    - assert (forall E, (forall a, In a E -> acquires a = false) ->
                In (event_at P A thin_air_s3 0 1 store_x) E -> In (event_at P A thin_air_s6 1 0 load_x) E ->
                raced M E) as Hrace by (intros; now apply thin_air_races).
      repeat first [apply run_nothing | apply run_ask | apply run_perform | eapply run_answer];
        try (now apply threads_may_issue); try (performable; fail); try easy.
      all: try (left; apply Hrace; simpl; intuition (subst; easy); fail); try (newest_returned; fail).
    - intros [|[|t]]; simpl; (split; [easy|]); intros k Hk; try lia.
      + destruct k as [|[|k]]; [easy|easy|lia].
      + destruct k; [easy|lia].
    - intros (R & HR & Hh & _). destruct (thin_air_sc_run R HR) as (_ & _ & _ & H1).
      specialize (Hh 1). simpl in Hh. rewrite Hh in H1. specialize (H1 load_x 1). simpl in H1.
      discriminate H1. now left.
  Qed.
End ThinAir.

(** ** A StRel overtaken by a later store of its own thread

    P0: st.release x, 1; st x, 2; ld x

    The StRel completes, its store still on its way; the plain store has its point, then the StRel has its
    own.  Numbered at their points, the StRel's write is the newest, and the load returns 1: alone on the
    machine, a thread reads what it has overwritten. *)
Definition release_x := access_of (Store 1) release 0.
Definition store_x_2 := access_of (Store 2) plain 0.

Definition own_store_overtaken : program := threads_that (fun t h =>
  match t, h with
  | 0, [] => Some release_x
  | 0, [_] => Some store_x_2
  | 0, [_; _] => Some load_x
  | _, _ => None
  end).

Section Overtaken.
  Notation P := own_store_overtaken.
  Notation N := numbered_at_points.

  Definition overtaken_run : port :=
    answer (perform P N (ask (perform P N (answer (perform P N (ask (answer (ask idle
      0 release_x) 0 0) 0 store_x_2) 0 1 store_x_2) 0 0) 0 0 release_x) 0 load_x) 0 2 load_x) 0 1.

  Lemma overtaken_sc_run R :
    sc_run P R ->
    (forall e, In e R -> thread e = 0) /\
    (history_of 0 R = [] \/
     history_of 0 R = [(release_x, 0)] \/
     (history_of 0 R = [(release_x, 0); (store_x_2, 0)] /\ memory P R 0 = 2) \/
     history_of 0 R = [(release_x, 0); (store_x_2, 0); (load_x, 2)]).
  Proof.
    induction 1 as [|R e HR (Hall & H0) Hi Hissue _ Hg]; [simpl; split; [easy|auto]|].
    apply threads_may_issue in Hissue. destruct e as [t i o g]. simpl in *.
    destruct t as [|t]; [|easy]. split; [intros e [<-|He]; auto|]. simpl.
    destruct H0 as [H0|[H0|[[H0 Hm]|H0]]]; rewrite H0; rewrite H0 in Hissue; simpl in Hissue.
    - injection Hissue as <-. rewrite Hg. auto.
    - injection Hissue as <-. rewrite Hg. auto.
    - injection Hissue as <-. change (g = memory P R 0) in Hg. rewrite Hg, Hm. auto.
    - easy.
  Qed.

  Lemma one_thread_has_no_race M E : lawful M -> (forall e, In e E -> thread e = 0) -> ~ raced M E.
  Proof.
    intros HM Hall (e & f & He & Hf & Hc & _). apply (conflicts_collide M HM) in Hc.
    destruct Hc as [Ht _]. apply Ht. now rewrite (Hall e He), (Hall f Hf).
  Qed.

  Theorem numbers_at_points_break_coherence M : lawful M ->
    exists s, race_free P M /\ run P N M s /\ drained s /\ ~ raced M (points s) /\
              ~ exists R, sc_run P R /\ outcome_of P s R.
  Proof.
    intros HM. exists overtaken_run. repeat split.
    - intros R HR. apply one_thread_has_no_race; [easy|]. now apply overtaken_sc_run.
    - unfold overtaken_run.
      repeat first [apply run_nothing | apply run_ask | apply run_perform | eapply run_answer];
        try (now apply threads_may_issue); try (performable; fail); try easy.
      all: newest_returned.
    - destruct t as [|t]; easy.
    - destruct t as [|t]; simpl; intros k Hk; [|lia]. destruct k as [|[|[|k]]]; [easy..|lia].
    - apply one_thread_has_no_race; [easy|]. simpl. intros e He.
      repeat (destruct He as [<-|He]; [easy|]). easy.
    - intros (R & HR & Hh & _). destruct (overtaken_sc_run R HR) as [_ H].
      specialize (Hh 0). simpl in Hh. rewrite Hh in H.
      destruct H as [H|[H|[[H _]|H]]]; discriminate H.
  Qed.
End Overtaken.

(** ** An atomic read may return a write that does not happen before it

    P0: exchange.acquire x, 1      P1: ld.acquire x

    Both are performed with respect to one scope instance, so they don't conflict; nobody releases, so they
    aren't ordered.  "Every read returns the newest write that happens before it" is true of plain reads
    (Reads.v); what all reads return is the newest write in the order of the SC run. *)
Definition exchange_x := access_of (Rmw (fun _ => Some 1)) acquire 0.
Definition acquire_x := access_of Load acquire 0.

Definition two_acquires : program := threads_that (fun t h =>
  match t, h with
  | 0, [] => Some exchange_x
  | 1, [] => Some acquire_x
  | _, _ => None
  end).

Definition exchanged : event := {| thread := 0; idx := 0; what := exchange_x; got := 0 |}.
Definition acquired_1 : event := {| thread := 1; idx := 0; what := acquire_x; got := 1 |}.

Theorem atomic_reads_need_not_be_ordered rd :
  sc_run two_acquires [acquired_1; exchanged] /\
  ~ raced (hrf_indirect rd) [acquired_1; exchanged] /\
  ~ hb (hrf_indirect rd) [acquired_1; exchanged] exchanged acquired_1.
Proof.
  repeat split.
  - repeat constructor; try easy; now apply threads_may_issue.
  - intros (e & f & He & Hf & Hc & _). simpl in He, Hf.
    destruct He as [<-|[<-|[]]], Hf as [<-|[<-|[]]]; discriminate Hc.
  - intros [c H]. destruct (last_synchronization _ _ _ _ _ H) as (r & a & (B & Hr & _) & _); [easy|].
    apply before_in in B. destruct B as [[<-|[<-|[]]] _]; discriminate Hr.
Qed.
