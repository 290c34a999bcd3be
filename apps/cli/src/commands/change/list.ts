import type { Command } from "../../command.ts";
import { withPlatform } from "../../session.ts";
import { changeTable } from "./report.ts";

export const changeList: Command = {
  name: "change list",
  summary: "Lists changes of columns and messages on this system: how far each is, and what may start now.",
  examples: [["tuntas change list", "where each stands, and which releases run"]],
  run: () =>
    withPlatform(async ({ changes }) => {
      const all = await changes.list();
      return { document: all, text: changeTable(all) };
    }),
};
