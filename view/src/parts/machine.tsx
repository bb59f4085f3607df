// The machine: units, and what leads from one to another, drawn from the rules' footprints.
import dagre from "@dagrejs/dagre";
import { useMemo } from "preact/hooks";
import { stateAfter } from "../state";
import type { Machine, Walk } from "../types";

interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
}
interface Link {
  from: string;
  to: string;
  fields: string[];
  channel: boolean;
  both: boolean; // `to` writes something that `from` waits for, too
  ways: Set<string>; // who writes
  points: { x: number; y: number }[];
  label?: { x: number; y: number };
}

const threads = "threads";

function labelOf(link: Link): string {
  return link.fields.map((field) => field.replace(/^memory\./, "")).join(", ");
}

interface Layout {
  boxes: Box[];
  links: Link[];
  left: number;
  top: number;
  width: number;
  height: number;
}

function layout(machine: Machine): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const serving = machine.units.filter((unit) => unit.serves_threads);
  if (serving.length > 0) graph.setNode(threads, { width: 110, height: 34 });
  for (const unit of machine.units) graph.setNode(unit.name, { width: Math.max(110, unit.name.length * 8 + 40), height: 52 });
  const links = new Map<string, Link>();
  for (const one of machine.connections) {
    // Fields that two units share are one line between them, whoever writes.
    const [a, b] = !one.channel && one.to < one.from ? [one.to, one.from] : [one.from, one.to];
    const key = `${a}→${b}→${one.channel}`;
    const link = links.get(key) ?? { from: a, to: b, fields: [], channel: one.channel, both: false, points: [], ways: new Set<string>() };
    link.ways.add(one.from);
    link.both = link.ways.size > 1;
    if (!link.both && one.from !== link.from) [link.from, link.to] = [link.to, link.from];
    if (!link.fields.includes(one.field)) link.fields.push(one.field);
    links.set(key, link);
  }
  for (const unit of serving)
    links.set(`port→${unit.name}`, { from: threads, to: unit.name, fields: ["port"], channel: false, both: true, points: [], ways: new Set() });
  for (const [key, link] of links) {
    const label = link.channel ? labelOf(link) : "";
    graph.setEdge(link.from, link.to, { width: label.length * 7, height: label ? 14 : 0, labelpos: "c", weight: link.channel ? 3 : 1 }, key);
  }
  dagre.layout(graph);
  const boxes = graph.nodes().map((name: string) => {
    const node = graph.node(name);
    return { name, x: node.x, y: node.y, width: node.width, height: node.height };
  });
  for (const edge of graph.edges()) {
    const laid = graph.edge(edge);
    const link = links.get(edge.name ?? "");
    if (!link) continue;
    link.points = laid.points;
    if (laid.x !== undefined) link.label = { x: laid.x, y: laid.y };
  }
  // Lines may bend beyond the boxes.
  const points = [...links.values()].flatMap((link) => link.points);
  const xs = [...points.map((p) => p.x), ...boxes.flatMap((box: Box) => [box.x - box.width / 2, box.x + box.width / 2 + 6])];
  const ys = [...points.map((p) => p.y), ...boxes.flatMap((box: Box) => [box.y - box.height / 2 - 6, box.y + box.height / 2])];
  const margin = 8;
  const left = Math.min(...xs) - margin;
  const top = Math.min(...ys) - margin;
  return { boxes, links: [...links.values()], left, top, width: Math.max(...xs) + margin - left, height: Math.max(...ys) + margin - top };
}

function line(points: { x: number; y: number }[]): string {
  if (points.length < 3) return points.map((p, i) => `${i ? "L" : "M"}${p.x},${p.y}`).join("");
  let text = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; ++i) {
    const next = i === points.length - 2 ? points[i + 1] : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
    text += `Q${points[i].x},${points[i].y} ${next.x},${next.y}`;
  }
  return text;
}

