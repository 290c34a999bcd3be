// `tuntas lab stop`: nothing of what is deployed runs on, where it costs and nobody uses it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "tuntas";
import type { ServiceSummary } from "tuntas/service";
import type { Answer, Command } from "../../command.ts";
import { plural, table } from "../../render.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

const waitDefault = 120;
const lookMs = 250;

const runningOf = (all: readonly ServiceSummary[]): number =>
  all.reduce((sum, { running }) => sum + running, 0);

/** The services once none of their instances runs, or as they are when the time is over. */
async function whenStopped({ services }: Platform, waitMs: number): Promise<ServiceSummary[]> {
  const untilMs = performance.now() + waitMs;
  let all = await services.list();
  while (runningOf(all) > 0 && performance.now() < untilMs) {
    await sleep(lookMs);
    all = await services.list();
  }
  return all;
}

function answerOf(stopped: readonly string[], all: readonly ServiceSummary[]): Answer {
  const running = runningOf(all);
  const left = all.filter((each) => each.running > 0);
  const rows = table(left, {
    SERVICE: (each) => each.name,
    RUNNING: (each) => each.running,
    ON: ({ host, controlled }) => (controlled ? host : `${host} (nobody runs it: tuntas service run)`),
  });
  return {
    document: { stopped, running, services: all },
    text: `${plural(stopped.length, "service")} stopped, ${plural(running, "instance")} running${running > 0 ? `\n${rows}` : ""}`,
    status: running === 0 ? 0 : 1,
  };
}

export const labStop: Command = {
  name: "lab stop",
  summary:
    "Stops every service of this database, and waits until none of their instances runs: each stays stopped until somebody deploys or scales it. What waits in queues stays there.",
  options: {
    wait: { value: "SECONDS", meaning: `how long to wait for the last of them; ${waitDefault} by default` },
    ...actOptions,
  },
  examples: [
    ['tuntas lab stop --reason "nobody tries anything tonight"', "then nothing runs, and nothing costs"],
    ["tuntas service scale orders-api 1", "in the morning, for each that is wanted"],
  ],
  no: "an instance runs still",
  async run(call) {
    const { by: actor, reason } = actOf(call);
    const waitMs = (call.count("wait", [0, 3600]) ?? waitDefault) * 1000;
    return withPlatform(async (platform) => {
      const active = (await platform.services.list()).filter((each) => each.active);
      for (const { name } of active) await platform.services.stop(name, { actor, reason });
      const all = await whenStopped(platform, waitMs);
      return answerOf(
        active.map(({ name }) => name),
        all,
      );
    });
  },
};
