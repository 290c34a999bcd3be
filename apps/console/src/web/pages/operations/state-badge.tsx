import type { Operation, OperationState } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

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
