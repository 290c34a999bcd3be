// `tuntas health`: ten conditions under which the whole is well, as it is now.
import type { Condition, Health } from "tuntas/readiness";
import type { Answer, Command } from "../command.ts";
import { bold, paragraph } from "../render.ts";
import { withPlatform } from "../session.ts";

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

export const health: Command = {
  name: "health",
  summary:
    "Judges the whole by ten conditions, as it is now: what serves has healthy instances, as many run as are wanted, of the revision that was deployed; messages, dead letters and throughput; room, what is called, ids, the way back. What is bad says what to do.",
  examples: [
    ["tuntas health", "at night, first"],
    ["tuntas health --json", "for a script: status 1 where one is bad"],
  ],
  no: "one of the ten is bad",
  run: () =>
    withPlatform(async (platform) => {
      const { readHealth } = await import("tuntas/readiness");
      return answerOf(await readHealth(platform));
    }),
};
