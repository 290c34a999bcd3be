import type { InboxItem } from "../../../api/index.ts";
import { durationText, Instant } from "../../furniture/time.tsx";

/** What is left until it is due, by the age that the server told; an instant once it is over. */
export function Deadline({ item }: { readonly item: InboxItem }) {
  const { status, requestedAtMs, ageMs, dueAtMs, endedAtMs } = item;
  if (status !== "pending") return <Instant ms={endedAtMs} />;
  const leftMs = dueAtMs - (requestedAtMs + ageMs);
  return (
    <time
      className="number"
      dateTime={new Date(dueAtMs).toISOString()}
      title={new Date(dueAtMs).toISOString()}
    >
      {leftMs >= 0 ? `in ${durationText(leftMs)}` : `${durationText(-leftMs)} ago`}
    </time>
  );
}
