import type { Command } from "../../command.ts";
import { actOptions, actOf, actorOf, actorOption } from "../../session.ts";
import { withService } from "./lookup.ts";
import { answerOf } from "./report.ts";

export const serviceStop: Command = {
  name: "service stop",
  summary:
    "Stops all instances of a service until somebody deploys or scales it, or one, which is then replaced.",
  arguments: [{ name: "SERVICE", required: true }],
  options: { instance: { value: "ID", meaning: "only this one" }, ...actOptions },
  examples: [
    [
      'tuntas service stop orders-worker --reason "the partner is down"',
      "each gets SIGTERM, and its stop timeout",
    ],
    ['tuntas service stop orders-api --instance 12 --reason "it answers slowly"', "another takes its place"],
  ],
  no: "there is no such service or instance",
  run(call) {
    const { by: actor, reason } = actOf(call);
    const instance = call.text("instance");
    if (instance !== undefined && !/^[1-9]\d{0,17}$/.test(instance))
      throw call.wrong(`--instance: expected the number of an instance, got ${JSON.stringify(instance)}`);
    return withService(call, async ({ services }, name) =>
      answerOf(
        instance === undefined
          ? await services.stop(name, { actor, reason })
          : await services.stopInstance(name, instance, { actor, reason }),
      ),
    );
  },
};

export const serviceScale: Command = {
  name: "service scale",
  summary:
    "Sets how many instances of a service are to run, within its scaling rule, which goes on from there.",
  arguments: [
    { name: "SERVICE", required: true },
    { name: "COUNT", required: true },
  ],
  options: { reason: { value: "TEXT", meaning: "why, for the record" }, ...actorOption },
  examples: [
    ["tuntas service scale orders-api 4", "four, as far as the rule allows; starts one that was stopped"],
  ],
  no: "there is no such service, or its rule does not allow it",
  run(call) {
    const count = call.argument(1);
    if (!/^\d{1,4}$/.test(count)) throw call.wrong(`expected how many, got ${JSON.stringify(count)}`);
    const act = { actor: actorOf(call), reason: call.text("reason") };
    return withService(call, async ({ services }, name) =>
      answerOf(await services.scale(name, Number(count), act)),
    );
  },
};
