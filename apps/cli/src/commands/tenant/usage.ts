import { readUsage, type Usage } from "tuntas/measure";
import type { Command } from "../../command.ts";
import { table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const daysDefault = 30;
const daysMax = 400;

const nobody = "(none said)";

const sum = (rows: readonly Usage[], of: (row: Usage) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

interface Line extends Usage {
  /** Of the time of all rows. */
  readonly share: number;
}

/** The rows with their shares, and what they come to together. */
function report(rows: readonly Usage[]): { readonly rows: readonly Line[]; readonly total: Line } {
  const [uses, seconds] = [sum(rows, (row) => row.uses), sum(rows, (row) => row.seconds)];
  const total = { tenant: "total", work: "", uses, seconds, share: 1 };
  return { rows: rows.map((row) => ({ ...row, share: seconds > 0 ? row.seconds / seconds : 0 })), total };
}

export const tenantUsage: Command = {
  name: "tenant usage",
  summary: "Shows what each tenant has used, by queue and service; the rows sum to all that was done.",
  arguments: [{ name: "TENANT", required: false }],
  options: {
    days: {
      value: "COUNT",
      meaning: `so many days up to today, in UTC; ${daysDefault} by default, ${daysMax} are kept`,
    },
    work: { value: "NAME", meaning: 'one queue, or "http SERVICE" for the requests of one service' },
  },
  examples: [
    ["tuntas tenant usage", "who used how much of what, to divide its cost by?"],
    ["tuntas tenant usage acme --days 7", "what one tenant used, in each queue and service"],
  ],
  no: "nothing was used",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const [tenant, work] = [call.positionals[0], call.text("work")];
      const rows = await readUsage(database, {
        days: call.count("days", [1, daysMax]) ?? daysDefault,
        ...(tenant !== undefined && { tenant }),
        ...(work !== undefined && { work }),
      });
      const made = report(rows);
      return {
        document: made,
        text:
          rows.length === 0
            ? "nothing was used"
            : table([...made.rows, made.total], {
                tenant: (row) => (row.tenant === "" ? nobody : row.tenant),
                "queue or service": (row) => row.work,
                "attempts or requests": (row) => row.uses,
                seconds: (row) => row.seconds.toFixed(3),
                share: (row) => `${(row.share * 100).toFixed(1)} %`,
              }),
        status: rows.length === 0 ? 1 : 0,
      };
    }),
};
