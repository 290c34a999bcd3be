// Activities, and the answers to task tokens: how workers of any language take part.
import type { Failure, Json, StartTask } from "../../asl/contract.ts";
import { makeBell } from "../../engine/wake.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Database } from "../../pg/database.ts";
import type { ActivityRecord, AnswerResult, Page, Scope } from "../contract.ts";
import { hashToken } from "../token.ts";
import * as calls from "../store/calls.ts";
import * as store from "../store/resources.ts";
import { activityKey, type WorkflowWorker } from "../worker/index.ts";

export interface ActivityTask {
  readonly token: string;
  /** JSON text. */
  readonly input: string;
}

export interface TaskRequest {
  readonly workerName?: string | undefined;
  /** How long to wait for a task. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

export interface Activities {
  /** Answers the record also where the activity exists. */
  create(
    scope: Scope,
    name: string,
    options: { encryption?: string | undefined; tags: Readonly<Record<string, string>> },
  ): Promise<ActivityRecord>;
  find(arn: string): Promise<ActivityRecord | undefined>;
  list(scope: Scope, page: Page): Promise<ActivityRecord[]>;
  delete(arn: string): Promise<void>;
  /** Waits for a task, and hands it to the asking worker; undefined where none came in time. */
  task(arn: string, request: TaskRequest): Promise<ActivityTask | undefined>;
  succeed(token: string, output: Json): Promise<AnswerResult>;
  fail(token: string, failure: Failure): Promise<AnswerResult>;
  heartbeat(token: string): Promise<AnswerResult>;
}

export interface Tags {
  list(arn: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
  write(arn: string, tags: Readonly<Record<string, string>>): Promise<void>;
  remove(arn: string, keys: readonly string[]): Promise<void>;
}

const tokenForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function makeActivities(
  database: Database,
  { worker, waker, processId }: { worker: WorkflowWorker; waker: Waker; processId: () => string },
): Activities {
  const { engine } = worker;

  /** The task goes to the worker in an advance that notes its start; late where it was cancelled meanwhile. */
  async function handOut(
    call: calls.Call,
    workerName: string | undefined,
  ): Promise<ActivityTask | undefined> {
    const { task, token, input } = JSON.parse(call.command) as StartTask;
    const started = {
      type: "taskStarted",
      task,
      ...(workerName === undefined ? {} : { workerName }),
    } as const;
    const result = await engine.dispatch(call.executionId, started, { handedOver: true });
    return result === "applied" ? { token: worker.tokenOf(token), input: JSON.stringify(input) } : undefined;
  }

  async function claim(arn: string, workerName: string | undefined): Promise<ActivityTask | undefined> {
    for (;;) {
      const call = await calls.claimActivityTask(database, arn, processId());
      if (!call) return undefined;
      const task = await handOut(call, workerName).catch(async (cause: unknown) => {
        await calls.releaseCall(database, call, processId());
        throw cause;
      });
      if (task) return task;
    }
  }

  async function answer(
    token: string,
    end: (task: number) => Parameters<typeof engine.dispatch>[1],
  ): Promise<AnswerResult> {
    if (!tokenForm.test(token)) return { status: "invalid" };
    const call = await calls.findByToken(database, hashToken(token));
    if (!call) return { status: "gone" };
    const { task } = JSON.parse(call.command) as StartTask;
    const result = await engine.dispatch(call.executionId, end(task));
    return { status: result === "applied" ? "accepted" : "gone" };
  }

  return {
    async create(scope, name, { encryption, tags }) {
      const activity = await store.insertActivity(database, scope, name, encryption);
      await store.writeTags(database, activity.arn, tags);
      return activity;
    },
    find: (arn) => store.findActivity(database, arn),
    list: (scope, page) => store.listActivities(database, scope, page),
    async delete(arn) {
      await store.removeActivity(database, arn);
      await store.removeAllTags(database, arn);
    },
    async task(arn, { workerName, waitMs, signal }) {
      const until = performance.now() + waitMs;
      const bell = makeBell(waker, activityKey(arn));
      try {
        for (;;) {
          const task = await claim(arn, workerName);
          const leftMs = until - performance.now();
          if (task || leftMs <= 0 || signal?.aborted) return task;
          await bell.wait(leftMs, signal);
        }
      } finally {
        bell.close();
      }
    },
    succeed: (token, output) => answer(token, (task) => ({ type: "taskSucceeded", task, output })),
    fail: (token, failure) => answer(token, (task) => ({ type: "taskFailed", task, ...failure })),
    async heartbeat(token) {
      if (!tokenForm.test(token)) return { status: "invalid" };
      const beat = await calls.extendHeartbeatByToken(database, hashToken(token));
      if (beat?.seconds) worker.due.note(beat.seconds * 1000);
      return { status: beat ? "accepted" : "gone" };
    },
  };
}

export function makeTags(database: Database): Tags {
  return {
    list: (arn) => store.listTags(database, arn),
    write: async (arn, tags) => void (await store.writeTags(database, arn, tags)),
    remove: async (arn, keys) => void (await store.removeTags(database, arn, keys)),
  };
}
