import type { Command } from "../../command.ts";
import { actorOf, findQueue, scopeOf, withPlatform } from "../../session.ts";
import { checkQueue, operationOptions, selectionOf } from "./filter.ts";
import { abortOnInterrupt, answerOf } from "./report.ts";

export const dlqReplay: Command = {
  name: "dlq replay",
  summary: "Puts dead letters and quarantined messages back to work, once each; body and message id stay.",
  options: {
    ...operationOptions,
    to: { value: "QUEUE", meaning: "into this queue; back to where each died by default" },
    "per-second": { value: "N", meaning: "at most so many messages a second" },
    "effect-checked": { meaning: "somebody has looked whether the effect of `unknown` outcomes took place" },
    "skip-forbidden": { meaning: "leave out what a rule forbids, instead of refusing the whole" },
  },
  examples: [
    [
      'tuntas dlq replay --queue order-work --code DB_DOWN --dry-run --reason "database is back"',
      "how many would it be?",
    ],
    [
      'tuntas dlq replay --queue order-work --code DB_DOWN --per-second 20 --reason "database is back"',
      "slowly, on the record",
    ],
    [
      'tuntas dlq replay --place quarantined --outcome unknown --effect-checked --reason "not charged, see ticket 7"',
      "after a look at the other side",
    ],
  ],
  no: "a rule forbids it, nothing was selected, or it was aborted (Ctrl-C)",
  async run(call) {
    const filter = selectionOf(call);
    const reason = call.required("reason");
    const perSecond = call.count("per-second");
    const limit = call.count("limit");
    return withPlatform(async (platform) => {
      const { triage } = platform.queues;
      await checkQueue(platform, call);
      const to = call.text("to");
      const report = await triage.replay(scopeOf(call), {
        filter,
        reason,
        perSecond,
        limit,
        actor: actorOf(call),
        signal: abortOnInterrupt(),
        destination: to === undefined ? undefined : await findQueue(platform, scopeOf(call), to),
        dryRun: call.flag("dry-run"),
        effectChecked: call.flag("effect-checked"),
        skipForbidden: call.flag("skip-forbidden"),
      });
      return answerOf(report, "replayed");
    });
  },
};
