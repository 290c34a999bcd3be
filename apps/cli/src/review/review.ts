// What a review comes to: a page in, questions that are open and smells that are sure out. Pure.
import type { Failures } from "../scaffold/failures.ts";
import { isShapeName, shapeNames, shapeOfKind, type ShapeName } from "../scaffold/shapes.ts";
import { planOf, type Plan } from "../scaffold/tests.ts";
import { asked, isAnswer, matrix, type Asked } from "./questions.ts";
import { itemsOf, ticksOf, type Page, type Tick } from "./page.ts";
import { skeletonOf } from "./skeleton.ts";
import { smellEntries, symptoms, type Smell, type SmellId, type Symptom } from "./smells.ts";

export type FindingId = SmellId | "only-a-service" | "unknown-type" | "unknown-symptom";

export interface Finding {
  readonly id: FindingId;
  /** Of the page. */
  readonly line: number;
  /** What was seen on the page. */
  readonly message: string;
  readonly why: string;
  readonly fix: readonly string[];
  readonly source?: string;
  readonly begin?: ShapeName;
  /** The beginning of a state machine. */
  readonly definition?: object;
  /** The reason that the page gives for leaving it so; null where it gives none. */
  readonly accepted: string | null;
}

/** A question that nobody has answered. */
export interface Open {
  readonly question: Asked;
  readonly asks: string;
}

export interface Review {
  readonly name: string;
  readonly approved: boolean;
  readonly shape: ShapeName | undefined;
  /** Shapes of their own inside the same feature, each with a page of its own. */
  readonly besides: readonly ShapeName[];
  readonly answers: Readonly<Partial<Record<Asked, string>>>;
  readonly open: readonly Open[];
  readonly findings: readonly Finding[];
  /** What becomes of it when something goes wrong; null where nobody has said. */
  readonly failures: Readonly<Record<keyof Failures, string | null>>;
  readonly tests: Plan;
}

type Answers = Review["answers"];
type Found = Omit<Finding, "accepted">;

function answersOf({ sections }: Page): Answers {
  const all = (Object.keys(asked) as Asked[]).map((key) => [key, sections.get(key)?.text ?? ""] as const);
  return Object.fromEntries(all.filter(([key, text]) => isAnswer(key, text)));
}

/** The first word that is a shape, else the first that leads to one: "an event enrichment worker" is a worker. */
function shapeIn(text: string): ShapeName | undefined {
  const words: readonly string[] = text.toLowerCase().match(/[a-z]+(?:-[a-z]+)*/g) ?? [];
  return words.find(isShapeName) ?? words.map(shapeOfKind).find((shape) => shape !== undefined);
}

function besidesOf({ several = "no" }: Answers, shape: ShapeName | undefined): ShapeName[] {
  if (/^no\b/i.test(several)) return [];
  return shapeNames.filter((name) => name !== shape && new RegExp(`\\b${name}\\b`, "i").test(several));
}

const units: readonly (readonly [RegExp, number])[] = [
  [/^ms$/, 0.001],
  [/^s(ec(ond)?s?)?$/, 1],
  [/^m(in(ute)?s?)?$/, 60],
  [/^h(ours?)?$/, 3600],
  [/^d(ays?)?$/, 86_400],
];

/** The longest time that the text names, in seconds; 0 where it names none. */
export function longestSeconds(text: string): number {
  const named = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)[ -]?([a-z]+)\b/g)];
  const seconds = named.map(
    ([, count, unit]) => Number(count) * (units.find(([pattern]) => pattern.test(unit!))?.[1] ?? 0),
  );
  return Math.max(0, ...seconds);
}

/** A request that takes longer is refused by `tuntas/fastify` too, where it is declared. */
const requestSecondsMax = 30;

const byTicks = ({ sure, seen, needs }: Smell, ticks: readonly Tick[]): readonly Tick[] => {
  const of = (symptom: Symptom) => ticks.filter((tick) => tick.symptom === symptom);
  const needed = needs ? of(needs) : [];
  const found = seen.flatMap(of);
  return found.length >= sure && (!needs || needed.length > 0) ? [...needed, ...found] : [];
};

