// Move tasks: what StartMessageMoveTask began, taken on slice by slice by whoever sweeps.
import { inMs } from "../../engine/agenda.ts";
import { again } from "../../pg/faults.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { MoveTask } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

const columns = `id::text, source_queue_id as "sourceQueueId", destination_queue_id as "destinationQueueId", destination_name as "destinationName", per_second as "perSecond",
  status, failure_reason as "failureReason", to_move::float8 as "toMove", moved::float8, ${ms("started_at")} as "startedAtMs"`;

const start = statement(
  `insert into tuntas.move_task (id, source_queue_id, destination_queue_id, destination_name, per_second, status, to_move, started_at, next_at)
   select $1, $2, $3, (select name from tuntas.queue where id = $3), $4, 'RUNNING', (select count(*) from tuntas.ready where queue_id = $2),
     tuntas.now(), tuntas.now()
   on conflict (source_queue_id) where status in ('RUNNING', 'CANCELLING') do nothing
   returning ${columns}`,
);

/** Begins a task; undefined where one runs already for this source. */
export const insertMove = async (
  sql: Runner,
  task: Pick<MoveTask, "id" | "sourceQueueId" | "destinationQueueId" | "perSecond">,
): Promise<MoveTask | undefined> =>
  (
    await sql.run<MoveTask & { id: string }>(start, [
      task.id,
      task.sourceQueueId,
      task.destinationQueueId,
      task.perSecond,
    ])
  )[0];

const list = statement(
  `select ${columns} from tuntas.move_task where source_queue_id = $1 order by started_at desc, id limit $2`,
);

export const listMoves = (sql: Runner, sourceQueueId: number, limit: number): Promise<MoveTask[]> =>
  sql.run(list, [sourceQueueId, limit]) as Promise<MoveTask[]>;

const cancel = statement(
  `update tuntas.move_task set status = 'CANCELLING', next_at = tuntas.now() where source_queue_id = $1 and id = $2 and status = 'RUNNING' returning ${columns}`,
);

/** Asks the task to stop; undefined where it is not running. */
export const cancelMove = async (
  sql: Runner,
  sourceQueueId: number,
  id: string,
): Promise<MoveTask | undefined> => (await sql.run(cancel, [sourceQueueId, id]))[0] as MoveTask | undefined;

const take = statement(
  `select ${columns} from tuntas.move_task where status in ('RUNNING', 'CANCELLING') and next_at <= tuntas.now()
   order by next_at limit 1 for update skip locked`,
);

/** When the next slice of any task may be taken. */
export const nextMoveInstant =
  "(select min(next_at) from tuntas.move_task where status in ('RUNNING', 'CANCELLING'))";

const next = statement(`select ${inMs(nextMoveInstant)} as "inMs"`);

/** In how many ms the next slice of any task may be taken (negative if now); null where no task runs. */
export const nextMoveMs = async (sql: Runner): Promise<number | null> =>
  (await sql.run<{ inMs: number | null }>(next))[0]!.inMs;

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
  `update tuntas.move_task set moved = moved + $2, status = $3, failure_reason = $4, next_at = tuntas.now() + make_interval(secs => $5),
     ended_at = case when $3 in ('RUNNING', 'CANCELLING') then null else tuntas.now() end
   where id = $1`,
);

const sliceMax = 500;
const slicesPerSecond = 10;

/** How many messages a slice moves, and how long the task then waits so that it keeps to its rate. */
function pace({ perSecond }: MoveTask): { count: number; waitSeconds: number } {
  if (perSecond === null) return { count: sliceMax, waitSeconds: 0 };
  const count = Math.max(1, Math.floor(perSecond / slicesPerSecond));
  return { count, waitSeconds: count / perSecond };
}

/** One slice of the task that has waited longest and that nobody else works on, in one transaction; undefined where there is none. */
export const stepMove = (sql: Sql): Promise<(Slice & { task: MoveTask }) | undefined> =>
  again(() => sql.transaction(step));

async function step(tx: Tx): Promise<(Slice & { task: MoveTask }) | undefined> {
  const task = (await tx.run(take))[0] as MoveTask | undefined;
  if (!task) return undefined;
  const none: Slice = { moved: 0, missing: 0, queues: [] };
  const { count, waitSeconds } = pace(task);
  const slice =
    task.status === "CANCELLING"
      ? none
      : await moveMessages(tx, task.sourceQueueId, task.destinationQueueId, { count, onlyIds: null });
  const reason = slice.missing > 0 ? await whyMissing(tx, task) : null;
  const status = nextStatus(task, slice, count);
  await tx.run(advance, [task.id, slice.moved, status, reason, waitSeconds]);
  return { ...slice, task };
}

const homeless = statement(
  `select exists(select from tuntas.ready where queue_id = $1 and source_queue_id is null) as found`,
);

/** Why messages had nowhere to go, in AWS's words: one that did not die anywhere has no home, or a queue is gone. */
async function whyMissing(sql: Runner, { sourceQueueId, destinationQueueId }: MoveTask): Promise<string> {
  const [row] =
    destinationQueueId === null ? await sql.run<{ found: boolean }>(homeless, [sourceQueueId]) : [];
  return row?.found ? "CouldNotDetermineMessageSource" : "AWS.SimpleQueueService.NonExistentQueue";
}

function nextStatus(task: MoveTask, slice: Slice, asked: number): MoveTask["status"] {
  if (task.status === "CANCELLING") return "CANCELLED";
  if (slice.missing > 0) return "FAILED";
  return slice.moved < asked ? "COMPLETED" : "RUNNING";
}
