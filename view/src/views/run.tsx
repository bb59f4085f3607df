import { useMemo } from "preact/hooks";
import { catalogue, useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { WalkView } from "../parts/walk";
import { change, href, type Place } from "../place";
import type { Document, RunDocument } from "../types";

/** A document of an exported page. */
export function documentAt<T extends Document>(place: Place, kind: T["kind"]): T | undefined {
  if (catalogue.live) return undefined;
  const found = catalogue.documents[Number(place.parameters.get("document") ?? 0)];
  return found?.kind === kind ? (found as T) : undefined;
}

export function rowOf(place: Place, count: number, otherwise: number): number {
  const text = place.parameters.get("row");
  if (text === null || !/^\d+$/.test(text)) return otherwise;
  return Math.min(Number(text), count - 1);
}

export function RunBody({ run, place, link }: { run: RunDocument; place: Place; link?: (row: number) => string }) {
  const row = rowOf(place, run.rows.length, run.rows.length - 1);
  return (
    <>
      <h1>{run.title}</h1>
      <p class="lead">
        {run.subject.description}
        {run.subject.client && ` running ${run.subject.client}`}: <b>{run.end}</b>
      </p>
      {run.difference && (
        <p class="error" role="alert">
          The system does otherwise now: {run.difference}. From there on it is shown as it was recorded.
        </p>
      )}
      <WalkView
        walk={run}
        row={row}
        select={(to) => change(place, { row: String(to) })}
        loopStart={run.loop_start}
        controls={
          catalogue.live && link && !run.rows[row]?.recorded_only ? (
            <a class="button" href={link(row)}>
              explore from here
            </a>
          ) : undefined
        }
      />
    </>
  );
}

/** A trace that was named on the command line, or is part of an exported page. */
export function Run({ place }: { place: Place }) {
  const exported = documentAt<RunDocument>(place, "run");
  return exported ? <RunBody run={exported} place={place} /> : <LiveRun place={place} />;
}

function LiveRun({ place }: { place: Place }) {
  const trace = place.parameters.get("trace") ?? "0";
  const asked = useAnswer<RunDocument>("run", new URLSearchParams({ trace }));
  return (
    <Answered asked={asked}>
      {(run) => <RunBody run={run} place={place} link={(row) => href("explore", { trace, row: String(row + 1) })} />}
    </Answered>
  );
}

/** A shortest run of a test on a system to an outcome. */
export function Outcome({ place }: { place: Place }) {
  const parameters = useMemo(() => {
    const all = new URLSearchParams(place.parameters);
    all.delete("row");
    return all;
  }, [place]);
  const asked = useAnswer<RunDocument>("outcomes", parameters);
  return <Answered asked={asked}>{(run) => <RunBody run={run} place={place} />}</Answered>;
}
