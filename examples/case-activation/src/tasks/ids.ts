// What every step gets: which case. It loads the rest itself, as it is now.
import { z } from "zod";

export const caseIds = z.object({ caseId: z.string().min(1) });
export type CaseIds = z.infer<typeof caseIds>;

/** Under this name the workflow acts upon a case. */
export const actorOf = ({ stateName }: { readonly stateName: string }): string =>
  `CaseActivation ${stateName}`;
