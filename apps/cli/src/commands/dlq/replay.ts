import type { Command } from "../../command.ts";
import { actorOf, findQueue, scopeOf, withPlatform } from "../../session.ts";
import { settle } from "../operation/start.ts";
import { checkQueue, operationOptions, selectionOf } from "./filter.ts";
import { ended, planned } from "./report.ts";

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
    const [scope, to, limit] = [scopeOf(call), call.text("to"), call.count("limit")];
    const selection = {
      scope,
      filter: selectionOf(call),
      to,
      limit,
      effectChecked: call.flag("effect-checked"),
    };
    const act = { actor: actorOf(call), reason: call.required("reason") };
    const perSecond = call.count("per-second");
    return withPlatform(async (platform) => {
      await checkQueue(platform, call);
      if (to !== undefined) await findQueue(platform, scope, to);
      const { operations } = platform;
      if (call.flag("dry-run")) return planned(await operations.preview("replay", selection), "replayed");
      const skipForbidden = call.flag("skip-forbidden");
      const options = { kind: "replay", selection, perSecond, skipForbidden, ...act };
      return ended(await settle(platform, (await operations.start(options)).operation), "replayed");
    });
  },
};
