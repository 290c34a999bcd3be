// Compiled machines by revision. A revision never changes, so what was compiled once stays right.
import { compileMachine, type Machine, processorOf } from "../../asl/index.ts";
import type { JsonObject } from "../../asl/contract.ts";
import type { Sql } from "../../pg/contract.ts";
import { workflowErrors } from "../contract.ts";
import { findDefinition } from "../store/machines.ts";

export interface Definitions {
  /** The machine of a revision, or the processor that a child of its map runs executes. */
  get(revision: string, processor: string | null): Promise<Machine>;
}

const knownMax = 500;

export function makeDefinitions(database: Pick<Sql, "run">): Definitions {
  const known = new Map<string, Machine>();

  async function load(revision: string): Promise<Machine> {
    const definition = await findDefinition(database, revision);
    if (definition === undefined)
      throw workflowErrors.error("TUNTAS_DEFINITION_MISSING", `revision ${revision} is not there`);
    return compileMachine(JSON.parse(definition) as JsonObject);
  }

  async function whole(revision: string): Promise<Machine> {
    const before = known.get(revision);
    if (before) return before;
    const machine = await load(revision);
    if (known.size >= knownMax) known.delete(known.keys().next().value!);
    known.set(revision, machine);
    return machine;
  }

  return {
    async get(revision, processor) {
      const machine = await whole(revision);
      if (processor === null) return machine;
      const path = JSON.parse(processor) as string[];
      return path.reduce((outer, stateName) => processorOf(outer, stateName)!, machine);
    },
  };
}
