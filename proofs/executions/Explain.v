(** * A run without a race is explained by an SC run

    A memory system's run is followed, point by point, by an SC run of the same program.  Each operation takes
    its place in the SC run at its point, unless an operation of its thread that comes before it in program
    order has none yet (a StRel on its way): then right after that one.  So every operation counts from the
    latest of its own point and those of the operations before it in program order. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Port Flat.
Import ListNotations.

Definition sync (e : event) : bool := negb (is_plain e).

(** An operation that has been asked for and has no point: as it will be, if it reads nothing. *)
Definition pending (t k : nat) (o : op) : event := {| thread := t; idx := k; what := o; got := 0 |}.

(** The [k]-th operation of thread [t] as an event. *)
Definition ev (s : port) (t k : nat) : event :=
  match find (is_at t k) (points s) with
  | Some e => e
  | None =>
      pending t k (nth k (issued s t) {| kind_of := Load; order_of := plain; loc_of := 0; scope_of := 0 |})
  end.

Lemma filter_nil_iff {A} (p : A -> bool) l : filter p l = [] <-> forall a, In a l -> p a = false.
Proof.
  induction l as [|a l IH]; simpl; [easy|]. destruct (p a) eqn:H.
  - split; [easy|]. intros Hall. assert (p a = false) by auto. congruence.
  - rewrite IH. split; [|auto]. intros Hall b [<-|Hb]; auto.
Qed.

(** [n] operations of thread [t] from the [c]-th on, latest first. *)
Fixpoint slice (s : port) (t c n : nat) : list event :=
  match n with
  | 0 => []
  | S m => ev s t (c + m) :: slice s t c m
  end.

Lemma is_at_iff t k e : is_at t k e = true <-> thread e = t /\ idx e = k.
Proof. unfold is_at. now rewrite andb_true_iff, !Nat.eqb_eq. Qed.

Lemma ev_place s t k : thread (ev s t k) = t /\ idx (ev s t k) = k.
Proof.
  unfold ev. destruct (find (is_at t k) (points s)) eqn:H; [|easy].
  apply find_some in H. now apply is_at_iff.
Qed.

Lemma ev_has_point s t k : has_point s t k = true -> In (ev s t k) (points s).
Proof.
  unfold ev, has_point. intros H. destruct (find (is_at t k) (points s)) eqn:F.
  - now apply find_some in F.
  - apply existsb_exists in H. destruct H as (e & He & H). apply (find_none _ _ F) in He. congruence.
Qed.

Lemma ev_pending s t k o :
  has_point s t k = false -> nth_error (issued s t) k = Some o -> ev s t k = pending t k o.
Proof.
  unfold ev, has_point. intros H Ho. destruct (find (is_at t k) (points s)) eqn:F.
  - apply find_some in F. assert (existsb (is_at t k) (points s) = true); [|congruence].
    apply existsb_exists. eauto.
  - f_equal. now apply nth_error_nth.
Qed.

Lemma slice_in s t c n e : In e (slice s t c n) <-> exists j, c <= j < c + n /\ e = ev s t j.
Proof.
  induction n as [|n IH]; simpl.
  - split; [easy|]. intros (j & H & _). lia.
  - rewrite IH. split.
    + intros [<-|(j & H & ->)]; [exists (c + n)|exists j]; split; auto; lia.
    + intros (j & H & ->). destruct (Nat.eq_dec j (c + n)) as [->|]; [now left|].
      right. exists j. split; [lia|easy].
Qed.

Lemma slice_app s t c n m : slice s t c (n + m) = slice s t (c + n) m ++ slice s t c n.
Proof.
  induction m as [|m IH]; [now rewrite Nat.add_0_r|].
  rewrite Nat.add_succ_r. simpl. now rewrite IH, Nat.add_assoc.
Qed.

Lemma slice_ext s s' t c n :
  (forall j, c <= j < c + n -> ev s t j = ev s' t j) -> slice s t c n = slice s' t c n.
Proof.
  induction n as [|n IH]; intros H; simpl; [easy|].
  rewrite H by lia. rewrite IH; [easy|]. intros. apply H. lia.
Qed.

Section Explain.
  Variable P : program.
  Variable M : model.
  Hypothesis HM : lawful M.

  Notation proper := (proper P).
  Notation memory := (memory P).
  Notation sc_run := (sc_run P).
  Notation highest := (highest P mended).
  Notation newest := (newest P mended).

  (** ** Events at the port *)

  Lemma ev_of_point s e : proper s -> In e (points s) -> ev s (thread e) (idx e) = e.
  Proof.
    intros Hs He. destruct (ev_place s (thread e) (idx e)) as [Ht Hk].
    apply (wf_unique (points s)); try easy; [apply (points_well_formed P s Hs)|].
    apply ev_has_point, has_point_iff. now exists e.
  Qed.

  Lemma point_is_ev s t e : proper s -> In e (points s) -> thread e = t -> e = ev s t (idx e).
  Proof. intros Hs He <-. symmetry. now apply ev_of_point. Qed.

  Lemma ev_what s t k o : proper s -> nth_error (issued s t) k = Some o -> what (ev s t k) = o.
  Proof.
    intros Hs Ho. destruct (has_point s t k) eqn:H.
    - apply ev_has_point, (points_are_issued P s Hs) in H.
      destruct (ev_place s t k) as [Ht Hk]. rewrite Ht, Hk, Ho in H. now injection H.
    - now rewrite (ev_pending s t k o).
  Qed.

  (** The thread of [f] has an operation before [f] in program order that has no point yet. *)
  Definition overtakes (s : port) (f : event) : Prop :=
    In f (points s) /\ exists j, j < idx f /\ has_point s (thread f) j = false.

  Lemma behind_gap_plain s f r :
    proper s -> overtakes s f -> In r (points s) -> po_eq f r -> is_plain r = true.
  Proof.
    intros Hs [Hf (j & Hj & Hgap)] Hr Hpo.
    assert (thread f = thread r /\ idx f <= idx r) as [Ht Hi] by
      (destruct Hpo as [->|[? ?]]; split; auto; lia).
    destruct (nth_error_exists (issued s (thread f)) j) as [o Ho].
    { apply (point_event P s f Hs) in Hf. lia. }
    rewrite Ht in *. now apply (overtaken_on_its_way P s Hs r j o); [|lia|..].
  Qed.

  Lemma overtaking_plain s f : proper s -> overtakes s f -> is_plain f = true.
  Proof. intros Hs Hf. apply (behind_gap_plain s f); try easy; [apply Hf|now left]. Qed.

  (** What has overtaken happens before nothing of another thread: no release stands behind it yet. *)
  Lemma overtaking_not_hb s f g : proper s -> overtakes s f -> thread g <> thread f -> ~ hb M (points s) f g.
  Proof.
    intros Hs Hf Ht [c H]. apply hb_in_any, hb_any_shape in H; [|apply (points_well_formed P s Hs)].
    destruct H as [[? _]|(r & a & (B & R & _) & _ & _ & Hpo & _)]; [congruence|].
    apply release_not_plain in R. apply before_in in B.
    rewrite (behind_gap_plain s f r) in R; easy.
  Qed.

  (** So while there is no race, it meets no conflicting operation of another thread, unless later. *)
  Lemma overtaking_no_collision s f g :
    proper s -> ~ raced M (points s) -> overtakes s f -> In g (points s) ->
    overtakes s g \/ before (points s) f g -> ~ collide f g.
  Proof.
    intros Hs Hno Hf Hg Hafter Hc. apply Hno. exists f, g.
    assert (thread f <> thread g) as Ht by apply Hc.
    repeat split; try easy; try apply Hf.
    - apply (plain_conflicts M HM). split; [easy|]. left. now apply overtaking_plain with s.
    - apply overtaking_not_hb; auto.
    - destruct Hafter as [Hgap|Hb]; [now apply overtaking_not_hb|].
      apply hb_not_back; [apply (points_well_formed P s Hs)|easy..].
  Qed.

  Lemma plain_accesses e : is_plain e = true -> access e = true.
  Proof. unfold is_plain, op_plain, access, op_access. now destruct (kind_of (what e)). Qed.

  Lemma write_collides f g x :
    thread f <> thread g -> writes_at f x = true -> access g = true -> loc g = x -> collide f g.
  Proof.
    intros Ht Hf Hg Hx. apply writes_at_iff in Hf. destruct Hf as [<- Hf].
    repeat split; auto. now apply writer_accesses.
  Qed.
  Lemma collide_symmetric f g : collide f g -> collide g f.
  Proof. unfold collide. intuition. Qed.

  (** ** The SC run that explains a run so far *)

  (** Has its point, and no place in the SC run yet. *)
  Definition hanging (s : port) (Q : list event) (e : event) : Prop :=
    In e (points s) /\ count (thread e) Q < idx e.
  (** What of a thread is hanging, in program order, latest first. *)
  Definition on_way (s : port) (Q : list event) (t : nat) : list event :=
    filter (fun e => has_point s t (idx e))
      (slice s t (count t Q) (length (issued s t) - count t Q)).

  Record explains (s : port) (Q : list event) : Prop := {
    is_sc_run : sc_run Q;
    has_points : forall e, In e Q -> In e (points s);
    has_all_below : forall e, In e (points s) -> idx e < count (thread e) Q -> In e Q;
    stops_at_gap : forall t, has_point s t (count t Q) = false;
    same_order_of_atomics : filter sync Q = filter sync (points s);
    reads_will_fit : forall e, hanging s Q e -> reads e = true ->
      got e = memory (slice s (thread e) (count (thread e) Q) (idx e - count (thread e) Q) ++ Q) (loc e);
    highest_is_last : forall t x,
      (forall f, hanging s Q f -> writes_at f x = true -> thread f = t) ->
      highest (points s) x = memory (on_way s Q t ++ Q) x
  }.

  Lemma hanging_overtakes s Q f : explains s Q -> hanging s Q f -> overtakes s f.
  Proof.
    intros HQ [Hf Hi]. split; [easy|]. exists (count (thread f) Q). split; [easy|].
    apply (stops_at_gap s Q HQ).
  Qed.

  (** ** Extending an SC run with a thread's operations *)

  (** An operation whose result is settled: it has its point, or takes nothing in. *)
  Definition settled (s : port) (t j : nat) : Prop :=
    has_point s t j = true \/ forall o, nth_error (issued s t) j = Some o -> op_takes o = false.

  Lemma settled_log s t j v o :
    proper s -> returns_newest s -> settled s t j ->
    nth_error (issued s t) j = Some o -> nth_error (returned s t) j = Some v ->
    (what (ev s t j), got (ev s t j)) = (o, v).
  Proof.
    intros Hs Hn Hset Ho Hv. f_equal; [now apply ev_what|].
    destruct (has_point s t j) eqn:H.
    - apply ev_has_point in H. destruct (ev_place s t j) as [Ht Hj].
      symmetry. apply (returned_is_got P s); [easy..|]. now rewrite Ht, Hj.
    - destruct Hset as [Hset|Hset]; [congruence|]. rewrite (ev_pending s t j o) by easy. simpl.
      symmetry. apply (nothing_read_returns_0 P s Hs t j o); try easy.
      apply Hset in Ho. unfold op_takes, op_reads in *. now destruct (kind_of o).
  Qed.

  Lemma same_nth {A} (l l' : list A) : (forall j, nth_error l j = nth_error l' j) -> l = l'.
  Proof.
    revert l'. induction l as [|a l IH]; intros [|b l'] H; try easy.
    - now specialize (H 0).
    - now specialize (H 0).
    - f_equal; [specialize (H 0); now injection H|]. apply IH. intros j. now specialize (H (S j)).
  Qed.

  Lemma nth_error_firstn {A} (l : list A) n j :
    nth_error (firstn n l) j = if j <? n then nth_error l j else None.
  Proof.
    revert l j. induction n as [|n IH]; intros l j; [now destruct j|].
    destruct l as [|a l]; simpl; [destruct (j <? S n); now destruct j|].
    destruct j as [|j]; simpl; [easy|]. rewrite IH. now change (S j <? S n) with (j <? n).
  Qed.

  Lemma history_of_Q s Q t :
    proper s -> returns_newest s -> sc_run Q -> (forall e, In e Q -> In e (points s)) ->
    count t Q <= length (returned s t) ->
    history_of t Q = firstn (count t Q) (combine (issued s t) (returned s t)).
  Proof.
    intros Hs Hn HQ Hpoints Hc. apply same_nth. intros j. rewrite nth_error_firstn.
    destruct (j <? count t Q) eqn:Hj.
    - apply Nat.ltb_lt in Hj. destruct (nth_error_exists _ _ Hj) as [h Hh]. rewrite Hh.
      apply (history_nth P) in Hh; [|easy]. destruct Hh as (e & He & <- & <- & ->).
      apply Hpoints in He. symmetry. apply nth_error_combine; [now apply (points_are_issued P s Hs)|].
      destruct (nth_error_exists (returned s (thread e)) (idx e)) as [v Hv]; [lia|].
      rewrite Hv. f_equal. now apply (returned_is_got P s).
    - apply Nat.ltb_ge in Hj. now apply nth_error_None.
  Qed.

  Lemma history_app t A E :
    (forall e, In e A -> thread e <> t) -> history_of t (A ++ E) = history_of t E.
  Proof.
    induction A as [|e A IH]; simpl; [easy|]. intros H.
    destruct (thread e =? t) eqn:Ht.
    - apply Nat.eqb_eq in Ht. now apply H in Ht; [|left].
    - apply IH. auto.
  Qed.

  Lemma history_of_slice s Q R t n :
    proper s -> returns_newest s -> sc_run Q -> (forall e, In e Q -> In e (points s)) ->
    history_of t R = history_of t Q ->
    count t Q + n <= length (returned s t) ->
    (forall j, count t Q <= j < count t Q + n -> settled s t j) ->
    history_of t (slice s t (count t Q) n ++ R) =
      firstn (count t Q + n) (combine (issued s t) (returned s t)).
  Proof.
    intros Hs Hn HQ Hpoints HR. induction n as [|n IH]; intros Hlen Hset; simpl.
    - rewrite Nat.add_0_r in *. rewrite HR. now apply history_of_Q.
    - destruct (ev_place s t (count t Q + n)) as [Ht Hj].
      rewrite Ht, Nat.eqb_refl, IH by (try intros; try apply Hset; lia).
      rewrite Nat.add_succ_r.
      destruct (nth_error_exists (returned s t) (count t Q + n)) as [v Hv]; [lia|].
      destruct (nth_error_exists (issued s t) (count t Q + n)) as [o Ho].
      { pose proof (one_request_at_a_time P s Hs t). lia. }
      rewrite (firstn_one_more _ _ (o, v)) by now apply nth_error_combine.
      do 2 f_equal. apply settled_log; try easy. apply Hset. lia.
  Qed.

  (** The next operation of a thread is one that its program may issue, whatever other threads have done
      meanwhile. *)
  Lemma next_of_thread s Q R t n o :
    proper s -> returns_newest s -> sc_run Q -> (forall e, In e Q -> In e (points s)) ->
    history_of t R = history_of t Q ->
    (forall j, count t Q <= j < count t Q + n -> settled s t j) ->
    nth_error (issued s t) (count t Q + n) = Some o ->
    may_issue P t (history_of t (slice s t (count t Q) n ++ R)) o /\
    length (history_of t (slice s t (count t Q) n ++ R)) = count t Q + n.
  Proof.
    intros Hs Hn HQ Hpoints HR Hset Ho.
    assert (count t Q + n <= length (returned s t)) as Hlen.
    { apply nth_error_below in Ho. pose proof (one_request_at_a_time P s Hs t). lia. }
    rewrite history_of_slice by easy. split; [now apply (issued_by_the_program P s Hs)|].
    rewrite firstn_length, combine_length. pose proof (one_request_at_a_time P s Hs t). lia.
  Qed.

  Lemma slice_is_sc_run s Q R t n :
    proper s -> returns_newest s -> sc_run Q -> (forall e, In e Q -> In e (points s)) ->
    sc_run R -> history_of t R = history_of t Q ->
    (forall j, count t Q <= j < count t Q + n ->
       j < length (issued s t) /\ settled s t j /\
       may_depart P (slice s t (count t Q) (j - count t Q) ++ R) t (what (ev s t j)) /\
       got (ev s t j) = if reads (ev s t j)
                        then memory (slice s t (count t Q) (j - count t Q) ++ R) (loc (ev s t j)) else 0) ->
    sc_run (slice s t (count t Q) n ++ R).
  Proof.
    intros Hs Hn HQ Hpoints HR Hhist. induction n as [|n IH]; intros Hj; simpl; [easy|].
    destruct (Hj (count t Q + n)) as (Hlen & _ & Hdep & Hgot); [lia|].
    replace (count t Q + n - count t Q) with n in * by lia.
    destruct (nth_error_exists _ _ Hlen) as [o Ho].
    destruct (next_of_thread s Q R t n o) as [Hissue Hidx]; try easy.
    { intros j H. apply Hj. lia. }
    destruct (ev_place s t (count t Q + n)) as [Ht Hk]. pose proof (ev_what s t _ o Hs Ho) as Hw.
    constructor; rewrite ?Ht, ?Hk, ?Hw; try easy.
    - apply IH. intros j H. apply Hj. lia.
    - now rewrite <- Hw.
  Qed.

  (** ** What may be taken from a thread's operations that have no place yet *)

  Lemma below_count_has_point s Q t j : explains s Q -> j < count t Q -> has_point s t j = true.
  Proof.
    intros HQ Hj. destruct (nth_error_exists _ _ Hj) as [h Hh].
    apply (history_nth P) in Hh; [|apply (is_sc_run s Q HQ)]. destruct Hh as (e & He & Ht & Hi & _).
    apply has_point_iff. exists e. now split; [apply (has_points s Q HQ)|].
  Qed.

  (** Up to the [k]-th, what has no point takes nothing in: true below whatever has a point. *)
  Definition reachable (s : port) (Q : list event) (t k : nat) : Prop :=
    forall j, count t Q <= j < k ->
      j < length (issued s t) /\
      (has_point s t j = false -> forall o, nth_error (issued s t) j = Some o -> op_takes o = false).

  Lemma hanging_reachable s Q f : proper s -> hanging s Q f -> reachable s Q (thread f) (idx f).
  Proof.
    intros Hs [Hf _] j Hj. pose proof (point_event P s f Hs Hf). split; [lia|].
    intros Hno o Ho. now apply (overtaken_on_its_way P s Hs f j o).
  Qed.

  Lemma point_above_count_hangs s Q t j :
    explains s Q -> count t Q <= j -> has_point s t j = true -> hanging s Q (ev s t j).
  Proof.
    intros HQ Hj H. destruct (ev_place s t j) as [Ht Hi]. split; [now apply ev_has_point|].
    rewrite Ht, Hi. pose proof (stops_at_gap s Q HQ t) as Hgap.
    destruct (Nat.eq_dec (count t Q) j) as [<-|]; [congruence|lia].
  Qed.

  Lemma hanging_plain s Q f : proper s -> explains s Q -> hanging s Q f -> is_plain f = true.
  Proof. intros Hs HQ Hf. apply overtaking_plain with s; [easy|]. now apply hanging_overtakes with Q. Qed.

  Lemma plain_not_depart e : is_plain e = true -> kind_of (what e) <> Depart.
  Proof. unfold is_plain, op_plain. now destruct (kind_of (what e)). Qed.
  Lemma taker_not_depart o : op_takes o = false -> kind_of o <> Depart.
  Proof. unfold op_takes. now destruct (kind_of o). Qed.
  Lemma taker_not_reader o : op_takes o = false -> op_reads o = false.
  Proof. unfold op_takes, op_reads. now destruct (kind_of o). Qed.

  Lemma reachable_fits s Q t k j :
    proper s -> explains s Q -> reachable s Q t k -> count t Q <= j < k ->
    settled s t j /\ kind_of (what (ev s t j)) <> Depart /\ acquires (ev s t j) = false /\
    (reads (ev s t j) = true -> hanging s Q (ev s t j)) /\
    got (ev s t j) = if reads (ev s t j)
                     then memory (slice s t (count t Q) (j - count t Q) ++ Q) (loc (ev s t j)) else 0.
  Proof.
    intros Hs HQ Hreach Hj. destruct (Hreach j Hj) as [Hlen Htakes].
    destruct (has_point s t j) eqn:H.
    - assert (hanging s Q (ev s t j)) as Hh by (apply point_above_count_hangs; easy || lia).
      pose proof (hanging_plain s Q _ Hs HQ Hh) as Hplain.
      repeat split.
      + now left.
      + now apply plain_not_depart.
      + destruct (acquires (ev s t j)) eqn:A; [|easy]. apply acquire_not_plain in A. congruence.
      + apply Hh.
      + apply Hh.
      + destruct (reads (ev s t j)) eqn:R.
        * rewrite (reads_will_fit s Q HQ _ Hh R). destruct (ev_place s t j) as [-> ->]. easy.
        * apply (nothing_read_got_0 P s Hs); [apply Hh|easy].
    - destruct (nth_error_exists _ _ Hlen) as [o Ho]. specialize (Htakes eq_refl o Ho).
      rewrite (ev_pending s t j o) by easy. unfold reads, acquires, op_acquires. simpl.
      rewrite taker_not_reader by easy. repeat split; try easy.
      + right. intros o'. rewrite Ho. now injection 1 as <-.
      + now apply taker_not_depart.
      + unfold op_takes in Htakes. now destruct (kind_of o).
  Qed.

  Lemma slice_on_Q s Q t k :
    proper s -> returns_newest s -> explains s Q -> reachable s Q t k ->
    sc_run (slice s t (count t Q) (k - count t Q) ++ Q).
  Proof.
    intros Hs Hn HQ Hreach. apply slice_is_sc_run; try easy; try apply HQ.
    intros j Hj. destruct (reachable_fits s Q t k j) as (? & Hd & _ & _ & Hg); try easy; try lia.
    repeat split; try easy. apply Hreach. lia.
  Qed.

  Lemma on_way_up_to s Q t k :
    count t Q <= k <= length (issued s t) -> (forall j, k <= j -> has_point s t j = false) ->
    on_way s Q t = filter (fun e => has_point s t (idx e)) (slice s t (count t Q) (k - count t Q)).
  Proof.
    intros Hk Hno. unfold on_way.
    replace (length (issued s t) - count t Q) with (k - count t Q + (length (issued s t) - k)) by lia.
    rewrite slice_app, filter_app.
    rewrite (proj2 (filter_nil_iff _ _)); [easy|].
    intros e He. apply slice_in in He. destruct He as (j & Hj & ->). destruct (ev_place s t j) as [_ ->].
    apply Hno. lia.
  Qed.

  (** The newest write for an operation of the thread is the last one in the SC run extended up to it. *)
  Lemma newest_with_points s t n x :
    (forall j, j < n -> has_point s t j = true) -> newest s t n x = highest (points s) x.
  Proof.
    induction n as [|n IH]; intros H; simpl; [easy|].
    destruct (nth_error (issued s t) n) as [o|]; [|apply IH; auto].
    rewrite H by lia. destruct (kind_of o); try (apply IH; auto).
    destruct (loc_of o =? x); [easy|]. apply IH; auto.
  Qed.

  Lemma newest_is_last s Q t k x :
    proper s -> explains s Q -> reachable s Q t k -> count t Q <= k <= length (issued s t) ->
    (forall j, k <= j -> has_point s t j = false) ->
    (forall f, hanging s Q f -> writes_at f x = true -> thread f = t) ->
    newest s t k x = memory (slice s t (count t Q) (k - count t Q) ++ Q) x.
  Proof.
    intros Hs HQ Hreach Hk Hno Hothers.
    assert (forall m, count t Q + m <= k ->
      highest (points s) x =
        memory (filter (fun e => has_point s t (idx e)) (slice s t (count t Q) m) ++ Q) x ->
      newest s t (count t Q + m) x = memory (slice s t (count t Q) m ++ Q) x) as Hup.
    { induction m as [|m IH]; intros Hm Hh.
      - rewrite Nat.add_0_r, newest_with_points; [easy|].
        intros j Hj. now apply below_count_has_point with Q.
      - rewrite Nat.add_succ_r. simpl.
        set (j := count t Q + m) in *.
        destruct (Hreach j) as [Hlen Htakes]; [lia|].
        destruct (nth_error_exists _ _ Hlen) as [o Ho]. rewrite Ho.
        pose proof (ev_what s t j o Hs Ho) as Hw.
        destruct (ev_place s t j) as [_ Hidx].
        simpl in Hh. fold j in Hh. rewrite Hidx in Hh.
        assert (wrote_at (ev s t j) x = None ->
                newest s t j x = memory (slice s t (count t Q) m ++ Q) x) as Hskip.
        { intros Hnone. apply IH; [lia|]. destruct (has_point s t j); [|easy].
          simpl in Hh. now rewrite Hnone in Hh. }
        unfold wrote_at, loc, wrote in *. rewrite Hw in *.
        destruct (kind_of o) eqn:Kind.
        1, 4, 5: rewrite Hskip; now destruct (loc_of o =? x).
        + destruct (loc_of o =? x) eqn:Hx; [|now apply Hskip].
          destruct (has_point s t j); [|easy]. rewrite Hh. simpl.
          unfold wrote_at, loc, wrote. now rewrite Hw, Hx, Kind.
        + exfalso. destruct (has_point s t j) eqn:H.
          * apply (point_above_count_hangs s Q) in H; [|easy|lia].
            apply hanging_plain in H; [|easy..]. unfold is_plain, op_plain in H. now rewrite Hw, Kind in H.
          * specialize (Htakes eq_refl o Ho). unfold op_takes in Htakes. now rewrite Kind in Htakes. }
    replace k with (count t Q + (k - count t Q)) at 1 by lia. apply Hup; [lia|].
    rewrite <- on_way_up_to by easy. now apply (highest_is_last s Q HQ).
  Qed.
End Explain.
