import { stateAfter } from "../state";
import type { Walk } from "../types";

/** The program's threads side by side, with where each one is. */
export function ProgramText({ walk, row }: { walk: Walk; row: number }) {
  const program = walk.subject.program;
  if (!program) return walk.subject.launches ? <pre class="program">{walk.subject.launches}</pre> : null;
  const state = stateAfter(walk, row);
  const at = (thread: number) => {
    const value = state.get(`context(${thread}).pc`) ?? state.get(`machine.context(${thread}).pc`);
    return value === undefined ? -1 : Number(value);
  };
  const longest = Math.max(...program.threads.map((thread) => thread.code.length));
  return (
    <div class="scrollx">
      <table class="program">
        <thead>
          <tr>
            {program.threads.map((thread) => (
              <th key={thread.name}>
                {thread.name} <span class="muted small">{thread.at}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: longest + 1 }, (_, line) => (
            <tr key={line}>
              {program.threads.map((thread, t) => (
                <td key={thread.name} class={at(t) === line ? "at" : at(t) > line ? "passed" : undefined}>
                  {thread.code[line] ?? (line === thread.code.length && at(t) === line ? "end" : "")}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
