// Failed executions run again from where they failed.
import { isTuntasError } from "../../core/error.ts";
import type { FailedFilter, Workflows } from "../../workflow/client/index.ts";
import type { ItemResult, OperationItem, OperationKind } from "../contract.ts";

export interface RedriveSelection {
  /** The ARN of the state machine, a version or an alias of it. */
  readonly machine: string;
  readonly filter?: FailedFilter;
}

const sampleMax = 10;
const countMax = 100_000;

export function redriveKind({ executions, machines }: Workflows): OperationKind<RedriveSelection> {
  async function failed({ machine, filter = {} }: RedriveSelection, after: string, limit: number) {
    const target = await machines.resolve(machine);
    return target ? executions.failed(target.machine, filter, { after, limit }) : [];
  }

  async function apply(_: RedriveSelection, { item }: OperationItem): Promise<ItemResult> {
    const execution = await executions.find(item);
    if (!execution) return { item, outcome: "skipped", reason: "it is gone" };
    try {
      if (await executions.redrive(execution)) return { item, outcome: "done" };
      return { item, outcome: "skipped", reason: "it runs or has succeeded" };
    } catch (cause) {
      if (!isTuntasError(cause, "TUNTAS_REDRIVE_REFUSED")) throw cause;
      return { item, outcome: "refused", reason: cause.message };
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
