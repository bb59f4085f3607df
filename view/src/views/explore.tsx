import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, newJob, Refused, stop, useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { Changes } from "../parts/fields";
import { useKeys } from "../parts/keys";
import { WalkView } from "../parts/walk";
import { change, type Place } from "../place";
import type { Choice, ExploreDocument } from "../types";

const identifying = ["system", "fault", "size", "scheduler", "set", "test", "trace", "row", "moves", "initial"];

function parametersOf(place: Place): URLSearchParams {
  const all = new URLSearchParams();
  for (const [name, value] of place.parameters) if (identifying.includes(name) || name === "path") all.append(name, value);
  return all;
}

function Choices({ explore, take }: { explore: ExploreDocument; take: (choice: number) => void }) {
  const groups = new Map<string, [number, Choice][]>();
  explore.choices.forEach((choice, i) => {
    const list = groups.get(choice.performer) ?? [];
    list.push([i, choice]);
    groups.set(choice.performer, list);
  });
  if (explore.choices.length === 0) return null;
  return (
    <section class="choices" aria-label="Enabled rules">
      <h2>
        Enabled <span class="muted small">{explore.choices.length}</span>
      </h2>
      {[...groups].map(([performer, list]) => (
        <div key={performer}>
          <h3>{performer}</h3>
          {list.map(([i, choice]) => (
            <details key={`${choice.rule}${i}`} class="choice">
              <summary>
                <button
                  type="button"
                  onClick={(event) => {
                    event.preventDefault();
                    take(i);
                  }}
                  title={`Take it${i < 9 ? ` (${i + 1})` : ""}`}
                >
                  {i < 9 && <span class="key">{i + 1}</span>}
                  {choice.rule}
                </button>
                {!choice.fair && <span class="muted small"> optional</span>}
                <span class="source small"> {choice.source}</span>
                <span class="muted small"> {choice.changes.length} fields</span>
              </summary>
              <Changes changes={choice.changes} walk={explore} />
            </details>
          ))}
        </div>
      ))}
    </section>
  );
}

function Jump({ explore, place, condition, setCondition }: { explore: ExploreDocument; place: Place; condition: string; setCondition: (text: string) => void }) {
  const [said, setSaid] = useState("");
  const [failed, setFailed] = useState(false);
  const [job, setJob] = useState<string>();
  const running = useRef<{ controller: AbortController; job: string } | undefined>(undefined);
  // Whoever goes on by hand does not wait for a search.
  useEffect(
    () => () => {
      running.current?.controller.abort();
      if (running.current) stop(running.current.job);
      running.current = undefined;
    },
    [place.parameters.get("path")],
  );
  const search = async () => {
    const name = newJob();
    const controller = new AbortController();
    running.current = { controller, job: name };
    setJob(name);
    setFailed(false);
    setSaid("searching …");
    try {
      const parameters = parametersOf(place);
      parameters.set("path", explore.path.join("."));
      parameters.set("find", condition);
      parameters.set("job", name);
      const answer = await ask<ExploreDocument>("explore", parameters, controller.signal);
      running.current = undefined;
      const found = answer.found;
      if (found?.path) {
        setSaid(`${found.path.length - explore.path.length} steps on, the nearest of ${found.states} states`);
        change(place, { path: found.path.join("."), at: undefined, digest: undefined }, false);
      } else if (found?.status === "complete") {
        setSaid(`Nowhere: none of the ${found.states} states that can be reached from here.`);
        setFailed(true);
      } else {
        setSaid(`${found?.status}: not among the first ${found?.states} states.`);
        setFailed(true);
      }
    } catch (error) {
      if (controller.signal.aborted) {
        setSaid("");
        return;
      }
      const refused = error as Refused;
      setSaid(`${refused.message}${refused.hint ? `: ${refused.hint}` : ""}`);
      setFailed(true);
    } finally {
      setJob(undefined);
    }
  };
  return (
    <form
      class="jump bar wrap"
      onSubmit={(event) => {
        event.preventDefault();
        void search();
      }}
    >
      <input
        type="text"
        value={condition}
        onInput={(event) => setCondition(event.currentTarget.value)}
        placeholder={'to a state in which … end, deadlock, violated, enabled "fill", P1:r0 = 1'}
        aria-label="Condition"
        spellcheck={false}
      />
      {job ? (
        <button type="button" onClick={() => stop(job)}>
          stop
        </button>
      ) : (
        <button type="submit" disabled={!condition.trim()}>
          jump
        </button>
      )}
      {said && (
        <output class={failed ? "small warning" : "small muted"} role="status">
          {said}
        </output>
      )}
    </form>
  );
}

