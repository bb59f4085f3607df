import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { catalogue } from "./api";
import { Help, useKeys } from "./parts/keys";
import { parsePlace } from "./place";
import { Compare } from "./views/compare";
import { Execution } from "./views/execution";
import { Explore } from "./views/explore";
import { Home } from "./views/home";
import { MachineView } from "./views/machine";
import { Matrix } from "./views/matrix";
import { Outcome, Run } from "./views/run";
import { Test } from "./views/test";

const views = {
  home: Home,
  run: Run,
  runs: Compare,
  outcome: Outcome,
  explore: Explore,
  execution: Execution,
  matrix: Matrix,
  machine: MachineView,
  test: Test,
};

/** The place where a page without one opens. */
function firstPlace(): string {
  if (!catalogue.live) {
    const only = catalogue.documents.length === 1 ? catalogue.documents[0] : undefined;
    return only ? `#/${viewOf[only.kind]}?document=0` : "#/home";
  }
  return catalogue.first.length === 1 || catalogue.first[0]?.startsWith("#/runs") ? catalogue.first[0] : "#/home";
}
export const viewOf = { run: "run", executions: "execution", matrix: "matrix", machine: "machine" } as const;

function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(() => {
    try {
      return localStorage.getItem("theme") ?? "";
    } catch {
      return "";
    }
  });
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // A file may have nowhere to remember it.
    }
  }, [theme]);
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return [dark ? "light" : "dark", () => setTheme(dark ? "light" : "dark")];
}

function App() {
  const [place, setPlace] = useState(() => parsePlace(location.hash || firstPlace()));
  const [help, setHelp] = useState(false);
  const [other, toggle] = useTheme();
  useEffect(() => {
    if (!location.hash) history.replaceState(null, "", firstPlace());
    const moved = () => setPlace(parsePlace(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useKeys({ "?": () => setHelp((on) => !on), Escape: () => setHelp(false) });
  const View = views[place.view as keyof typeof views];
  return (
    <>
      <header class="top">
        <a class="brand" href="#/home">
          Lockstep
        </a>
        <span class="version">{catalogue.version}</span>
        {!catalogue.live && <span class="version">exported</span>}
        <span class="gap" />
        <button type="button" class="quiet" onClick={() => setHelp(true)} title="Keys (?)">
          ?
        </button>
        <button type="button" class="quiet" onClick={toggle} title={`Change to ${other} colours`}>
          {other}
        </button>
      </header>
      <main>
        {View ? (
          <View key={place.view} place={place} />
        ) : (
          <p class="error" role="alert">
            There is no page “{place.view}”. <a href="#/home">Back to the beginning</a>
          </p>
        )}
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
