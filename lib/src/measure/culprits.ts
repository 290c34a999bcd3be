// Which one it is: a figure says how old the oldest of something is, and people who are told need its name.
import type { Labels } from "../series/contract.ts";
import { findOldestRow } from "../outbox/client.ts";
import type { Sql } from "../pg/contract.ts";
import { findOldestMessage, isLaidAside } from "../queue/store/gauges.ts";
import { findOverdueApproval } from "../workflow/approval/gauges.ts";
import { findOldestExecution } from "../workflow/store/gauges.ts";

type Runner = Pick<Sql, "run">;
type Find = (sql: Runner, labels: Labels) => Promise<string | undefined>;

const finders: Readonly<Record<string, Find>> = {
  tuntas_queue_oldest_age_seconds: (sql, { queue = "" }) => findOldestMessage(sql, queue),
  tuntas_workflow_oldest_age_seconds: (sql, { workflow = "" }) => findOldestExecution(sql, workflow, false),
  tuntas_workflow_callback_wait_age_seconds: (sql, { workflow = "" }) =>
    findOldestExecution(sql, workflow, true),
  tuntas_approvals_overdue: (sql, { workflow = "", task = "" }) => findOverdueApproval(sql, workflow, task),
  tuntas_outbox_oldest_age_seconds: (sql, { kind = "", name = "" }) => findOldestRow(sql, { kind, name }),
};

/** What the figure of a metric is about at this moment, by its name; undefined where it is about no single thing. */
export const findCulprit = async (sql: Runner, metric: string, labels: Labels): Promise<string | undefined> =>
  finders[metric]?.(sql, labels);

const ofWaiting = new Set(["tuntas_queue_oldest_age_seconds", "tuntas_queue_depth"]);

/** Whether it waits as it should: dead letters wait for a person and not for a worker, and an alarm of their own tells of them. */
export const isMeant = async (sql: Runner, metric: string, { queue }: Labels): Promise<boolean> =>
  ofWaiting.has(metric) && queue !== undefined && (await isLaidAside(sql, queue));
