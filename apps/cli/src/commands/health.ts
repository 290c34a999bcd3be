// `tuntas health`: ten conditions under which the whole is well, as it is now, or as they change.
import { setTimeout as sleep } from "node:timers/promises";
import { makeLog, openPlatform, runUntilSignal } from "tuntas";
import type { Condition, Health } from "tuntas/readiness";
import type { Answer, Call, Command } from "../command.ts";
import { bold, instant, paragraph } from "../render.ts";
import { databaseOfEnvironment, withPlatform } from "../session.ts";

const everyMs = 10_000;

const marks: Readonly<Record<Condition["verdict"], string>> = { good: "+", bad: "!", unknown: "-" };

const lineOf = ({ says, verdict, found, remedy }: Condition): string =>
  `${marks[verdict]} ${paragraph(`${says}: ${found}`, 2)}${remedy === null ? "" : `\n  → ${paragraph(remedy, 4)}`}`;

function titleOf({ healthy, conditions }: Health): string {
  const count = (verdict: Condition["verdict"]) =>
    conditions.filter((each) => each.verdict === verdict).length;
  const unknown = count("unknown") === 0 ? "" : `, ${count("unknown")} not to be told here`;
  return `${healthy ? "healthy" : "NOT healthy"}: ${count("good")} of ${conditions.length} are so${unknown}`;
}

const answerOf = (health: Health): Answer => ({
  document: health,
  text: [bold(titleOf(health)), ...health.conditions.map(lineOf)].join("\n"),
  status: health.healthy ? 0 : 1,
});

/** Those whose verdict is another than it was. */
const changesOf = (before: Health, now: Health): readonly Condition[] =>
  now.conditions.filter(({ verdict }, index) => verdict !== before.conditions[index]!.verdict);

function changeText(before: Health, now: Health): string {
  const changed = changesOf(before, now);
  const title = `${instant(Date.now())} ${titleOf(now)}`;
  return changed.length === 0 ? "" : [title, ...changed.map(lineOf)].join("\n");
}

/** Looks again and again until it is aborted, and tells the whole at first, then what has become of it. */
async function watch(look: () => Promise<Health>, json: boolean, signal: AbortSignal): Promise<void> {
  let before: Health | undefined;
  while (!signal.aborted) {
    const now = await look();
    const text = before ? changeText(before, now) : answerOf(now).text;
    if (text !== "") process.stdout.write(`${json ? JSON.stringify(now) : text}\n`);
    before = now;
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function goOn(call: Call): Promise<undefined> {
  const { readHealth } = await import("tuntas/readiness");
  process.env.TUNTAS_LOG_LEVEL = "silent";
  const log = makeLog();
  const options = { ...databaseOfEnvironment(), name: "tuntas health", watches: false, log };
  const platform = await openPlatform(options);
  const ended = new AbortController();
  const watched = watch(() => readHealth(platform), call.flag("json"), ended.signal).finally(() =>
    platform.close(),
  );
  const stop = () => {
    ended.abort();
    return watched;
  };
  runUntilSignal(stop, { log });
  await watched;
}

export const health: Command = {
  name: "health",
  summary:
    "Judges the whole by ten conditions, as it is now: what serves has healthy instances, as many run as are wanted, of the revision that was deployed; messages, dead letters and throughput; room, what is called, ids, the way back. What is bad says what to do.",
  options: {
    watch: { meaning: "looks every ten seconds until it is stopped, and tells what has changed" },
  },
  examples: [
    ["tuntas health", "at night, first"],
    ["tuntas health --watch", "while something is being mended"],
    ["tuntas health --json", "for a script: status 1 where one is bad"],
  ],
  no: "one of the ten is bad",
  run: (call) =>
    call.flag("watch")
      ? goOn(call)
      : withPlatform(async (platform) => {
          const { readHealth } = await import("tuntas/readiness");
          return answerOf(await readHealth(platform));
        }),
};
