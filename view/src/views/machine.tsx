import { useState } from "preact/hooks";
import { catalogue, useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { MachineGraph } from "../parts/machine";
import { change, href, type Place } from "../place";
import type { MachineDocument } from "../types";
import { documentAt } from "./run";

function Body({ document, place }: { document: MachineDocument; place: Place }) {
  const [filter, setFilter] = useState("");
  const unit = place.parameters.get("unit") ?? "";
  const rules = document.rules.filter(
    (rule) => (!unit || rule.unit === unit) && `${rule.name} ${rule.guard} ${rule.action}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const system = place.parameters.get("system");
  return (
    <>
      <h1>{document.title}</h1>
      <p class="lead">{document.what}</p>
      {catalogue.live && system && catalogue.systems.find((one) => one.name === system.split("/")[0])?.takes === "nothing" && (
        <p>
          <a class="button" href={href("explore", { system, fault: place.parameters.getAll("fault"), size: place.parameters.getAll("size") })}>
            explore it
          </a>
        </p>
      )}
      <div class="scrollx">
        <MachineGraph machine={document} />
      </div>
      <p class="muted small">
        Drawn from what rules read and write: solid arrows are channels, dashed ones are fields that one unit writes and another
        waits for.
      </p>
      <div class="bar wrap">
        <input
          class="filter"
          type="search"
          placeholder="filter rules"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
          aria-label="Filter rules"
        />
        {document.units.map((one) => (
          <button
            type="button"
            key={one.name}
            class={`chip ${unit === one.name ? "on" : ""}`}
            aria-pressed={unit === one.name}
            onClick={() => change(place, { unit: unit === one.name ? undefined : one.name })}
          >
            {one.name} <span class="muted">{one.rules.length}</span>
          </button>
        ))}
      </div>
      <section aria-label="Rules">
        {rules.map((rule, i) => (
          <details key={`${rule.name}${i}`} class="rule">
            <summary>
              <b>{rule.name}</b>
              {rule.parameters.length > 0 && <span class="muted small"> ({rule.parameters.join(", ")})</span>}
              <span class="small"> · {rule.unit}</span>
              {!rule.fair && <span class="muted small"> · optional</span>}
              <span class="source small"> {rule.source}</span>
            </summary>
            <pre>
              {rule.trigger && `takes  ${rule.trigger}\n`}
              {`when   ${rule.guard}\n\n${rule.action}`}
            </pre>
          </details>
        ))}
      </section>
      {document.invariants.length > 0 && (
        <section aria-label="Invariants">
          <h2>Invariants</h2>
          {document.invariants.map((one) => (
            <details key={one.name} class="rule">
              <summary>{one.name}</summary>
              <pre>{one.predicate}</pre>
            </details>
          ))}
        </section>
      )}
    </>
  );
}

export function MachineView({ place }: { place: Place }) {
  const exported = documentAt<MachineDocument>(place, "machine");
  return exported ? <Body document={exported} place={place} /> : <Live place={place} />;
}

function Live({ place }: { place: Place }) {
  const parameters = new URLSearchParams(place.parameters);
  parameters.delete("unit");
  const asked = useAnswer<MachineDocument>("machine", parameters);
  return <Answered asked={asked}>{(document) => <Body document={document} place={place} />}</Answered>;
}
