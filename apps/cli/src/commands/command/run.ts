import type { Platform } from "tuntas";
import { accessErrors, type Role } from "tuntas/access";
import type { Call, Command } from "../../command.ts";
import { actorOf, actOptions, withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

function argumentsOf(call: Call): Record<string, string> {
  const pairs = call.texts("arg").map((text) => {
    const [, name, value] = /^([A-Za-z0-9]+)=(.*)$/su.exec(text) ?? [];
    if (name !== undefined) return [name, value!] as const;
    throw call.wrong(`--arg: expected NAME=VALUE, got ${JSON.stringify(text)}`);
  });
  const given = Object.fromEntries(pairs);
  if (Object.keys(given).length === pairs.length) return given;
  throw call.wrong("--arg: a name is there twice");
}

/** The role of the user of that name; while there are no users, whoever sits here may everything, as at the console. */
async function roleOf({ access }: Platform, name: string): Promise<Role> {
  const users = await access.users.list();
  if (users.length === 0) return "admin";
  const user = users.find((each) => each.name === name);
  if (user) return user.role;
  throw accessErrors.error(
    "TUNTAS_USER_MISSING",
    `there is no user ${JSON.stringify(name)}, so no role to run it with`,
  );
}

export const commandRun: Command = {
  name: "command run",
  summary:
    "Asks for a run of a declared one-off command, and waits for its result: a dry run unless it is to be applied.",
  arguments: [{ name: "COMMAND", required: true }],
  options: {
    arg: {
      value: "NAME=VALUE",
      meaning: "an argument; what the command does not take is refused",
      multiple: true,
    },
    apply: { meaning: "not a dry run: what it writes stays" },
    approver: { value: "NAME", meaning: "who is to approve it, where it is destructive: another person" },
    again: { meaning: "although the same has been run and has ended well" },
    key: { value: "TEXT", meaning: "the same key is the same run, however often it is asked for" },
    wait: { value: "SECONDS", meaning: "how long to wait for its end; 60 by default" },
    ...actOptions,
  },
  examples: [
    [
      'tuntas command run repair-case-ledger --arg caseId=case-98211 --reason "ticket 7"',
      "what it would do: nothing that it writes stays",
    ],
    [
      'tuntas command run repair-case-ledger --arg caseId=case-98211 --apply --approver grace --reason "ticket 7"',
      "then `command approve`, by grace",
    ],
  ],
  no: "it is refused, it failed, or has not ended in time",
  run(call) {
    const [actor, reason, given] = [actorOf(call), call.required("reason"), argumentsOf(call)];
    const signal = AbortSignal.timeout((call.count("wait", [1, 86_400]) ?? 60) * 1000);
    return withPlatform(async (platform) => {
      const { status, run } = await platform.commands.run(call.argument(0), {
        arguments: given,
        actor,
        reason,
        role: await roleOf(platform, actor),
        apply: call.flag("apply"),
        approver: call.text("approver"),
        again: call.flag("again"),
        key: call.text("key"),
      });
      if (status === "conflict") throw call.wrong(`--key: it belongs to another request, run ${run.id}`);
      await platform.operations.settled(run.id, signal);
      const answer = answerOf(await platform.commands.get(run.id));
      const ended = answer.document as { readonly state: string };
      return {
        ...answer,
        document: { status, ...ended },
        status: ended.state === "running" ? 1 : (answer.status ?? 0),
      };
    });
  },
};
