import type { QueueSurvey } from "../../../api/index.ts";
import { Badge } from "../../furniture/badge.tsx";

/** What a queue is up to, in one word. */
export function QueueBadge({ queue }: { readonly queue: QueueSurvey }) {
  const { pausedAtMs, isDeadLetterQueue, consumers, ready, inFlight } = queue;
  if (pausedAtMs !== null) return <Badge tone="warn">paused</Badge>;
  if (isDeadLetterQueue)
    return ready > 0 ? <Badge tone="warn">dead letters</Badge> : <Badge tone="good">empty</Badge>;
  if (inFlight > 0) return <Badge tone="active">working</Badge>;
  if (ready > 0 && consumers === 0) return <Badge tone="danger">nobody works</Badge>;
  if (ready > 0) return <Badge tone="active">waiting</Badge>;
  return <Badge tone="idle">idle</Badge>;
}
