// The fields of each state of a run, rebuilt from the first state and what each row changed.
import type { Field, Walk } from "./types";

export type State = Map<string, string>;

const kept = new WeakMap<Walk, State[]>();

/** The state after a row. */
export function stateAfter(walk: Walk, row: number): State {
  let states = kept.get(walk);
  if (!states) {
    states = [new Map(walk.initial)];
    kept.set(walk, states);
  }
  while (states.length <= row) {
    const next = new Map(states[states.length - 1]);
    for (const [path, , after] of walk.rows[states.length].changes) next.set(path, after);
    states.push(next);
  }
  return states[row];
}

/** Values that a field has when nothing has happened. */
export function isQuiet(value: string): boolean {
  return value === "" || value === "0" || value === "false" || value === "none" || value === "idle";
}

const registerPath = /^(?:machine\.)?context\((\d+)\)\.registers\((\d+)\)$/;

/** A name that people have for a field, where there is one: "P1:r0". */
export function nameOf(path: string, walk: Walk): string | undefined {
  const found = registerPath.exec(path);
  if (!found) return undefined;
  const thread = walk.subject.program?.threads[Number(found[1])];
  const register = thread?.registers[Number(found[2])];
  return thread && register ? `${thread.name}:${register}` : undefined;
}

/** "memory.l1(0,1).present" is kept with memory.l1. */
export function groupOf(path: string): string {
  const indexed = /^[^(]*/.exec(path)?.[0] ?? path;
  const parts = indexed.split(".");
  return path.includes("(") ? indexed : parts.length > 1 ? parts.slice(0, -1).join(".") : indexed;
}

export function grouped(fields: Iterable<Field>): [string, Field[]][] {
  const groups = new Map<string, Field[]>();
  for (const field of fields) {
    const group = groupOf(field[0]);
    const list = groups.get(group);
    if (list) list.push(field);
    else groups.set(group, [field]);
  }
  return [...groups];
}
