import { Link } from "wouter";
import type { Decision } from "../../../api/index.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Age } from "../../furniture/time.tsx";

function Line({ decision }: { readonly decision: Decision }) {
  const { urgency, title, detail, owner, runbook, ageMs, action } = decision;
  return (
    <li className="decision">
      <div className="decision-what">
        <Badge tone={urgency === "now" ? "danger" : "warn"}>{urgency === "now" ? "now" : "soon"}</Badge>
        <div>
          <h2>{title}</h2>
          <p title={detail}>{detail}</p>
        </div>
      </div>
      <dl>
        <div>
          <dt>Age</dt>
          <dd>
            <Age ms={ageMs} />
          </dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>
            <Owner owner={owner} />
          </dd>
        </div>
        <div>
          <dt>Runbook</dt>
          <dd>
            <Runbook runbook={runbook} />
          </dd>
        </div>
      </dl>
      <Link href={action.href} className="button" data-kind={urgency === "now" ? "primary" : undefined}>
        {action.label}
        <span className="hidden-text">: {title}</span>
      </Link>
    </li>
  );
}

export function Decisions({ decisions }: { readonly decisions: readonly Decision[] }) {
  if (decisions.length === 0) return null;
  return (
    <ul className="card decisions" aria-label="Decisions">
      {decisions.map((decision) => (
        <Line key={decision.id} decision={decision} />
      ))}
    </ul>
  );
}
