(** * From a memory system's theorem to programs

    What semantics.md, "From there to 'race-free programs see only SC'", says, for any program, any memory
    system whose runs satisfy Programs.v, every model, and both readings. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs.
From Lockstep Require Import Port Flat Explain Follow FirstRace.
Import ListNotations.

Section Theorems.
  Variable P : program.
  Variable M : model.
  Hypothesis HM : lawful M.

  Notation proper := (proper P).
  Notation memory := (memory P).
  Notation sc_run := (sc_run P).
  Notation highest := (highest P mended).
  Notation explains := (explains P).
  Notation run := (run P mended M).

  (** ** Until the first race, an SC run follows *)

  Lemma idle_explained : explains idle [].
  Proof.
    constructor; simpl; try easy; try constructor.
    - now intros e [].
  Qed.

  Lemma same_points_explained s s' Q :
    proper s -> points s' = points s -> (forall t, exists more, issued s' t = issued s t ++ more) ->
    explains s Q -> explains s' Q.
  Proof.
    intros Hs Hp Hi HQ.
    assert (forall t j, has_point s' t j = has_point s t j) as Hpoint by
      (intros; unfold has_point; now rewrite Hp).
    assert (forall t j, j < length (issued s t) -> ev s' t j = ev s t j) as Hev.
    { intros t j Hj. unfold ev. rewrite Hp. destruct (Hi t) as [more ->].
      now rewrite app_nth1. }
    assert (forall f, hanging s' Q f <-> hanging s Q f) as Hhang by (intros; unfold hanging; now rewrite Hp).
    constructor.
    - apply HQ.
    - rewrite Hp. apply HQ.
    - rewrite Hp. apply HQ.
    - intros t. rewrite Hpoint. apply HQ.
    - rewrite Hp. apply HQ.
    - intros e He Hr. apply Hhang in He. rewrite (reads_will_fit _ _ _ HQ e He Hr). do 2 f_equal.
      apply slice_ext. intros j Hj. symmetry. apply Hev.
      destruct He as [He _]. apply (point_event P s) in He; [lia|easy].
    - intros t x Hothers. rewrite Hp. rewrite (highest_is_last _ _ _ HQ t x) by
        (intros f Hf; apply Hothers; now apply Hhang).
      do 2 f_equal.
      assert (forall j, length (issued s t) <= j -> has_point s t j = false) as Hnone.
      { intros j Hj. destruct (has_point s t j) eqn:H; [|easy]. apply has_point_iff in H.
        destruct H as (e & He & <- & <-). apply (point_event P s e Hs) in He. lia. }
      assert (count t Q <= length (issued s t)) as Hc.
      { destruct (le_lt_dec (count t Q) (length (issued s t))) as [|H]; [easy|].
        apply (below_count_has_point P s Q t _ HQ) in H. rewrite Hnone in H by lia. easy. }
      destruct (Hi t) as [more Hmore].
      rewrite (on_way_up_to s Q t (length (issued s t))) by (easy || lia).
      rewrite (on_way_up_to s' Q t (length (issued s t))).
      + rewrite (slice_ext s' s) by (intros; apply Hev; lia).
        apply filter_same. intros. symmetry. apply Hpoint.
      + rewrite Hmore, app_length. lia.
      + intros j Hj. rewrite Hpoint. now apply Hnone.
  Qed.

  (** Until the first race an SC run explains what a run has done; at the first race some SC run races. *)
  Theorem run_explained_or_some_sc_run_races s :
    run s -> (~ raced M (points s) /\ exists Q, explains s Q) \/ some_sc_run_races P M.
  Proof.
    induction 1 as [|s s' Hrun IH Hstep Hright].
    - left. split; [now intros (? & ? & [] & _)|]. exists []. apply idle_explained.
    - destruct IH as [[Hno [Q HQ]]|H]; [|now right].
      pose proof (run_is_proper P M s Hrun) as Hs.
      pose proof (step_is_proper P s s' Hs Hstep) as Hs'.
      assert (returns_newest s) as Hn by (inversion Hrun; subst; [easy|tauto]).
      destruct Hstep as [s t o Hidle Hprog|s t k o Hk Hfree Hatomics Htakes Hgate|s t o v Ho Hp Hv].
      + left. split; [easy|]. exists Q. apply same_points_explained with s; try easy.
        intros u. simpl. unfold put. destruct (u =? t) eqn:E; [|exists []; now rewrite app_nil_r].
        apply Nat.eqb_eq in E. subst. now exists [o].
      + destruct (raced_decidable M _ HM (points_well_formed P _ Hs')) as [Hrace|Hno'].
        * right.
          destruct (first_race M _ _ HM (points_well_formed P _ Hs') Hno Hrace) as (m & Hm & Hc & Hu).
          apply (first_race_in_sc_run P M HM s Q t k o) with m; try easy.
          apply (conflicts_collide M HM) in Hc. apply Hc.
        * left. split; [easy|]. destruct Hright as [|Hright]; [easy|].
          now apply (point_explained P M HM s Q t k o).
      + left. split; [easy|]. exists Q. apply same_points_explained with s; try easy.
        intros u. simpl. exists []. now rewrite app_nil_r.
  Qed.

  Theorem first_race_is_a_race_in_an_sc_run s : run s -> raced M (points s) -> some_sc_run_races P M.
  Proof. intros Hrun H. destruct (run_explained_or_some_sc_run_races s Hrun) as [[? _]|]; easy. Qed.

  (** A run without a race had none at any earlier moment. *)
  Lemma unraced_returns_newest s : run s -> ~ raced M (points s) -> returns_newest s.
  Proof. intros Hrun Hno. inversion Hrun; subst; [easy|tauto]. Qed.

  Lemma run_without_race_explained s : run s -> ~ raced M (points s) -> exists Q, explains s Q.
  Proof.
    induction 1 as [|s s' Hrun IH Hstep Hright]; intros Hno.
    - exists []. apply idle_explained.
    - pose proof (run_is_proper P M s Hrun) as Hs.
      pose proof (step_is_proper P s s' Hs Hstep) as Hs'.
      destruct Hright as [|Hright]; [easy|].
      destruct Hstep as [s t o Hidle Hprog|s t k o Hk Hfree Hatomics Htakes Hgate|s t o v Ho Hp Hv].
      + destruct (IH Hno) as [Q HQ]. exists Q. apply same_points_explained with s; try easy.
        intros u. simpl. unfold put. destruct (u =? t) eqn:E; [|exists []; now rewrite app_nil_r].
        apply Nat.eqb_eq in E. subst. now exists [o].
      + destruct IH as [Q HQ].
        { intros H. apply Hno. apply raced_stays; [easy| |easy]. apply (points_well_formed P _ Hs'). }
        now apply (point_explained P M HM s Q t k o).
      + destruct (IH Hno) as [Q HQ]. exists Q. apply same_points_explained with s; try easy.
        intros u. simpl. exists []. now rewrite app_nil_r.
  Qed.

  (** ** Outcomes *)

  (** Every thread saw in [s] what it sees in the SC run [R], and memory ends the same. *)
  Definition outcome_of (s : port) (R : list event) : Prop :=
    (forall t, history_of t R = combine (issued s t) (returned s t)) /\
    (forall x, memory R x = highest (points s) x).

  (** The SC run has the same operations, with the same results, and the same happens-before. *)
  Definition same_execution (E R : list event) : Prop :=
    (forall e, In e R <-> In e E) /\ (forall e f, hb M R e f <-> hb M E e f).

  Lemma drained_count s Q t : explains s Q -> proper s -> drained s -> count t Q = length (issued s t).
  Proof.
    intros HQ Hs Hd. destruct (Hd t) as [_ Hp]. pose proof (stops_at_gap _ _ _ HQ t) as Hgap.
    destruct (lt_eq_lt_dec (count t Q) (length (issued s t))) as [[H|H]|H]; [|easy|].
    - rewrite Hp in Hgap; easy.
    - exfalso. apply (below_count_has_point P s Q t _ HQ) in H. apply has_point_iff in H.
      destruct H as (e & He & <- & Hi). apply (point_event P s e Hs) in He. lia.
  Qed.

  Lemma drained_same_events s Q :
    explains s Q -> proper s -> drained s -> forall e, In e Q <-> In e (points s).
  Proof.
    intros HQ Hs Hd e. split; [apply (has_points _ _ _ HQ)|]. intros He.
    apply (has_all_below _ _ _ HQ); [easy|]. rewrite (drained_count s Q) by easy.
    now apply (point_event P s).
  Qed.

  Lemma same_happens_before s Q :
    explains s Q -> (forall e, In e Q <-> In e (points s)) -> forall e f, hb M Q e f <-> hb M (points s) e f.
  Proof.
    intros HQ Hin e f.
    assert (forall c, hb_in M Q c e f <-> hb_in M (points s) c e f) as H.
    { intros c. apply clos_trans_iff. intros x y. unfold po_in, so. rewrite !Hin.
      assert (releases x = true -> acquires y = true -> (before Q x y <-> before (points s) x y)) as Hb.
      { intros Hx%release_not_plain Hy%acquire_not_plain.
        rewrite <- (before_filter sync Q), <- (before_filter sync (points s));
          try (unfold sync; now rewrite ?Hx, ?Hy).
        now rewrite (same_order_of_atomics _ _ _ HQ). }
      tauto. }
    split; intros [c Hc]; exists c; now apply H.
  Qed.

  Theorem run_without_race_is_sc s :
    run s -> ~ raced M (points s) -> drained s ->
    exists R, sc_run R /\ outcome_of s R /\ same_execution (points s) R /\ ~ raced M R.
  Proof.
    intros Hrun Hno Hd. destruct (run_without_race_explained s Hrun Hno) as [Q HQ].
    pose proof (run_is_proper P M s Hrun) as Hs.
    pose proof (unraced_returns_newest s Hrun Hno) as Hn.
    pose proof (drained_same_events s Q HQ Hs Hd) as Hin.
    pose proof (same_happens_before s Q HQ Hin) as Hhb.
    exists Q. repeat split; try (now apply Hin); try (now apply Hhb).
    - apply HQ.
    - intros t. pose proof (drained_count s Q t HQ Hs Hd) as Hc. destruct (Hd t) as [Hl _].
      rewrite (history_of_Q P s Q t Hs Hn); try apply HQ; [|lia].
      apply firstn_all2. rewrite combine_length. lia.
    - intros x. rewrite (highest_is_last _ _ _ HQ 0 x).
      + unfold on_way. rewrite (drained_count s Q 0) by easy. now rewrite Nat.sub_diag.
      + intros f [Hf Hi] _. apply Hin in Hf. apply (sc_run_index P) in Hf; [lia|apply HQ].
    - intros (e & f & He & Hf & H). apply Hno. exists e, f. rewrite <- !Hhb, <- !Hin. now repeat split.
  Qed.

  (** ** Race-free programs *)

  (** No SC run of the program has a race. *)
  Definition race_free : Prop := forall R, sc_run R -> ~ raced M R.

  Lemma race_free_run_has_no_race s : race_free -> run s -> ~ raced M (points s).
  Proof.
    intros Hfree Hrun Hrace. destruct (first_race_is_a_race_in_an_sc_run s Hrun Hrace) as (R & HR & H).
    exact (Hfree R HR H).
  Qed.

  Theorem race_free_programs_see_only_sc :
    race_free -> forall s, run s -> drained s -> exists R, sc_run R /\ outcome_of s R.
  Proof.
    intros Hfree s Hrun Hd. pose proof (race_free_run_has_no_race s Hfree Hrun) as Hno.
    destruct (run_without_race_is_sc s Hrun Hno Hd) as (R & HR & H & _). now exists R.
  Qed.

  (** Also before everything has drained: what any threads have seen so far, some SC run shows, if what a
      thread was answered had its point.  (An acquire may be answered before its point; what it was answered
      is promised only then.) *)
  Definition answers_have_points (s : port) (t : nat) : Prop :=
    forall j o, j < length (returned s t) -> nth_error (issued s t) j = Some o -> op_takes o = true ->
                has_point s t j = true.

  Lemma threads_extend s Q ts X :
    race_free -> proper s -> returns_newest s -> explains s Q -> NoDup ts ->
    (forall t, In t ts -> answers_have_points s t /\ count t Q <= length (returned s t)) ->
    sc_run (X ++ Q) ->
    (forall w, In w X -> ~ In (thread w) ts /\ count (thread w) Q <= idx w) ->
    exists Y, sc_run (Y ++ Q) /\
      (forall t, In t ts -> history_of t (Y ++ Q) = combine (issued s t) (returned s t)) /\
      (forall t, ~ In t ts -> history_of t (Y ++ Q) = history_of t (X ++ Q)).
  Proof.
    intros Hfree Hs Hn HQ. revert X. induction ts as [|t ts IH]; intros X Hnd Hts HX Hnew.
    - exists X. now repeat split.
    - inversion Hnd as [|? ? Hnot Hnd']; subst.
      destruct (Hts t) as [Hans Hc]; [now left|].
      set (n := length (returned s t) - count t Q).
      assert (count t Q + n = length (returned s t)) as Hlen by lia.
      pose proof (one_request_at_a_time P s Hs t) as Hone.
      assert (reachable s Q t (length (returned s t))) as Hreach.
      { intros j Hj. split; [lia|]. intros Hno o Ho. destruct (op_takes o) eqn:E; [|easy].
        rewrite (Hans j o) in Hno; easy. }
      destruct (extend_or_race P M HM s Q X t (length (returned s t)) Hs Hn HQ Hreach) with (n := n)
        as [HR|(R & HR & Hrace)]; try easy; [|lia| |destruct (Hfree R HR Hrace)].
      { intros w Hw. destruct (Hnew w Hw) as [H ?]. split; [|easy]. intros E. apply H. now left. }
      destruct (IH (slice s t (count t Q) n ++ X)) as (Y & HY & Hin & Hout).
      + easy.
      + intros u Hu. apply Hts. now right.
      + now rewrite <- app_assoc.
      + intros w Hw. apply in_app_or in Hw. destruct Hw as [Hw|Hw].
        * apply slice_in in Hw. destruct Hw as (j & Hj & ->). destruct (ev_place s t j) as [-> ->].
          split; [easy|lia].
        * destruct (Hnew w Hw) as [H ?]. split; [|easy]. intros E. apply H. now right.
      + exists Y. repeat split; [easy| |].
        * intros u [<-|Hu]; [|now apply Hin]. rewrite Hout, <- app_assoc by easy.
          rewrite (history_of_slice P s Q); try easy; try apply HQ.
          -- rewrite Hlen. apply firstn_all2. rewrite combine_length. lia.
          -- apply history_app. intros w Hw E. apply (Hnew w Hw). now left.
          -- lia.
          -- intros j Hj. apply (reachable_fits P s Q t (length (returned s t)) j); try easy. lia.
        * intros u Hu. rewrite Hout, <- app_assoc by (intros E; apply Hu; now right).
          apply history_app. intros w Hw E. apply slice_in in Hw. destruct Hw as (j & _ & ->).
          destruct (ev_place s t j) as [Ht _]. apply Hu. left. congruence.
  Qed.

  (** An operation that has its point and not yet its completion counts for nothing yet. *)
  Theorem race_free_programs_see_only_sc_so_far s ts :
    race_free -> run s -> NoDup ts ->
    (forall t, In t ts -> answers_have_points s t /\ length (returned s t) = length (issued s t)) ->
    exists R, sc_run R /\ forall t, In t ts -> history_of t R = combine (issued s t) (returned s t).
  Proof.
    intros Hfree Hrun Hnd Hts. pose proof (race_free_run_has_no_race s Hfree Hrun) as Hno.
    destruct (run_without_race_explained s Hrun Hno) as [Q HQ].
    pose proof (run_is_proper P M s Hrun) as Hs.
    pose proof (unraced_returns_newest s Hrun Hno) as Hn.
    destruct (threads_extend s Q ts [] Hfree Hs Hn HQ Hnd) as (Y & HY & H & _); try easy.
    - intros t Ht. destruct (Hts t Ht) as [Ha Hl]. split; [easy|]. rewrite Hl.
      destruct (le_lt_dec (count t Q) (length (issued s t))) as [|Hlt]; [easy|]. exfalso.
      apply (below_count_has_point P s Q t _ HQ) in Hlt. apply has_point_iff in Hlt.
      destruct Hlt as (e & He & <- & Hi). apply (point_event P s e Hs) in He. lia.
    - apply HQ.
    - exists (Y ++ Q). split; [easy|]. exact H.
  Qed.
End Theorems.
