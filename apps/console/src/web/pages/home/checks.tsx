import type { Check } from "../../../api/index.ts";
import { Badge } from "../../furniture/badge.tsx";

function Line({ check }: { readonly check: Check }) {
  const { name, found, failure } = check;
  return (
    <li>
      {failure !== null ? (
        <Badge tone="danger">not checked</Badge>
      ) : found === 0 ? (
        <Badge tone="good">none</Badge>
      ) : (
        <Badge tone="warn">{found}</Badge>
      )}
      <span>
        {name}
        {failure !== null && <span className="muted"> ({failure})</span>}
      </span>
    </li>
  );
}

/** What was looked at. Where nothing was found this is the page; otherwise it folds away. */
export function Checks({ checks, calm }: { readonly checks: readonly Check[]; readonly calm: boolean }) {
  const list = (
    <ul className="checks">
      {checks.map((check) => (
        <Line key={check.name} check={check} />
      ))}
    </ul>
  );
  if (calm)
    return (
      <section className="card calm" aria-label="What was checked">
        <h2>All is in order</h2>
        <p className="muted">This was looked at a moment ago, and will be again.</p>
        {list}
      </section>
    );
  return (
    <details className="checked">
      <summary>What was checked</summary>
      {list}
    </details>
  );
}