function escapes(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** How many messages stand in a channel, over all its rows. */
function waiting(walk: Walk, row: number, field: string): number {
  const path = new RegExp(`(^|\\.)${escapes(field)}(\\([0-9,]*\\))?\\.count$`);
  let count = 0;
  for (const [name, value] of stateAfter(walk, row)) if (path.test(name)) count += Number(value) || 0;
  return count;
}

export function MachineGraph({ machine, walk, row }: { machine: Machine; walk?: Walk; row?: number }) {
  const { boxes, links, left, top, width, height } = useMemo(() => layout(machine), [machine]);
  const acting = walk && row !== undefined ? walk.rows[row] : undefined;
  const moved = new Set<string>();
  if (walk && acting) {
    for (const message of acting.sent ?? []) moved.add(walk.messages[message].channel.replace(/\([^)]*\)/g, ""));
    if (acting.taken !== undefined) moved.add(walk.messages[acting.taken].channel.replace(/\([^)]*\)/g, ""));
  }
  const changed = new Set((acting?.changes ?? []).map(([path]) => path.replace(/\([^)]*\)/g, "")));
  const touches = (field: string) =>
    [...moved].some((one) => one === field || one.endsWith(`.${field}`)) ||
    [...changed].some((one) => one === field || one.endsWith(`.${field}`) || one.includes(`${field}.`));
  return (
    <svg class="machine" viewBox={`${left} ${top} ${width} ${height}`} style={{ maxWidth: `${width}px` }} role="img" aria-label="The machine">
      <defs>
        <marker id="mtip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
          <path d="M0,0 L8,4 L0,8 z" class="tip" />
        </marker>
      </defs>
      {links.map((link) => {
        const count = walk && row !== undefined && link.channel ? link.fields.reduce((sum, field) => sum + waiting(walk, row, field), 0) : 0;
        const live = acting !== undefined && link.fields.some(touches) && [link.from, link.to].includes(acting.unit);
        return (
          <g key={`${link.from}${link.to}${link.channel}`} class={`link ${link.channel ? "channel" : "shared"} ${live ? "live" : ""}`}>
            <path d={line(link.points)} marker-end="url(#mtip)" marker-start={link.both ? "url(#mtip)" : undefined}>
              <title>{`${link.from} ${link.both ? "↔" : "→"} ${link.to}: ${labelOf(link)}`}</title>
            </path>
            {link.label && link.channel && (
              <text x={link.label.x} y={link.label.y + 4}>
                {labelOf(link)}
              </text>
            )}
            {count > 0 && link.label && (
              <g class="badge">
                <circle cx={link.label.x} cy={link.label.y - 14} r="9" />
                <text x={link.label.x} y={link.label.y - 10}>
                  {count}
                </text>
              </g>
            )}
          </g>
        );
      })}
      {boxes.map((box) => {
        const unit = machine.units.find((one) => one.name === box.name);
        const live = acting && (acting.unit === box.name || (box.name === threads && acting.unit === "thread"));
        const instances = walk && unit?.per ? walk.columns.filter((name) => name.startsWith(`${unit.name} `)) : [];
        return (
          <g key={box.name} class={`unit ${live ? "live" : ""} ${box.name === threads ? "client" : ""}`}>
            {unit?.per && <rect class="behind" x={box.x - box.width / 2 + 5} y={box.y - box.height / 2 - 5} width={box.width} height={box.height} rx="6" />}
            <rect x={box.x - box.width / 2} y={box.y - box.height / 2} width={box.width} height={box.height} rx="6" />
            <text x={box.x} y={box.y + (unit?.per ? -4 : 4)}>
              {box.name}
            </text>
            {unit?.per && instances.length === 0 && (
              <text class="per" x={box.x} y={box.y + 14}>{`each ${unit.per}`}</text>
            )}
            {instances.map((name, i) => (
              <text
                key={name}
                class={`chip ${acting?.performer === name ? "live" : ""}`}
                x={box.x + (i - (instances.length - 1) / 2) * 20}
                y={box.y + 15}
              >
                {name.slice(box.name.length + 1)}
              </text>
            ))}
            <title>{unit ? `${unit.name}: ${unit.rules.length} rules; keeps ${unit.keeps.join(", ") || "nothing"}` : "the program"}</title>
          </g>
        );
      })}
    </svg>
  );
}
