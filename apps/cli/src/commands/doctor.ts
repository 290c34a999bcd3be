import { examine, type Finding } from "tuntas/doctor";
import type { Command } from "../command.ts";
import { databaseOfEnvironment } from "../session.ts";
import { portOf, portOptions } from "./serve.ts";

const marks = { ok: "ok     ", warning: "warning", problem: "PROBLEM" } as const;

const describe = ({ check, status, text, remedy }: Finding): string =>
  `${marks[status]}  ${check}: ${text}${remedy === null ? "" : `\n         → ${remedy}`}`;

export const doctor: Command = {
  name: "doctor",
  summary: "Says what is wrong here and what to do: Node, port, disk, database, old snapshots, owners.",
  options: { port: portOptions.port! },
  examples: [
    ["tuntas doctor", "before asking somebody"],
    ["DATABASE_URL=postgres://db.internal/work tuntas doctor --json", "of a database, for a script"],
  ],
  no: "there is a problem (warnings alone are 0)",
  async run(call) {
    const findings = await examine({ ...databaseOfEnvironment(), port: portOf(call) });
    const healthy = findings.every((finding) => finding.status !== "problem");
    return {
      document: { healthy, findings },
      text: findings.map(describe).join("\n"),
      status: healthy ? 0 : 1,
    };
  },
};
