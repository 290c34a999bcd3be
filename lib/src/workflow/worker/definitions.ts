// Compiled machines by revision. A revision never changes, so what was compiled once stays right.
import { compileMachine, type Machine, processorOf } from "../../asl/index.ts";
import type { Json, JsonObject } from "../../asl/contract.ts";
import type { Sql } from "../../pg/contract.ts";
import { workflowErrors } from "../contract.ts";
import { functionOf } from "../definition/functions.ts";
import { findDefinition } from "../store/machines.ts";

export interface Definition {
  readonly machine: Machine;
  /** Whether handlers of an application carry out the task; undefined where none do. */
  readonly isOwn: ((resource: string, input: Json) => boolean) | undefined;
}

export interface Definitions {
  /** The machine of a revision, or the processor that a child of its map runs executes. */
  get(revision: string, processor: string | null): Promise<Definition>;
  /** The same at once, where it is known already. */
  known(revision: string, processor: string | null): Definition | undefined;
}

const knownMax = 500;

function ownBy(handlers: readonly string[] | null): Definition["isOwn"] {
  if (handlers === null || handlers.length === 0) return undefined;
  const names = new Set(handlers);
  return (resource, input) => {
    const name = functionOf(resource, input);
    return name !== undefined && names.has(name);
  };
}

export function makeDefinitions(database: Pick<Sql, "run">): Definitions {
  const known = new Map<string, Definition>();
  const underWay = new Map<string, Promise<Definition>>();

  async function load(revision: string): Promise<Definition> {
    const found = await findDefinition(database, revision);
    if (found === undefined)
      throw workflowErrors.error("TUNTAS_DEFINITION_MISSING", `revision ${revision} is not there`);
    const machine = compileMachine(JSON.parse(found.definition) as JsonObject);
    return { machine, isOwn: ownBy(found.handlers) };
  }

  function keep(key: string, definition: Definition): Definition {
    if (known.size >= knownMax) known.delete(known.keys().next().value!);
    known.set(key, definition);
    return definition;
  }

  function inside({ machine, isOwn }: Definition, processor: string): Definition {
    const path = JSON.parse(processor) as string[];
    return { isOwn, machine: path.reduce((outer, stateName) => processorOf(outer, stateName)!, machine) };
  }

  const keyOf = (revision: string, processor: string | null) =>
    processor === null ? revision : `${revision} ${processor}`;

  async function find(revision: string, processor: string | null): Promise<Definition> {
    const key = keyOf(revision, processor);
    if (processor === null) return keep(key, await load(revision));
    return keep(key, inside(await get(revision, null), processor));
  }

  /** Thousands that ask at the same moment share one look. */
  async function get(revision: string, processor: string | null): Promise<Definition> {
    const key = keyOf(revision, processor);
    const before = known.get(key);
    if (before) return before;
    const looking = underWay.get(key) ?? find(revision, processor).finally(() => underWay.delete(key));
    underWay.set(key, looking);
    return looking;
  }

  return { get, known: (revision, processor) => known.get(keyOf(revision, processor)) };
}
