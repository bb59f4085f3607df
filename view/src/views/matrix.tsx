// Tests by systems and models, filled while they run.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, catalogue, newJob, type Refused, stop } from "../api";
import { change, href, type Place } from "../place";
import type { Cell, MatrixDocument, MatrixRow } from "../types";
import { documentAt } from "./run";

/** How a cell is coloured: the word, and the signs that end it. */
export function classOf(cell: Cell | null): string {
  if (!cell) return "waiting";
  if (cell.text.endsWith("!")) return "violates";
  if (cell.text.endsWith("*")) return "differs";
  if (cell.text.endsWith("?")) return "undefined";
  for (const word of ["never", "sometimes", "always"]) if (cell.text.startsWith(word)) return word;
  return "other";
}

function Detail({ document, row, column, close }: { document: MatrixDocument; row: MatrixRow; column: number; close: () => void }) {
  const cell = row.cells[column];
  const head = document.columns[column];
  const findings = row.findings.filter((line) => line.includes(` on ${head.name}`) || line.includes(` under ${head.name}`));
  return (
    <aside class="card detail" aria-label="Cell">
      <button type="button" class="quiet close" onClick={close} title="Close (Esc)">
        ✕
      </button>
      <h2>
        {row.test} {head.kind === "system" ? "on" : "under"} {head.name}
      </h2>
      <p class="small">
        <code>{row.condition}</code>: <b>{cell?.text ?? "not run yet"}</b>
      </p>
      {row.doc && <p class="muted small">{row.doc}</p>}
      {findings.map((line) => (
        <p key={line} class="warning small">
          {line}
        </p>
      ))}
      <ul class="plain">
        {cell?.outcomes.map((text) => (
          <li key={text}>
            {catalogue.live && head.kind === "system" ? (
              <a class="path" href={href("outcome", { system: head.name, test: row.test, outcome: text })} title="A shortest run to it">
                {text}
              </a>
            ) : (
              <span class="path">{text}</span>
            )}
          </li>
        ))}
      </ul>
      {catalogue.live && (
        <p>
          {head.kind === "system" ? (
            <a class="button" href={href("explore", { system: head.name, test: row.test })}>
              explore
            </a>
          ) : (
            <a class="button" href={href("execution", { test: row.test, model: head.name })}>
              executions
            </a>
          )}
        </p>
      )}
    </aside>
  );
}

function Table({ document, place }: { document: MatrixDocument; place: Place }) {
  const filter = place.parameters.get("filter") ?? "";
  const only = place.parameters.get("only") ?? "";
  const [open, setOpen] = useState<[string, number]>();
  const rows = useMemo(
    () =>
      document.rows.filter((row) => {
        if (filter && !`${row.test} ${row.doc} ${row.tags.join(" ")}`.toLowerCase().includes(filter.toLowerCase())) return false;
        const words = row.cells.map((cell) => cell?.text.replace(/[!*?~]+$/, ""));
        if (only === "differ") return new Set(words.filter(Boolean)).size > 1;
        if (only === "findings") return row.findings.length > 0;
        return true;
      }),
    [document, filter, only],
  );
  useEffect(() => {
    const closes = (event: KeyboardEvent) => event.key === "Escape" && setOpen(undefined);
    addEventListener("keydown", closes);
    return () => removeEventListener("keydown", closes);
  }, []);
  const opened = open && document.rows.find((row) => row.test === open[0]);
  return (
    <>
      <div class="bar wrap">
        <input
          class="filter"
          type="search"
          placeholder="filter tests"
          value={filter}
          onInput={(event) => change(place, { filter: event.currentTarget.value })}
          aria-label="Filter tests"
        />
        <select value={only} onChange={(event) => change(place, { only: event.currentTarget.value })} aria-label="Which tests">
          <option value="">all</option>
          <option value="differ">where columns differ</option>
          <option value="findings">with findings</option>
        </select>
        <span class="muted small">
          {rows.length} of {document.rows.length} tests
        </span>
      </div>
      <div class="split">
        <div class="scrollx grow">
          <table class="matrix">
            <thead>
              <tr>
                <th>Test</th>
                {document.columns.map((column) => (
                  <th key={column.name} class={column.kind}>
                    {catalogue.live && column.kind === "system" ? <a href={href("machine", { system: column.name })}>{column.name}</a> : column.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.test}>
                  <th scope="row">
                    {catalogue.live ? <a href={href("test", { name: row.test })}>{row.test}</a> : row.test}
                  </th>
                  {row.cells.map((cell, i) => (
                    <td key={document.columns[i].name} class={classOf(cell)}>
                      <button type="button" class="cell" onClick={() => setOpen([row.test, i])} aria-label={`${row.test}, ${document.columns[i].name}`}>
                        {cell?.text ?? "…"}
                      </button>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {opened && open && <Detail document={document} row={opened} column={open[1]} close={() => setOpen(undefined)} />}
      </div>
      <p class="muted small">
        ~ has an outcome that SC has not, ! shows what a model forbids, * differs from what the file expects, ? undefined: the
        model raises a flag
      </p>
    </>
  );
}

export function Matrix({ place }: { place: Place }) {
  const exported = documentAt<MatrixDocument>(place, "matrix");
  if (exported) {
    return (
      <>
        <h1>{exported.title}</h1>
        <Table document={exported} place={place} />
      </>
    );
  }
  return <Live place={place} />;
}

function Live({ place }: { place: Place }) {
  const [document, setDocument] = useState<MatrixDocument>();
  const [error, setError] = useState<Refused>();
  const job = useRef("");
  const asked = useMemo(() => {
    const all = new URLSearchParams();
    for (const [name, value] of place.parameters) if (["system", "model", "test", "tag"].includes(name)) all.append(name, value);
    return all.toString();
  }, [place]);
  useEffect(() => {
    const name = newJob();
    job.current = name;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const poll = async () => {
      try {
        const parameters = new URLSearchParams(asked);
        parameters.set("job", name);
        const now = await ask<MatrixDocument>("matrix", parameters, controller.signal);
        setDocument(now);
        if (!now.finished) timer = setTimeout(() => void poll(), 400);
      } catch (reason) {
        if (!controller.signal.aborted) setError(reason as Refused);
      }
    };
    setDocument(undefined);
    setError(undefined);
    void poll();
    return () => {
      controller.abort();
      clearTimeout(timer);
      stop(name);
    };
  }, [asked]);
  if (error) {
    return (
      <p class="error" role="alert">
        {error.message} {error.hint && <span class="muted">{error.hint}</span>}
      </p>
    );
  }
  if (!document) return <p class="muted waiting">One moment …</p>;
  return (
    <>
      <h1>{document.title}</h1>
      <p class="lead" role="status">
        {document.error ? (
          <span class="warning">{document.error}</span>
        ) : document.finished ? (
          document.totals || "all have run"
        ) : (
          <>
            <progress value={document.done} max={document.all} /> {document.done} of {document.all} runs{" "}
            <button type="button" onClick={() => stop(job.current)}>
              stop
            </button>
          </>
        )}
      </p>
      <Table document={document} place={place} />
    </>
  );
}