function Status({ explore }: { explore: ExploreDocument }) {
  return (
    <>
      {explore.violated && <p class="verdict bad">violates: {explore.violated}</p>}
      {explore.broken && <p class="verdict bad">breaks a rule: {explore.broken}</p>}
      {explore.end === "deadlock" && <p class="verdict bad">deadlock: no fair rule is enabled</p>}
      {explore.end === "end" && <p class="verdict good">ends{explore.outcome && ` with ${explore.outcome}`}</p>}
    </>
  );
}

function Exploration({ explore, place }: { explore: ExploreDocument; place: Place }) {
  const [condition, setCondition] = useState("");
  const [copied, setCopied] = useState(false);
  const last = explore.rows.length - 1;
  const text = place.parameters.get("at");
  const row = text !== null && /^\d+$/.test(text) ? Math.min(Number(text), last) : last;
  const wanted = place.parameters.get("digest");
  const other = wanted !== null && wanted !== explore.digest;
  const path = explore.path;
  const go = (next: number[]) => change(place, { path: next.join("."), at: undefined, digest: undefined }, false);
  const take = (choice: number) => {
    // From an earlier row the way goes on from there.
    const made = explore.marks.findLastIndex((rows) => rows <= row + 1);
    if (row < last) go(path.slice(0, Math.max(0, made)));
    else go([...path, choice]);
  };
  useKeys(
    {
      u: () => path.length > 0 && go(path.slice(0, -1)),
      ...Object.fromEntries(explore.choices.slice(0, 9).map((_, i) => [String(i + 1), () => take(i)])),
    },
  );
  const link = () => {
    const parameters = parametersOf(place);
    parameters.set("path", path.join("."));
    parameters.set("digest", explore.digest);
    return `#/explore?${parameters}`;
  };
  const save = async () => {
    const parameters = parametersOf(place);
    parameters.set("as", "trace");
    const trace = await ask<object>("explore", parameters);
    const url = URL.createObjectURL(new Blob([JSON.stringify(trace, null, 1)], { type: "application/json" }));
    const anchor = document.createElement("a");
    anchor.href = url;
    anchor.download = `${explore.subject.client || explore.subject.system.replace("/", "-")}.trace.json`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  return (
    <>
      <h1>{explore.title}</h1>
      {other && (
        <p class="error" role="alert">
          This link led to another state when it was made: the protocol, or a size of it, has changed since.
        </p>
      )}
      <WalkView
        walk={explore}
        row={row}
        select={(to) => change(place, { at: String(to) })}
        pick={(path, value) => setCondition((now) => `${now.trim() ? `${now.trim()} /\\ ` : ""}${path} = ${value}`)}
        controls={
          <>
            <button type="button" onClick={() => go(path.slice(0, -1))} disabled={path.length === 0} title="Undo (u)">
              undo
            </button>
            <button type="button" onClick={() => go([])} disabled={path.length === 0}>
              begin again
            </button>
            <button
              type="button"
              onClick={() => change(place, { moves: explore.moves_at_once ? "each" : undefined, path: undefined, at: undefined }, false)}
              title="Threads' own moves: nobody can tell when they happen"
            >
              {explore.moves_at_once ? "take each move" : "take moves at once"}
            </button>
            <button type="button" onClick={() => void save()} title="As a file that lockstep replay and lockstep view take">
              save the trace
            </button>
            <button
              type="button"
              onClick={() => {
                void navigator.clipboard?.writeText(`lockstep view '${link()}'`).then(() => setCopied(true));
                setTimeout(() => setCopied(false), 1500);
              }}
            >
              {copied ? "copied" : "copy the link"}
            </button>
          </>
        }
        side={
          <>
            <Status explore={explore} />
            {row === last ? (
              <Choices explore={explore} take={take} />
            ) : (
              <p class="small">
                An earlier row is shown.{" "}
                <button type="button" class="link" onClick={() => change(place, { at: undefined })}>
                  to the last one
                </button>{" "}
                ·{" "}
                <button type="button" class="link" onClick={() => take(0)}>
                  go back to here
                </button>
              </p>
            )}
            <Jump explore={explore} place={place} condition={condition} setCondition={setCondition} />
          </>
        }
      />
    </>
  );
}

export function Explore({ place }: { place: Place }) {
  const parameters = useMemo(() => parametersOf(place), [place]);
  const asked = useAnswer<ExploreDocument>("explore", parameters);
  return <Answered asked={asked}>{(explore) => <Exploration explore={explore} place={place} />}</Answered>;
}
