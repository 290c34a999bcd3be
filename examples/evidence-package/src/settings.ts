// What the parts of this application have in common.
import type { Context } from "tuntas";
import { z } from "zod";
import type { Tx } from "./store.ts";

export const team = { owner: "evidence-team", runbook: "runbooks/evidence-package.md" };
export const ids = z.object({ packageId: z.string() });
export const retry = { retry: { attempts: 5, base: "1s", max: "1m" } } as const;
export const migrations = { schema: "evidence", folder: new URL("../migrations/", import.meta.url) };

/** Reads in a transaction of its own, which is over before what takes long begins. */
export const readThrough = <T>(database: Context["database"], read: (tx: Tx) => Promise<T>): Promise<T> =>
  database.transaction(({ client }) => read(client));
