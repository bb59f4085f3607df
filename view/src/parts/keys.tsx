import { useEffect, useRef } from "preact/hooks";

type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Calls what a key stands for now, unless somebody is typing. */
export function useKeys(keys: Keys): void {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.getAttribute("type") !== "range";
      if (typing && event.key !== "Escape") return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = now.current[event.key];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const lines: [string, string][] = [
  ["← → or k j", "one step back, one step on"],
  ["Home End", "to the first step, to the last"],
  ["Space", "play, or stop"],
  ["1 … 9", "explore: take the rule of that number"],
  ["u", "explore: undo"],
  ["/", "filter"],
  ["Esc", "leave a field, close this"],
];

export function Help({ close }: { close: () => void }) {
  return (
    <div class="overlay" onClick={close} role="dialog" aria-label="Keys">
      <div class="card" onClick={(event) => event.stopPropagation()}>
        <h2>Keys</h2>
        <dl class="keys">
          {lines.map(([key, what]) => (
            <>
              <dt>{key}</dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </div>
  );
}
