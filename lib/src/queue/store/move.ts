// Move tasks: what StartMessageMoveTask began, taken on slice by slice by whoever sweeps.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { MoveTask } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

const columns = `id::text, source_queue_id as "sourceQueueId", destination_queue_id as "destinationQueueId", per_second as "perSecond",
  status, failure_reason as "failureReason", to_move::float8 as "toMove", moved::float8, extract(epoch from started_at)::float8 * 1000 as "startedAtMs"`;

const start = statement(
  `insert into tuntas.move_task (id, source_queue_id, destination_queue_id, per_second, status, to_move, started_at)
   select $1, $2, $3, $4, 'RUNNING', (select count(*) from tuntas.ready where queue_id = $2), tuntas.now()
   on conflict (source_queue_id) where status in ('RUNNING', 'CANCELLING') do nothing
   returning ${columns}`,
);

/** Begins a task; undefined where one runs already for this source. */
export const insertMove = async (
  sql: Runner,
  task: Pick<MoveTask, "id" | "sourceQueueId" | "destinationQueueId" | "perSecond">,
): Promise<MoveTask | undefined> =>
  (await sql.run<MoveTask & { id: string }>(start, [task.id, task.sourceQueueId, task.destinationQueueId, task.perSecond]))[0];

const list = statement(`select ${columns} from tuntas.move_task where source_queue_id = $1 order by started_at desc, id limit $2`);

export const listMoves = (sql: Runner, sourceQueueId: number, limit: number): Promise<MoveTask[]> =>
  sql.run(list, [sourceQueueId, limit]) as Promise<MoveTask[]>;

const cancel = statement(
  `update tuntas.move_task set status = 'CANCELLING' where id = $1 and status = 'RUNNING' returning ${columns}`,
);

/** Asks the task to stop; undefined where it is not running. */
export const cancelMove = async (sql: Runner, id: string): Promise<MoveTask | undefined> =>
  (await sql.run(cancel, [id]))[0] as MoveTask | undefined;

const take = statement(
  `select ${columns} from tuntas.move_task where status in ('RUNNING', 'CANCELLING') order by started_at limit 1 for update skip locked`,
);

const move = statement(`select moved, missing, queues from tuntas.move_messages($1, $2, $3, $4)`);

export interface Slice {
  readonly moved: number;
  readonly missing: number;
  readonly queues: number[];
}

/** Moves up to `count` ready messages, all or only those named. */
export const moveMessages = async (
  sql: Runner,
  source: number,
  destination: number | null,
  options: { count: number; onlyIds: readonly string[] | null },
): Promise<Slice> => (await sql.run(move, [source, destination, options.count, options.onlyIds]))[0] as Slice;

const advance = statement(
  `update tuntas.move_task set moved = moved + $2, status = $3, failure_reason = $4,
     ended_at = case when $3 in ('RUNNING', 'CANCELLING') then null else tuntas.now() end
   where id = $1`,
);

const sliceMax = 500;

/** One slice of the oldest task that nobody else works on, in one transaction; undefined where there is none. */
export async function stepMove(sql: Sql): Promise<(Slice & { task: MoveTask; ended: boolean }) | undefined> {
  return sql.transaction(async (tx) => {
    const task = (await tx.run(take))[0] as MoveTask | undefined;
    if (!task) return undefined;
    const none: Slice = { moved: 0, missing: 0, queues: [] };
    const count = Math.min(task.perSecond ?? sliceMax, sliceMax);
    const slice =
      task.status === "CANCELLING"
        ? none
        : await moveMessages(tx, task.sourceQueueId, task.destinationQueueId, { count, onlyIds: null });
    const { status, reason } = nextStatus(task, slice, count);
    await tx.run(advance, [task.id, slice.moved, status, reason]);
    return { ...slice, task, ended: status !== "RUNNING" };
  });
}

function nextStatus(task: MoveTask, slice: Slice, asked: number): { status: MoveTask["status"]; reason: string | null } {
  if (task.status === "CANCELLING") return { status: "CANCELLED", reason: null };
  if (slice.missing > 0) return { status: "FAILED", reason: "AWS.SimpleQueueService.NonExistentQueue" };
  return { status: slice.moved < asked ? "COMPLETED" : "RUNNING", reason: null };
}
