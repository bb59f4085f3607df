// One test: where it can be looked at, and what it shows there.
import { useState } from "preact/hooks";
import { catalogue, useAnswer } from "../api";
import { Answered } from "../parts/answer";
import { change, href, type Place } from "../place";
import type { Outcomes } from "../types";

function Shows({ system, test }: { system: string; test: string }) {
  const asked = useAnswer<Outcomes>("outcomes", new URLSearchParams({ system, test }));
  return (
    <Answered asked={asked}>
      {(shown) => (
        <>
          <p class="small">
            <b>{shown.observation}</b>, {shown.states} states, {shown.status}
          </p>
          <ul class="plain">
            {shown.outcomes.map((one) => (
              <li key={one.text}>
                <a class="path" href={href("outcome", { system, test, outcome: one.text })} title="A shortest run to it">
                  {one.text || "(nothing is asked for)"}
                </a>
                {one.satisfies && <span title="satisfies the condition"> ●</span>}
                {one.filtered && <span class="muted small"> filtered</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}

export function Test({ place }: { place: Place }) {
  const name = place.parameters.get("name") ?? "";
  const open = place.parameters.get("system");
  const [fault, setFault] = useState("");
  if (!catalogue.live) return <p class="muted">An exported page has no command to ask.</p>;
  const test = catalogue.tests.find((one) => one.name === name);
  if (!test) {
    return (
      <p class="error" role="alert">
        There is no test “{name}”. <a href="#/home">Back to the beginning</a>
      </p>
    );
  }
  const systems = catalogue.systems.filter((one) => one.takes === (test.launches ? "launches" : "programs"));
  const chosen = systems.find((one) => one.name === open?.split("/")[0]);
  return (
    <>
      <h1>{test.name}</h1>
      {test.doc && <p class="lead">{test.doc}</p>}
      <p>
        <code>{test.condition}</code>
      </p>
      <h2>On a system</h2>
      <div class="bar wrap">
        {systems.flatMap((system) =>
          system.variants.map((variant) => {
            const full = variant.name === "default" ? system.name : `${system.name}/${variant.name}`;
            return (
              <button
                type="button"
                key={full}
                class={`chip ${open === full ? "on" : ""}`}
                aria-pressed={open === full}
                title={variant.what}
                onClick={() => change(place, { system: open === full ? undefined : full })}
              >
                {full}
              </button>
            );
          }),
        )}
      </div>
      {open && chosen && (
        <div class="card">
          <h3>{open}</h3>
          <Shows key={open} system={open} test={name} />
          <div class="bar wrap">
            <label class="small">
              with the fault{" "}
              <select value={fault} onChange={(event) => setFault(event.currentTarget.value)}>
                <option value="">none</option>
                {chosen.faults.map((one) => (
                  <option key={one.name} value={one.name} title={one.what}>
                    {one.name}
                  </option>
                ))}
              </select>
            </label>
            <a class="button" href={href("explore", { system: open, test: name, fault: fault || undefined })}>
              explore
            </a>
          </div>
        </div>
      )}
      {!test.launches && (
        <>
          <h2>Under a model</h2>
          <div class="bar wrap">
            {catalogue.models.map((model) => (
              <a key={model} class="chip" href={href("execution", { test: name, model })}>
                {model}
              </a>
            ))}
          </div>
        </>
      )}
    </>
  );
}
