// The executions that this process goes on with, as they stand after their latest advance: whoever has one here need not
// read it again. What is kept is a convenience, seq says whether it still holds.
import type { ExecutionState } from "../../../asl/contract.ts";
import { coalescer } from "../../../core/coalesce.ts";
import type { Sql } from "../../../pg/contract.ts";
import { loadExecutions, type Facts, type Loaded } from "../../store/executions.ts";
import type { Definition, Definitions } from "../definitions.ts";

/** An execution as the engine holds it between two advances. */
export interface Held extends Definition {
  readonly id: string;
  readonly seq: number;
  readonly state: ExecutionState;
  readonly history: boolean;
  readonly revision: string;
  readonly processor: string | null;
}

export interface HeldExecutions {
  /** As this process last saw it. */
  get(id: string): Held | undefined;
  /** As the database has it; from then on it is held, unless what is held is newer. */
  load(id: string): Promise<Held | undefined>;
  keep(execution: Held): void;
  drop(id: string): void;
}

const heldMax = 1000;

const identityOf = ({ arn, ...facts }: Facts): ExecutionState["execution"] => ({
  id: arn,
  name: facts.name,
  roleArn: facts.roleArn,
  startTime: new Date(Math.round(facts.startedAtMs)).toISOString(),
  redriveCount: facts.redriveCount,
  ...(facts.redrivenAtMs === null
    ? {}
    : { redriveTime: new Date(Math.round(facts.redrivenAtMs)).toISOString() }),
  machineId: facts.machineArn,
  machineName: facts.machineArn.slice(facts.machineArn.indexOf(":stateMachine:") + ":stateMachine:".length),
});

function heldOf(
  { id, seq, state, revision, processor, type, ...facts }: Loaded,
  { machine, isOwn }: Definition,
): Held {
  const execution = identityOf(facts);
  const read = { execution, ...(JSON.parse(state) as Omit<ExecutionState, "execution">) };
  return { id, seq, revision, processor, history: type === "STANDARD", machine, isOwn, state: read };
}

/** The same after one more advance. */
export function advanced(held: Held, state: ExecutionState): Held {
  const { id, seq, revision, processor, history, machine, isOwn } = held;
  return { id, seq: seq + 1, revision, processor, history, machine, isOwn, state };
}

/** The state as it is kept: who the execution is stands in its own row. */
export const stateText = (state: ExecutionState): string =>
  JSON.stringify({ ...state, execution: undefined });

export function makeHeld(database: Pick<Sql, "run">, definitions: Definitions): HeldExecutions {
  const held = new Map<string, Held>();
  /** Those that went on since somebody last looked for one to let go. */
  const used = new Set<string>();

  async function loadMany(ids: readonly string[]): Promise<(Held | undefined)[]> {
    const rows = await loadExecutions(database, [...new Set(ids)]);
    const byId = new Map<string, Held>();
    for (const row of rows) {
      const { revision, processor } = row;
      const definition =
        definitions.known(revision, processor) ?? (await definitions.get(revision, processor));
      byId.set(row.id, heldOf(row, definition));
    }
    return ids.map((id) => byId.get(id));
  }

  const loads = coalescer<string, Held | undefined>({ itemsMax: 200, flushesMax: 2, flush: loadMany });

  function drop(id: string): void {
    held.delete(id);
    used.delete(id);
  }

  /** Lets go of the one that has stood longest; what went on since its turn gets another round. */
  function makeRoom(): void {
    for (const [id, execution] of held) {
      if (!used.delete(id)) return void held.delete(id);
      held.delete(id);
      held.set(id, execution);
    }
  }

  function keep(execution: Held): void {
    const { id, state } = execution;
    if (state.status !== "RUNNING") return drop(id);
    if (held.has(id)) used.add(id);
    else if (held.size >= heldMax) makeRoom();
    held.set(id, execution);
  }

  return {
    get: (id) => held.get(id),
    async load(id) {
      const found = await loads.add(id);
      const before = held.get(id);
      if (!found) drop(id);
      else if (!before || before.seq < found.seq) keep(found);
      return found;
    },
    drop,
    keep,
  };
}
