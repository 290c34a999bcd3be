import { releaseByHand } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

export const reservationRelease: Command = {
  name: "reservation release",
  summary: "Gives a reservation back for a reason; its place is free at once. A confirmed one stays.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [
    [
      'tuntas reservation release 5fea7756-0ea4-451a-a703-a558b933e274 --reason "the case was opened twice"',
      "again is harmless",
    ],
  ],
  no: "it is confirmed, or there is none of that id",
  async run(call) {
    const [id, act] = [call.argument(0), actOf(call)];
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
      throw call.wrong(`expected a reservation's id (UUID), got ${JSON.stringify(id)}`);
    return withPlatform(async ({ database }) => {
      const { status, reservation } = await releaseByHand(database, id, act);
      const { kind, resource, state } = reservation;
      const text =
        status === "created" ? `released ${kind} ${resource}` : `${kind} ${resource} was ${state} already`;
      return { document: { status: status === "created" ? "released" : "unchanged", reservation }, text };
    });
  },
};
