import type { ServiceSummary } from "tuntas/service";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

/** As few as a circuit breaker takes for too many. */
const failuresMany = 3;

const base = ({ name }: ServiceSummary) => ({
  id: `service:${name}`,
  kind: "service" as const,
  owner: null,
  runbook: null,
  ageMs: null,
  action: { label: "Look at it", href: pageAt(`/services/${encodeURIComponent(name)}`) },
});

function decisionOf(service: ServiceSummary): Decision | undefined {
  const { name, host, revision, controlled, deployment, desired, healthy, failures, rollbackOf } = service;
  const serves = `${counted(healthy, "instance")} of ${desired} healthy`;
  if (!controlled && desired > 0)
    return {
      ...base(service),
      urgency: "now",
      title: `Nobody runs the services of ${host}`,
      detail: `${name} wants ${counted(desired, "instance")}; nothing is started or replaced until tuntas service run is`,
    };
  if (deployment === "failed")
    return {
      ...base(service),
      urgency: "now",
      title: `The deployment of ${name} failed and stands still`,
      detail: `Revision ${revision} had nothing to go back to; ${serves}`,
    };
  if (deployment === "completed" && failures >= failuresMany)
    return {
      ...base(service),
      urgency: "now",
      title: `Instances of ${name} fail again and again`,
      detail: `${failures} in a row; ${serves}`,
    };
  if (rollbackOf !== null && deployment === "completed")
    return {
      ...base(service),
      urgency: "soon",
      title: `A deployment of ${name} failed and was rolled back`,
      detail: `Revision ${revision} serves again until another is deployed`,
    };
  return undefined;
}

export const services: Look = {
  name: "services that fail, were rolled back, or that nobody runs",
  find: async ({ platform }) => (await platform.services.list()).flatMap((each) => decisionOf(each) ?? []),
};
