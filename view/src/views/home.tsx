import { useMemo, useRef, useState } from "preact/hooks";
import { catalogue } from "../api";
import { useKeys } from "../parts/keys";
import { href, type Place, parsePlace } from "../place";

const words: Record<string, string> = { run: "run", executions: "executions", matrix: "matrix", machine: "machine" };
const views: Record<string, string> = { run: "run", executions: "execution", matrix: "matrix", machine: "machine" };

/** What a link is of, in words. */
function titleOf(link: string): string {
  const { view, parameters } = parsePlace(link);
  const all = [...parameters].filter(([name]) => name !== "tag").map(([, value]) => value);
  return `${view} ${all.join(", ")}`.trim();
}

function Exported() {
  if (catalogue.live) return null;
  return (
    <>
      <h1>{catalogue.documents.length === 0 ? "This page holds nothing" : "In this page"}</h1>
      <ul class="plain">
        {catalogue.documents.map((document, i) => (
          <li key={i}>
            <span class="chip">{words[document.kind]}</span>{" "}
            <a href={href(views[document.kind], { document: i })}>{document.title}</a>
            {document.kind === "run" && <span class="muted small"> {document.end}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function MatrixForm() {
  const [systems, setSystems] = useState<string[]>([]);
  const [models, setModels] = useState<string[]>([]);
  if (!catalogue.live) return null;
  const flip = (list: string[], name: string) => (list.includes(name) ? list.filter((one) => one !== name) : [...list, name]);
  const ready = systems.length + models.length > 0;
  return (
    <section>
      <h2>A matrix</h2>
      <p class="muted small">The tests tagged quick, by these systems and models:</p>
      <div class="bar wrap">
        {catalogue.matrix.map((name) => (
          <button
            type="button"
            key={name}
            class={`chip ${systems.includes(name) ? "on" : ""}`}
            aria-pressed={systems.includes(name)}
            onClick={() => setSystems(flip(systems, name))}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="bar wrap">
        {catalogue.models.map((name) => (
          <button
            type="button"
            key={name}
            class={`chip ${models.includes(name) ? "on" : ""}`}
            aria-pressed={models.includes(name)}
            onClick={() => setModels(flip(models, name))}
          >
            {name}
          </button>
        ))}
      </div>
      <p>
        {ready ? (
          <a class="button" href={href("matrix", { system: systems, model: models, tag: "quick" })}>
            run them
          </a>
        ) : (
          <span class="muted small">choose some</span>
        )}
      </p>
    </section>
  );
}

export function Home({ place: _ }: { place: Place }) {
  const [filter, setFilter] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const tests = useMemo(() => {
    if (!catalogue.live) return [];
    const text = filter.toLowerCase();
    return catalogue.tests.filter((test) => `${test.name} ${test.doc} ${test.tags.join(" ")}`.toLowerCase().includes(text));
  }, [filter]);
  if (!catalogue.live) return <Exported />;
  const most = 60;
  return (
    <>
      {catalogue.first.length > 0 && (
        <section>
          <h2>Asked for</h2>
          <ul class="plain">
            {catalogue.first.map((link) => (
              <li key={link}>
                <a href={link}>{titleOf(link)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {catalogue.traces.length > 0 && (
        <section>
          <h2>Runs</h2>
          <ul class="plain">
            {catalogue.traces.map((trace, i) => (
              <li key={i}>
                <a href={href("run", { trace: i })}>{trace.title}</a> <span class="muted small">{trace.end}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>Systems</h2>
        <table class="list">
          <tbody>
            {catalogue.systems.map((system) => (
              <tr key={system.name}>
                <th scope="row">
                  <a href={href("machine", { system: system.name })}>{system.name}</a>
                </th>
                <td>
                  {system.what}
                  <div class="small">
                    {system.variants
                      .filter((variant) => variant.name !== "default")
                      .map((variant) => (
                        <a key={variant.name} class="variant" href={href("machine", { system: `${system.name}/${variant.name}` })} title={variant.what}>
                          {variant.name}
                        </a>
                      ))}
                  </div>
                </td>
                <td>{system.takes === "nothing" && <a href={href("explore", { system: system.name })}>explore</a>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <MatrixForm />
      <section>
        <h2>Tests</h2>
        <div class="bar">
          <input
            ref={search}
            class="filter"
            type="search"
            placeholder="filter tests (/)"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            aria-label="Filter tests"
          />
          <span class="muted small">
            {tests.length} of {catalogue.tests.length}
          </span>
        </div>
        <table class="list">
          <tbody>
            {tests.slice(0, most).map((test) => (
              <tr key={test.name}>
                <th scope="row">
                  <a href={href("test", { name: test.name })}>{test.name}</a>
                </th>
                <td>
                  {test.doc || <code>{test.condition}</code>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {tests.length > most && <p class="muted small">and {tests.length - most} more: filter</p>}
      </section>
    </>
  );
}
