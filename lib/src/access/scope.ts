// What a key may do: `SERVICE:ACTION` or `SERVICE:ACTION@RESOURCE`, with * for any text. `sqs:SendMessage@order-*` is all
// that an API needs to send orders; `console:operator` is the role that a machine has at the console.
import type { Role } from "./contract.ts";
import { roles } from "./contract.ts";

const form = /^(sqs|states|scheduler):([A-Za-z*]{1,64})(?:@([A-Za-z0-9_.:*/-]{1,256}))?$/;

export const isScope = (text: string): boolean =>
  form.test(text) || roles.some((role) => text === `console:${role}`);

function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === text;
  const last = rest.pop()!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

export interface Wanted {
  readonly service: "sqs" | "states" | "scheduler";
  readonly action: string;
  /** The queue, machine, activity or schedule that it is about; undefined where it names none, such as a list. */
  readonly resource: string | undefined;
}

/** Whether one of the scopes covers it. A scope with a resource covers nothing that names no resource. */
export const covers = (scopes: readonly string[], wanted: Wanted): boolean =>
  scopes.some((scope) => {
    const [, service, action, resource = "*"] = form.exec(scope) ?? [];
    if (service !== wanted.service || !matches(action!, wanted.action)) return false;
    return resource === "*" || (wanted.resource !== undefined && matches(resource, wanted.resource));
  });

/** The role that a key has at the console; undefined for none. */
export const roleOf = (scopes: readonly string[]): Role | undefined =>
  roles.toReversed().find((role) => scopes.includes(`console:${role}`));
