// Which releases go together at which step of a change, and what comes next. Pure.
import type { Verdict } from "../pg/migrate/application/contract.ts";
import {
  changeErrors,
  stepsOf,
  type ChangeKind,
  type ChangeReport,
  type ChangeSpec,
  type ChangeStep,
  type LiveRelease,
  type Release,
} from "./contract.ts";
import { difference, isSameShape } from "./shape.ts";

/** What may start at a step; "" is before the first. A release stands where whatever runs beside it still does right. */
const mayStartAt: Readonly<Record<ChangeKind, Readonly<Record<string, readonly Release[]>>>> = {
  column: {
    "": ["old"],
    added: ["old", "both"],
    written: ["both"],
    filled: ["both", "switched"],
    // Both write both columns.
    read: ["both", "switched"],
    // What the new release writes lacks the old column: nobody may read that any more.
    verified: ["switched", "new"],
    removed: ["new"],
  },
  message: {
    "": ["old", "both"],
    taken: ["both"],
    checked: ["both", "switched"],
    // From here on what was sent earlier is what may be of the old shape.
    sent: ["switched"],
    watched: ["switched"],
    drained: ["switched", "new"],
  },
};

/** What all live processes must be before a step counts as reached; every step but `added` asks for at least one. */
const runsAt: Readonly<Record<ChangeStep, readonly Release[]>> = {
  added: ["old", "both"],
  written: ["both"],
  filled: ["both"],
  read: ["switched"],
  verified: ["switched"],
  removed: ["new"],
  taken: ["both"],
  checked: ["both"],
  sent: ["switched"],
  watched: ["switched"],
  drained: ["switched"],
};

const all = (kind: ChangeKind): readonly ChangeStep[] => stepsOf[kind];

export const mayStart = (kind: ChangeKind, step: ChangeStep | null): readonly Release[] =>
  mayStartAt[kind][step ?? ""]!;

export const lastOf = (kind: ChangeKind): ChangeStep => all(kind).at(-1)!;

/** Null where it is over. */
export const nextOf = (kind: ChangeKind, step: ChangeStep | null): ChangeStep | null =>
  all(kind)[step === null ? 0 : all(kind).indexOf(step) + 1] ?? null;

/** The first step at which a release may start; null is before the first. */
export const neededBy = (kind: ChangeKind, release: Release): ChangeStep | null =>
  [null, ...all(kind)].find((step) => mayStart(kind, step).includes(release))!;

/** Errors: TUNTAS_CHANGE_SKIPPED where it is over, or another step than the next one is asked for. */
export function nextStep(
  {
    name,
    kind,
    step,
  }: { readonly name: string; readonly kind: ChangeKind; readonly step: ChangeStep | null },
  asked: string | undefined,
): ChangeStep {
  const next = nextOf(kind, step);
  const stands = step === null ? "has not begun" : `is ${step}`;
  if (next === null) throw changeErrors.error("TUNTAS_CHANGE_SKIPPED", `${name} ${stands}: it is over`);
  if (asked === undefined || asked === next) return next;
  throw changeErrors.error("TUNTAS_CHANGE_SKIPPED", `${name} ${stands}: expected ${next} next, got ${asked}`);
}

/** The step before, to which a change goes back; null is before the first. Errors: TUNTAS_CHANGE_SKIPPED. */
export function earlierStep(
  {
    name,
    kind,
    step,
  }: { readonly name: string; readonly kind: ChangeKind; readonly step: ChangeStep | null },
  asked: string,
): ChangeStep | null {
  const earlier = [null, ...all(kind)].slice(0, step === null ? 0 : all(kind).indexOf(step) + 1);
  const found = earlier.find((each) => (each ?? "none") === asked);
  if (found !== undefined) return found;
  const known = earlier.map((each) => each ?? "none").join(", ");
  throw changeErrors.error(
    "TUNTAS_CHANGE_SKIPPED",
    `${name}: expected one of ${known || "no step"}, got ${asked}`,
  );
}

const wrongLive = (live: readonly LiveRelease[], wanted: readonly Release[]): string[] =>
  live
    .filter(({ release }) => !wanted.includes(release))
    .map(({ process, release }) => `${process} runs release ${release}, expected ${wanted.join(" or ")}`);

