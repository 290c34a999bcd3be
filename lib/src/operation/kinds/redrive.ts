// Failed executions run again from where they failed.
import { isTuntasError } from "../../core/error.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import type { FailedFilter, Workflows } from "../../workflow/client/index.ts";
import type { Act, ItemResult, OperationItem, OperationKind } from "../contract.ts";

export interface RedriveSelection {
  /** The ARN of the state machine, a version or an alias of it. */
  readonly machine: string;
  readonly filter?: FailedFilter;
  /** A person's word that what was to be reconciled first has been. */
  readonly reconciled?: boolean;
}

const sampleMax = 10;
const countMax = 100_000;

const failures: ReadonlySet<string> = new Set(["FAILED", "TIMED_OUT", "ABORTED"]);

function outcomeOf(cause: unknown): Pick<ItemResult, "outcome" | "reason"> {
  if (isTuntasError(cause, "TUNTAS_REDRIVE_CHANGED")) return { outcome: "skipped", reason: cause.message };
  if (isTuntasError(cause, "TUNTAS_REDRIVE_FORBIDDEN") || isTuntasError(cause, "TUNTAS_REDRIVE_REFUSED"))
    return { outcome: "refused", reason: cause.message };
  throw cause;
}

export function redriveKind({ executions, machines, redrives }: Workflows): OperationKind<RedriveSelection> {
  async function failed({ machine, filter = {} }: RedriveSelection, after: string, limit: number) {
    const target = await machines.resolve(machine);
    return target ? executions.failed(target.machine, filter, { after, limit }) : [];
  }

  /** Each is looked at by itself, as one that is redriven alone. */
  async function apply(
    { reconciled = false }: RedriveSelection,
    { item }: OperationItem,
    { actor, reason }: Act,
  ): Promise<ItemResult> {
    const execution = await executions.find(item);
    if (!execution || !failures.has(execution.status))
      return { item, outcome: "skipped", reason: "it runs, has succeeded or is gone" };
    const { verdict, domain } = await redrives.inspect(item);
    if (domain.known === "not read here" && !reconciled)
      throw new Unavailable(
        `only a process that runs the application of ${item} can tell how its row stands`,
      );
    try {
      await redrives.redrive(item, { by: actor, reason, seen: verdict, reconciled });
      return { item, outcome: "done" };
    } catch (cause) {
      return { item, ...outcomeOf(cause) };
    }
  }

  return {
    name: "redrive",
    async survey(selection) {
      const frozen = { ...selection, filter: executions.freeze(selection.filter ?? {}) };
      const found = await failed(frozen, "0", countMax);
      return {
        selection: frozen,
        count: found.length,
        forbidden: [],
        sample: found.slice(0, sampleMax).map(({ arn }) => arn),
      };
    },
    async page(selection, after, limit) {
      const found = await failed(selection, after ?? "0", limit);
      return { items: found.map(({ id, arn }) => ({ item: arn, cursor: id })), end: found.length < limit };
    },
    apply,
  };
}
