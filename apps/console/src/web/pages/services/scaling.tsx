// The scaling rule, what it sees now, and what it and people decided last.
import { Link } from "wouter";
import type { ServiceView } from "../../../api/index.ts";
import { durationText, Instant } from "../../furniture/time.tsx";
import { queueHref } from "../queues/links.ts";

type Decided = ServiceView["scaled"][number];

const text = (detail: Decided["detail"], name: string): string => String(detail[name] ?? "");

function Decision({ decided: { atMs, detail }, unit }: { readonly decided: Decided; readonly unit: string }) {
  return (
    <li>
      <span className="number">
        {text(detail, "from")} → {text(detail, "to")}
      </span>
      <span>
        by {text(detail, "by")}
        {detail.figure !== undefined && ` at ${text(detail, "figure")} ${unit}`}
      </span>
      <Instant ms={atMs} />
    </li>
  );
}

export function Scaling({ view }: { readonly view: ServiceView }) {
  const { rule, scaled, figure, current } = view;
  const { target, scaleOutCooldownMs, scaleInCooldownMs } = current.definition.scaling;
  const queue = target !== null && "queue" in target ? target.queue : undefined;
  const unit = queue === undefined ? "%" : "messages";
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
            <>
              ; now at{" "}
              {figure === null
                ? "nothing measured yet"
                : `${Math.round(figure).toLocaleString("en")} ${unit}`}
              <span className="muted">
                {" "}
                (out at most every {durationText(scaleOutCooldownMs)}, in every{" "}
                {durationText(scaleInCooldownMs)})
              </span>
            </>
          )}
          .
        </p>
        {scaled.length === 0 ? (
          <p className="muted">It was never scaled.</p>
        ) : (
          <ul className="checklist">
            {scaled.map((decided) => (
              <Decision key={decided.id} decided={decided} unit={unit} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