/** What of the running processes stands against a step. */
export const lacksOfLive = (step: ChangeStep, live: readonly LiveRelease[]): string[] =>
  live.length === 0 && step !== "added"
    ? [`no process is alive that runs release ${runsAt[step].join(" or ")}`]
    : wrongLive(live, runsAt[step]);

/** What of the running processes stands against going back to a step. */
export const lacksToGoBack = (
  kind: ChangeKind,
  step: ChangeStep | null,
  live: readonly LiveRelease[],
): string[] => wrongLive(live, mayStart(kind, step));

/** What a change is of: the queue, or the schema of the tables. Applications say which of these they use. */
export const thingOf = (spec: ChangeSpec): string =>
  spec.kind === "message" ? `queue ${spec.queue}` : `schema ${spec.table.split(".")[0]}`;

/** Whether two declarations are of one change; how it is carried out may be declared anew. A schema may be written otherwise. */
export function isSame(one: ChangeSpec, other: ChangeSpec): boolean {
  if (one.kind === "message")
    return (
      other.kind === "message" &&
      one.queue === other.queue &&
      isSameShape(one.from, other.from) &&
      isSameShape(one.to, other.to)
    );
  const ofColumn = (spec: ChangeSpec) => spec.kind === "column" && [spec.table, spec.from, spec.to].join(" ");
  return ofColumn(one) === ofColumn(other);
}

/** What a change is of, for a person. */
export const textOf = (spec: ChangeSpec): string =>
  spec.kind === "column"
    ? `${spec.table}.${spec.from} → ${spec.to}`
    : `messages of ${spec.queue} (${difference(spec.from, spec.to)})`;

const escaped = (name: string): string => name.replaceAll(/[^a-z0-9_]/g, "\\$&");

/** What a statement of a migration, bare, does to the columns of a change. */
function touches(statement: string, spec: ChangeSpec): "takes the old away" | "demands the new" | undefined {
  if (spec.kind !== "column") return undefined;
  const [schema, table] = spec.table.split(".").map(escaped) as [string, string];
  const on = new RegExp(`^alter table (if exists )?(only )?(${schema}\\.)?${table}\\b`, "i");
  if (!on.test(statement)) return undefined;
  const away = `\\b(drop|rename) (column )?(if exists )?${escaped(spec.from)}\\b`;
  if (new RegExp(away, "i").test(statement)) return "takes the old away";
  const demand = `\\balter (column )?${escaped(spec.to)} set not null\\b`;
  return new RegExp(demand, "i").test(statement) ? "demands the new" : undefined;
}

/** Whether a statement takes one thing away and no more. */
const takesOne = (statement: string): boolean =>
  [...statement.matchAll(/\b(drop|rename|truncate)\b/gi)].length === 1;

/** What is recorded of the steps before and at this one; nothing before the first. */
export const stepsUpTo = (
  { kind, steps }: { readonly kind: ChangeKind; readonly steps: ChangeReport["steps"] },
  step: ChangeStep | null,
): ChangeReport["steps"] =>
  Object.fromEntries(Object.entries(steps).filter(([each]) => hasCome(kind, step, each as ChangeStep)));

/** Whether a change has come to this step. */
export const hasCome = (kind: ChangeKind, step: ChangeStep | null, to: ChangeStep): boolean =>
  step !== null && all(kind).indexOf(step) >= all(kind).indexOf(to);

interface Standing extends Pick<ChangeReport, "name" | "spec" | "step" | "live"> {
  readonly kind: ChangeKind;
}

/** What changes that have begun say to a statement of a migration: whether nobody needs what it takes, and why. */
export function verdictOf(statement: string, changes: readonly Standing[]): Verdict | undefined {
  for (const { name, spec, kind, step, live } of changes) {
    const does = touches(statement, spec);
    if (does === undefined || step === null) continue;
    const [needs, wanted]: [ChangeStep, readonly Release[]] =
      does === "demands the new" ? ["written", ["both", "switched", "new"]] : ["verified", ["new"]];
    const stands = `change ${name} is ${step}`;
    if (!hasCome(kind, step, needs)) return { free: false, why: `${stands}, expected ${needs}` };
    const others = wrongLive(live, wanted);
    if (others.length > 0) return { free: false, why: `${stands}, and ${others.join(", ")}` };
    return takesOne(statement) ? { free: true, why: stands } : undefined;
  }
  return undefined;
}
