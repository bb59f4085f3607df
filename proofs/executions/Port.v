(** * What holds at the port in every run

    Consequences of the conditions on requests, points and completions alone; nothing here speaks of races. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Programs.
Import ListNotations.

(** ** Lists *)

Lemma nth_error_snoc {A} (l : list A) a k :
  nth_error (l ++ [a]) k = if k =? length l then Some a else nth_error l k.
Proof.
  destruct (k =? length l) eqn:H.
  - apply Nat.eqb_eq in H. subst. rewrite nth_error_app2, Nat.sub_diag by lia. easy.
  - apply Nat.eqb_neq in H. destruct (lt_dec k (length l)) as [Hk|Hk].
    + now apply nth_error_app1.
    + rewrite (proj2 (nth_error_None l k)) by lia. apply nth_error_None. rewrite app_length. simpl. lia.
Qed.

Lemma nth_error_below {A} (l : list A) k a : nth_error l k = Some a -> k < length l.
Proof. intros H. apply nth_error_Some. congruence. Qed.

Lemma nth_error_exists {A} (l : list A) k : k < length l -> exists a, nth_error l k = Some a.
Proof. intros H. apply nth_error_Some in H. destruct (nth_error l k); [eauto|easy]. Qed.

Lemma firstn_one_more {A} (l : list A) k a : nth_error l k = Some a -> firstn (S k) l = firstn k l ++ [a].
Proof.
  revert l. induction k as [|k IH]; intros [|b l] H; try easy; simpl in *.
  - now injection H as ->.
  - f_equal. now apply IH.
Qed.

Lemma nth_error_combine {A B} (l : list A) (m : list B) k a b :
  nth_error l k = Some a -> nth_error m k = Some b -> nth_error (combine l m) k = Some (a, b).
Proof.
  revert l m. induction k as [|k IH]; intros [|x l] [|y m] Hl Hm; try easy; simpl in *.
  - now injection Hl as ->; injection Hm as ->.
  - now apply IH.
Qed.

Lemma firstn_combine_snoc_left {A B} (l : list A) (m : list B) a k :
  length m <= length l -> firstn k (combine (l ++ [a]) m) = firstn k (combine l m).
Proof.
  revert m k. induction l as [|x l IH]; intros [|y m] [|k] H; simpl in *; try easy; try lia.
  f_equal. apply IH. lia.
Qed.

Lemma firstn_combine_snoc_right {A B} (l : list A) (m : list B) b k :
  k <= length m -> firstn k (combine l (m ++ [b])) = firstn k (combine l m).
Proof.
  revert m k. induction l as [|x l IH]; intros [|y m] [|k] H; simpl in *; try easy; try lia.
  f_equal. apply IH. lia.
Qed.

Lemma put_same {A} (f : nat -> A) t a : put f t a t = a.
Proof. unfold put. now rewrite Nat.eqb_refl. Qed.
Lemma put_other {A} (f : nat -> A) t a u : u <> t -> put f t a u = f u.
Proof. unfold put. intros H. apply Nat.eqb_neq in H. now rewrite H. Qed.

(** ** Points *)

Lemma has_point_iff s t k : has_point s t k = true <-> exists e, In e (points s) /\ thread e = t /\ idx e = k.
Proof.
  unfold has_point, is_at. rewrite existsb_exists.
  split; intros (e & H1 & H2); exists e; split; try easy;
    rewrite andb_true_iff, !Nat.eqb_eq in *; tauto.
Qed.

(** ** The invariant *)

Section Port.
  Variable P : program.
  Variable M : model.

  Record proper (s : port) : Prop := {
    points_are_issued : forall e, In e (points s) -> nth_error (issued s (thread e)) (idx e) = Some (what e);
    completed_plain_has_point : forall t k o,
      k < length (returned s t) -> nth_error (issued s t) k = Some o -> op_plain o = true ->
      has_point s t k = true;
    one_request_at_a_time : forall t,
      length (returned s t) <= length (issued s t) <= S (length (returned s t));
    points_well_formed : wf (points s);
    issued_by_the_program : forall t k o,
      nth_error (issued s t) k = Some o ->
      may_issue P t (firstn k (combine (issued s t) (returned s t))) o;
    nothing_read_returns_0 : forall t k o v,
      nth_error (issued s t) k = Some o -> nth_error (returned s t) k = Some v -> op_reads o = false -> v = 0;
    nothing_read_got_0 : forall e, In e (points s) -> reads e = false -> got e = 0;
    (** What is overtaken is neither plain nor takes anything in, and what overtakes is plain. *)
    overtaken_on_its_way : forall e j o,
      In e (points s) -> j < idx e -> nth_error (issued s (thread e)) j = Some o ->
      has_point s (thread e) j = false -> op_plain o = false /\ op_takes o = false /\ is_plain e = true
  }.

  Lemma idle_is_proper : proper idle.
  Proof.
    constructor; simpl; intros; try easy; try lia; destruct k; easy.
  Qed.

  Lemma step_is_proper s s' : proper s -> port_step P mended s s' -> proper s'.
  Proof.
    intros [I1 I2 I3 I4 I5 I6 I7 I8] Hstep.
    destruct Hstep as [s t o Hidle Hprog|s t k o Hk Hno Hatomics Htakes Hgate|s t o v Ho Hp Hv].
    - assert (forall u k o', nth_error (issued s u) k = Some o' ->
                nth_error (put (issued s) t (issued s t ++ [o]) u) k = Some o') as Hold.
      { intros u k o' H. unfold put. destruct (u =? t) eqn:Hu; [|easy].
        apply Nat.eqb_eq in Hu. subst. rewrite nth_error_app1; [easy|]. now apply nth_error_below in H. }
      assert (forall u k o', nth_error (put (issued s) t (issued s t ++ [o]) u) k = Some o' ->
                nth_error (issued s u) k = Some o' \/ (u = t /\ k = length (issued s t) /\ o' = o)) as Hnew.
      { intros u k o' H. unfold put in H. destruct (u =? t) eqn:Hu; [|now left].
        apply Nat.eqb_eq in Hu. subst. rewrite nth_error_snoc in H.
        destruct (k =? length (issued s t)) eqn:Hk; [|now left]. right.
        apply Nat.eqb_eq in Hk. now injection H as ->. }
      constructor; simpl; intros; auto.
      + destruct (Hnew _ _ _ H0) as [|(-> & -> & ->)]; [now apply (I2 t0 k o0)|lia].
      + unfold put. destruct (t0 =? t) eqn:Hu; [|easy].
        apply Nat.eqb_eq in Hu. subst. rewrite app_length. simpl. lia.
      + unfold put. destruct (t0 =? t) eqn:Hu.
        * apply Nat.eqb_eq in Hu. subst. rewrite firstn_combine_snoc_left by (specialize (I3 t); lia).
          destruct (Hnew _ _ _ H) as [|(_ & -> & ->)]; [now apply I5|].
          rewrite firstn_all2; [easy|]. rewrite combine_length. lia.
        * apply I5. destruct (Hnew _ _ _ H) as [|(-> & _)]; [easy|]. now rewrite Nat.eqb_refl in Hu.
      + destruct (Hnew _ _ _ H) as [|(-> & -> & ->)]; [now apply (I6 t0 k o0)|].
        apply nth_error_below in H0. lia.
      + destruct (Hnew _ _ _ H1) as [|(Ht & -> & ->)]; [now apply I8 with j|].
        apply I1 in H. rewrite Ht in H. apply nth_error_below in H. lia.
    - set (e := event_at P mended s t k o).
      assert (forall u j,
        has_point {| issued := issued s; returned := returned s; points := e :: points s |} u j =
        ((t =? u) && (k =? j)) || has_point s u j) as Hhas by easy.
      pose proof (nth_error_below _ _ _ Hk) as Hlen.
      assert (forall j o', j < k -> nth_error (issued s t) j = Some o' -> has_point s t j = false ->
                op_plain o' = false /\ op_takes o' = false /\ op_plain o = true) as Hbehind.
      { intros j o' Hj Ho' Hp. repeat split.
        - destruct (op_plain o') eqn:E; [|easy]. rewrite (I2 t j o') in Hp; try easy.
          specialize (I3 t). lia.
        - destruct (op_takes o') eqn:E; [|easy]. now rewrite (Htakes j o') in Hp.
        - destruct (op_plain o) eqn:E; [easy|]. destruct (op_plain o') eqn:E'.
          + rewrite (I2 t j o') in Hp; try easy. specialize (I3 t). lia.
          + now rewrite (Hatomics j o') in Hp. }
      constructor; simpl; try assumption.
      + intros f [<-|Hf]; [easy|]. now apply I1.
      + intros u j o' Hj Ho' Hp. rewrite Hhas, (I2 u j o') by easy. apply orb_true_r.
      + split; [easy|]. intros f Hf Ht. simpl in *.
        destruct (lt_eq_lt_dec (idx f) k) as [[Hi|Hi]|Hi]; [now left| |right; split; [easy|]].
        * assert (has_point s t k = true); [apply has_point_iff; now exists f|congruence].
        * destruct (I8 f k o) as (? & ? & ?); try easy; now rewrite Ht.
      + intros f [<-|Hf] Hr; [|now apply I7]. unfold e, event_at, reads in *. simpl in *. now rewrite Hr.
      + intros f j o' [<-|Hf] Hj Ho' Hp; rewrite Hhas in Hp; apply orb_false_iff in Hp; destruct Hp as [_ Hp].
        * simpl in *. now apply Hbehind with j.
        * now apply I8 with j.
    - assert (forall u j w, nth_error (put (returned s) t (returned s t ++ [v]) u) j = Some w ->
                nth_error (returned s u) j = Some w \/ (u = t /\ j = length (returned s t) /\ w = v)) as Hnew.
      { intros u j w H. unfold put in H. destruct (u =? t) eqn:Hu; [|now left].
        apply Nat.eqb_eq in Hu. subst. rewrite nth_error_snoc in H.
        destruct (j =? length (returned s t)) eqn:Hj; [|now left]. right.
        apply Nat.eqb_eq in Hj. now injection H as ->. }
      pose proof (nth_error_below _ _ _ Ho) as Hlen.
      constructor; simpl; try assumption.
      + intros u j o' Hj Ho' Hpl. destruct (nth_error_exists _ _ Hj) as [w Hw].
        destruct (Hnew _ _ _ Hw) as [H|(-> & -> & _)].
        * apply (I2 u j o'); try easy. now apply nth_error_below in H.
        * apply Hp. congruence.
      + intros u. unfold put. destruct (u =? t) eqn:Hu; [|easy].
        apply Nat.eqb_eq in Hu. subst. rewrite app_length. simpl. specialize (I3 t). lia.
      + intros u j o' Ho'. unfold put. destruct (u =? t) eqn:Hu; [|now apply I5].
        apply Nat.eqb_eq in Hu. subst. rewrite firstn_combine_snoc_right; [now apply I5|].
        apply nth_error_below in Ho'. specialize (I3 t). lia.
      + intros u j o' w Ho' Hw Hr. destruct (Hnew _ _ _ Hw) as [H|(-> & -> & ->)].
        * now apply (I6 u j o').
        * apply Hv. congruence.
  Qed.

  Lemma run_is_proper s : run P mended M s -> proper s.
  Proof.
    induction 1 as [|s s' _ IH Hstep _]; [apply idle_is_proper|]. now apply step_is_proper with s.
  Qed.

  Lemma point_event s e : proper s -> In e (points s) -> idx e < length (issued s (thread e)).
  Proof. intros Hs He. apply (points_are_issued s Hs) in He. now apply nth_error_below in He. Qed.

  (** Where there was no race, what an operation returned is what it got at its point. *)
  Lemma returned_is_got s e v :
    proper s -> returns_newest s -> In e (points s) ->
    nth_error (returned s (thread e)) (idx e) = Some v -> v = got e.
  Proof.
    intros Hs Hr He Hv. destruct (reads e) eqn:R; [now apply Hr|].
    rewrite (nothing_read_got_0 s Hs e He R).
    now apply (nothing_read_returns_0 s Hs (thread e) (idx e) (what e)); [apply points_are_issued| |].
  Qed.
End Port.
