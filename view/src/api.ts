// Asking the command. A page that was exported has nobody to ask.
import { useEffect, useState } from "preact/hooks";
import type { Catalogue } from "./types";

const element = document.getElementById("lockstep-data");
export const catalogue: Catalogue = JSON.parse(element?.textContent ?? "null") ?? {
  live: false,
  version: "",
  documents: [],
};

export class Refused extends Error {
  hint: string;
  constructor(message: string, hint = "") {
    super(message);
    this.hint = hint;
  }
}

export async function ask<T>(what: string, parameters: URLSearchParams, signal?: AbortSignal, post = false): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`api/${what}?${parameters}`, { method: post ? "POST" : "GET", signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The command does not answer: has it ended?", "Begin it again; the link stays good: lockstep view '#/...'");
  }
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Refused(text || response.statusText);
  }
  if (!response.ok) {
    const said = answer as { message?: string; error?: string; hint?: string };
    throw new Refused(said.message || said.error || response.statusText, said.hint);
  }
  return answer as T;
}

export interface Asked<T> {
  value?: T;
  error?: Refused;
  loading: boolean;
}

let jobs = 0;
const session = Math.random().toString(36).slice(2);
/** A name for something that takes long, by which it can be stopped. */
export function newJob(): string {
  return `${session}-${++jobs}`;
}
export function stop(job: string): void {
  void ask("stop", new URLSearchParams({ job }), undefined, true).catch(() => undefined);
}

/** What the command answers; the last answer stands until the next one is there. What nobody waits for any more is stopped. */
export function useAnswer<T>(what: string, parameters: URLSearchParams): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ loading: true });
  const key = `${what}?${parameters}`;
  useEffect(() => {
    const controller = new AbortController();
    const job = newJob();
    const all = new URLSearchParams(parameters);
    all.set("job", job);
    let waiting = true;
    setAsked((last) => ({ value: last.value, loading: true }));
    ask<T>(what, all, controller.signal).then(
      (value) => {
        waiting = false;
        setAsked({ value, loading: false });
      },
      (error) => {
        if (controller.signal.aborted) return;
        waiting = false;
        setAsked({ error: error as Refused, loading: false });
      },
    );
    return () => {
      if (waiting) stop(job);
      controller.abort();
    };
  }, [key]);
  return asked;
}
