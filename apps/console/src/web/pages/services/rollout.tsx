// One deployment, batch by batch: what was started together, how each became healthy, and what went for it.
import { Link } from "wouter";
import type { BatchView, Deployment, DeploymentView } from "../../../api/index.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Instant, spanText } from "../../furniture/time.tsx";
import { DeploymentBadge } from "./badges.tsx";
import "./services.css";

type Member = BatchView["instances"][number];

function Course({ member }: { readonly member: Member }) {
  const { startedAtMs, healthyAtMs, ended } = member;
  if (ended !== null)
    return (
      <>
        <Badge tone={healthyAtMs === null ? "danger" : "idle"}>
          {healthyAtMs === null ? "failed" : "gone"}
        </Badge>{" "}
        {ended}
      </>
    );
  if (healthyAtMs === null) return <Badge tone="active">not healthy yet</Badge>;
  return <Badge tone="good">healthy after {spanText(healthyAtMs - (startedAtMs ?? healthyAtMs))}</Badge>;
}

function BatchItem({ batch, number }: { readonly batch: BatchView; readonly number: number }) {
  const { atMs, instances, replaced } = batch;
  return (
    <li>
      <span className="muted">
        Batch {number} <Instant ms={atMs} />
      </span>
      <ul>
        {instances.map((member) => (
          <li key={member.id}>
            <span className="number">Instance {member.id}</span> <Course member={member} />
          </li>
        ))}
        {replaced.length > 0 && (
          <li className="muted">
            Then {replaced.length === 1 ? "instance" : "instances"} {replaced.join(", ")} went.
          </li>
        )}
      </ul>
    </li>
  );
}

/** Who deployed what, and why. */
export function About({ deployment }: { readonly deployment: Deployment }) {
  const { revision, actor, reason, rollbackOf, startedAtMs, steadyAtMs, endedAtMs } = deployment;
  return (
    <p>
      Revision {revision}
      {rollbackOf !== null && ` again, since deployment ${rollbackOf} failed`}, by <strong>{actor}</strong>
      {reason !== null && `: ${reason}`}. <span className="muted">Begun</span> <Instant ms={startedAtMs} />
      {endedAtMs === null &&
        steadyAtMs !== null &&
        ", all healthy; it is over once its alarms have stayed quiet"}
      {endedAtMs !== null && (
        <>
          , <span className="muted">over after {spanText(endedAtMs - startedAtMs)}</span>
        </>
      )}
    </p>
  );
}

export function Batches({ deployment }: { readonly deployment: DeploymentView }) {
  const { batches, state } = deployment;
  if (batches.length === 0)
    return (
      <p className="muted">
        {state === "in_progress"
          ? "No batch has begun yet."
          : "It started nothing: the instances of its revision were still there."}
      </p>
    );
  return (
    <ol className="batches">
      {batches.map((batch, index) => (
        <BatchItem key={batch.atMs} batch={batch} number={index + 1} />
      ))}
    </ol>
  );
}

interface LatestProps {
  readonly deployment: DeploymentView;
  /** Those that would fail it. */
  readonly alarms: readonly string[];
}

export function LatestDeployment({ deployment, alarms }: LatestProps) {
  return (
    <section className="card" aria-label="Deployment">
      <header>
        <h2>Deployment {deployment.id}</h2>
        <DeploymentBadge state={deployment.state} />
      </header>
      <div className="inside stack">
        <About deployment={deployment} />
        <Batches deployment={deployment} />
        {alarms.length > 0 && (
          <p className="row muted">
            Deployments are tied to
            {alarms.map((name) => (
              <Link key={name} href={`/alarms?search=${encodeURIComponent(name)}`}>
                {name}
              </Link>
            ))}
          </p>
        )}
      </div>
    </section>
  );
}
