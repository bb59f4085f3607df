// What a run and an exploration share: the sequence on the left, what there is to know of one row on the right.
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Walk } from "../types";
import { Changes, StateFields } from "./fields";
import { useKeys } from "./keys";
import { MachineGraph } from "./machine";
import { Player } from "./player";
import { ProgramText } from "./program";
import { RuleText } from "./rule";
import { type Filter, Sequence, shownRows } from "./sequence";

export interface WalkProps {
  walk: Walk;
  row: number;
  select: (row: number) => void;
  loopStart?: number;
  parts?: number;
  side?: ComponentChildren; // above what there is to know
  controls?: ComponentChildren;
  pick?: (path: string, value: string) => void;
  openMoves?: boolean;
}

export function WalkView({ walk, row, select, loopStart, parts, side, controls, pick, openMoves }: WalkProps) {
  const [filter, setFilter] = useState<Filter>({ text: "", columns: new Set(), moves: openMoves ?? true });
  const [tab, setTab] = useState("step");
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const shown = useMemo(() => shownRows(walk, filter), [walk, filter]);
  const at = Math.max(0, shown.findLastIndex((i) => i <= row));
  const one = walk.rows[row];
  const loopTo = loopStart === undefined ? undefined : Math.max(0, shown.findIndex((i) => walk.rows[i].number > loopStart));
  const toggle = (name: string) => {
    const columns = new Set(filter.columns);
    if (!columns.delete(name)) columns.add(name);
    setFilter({ ...filter, columns });
  };
  const performers = walk.columns.filter((name) => walk.rows.some((each) => each.performer === name));
  return (
    <div class="walk">
      <section class="left">
        <Player at={at} count={shown.length} go={(to) => shown.length > 0 && select(shown[to])} loopTo={loopTo} extra={controls} />
        <div class="bar wrap">
          <input
            ref={search}
            class="filter"
            type="search"
            placeholder="filter (/)"
            value={filter.text}
            onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            aria-label="Filter rules"
          />
          <label class="small">
            <input type="checkbox" checked={filter.moves} onChange={() => setFilter({ ...filter, moves: !filter.moves })} /> threads'
            moves
          </label>
          {performers.map((name) => (
            <button
              type="button"
              key={name}
              class={`chip ${filter.columns.has(name) ? "on" : ""}`}
              aria-pressed={filter.columns.has(name)}
              onClick={() => toggle(name)}
            >
              {name}
            </button>
          ))}
        </div>
        <Sequence walk={walk} shown={shown} row={row} select={select} loopStart={loopStart} parts={parts} />
      </section>
      <section class="right">
        {side}
        <nav class="tabs" role="tablist">
          {["step", "state", "machine", "program"].map((name) => (
            <button key={name} type="button" role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>
              {name}
            </button>
          ))}
        </nav>
        {tab === "step" && one && (
          <section aria-label="Step">
            <h3>{one.rule}</h3>
            <p class="small">
              <b>{one.performer}</b>
              {one.source && (
                <>
                  {" · "}
                  <span class="source">{one.source}</span>
                </>
              )}
              {!one.fair && " · optional"}
              {one.recorded_only && " · as it was recorded; the system does otherwise now"}
            </p>
            {one.by !== undefined && (
              <p class="small">
                enabled by{" "}
                <button type="button" class="link" onClick={() => select(one.by as number)}>
                  {walk.rows[one.by].rule}
                </button>
              </p>
            )}
            {one.taken !== undefined && <MessageText walk={walk} message={one.taken} select={select} taken />}
            {one.sent?.map((message) => <MessageText key={message} walk={walk} message={message} select={select} />)}
            <Changes changes={one.changes} walk={walk} />
            <RuleText machine={walk.machine} name={one.rule} />
            <ProgramText walk={walk} row={row} />
          </section>
        )}
        {tab === "state" && <StateFields walk={walk} row={row} pick={pick} />}
        {tab === "machine" && <MachineGraph machine={walk.machine} walk={walk} row={row} />}
        {tab === "program" && <ProgramText walk={walk} row={row} />}
      </section>
    </div>
  );
}

function MessageText({ walk, message, select, taken }: { walk: Walk; message: number; select: (row: number) => void; taken?: boolean }) {
  const one = walk.messages[message];
  const other = taken ? one.sent : one.taken;
  const content = one.content.map(([name, value]) => `${name} ${value}`).join(", ");
  return (
    <p class="small message">
      {taken ? "takes from" : "sends on"} <span class="path">{one.channel}</span>: {content}{" "}
      {other !== undefined && (
        <button type="button" class="link" onClick={() => select(other)}>
          {taken ? `sent by “${walk.rows[other].rule}”` : `taken by “${walk.rows[other].rule}”`}
        </button>
      )}
    </p>
  );
}
