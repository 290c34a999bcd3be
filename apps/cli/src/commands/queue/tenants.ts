import type { TenantView } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { elapsed, instant, table } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";

const countDefault = 50;
const countMax = 1000;

const percent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

const breakerText = ({ state, standsUntilMs, failures }: TenantView): string => {
  if (state === "stands_still") return `stands still until ${instant(standsUntilMs)}`;
  if (state === "on_trial") return "one at a time, until one succeeds";
  return failures > 0 ? `runs; ${failures} failed in a row` : "runs";
};

/** Tenants (groups) as a table: what waits and runs of each, and what it may take. */
export const tenantTable = (tenants: readonly TenantView[]): string =>
  table(tenants, {
    "tenant (group)": ({ tenant }) => tenant,
    ready: ({ ready }) => ready,
    "in flight": ({ inFlight }) => inFlight,
    oldest: ({ oldestAgeMs }) => elapsed(oldestAgeMs),
    cap: ({ concurrency }) => concurrency,
    share: ({ share }) => percent(share),
    "a second": ({ perSecond }) => perSecond,
    breaker: breakerText,
  });

export const queueTenants: Command = {
  name: "queue tenants",
  summary: "Lists the tenants of a queue: what waits and runs of each, its cap, rate, breaker and share.",
  arguments: [{ name: "QUEUE", required: true }],
  options: {
    top: {
      value: "COUNT",
      meaning: `so many, those with most to wait for; ${countDefault} by default, ${countMax} at most`,
    },
    ...scopeOptions,
  },
  examples: [
    ["tuntas queue tenants documents", "who is noisy, who stands still, who has how much of the pool?"],
    ["tuntas queue tenants documents --top 5 --json", "the five with most to wait for"],
  ],
  no: "a tenant stands still",
  run: (call) =>
    withQueue(call, async ({ queues: { inspector } }, queue) => {
      const tenants = await inspector.tenants(queue, call.count("top", [1, countMax]) ?? countDefault);
      return {
        document: tenants,
        text: tenants.length === 0 ? `no tenant has anything in ${queue.name}` : tenantTable(tenants),
        status: tenants.some(({ state }) => state === "stands_still") ? 1 : 0,
      };
    }),
};
