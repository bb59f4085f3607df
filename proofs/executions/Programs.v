(** * Programs, SC runs, and runs of a memory system

    A program's threads are state machines that issue operations and receive values.  An SC run interleaves
    them on one flat memory.  A run of a memory system is a sequence of requests, points and completions
    under the conditions of semantics.md, "What is proved of a memory system", as mended: each mending says
    so, and Counterexamples.v shows what goes wrong without it. *)
From Coq Require Import List Arith Lia Bool Relations.
From Lockstep Require Import Executions Models.
Import ListNotations.

(** ** Programs *)

(** Any state machine for each thread, deterministic or not.  [opens] says when a barrier lets a thread
    depart, or a kernel may begin, given the edges that were performed so far. *)
Record program := {
  local : Type;
  starts : nat -> local -> Prop;
  issues : nat -> local -> op -> Prop;
  receives : nat -> local -> op -> nat -> local -> Prop;
  opens : list event -> nat -> op -> Prop;
  initial : nat -> nat  (** memory *)
}.

(** What a thread did so far, oldest first: its operations and what they returned. *)
Definition history := list (op * nat).

Section Program.
  Variable P : program.

  Inductive after (t : nat) : history -> local P -> Prop :=
  | after_nothing s : starts P t s -> after t [] s
  | after_one h s o v s' : after t h s -> receives P t s o v s' -> after t (h ++ [(o, v)]) s'.

  Definition may_issue (t : nat) (h : history) (o : op) : Prop := exists s, after t h s /\ issues P t s o.

  (** ** SC runs *)

  Definition wrote_at (e : event) (x : nat) : option nat := if loc e =? x then wrote e else None.

  (** Flat memory after an execution. *)
  Fixpoint memory (E : list event) (x : nat) : nat :=
    match E with
    | [] => initial P x
    | e :: past => match wrote_at e x with Some v => v | None => memory past x end
    end.

  Fixpoint history_of (t : nat) (E : list event) : history :=
    match E with
    | [] => []
    | e :: past => if thread e =? t then history_of t past ++ [(what e, got e)] else history_of t past
    end.

  Definition is_edge (e : event) : bool := negb (access e).

  Definition may_depart (E : list event) (t : nat) (o : op) : Prop :=
    kind_of o = Depart -> opens P (filter is_edge E) t o.

  Inductive sc_run : list event -> Prop :=
  | sc_nothing : sc_run []
  | sc_one E e :
      sc_run E ->
      idx e = length (history_of (thread e) E) ->
      may_issue (thread e) (history_of (thread e) E) (what e) ->
      may_depart E (thread e) (what e) ->
      got e = (if reads e then memory E (loc e) else 0) ->
      sc_run (e :: E).

  (** ** Runs of a memory system *)

  (** What each thread has asked for and what it was answered, oldest first, and the points, latest first. *)
  Record port := {
    issued : nat -> list op;
    returned : nat -> list nat;
    points : list event
  }.

  Definition idle : port := {| issued := fun _ => []; returned := fun _ => []; points := [] |}.

  Definition is_at (t k : nat) (e : event) : bool := (thread e =? t) && (idx e =? k).
  Definition has_point (s : port) (t k : nat) : bool := existsb (is_at t k) (points s).

  (** A write that a later write of its own thread to that location has overtaken. *)
  Definition overtaken (past : list event) (e : event) (x : nat) : bool :=
    existsb (fun f => (thread f =? thread e) && (idx e <? idx f) &&
                      match wrote_at f x with Some _ => true | None => false end) past.

  (** Two conditions of semantics.md are parameters, since Counterexamples.v needs them as printed: which
      operations have their point before anything behind them has, and whether a write at its point takes its
      number below a write that has one already. *)
  Record rules := {
    goes_first : op -> bool;
    numbered_below : list event -> event -> nat -> bool
  }.

  (** Everywhere else: whatever takes something in goes first, and one thread's writes of a location are
      numbered in program order. *)
  Definition mended : rules := {| goes_first := op_takes; numbered_below := overtaken |}.

  Variable R : rules.

  (** *** Numbers

      Writes of a location are numbered at their points: the value of the write with the highest number. *)
  Fixpoint highest (E : list event) (x : nat) : nat :=
    match E with
    | [] => initial P x
    | e :: past =>
        match wrote_at e x with
        | Some v => if numbered_below R past e x then highest past x else v
        | None => highest past x
        end
    end.

  (** The newest write, for the [k]-th operation of thread [t]: its own thread's last write of the location
      if that has no point yet, else the one with the highest number.  (An RMW goes first, so stores alone are
      looked for.) *)
  Fixpoint newest (s : port) (t k x : nat) : nat :=
    match k with
    | 0 => highest (points s) x
    | S j =>
        match nth_error (issued s t) j with
        | Some o =>
            match kind_of o with
            | Store v =>
                if loc_of o =? x then if has_point s t j then highest (points s) x else v
                else newest s t j x
            | _ => newest s t j x
            end
        | None => newest s t j x
        end
    end.

  Definition put {A} (f : nat -> A) (t : nat) (a : A) : nat -> A := fun u => if u =? t then a else f u.

  (** *** Steps *)

  Definition event_at (s : port) (t k : nat) (o : op) : event :=
    {| thread := t; idx := k; what := o;
       got := if op_reads o then newest s t k (loc_of o) else 0 |}.

  Inductive port_step : port -> port -> Prop :=
  (** A thread that waits for nothing asks for what its program may do next. *)
  | request s t o :
      length (returned s t) = length (issued s t) ->
      may_issue t (combine (issued s t) (returned s t)) o ->
      port_step s {| issued := put (issued s) t (issued s t ++ [o]);
                     returned := returned s; points := points s |}
  (** An operation is performed, once, after its request (a plain one before its completion, below); a
      thread's atomics in program order; and what goes first before anything behind it. *)
  | point s t k o :
      nth_error (issued s t) k = Some o ->
      has_point s t k = false ->
      (forall j o', j < k -> nth_error (issued s t) j = Some o' ->
         op_plain o' = false -> op_plain o = false -> has_point s t j = true) ->
      (forall j o', j < k -> nth_error (issued s t) j = Some o' ->
         goes_first R o' = true -> has_point s t j = true) ->
      may_depart (points s) t o ->
      port_step s {| issued := issued s; returned := returned s; points := event_at s t k o :: points s |}
  (** The operation that a thread waits for completes, a plain one after its point; any atomic may complete
      before its point.  What reads nothing returns 0. *)
  | complete s t o v :
      nth_error (issued s t) (length (returned s t)) = Some o ->
      (op_plain o = true -> has_point s t (length (returned s t)) = true) ->
      (op_reads o = false -> v = 0) ->
      port_step s {| issued := issued s; returned := put (returned s) t (returned s t ++ [v]);
                     points := points s |}.

  (** What is proved of a memory system: raced, or every completed load and RMW returned the newest write at
      its point. *)
  Definition returns_newest (s : port) : Prop :=
    forall e v, In e (points s) -> reads e = true ->
      nth_error (returned s (thread e)) (idx e) = Some v -> v = got e.

  Inductive run (M : model) : port -> Prop :=
  | run_nothing : run M idle
  | run_one s s' :
      run M s -> port_step s s' -> (raced M (points s') \/ returns_newest s') -> run M s'.

  (** Every operation has its point and has completed. *)
  Definition drained (s : port) : Prop :=
    forall t, length (returned s t) = length (issued s t) /\
              forall k, k < length (issued s t) -> has_point s t k = true.
End Program.
