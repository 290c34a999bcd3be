// Bodies as the role may see them: what code declares as sensitive is taken out. One look-up a queue and answer.
import { maskText, type Who } from "tuntas/access";
import type { Needs } from "./needs.ts";

export type Masking = <T extends string | null>(queue: string | null, body: T) => Promise<T>;

export const makeMasking = ({ platform: { access } }: Needs, { role }: Who): Masking => {
  const known = new Map<string, ReturnType<typeof access.sensitivePaths>>();
  return async (queue, body) => {
    if (queue === null || body === null) return body;
    const paths = known.get(queue) ?? access.sensitivePaths("queue", queue);
    known.set(queue, paths);
    return maskText(body, await paths, { role }) as typeof body;
  };
};
