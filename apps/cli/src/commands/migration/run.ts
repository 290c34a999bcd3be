import { resolve } from "node:path";
import { planMigrations, runMigrations, type MigrationPlan, type Migrations, type Ran } from "tuntas";
import type { Answer, Call, Command } from "../../command.ts";
import { loadApplication } from "../../dev/load.ts";
import { elapsed, plural, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

async function migrationsOf(call: Call): Promise<Migrations> {
  const { migrations } = await loadApplication(resolve(call.argument(0)));
  if (migrations) return migrations;
  throw call.wrong(`expected ${call.argument(0)} to export an application with migrations`);
}

function planText({ schema, pending, alive }: MigrationPlan): string {
  if (pending.length === 0) return `The tables in ${schema} are up to date.`;
  const files = pending.map(({ name, statements, destructive }) =>
    [`${name}`, ...statements.map((each) => `  ${destructive.includes(each) ? "!" : " "} ${each}`)].join(
      "\n",
    ),
  );
  const taken = pending.some(({ destructive }) => destructive.length > 0);
  const live =
    alive.length === 0 ? "no process of the version before is alive" : `alive: ${alive.join(", ")}`;
  return [
    ...files,
    `${plural(pending.length, "file")} would run in ${schema}; ${live}.`,
    ...(taken ? ["! takes away what code of the version before may use."] : []),
  ].join("\n");
}

function ranText({ schema }: Migrations, ran: readonly Ran[]): string {
  if (ran.length === 0) return `The tables in ${schema} are up to date; nothing has run.`;
  const rows = table(ran, { file: ({ name }) => name, took: ({ ms }) => elapsed(ms) });
  return `${rows}\nThe tables in ${schema} are up to date.`;
}

async function dryRun(migrations: Migrations): Promise<Answer> {
  const plan = await withPlatform(({ database }) => planMigrations(database, migrations));
  return { document: plan, text: planText(plan) };
}

export const migrationRun: Command = {
  name: "migration run",
  summary: "Brings an application's own tables up to date, as a step of its deployment.",
  arguments: [{ name: "FILE", required: true }],
  options: {
    "dry-run": { meaning: "print what would run, and change nothing" },
    "while-running": {
      meaning: "run what drops or renames although processes of the version before are alive",
    },
  },
  examples: [
    [
      "tuntas migration run dist/app.js --dry-run",
      "the statements that would run, and which take something away",
    ],
    [
      "tuntas migration run dist/app.js",
      "before processes of the new version start; each file with its duration",
    ],
  ],
  no: "it was refused or failed; what failed has left nothing behind",
  async run(call) {
    const migrations = await migrationsOf(call);
    if (call.flag("dry-run")) return dryRun(migrations);
    const whileRunning = call.flag("while-running");
    const ran = await withPlatform(({ database, changes: { judge } }) =>
      runMigrations(database, migrations, { whileRunning, judge }),
    );
    return { document: { schema: migrations.schema, ran }, text: ranText(migrations, ran) };
  },
};
