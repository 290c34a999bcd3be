// What the parts of this application have in common.
import { z } from "zod";

export const team = { owner: "evidence-team", runbook: "runbooks/evidence-package.md" };
export const ids = z.object({ packageId: z.string() });
export const retry = { retry: { attempts: 5, base: "1s", max: "1m" } } as const;
export const migrations = { schema: "evidence", folder: new URL("../migrations/", import.meta.url) };
