// The room put together: the kinds that every installation has, the asking side, and this process's runner.
import { workAgendum, type Agendum } from "../engine/agenda.ts";
import type { Log } from "../engine/log.ts";
import type { Waker } from "../engine/wake.ts";
import type { Queues } from "../queue/client/index.ts";
import type { Services } from "../service/client.ts";
import type { Workflows } from "../workflow/client/index.ts";
import { makeOperations, operationKey, type Operations } from "./client.ts";
import { commandRule, makeCommands, type Commands } from "./command/client.ts";
import type { CommandDefinition } from "./command/contract.ts";
import { makeCommandKind } from "./command/worker.ts";
import type { OperationKind } from "./contract.ts";
import { deadLetterKinds } from "./kinds/dead-letters.ts";
import { purgeKind } from "./kinds/purge.ts";
import { redriveKind } from "./kinds/redrive.ts";
import { waitingOperations } from "./store.ts";
import { startRunner, type RunnerOptions } from "./worker.ts";

/** Wakes the runner where an operation is in nobody's hands, whether or not a notification came. */
export const operationAgenda = (waker: Waker): Agendum[] => [
  workAgendum(waitingOperations, () => waker.wake(operationKey)),
];

export interface OperationService {
  readonly operations: Operations;
  readonly commands: Commands;
  /** Carries out the runs of these commands in this process, too; answers what ends that. */
  serveCommands(all: readonly CommandDefinition[]): () => void;
  close(): Promise<void>;
}

interface ServiceOptions extends Omit<RunnerOptions, "kinds"> {
  readonly queues: Queues;
  readonly workflows: Workflows;
  readonly services: Services;
  readonly log: Log;
}

export function startOperations({ queues, workflows, ...options }: ServiceOptions): OperationService {
  const shipped = [...deadLetterKinds(queues), purgeKind(queues), redriveKind(workflows)];
  const kinds = new Map<string, OperationKind>(shipped.map((kind) => [kind.name, kind]));
  const operations = makeOperations({ ...options, kinds, rule: commandRule });
  const commandKind = makeCommandKind(options);
  const runner = startRunner({ ...options, kinds });
  return {
    operations,
    commands: makeCommands(options),
    serveCommands(all) {
      const ends = all.map((each) => operations.register(commandKind(each)));
      return () => ends.forEach((end) => end());
    },
    close: runner.close,
  };
}
