// What the tests of tenants share: a queue that has them, its worker, and backlogs that are put there in one statement.
import { z } from "zod";
import { app, queue, start, worker } from "../../index.ts";
import type { Platform } from "../../platform.ts";
import type { TestPlatform } from "../../testing/index.ts";
import { defaultScope } from "../contract.ts";
import type { WorkerOptions } from "../declaration.ts";
import type { TenantOptions } from "../tenants.ts";
import { ask, freshName, watch } from "./worker.fixture.ts";

const document = z.object({ id: z.string(), tenant: z.string() });
export type Document = z.infer<typeof document>;

export const declareTenanted = (name = freshName()) =>
  queue(name, {
    message: document,
    tenant: ({ tenant }) => tenant,
    deadLetter: { after: 3, owner: "documents", runbook: "runbooks/documents.md", retention: "14d" },
    poison: "quarantine",
  });
export type Tenanted = ReturnType<typeof declareTenanted>;

export type Options = Partial<WorkerOptions<typeof document>> & { readonly tenants?: TenantOptions };

export async function workTenanted(platform: Platform, of: Tenanted, options: Options) {
  const attempts = watch("worker.attempt", ({ queue }) => queue === of.name);
  const declared = worker(of, {
    idempotencyKey: "none",
    timeout: "60s",
    backoff: { base: "1ms", max: "1ms" },
    handle: () => undefined,
    ...options,
  });
  const running = await start(app({ of, declared }), { platform });
  const record = await platform.queues.catalog.get(defaultScope, of.name);
  return {
    attempts,
    record,
    async [Symbol.asyncDispose]() {
      attempts.close();
      await running.stop();
    },
  };
}

/** Makes the queue without a worker. */
export async function makeTenanted(platform: Platform, of = declareTenanted()): Promise<Tenanted> {
  const running = await start(app({ of }), { platform });
  await running.stop();
  return of;
}

export interface Backlog {
  readonly name: string;
  readonly tenant: string;
  readonly count: number;
  readonly group?: string | null;
}

/** Puts a backlog of a tenant there in one statement. */
export const putBacklog = (platform: Platform, { name, tenant, count, group = tenant }: Backlog) =>
  ask(
    platform,
    `with q as (select id from tuntas.queue where name = $1), sent as (
       insert into tuntas.message (message_id, sent_at, sender, body)
       select gen_random_uuid(), tuntas.now(), 'test', json_build_object('id', n::text, 'tenant', $2::text) from generate_series(1, $3::int) n
       returning id)
     insert into tuntas.ready (queue_id, turn, id, sent_at, group_id)
     select q.id, row_number() over (order by sent.id), sent.id, tuntas.now(), $4 from q, sent`,
    [name, tenant, count, group],
  );

/** How many pages a statement touches once its session knows it; `$1` is the queue's id. */
export async function pagesTouched(kit: TestPlatform, text: string, queueId: number): Promise<number> {
  const client = await kit.platform.database.dedicatedClient();
  const named = text.replaceAll("tuntas.", `${kit.schema}.`).replace("$1", String(queueId));
  try {
    for (let time = 0; time < 3; time++) await client.query(named);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${named}`);
    const { Plan } = rows[0]["QUERY PLAN"][0];
    return Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
  } finally {
    await client.end();
  }
}
