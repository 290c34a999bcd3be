import type { DeadFilter, DeadGroup } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

/** Names a group in the address. */
export const keyOf = ({ queue, place, outcome, code, fingerprint, schemaVersion }: DeadGroup): string =>
  [place, queue ?? "", outcome, code, fingerprint, schemaVersion ?? ""].join("|");

/** What selects the messages of the group. */
export const filterOf = ({
  queue,
  liesIn,
  place,
  code,
  fingerprint,
  schemaVersion,
}: DeadGroup): DeadFilter => ({
  queue: queue ?? liesIn,
  place,
  code,
  fingerprint,
  ...(schemaVersion !== null && { schemaVersion }),
});

const tones: Readonly<Record<string, Tone>> = { unknown: "danger", poison: "danger", retry: "warn" };

export const OutcomeBadge = ({ group: { outcome } }: { readonly group: DeadGroup }) => (
  <Badge tone={tones[outcome] ?? "idle"}>{outcome === "retry" ? "gave up" : outcome}</Badge>
);
