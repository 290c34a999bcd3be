// Bodies as the role may see them: what code declares as sensitive is taken out. One look-up a queue and answer.
import { maskText, type PayloadKind, type Who } from "tuntas/access";
import type { Needs } from "./needs.ts";

export type Masking = <T extends string | null>(name: string | null, body: T) => Promise<T>;

export const makeMasking = (
  { platform: { access } }: Needs,
  { role }: Who,
  kind: PayloadKind = "queue",
): Masking => {
  const known = new Map<string, ReturnType<typeof access.payload>>();
  return async (name, body) => {
    if (name === null || body === null) return body;
    const payload = known.get(name) ?? access.payload(kind, name);
    known.set(name, payload);
    return maskText(body, (await payload).sensitive, { role }) as typeof body;
  };
};
