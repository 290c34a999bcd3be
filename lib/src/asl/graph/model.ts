// A machine as boxes and arrows, out of its Amazon States Language document: what every picture of it shows, as text, as a
// drawing and in the console. Nothing but this is needed to read one, so that a page need not load the language.

export interface StateSpec {
  readonly Type: string;
  readonly Resource?: string;
  readonly Parameters?: unknown;
  readonly Arguments?: unknown;
  readonly Comment?: string;
  readonly Next?: string;
  readonly End?: boolean;
  readonly Default?: string;
  readonly Choices?: readonly (Condition & { readonly Next: string })[];
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
  readonly Retry?: readonly unknown[];
  readonly Branches?: readonly ScopeSpec[];
  readonly Iterator?: ScopeSpec;
  readonly ItemProcessor?: ScopeSpec & { readonly ProcessorConfig?: { readonly Mode?: string } };
  readonly Seconds?: unknown;
  readonly Timestamp?: unknown;
}

export interface ScopeSpec {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, StateSpec>>;
}

type Condition = Readonly<Record<string, unknown>>;

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly kind: "next" | "choice" | "default" | "catch";
  readonly label: string | null;
}

export interface StateBox {
  readonly name: string;
  readonly spec: StateSpec;
  /** What stands inside: branches of a Parallel, the processor of a Map. */
  readonly inside: readonly Scope[];
}

export interface Scope {
  readonly startAt: string;
  readonly boxes: readonly StateBox[];
  readonly arrows: readonly Arrow[];
}

const shorten = (text: string, charsMax = 34): string =>
  text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text;

const operators: readonly (readonly [RegExp, string])[] = [
  [/Equals$/, "="],
  [/GreaterThan$/, ">"],
  [/GreaterThanEquals$/, "≥"],
  [/LessThan$/, "<"],
  [/LessThanEquals$/, "≤"],
  [/Matches$/, "like"],
];

/** JSONata without its braces, the brackets around the whole, and the path that every expression begins with. */
const plainly = (expression: string): string =>
  expression
    .replace(/^\{%([\s\S]*)%\}$/, "$1")
    .trim()
    .replace(/^\(([^()]*)\)$/, "$1")
    .replaceAll("$states.input.", "");

/** A choice in a few words: `approved = true`. */
export function conditionText(rule: Condition): string {
  if (typeof rule.Condition === "string") return shorten(plainly(rule.Condition));
  if (rule.Not) return shorten(`not ${conditionText(rule.Not as Condition)}`);
  for (const [word, joint] of [
    ["And", " and "],
    ["Or", " or "],
  ] as const)
    if (Array.isArray(rule[word])) return shorten((rule[word] as Condition[]).map(conditionText).join(joint));
  return shorten(comparisonText(rule));
}

const besides: readonly string[] = ["Variable", "Next", "Comment", "Assign", "Output"];

function comparisonText(rule: Condition): string {
  const comparison = Object.keys(rule).find((key) => !besides.includes(key));
  if (comparison === undefined) return "";
  const variable = String(rule.Variable ?? "").replace(/^\$\./, "");
  const value = JSON.stringify(rule[comparison]);
  if (comparison.startsWith("Is"))
    return `${variable} ${value === "true" ? "is" : "is not"} ${comparison.slice(2).toLowerCase()}`;
  const operator =
    operators.findLast(([form]) => form.test(comparison.replace(/Path$/, "")))?.[1] ?? comparison;
  return `${variable} ${operator} ${value}`;
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/lambda/, "Function"],
  [/sqs:sendMessage/, "SQS"],
  [/states:startExecution/, "Workflow"],
  [/:activity:/, "Activity"],
  [/^(arn:aws:states:::)?http/, "HTTP"],
];

