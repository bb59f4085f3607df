import type { Machine } from "../types";

/** A rule in full, as its tree says it. */
export function RuleText({ machine, name }: { machine: Machine; name: string }) {
  // Narration adds parameters, or an instruction, behind a rule's name.
  const rule = machine.rules
    .filter((one) => name === one.name || name.startsWith(`${one.name} (`))
    .sort((a, b) => b.name.length - a.name.length)[0];
  if (!rule) return null;
  return (
    <details class="rule">
      <summary>the rule in full</summary>
      <pre>
        {rule.trigger && `takes  ${rule.trigger}\n`}
        {`when   ${rule.guard}\n\n${rule.action}`}
      </pre>
    </details>
  );
}
