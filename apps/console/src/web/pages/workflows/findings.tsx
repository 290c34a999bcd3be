// What speaks for or against a redrive.
import type { Inspection, Verdict } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

export const verdictTones: Readonly<Record<Verdict, Tone>> = {
  safe: "good",
  "reconcile first": "warn",
  forbidden: "danger",
};

type Finding = Inspection["findings"][number];

export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul className="positions">
      {findings.map(({ verdict, about, message, remedy }, index) => (
        <li key={index}>
          <Badge tone={verdictTones[verdict]}>{verdict}</Badge>
          <div>
            <strong>{about}</strong> {message}
            {remedy !== undefined && <div className="muted">{remedy}</div>}
          </div>
        </li>
      ))}
    </ul>
  );
}
