// The API checklist: fourteen items.
import type { ApiOf, Evidence, Facts, Item, LiveService } from "../contract.ts";
import { byDrill, byRules, met, unknown, unmet } from "../evidence.ts";

const liveOf = ({ name }: ApiOf, { services }: Facts): LiveService | undefined => services.get(name);

function instances({ options: { scaling } }: ApiOf, live: LiveService | undefined): Evidence {
  const least = "fixed" in scaling ? scaling.fixed : scaling.min;
  const looked = live ? "declaration and running instances" : "declaration";
  const now = live ? `, ${live.report.healthy} healthy now` : ", not deployed here";
  const enough = least >= 2 && (live === undefined || live.report.healthy >= 2);
  return (enough ? met : unmet)(looked, `at least ${least}${now}`);
}

function health({ options: { healthCheck } }: ApiOf, live: LiveService | undefined): Evidence {
  if (!("http" in healthCheck)) return unmet("declaration", "the health check asks no path");
  const path = healthCheck.http;
  const probed = live?.probed;
  if (/live|ping/.test(path)) return unmet("declaration", `${path} says that it lives, not that it is ready`);
  if (!probed) return met("declaration", `GET ${path}`);
  const looked = `GET ${probed.url}${path}`;
  return probed.status === 200 ? met(looked, "200") : unmet(looked, String(probed.status ?? "no answer"));
}

const breaker = ({ options: { rollout } }: ApiOf): Evidence =>
  rollout.circuitBreaker !== "off" && rollout.circuitBreaker.rollback
    ? met("declaration", "on, and it rolls back")
    : unmet("declaration", rollout.circuitBreaker === "off" ? "off" : "on, without rollback");

/** One that really took place counts; else a drill of it. */
function rollback(of: ApiOf, facts: Facts): Evidence {
  const back = liveOf(of, facts)?.report.deployments.find(
    ({ rollbackOf, state }) => rollbackOf !== null && state === "completed",
  );
  if (!back) return byDrill(facts, ["bad-image", "bad-health"]);
  return met(
    "deployments",
    `rolled back to revision ${back.revision} on ${new Date(back.startedAtMs).toISOString().slice(0, 10)}`,
  );
}

function probe(
  live: LiveService | undefined,
  of: { what: keyof Evidenced; yes: string; no: string },
): Evidence {
  const probed = live?.probed;
  if (!probed) return unknown("running instances", "none to ask");
  const looked = `a request to ${probed.url}`;
  return probed[of.what] ? met(looked, of.yes) : unmet(looked, of.no);
}
type Evidenced = Pick<NonNullable<LiveService["probed"]>, "correlated" | "measured">;

const secretName = /pass(word|wd)?$|secret|token|credential|private.?key|api.?key/i;

function secrets({ options: { environment = {} } }: ApiOf): Evidence {
  const named = Object.keys(environment).filter((name) => secretName.test(name) && environment[name] !== "");
  const looked = "environment in the declaration";
  return named.length > 0
    ? unmet(looked, `${named.join(", ")} written down there`)
    : unknown(looked, "no secret by its name; images and logs are not looked at");
}

/** What was killed at the end of its stop timeout did not end in order. */
function shutdown(of: ApiOf, facts: Facts): Evidence {
  const ended = liveOf(of, facts)?.report.instances.filter(({ state }) => state === "stopped") ?? [];
  const killed = ended.filter(({ killedAtMs, stopReason }) => killedAtMs !== null && stopReason !== "memory");
  if (killed.length > 0)
    return unmet("instances that ended", `${killed.length} killed after ${of.options.stopTimeout}`);
  return byRules(facts, {
    name: of.name,
    rules: ["drain-too-short"],
    found: `SIGTERM, then ${of.options.stopTimeout}; ${ended.length} ended, none had to be killed`,
  });
}

function downstreams(_of: ApiOf, { declared: { providers } }: Facts): Evidence {
  const named = providers.map(({ options: { name, timeout } }) => `${name} ${timeout}`);
  const found = named.length === 0 ? "none declared" : `${named.join(", ")}; other calls are not seen`;
  return unknown("providers in the application", found);
}

function size(live: LiveService | undefined, { options: { memory } }: ApiOf): Evidence {
  const most = Math.max(0, ...(live?.report.instances ?? []).map(({ memoryBytes }) => memoryBytes ?? 0));
  const now = most === 0 ? "none measured" : `${Math.round(most / 2 ** 20)} of ${memory.limit} MiB at most`;
  return unknown("memory of instances", now);
}

export const api: readonly Item<ApiOf>[] = [
  {
    id: "instances",
    says: "two instances at least",
    asks: "How many are there at least?",
    look: (of, facts) => instances(of, liveOf(of, facts)),
  },
  { id: "zones", says: "in more than one zone", asks: "On which machines or in which zones do they run?" },
  {
    id: "readiness",
    says: "asked whether it is ready",
    asks: "By which path?",
    look: (of, facts) => health(of, liveOf(of, facts)),
  },
  {
    id: "breaker",
    says: "deployments have a circuit breaker",
    asks: "What stops a bad one?",
    look: breaker,
  },
  { id: "rollback", says: "a rollback was tried", asks: "When?", look: rollback },
  {
    id: "logs",
    says: "structured logs with a correlation id",
    asks: "Does every line bear the request's correlation id?",
    look: (of, facts) =>
      probe(liveOf(of, facts), {
        what: "correlated",
        yes: "X-Correlation-Id comes back",
        no: "X-Correlation-Id does not come back",
      }),
  },
  {
    id: "metrics",
    says: "requests, latency and errors are measured",
    asks: "Where are requests, latency and errors to be seen?",
    look: (of, facts) =>
      probe(liveOf(of, facts), {
        what: "measured",
        yes: "/metrics has tuntas_http_request_seconds",
        no: "/metrics has no tuntas_http_request_seconds",
      }),
  },
  {
    id: "role",
    says: "its own role may do what it needs, no more",
    asks: "As whom does it run, in the database and outside, and what may that role do?",
  },
  {
    id: "start-role",
    says: "what starts it may do that, no more",
    asks: "As whom is it started and its image fetched, and what may that role do?",
  },
  {
    id: "secrets",
    says: "no secrets in image or logs",
    asks: "Where do its secrets come from, and what keeps them out of image and log?",
    look: secrets,
  },
  {
    id: "size",
    says: "memory and CPU sized by a load test",
    asks: "Which load test is its size from?",
    look: (of, facts) => size(liveOf(of, facts), of),
  },
  { id: "shutdown", says: "ends in order", asks: "What becomes of requests in flight?", look: shutdown },
  {
    id: "timeouts",
    says: "every call has a timeout",
    asks: "Which timeouts have the database and whatever else it calls?",
    look: downstreams,
  },
  {
    id: "retries",
    says: "retries have a budget and jitter",
    asks: "What is tried again, how often at most, and within which budget?",
  },
];
