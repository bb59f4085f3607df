(** * What a read returns, by happens-before

    Without a race a plain read returns the newest write that happens before it.  That is not so of atomic
    reads: two atomics of one scope instance need not be ordered (Counterexamples.v). *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models HappensBefore Monitor Programs Port Flat Theorems.
Import ListNotations.

Section Reads.
  Variable P : program.
  Variable M : model.
  Hypothesis HM : lawful M.

  (** [w] is the last write of [x] in [E]. *)
  Definition last_write (E : list event) (x : nat) (w : event) : Prop :=
    In w E /\ writes_at w x = true /\
    forall w', In w' E -> writes_at w' x = true -> w' = w \/ before E w' w.

  Lemma memory_is_last_write E x :
    (exists w, last_write E x w /\ wrote w = Some (memory P E x)) \/
    ((forall w, In w E -> writes_at w x = false) /\ memory P E x = initial P x).
  Proof.
    induction E as [|e E IH]; simpl.
    - now right.
    - destruct (wrote_at e x) as [v|] eqn:He.
      + left. exists e.
        assert (writes_at e x = true) as Hw by (unfold writes_at; now rewrite He).
        repeat split; [now left|easy| |].
        * intros w' [<-|Hw'] _; [now left|]. right. left. now split.
        * unfold wrote_at in He. now destruct (loc e =? x).
      + apply writes_at_none in He.
        destruct IH as [(w & (Hin & Hw & Hlast) & Hv)|[Hnone Hv]].
        * left. exists w. split; [|easy]. split; [now right|]. split; [easy|].
          intros w' [<-|Hw'] Hx; [congruence|]. destruct (Hlast w' Hw' Hx); auto. right. now right.
        * right. split; [|easy]. intros w [<-|Hw]; auto.
  Qed.

  Lemma sc_run_read fut e E :
    sc_run P (fut ++ e :: E) -> reads e = true -> got e = memory P E (loc e).
  Proof.
    intros H Hr. apply sc_run_past in H. inversion H as [|? ? _ _ _ _ Hg]. subst. now rewrite Hr in Hg.
  Qed.

  (** The newest, in the order of the SC run, of the writes of [x] that happen before [e]. *)
  Definition newest_before (E : list event) (e : event) (x : nat) (w : event) : Prop :=
    In w E /\ writes_at w x = true /\ hb M E w e /\
    forall w', In w' E -> writes_at w' x = true -> hb M E w' e -> w' = w \/ before E w' w.

  Theorem plain_read_returns_newest_before R e :
    sc_run P R -> ~ raced M R -> In e R -> reads e = true -> is_plain e = true ->
    (exists w, newest_before R e (loc e) w /\ wrote w = Some (got e)) \/
    ((forall w, In w R -> writes_at w (loc e) = true -> ~ hb M R w e) /\ got e = initial P (loc e)).
  Proof.
    intros HR Hno He Hr Hp. pose proof (sc_run_wf P R HR) as Hwf.
    apply in_split in He. destruct He as (fut & E & ->).
    rewrite (sc_run_read fut e E) by easy.
    assert (In e (fut ++ e :: E)) as He by (apply in_or_app; right; now left).
    assert (forall w, In w (fut ++ e :: E) -> hb M (fut ++ e :: E) w e -> In w E) as Hback.
    { intros w Hw [c H]. apply (before_at fut e E w Hwf). apply hb_in_any in H.
      destruct (Nat.eq_dec (thread w) (thread e)) as [Ht|Ht]; [|now apply hb_any_before].
      apply hb_any_po in H; [|easy..].
      destruct (before_total _ w e Hw He) as [->|[Hb|Hb]]; [now apply po_irreflexive in H|easy|].
      exfalso. clear -HR Hb H. induction (fut ++ e :: E) as [|g R IH]; [easy|].
      inversion HR as [|? ? HR' Hi]; subst. destruct Hb as [[-> Hb]|Hb]; [|now apply IH].
      apply (sc_run_index P) in Hb; [|easy]. destruct H as [Ht Hlt]. rewrite <- Ht in Hb.
      unfold count in Hb. lia. }
    assert (forall w, In w E -> writes_at w (loc e) = true -> hb M (fut ++ e :: E) w e) as Hordered.
    { intros w Hw Hx.
      assert (In w (fut ++ e :: E)) as Hin by (apply in_or_app; right; now right).
      assert (before (fut ++ e :: E) w e) as Hb by now apply before_at.
      destruct (Nat.eq_dec (thread w) (thread e)) as [Ht|Ht].
      - exists 0. apply po_hb; [easy..|]. split; [easy|].
        clear -HR Hb Ht. induction (fut ++ e :: E) as [|g R IH]; [easy|].
        inversion HR as [|? ? HR' Hi]; subst. destruct Hb as [[-> Hb]|Hb]; [|now apply IH].
        apply (sc_run_index P) in Hb; [|easy]. rewrite Ht in Hb. unfold count in Hb. lia.
      - assert (collide w e) as Hc.
        { apply writes_at_iff in Hx. destruct Hx as [Hx Hww]. repeat split; auto.
          - now apply writer_accesses.
          - unfold reads, op_reads, access, op_access in *. now destruct (kind_of (what e)). }
        pose proof (monitor_decides_races M _ Hwf HM) as Hdec.
        destruct (ordered M (monitor M E) e w) eqn:O.
        + destruct (monitor_knows M (fut ++ e :: E) E (fut ++ [e]) Hwf) as [K Pb];
            [now rewrite <- app_assoc|].
          now apply (ordered_is_right M _ Hwf fut E e eq_refl K Pb HM w Hw).
        + exfalso. apply Hno. exists w, e. repeat split; try easy.
          * apply (plain_conflicts M HM). split; [easy|]. now right.
          * destruct (monitor_knows M (fut ++ e :: E) E (fut ++ [e]) Hwf) as [K Pb];
            [now rewrite <- app_assoc|].
            rewrite <- (ordered_is_right M _ Hwf fut E e eq_refl K Pb HM w Hw) by easy. congruence.
          * now apply hb_not_back. }
    destruct (memory_is_last_write E (loc e)) as [(w & (Hin & Hw & Hlast) & Hv)|[Hnone Hv]].
    - left. exists w. split; [|easy]. repeat split; auto.
      + apply in_or_app. right. now right.
      + intros w' Hw' Hx Hhb. apply Hback in Hhb; [|easy].
        destruct (Hlast w' Hhb Hx) as [|Hb]; [now left|]. right.
        apply before_app_past. now right.
    - right. split; [|easy]. intros w Hw Hx Hhb. apply Hback in Hhb; [|easy].
      rewrite Hnone in Hx; easy.
  Qed.
End Reads.
