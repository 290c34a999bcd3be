// A state machine for a test that starts executions by name, without code of its own.
import type { JsonObject } from "../asl/contract.ts";
import type { Platform } from "../platform.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Target } from "./contract.ts";

/** Creates the machine; its executions are started at the answer. */
export async function machineOf(
  { workflows }: Platform,
  name: string,
  definition: JsonObject,
): Promise<Target> {
  const { machine } = await workflows.machines.create(defaultScope, {
    name,
    type: "STANDARD",
    tags: {},
    publish: false,
    definition: JSON.stringify(definition),
    roleArn: "arn:aws:iam::000000000000:role/none",
  });
  return { machine, versionArn: null, aliasArn: null };
}
