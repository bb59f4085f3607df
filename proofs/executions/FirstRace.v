(** * A first race in a run is a race in an SC run

    When an operation's point makes the first race, the SC run that explains the run so far is extended: by
    that operation, with what stands before it in program order and has no place yet, then by the thread of
    the earlier operation of the race, up to that one.  Either this is an SC run with the race in it, or some
    operation on the way reads what it did not read before; then it races with the write that it reads. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Port Flat Explain Follow.
Import ListNotations.

Section FirstRace.
  Variable P : program.
  Variable M : model.
  Hypothesis HM : lawful M.

  Notation proper := (proper P).
  Notation memory := (memory P).
  Notation sc_run := (sc_run P).
  Notation explains := (explains P).

  Definition some_sc_run_races : Prop := exists R, sc_run R /\ raced M R.

  (** ** Extending by another thread *)

  Section Extend.
    Variables (s : port) (Q X : list event) (u k : nat).
    Hypothesis Hs : proper s.
    Hypothesis Hn : returns_newest s.
    Hypothesis HQ : explains s Q.
    Hypothesis Hreach : reachable s Q u k.
    Hypothesis HX : forall w, In w X -> thread w <> u /\ count (thread w) Q <= idx w.
    Notation c := (count u Q).

    (** What comes last is ordered behind nothing that other threads did beyond [Q]. *)
    Lemma last_is_unordered g n w :
      sc_run (g :: slice s u c n ++ X ++ Q) -> c + n <= k ->
      thread g = u -> acquires g = false -> In w X -> ~ hb M (g :: slice s u c n ++ X ++ Q) w g.
    Proof.
      set (R := slice s u c n ++ X ++ Q). intros HR Hk Hg HgA Hw [d H].
      apply sc_run_wf in HR. destruct (HX w Hw) as [Hwu Hwi].
      apply hb_in_any, hb_any_shape in H; [|easy].
      destruct H as [[Ht _]|(r & a & (B & _ & A) & _ & _ & Hr & Ha)]; [congruence|].
      assert (thread a = u) as Hau by (destruct Ha as [->|[Ha _]]; congruence).
      assert (thread w = thread r /\ idx w <= idx r) as [Hrt Hri].
      { destruct Hr as [->|[? ?]]; [easy|]. split; [easy|lia]. }
      assert (In a Q) as HaQ.
      { apply before_in in B. destruct B as [_ [<-|B]]; [congruence|].
        unfold R in B. apply in_app_or in B. destruct B as [B|B].
        - apply slice_in in B. destruct B as (j & Hj & ->).
          destruct (reachable_fits P s Q u k j) as (_ & _ & Hno & _); try easy; [lia|]. congruence.
        - apply in_app_or in B. destruct B as [B|B]; [|easy]. now apply HX in B. }
      replace (g :: R) with ((g :: slice s u c n ++ X) ++ Q) in * by
        (unfold R; simpl; now rewrite <- app_assoc).
      apply before_past in B; [|easy..]. apply before_in in B. destruct B as [HrQ _].
      apply (sc_run_index P) in HrQ; [|apply (is_sc_run _ _ _ HQ)]. rewrite <- Hrt in HrQ. lia.
    Qed.

    (** The next operation, with whatever it now reads. *)
    Definition flat (E : list event) (t i : nat) (o : op) : event :=
      {| thread := t; idx := i; what := o; got := if op_reads o then memory E (loc_of o) else 0 |}.

    Lemma next_is_sc_run n o :
      sc_run (slice s u c n ++ X ++ Q) -> c + n <= k -> nth_error (issued s u) (c + n) = Some o ->
      kind_of o <> Depart -> sc_run (flat (slice s u c n ++ X ++ Q) u (c + n) o :: slice s u c n ++ X ++ Q).
    Proof.
      intros HR Hk Ho Hd.
      destruct (next_of_thread P s Q (X ++ Q) u n o) as [Hissue Hidx]; try easy; try apply HQ.
      - apply history_app. intros w Hw. now apply HX.
      - intros j Hj. apply (reachable_fits P s Q u k j); try easy. lia.
      - constructor; simpl; easy.
    Qed.

    Lemma writes_of_plain e e' :
      is_plain e = true -> what e = what e' -> writes e = writes e'.
    Proof.
      unfold is_plain, op_plain, writes, wrote. intros H <-. now destruct (kind_of (what e)).
    Qed.

    Lemma extend_or_race n :
      sc_run (X ++ Q) -> c + n <= k -> sc_run (slice s u c n ++ X ++ Q) \/ some_sc_run_races.
    Proof.
      intros HXQ. induction n as [|n IH]; intros Hk; [now left|].
      destruct IH as [HR|HR]; [lia| |now right].
      assert (c <= c + n < k) as Hj by lia.
      destruct (Hreach (c + n) Hj) as [Hlen _]. destruct (nth_error_exists _ _ Hlen) as [o Ho].
      destruct (reachable_fits P s Q u k (c + n)) as (_ & Hd & Ha & Hh & Hgot); try easy.
      pose proof (ev_what P s u _ o Hs Ho) as Hw. destruct (ev_place s u (c + n)) as [Ht Hi].
      replace (c + n - c) with n in Hgot by lia.
      assert (sc_run (flat (slice s u c n ++ X ++ Q) u (c + n) o :: slice s u c n ++ X ++ Q)) as Hnext.
      { apply next_is_sc_run; try easy; [lia|]. now rewrite <- Hw. }
      simpl. destruct (reads (ev s u (c + n)) && some_writes X (loc (ev s u (c + n)))) eqn:Hmeets.
      - right. apply andb_true_iff in Hmeets. destruct Hmeets as [Hr Hx].
        apply some_writes_true in Hx. destruct Hx as (w & Hwin & Hwx).
        specialize (Hh Hr). pose proof (hanging_plain P s Q _ Hs HQ Hh) as Hplain.
        exists (flat (slice s u c n ++ X ++ Q) u (c + n) o :: slice s u c n ++ X ++ Q). split; [easy|].
        exists w, (flat (slice s u c n ++ X ++ Q) u (c + n) o).
        assert (In w (slice s u c n ++ X ++ Q)) as Hin by (rewrite !in_app_iff; auto).
        destruct (HX w Hwin) as [Hwu _].
        unfold is_plain, reads, loc in *. rewrite Hw in *.
        repeat split; [now right|now left| | |].
        + apply (plain_conflicts M HM). split; [|now right].
          apply write_collides with (loc_of o); try easy. simpl.
          apply (plain_accesses (flat [] u (c + n) o)). easy.
        + apply last_is_unordered; try easy; [lia|].
          unfold acquires in *. simpl. now rewrite Hw in Ha.
        + apply hb_not_back; [now apply (sc_run_wf P)|easy|]. now left.
      - left. replace (ev s u (c + n)) with (flat (slice s u c n ++ X ++ Q) u (c + n) o); [easy|].
        destruct (ev s u (c + n)) as [t' i' o' g'] eqn:E. simpl in Hw, Ht, Hi. subst t' i' o'.
        unfold flat. f_equal. unfold reads, loc in *. simpl in *. rewrite Hgot.
        destruct (op_reads o); [|easy]. simpl in Hmeets.
        apply memory_depends, memory_unwritten. now apply some_writes_false.
    Qed.
  End Extend.

  (** ** The race *)

  Section Race.
    Variables (s : port) (Q : list event) (t k : nat) (o : op).
    Notation e := (event_at P mended s t k o).
    Notation s' := {| issued := issued s; returned := returned s; points := e :: points s |}.
    Hypothesis Hs : proper s.
    Hypothesis Hs' : proper s'.
    Hypothesis HQ : explains s Q.
    Hypothesis Hn : returns_newest s.
    Hypothesis Hk : nth_error (issued s t) k = Some o.
    Hypothesis Hfree : has_point s t k = false.
    Hypothesis Haccess : op_access o = true.
    Notation c := (count t Q).

    (** The operation in the SC run, after what stands before it in program order. *)
    Notation before_it := (slice s t c (k - c)).
    Notation e1 := (flat (before_it ++ Q) t k o).
    Notation R1 := (e1 :: before_it ++ Q).

    Lemma index_is : c + (k - c) = k.
    Proof. pose proof (not_below_count P s Q t k HQ Hfree). lia. Qed.

    Lemma R1_is_sc_run : sc_run R1.
    Proof.
      pose proof (next_is_sc_run s Q [] t k Hs Hn HQ) as H. simpl in H.
      specialize (H (new_reachable P s Q t k o Hs' Hk)).
      specialize (H (fun w (Hw : False) => match Hw with end) (k - c) o).
      rewrite index_is in H. apply H; try easy.
      - apply (slice_on_Q P); try easy. now apply (new_reachable P s Q t k o).
      - unfold op_access in Haccess. now destruct (kind_of o).
    Qed.

    (** If it reads something else now, some write waits that it races with. *)
    Lemma pick m :
      In m (points s) -> conflicts M m e = true -> ~ hb M (points s') m e ->
      exists m', In m' (points s) /\ conflicts M m' e1 = true /\ ~ hb M (points s') m' e.
    Proof.
      intros Hm Hc Hu.
      destruct (existsb (fun f => (count (thread f) Q <? idx f) && writes_at f (loc_of o) &&
                                  negb (thread f =? t)) (points s)) eqn:Hwaits.
      - apply existsb_exists in Hwaits. destruct Hwaits as (h & Hh & H).
        rewrite !andb_true_iff, negb_true_iff, Nat.ltb_lt, Nat.eqb_neq in H. destruct H as [[Hi Hw] Ht].
        assert (hanging s Q h) as Hhang by easy.
        exists h. repeat split; [easy| |].
        + apply (plain_conflicts M HM). split.
          * now apply write_collides with (loc_of o).
          * left. now apply (hanging_plain P s Q).
        + apply overtaking_not_hb with P; [easy| |simpl; congruence].
          now apply (still_overtakes P s Q).
      - exists m. replace e1 with e; [easy|]. unfold event_at, flat. f_equal.
        destruct (op_reads o) eqn:Hr; [|easy].
        pose proof (new_got P s Q t k o Hs Hs' HQ Hk Hfree (loc_of o) Hr eq_refl) as Hgot.
        simpl in Hgot. rewrite Hr in Hgot. apply Hgot.
        intros f [Hf Hi] Hw. destruct (Nat.eq_dec (thread f) t) as [|Ht]; [easy|].
        assert (existsb (fun f => (count (thread f) Q <? idx f) && writes_at f (loc_of o) &&
                                  negb (thread f =? t)) (points s) = true); [|congruence].
        apply existsb_exists. exists f. split; [easy|].
        rewrite !andb_true_iff, negb_true_iff, Nat.ltb_lt, Nat.eqb_neq. easy.
    Qed.

    (** *** Happens-before in the SC run is happens-before in the run *)

    Lemma before_Q_before_points f g :
      before Q f g -> is_plain f = false -> is_plain g = false -> before (points s) f g.
    Proof.
      intros H Hf Hg. apply (before_filter sync); [unfold sync; now rewrite Hf|unfold sync; now rewrite Hg|].
      rewrite <- (same_order_of_atomics _ _ _ HQ). apply before_filter; [| |easy]; unfold sync;
      now rewrite ?Hf, ?Hg.
    Qed.

    Lemma acquires_of_flat : acquires e1 = acquires e.
    Proof. easy. Qed.

    (** Synchronization in the SC run that begins in [Q] is synchronization in the run. *)
    Lemma synchronization_transfers d y z :
      so M R1 d y z -> In y Q /\ exists z', so M (points s') d y z' /\ In z' (points s') /\
                                            thread z' = thread z /\ idx z' = idx z.
    Proof.
      intros (B & Hy & Hz & Hh). pose proof R1_is_sc_run as HR. apply sc_run_wf in HR.
      pose proof (before_in _ _ _ B) as [_ [<-|Hin]].
      - assert (before_it = []) as Hnil.
        { replace (k - c) with 0; [easy|].
          destruct (k - c) as [|m] eqn:E; [easy|]. exfalso.
          pose proof (new_is_plain P s Q t k o Hs' HQ) as Hp.
          assert (is_plain e1 = true) as Hp'. { apply Hp; [easy..|]. lia. }
          apply acquire_not_plain in Hz. congruence. }
        assert (In y Q) as HyQ.
        { destruct B as [[_ B]|B]; [now rewrite Hnil in B|].
          apply before_in in B. destruct B as [_ B]. exfalso. exact (wf_fresh _ _ HR B). }
        split; [easy|]. exists e. repeat split; try easy; [| |now left].
        + left. split; [easy|]. now apply (has_points _ _ _ HQ).
        + now rewrite (hears_looks M HM d _ e e1).
      - assert (In z Q) as HzQ.
        { apply in_app_or in Hin. destruct Hin as [Hin|]; [|easy].
          apply slice_in in Hin. destruct Hin as (j & Hj & ->).
          destruct (reachable_fits P s Q t k j) as (_ & _ & Hno & _); try easy.
          - now apply (new_reachable P s Q t k o).
          - pose proof index_is. lia.
          - congruence. }
        change (R1) with ((e1 :: before_it) ++ Q) in *.
        apply before_past in B; [|easy..].
        split; [now apply before_in in B|]. exists z. repeat split; try easy.
        + right. apply before_Q_before_points; [easy|now apply release_not_plain|now apply acquire_not_plain].
        + right. now apply (has_points _ _ _ HQ).
    Qed.

    Lemma hb_transfers d m z :
      In m Q -> hb_in M R1 d m z ->
      po m z \/ exists z', hb_in M (points s') d m z' /\ thread z' = thread z /\ idx z' <= idx z.
    Proof.
      intros Hm H. pose proof (points_well_formed P s' Hs') as Hwf.
      assert (forall y, In y Q -> In y (points s')) as Hsub by
        (intros; right; now apply (has_points _ _ _ HQ)).
      apply clos_trans_tn1 in H. induction H as [z [(_ & _ & H)|H]|y z [H|H] _ IH].
      - now left.
      - right. apply synchronization_transfers in H. destruct H as (_ & z' & H & _ & Ht & Hi).
        exists z'. split; [now apply so_hb|]. split; [easy|lia].
      - destruct H as (_ & _ & [Ht Hi]). destruct IH as [[Ht' Hi']|(z' & H & Ht' & Hi')].
        + left. split; [congruence|lia].
        + right. exists z'. split; [easy|]. split; [congruence|lia].
      - right. apply synchronization_transfers in H. destruct H as (Hy & z' & H & _ & Ht & Hi).
        exists z'. split; [|split; [easy|lia]].
        destruct IH as [IH|(y' & IH & Hty & Hiy)].
        + apply t_trans with y; [|now apply so_hb]. apply po_hb; auto.
        + pose proof (hb_in_in _ _ _ _ _ IH) as [_ Hy'].
          destruct (Nat.eq_dec (idx y') (idx y)) as [E|E].
          * apply (wf_unique (points s') y' y) in E; auto. subst y'.
            apply t_trans with y; [easy|]. now apply so_hb.
          * apply t_trans with y'; [easy|]. apply t_trans with y; [|now apply so_hb].
            apply po_hb; auto. split; [easy|lia].
    Qed.

    Lemma unordered_in_sc_run m : In m Q -> thread m <> t -> ~ hb M (points s') m e -> ~ hb M R1 m e1.
    Proof.
      intros Hm Ht Hu [d H]. apply Hu. exists d.
      apply hb_transfers in H; [|easy]. destruct H as [[H _]|(z' & H & Htz & Hi)]; [now apply Ht in H|].
      simpl in Htz, Hi. pose proof (hb_in_in _ _ _ _ _ H) as [_ Hz].
      destruct (Nat.eq_dec (idx z') k) as [E|E].
      - assert (z' = e) as Hze.
        { apply (wf_unique (points s')); auto; [apply (points_well_formed P s' Hs')|now left]. }
        now rewrite Hze in H.
      - apply t_trans with z'; [easy|]. apply po_hb; [easy|now left|]. split; [easy|simpl; lia].
    Qed.

    Theorem first_race_in_sc_run m :
      In m (points s) -> conflicts M m e = true -> ~ hb M (points s') m e -> some_sc_run_races.
    Proof.
      intros Hm0 Hc0 Hu0. destruct (pick m Hm0 Hc0 Hu0) as (f & Hf & Hc & Hu). clear m Hm0 Hc0 Hu0.
      pose proof R1_is_sc_run as HR1. pose proof index_is as Hindex.
      pose proof (conflicts_collide M HM _ _ Hc) as Hcollide.
      assert (thread f <> t) as Ht by apply Hcollide.
      destruct (lt_eq_lt_dec (idx f) (count (thread f) Q)) as [[Hi|Hi]|Hi].
      - (* the earlier operation has its place *)
        assert (In f Q) as HfQ by now apply (has_all_below _ _ _ HQ).
        exists R1. split; [easy|]. exists f, e1. repeat split; try easy.
        + right. apply in_or_app. now right.
        + now left.
        + now apply unordered_in_sc_run.
        + apply hb_not_back; [now apply (sc_run_wf P)|easy|]. left. split; [easy|].
          apply in_or_app. now right.
      - (* it cannot be at a gap *)
        exfalso. assert (has_point s (thread f) (count (thread f) Q) = true).
        { apply has_point_iff. now exists f. }
        rewrite (stops_at_gap _ _ _ HQ) in H. easy.
      - (* it waits for its place *)
        assert (hanging s Q f) as Hhang by easy.
        set (u := thread f) in *. set (X := e1 :: before_it).
        assert (forall w, In w X -> thread w <> u /\ count (thread w) Q <= idx w) as HX.
        { intros w [<-|Hw]; [simpl; split; [congruence|lia]|].
          apply slice_in in Hw. destruct Hw as (j & Hj & ->). destruct (ev_place s t j) as [-> ->].
          split; [congruence|lia]. }
        pose proof (hanging_reachable P s Q f Hs Hhang) as Hreach. fold u in Hreach.
        set (n := idx f - count u Q).
        assert (count u Q + n = idx f) as Hn' by lia.
        destruct (extend_or_race s Q X u (idx f) Hs Hn HQ Hreach HX n HR1) as [HR|HR]; [lia| |easy].
        pose proof (hanging_plain P s Q f Hs HQ Hhang) as Hplain.
        pose proof (points_are_issued P s Hs f Hf) as Hissued. fold u in Hissued.
        pose proof (next_is_sc_run s Q X u (idx f) Hs Hn HQ Hreach HX n (what f) HR) as Hnext.
        rewrite Hn' in Hnext. specialize (Hnext (le_n _) Hissued (plain_not_depart f Hplain)).
        set (g := flat (slice s u (count u Q) n ++ X ++ Q) u (idx f) (what f)) in *.
        exists (g :: slice s u (count u Q) n ++ X ++ Q). split; [easy|].
        exists e1, g. repeat split.
        + right. rewrite !in_app_iff. right. left. now left.
        + now left.
        + rewrite (conflicts_symmetric M HM). rewrite (conflicts_looks M HM g f); try easy.
          symmetry. now apply writes_of_plain.
        + apply last_is_unordered with (k := idx f); try easy; [lia| |now left].
          destruct (acquires g) eqn:A; [|easy]. apply acquire_not_plain in A.
          unfold is_plain in *. simpl in A. congruence.
        + apply hb_not_back; [now apply (sc_run_wf P)|simpl; congruence|]. left. split; [easy|].
          rewrite !in_app_iff. right. left. now left.
    Qed.
  End Race.
End FirstRace.
