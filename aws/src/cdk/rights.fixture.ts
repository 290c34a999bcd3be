// Who may do what by a template: IAM's answer, as far as statements that only allow have one.
import type { Template } from "./stacks.fixture.ts";

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`).test(text);

/** The statements of a role, its own and those of policies attached to it. */
function statementsOf({ Resources }: Template, role: string): Statement[] {
  const own = Resources[role]!.Properties.Policies ?? [];
  const attached = Object.values(Resources)
    .filter(
      ({ Type, Properties }) =>
        Type === "AWS::IAM::Policy" && Properties.Roles.some((each: { Ref: string }) => each.Ref === role),
    )
    .map(({ Properties }) => Properties);
  return [...own, ...attached].flatMap(({ PolicyDocument }) => PolicyDocument.Statement as Statement[]);
}

/** The ids of all roles whose id holds this. */
export const rolesOf = ({ Resources }: Template, part = ""): string[] =>
  Object.keys(Resources).filter((id) => Resources[id]!.Type === "AWS::IAM::Role" && id.includes(part));

/** Whether the role may do this, upon the resource with that id. */
export const may = (template: Template, role: string, action: string, on: string): boolean =>
  statementsOf(template, role).some(
    ({ Action, Resource }) =>
      listOf(Action).some((each) => matches(String(each), action)) &&
      listOf(Resource).some((each) => each === "*" || JSON.stringify(each).includes(`"${on}"`)),
  );

/** All that a role may do, upon whatever. */
export const actionsOf = (template: Template, role: string): string[] =>
  [...new Set(statementsOf(template, role).flatMap(({ Action }) => listOf(Action).map(String)))].toSorted();

/** What a role may do upon anything at all. */
export const onAnything = (template: Template, role: string): string[] =>
  statementsOf(template, role)
    .filter(({ Resource }) => listOf(Resource).includes("*"))
    .flatMap(({ Action }) => listOf(Action).map(String));
