import type { Deployment, InstanceView, ServiceSummary } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

type Standing = readonly [Tone, string];

function standingOf(of: ServiceSummary): Standing {
  const { active, controlled, desired, healthy, deployment } = of;
  if (!active) return ["idle", "stopped"];
  if (!controlled && desired > 0) return ["danger", "nobody runs it"];
  if (deployment === "failed") return ["danger", "failed"];
  if (deployment === "in_progress") return ["active", "deploying"];
  return healthy < desired ? ["warn", "too few"] : ["good", "steady"];
}

export function ServiceBadge({ service }: { readonly service: ServiceSummary }) {
  const [tone, text] = standingOf(service);
  return <Badge tone={tone}>{text}</Badge>;
}

const deployments: Readonly<Record<Deployment["state"], Standing>> = {
  in_progress: ["active", "under way"],
  completed: ["good", "completed"],
  failed: ["danger", "failed"],
  superseded: ["idle", "superseded"],
};

export function DeploymentBadge({ state }: Pick<Deployment, "state">) {
  const [tone, text] = deployments[state];
  return <Badge tone={tone}>{text}</Badge>;
}

function instanceStanding({ state, health }: InstanceView): Standing {
  if (state === "stopped") return ["idle", "stopped"];
  if (state === "stopping") return ["warn", "stopping"];
  if (health === "healthy") return ["good", "healthy"];
  return health === "unhealthy" ? ["danger", "unhealthy"] : ["active", "starting"];
}

export function InstanceBadge({ instance }: { readonly instance: InstanceView }) {
  const [tone, text] = instanceStanding(instance);
  return <Badge tone={tone}>{text}</Badge>;
}
