import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";
import type { StartPattern } from "./command.ts";

export interface StartRow {
  readonly commandId: string;
  readonly pattern: StartPattern;
  readonly workflow: string;
  readonly executionName: string;
  readonly input: string;
  readonly state: "requested" | "started" | "manual";
  readonly executionArn: string | null;
}

const columns = `command_id as "commandId", pattern, workflow, execution_name as "executionName", input, state, execution_arn as "executionArn"`;

const insert = statement(
  `insert into tuntas.workflow_start (command_id, pattern, workflow, execution_name, input, state, created_at)
   values ($1, $2, $3, $4, $5, 'requested', tuntas.now()) on conflict do nothing returning ${columns}`,
);

export type NewStart = Pick<StartRow, "commandId" | "pattern" | "workflow" | "executionName" | "input">;

/** Records a start; undefined where the command or the name has one. */
export async function insertStart(tx: Runner, start: NewStart): Promise<StartRow | undefined> {
  const { commandId, pattern, workflow, executionName, input } = start;
  return (await tx.run<StartRow & {}>(insert, [commandId, pattern, workflow, executionName, input]))[0];
}

const find = statement(
  `select ${columns} from tuntas.workflow_start where command_id = $1 or (workflow = $2 and execution_name = $3)`,
);

export const findStarts = (
  tx: Runner,
  { commandId, workflow, executionName }: NewStart,
): Promise<StartRow[]> => tx.run<StartRow & {}>(find, [commandId, workflow, executionName]);

const started = statement(
  `update tuntas.workflow_start set state = 'started', execution_arn = $3, started_at = tuntas.now(), failure_message = null
   where workflow = $1 and execution_name = $2 and state <> 'started' returning ${columns}`,
);

/** Notes that the execution exists; a repeat changes nothing. */
export const markStarted = (
  tx: Runner,
  { workflow, executionName }: Pick<StartRow, "workflow" | "executionName">,
  arn: string | undefined,
) => tx.run<StartRow & {}>(started, [workflow, executionName, arn ?? null]);

const failed = statement(
  `update tuntas.workflow_start set failure_message = $2, state = case when $3::boolean then 'manual' else state end
   where command_id = $1 and state = 'requested' returning command_id`,
);

/** Notes why a start did not succeed; `manual` leaves it to a person. */
export const markFailed = (
  tx: Runner,
  commandId: string,
  { message, manual }: { message: string; manual: boolean },
) => tx.run(failed, [commandId, message, manual]);

const missing = statement(
  `select ${columns} from tuntas.workflow_start where state = 'requested' and created_at <= tuntas.now() - make_interval(secs => $1::float8)
   order by created_at limit $2`,
);

/** Commands that were accepted longer ago than this and have no execution yet. */
export const missingStarts = (sql: Runner, olderMs: number, rowsMax = 100): Promise<StartRow[]> =>
  sql.run<StartRow & {}>(missing, [olderMs / 1000, rowsMax]);
