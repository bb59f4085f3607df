(* Prints executions and the proved monitor's verdicts on them: tests/executions_test.cpp says what the
   letters mean. All of two operations, 4000 of four to ten, drawn by a generator that is the same everywhere,
   and 2000 in which stores that release have their points late. *)
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

(* Letters with their places in program order. *)
let placed letters =
  let counts = Array.make 3 0 in
  let place c =
    let t = c / 14 in
    counts.(t) <- counts.(t) + 1;
    (c, counts.(t) - 1) in
  List.map place letters

let print_verdicts points =
  let add past (c, place) =
    { thread = c / 14; idx = place; what = op (c / 14) (c mod 14); got = 0 } :: past in
  let execution = List.fold_left add [] points in
  print_string ": ";
  List.iter (fun raced -> print_char (if raced then '1' else '0')) (verdicts execution);
  print_newline ()

let print letters =
  List.iter (fun c -> print_string (string_of_int c ^ " ")) letters;
  print_verdicts (placed letters)

(* In the order of points. *)
let print_points points =
  List.iter (fun (c, place) -> print_string (Printf.sprintf "%d@%d " c place)) points;
  print_verdicts points

let releases c = c mod 14 >= 2 && (c mod 14 - 2) / 2 mod 3 = 0
let is_plain c = c mod 14 < 2

(* Each store that releases has its point up to so many places later, but ahead of what its thread does next
   that is not plain. *)
let rec late below = function
  | [] -> []
  | ((c, _) as first) :: rest when releases c ->
      let rec insert n = function
        | ((d, _) as other) :: more when n > 0 && (d / 14 <> c / 14 || is_plain d) -> other :: insert (n - 1) more
        | more -> first :: more in
      let later = late below rest in
      insert (below 5) later
  | first :: rest -> first :: late below rest

let () =
  for a = 0 to 41 do for b = 0 to 41 do print [a; b] done done;
  let seed = ref 20140301 in
  let below n = seed := (!seed * 1103515245 + 12345) land 0x7fffffff; (!seed lsr 12) mod n in
  for _ = 1 to 4000 do
    let length = 4 + below 7 in
    print (List.init length (fun _ -> below 42))
  done;
  for _ = 1 to 2000 do
    let length = 4 + below 7 in
    let thread = below 3 in
    let draw _ =
      match below 4 with
      | 0 -> below 42
      | 1 -> 14 * below 3 + 2 + below 12
      | 2 -> 14 * thread + 2 + below 2 + 6 * below 2
      | _ -> 14 * thread + below 2 in
    print_points (late below (placed (List.init length draw)))
  done
