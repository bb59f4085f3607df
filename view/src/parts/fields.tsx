import { useState } from "preact/hooks";
import { grouped, isQuiet, nameOf, stateAfter } from "../state";
import type { Change, Walk } from "../types";

export function Changes({ changes, walk }: { changes: Change[]; walk: Walk }) {
  if (changes.length === 0) return <p class="muted small">changes nothing</p>;
  return (
    <table class="changes">
      <tbody>
        {changes.map(([path, before, after]) => (
          <tr key={path}>
            <td class="path">{nameOf(path, walk) ?? path}</td>
            <td class="before">{before}</td>
            <td class="arrow">→</td>
            <td class="after">{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** All fields after a row; those that the row changed stand out. */
export function StateFields({ walk, row, pick }: { walk: Walk; row: number; pick?: (path: string, value: string) => void }) {
  const [all, setAll] = useState(false);
  const [filter, setFilter] = useState("");
  const state = stateAfter(walk, row);
  const changed = new Set(row > 0 ? walk.rows[row].changes.map(([path]) => path) : []);
  const wanted = [...state].filter(
    ([path, value]) =>
      (all || filter || !isQuiet(value) || changed.has(path)) &&
      (!filter || path.includes(filter) || (nameOf(path, walk) ?? "").includes(filter)),
  );
  return (
    <section class="state" aria-label="State">
      <div class="bar">
        <input
          class="filter"
          type="search"
          placeholder="filter fields"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
          aria-label="Filter fields"
        />
        <label class="small">
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all {state.size}
        </label>
      </div>
      {grouped(wanted).map(([group, fields]) => (
        <details open key={group}>
          <summary>{group}</summary>
          <table class="fields">
            <tbody>
              {fields.map(([path, value]) => (
                <tr key={path} class={changed.has(path) ? "changed" : undefined}>
                  <td class="path">{nameOf(path, walk) ?? path.slice(path.startsWith(group) ? group.length : 0)}</td>
                  <td class="value">
                    {pick ? (
                      <button type="button" class="link" title="Use in a condition" onClick={() => pick(path, value)}>
                        {value}
                      </button>
                    ) : (
                      value
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ))}
      {wanted.length === 0 && <p class="muted small">every field is at its default</p>}
    </section>
  );
}
