// A run from top to bottom: a line for each fired rule, a column for each unit, and arrows for messages, and for what else
// one unit's firing enabled in another.
import { useEffect, useRef } from "preact/hooks";
import type { Row, Walk } from "../types";

const rowHeight = 26;
const columnWidth = 40;
const headHeight = 58;
const headRoom = 40; // a name leans to the right

export interface Filter {
  text: string;
  columns: Set<string>; // none: all
  moves: boolean; // threads' own moves as well
}

export function isOwnMove(row: Row): boolean {
  return row.unit === "thread";
}

/** The rows that are shown, by number. */
export function shownRows(walk: Walk, filter: Filter): number[] {
  const text = filter.text.toLowerCase();
  const shown: number[] = [];
  walk.rows.forEach((row, i) => {
    if (filter.columns.size > 0 && !filter.columns.has(row.performer) && i > 0) return;
    if (!filter.moves && isOwnMove(row)) return;
    const all = `${row.rule} ${row.source} ${row.changes.map((change) => change[0]).join(" ")}`;
    if (text && !all.toLowerCase().includes(text)) return;
    shown.push(i);
  });
  return shown;
}

interface Arrow {
  from: number;
  to: number;
  message?: number;
  title: string;
}

function arrowsOf(walk: Walk): Arrow[] {
  const arrows: Arrow[] = [];
  walk.messages.forEach((message, i) => {
    if (message.taken === undefined) return;
    const content = message.content.map(([name, value]) => `${name} ${value}`).join(", ");
    arrows.push({ from: message.sent, to: message.taken, message: i, title: `${message.channel}: ${content}` });
  });
  walk.rows.forEach((row, i) => {
    if (row.by === undefined || row.by === 0) return;
    if (row.taken !== undefined && walk.messages[row.taken].sent === row.by) return;
    if (walk.rows[row.by].performer === row.performer) return;
    arrows.push({ from: row.by, to: i, title: `enabled by “${walk.rows[row.by].rule}”` });
  });
  return arrows;
}

/** Short enough for a column's head. */
function Head({ x, name }: { x: number; name: string }) {
  return (
    <text class="head" transform={`translate(${x},${headHeight - 8}) rotate(-38)`}>
      {name}
    </text>
  );
}

export interface SequenceProps {
  walk: Walk;
  shown: number[];
  row: number;
  select: (row: number) => void;
  loopStart?: number; // the step whose state the last one is again
  parts?: number; // where this run and another one part: the first row that differs
}

export function Sequence({ walk, shown, row, select, loopStart, parts }: SequenceProps) {
  const list = useRef<HTMLDivElement>(null);
  const used = new Set(shown.map((i) => walk.rows[i].performer));
  const columns = walk.columns.filter((name) => used.has(name));
  const place = new Map(shown.map((i, at) => [i, at]));
  const x = (performer: string) => 18 + columns.indexOf(performer) * columnWidth;
  const y = (i: number) => (place.get(i) ?? 0) * rowHeight + rowHeight / 2;
  const width = 36 + columns.length * columnWidth;
  const height = shown.length * rowHeight;
  const arrows = arrowsOf(walk).filter((arrow) => place.has(arrow.from) && place.has(arrow.to));

  useEffect(() => {
    const selected = list.current?.querySelector<HTMLElement>(".row.selected");
    selected?.scrollIntoView({ block: "nearest" });
  }, [row, shown.length]);

  return (
    <div class="sequence" ref={list}>
      <div class="rulecell seqhead">
        <span class="muted small">
          {shown.length === walk.rows.length ? `${walk.rows.length} rules fired` : `${shown.length} of ${walk.rows.length} rules`}
        </span>
      </div>
      <svg class="seqhead" width={width + headRoom} height={headHeight} aria-hidden="true">
        {columns.map((name) => (
          <Head key={name} x={x(name)} name={name} />
        ))}
      </svg>
      <ol class="rows" role="listbox" aria-label="Fired rules">
          {shown.map((i) => {
            const one = walk.rows[i];
            const first = i === 0 || walk.rows[i - 1].number !== one.number;
            const looped = loopStart !== undefined && one.number > loopStart;
            const classes = ["row"];
            if (i === row) classes.push("selected");
            if (looped) classes.push("looped");
            if (i > row) classes.push("later");
            if (one.recorded_only) classes.push("recorded");
            if (parts !== undefined && i >= parts) classes.push("parted");
            return (
              <li
                key={i}
                class={classes.join(" ")}
                role="option"
                aria-selected={i === row}
                style={{ height: `${rowHeight}px` }}
                onClick={() => select(i)}
                title={`${one.rule}  [${[one.unit, one.source].filter(Boolean).join("; ")}]`}
              >
                <span class="number">{first ? one.number : ""}</span>
                <span class="rulename">{one.rule}</span>
                <span class="source">{one.source}</span>
              </li>
            );
          })}
        </ol>
        <svg class="lanes" width={width + headRoom} height={height} role="img" aria-label="Units and messages">
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
              <path d="M0,0 L8,4 L0,8 z" class="tip" />
            </marker>
          </defs>
          {place.has(row) && <rect class="band" x="0" y={y(row) - rowHeight / 2} width={width + headRoom} height={rowHeight} />}
          {columns.map((name) => (
            <line key={name} class="lane" x1={x(name)} x2={x(name)} y1="0" y2={height} />
          ))}
          {arrows.map((arrow) => {
            const x1 = x(walk.rows[arrow.from].performer);
            const x2 = x(walk.rows[arrow.to].performer);
            const y1 = y(arrow.from);
            const y2 = y(arrow.to);
            const near = arrow.from === row || arrow.to === row;
            const side = x1 === x2 ? 16 : 0;
            const middle = (y1 + y2) / 2;
            const curve = `M${x1},${y1} C${x1 + side},${middle} ${x2 + side},${middle} ${x2},${y2 - 5}`;
            return (
              <path
                key={`${arrow.from}-${arrow.to}-${arrow.message ?? "by"}`}
                class={`arrow ${arrow.message === undefined ? "by" : "message"} ${near ? "near" : ""}`}
                d={curve}
                marker-end="url(#tip)"
              >
                <title>{arrow.title}</title>
              </path>
            );
          })}
          {shown.map((i) => (
            <circle
              key={i}
              class={`dot ${i === row ? "selected" : ""} ${walk.rows[i].fair ? "" : "optional"} ${i > row ? "later" : ""}`}
              cx={x(walk.rows[i].performer)}
              cy={y(i)}
              r="5"
              onClick={() => select(i)}
            >
              <title>{`${walk.rows[i].performer}: ${walk.rows[i].rule}`}</title>
            </circle>
          ))}
          {loopStart !== undefined && <Loop walk={walk} shown={shown} y={y} loopStart={loopStart} width={width} />}
        </svg>
    </div>
  );
}

function Loop({ walk, shown, y, loopStart, width }: { walk: Walk; shown: number[]; y: (i: number) => number; loopStart: number; width: number }) {
  const looped = shown.filter((i) => walk.rows[i].number > loopStart);
  if (looped.length === 0) return null;
  const top = y(looped[0]);
  const bottom = y(looped[looped.length - 1]);
  return (
    <path class="loop" d={`M${width - 16},${bottom} C${width},${bottom} ${width},${top} ${width - 16},${top}`} marker-end="url(#tip)">
      <title>round and round</title>
    </path>
  );
}
