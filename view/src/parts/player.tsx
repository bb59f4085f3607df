import { useEffect, useState } from "preact/hooks";
import { useKeys } from "./keys";

export interface PlayerProps {
  at: number; // place in the list of what is shown
  count: number;
  go: (at: number) => void;
  loopTo?: number; // where it goes on behind the last one
  extra?: preact.ComponentChildren;
}

const shapes = {
  first: "M1,1h2v10h-2zM11,1v10L4,6z",
  back: "M9,1v10L2,6z",
  play: "M2,1v10L11,6z",
  pause: "M2,1h3v10h-3zM7,1h3v10h-3z",
  on: "M1,1v10L8,6zM9,1h2v10h-2z",
  last: "M1,1v10L5,6zM5,1v10L9,6zM9,1h2v10h-2z",
  again: "M6,1a5,5 0 1 0 5,5h-2a3,3 0 1 1 -3,-3v2.5l4,-3.5l-4,-3z",
};
function Icon({ shape }: { shape: keyof typeof shapes }) {
  return (
    <svg class="icon" viewBox="0 0 12 12" aria-hidden="true">
      <path d={shapes[shape]} />
    </svg>
  );
}

/** Buttons and keys to step through something. */
export function Player({ at, count, go, loopTo, extra }: PlayerProps) {
  const [playing, setPlaying] = useState(false);
  const next = () => {
    if (at < count - 1) go(at + 1);
    else if (loopTo !== undefined) go(loopTo);
    else setPlaying(false);
  };
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(next, 700);
    return () => clearTimeout(timer);
  });
  const back = () => go(Math.max(0, at - 1));
  useKeys(
    {
      ArrowRight: next,
      j: next,
      ArrowLeft: back,
      k: back,
      Home: () => go(0),
      End: () => go(count - 1),
      " ": () => setPlaying(!playing),
    },
  );
  return (
    <div class="player" role="toolbar" aria-label="Steps">
      <button type="button" onClick={() => go(0)} disabled={at <= 0} title="First (Home)" aria-label="First">
        <Icon shape="first" />
      </button>
      <button type="button" onClick={back} disabled={at <= 0} title="Back (←)" aria-label="Back">
        <Icon shape="back" />
      </button>
      <button type="button" onClick={() => setPlaying(!playing)} title="Play (Space)" aria-label="Play">
        <Icon shape={playing ? "pause" : "play"} />
      </button>
      <button type="button" onClick={next} disabled={at >= count - 1 && loopTo === undefined} title="On (→)" aria-label="On">
        <Icon shape={at >= count - 1 && loopTo !== undefined ? "again" : "on"} />
      </button>
      <button type="button" onClick={() => go(count - 1)} disabled={at >= count - 1} title="Last (End)" aria-label="Last">
        <Icon shape="last" />
      </button>
      <input
        type="range"
        min="0"
        max={Math.max(0, count - 1)}
        value={at}
        onInput={(event) => go(Number(event.currentTarget.value))}
        aria-label="Step"
      />
      {extra}
    </div>
  );
}
