// Are the declared times in order? Reads what files export: `timing(…)`, workers with their queues, applications.
import { resolve } from "node:path";
import type { Duration } from "tuntas";
import { checkTiming, type TimingDeclaration, type TimingFinding } from "tuntas/ledger";
import type { Command } from "../command.ts";
import { loadModule } from "../dev/application.ts";

interface Exported {
  readonly kind?: unknown;
  readonly declaration?: TimingDeclaration;
  readonly parts?: Readonly<Record<string, Exported>>;
  readonly queue?: { readonly name: string; readonly options: { readonly visibilityTimeout?: Duration } };
  readonly options?: { readonly timeout?: Duration };
}

/** A worker's attempt must fit into the visibility that its queue declares for whoever receives over the wire. */
function ofWorker({ queue, options }: Exported, file: string): TimingDeclaration[] {
  const visibility = queue?.options.visibilityTimeout;
  const attempt = options?.timeout;
  if (visibility === undefined || attempt === undefined) return [];
  return [{ name: queue!.name, place: file, visibility, attempt }];
}

function declarationsOf(exported: Exported | null | undefined, file: string): TimingDeclaration[] {
  if (exported?.kind === "timing") return [exported.declaration!];
  if (exported?.kind === "worker") return ofWorker(exported, file);
  return [];
}

/** What is declared, once, whether it is exported by itself or in an application. */
const spread = (exported: Exported | undefined): (Exported | undefined)[] =>
  exported?.kind === "app" ? Object.values(exported.parts!) : [exported];

async function declarationsIn(file: string): Promise<TimingDeclaration[]> {
  const module = await loadModule(resolve(file));
  const all = new Set((Object.values(module) as (Exported | undefined)[]).flatMap(spread));
  return [...all].flatMap((exported) => declarationsOf(exported, file));
}

const describe = ({ place, message, rule, fix }: TimingFinding): string =>
  `${place ?? "somewhere"}: ${message}\n  rule: ${rule}\n  → ${fix}`;

export const check: Command = {
  name: "check",
  summary:
    "Says which declared times contradict each other: leases, heartbeats, timeouts, expiries, visibility.",
  arguments: [{ name: "FILE", required: true, many: true }],
  examples: [
    ["tuntas check app.mjs", "of an application's workers and what it declares with `timing`"],
    ["tuntas check app.mjs workflows.mjs --json", "of several files, for a script"],
  ],
  no: "times contradict each other",
  async run(call) {
    const declarations = (await Promise.all(call.positionals.map(declarationsIn))).flat();
    const findings = checkTiming(declarations);
    const text =
      findings.length === 0
        ? `${declarations.length} declarations, all in order`
        : findings.map(describe).join("\n");
    return {
      document: { declarations: declarations.length, findings },
      text,
      status: findings.length === 0 ? 0 : 1,
    };
  },
};
