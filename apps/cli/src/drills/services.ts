// Drills upon a service: a revision that cannot start, one that is asked for its health at the wrong place, one that keeps what
// it should let go.
import { fileURLToPath } from "node:url";
import { service, type ServiceDefinition, type ServiceReport, type StopReason } from "tuntas/service";
import { checkAlarm, seen, type Drill, type Stage } from "./drill.ts";
import { onMachine } from "./machine.ts";

const megabytes = { request: 64, limit: 150 }; // MiB

interface Wish {
  readonly version: string;
  readonly misbehaviour?: string;
  readonly healthPath?: string;
}

const web = (name: string, { version, misbehaviour = "", healthPath = "/readyz" }: Wish): ServiceDefinition =>
  service(name, {
    kind: "rest",
    run: { module: fileURLToPath(new URL("instance.process.js", import.meta.url)) },
    version,
    environment: { MISBEHAVIOUR: misbehaviour },
    port: { variable: "PORT" },
    cpu: { request: 128, limit: 1024 },
    memory: megabytes,
    stopTimeout: "10s",
    healthCheck: { http: healthPath, interval: "500ms", timeout: "10s", retries: 2, startPeriod: "1s" },
    rollout: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
      deregistrationDelay: "200ms",
    },
    scaling: { fixed: 1, because: "a drill" },
  });

/** Asks the first revision's instance all the time; answers how often there was no answer. */
function customers(port: number): () => Promise<{ asked: number; refused: number }> {
  let [asked, refused] = [0, 0];
  let open = true;
  const asking = (async () => {
    while (open) {
      asked++;
      await fetch(`http://127.0.0.1:${port}/`).catch(() => refused++);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return async () => {
    open = false;
    await asking;
    return { asked, refused };
  };
}

const portOf = ({ instances }: ServiceReport): number =>
  instances.find(({ state }) => state === "running")!.port!;

/** Deploys a good revision, then a bad one over it, and notes what became of both. */
async function deployOver(
  stage: Stage,
  { name, bad, reason }: { name: string; bad: Wish; reason: StopReason },
): Promise<void> {
  const { services } = stage.platform;
  await onMachine(stage, name, async (begin) => {
    const good = await (await begin(web(name, { version: "1" }))).settled();
    stage.check("the good revision is deployed", { expected: "completed", observed: good.state });
    const stopAsking = customers(portOf(await services.describe(name)));
    const failed = await (await begin(web(name, bad))).settled();
    stage.check("the bad one fails", { expected: "failed", observed: failed.state });
    const after = await seen(
      () => services.describe(name),
      ({ revision, deployment }) => revision === 1 && deployment === "completed",
    );
    const { refused } = await stopAsking();
    stage.check("it is rolled back by the circuit breaker", {
      expected: { revision: 1, deployment: "completed" },
      observed: { revision: after.revision, deployment: after.deployment },
    });
    stage.check("the good one serves all the while: requests without an answer", {
      expected: 0,
      observed: refused,
    });
    const reasons = new Set(
      after.instances.filter(({ revision }) => revision === 2).map(({ stopReason }) => stopReason),
    );
    stage.check("why its instances stopped", {
      expected: reason,
      observed: [...reasons].join(", "), // the last one is stopped with its deployment
      ok: reasons.has(reason),
    });
  });
}

export const badImage: Drill = {
  does: "Deploys a revision whose command ends at once.",
  lesson: "A revision that cannot start is undone by itself, and nobody outside notices.",
  run: (stage) =>
    deployOver(stage, {
      name: "drill-image",
      bad: { version: "2", misbehaviour: "exits" },
      reason: "exited",
    }),
};

export const badHealth: Drill = {
  does: "Deploys a revision that is asked for its health at /wrong.",
  lesson: "Running is not ready: what never says that it is ready gets no requests, and is undone.",
  run: (stage) =>
    deployOver(stage, {
      name: "drill-health",
      bad: { version: "2", healthPath: "/wrong" },
      reason: "unhealthy",
    }),
};

export const memory: Drill = {
  does: "Runs an instance that keeps what it should let go.",
  lesson: "What grows past its limit is killed and replaced; look for what it keeps, or give it headroom.",
  async run(stage) {
    const name = "drill-memory";
    const { services } = stage.platform;
    await onMachine(stage, name, async (begin) => {
      await begin(web(name, { version: "1", misbehaviour: "leaks" }));
      const curve: number[] = [];
      const look = async () => {
        const { instances } = await services.describe(name);
        const measured = instances.map(({ memoryBytes }) => Math.round((memoryBytes ?? 0) / 2 ** 20));
        const most = Math.max(0, ...measured);
        if (most > 0 && most !== curve.at(-1)) curve.push(most);
        return instances;
      };
      const instances = await seen(
        look,
        (all) =>
          all.length > 1 && all.some(({ stopReason, exit }) => stopReason === "memory" && exit !== null),
      );
      const killed = instances.find(({ stopReason }) => stopReason === "memory");
      const most = Math.max(0, ...curve);
      stage.check("its memory is seen to rise above what it asked for", {
        expected: `more than ${megabytes.request} MiB`,
        observed: `${most} MiB`,
        ok: most > megabytes.request,
      });
      stage.check("it is killed (137 to a shell)", {
        expected: { reason: "memory", exit: "SIGKILL" },
        observed: { reason: killed?.stopReason, exit: killed?.exit },
      });
      stage.check("and replaced", {
        expected: "2 or more instances",
        observed: instances.length,
        ok: instances.length > 1,
      });
      stage.note("memory in MiB", curve);
      await checkAlarm(stage, "memory-exceeded");
    });
  },
};
