// What a model says of a test: outcomes on the left, the execution that shows one, or fails to, on the right.
import { useMemo, useState } from "preact/hooks";
import { catalogue, useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { useKeys } from "../parts/keys";
import { change, href, type Place } from "../place";
import type { Candidate, Derivation, ExecutionsDocument, Pair } from "../types";
import { documentAt } from "./run";

const columnWidth = 210;
const rowHeight = 84;
const top = 86;

const colours: Record<string, string> = { po: "c-po", rf: "c-rf", co: "c-co", fr: "c-fr" };

interface Spot {
  x: number;
  y: number;
}

/** Initial writes above, each thread a column. */
function spots(candidate: Candidate): Spot[] {
  const rows = new Map<number, number>();
  let initial = 0;
  return candidate.events.map((event) => {
    if (event.initial) return { x: 105 + columnWidth * initial++, y: 28 };
    const row = rows.get(event.thread) ?? 0;
    rows.set(event.thread, row + 1);
    return { x: 105 + columnWidth * event.thread, y: top + 40 + row * rowHeight };
  });
}

export function leavesOf(derivation: Derivation): Derivation[] {
  return derivation.parts?.length ? derivation.parts.flatMap(leavesOf) : [derivation];
}

interface Edge {
  name: string;
  from: number;
  to: number;
  cycle: boolean;
  faint: boolean;
}

/** What the picture has already: rfe is drawn as rf, fri as fr. */
function plainName(name: string, [from, to]: Pair, candidate: Candidate): string {
  const plain = /^(rf|co|fr)[ei]$/.exec(name)?.[1];
  const relation = candidate.relations.find((one) => one.name === plain);
  return relation?.pairs.some(([a, b]) => a === from && b === to) ? relation.name : name;
}

/** Relations that are switched on, and the pairs that make up what the first failing check found. */
function edgesOf(candidate: Candidate, on: Set<string>, failure: number, near?: string): Edge[] {
  const edges = new Map<string, Edge>();
  const add = (name: string, [from, to]: Pair, cycle: boolean) => {
    const key = `${name} ${from} ${to}`;
    const known = edges.get(key);
    if (known) known.cycle ||= cycle;
    else edges.set(key, { name, from, to, cycle, faint: near !== undefined && near !== name });
  };
  const failed = candidate.failures[failure];
  if (failed) {
    for (const leaf of failed.pairs.flatMap(leavesOf)) {
      const pair: Pair = leaf.inverted ? [leaf.to, leaf.from] : [leaf.from, leaf.to];
      add(plainName(leaf.name, pair, candidate) || failed.check, pair, true);
    }
  }
  for (const relation of candidate.relations) {
    if (on.has(relation.name)) for (const pair of relation.pairs) add(relation.name, pair, false);
  }
  return [...edges.values()];
}

function Picture({ candidate, edges, lit, light }: { candidate: Candidate; edges: Edge[]; lit?: Pair; light: (events?: Pair) => void }) {
  const at = useMemo(() => spots(candidate), [candidate]);
  const touched = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const drawn = candidate.events.map((event, i) => !event.initial || touched.has(i));
  const width = Math.max(...at.map((spot) => spot.x), 0) + 125;
  const height = Math.max(...at.map((spot) => spot.y), 0) + 50;
  // Several edges between two events lie side by side.
  const lanes = new Map<string, number>();
  const box = 84;
  return (
    <svg class="execution" viewBox={`0 0 ${width} ${height}`} style={{ maxWidth: `${width}px` }} role="img" aria-label="Execution">
      <defs>
        <marker id="etip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
          <path d="M0,0 L8,4 L0,8 z" fill="context-stroke" />
        </marker>
      </defs>
      {edges.map((edge) => {
        const key = [edge.from, edge.to].sort((a, b) => a - b).join(" ");
        const lane = lanes.get(key) ?? 0;
        lanes.set(key, lane + 1);
        const a = at[edge.from];
        const b = at[edge.to];
        const on = lit && lit[0] === edge.from && lit[1] === edge.to;
        let d: string;
        let label: Spot;
        if (edge.from === edge.to) {
          d = `M${a.x + box},${a.y - 8} C${a.x + box + 46},${a.y - 40} ${a.x + box + 46},${a.y + 40} ${a.x + box},${a.y + 8}`;
          label = { x: a.x + box + 30, y: a.y };
        } else {
          const dx = b.x - a.x;
          const dy = b.y - a.y;
          const length = Math.hypot(dx, dy);
          const same = dx === 0;
          // Away from the middle of the boxes, bent so that parallel edges and long ones can be told apart.
          const far = Math.abs(dy) > rowHeight * 1.5 || Math.abs(dx) > columnWidth * 1.5;
          const bend = (same ? (far ? 64 : 12) : far ? 30 : 10) + lane * 26;
          const nx = -dy / length;
          const ny = dx / length;
          const mx = (a.x + b.x) / 2 + nx * bend;
          const my = (a.y + b.y) / 2 + ny * bend;
          const start = rim(a, { x: mx, y: my }, box);
          const end = rim(b, { x: mx, y: my }, box);
          d = `M${start.x},${start.y} Q${mx},${my} ${end.x},${end.y}`;
          label = { x: (start.x + 2 * mx + end.x) / 4, y: (start.y + 2 * my + end.y) / 4 };
        }
        const colour = colours[edge.name] ?? "c-other";
        return (
          <g key={`${edge.name}${edge.from}-${edge.to}`} class={`edge ${colour} ${edge.cycle ? "cycle" : ""} ${edge.faint ? "faint" : ""} ${on ? "lit" : ""}`}>
            <path d={d} marker-end="url(#etip)" />
            <text x={label.x} y={label.y + 4}>
              {edge.name}
            </text>
          </g>
        );
      })}
      {candidate.threads.map((name, t) => (
        <text key={name} class="thread" x={105 + columnWidth * t - box} y={top + 14}>
          {name}
        </text>
      ))}
      {candidate.events.map(
        (event, i) =>
          drawn[i] && (
            <g
              key={event.letter}
              class={`event ${edges.some((edge) => edge.cycle && (edge.from === i || edge.to === i)) ? "cycle" : ""} ${lit?.includes(i) ? "lit" : ""}`}
              onMouseEnter={() => light([i, i])}
              onMouseLeave={() => light()}
            >
              <rect x={at[i].x - box} y={at[i].y - 15} width={2 * box} height="30" rx="5" />
              <text x={at[i].x} y={at[i].y + 4}>
                {event.initial ? event.text : `${event.letter}: ${event.text}`}
              </text>
            </g>
          ),
      )}
    </svg>
  );
}

/** Where the way from a box's middle to a point leaves the box. */
function rim(from: Spot, to: Spot, half: number): Spot {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const scale = Math.min(dx === 0 ? Infinity : half / Math.abs(dx), dy === 0 ? Infinity : 16 / Math.abs(dy));
  return { x: from.x + dx * Math.min(scale, 1), y: from.y + dy * Math.min(scale, 1) };
}

function Tree({ derivation, candidate, light }: { derivation: Derivation; candidate: Candidate; light: (events?: Pair) => void }) {
  const [a, b] = derivation.inverted ? [derivation.to, derivation.from] : [derivation.from, derivation.to];
  const letter = (event: number) => candidate.events[event].letter;
  const text = (
    <span onMouseEnter={() => light([a, b])} onMouseLeave={() => light()}>
      {letter(a)} <b>{derivation.name}</b> {letter(b)}
      {derivation.inverted && <span class="muted small"> read backwards</span>}
    </span>
  );
  if (!derivation.parts?.length) return <li class="leaf">{text}</li>;
  // What nobody has named is told by its parts.
  if (!derivation.name) {
    return (
      <>
        {derivation.parts.map((part, i) => (
          <Tree key={i} derivation={part} candidate={candidate} light={light} />
        ))}
      </>
    );
  }
  return (
    <li>
      <details open={derivation.parts.length > 0}>
        <summary>{text}</summary>
        <ul>
          {derivation.parts.map((part, i) => (
            <Tree key={i} derivation={part} candidate={candidate} light={light} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function Body({ document, place }: { document: ExecutionsDocument; place: Place }) {
  const first = document.outcomes.findIndex((one) => one.satisfies && !one.filtered);
  const text = place.parameters.get("outcome");
  const which = text !== null && /^\d+$/.test(text) ? Math.min(Number(text), document.outcomes.length - 1) : Math.max(0, first);
  const outcome = document.outcomes[which];
  const candidate = outcome?.candidate;
  const shown = place.parameters.get("show");
  const on = new Set(shown === null ? ["po", "rf", "co", "fr"] : shown.split(",").filter(Boolean));
  const [lit, light] = useState<Pair>();
  const [near, setNear] = useState<string>();
  const chosen = Number(place.parameters.get("check") ?? 0);
  const failure = candidate && chosen < candidate.failures.length ? chosen : 0;
  const go = (to: number) => change(place, { outcome: String(to), check: undefined });
  useKeys(
    {
      ArrowRight: () => go(Math.min(which + 1, document.outcomes.length - 1)),
      j: () => go(Math.min(which + 1, document.outcomes.length - 1)),
      ArrowLeft: () => go(Math.max(0, which - 1)),
      k: () => go(Math.max(0, which - 1)),
    },
  );
  const toggle = (name: string) => {
    const next = new Set(on);
    if (!next.delete(name)) next.add(name);
    change(place, { show: [...next].join(",") || "none" });
  };
  return (
    <>
      <h1>{document.title}</h1>
      <p class="lead">
        <code>{document.condition}</code>: <b>{document.observation}</b>
        {document.raised.length > 0 && `, raises ${document.raised.join(", ")}`}
        <span class="muted small">
          {" "}
          {document.executions} executions of {document.candidates} candidates
          {document.status !== "complete" && ` (${document.status})`}
        </span>
      </p>
      <div class="executions">
        <section class="outcomes" aria-label="Outcomes">
          <ul>
            {document.outcomes.map((one, i) => (
              <li key={one.text}>
                <button type="button" class={`outcome ${i === which ? "selected" : ""}`} aria-pressed={i === which} onClick={() => go(i)}>
                  <span class={`mark ${one.allowed ? "allowed" : "forbidden"}`}>{one.allowed ? "allowed" : "forbidden"}</span>
                  <span class="path">{one.text}</span>
                  {one.satisfies && <span title="satisfies the condition"> ●</span>}
                  {one.filtered && <span class="muted small"> filtered</span>}
                  {one.flags && one.flags.length > 0 && <span class="warning small"> {one.flags.join(", ")}</span>}
                </button>
              </li>
            ))}
          </ul>
          {document.more && <p class="muted small">There are more outcomes, which are left out.</p>}
          {catalogue.live && (
            <p class="small">
              <a href={href("test", { name: document.test })}>the test elsewhere</a>
            </p>
          )}
        </section>
        <section class="picture">
          {candidate ? (
            <>
              <div class="bar wrap" role="group" aria-label="Relations">
                {candidate.relations.map((relation) => (
                  <button
                    type="button"
                    key={relation.name}
                    class={`chip ${on.has(relation.name) ? "on" : ""} ${colours[relation.name] ?? ""}`}
                    aria-pressed={on.has(relation.name)}
                    onClick={() => toggle(relation.name)}
                    onMouseEnter={() => on.has(relation.name) && setNear(relation.name)}
                    onMouseLeave={() => setNear(undefined)}
                    title={`${relation.pairs.length} pairs`}
                  >
                    {relation.name}
                  </button>
                ))}
              </div>
              <div class="scrollx">
                <Picture candidate={candidate} edges={edgesOf(candidate, on, failure, near)} lit={lit} light={light} />
              </div>
              {candidate.failures.map((one, i) => (
                <section key={`${one.check}${i}`} class={`failure ${i === failure ? "selected" : ""}`}>
                  <h3>
                    <button type="button" class="link" onClick={() => change(place, { check: String(i) })}>
                      {one.check}
                    </button>{" "}
                    fails <span class="muted small">{one.place}</span>
                  </h3>
                  {one.chain && <p class="chain">{one.chain}</p>}
                  {i === failure && (
                    <ul class="tree">
                      {one.pairs.map((pair, p) => (
                        <Tree key={p} derivation={pair} candidate={candidate} light={light} />
                      ))}
                    </ul>
                  )}
                </section>
              ))}
              {candidate.failures.length === 0 && <p class="verdict good">every check holds</p>}
              <details>
                <summary>as text</summary>
                <pre>{candidate.text}</pre>
              </details>
            </>
          ) : (
            <p class="muted">No execution of it was found within the limits.</p>
          )}
        </section>
      </div>
    </>
  );
}

export function Execution({ place }: { place: Place }) {
  const exported = documentAt<ExecutionsDocument>(place, "executions");
  return exported ? <Body document={exported} place={place} /> : <Live place={place} />;
}

function Live({ place }: { place: Place }) {
  const parameters = new URLSearchParams({
    test: place.parameters.get("test") ?? "",
    model: place.parameters.get("model") ?? "",
  });
  const asked = useAnswer<ExecutionsDocument>("executions", parameters);
  return <Answered asked={asked}>{(document) => <Body document={document} place={place} />}</Answered>;
}
