import type { AlarmReport } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

const states: Readonly<Record<AlarmReport["state"], readonly [Tone, string]>> = {
  ALARM: ["danger", "alarm"],
  INSUFFICIENT_DATA: ["warn", "no data"],
  OK: ["good", "ok"],
};

export function AlarmBadge({ state }: Pick<AlarmReport, "state">) {
  const [tone, text] = states[state];
  return <Badge tone={tone}>{text}</Badge>;
}
