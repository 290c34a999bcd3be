import type { Owned } from "../../api/index.ts";
import { Badge } from "./badge.tsx";

const isLink = (runbook: string): boolean => /^https?:\/\//.test(runbook);

/** The place that says what to do: a link where it is one, else the path of the file. */
export function Runbook({ runbook }: Pick<Owned, "runbook">) {
  if (runbook === null) return <span className="zero">none</span>;
  return isLink(runbook) ? (
    <a href={runbook} target="_blank" rel="noreferrer">
      Runbook
    </a>
  ) : (
    <code title="Runbook">{runbook}</code>
  );
}

export function Owner({ owner }: Pick<Owned, "owner">) {
  return owner === null ? <Badge tone="warn">no owner</Badge> : <span>{owner}</span>;
}
