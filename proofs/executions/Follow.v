(** * The SC run follows every step, until the first race *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Port Flat Explain.
Import ListNotations.

(** The first gap at or after [c]. *)
Lemma first_gap (p : nat -> bool) c b :
  c <= b -> p b = false -> exists n, (forall j, c <= j < c + n -> p j = true) /\ p (c + n) = false.
Proof.
  intros Hb. remember (b - c) as d eqn:Hd. revert c Hb Hd.
  induction d as [|d IH]; intros c Hb Hd Hp.
  - exists 0. replace (c + 0) with b by lia. split; [lia|easy].
  - destruct (p c) eqn:Hc.
    + destruct (IH (S c)) as (n & Hn & Hgap); [lia..|easy|]. exists (S n).
      rewrite Nat.add_succ_r, <- Nat.add_succ_l. split; [|easy].
      intros j Hj. destruct (Nat.eq_dec c j) as [<-|]; [easy|]. apply Hn. lia.
    + exists 0. rewrite Nat.add_0_r. split; [lia|easy].
Qed.

Lemma filter_same {A} (p q : A -> bool) l :
  (forall a, In a l -> p a = q a) -> filter p l = filter q l.
Proof. apply filter_ext_in. Qed.

Lemma filter_all {A} (p : A -> bool) l : (forall a, In a l -> p a = true) -> filter p l = l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [easy|].
  rewrite H by auto. f_equal. auto.
Qed.

Lemma count_slice s t u c n E : count u (slice s t c n ++ E) = if t =? u then n + count u E else count u E.
Proof.
  induction n as [|n IH]; simpl; [now destruct (t =? u)|].
  rewrite count_cons, IH. destruct (ev_place s t (c + n)) as [-> _]. now destruct (t =? u).
Qed.

(** The atomics of the SC run are those of the run in the order of their points, so are its edges. *)
Lemma edge_is_sync e : is_edge e = true -> sync e = true.
Proof. unfold is_edge, sync, access, op_access, is_plain, op_plain. now destruct (kind_of (what e)). Qed.

Lemma filter_filter {A} (p q : A -> bool) l :
  (forall a, p a = true -> q a = true) -> filter p (filter q l) = filter p l.
Proof.
  intros H. induction l as [|a l IH]; simpl; [easy|].
  destruct (q a) eqn:Hq; simpl; rewrite IH; [easy|].
  destruct (p a) eqn:Hp; [|easy]. apply H in Hp. congruence.
Qed.

Section Follow.
  Variable P : program.
  Variable M : model.
  Hypothesis HM : lawful M.

  Notation proper := (proper P).
  Notation memory := (memory P).
  Notation sc_run := (sc_run P).
  Notation highest := (highest P mended).
  Notation newest := (newest P mended).
  Notation explains := (explains P).

  Lemma same_edges s Q : explains s Q -> filter is_edge Q = filter is_edge (points s).
  Proof.
    intros HQ. rewrite <- (filter_filter is_edge sync Q edge_is_sync), (same_order_of_atomics _ _ _ HQ).
    apply filter_filter, edge_is_sync.
  Qed.

  (** ** A point *)

  Section Point.
    Variables (s : port) (Q : list event) (t k : nat) (o : op).
    Notation e := (event_at P mended s t k o).
    Notation s' := {| issued := issued s; returned := returned s; points := e :: points s |}.
    Hypothesis Hs : proper s.
    Hypothesis Hs' : proper s'.
    Hypothesis HQ : explains s Q.
    Hypothesis Hk : nth_error (issued s t) k = Some o.
    Hypothesis Hfree : has_point s t k = false.
    Hypothesis Hgate : may_depart P (points s) t o.

    Lemma has_point_now u j : has_point s' u j = is_at u j e || has_point s u j.
    Proof. easy. Qed.

    Lemma has_point_elsewhere u j : u <> t \/ j <> k -> has_point s' u j = has_point s u j.
    Proof.
      intros H. rewrite has_point_now. destruct (is_at u j e) eqn:E; [|easy].
      apply is_at_iff in E. simpl in E. lia.
    Qed.

    Lemma ev_now u j : ev s' u j = if is_at u j e then e else ev s u j.
    Proof. unfold ev. simpl. now destruct (is_at u j e). Qed.

    Lemma ev_elsewhere u j : u <> t \/ j <> k -> ev s' u j = ev s u j.
    Proof.
      intros H. rewrite ev_now. destruct (is_at u j e) eqn:E; [|easy].
      apply is_at_iff in E. simpl in E. lia.
    Qed.

    Lemma ev_here : ev s' t k = e.
    Proof. rewrite ev_now. now rewrite (proj2 (is_at_iff t k e)). Qed.

    (** What takes nothing in is already what it will be. *)
    Lemma ev_anywhere u j : op_takes o = false -> ev s' u j = ev s u j.
    Proof.
      intros Ho. rewrite ev_now. destruct (is_at u j e) eqn:E; [|easy].
      apply is_at_iff in E. simpl in E. destruct E as [<- <-].
      rewrite (ev_pending s t k o) by easy. unfold event_at, pending.
      now rewrite taker_not_reader.
    Qed.

    Lemma not_below_count : count t Q <= k.
    Proof.
      destruct (le_lt_dec (count t Q) k) as [|H]; [easy|].
      apply (below_count_has_point P s Q t k HQ) in H. congruence.
    Qed.

    Lemma new_below_issued : k < length (issued s t).
    Proof. now apply nth_error_below in Hk. Qed.

    Lemma new_reachable : reachable s Q t k.
    Proof.
      intros j Hj. pose proof new_below_issued. split; [lia|]. intros Hno o' Ho'.
      apply (overtaken_on_its_way P s' Hs' e j o'); try easy; [now left|].
      rewrite has_point_elsewhere; [easy|]. right. lia.
    Qed.

    (** Nothing behind it has its point, if it is plain or takes something in. *)
    Lemma nothing_behind :
      op_plain o = true \/ op_takes o = true -> forall j, k <= j -> has_point s t j = false.
    Proof.
      intros Ho j Hj. destruct (Nat.eq_dec k j) as [<-|]; [easy|].
      destruct (has_point s t j) eqn:H; [|easy]. apply has_point_iff in H.
      destruct H as (f & Hf & Ht & Hi).
      destruct (overtaken_on_its_way P s Hs f k o) as (? & ? & _); rewrite ?Ht; try easy; [lia|].
      destruct Ho; congruence.
    Qed.

    Lemma new_got x :
      op_reads o = true -> loc_of o = x ->
      (forall f, hanging s Q f -> writes_at f x = true -> thread f = t) ->
      got e = memory (slice s t (count t Q) (k - count t Q) ++ Q) x.
    Proof.
      intros Hr <- Hothers. unfold event_at. simpl. rewrite Hr.
      pose proof not_below_count. pose proof new_below_issued.
      apply newest_is_last; try easy; try apply new_reachable; try lia.
      apply nothing_behind. right. unfold op_reads, op_takes in *. now destruct (kind_of o).
    Qed.

    Lemma still_overtakes f : hanging s Q f -> thread f <> t -> overtakes s' f.
    Proof.
      intros Hf Ht. destruct (hanging_overtakes P s Q f HQ Hf) as [Hin (j & Hj & Hgap)].
      split; [now right|]. exists j. rewrite has_point_elsewhere; auto.
    Qed.

    (** *** While there is no race *)

    Hypothesis Hno : ~ raced M (points s').
    Hypothesis Hn : returns_newest s'.

    Lemma no_race_before : ~ raced M (points s).
    Proof.
      intros H. apply Hno. apply raced_stays; [easy| |easy]. apply (points_well_formed P s' Hs').
    Qed.

    Lemma returned_newest_before : returns_newest s.
    Proof. intros f v Hf. apply Hn. now right. Qed.

    Lemma new_meets_no_hanging f : hanging s Q f -> thread f <> t -> ~ collide f e.
    Proof.
      intros Hf Ht. apply (overtaking_no_collision P M HM s'); try easy.
      - now apply still_overtakes.
      - now left.
      - right. left. split; [easy|]. apply Hf.
    Qed.

    Lemma hanging_meets_no_hanging f g : hanging s Q f -> hanging s Q g -> ~ collide f g.
    Proof.
      intros Hf Hg. apply (overtaking_no_collision P M HM s); try easy.
      - apply no_race_before.
      - now apply (hanging_overtakes P s Q).
      - apply Hg.
      - left. now apply (hanging_overtakes P s Q).
    Qed.

    Lemma new_read_meets_no_write x :
      op_access o = true -> loc_of o = x ->
      forall f, hanging s Q f -> writes_at f x = true -> thread f = t.
    Proof.
      intros Ho Hx f Hf Hw. destruct (Nat.eq_dec (thread f) t) as [|Ht]; [easy|]. exfalso.
      apply (new_meets_no_hanging f Hf Ht). now apply write_collides with x.
    Qed.

    Lemma reads_accesses : op_reads o = true -> op_access o = true.
    Proof. unfold op_reads, op_access. now destruct (kind_of o). Qed.

    (** *** It overtakes: it has no place yet *)

    Section Overtaking.
      Hypothesis Hgap : count t Q < k.

      Lemma new_is_plain : op_plain o = true.
      Proof.
        apply (overtaking_plain P s' e Hs'). split; [now left|].
        exists (count t Q). split; [easy|]. rewrite has_point_elsewhere; [|right; simpl; lia].
        apply (stops_at_gap _ _ _ HQ).
      Qed.

      Lemma slices_unchanged u j :
        (u = t -> j <= k) -> slice s' u (count u Q) (j - count u Q) = slice s u (count u Q) (j - count u Q).
      Proof.
        intros Hj. apply slice_ext. intros i Hi. apply ev_elsewhere.
        destruct (Nat.eq_dec u t) as [->|]; [right|now left]. specialize (Hj eq_refl). lia.
      Qed.

      Lemma on_way_grows : on_way s' Q t = e :: on_way s Q t.
      Proof.
        pose proof not_below_count as Hc. pose proof new_below_issued as Hlen.
        pose proof (nothing_behind (or_introl new_is_plain)) as Hbehind.
        rewrite (on_way_up_to s' Q t (S k)); [|simpl; lia|].
        - rewrite (on_way_up_to s Q t k); [|lia|easy].
          replace (S k - count t Q) with (S (k - count t Q)) by lia. simpl slice.
          replace (count t Q + (k - count t Q)) with k by lia. rewrite ev_here.
          rewrite slices_unchanged by auto. cbn [filter].
          replace (has_point s' t (idx e)) with true.
          + f_equal. apply filter_same. intros f Hf. apply slice_in in Hf.
            destruct Hf as (j & Hj & ->). destruct (ev_place s t j) as [_ ->].
            apply has_point_elsewhere. right. lia.
          + rewrite has_point_now. now rewrite (proj2 (is_at_iff t (idx e) e)).
        - intros j Hj. rewrite has_point_elsewhere by (right; lia). apply Hbehind. lia.
      Qed.

      Lemma on_way_elsewhere u : u <> t -> on_way s' Q u = on_way s Q u.
      Proof.
        intros Hu. unfold on_way. rewrite (slices_unchanged u) by easy.
        apply filter_same. intros f _. apply has_point_elsewhere. now left.
      Qed.

      Lemma overtaking_explained : explains s' Q.
      Proof.
        pose proof (nothing_behind (or_introl new_is_plain)) as Hbehind.
        constructor.
        - apply HQ.
        - intros f Hf. right. now apply HQ.
        - intros f [<-|Hf] Hi; [simpl in Hi; lia|]. now apply (has_all_below _ _ _ HQ).
        - intros u. rewrite has_point_elsewhere; [apply (stops_at_gap _ _ _ HQ)|].
          destruct (Nat.eq_dec u t) as [->|]; [right; lia|now left].
        - simpl. unfold sync at 2, is_plain. simpl. rewrite new_is_plain. simpl.
          apply (same_order_of_atomics _ _ _ HQ).
        - intros f [[<-|Hf] Hi] Hr.
          + simpl thread. simpl idx. rewrite slices_unchanged by auto.
            apply new_got; [easy..|]. apply new_read_meets_no_write; [now apply reads_accesses|easy].
          + rewrite slices_unchanged; [now apply (reads_will_fit _ _ _ HQ)|].
            intros <-. destruct (le_lt_dec (idx f) k) as [|Hlt]; [easy|].
            rewrite <- (Hbehind (idx f)) in Hfree by lia.
            assert (has_point s (thread f) (idx f) = true) by (apply has_point_iff; now exists f).
            rewrite Hbehind in H by lia. easy.
        - intros u x Hothers.
          assert (forall f, hanging s Q f -> writes_at f x = true -> thread f = u) as Hold.
          { intros f [Hf Hi]. apply Hothers. split; [now right|easy]. }
          destruct (Nat.eq_dec u t) as [->|Hu].
          + rewrite on_way_grows. simpl. destruct (wrote_at e x) as [v|] eqn:Hw.
            * replace (overtaken (points s) e x) with false; [easy|]. symmetry.
              unfold overtaken. apply not_true_iff_false. rewrite existsb_exists.
              intros (f & Hf & H). rewrite !andb_true_iff, Nat.eqb_eq, Nat.ltb_lt in H.
              destruct H as [[Ht Hi] _]. simpl in Ht, Hi.
              assert (has_point s t (idx f) = true) by (apply has_point_iff; now exists f).
              rewrite Hbehind in H by lia. easy.
            * now apply (highest_is_last _ _ _ HQ).
          + rewrite on_way_elsewhere by easy. simpl.
            assert (wrote_at e x = None) as ->.
            { apply writes_at_none. destruct (writes_at e x) eqn:Hw; [|easy]. exfalso. apply Hu.
              symmetry. apply (Hothers e); [|easy]. split; [now left|simpl; lia]. }
            now apply (highest_is_last _ _ _ HQ).
      Qed.
    End Overtaking.

    (** *** Everything before it has its place: it takes its own, and what waited for it follows *)

    Section InOrder.
      Hypothesis Hnext : count t Q = k.
      Variable n : nat.
      Hypothesis Hrun : forall j, k <= j < k + n -> has_point s' t j = true.
      Hypothesis Hstop : has_point s' t (k + n) = false.

      Notation follow := (slice s' t k n).

      Lemma n_positive : 0 < n.
      Proof.
        destruct n as [|m]; [|lia]. rewrite Nat.add_0_r, has_point_now in Hstop.
        now rewrite (proj2 (is_at_iff t k e)) in Hstop.
      Qed.

      Lemma followers_hang j : k < j -> has_point s t j = true -> hanging s Q (ev s t j).
      Proof. intros Hj H. apply (point_above_count_hangs P); [easy|lia|easy]. Qed.

      Lemma followed_takes_nothing j : k < j -> has_point s t j = true -> op_takes o = false.
      Proof.
        intros Hj H. destruct (op_takes o) eqn:Ho; [|easy].
        rewrite nothing_behind in H; auto; lia.
      Qed.

      Lemma follow_split : exists rest, follow = rest ++ [e] /\ forall f, In f rest -> hanging s Q f.
      Proof.
        exists (slice s' t (k + 1) (n - 1)). split.
        - pose proof n_positive. replace n with (1 + (n - 1)) at 1 by lia.
          rewrite slice_app. simpl. now rewrite Nat.add_0_r, ev_here.
        - intros f Hf. apply slice_in in Hf. destruct Hf as (j & Hj & ->).
          rewrite ev_elsewhere by (right; lia). apply followers_hang; [lia|].
          rewrite <- has_point_elsewhere by (right; lia). apply Hrun. lia.
      Qed.

      Lemma follow_is_sc_run : sc_run (follow ++ Q).
      Proof.
        pose proof (slice_is_sc_run P s' Q Q t n Hs' Hn) as H.
        rewrite Hnext in H. apply H; try easy; try apply HQ.
        - intros f Hf. right. now apply HQ.
        - intros j Hj. pose proof (Hrun j Hj) as Hp.
          repeat split.
          + apply ev_has_point in Hp. apply (point_event P s' _ Hs') in Hp.
            destruct (ev_place s' t j) as [Ht Hi]. rewrite Ht, Hi in Hp. exact Hp.
          + now left.
          + destruct (Nat.eq_dec j k) as [->|Hjk].
            * rewrite ev_here, Nat.sub_diag. simpl. intros Hd.
              rewrite (same_edges s Q HQ). now apply Hgate.
            * intros Hd. exfalso. revert Hd. apply plain_not_depart. rewrite ev_elsewhere by auto.
              apply (hanging_plain P s Q); [easy..|]. apply followers_hang; [lia|].
              rewrite <- has_point_elsewhere; auto.
          + destruct (Nat.eq_dec j k) as [->|Hjk].
            * rewrite ev_here, Nat.sub_diag. destruct (reads e) eqn:R.
              -- rewrite (new_got (loc e)); [now rewrite Hnext, Nat.sub_diag|easy|easy|].
                 apply new_read_meets_no_write; [now apply reads_accesses|easy].
              -- unfold event_at, reads in *. simpl in *. now rewrite R.
            * assert (has_point s t j = true) as Hpj by (rewrite <- has_point_elsewhere; auto).
              assert (hanging s Q (ev s t j)) as Hh by (apply followers_hang; [lia|easy]).
              rewrite ev_elsewhere by auto.
              destruct (reads (ev s t j)) eqn:R.
              -- rewrite (reads_will_fit _ _ _ HQ _ Hh R). destruct (ev_place s t j) as [-> ->].
                 rewrite Hnext. f_equal. f_equal. apply slice_ext. intros i Hi. symmetry.
                 apply ev_anywhere. apply followed_takes_nothing with j; [lia|easy].
              -- apply (nothing_read_got_0 P s Hs); [apply Hh|easy].
      Qed.

      Lemma count_here : count t (follow ++ Q) = k + n.
      Proof. rewrite count_slice, Nat.eqb_refl. lia. Qed.
      Lemma count_elsewhere u : u <> t -> count u (follow ++ Q) = count u Q.
      Proof.
        intros Hu. rewrite count_slice.
        destruct (t =? u) eqn:E; [|easy]. apply Nat.eqb_eq in E. congruence.
      Qed.

      Lemma still_hanging f :
        hanging s' (follow ++ Q) f -> hanging s Q f /\ (thread f = t -> k + n < idx f).
      Proof.
        intros [Hf Hi]. pose proof n_positive. destruct (Nat.eq_dec (thread f) t) as [Ht|Ht].
        - rewrite Ht, count_here in Hi. destruct Hf as [<-|Hf]; [simpl in Hi; lia|].
          repeat split; try easy. rewrite Ht. lia.
        - rewrite count_elsewhere in Hi by easy. destruct Hf as [<-|Hf]; [easy|]. repeat split; easy.
      Qed.

      Lemma hanging_elsewhere_stays f : hanging s Q f -> thread f <> t -> hanging s' (follow ++ Q) f.
      Proof. intros [Hf Hi] Ht. split; [now right|]. now rewrite count_elsewhere. Qed.

      (** What takes its place now writes nothing that an operation of another thread, hanging, accesses. *)
      Lemma follow_disturbs_none f g :
        hanging s Q f -> thread f <> t -> In g follow -> ~ collide f g.
      Proof.
        intros Hf Ht Hg. destruct follow_split as (rest & Hsplit & Hrest). rewrite Hsplit in Hg.
        apply in_app_or in Hg. destruct Hg as [Hg|[<-|[]]].
        - apply hanging_meets_no_hanging; auto.
        - now apply new_meets_no_hanging.
      Qed.

      Lemma memory_around A f x :
        hanging s Q f -> thread f <> t -> access f = true -> loc f = x ->
        memory (A ++ follow ++ Q) x = memory (A ++ Q) x.
      Proof.
        intros Hf Ht Ha Hx. apply memory_depends. apply memory_unwritten.
        intros g Hg. destruct (writes_at g x) eqn:Hw; [|easy]. exfalso.
        apply (follow_disturbs_none f g Hf Ht Hg). apply collide_symmetric.
        apply write_collides with x; try easy.
        assert (thread g = t); [|congruence].
         apply slice_in in Hg. destruct Hg as (j & _ & ->). apply ev_place.
      Qed.

      (** What waits of the thread, before and after. *)
      Definition waiting : list event :=
        filter (fun f => has_point s t (idx f)) (slice s t (k + 1) (length (issued s t) - (k + 1))).

      Lemma on_way_was : on_way s Q t = waiting.
      Proof.
        unfold on_way, waiting. rewrite Hnext. pose proof new_below_issued as Hlen.
        replace (length (issued s t) - k) with (1 + (length (issued s t) - (k + 1))) by lia.
        rewrite slice_app, filter_app. simpl. rewrite Nat.add_0_r.
        destruct (ev_place s t k) as [_ ->]. rewrite Hfree. now rewrite app_nil_r.
      Qed.

      Lemma run_below_issued : k + n <= length (issued s t).
      Proof.
        pose proof n_positive. assert (has_point s' t (k + n - 1) = true) as Hp by (apply Hrun; lia).
        apply ev_has_point in Hp. apply (point_event P s' _ Hs') in Hp.
        destruct (ev_place s' t (k + n - 1)) as [Ht Hi]. rewrite Ht, Hi in Hp.
        change (issued s' t) with (issued s t) in Hp. lia.
      Qed.

      Lemma on_way_is : on_way s' (follow ++ Q) t ++ follow ++ Q = waiting ++ e :: Q.
      Proof.
        unfold on_way. rewrite count_here. pose proof run_below_issued as Hlen. pose proof n_positive as Hn0.
        change (issued s' t) with (issued s t).
        assert (filter (fun f => has_point s' t (idx f)) follow = follow) as Hall.
        { apply filter_all. intros f Hf.  apply slice_in in Hf.
          destruct Hf as (j & Hj & ->). destruct (ev_place s' t j) as [_ ->]. now apply Hrun. }
        rewrite app_assoc. rewrite <- Hall. rewrite <- filter_app. rewrite <- slice_app.
        replace (n + (length (issued s t) - (k + n))) with (1 + (length (issued s t) - (k + 1))) by lia.
        rewrite slice_app, filter_app. simpl slice at 2. rewrite Nat.add_0_r, ev_here. cbn [filter].
        replace (has_point s' t (idx e)) with true by
          (rewrite has_point_now; now rewrite (proj2 (is_at_iff t (idx e) e))).
        rewrite <- app_assoc. simpl. f_equal. unfold waiting.
        rewrite (slice_ext s' s) by (intros; apply ev_elsewhere; right; lia).
        apply filter_same. intros f Hf. apply slice_in in Hf. destruct Hf as (j & Hj & ->).
        destruct (ev_place s t j) as [_ ->]. apply has_point_elsewhere. right. lia.
      Qed.

      Lemma waiting_in f : In f waiting -> hanging s Q f /\ thread f = t /\ k < idx f.
      Proof.
        unfold waiting. rewrite filter_In, slice_in. intros ((j & Hj & ->) & Hp).
        destruct (ev_place s t j) as [Ht Hi]. rewrite Hi in Hp.
        repeat split; [apply followers_hang; [lia|easy]| |easy|rewrite Hi; lia].
        apply followers_hang; [lia|easy].
      Qed.

      Lemma in_waiting f : In f (points s) -> thread f = t -> k < idx f -> In f waiting.
      Proof.
        intros Hf Ht Hi. unfold waiting. rewrite filter_In, slice_in. split.
        - exists (idx f). split.
          + apply (point_event P s f Hs) in Hf as H. rewrite Ht in H. lia.
          + now apply (point_is_ev P).
        - apply has_point_iff. now exists f.
      Qed.

      Lemma overtaken_by_waiting x : overtaken (points s) e x = some_writes waiting x.
      Proof.
        apply eq_true_iff_eq. unfold overtaken, some_writes. rewrite !existsb_exists.
        split; intros (f & Hf & H); exists f.
        - rewrite !andb_true_iff, Nat.eqb_eq, Nat.ltb_lt in H. destruct H as [[Ht Hi] Hw].
          split; [now apply in_waiting|]. unfold writes_at. now destruct (wrote_at f x).
        - destruct (waiting_in f Hf) as (Hh & Ht & Hi). split; [apply Hh|].
          rewrite !andb_true_iff, Nat.eqb_eq, Nat.ltb_lt. repeat split; try easy.
      Qed.

      Lemma highest_of_thread x :
        (forall f, hanging s' (follow ++ Q) f -> writes_at f x = true -> thread f = t) ->
        highest (points s') x = memory (waiting ++ e :: Q) x.
      Proof.
        intros Hothers.
        assert (highest (points s) x = memory (waiting ++ Q) x) as Hold.
        { rewrite <- on_way_was. apply (highest_is_last _ _ _ HQ). intros f Hf Hw.
          destruct (Nat.eq_dec (thread f) t) as [|Ht]; [easy|].
          apply Hothers; [|easy]. now apply hanging_elsewhere_stays. }
        simpl. rewrite overtaken_by_waiting. destruct (some_writes waiting x) eqn:Hw.
        - apply some_writes_true in Hw. destruct Hw as (f & Hf & Hw).
          rewrite Hold. rewrite (memory_written P waiting (e :: Q) Q x f) by easy.
          now destruct (wrote_at e x).
        - pose proof (some_writes_false _ _ Hw) as Hw'.
          rewrite memory_unwritten by easy. simpl. destruct (wrote_at e x); [easy|].
          rewrite Hold. now apply memory_unwritten.
      Qed.

      Lemma on_way_elsewhere' u : u <> t -> on_way s' (follow ++ Q) u = on_way s Q u.
      Proof.
        intros Hu. unfold on_way. rewrite count_elsewhere by easy.
        rewrite (slice_ext s' s) by (intros; apply ev_elsewhere; now left).
        apply filter_same. intros f _. apply has_point_elsewhere. now left.
      Qed.

      Lemma on_way_in u f : In f (on_way s Q u) -> hanging s Q f /\ thread f = u.
      Proof.
        unfold on_way. rewrite filter_In, slice_in. intros ((j & Hj & ->) & Hp).
        destruct (ev_place s u j) as [Ht Hi]. rewrite Hi in Hp. split; [|easy].
        apply (point_above_count_hangs P); [easy|lia|easy].
      Qed.

      Lemma in_order_explained : explains s' (follow ++ Q).
      Proof.
        constructor.
        - apply follow_is_sc_run.
        - intros f Hf. apply in_app_or in Hf. destruct Hf as [Hf|Hf]; [|right; now apply HQ].
           apply slice_in in Hf. destruct Hf as (j & Hj & ->).
          now apply ev_has_point, Hrun.
        - intros f Hf Hi. apply in_or_app. destruct (Nat.eq_dec (thread f) t) as [Ht|Ht].
          + rewrite Ht, count_here in Hi. destruct (le_lt_dec k (idx f)) as [Hle|Hlt].
            * left. apply slice_in. exists (idx f). split; [lia|].
              now apply (point_is_ev P).
            * right. destruct Hf as [<-|Hf]; [simpl in Hlt; lia|].
              apply (has_all_below _ _ _ HQ); [easy|]. rewrite Ht. lia.
          + right. rewrite count_elsewhere in Hi by easy. destruct Hf as [<-|Hf]; [easy|].
            now apply (has_all_below _ _ _ HQ).
        - intros u. destruct (Nat.eq_dec u t) as [->|Hu]; [now rewrite count_here|].
          rewrite count_elsewhere, has_point_elsewhere by auto. apply (stops_at_gap _ _ _ HQ).
        - destruct follow_split as (rest & -> & Hrest).
          rewrite !filter_app, (proj2 (filter_nil_iff _ _)); [|intros f Hf; unfold sync;
            now rewrite (hanging_plain P s Q f Hs HQ (Hrest f Hf))].
          rewrite (same_order_of_atomics _ _ _ HQ). simpl. now destruct (sync e).
        - intros f Hf Hr. apply still_hanging in Hf as Hold. destruct Hold as [Hold Hi].
          destruct (Nat.eq_dec (thread f) t) as [Ht|Ht].
          + specialize (Hi Ht). rewrite Ht, count_here, app_assoc. rewrite <- slice_app.
            replace (n + (idx f - (k + n))) with (idx f - k) by lia.
            rewrite (reads_will_fit _ _ _ HQ f Hold Hr). rewrite Ht, Hnext. do 2 f_equal.
            apply slice_ext. intros j Hj. symmetry. apply ev_anywhere.
            apply followed_takes_nothing with (idx f); [lia|].
            apply has_point_iff. exists f. split; [apply Hold|easy].
          + rewrite count_elsewhere by easy.
            rewrite (memory_around _ f) by (try easy; apply plain_accesses, (hanging_plain P s Q); easy).
            rewrite (reads_will_fit _ _ _ HQ f Hold Hr). do 2 f_equal.
            apply slice_ext. intros j Hj. symmetry. apply ev_elsewhere. now left.
        - intros u x Hothers. destruct (Nat.eq_dec u t) as [->|Hu].
          + rewrite on_way_is. now apply highest_of_thread.
          + rewrite on_way_elsewhere' by easy. destruct (some_writes (on_way s Q u) x) eqn:Hw.
            * apply some_writes_true in Hw. destruct Hw as (f & Hf & Hw).
              destruct (on_way_in u f Hf) as [Hh Ht].
              rewrite (memory_written P _ (follow ++ Q) Q x f) by easy.
              assert (forall g, hanging s Q g -> writes_at g x = true -> thread g = u) as Hold.
              { intros g Hg Hwg. destruct (Nat.eq_dec (thread g) t) as [Hgt|Hgt].
                - exfalso. apply (hanging_meets_no_hanging f g Hh Hg).
                  apply writes_at_iff in Hwg. destruct Hwg as [Hx Hwg].
                  apply write_collides with x; try easy; [congruence|now apply writer_accesses].
                - apply Hothers; [|easy]. now apply hanging_elsewhere_stays. }
              rewrite <- (highest_is_last _ _ _ HQ u x Hold). simpl.
              replace (wrote_at e x) with (@None nat); [easy|]. symmetry. apply writes_at_none.
              destruct (writes_at e x) eqn:He; [|easy]. exfalso.
              apply (new_meets_no_hanging f Hh); [congruence|].
              apply writes_at_iff in He. destruct He as [Hx He].
              apply write_collides with x; try easy; [simpl; congruence|now apply writer_accesses].
            * assert (forall g, hanging s' (follow ++ Q) g -> writes_at g x = true -> False) as Hnone.
              { intros g Hg Hwg. pose proof (Hothers g Hg Hwg) as Hgu.
                destruct (still_hanging g Hg) as [Hold _].
                assert (In g (on_way s Q u)) as Hin.
                { unfold on_way. rewrite filter_In, slice_in. split.
                  - exists (idx g). destruct Hold as [Hgp Hgi]. rewrite Hgu in Hgi. split.
                    + pose proof (point_event P s g Hs Hgp) as Hlt. rewrite Hgu in Hlt. lia.
                    + now apply (point_is_ev P).
                  - apply has_point_iff. exists g. split; [apply Hold|easy]. }
                rewrite (some_writes_false _ _ Hw g Hin) in Hwg. easy. }
              rewrite memory_unwritten by (now apply some_writes_false).
              rewrite highest_of_thread by (intros g Hg Hwg; destruct (Hnone g Hg Hwg)).
              rewrite <- on_way_is. apply memory_unwritten. intros g Hg.
              destruct (writes_at g x) eqn:Hwg; [|easy]. exfalso. apply (Hnone g); [|easy].
              unfold on_way in Hg. rewrite filter_In, slice_in in Hg.
              destruct Hg as ((j & Hj & ->) & Hp). destruct (ev_place s' t j) as [Hgt Hgi].
              rewrite Hgi in Hp. split; [now apply ev_has_point|].
              rewrite Hgt, Hgi. rewrite count_here in *.
              destruct (Nat.eq_dec (k + n) j) as [<-|]; [congruence|lia].
      Qed.
    End InOrder.

    Theorem point_explained : exists Q', explains s' Q'.
    Proof.
      destruct (le_lt_eq_dec _ _ not_below_count) as [Hgap|Hnext].
      - exists Q. now apply overtaking_explained.
      - destruct (first_gap (has_point s' t) k (length (issued s t))) as (n & Hrun & Hstop).
        + pose proof new_below_issued. lia.
        + destruct (has_point s' t (length (issued s t))) eqn:H; [|easy].
          apply ev_has_point in H. apply (point_event P s' _ Hs') in H.
          destruct (ev_place s' t (length (issued s t))) as [Ht Hi]. rewrite Ht, Hi in H.
          simpl in H. lia.
        + exists (slice s' t k n ++ Q). now apply in_order_explained.
    Qed.
  End Point.
End Follow.
