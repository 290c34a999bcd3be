// A machine as boxes and arrows, out of its Amazon States Language document.

export interface StateSpec {
  readonly Type: string;
  readonly Resource?: string;
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

/** A choice in a few words: `$.approved = true`. */
export function conditionText(rule: Condition): string {
  if (typeof rule.Condition === "string") return shorten(rule.Condition.replace(/^\{%\s*|\s*%\}$/g, ""));
  if (rule.Not) return shorten(`not ${conditionText(rule.Not as Condition)}`);
  for (const [word, joint] of [
    ["And", " and "],
    ["Or", " or "],
  ] as const)
    if (Array.isArray(rule[word])) return shorten((rule[word] as Condition[]).map(conditionText).join(joint));
  const comparison = Object.keys(rule).find(
    (key) => !["Variable", "Next", "Comment", "Assign"].includes(key),
  );
  if (comparison === undefined) return "";
  const variable = String(rule.Variable ?? "").replace(/^\$\./, "");
  const value = JSON.stringify(rule[comparison]);
  if (comparison.startsWith("Is"))
    return shorten(`${variable} ${value === "true" ? "is" : "is not"} ${comparison.slice(2).toLowerCase()}`);
  const operator =
    operators.findLast(([form]) => form.test(comparison.replace(/Path$/, "")))?.[1] ?? comparison;
  return shorten(`${variable} ${operator} ${value}`);
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
