// What belongs to one request between its arrival and its answer: the transaction and the key, and how both end.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database } from "tuntas";
import { answerOf, keyOf, record, replay, takeKey, type Key } from "./idempotency.ts";
import { openRequestTransaction, type Bound, type RequestTransaction } from "./transaction.ts";

export interface WorkOptions {
  readonly database: Database;
  readonly budgetMs: number;
  readonly keyRetentionSeconds: number;
  readonly callerOf: ((request: FastifyRequest) => string | undefined) | undefined;
}

interface Work {
  readonly transaction: RequestTransaction;
  /** The key that this request holds; undefined also where it repeats an earlier answer. */
  key: Key | undefined;
}

const audit = (request: FastifyRequest, action: string, actor: string): Bound => ({
  name: "tuntas_http_audit",
  text: `insert into tuntas.audit (at, actor, action, subject, details) values (tuntas.now(), $1, $2, $3, $4)`,
  values: [actor, action, request.url, JSON.stringify({ correlationId: request.correlationId })],
});

/** Adds `request.tx` and the Idempotency-Key to the server. */
export function doWork(server: FastifyInstance, options: WorkOptions): void {
  const { database, budgetMs, keyRetentionSeconds, callerOf } = options;
  const works = new WeakMap<FastifyRequest, Work>();

  function workOf(request: FastifyRequest): Work {
    let work = works.get(request);
    if (!work)
      works.set(
        request,
        (work = {
          transaction: openRequestTransaction({ database, budgetMs, tenant: request.tenant }),
          key: undefined,
        }),
      );
    return work;
  }

  async function hold(request: FastifyRequest, reply: FastifyReply, key: Key): Promise<boolean> {
    const work = workOf(request);
    const first = await takeKey(work.transaction, key);
    if (first) void replay(reply, first);
    else work.key = key;
    return first === undefined;
  }

  /** The statements that belong to the answer, in the transaction that it commits. */
  function lastStatements(request: FastifyRequest, reply: FastifyReply, payload: unknown): Bound[] {
    const key = works.get(request)?.key;
    const action = reply.hasHeader("idempotency-replayed") ? undefined : request.routeOptions.config.audit;
    return [
      ...(action === undefined ? [] : [audit(request, action, callerOf?.(request) ?? "anonymous")]),
      ...(key === undefined ? [] : [record(key, answerOf(reply, payload), keyRetentionSeconds)]),
    ];
  }

  async function settle(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
    if (reply.statusCode >= 400) return works.get(request)?.transaction.rollback();
    const last = lastStatements(request, reply, payload);
    const isOpen = works.get(request)?.transaction.isOpen ?? false;
    if (isOpen || last.length > 0) await workOf(request).transaction.commit(last);
  }

  server.decorateRequest("tx", {
    getter(this: FastifyRequest) {
      return workOf(this).transaction.tx;
    },
  });

  server.addHook("preHandler", (request, reply, next) => {
    const key = keyOf(request, callerOf?.(request));
    if (!key) return next();
    hold(request, reply, key).then((isNew) => isNew && next(), next);
  });

  server.addHook("onSend", (request, reply, payload, next) => {
    if (!works.has(request) && request.routeOptions.config.audit === undefined) return next(null, payload);
    // An answer that went out in the meantime (the budget was over) is the only one.
    const unlessAnswered = (go: () => void) => () => void (reply.raw.headersSent || go());
    settle(request, reply, payload).then(
      unlessAnswered(() => next(null, payload)),
      (cause: Error) => unlessAnswered(() => next(cause))(),
    );
  });
}
