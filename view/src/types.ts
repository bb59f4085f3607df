// The documents of schema lockstep.view/1 (docs/view.md), as far as the page reads them.

export type Pair = [number, number];
/** Path of a field, its value before, and after. */
export type Change = [path: string, before: string, after: string];
export type Field = [path: string, value: string];

export interface Thread {
  name: string;
  at: string;
  registers: string[];
  code: string[];
}
export interface Subject {
  system: string;
  faults: string[];
  sizes: Record<string, number>;
  description: string;
  client: string;
  scheduler?: string;
  program?: { name: string; threads: Thread[]; locations: { name: string; block: number; word: number }[] };
  launches?: string;
}
export interface Unit {
  name: string;
  per: string;
  rules: string[];
  keeps: string[];
  serves_threads: boolean;
}
export interface Connection {
  from: string;
  to: string;
  field: string;
  channel: boolean;
}
export interface RuleTree {
  name: string;
  unit: string;
  source: string;
  fair: boolean;
  parameters: string[];
  trigger: string;
  guard: string;
  action: string;
}
export interface Machine {
  units: Unit[];
  connections: Connection[];
  rules: RuleTree[];
  invariants: { name: string; predicate: string }[];
}
export interface MachineDocument extends Machine {
  kind: "machine";
  title: string;
  what: string;
}
export interface Row {
  number: number;
  performer: string;
  rule: string;
  unit: string;
  source: string;
  fair: boolean;
  changes: Change[];
  by?: number;
  sent?: number[];
  taken?: number;
  recorded_only?: boolean;
}
export interface Message {
  channel: string;
  content: Field[];
  sent: number;
  taken?: number;
}
export interface Walk {
  title: string;
  subject: Subject;
  columns: string[];
  machine: Machine;
  initial: Field[];
  rows: Row[];
  messages: Message[];
}
export interface RunDocument extends Walk {
  kind: "run";
  end: string;
  loop_start?: number;
  difference?: string;
}
export interface Choice {
  performer: string;
  rule: string;
  unit: string;
  source: string;
  fair: boolean;
  changes: Change[];
}
export interface Found {
  status: string;
  states: number;
  path?: number[];
}
export interface ExploreDocument extends Walk {
  kind: "explore";
  path: number[];
  marks: number[];
  moves_at_once: boolean;
  choices: Choice[];
  digest: string;
  violated?: string;
  broken?: string;
  end?: "end" | "deadlock";
  outcome?: string;
  found?: Found;
}
export interface Derivation {
  from: number;
  to: number;
  name: string;
  inverted?: boolean;
  parts?: Derivation[];
}
export interface Failure {
  check: string;
  place: string;
  cycle: number[];
  pairs: Derivation[];
  chain: string;
}
export interface Candidate {
  threads: string[];
  events: { letter: string; text: string; thread: number; initial: boolean }[];
  relations: { name: string; kind: "base" | "shown" | "named"; pairs: Pair[] }[];
  failures: Failure[];
  flags: string[];
  text: string;
}
export interface ModelOutcome {
  text: string;
  allowed: boolean;
  filtered: boolean;
  satisfies: boolean;
  executions?: number;
  flags?: string[];
  candidate?: Candidate;
}
export interface ExecutionsDocument {
  kind: "executions";
  title: string;
  test: string;
  model: string;
  condition: string;
  observation: string;
  status: string;
  raised: string[];
  executions: number;
  candidates: number;
  more: boolean;
  outcomes: ModelOutcome[];
}
export interface Cell {
  text: string;
  outcomes: string[];
}
export interface MatrixRow {
  test: string;
  doc: string;
  tags: string[];
  threads: number;
  condition: string;
  cells: (Cell | null)[];
  findings: string[];
}
export interface MatrixDocument {
  kind: "matrix";
  title: string;
  columns: { name: string; kind: "system" | "model" }[];
  rows: MatrixRow[];
  done: number;
  all: number;
  finished: boolean;
  totals: string;
  error?: string;
}
export type Document = RunDocument | ExecutionsDocument | MatrixDocument | MachineDocument;

export interface Outcomes {
  status: string;
  states: number;
  observation: string;
  outcomes: { text: string; filtered: boolean; satisfies: boolean }[];
  failure?: RunDocument;
}

export interface Named {
  name: string;
  what: string;
}
export interface SystemEntry extends Named {
  variants: Named[];
  faults: Named[];
  sizes: { name: string; capacity: number; set_by: string }[];
  takes: "programs" | "launches" | "nothing";
}
export interface TestEntry {
  name: string;
  doc: string;
  dialect: string;
  tags: string[];
  launches: boolean;
  condition: string;
}
/** What the command says when the page is opened. */
export type Catalogue =
  | {
      live: true;
      version: string;
      systems: SystemEntry[];
      tests: TestEntry[];
      models: string[];
      matrix: string[];
      traces: { title: string; end: string }[];
      first: string[];
    }
  | { live: false; version: string; documents: Document[] };
