import { useMemo } from "preact/hooks";
import { useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { StateFields } from "../parts/fields";
import { Player } from "../parts/player";
import { Sequence, shownRows } from "../parts/sequence";
import { change, type Place } from "../place";
import type { RunDocument } from "../types";
import { rowOf } from "./run";

/** The first row in which two runs differ: another rule, or other effects. */
export function partsAt(left: RunDocument, right: RunDocument): number {
  const same = (i: number) => {
    const a = left.rows[i];
    const b = right.rows[i];
    return a.rule === b.rule && JSON.stringify(a.changes) === JSON.stringify(b.changes);
  };
  const most = Math.min(left.rows.length, right.rows.length);
  let i = 0;
  while (i < most && same(i)) ++i;
  return i;
}

function Both({ left, right, place }: { left: RunDocument; right: RunDocument; place: Place }) {
  const parts = useMemo(() => partsAt(left, right), [left, right]);
  const most = Math.max(left.rows.length, right.rows.length);
  const row = rowOf(place, most, Math.min(parts, most - 1));
  const go = (to: number) => change(place, { row: String(to) });
  const all = { text: "", columns: new Set<string>(), moves: true };
  return (
    <>
      <h1>
        {left.title} and {right.title}
      </h1>
      <p class="lead">
        {parts === most
          ? "They are the same."
          : parts === 0
            ? "They have nothing in common."
            : `They go along for ${parts} rules, and part at row ${parts + 1}.`}{" "}
        {parts < most && (
          <button type="button" class="link" onClick={() => go(Math.min(parts, most - 1))}>
            show where
          </button>
        )}
      </p>
      <Player at={row} count={most} go={go} />
      <div class="two">
        {[left, right].map((run, i) => {
          const here = Math.min(row, run.rows.length - 1);
          return (
            <section key={i} aria-label={i === 0 ? "Left run" : "Right run"}>
              <h2>{run.subject.description}</h2>
              <p class="small">{run.end}</p>
              <Sequence walk={run} shown={shownRows(run, all)} row={here} select={go} loopStart={run.loop_start} parts={parts} />
              <StateFields walk={run} row={here} />
            </section>
          );
        })}
      </div>
    </>
  );
}

export function Compare({ place }: { place: Place }) {
  const left = useAnswer<RunDocument>("run", new URLSearchParams({ trace: place.parameters.get("left") ?? "0" }));
  const right = useAnswer<RunDocument>("run", new URLSearchParams({ trace: place.parameters.get("right") ?? "1" }));
  return (
    <Answered asked={left}>
      {(one) => <Answered asked={right}>{(other) => <Both left={one} right={other} place={place} />}</Answered>}
    </Answered>
  );
}
