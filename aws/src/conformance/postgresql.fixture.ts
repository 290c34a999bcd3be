// The tier where queues live in the workers' own database.
import { defaultScope } from "tuntas/queue";
import { testPlatform } from "tuntas/testing";
import { ask } from "./ask.fixture.ts";
import type { Tier } from "./place.fixture.ts";

/** What was dead when it lay in the queue, by its body. */
export const deadBodies = `select m.body from tuntas.ready r join tuntas.message m on m.id = r.id
  join tuntas.queue q on q.id = r.queue_id where q.name = $1 order by r.id`;

export const postgresql: Tier = {
  name: "PostgreSQL",
  async open() {
    const kit = await testPlatform();
    const { queues, context } = kit.platform;
    const find = (name: string) => queues.catalog.get(defaultScope, name);
    return {
      kit,
      options: {},
      child: { env: {}, parts: { databaseUrl: kit.databaseUrl, schema: kit.schema } },
      leaseMs: 0,
      async sendText(name, body) {
        await ask(kit, "select tuntas.send($1, $2)", [name, body]);
      },
      async depth(name) {
        const { ready, inFlight, delayed } = await queues.catalog.count(await find(name));
        const dead = await ask<{ body: string }>(kit, deadBodies, [`${name}-dlq`]);
        return { waiting: ready + inFlight + delayed, dead: dead.map(({ body }) => body) };
      },
      async rob(name) {
        await ask(
          kit,
          `with gone as (delete from tuntas.in_flight where queue_id = $1 returning *)
           insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
           select queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id from gone`,
          [(await find(name)).id],
        );
        context.waker.wakeAll();
      },
      [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
    };
  },
};
