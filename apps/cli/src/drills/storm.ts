// The storm: far more work than one instance does, before a bank that bears what three do. Scaling is judged by two things
// together: the oldest message grows younger, and the bank is not harmed.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { start } from "tuntas";
import { service, type QueueFigures, type ServiceDefinition } from "tuntas/service";
import { openBank, type BankFigures } from "./bank.ts";
import { seen, type Drill, type Stage } from "./drill.ts";
import { onMachine } from "./machine.ts";
import paymentsApp, { bankName, payments } from "./payments.ts";

const name = "drill-storm";
const burst = 100;
const everyMs = 65; // about fifteen a second: more than one instance does, fewer than three
const instances = { most: 8, borne: 3 };
const limits = { answerMs: 100, atOnce: instances.borne };
const perInstance = 1000 / limits.answerMs;
const safePerSecond = instances.borne * perInstance;
const objectiveSeconds = 3;

const paying = ({ folder }: Stage, url: string): ServiceDefinition =>
  service(name, {
    kind: "consumer-group",
    run: { module: fileURLToPath(new URL("payments.process.js", import.meta.url)) },
    environment: { TUNTAS_DATA_DIR: join(folder, "data"), DATABASE_URL: "", BANK: url },
    cpu: { request: 128, limit: 1024 },
    memory: { request: 64, limit: 512 },
    stopTimeout: "60s",
    healthCheck: { presence: true, interval: "1s", timeout: "60s", retries: 3, startPeriod: "120s" },
    rollout: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
    },
    scaling: {
      min: 1,
      max: instances.most,
      target: {
        queue: payments,
        backlogPerInstance: 10,
        oldestAge: `${objectiveSeconds}s`,
        downstream: { name: bankName, safePerSecond, perInstance, slowAbove: "5s" },
      },
      scaleOutCooldown: "0s",
      scaleInCooldown: "0s",
    },
  });

/** A moment of the storm. */
interface Moment {
  readonly atSeconds: number;
  readonly desired: number;
  readonly running: number;
  readonly backlog: number;
  readonly oldestAgeSeconds: number;
}

/** Looks at the scaling rule's figures as often as it decides; the curve has what changed, at most twice a second. */
function watcher({ platform }: Stage) {
  const [curve, reasons] = [[] as Moment[], new Set<string>()];
  const began = performance.now();
  const look = async (): Promise<Moment> => {
    const { desired, healthy, decision } = await platform.services.describe(name);
    const { backlog = 0, oldestAgeSeconds = 0 } = (decision?.figures ?? {}) as Partial<QueueFigures>;
    if (decision) reasons.add(decision.reason);
    const atSeconds = Math.round((performance.now() - began) / 500) / 2;
    const age = Math.round(oldestAgeSeconds * 10) / 10;
    const moment = { atSeconds, desired, running: healthy, backlog, oldestAgeSeconds: age };
    if (curve.at(-1)?.atSeconds !== atSeconds) curve.push(moment);
    return moment;
  };
  return { curve, reasons, look };
}

/** Sends on and on until it is told to end; answers how many were sent. */
function producing(): () => Promise<number> {
  let open = true;
  const sent = (async () => {
    let count = burst;
    await Promise.all(Array.from({ length: burst }, (_, index) => payments.send({ id: `burst-${index}` })));
    while (open) {
      await payments.send({ id: `steady-${count++}` });
      await pause(everyMs);
    }
    return count;
  })();
  return () => {
    open = false;
    return sent;
  };
}

function judge(
  stage: Stage,
  { curve, sent, figures }: { curve: readonly Moment[]; sent: number; figures: BankFigures },
): void {
  const [peak, last] = [Math.max(...curve.map(({ oldestAgeSeconds }) => oldestAgeSeconds)), curve.at(-1)!];
  stage.check("the oldest message ages, and grows young again while as many are sent", {
    expected: `above ${objectiveSeconds} s, then below it`,
    observed: `${peak} s, then ${last.oldestAgeSeconds} s`,
    ok: peak > objectiveSeconds && last.oldestAgeSeconds <= objectiveSeconds,
  });
  const { busiestSecond, mostAtOnce, refused, calls, repeated } = figures;
  stage.check("the bank is not harmed: calls at once, in its busiest second, refused", {
    expected: `at most ${limits.atOnce}, at most ${safePerSecond}, none`,
    observed: `${mostAtOnce}, ${busiestSecond}, ${refused}`,
    ok: mostAtOnce <= limits.atOnce && busiestSecond <= safePerSecond && refused === 0,
  });
  stage.check("each is paid, and once", {
    expected: { paid: sent, repeated: 0 },
    observed: { paid: calls - refused, repeated },
  });
}

/** Sends until the oldest is young again with all instances at work, then lets it end and waits for the last. */
async function weather(stage: Stage): Promise<{ curve: readonly Moment[]; sent: number }> {
  const { curve, reasons, look } = watcher(stage);
  const stop = producing();
  const calm = await seen(
    look,
    ({ running, oldestAgeSeconds, atSeconds }) =>
      running >= instances.borne &&
      oldestAgeSeconds <= objectiveSeconds &&
      curve.some((past) => past.atSeconds < atSeconds && past.oldestAgeSeconds > objectiveSeconds),
  );
  const storm = [...curve, calm];
  const sent = await stop();
  const counts = storm.map(({ desired }) => desired);
  stage.check("the desired count rises", {
    expected: [1, instances.borne],
    observed: [Math.min(...counts), Math.max(...counts)],
  });
  stage.check(`to what the bank bears, not to the rule's ${instances.most}, and says so`, {
    expected: "downstream_cap",
    observed: reasons.has("downstream_cap") ? "downstream_cap" : [...reasons].join(", "),
  });
  const after = await seen(look, ({ desired, running, backlog }) => backlog === 0 && desired + running === 2);
  stage.check("when it is over it goes back", { expected: 1, observed: after.running });
  return { curve: storm, sent };
}

export const storm: Drill = {
  does: "Sends far more than one instance does, to a service whose bank bears what three do.",
  lesson:
    "Scaling is good where the oldest grows younger and what stands behind the work is not harmed; a count that rises proves neither.",
  async run(stage) {
    const theBank = await openBank(limits);
    try {
      await using _sender = await start(paymentsApp, { platform: stage.platform, workers: false });
      await onMachine(stage, name, async (begin) => {
        await (await begin(paying(stage, theBank.url))).settled();
        const { curve, sent } = await weather(stage);
        const figures = await seen(
          async () => theBank.figures(),
          ({ calls, refused }) => calls - refused >= sent,
        );
        judge(stage, { curve, sent, figures });
        stage.note(
          "oldest age in s",
          curve.map(({ oldestAgeSeconds }) => oldestAgeSeconds),
        );
        stage.note(
          "healthy instances",
          curve.map(({ running }) => running),
        );
        stage.note("moments", curve);
        stage.note("bank", { ...figures, safePerSecond, atOnce: limits.atOnce });
      });
    } finally {
      await theBank.close();
    }
  },
};
