// Ten conditions under which the whole is well, as they are now; what is bad says what to do.
import type { Condition } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Failure } from "../../furniture/notice.tsx";
import "./health.css";

const badges = {
  good: <Badge tone="good">good</Badge>,
  bad: <Badge tone="danger">bad</Badge>,
  unknown: <Badge tone="idle">unknown</Badge>,
} as const;

const Line = ({ says, verdict, found, remedy }: Condition) => (
  <li>
    {badges[verdict]}
    <div>
      <h3>{says}</h3>
      <p className="muted">{found}</p>
      {remedy !== null && <p>{remedy}</p>}
    </div>
  </li>
);

export function HealthView() {
  const read = useRead("health", {}, { everyMs: 10_000 });
  const view = read.data?.value;
  if (read.error && !view) return <Failure error={read.error} />;
  if (!view) return null;
  return (
    <section className="card health" aria-label="Health">
      <h2>{view.healthy ? "The whole is healthy" : "The whole is not healthy"}</h2>
      <ol className="conditions">
        {view.conditions.map((each) => (
          <Line key={each.id} {...each} />
        ))}
      </ol>
    </section>
  );
}
