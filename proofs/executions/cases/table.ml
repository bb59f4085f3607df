(* Prints executions and the proved monitor's verdicts on them: tests/executions_test.cpp says what the
   letters mean. All of two operations, and 4000 of four to ten, drawn by a generator that is the same
   everywhere. *)
open Verdicts

let op t l =
  let work_group = if t = 2 then 6 else 5 in
  let synchronizes k order =
    { kind_of = k; order_of = order; loc_of = 1 + (l - 2) / 6;
      scope_of = (if (l - 2) mod 2 = 0 then work_group else 7) } in
  match l with
  | 0 -> { kind_of = Store 1; order_of = Plain; loc_of = 0; scope_of = 7 }
  | 1 -> { kind_of = Load; order_of = Plain; loc_of = 0; scope_of = 7 }
  | _ -> (match (l - 2) / 2 mod 3 with
      | 0 -> synchronizes (Store 1) Release
      | 1 -> synchronizes Load Acquire
      | _ -> synchronizes (Rmw (fun _ -> Some 1)) Acq_rel)

let print letters =
  let counts = Array.make 3 0 in
  let add past c =
    let t = c / 14 in
    let e = { thread = t; idx = counts.(t); what = op t (c mod 14); got = 0 } in
    counts.(t) <- counts.(t) + 1;
    e :: past in
  let execution = List.fold_left add [] letters in
  List.iter (fun c -> print_string (string_of_int c ^ " ")) letters;
  print_string ": ";
  List.iter (fun raced -> print_char (if raced then '1' else '0')) (verdicts execution);
  print_newline ()

let () =
  for a = 0 to 41 do for b = 0 to 41 do print [a; b] done done;
  let seed = ref 20140301 in
  let below n = seed := (!seed * 1103515245 + 12345) land 0x7fffffff; (!seed lsr 12) mod n in
  for _ = 1 to 4000 do
    let length = 4 + below 7 in
    print (List.init length (fun _ -> below 42))
  done