/** What kind of state it is, as one says it. */
export function kindOf({ Type, Resource = "", ItemProcessor }: StateSpec): string {
  if (Type === "Map" && ItemProcessor?.ProcessorConfig?.Mode === "DISTRIBUTED") return "Distributed map";
  if (Type !== "Task") return Type;
  const kind = kinds.find(([form]) => form.test(Resource))?.[1] ?? "Task";
  return Resource.endsWith(".waitForTaskToken") ? `${kind}, waits for an answer` : kind;
}

/** Which function, activity or service a Task calls; undefined where it is only known when it runs. */
export function calledBy({ Resource = "", Parameters, Arguments }: StateSpec): string | undefined {
  const [, , service, , , ...rest] = Resource.split(":");
  if (service !== "states")
    return rest.at(0) === "function" ? rest[1] : rest.join(":") || Resource || undefined;
  if (rest[0] === "activity") return rest.slice(1).join(":");
  if (rest[0] !== "lambda") return rest.join(":").replace(/\.(waitForTaskToken|sync.*)$/, "");
  const named = ((Parameters ?? Arguments) as { FunctionName?: unknown } | undefined)?.FunctionName;
  if (typeof named !== "string" || named.startsWith("{%")) return undefined;
  const [name, ...more] = named.split(":");
  return more.length > 1 ? more[more.indexOf("function") + 1] : name;
}

/** What a state does, in one line: its kind, and what it calls where its name does not say so. */
export function factText(name: string, spec: StateSpec): string {
  const kind = kindOf(spec);
  if (spec.Type === "Wait" && typeof spec.Seconds === "number") return `Wait ${spec.Seconds} s`;
  const called = spec.Type === "Task" ? calledBy(spec) : undefined;
  return called === undefined || called === name ? kind : `${kind} · ${called}`;
}

function arrowsOf(name: string, spec: StateSpec): Arrow[] {
  const to = (target: string, kind: Arrow["kind"], label: string | null): Arrow => ({
    from: name,
    to: target,
    kind,
    label,
  });
  return [
    ...(spec.Choices ?? []).map((rule) => to(rule.Next, "choice", conditionText(rule))),
    ...(spec.Default === undefined ? [] : [to(spec.Default, "default", "otherwise")]),
    ...(spec.Next === undefined ? [] : [to(spec.Next, "next", null)]),
    ...(spec.Catch ?? []).map((rule) => to(rule.Next, "catch", shorten(rule.ErrorEquals.join(", "), 28))),
  ];
}

/** Two ways to the same state are one arrow. */
function merged(arrows: readonly Arrow[]): Arrow[] {
  const known = new Map<string, Arrow>();
  for (const arrow of arrows) {
    const key = `${arrow.from}\n${arrow.to}`;
    const before = known.get(key);
    const label = [before?.label, arrow.label].filter(Boolean).join(" or ");
    known.set(key, before ? { ...before, label: shorten(label) || null } : arrow);
  }
  return [...known.values()];
}

export function scopeOf({ StartAt, States }: ScopeSpec): Scope {
  const boxes = Object.entries(States).map(([name, spec]): StateBox => {
    const processor = spec.ItemProcessor ?? spec.Iterator;
    const inside = [...(spec.Branches ?? []), ...(processor ? [processor] : [])].map(scopeOf);
    return { name, spec, inside };
  });
  const arrows = merged(boxes.flatMap(({ name, spec }) => arrowsOf(name, spec)));
  return { startAt: StartAt, boxes, arrows: arrows.filter(({ to }) => to in States) };
}

/** Undefined where the text is no machine. */
export function machineOf(definition: string): Scope | undefined {
  try {
    const parsed = JSON.parse(definition) as Partial<ScopeSpec>;
    return parsed.States && parsed.StartAt ? scopeOf(parsed as ScopeSpec) : undefined;
  } catch {
    return undefined;
  }
}

/** The specification of a state, wherever it is nested. */
export function specOf(scope: Scope, name: string): StateSpec | undefined {
  for (const box of scope.boxes) {
    if (box.name === name) return box.spec;
    for (const inner of box.inside) {
      const found = specOf(inner, name);
      if (found) return found;
    }
  }
  return undefined;
}
