// One-off commands: a run with its form, asking for one, closing it.
import type { CommandActs, CommandReads } from "../../api/index.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

export const commandReads = ({ platform: { commands } }: Needs): ReadsOf<keyof CommandReads> => ({
  "command.form": (query) => commands.get(query.text("id")),
});

export const commandActs = ({ platform: { commands } }: Needs): ActsOf<keyof CommandActs> => ({
  "command.run": {
    may: "operation.run",
    run: (body, { name: actor, role }) =>
      commands.run(body.text("name"), {
        arguments: body.named("arguments"),
        actor,
        role,
        reason: body.text("reason"),
        apply: body.flag("apply"),
        approver: body.optional("approver"),
        again: body.flag("again"),
      }),
  },
  "command.close": {
    may: "operation.run",
    run: (body, { name: actor }) =>
      commands.close(body.text("id"), {
        actor,
        reason: body.text("reason"),
        evidence: body.text("evidence"),
        invariant: body.optional("invariant"),
      }),
  },
});
