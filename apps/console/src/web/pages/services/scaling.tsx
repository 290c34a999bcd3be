// The scaling rule, what it saw and decided last, and what it and people decided before.
import { Fragment } from "react";
import { Link } from "wouter";
import type { ServiceView } from "../../../api/index.ts";
import { durationText, Instant } from "../../furniture/time.tsx";
import { queueHref } from "../queues/links.ts";

function Decision({
  decided: { atMs, from, to, by, why },
}: {
  readonly decided: ServiceView["scaled"][number];
}) {
  return (
    <li>
      <span className="number">{from === to ? `stays at ${to}` : `${from} → ${to}`}</span>
      <span>
        by {by}
        {why !== null && `: ${why}`}
      </span>
      <Instant ms={atMs} />
    </li>
  );
}

function Seen({ decision }: { readonly decision: NonNullable<ServiceView["decision"]> }) {
  return (
    <>
      <p>
        It {decision.text}. <Instant ms={decision.atMs} />
      </p>
      <dl className="facts" aria-label="What the rule saw">
        {Object.entries(decision.figures).map(([name, text]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

export function Scaling({ view }: { readonly view: ServiceView }) {
  const { rule, scaled, decision, current } = view;
  const { target, scaleOutCooldownMs, scaleInCooldownMs } = current.definition.scaling;
  const queue = target !== null && "queue" in target ? target.queue : undefined;
  return (
    <section className="card" aria-label="Scaling">
      <header>
        <h2>Scaling</h2>
        {queue !== undefined && <Link href={queueHref(queue)}>{queue}</Link>}
      </header>
      <div className="inside stack">
        <p>
          {rule}
          {target !== null && (
            <span className="muted">
              {" "}
              (out at most every {durationText(scaleOutCooldownMs)}, in every{" "}
              {durationText(scaleInCooldownMs)})
            </span>
          )}
          .
        </p>
        {decision && <Seen decision={decision} />}
        {scaled.length === 0 ? (
          <p className="muted">It was never scaled.</p>
        ) : (
          <ul className="checklist">
            {scaled.map((decided) => (
              <Decision key={decided.id} decided={decided} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
