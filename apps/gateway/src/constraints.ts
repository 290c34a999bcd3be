// What an input breaks of its service's model, said as AWS says it: all at once, each with the member's path. What is of
// another type never comes here (protocol/json.ts). Source: messages of ValidationException, recorded.
import type { Ruled, Term } from "./rule.ts";
import type { ListShape, Shape, Structure } from "./shape.ts";

type Given = Readonly<Record<string, unknown>>;

/** `FlexibleTimeWindow` is said `flexibleTimeWindow`. */
const spelled = (member: string): string => member.charAt(0).toLowerCase() + member.slice(1);

/** A value as the service prints it. */
function printed(shape: Shape, value: unknown): string {
  if (shape.kind === "list")
    return `[${(value as readonly unknown[]).map((each) => printedEntry(shape, each)).join(", ")}]`;
  return String(value);
}

function printedEntry({ element, of }: ListShape, value: unknown): string {
  if (of.kind !== "structure") return printed(of, value);
  const members = Object.keys(of.members).map((member) => `${member}=${(value as Given)[member]}`);
  return `${element}(${members.join(", ")})`;
}

const failed = (what: string, path: string, says: string): string =>
  `Value ${what}at '${path}' failed to satisfy constraint: ${says}`;

const isBroken =
  (value: unknown) =>
  ({ holds }: Term): boolean =>
    !holds(value as Ruled);

function* ofEntries(shape: ListShape, values: readonly unknown[], path: string): Generator<string> {
  const { of } = shape;
  if (of.kind === "structure")
    for (const [index, value] of values.entries()) yield* faultsOf(of, value, `${path}.${index + 1}.member`);
  const terms = "terms" in of ? of.terms : [];
  if (values.some((value) => terms.some(isBroken(value)))) {
    const all = terms.map(({ says }) => says).join(", ");
    yield failed(`'${printed(shape, values)}' `, path, `Member must satisfy constraint: [${all}]`);
  }
}

function* ofMembers({ members, required }: Structure, given: Given, path: string): Generator<string> {
  const pathOf = (member: string) => `${path === "" ? "" : `${path}.`}${spelled(member)}`;
  for (const member of required)
    if (given[member] === undefined) yield failed("null ", pathOf(member), "Member must not be null");
  for (const [member, value] of Object.entries(given))
    if (members[member] && value !== undefined) yield* faultsOf(members[member], value, pathOf(member));
}

function* faultsOf(shape: Shape, value: unknown, path: string): Generator<string> {
  if (shape.kind === "structure") return yield* ofMembers(shape, value as Given, path);
  if ("terms" in shape)
    for (const { says } of shape.terms.filter(isBroken(value)))
      yield failed(shape.rule.secret ? "" : `'${printed(shape, value)}' `, path, says);
  if (shape.kind === "list") yield* ofEntries(shape, value as readonly unknown[], path);
}

/** What is wrong with the input, in one sentence; undefined where nothing is. */
export function validate(shape: Structure, input: Given): string | undefined {
  const found = [...faultsOf(shape, input, "")];
  if (found.length === 0) return undefined;
  return `${found.length} validation error${found.length === 1 ? "" : "s"} detected: ${found.join("; ")}`;
}
