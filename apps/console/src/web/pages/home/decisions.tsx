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
        <h3>{title}</h3>
        <p title={detail}>{detail}</p>
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

const urgencies = [
  { urgency: "now", tone: "danger", text: "Now" },
  { urgency: "soon", tone: "warn", text: "Soon" },
] as const;

/** What cannot wait first, each group with its size. */
export function Decisions({ decisions }: { readonly decisions: readonly Decision[] }) {
  return urgencies.map(({ urgency, tone, text }) => {
    const own = decisions.filter((decision) => decision.urgency === urgency);
    if (own.length === 0) return null;
    return (
      <section key={urgency} className="card decisions" aria-label={`To decide ${urgency}`}>
        <header>
          <h2>
            <Badge tone={tone}>{text}</Badge>
          </h2>
          <span className="muted number">{own.length}</span>
        </header>
        <ul>
          {own.map((decision) => (
            <Line key={decision.id} decision={decision} />
          ))}
        </ul>
      </section>
    );
  });
}