function smellsOf(page: Page, shape: ShapeName | undefined, { takes = "" }: Answers): Found[] {
  const ticks = ticksOf(page);
  const definition = skeletonOf(itemsOf(page, "steps"));
  return smellEntries.flatMap(([id, smell]) => {
    const seen = byTicks(smell, ticks);
    const isLong =
      id === "request-should-be-async" && shape === "api" && longestSeconds(takes) > requestSecondsMax;
    const because = [
      ...(isLong ? [`It can run "${takes}", and a request ends after ${requestSecondsMax} s.`] : []),
      ...seen.map(({ symptom }) => symptoms[symptom!]),
    ];
    if (because.length === 0) return [];
    const line = isLong ? page.sections.get("takes")!.line : seen[0]!.line;
    const { smell: says, why, fix, begin, source } = smell;
    const drawn = begin === "workflow" && definition ? { definition } : {};
    return [{ id, line, message: `${says} ${because.join(" ")}`, why, fix, begin, source, ...drawn }];
  });
}

const speaksForIt: readonly Asked[] = ["type", "terminal", "traits", "protection", "signals"];

/** A service's name is a preference; what else a result says can be argued with. */
function onlyAService({ sections, prose }: Page, answers: Answers): Found[] {
  const alone = sections.size === 0 && !prose.includes("\n") ? prose : "";
  const service = answers.service ?? alone;
  if (service === "" || speaksForIt.some((key) => answers[key] !== undefined)) return [];
  return [
    {
      id: "only-a-service",
      line: sections.get("service")?.line ?? 1,
      message: `"${service.split("\n")[0]}" says where it runs, and nothing that would make that right.`,
      why: "Nobody can argue with a name, nor see a year later whether what spoke for it is still so.",
      fix: [
        "Say the type, and the traits of the work that decide.",
        "Say what protects its downstream, where it ends that fails for good, and what is tracked.",
      ],
      source: "https://docs.aws.amazon.com/wellarchitected/latest/framework/the-review-process.html",
    },
  ];
}

const notUnderstood = "What is not understood is not looked at.";

function unknownType({ sections }: Page, shape: ShapeName | undefined, { type }: Answers): Found[] {
  if (type === undefined || shape !== undefined) return [];
  const fix = [`Take one of ${shapeNames.join(", ")}; tuntas choose asks which.`];
  const message = `"${type}" is no shape of work.`;
  return [{ id: "unknown-type", line: sections.get("type")!.line, message, why: notUnderstood, fix }];
}

const unknownSymptoms = (page: Page, shape: ShapeName = "worker"): Found[] =>
  ticksOf(page)
    .filter(({ symptom }) => symptom === undefined)
    .map(({ text, line }) => ({
      id: "unknown-symptom",
      line,
      message: `"${text}" is none of the symptoms.`,
      why: notUnderstood,
      fix: [`Word it as the blank page does: tuntas review --blank ${shape}`],
    }));

/** `- request-should-be-async: a stream of events` under "What is meant so?". */
const acceptedIn = (page: Page, id: FindingId): string | null =>
  itemsOf(page, "meant")
    .map((item) => /^([a-z-]+):\s+(.+)$/.exec(item.replaceAll("`", "")))
    .find((found) => found?.[1] === id)?.[2] ?? null;

const matrixOf = (answers: Answers): Review["failures"] =>
  Object.fromEntries(
    Object.entries(matrix).map(([failure, question]) => [failure, answers[question] ?? null]),
  ) as Review["failures"];

export function reviewOf(page: Page): Review {
  const answers = answersOf(page);
  const shape = shapeIn(answers.type ?? "");
  const findings = [
    ...onlyAService(page, answers),
    ...unknownType(page, shape, answers),
    ...unknownSymptoms(page, shape),
    ...smellsOf(page, shape, answers),
  ].map((found) => ({ ...found, accepted: acceptedIn(page, found.id) }));
  const open = (Object.keys(asked) as Asked[])
    .filter((key) => answers[key] === undefined)
    .map((question) => ({ question, asks: asked[question] }));
  const isOfTenants = /\btenant/i.test(answers.isolation ?? "");
  const isDaemon = /\bdaemon/i.test(answers.type ?? "");
  return {
    name: page.title,
    approved: open.length === 0 && findings.every(({ accepted }) => accepted !== null),
    shape,
    besides: besidesOf(answers, shape),
    answers,
    open,
    findings,
    failures: matrixOf(answers),
    tests: shape ? planOf(shape, { tenants: isOfTenants, daemon: isDaemon }) : {},
  };
}
