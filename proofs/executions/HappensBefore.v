(** * What happens-before looks like

    Every model's happens-before is contained in [hb_any], program order closed with *every* release before
    every acquire; it is acyclic, and but for program order it follows the order of points. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models.
Import ListNotations.

Definition hb_any (E : list event) : event -> event -> Prop :=
  clos_trans event (fun e f => po_in E e f \/ released_before E e f).

Lemma hb_in_any M E c e f : hb_in M E c e f -> hb_any E e f.
Proof.
  induction 1 as [x y [H|H]|x y z _ IH1 _ IH2].
  - apply t_step. now left.
  - apply t_step. right. unfold so, released_before in *. tauto.
  - now apply t_trans with y.
Qed.

Lemma hb_any_in E e f : hb_any E e f -> In e E /\ In f E.
Proof.
  induction 1 as [x y [(H1 & H2 & _)|(H & _)]|x y z _ IH1 _ IH2]; [tauto| |tauto].
  now apply before_in.
Qed.

Lemma hb_in_in M E c e f : hb_in M E c e f -> In e E /\ In f E.
Proof. intros H. apply hb_any_in. exact (hb_in_any _ _ _ _ _ H). Qed.

Lemma po_hb M E c e f : In e E -> In f E -> po e f -> hb_in M E c e f.
Proof. intros. apply t_step. left. now split. Qed.

Lemma so_hb M E c e f : so M E c e f -> hb_in M E c e f.
Proof. intros. apply t_step. now right. Qed.

(** Equal, or before in program order. *)
Definition po_eq (e f : event) : Prop := e = f \/ po e f.

Lemma po_eq_po e f g : po_eq e f -> po f g -> po e g.
Proof. intros [->|H]; [easy|]. now apply po_trans. Qed.
Lemma po_po_eq e f g : po e f -> po_eq f g -> po e g.
Proof. intros H [<-|H']; [easy|]. now apply po_trans with f. Qed.
Lemma po_eq_trans e f g : po_eq e f -> po_eq f g -> po_eq e g.
Proof. intros [->|H]; [easy|]. right. now apply po_po_eq with f. Qed.

(** From one event to another happens-before goes in program order alone, or to a release, across to an
    acquire, and on; whatever lies between. *)
Definition across (E : list event) (e f : event) : Prop :=
  exists r a, released_before E r a /\ In e E /\ In f E /\ po_eq e r /\ po_eq a f.

Lemma po_eq_before_sync E e f :
  wf E -> In e E -> In f E -> po_eq e f -> is_plain f = false -> e = f \/ before E e f.
Proof. intros Hwf He Hf [->|H] Hs; [now left|]. right. now apply po_before_sync. Qed.

Lemma po_eq_after_taker E e f :
  wf E -> In e E -> In f E -> po_eq e f -> takes e = true -> e = f \/ before E e f.
Proof. intros Hwf He Hf [->|H] Hs; [now left|]. right. now apply po_after_taker. Qed.

Lemma hb_any_shape E e f : wf E -> hb_any E e f -> po e f \/ across E e f.
Proof.
  intros Hwf. induction 1 as [x y [(_ & _ & H)|H]|x y z H1 IH1 H2 IH2].
  - now left.
  - right. pose proof (before_in _ _ _ (proj1 H)) as [? ?].
    exists x, y. repeat split; try apply H; try easy; now left.
  - apply hb_any_in in H1, H2.
    destruct IH1 as [P1|(r & a & R1 & _ & _ & X1 & A1)], IH2 as [P2|(r' & a' & R2 & _ & _ & X2 & A2)].
    + left. now apply po_trans with y.
    + right. exists r', a'. repeat split; try tauto; try apply R2. right. now apply po_po_eq with y.
    + right. exists r, a. repeat split; try tauto; try apply R1. right. now apply po_eq_po with y.
    + right. exists r, a'. repeat split; try tauto; try apply R1; try apply R2.
      destruct R1 as (B1 & _ & Q1), R2 as (B2 & Q2 & _).
      apply before_trans with a; [easy..|].
      destruct (po_eq_before_sync E a r') as [->|B]; try easy.
      * now apply before_in in B1.
      * now apply before_in in B2.
      * now apply po_eq_trans with y.
      * now apply release_not_plain.
      * now apply before_trans with r'.
Qed.

Lemma across_before E e f : wf E -> across E e f -> before E e f.
Proof.
  intros Hwf (r & a & (B & R & A) & He & Hf & P & Q).
  pose proof (before_in _ _ _ B) as [Hr Ha].
  assert (before E e a) as Hea.
  { destruct (po_eq_before_sync E e r) as [->|]; try easy; [now apply release_not_plain|].
    now apply before_trans with r. }
  destruct (po_eq_after_taker E a f) as [<-|]; try easy; [now apply acquire_takes|].
  now apply before_trans with a.
Qed.

(** Between threads, happens-before follows the order of points; within a thread it is program order. *)
Lemma hb_any_before E e f : wf E -> hb_any E e f -> thread e <> thread f -> before E e f.
Proof.
  intros Hwf H Ht. apply hb_any_shape in H; [|easy]. destruct H as [[? _]|H]; [easy|].
  now apply across_before.
Qed.

Lemma hb_any_po E e f : wf E -> hb_any E e f -> thread e = thread f -> po e f.
Proof.
  intros Hwf H Ht. apply hb_any_shape in H; [|easy]. destruct H as [H|H]; [easy|].
  pose proof (across_before _ _ _ Hwf H) as Hb.
  destruct H as (r & a & (B & R & A) & He & Hf & P & Q).
  destruct (lt_eq_lt_dec (idx e) (idx f)) as [[Hi|Hi]|Hi]; [now split| |]; exfalso.
  - rewrite (wf_unique E e f) in Hb by easy. exact (before_irreflexive _ _ Hwf Hb).
  - pose proof (before_in _ _ _ B) as [Hr Ha].
    assert (po a r) as Har.
    { apply po_eq_po with f; [easy|]. apply po_po_eq with e; [now split|easy]. }
    apply po_before_sync with (E := E) in Har; try easy; [|now apply release_not_plain].
    apply (before_irreflexive E r Hwf). now apply before_trans with a.
Qed.

(** Happens-before is acyclic, in every model, whether or not there is a race; so is even the union of
    HRF-direct's closures, closed again. *)
Theorem hb_any_acyclic E e : wf E -> ~ hb_any E e e.
Proof. intros Hwf H. apply hb_any_po in H; [|easy..]. now apply po_irreflexive in H. Qed.

Theorem happens_before_is_acyclic M E e : wf E -> ~ clos_trans event (hb M E) e e.
Proof.
  intros Hwf H. apply (hb_any_acyclic E e Hwf).
  assert (forall x y, clos_trans event (hb M E) x y -> hb_any E x y) as Hsub; [|auto].
  intros x y. induction 1 as [x y [c Hc]|x y z _ IH1 _ IH2].
  - exact (hb_in_any _ _ _ _ _ Hc).
  - now apply t_trans with y.
Qed.

(** What happens before an operation of another thread came by way of an acquire. *)
Lemma last_synchronization M E c e f :
  hb_in M E c e f -> thread e <> thread f ->
  exists r a, so M E c r a /\ (e = r \/ hb_in M E c e r) /\ po_eq a f.
Proof.
  intros H. apply clos_trans_tn1 in H.
  induction H as [y [(_ & _ & H & _)|H]|y z [H|H] Hey IH]; intros Ht.
  - easy.
  - exists e, y. repeat split; try apply H; now left.
  - destruct H as (_ & _ & H). destruct IH as (r & a & S & X & A); [destruct H; congruence|].
    exists r, a. repeat split; try apply S; try easy. right. now apply po_eq_po with y.
  - exists y, z. repeat split; try apply H; [|now left].
    right. now apply clos_tn1_trans.
Qed.

(** Nothing of another thread happens before what was performed earlier. *)
Lemma hb_not_back M E e f : wf E -> thread e <> thread f -> before E e f -> ~ hb M E f e.
Proof.
  intros Hwf Ht Hb [c H]. apply hb_in_any in H. apply hb_any_before in H; [|easy|congruence].
  apply (before_irreflexive E e Hwf). now apply before_trans with f.
Qed.
