import type { ComponentChildren } from "preact";
import type { Asked } from "../api";

/** What was asked for, once it is there; until then that it is on its way, or why it will not come. */
export function Answered<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  if (asked.error) {
    return (
      <div class="error" role="alert">
        <p>{asked.error.message}</p>
        {asked.error.hint && <p class="muted">{asked.error.hint}</p>}
        <p>
          <a href="#/home">Back to the beginning</a>
        </p>
      </div>
    );
  }
  if (asked.value === undefined) return <p class="muted waiting">One moment …</p>;
  return <div class={asked.loading ? "stale" : undefined}>{children(asked.value)}</div>;
}
