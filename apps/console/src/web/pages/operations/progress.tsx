import type { Operation, OperationState } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { countText } from "../../furniture/count.tsx";
import "./operations.css";

const states: Readonly<Record<OperationState, readonly [Tone, string]>> = {
  awaiting_approval: ["warn", "asks approval"],
  running: ["active", "running"],
  paused: ["warn", "paused"],
  completed: ["good", "completed"],
  aborted: ["idle", "aborted"],
  declined: ["idle", "declined"],
  failed: ["danger", "cannot go on"],
};

export function StateBadge({ state }: Pick<Operation, "state">) {
  const [tone, text] = states[state];
  return <Badge tone={tone}>{text}</Badge>;
}

/** How far it is, as a bar and in numbers. */
export function Progress({
  operation: { kind, done, refused, skipped, selected },
}: {
  readonly operation: Operation;
}) {
  const over = done + refused + skipped;
  return (
    <span className="progress">
      <progress max={Math.max(1, selected)} value={over} aria-label={`Progress of ${kind}`} />
      <span className="number">{countText(over)}</span>
    </span>
  );
}
