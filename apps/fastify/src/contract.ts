// What a user of the plugin sees: its options, what it adds to Fastify's request and routes, and its error codes.
import type { Duration, Platform, RunningApp, Schema } from "tuntas";
import { catalogue } from "tuntas";
import type { RequestRates } from "tuntas/access";
import type { Person } from "tuntas/workflow";

/** `required`: a request without a key is refused. `optional`: without a key each request is new. `off`: keys are ignored. */
export type Idempotency = "required" | "optional" | "off";

/** The headers in which a proxy names the person whom it has authenticated; lists have commas. */
export interface PersonHeaders {
  readonly name: string;
  readonly roles?: string;
  readonly groups?: string;
}

export interface TuntasHttpOptions {
  /** Database, queues and log; `running.platform` of a started application. */
  readonly platform: Platform;
  /** Shows on /metrics what the workers of this process hold. */
  readonly running?: Pick<RunningApp, "active">;
  /** How long a request may take, 10s by default and 30s at most; a route's own `handlerTimeout` comes first. */
  readonly budget?: Duration;
  /** Requests in this process at a time; one more is answered 503. 512 by default. */
  readonly inFlightMax?: number;
  /** New requests are answered 503 while the event loop is later than this; 1s by default. */
  readonly eventLoopDelayMax?: Duration;
  /**
   * How long requests are still taken after `drain` began and /readyz says no: what was on its way, and what a load
   * balancer sends until it notices. 250ms by default; behind a load balancer, the time that it needs.
   */
  readonly linger?: Duration;
  /** How long the database may take to answer /readyz; 1s by default. */
  readonly readyTimeout?: Duration;
  /** For how long the first answer to an Idempotency-Key is repeated; 24h by default. */
  readonly keyRetention?: Duration;
  /**
   * Where the person who asks is named, such as `{ name: "X-User", roles: "X-Roles" }`: for `request.person`, and for whom
   * there is no `callerOf`. Whoever stands in front must set these headers, and drop those that come from outside.
   */
  readonly personIn?: PersonHeaders;
  /** Who asks: keys of one caller say nothing to another, and the audit names it. The person by default. */
  readonly callerOf?: (request: import("fastify").FastifyRequest) => string;
  /**
   * Whose a request is, such as the customer of a token that was checked before: for `request.tenant`, the log, the usage and the rates.
   * What names nobody is answered 400, save where the route has `tenant: false`.
   */
  readonly tenantOf?: (request: import("fastify").FastifyRequest) => string | undefined;
  /**
   * How many requests a tenant may make, over all processes of the service: `{ perSecond: 50, burst: 100 }`; one more is answered 429.
   * Needs `tenantOf`. Where the database does not answer, no request is held up.
   */
  readonly tenantRates?: RequestRates;
  /** The status of errors of your own; undefined for those that you do not know. */
  readonly statusOf?: (error: Error) => number | undefined;
}

/** A `pg` client in a transaction of the request's own: it commits before an answer below 400 goes out, else it is undone. */
export interface RequestTx {
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The caller's X-Correlation-Id, or a new one. */
    correlationId: string;
    readonly tx: RequestTx;
    /** Whose the request is, as `tenantOf` says; undefined where it names nobody. */
    tenant: string | undefined;
    /** Who asks, as `personIn` says. Errors: TUNTAS_HTTP_PERSON (401) where the request names nobody. */
    readonly person: Person;
  }
  interface FastifyContextConfig {
    /** `required` by default on POST, PUT, PATCH and DELETE. */
    idempotency?: Idempotency;
    /** The name of the act, such as `order.accept`: writes an audit row in the request's transaction. */
    audit?: string;
    /** Why this route may take longer than 30s, such as "a download of an unknown size". */
    longBecause?: string;
    /** What the route takes: its body is checked by it and replaced by what it makes of it. Any Standard Schema. */
    body?: Schema;
    /** True where a person must ask: a request that names nobody is answered 401. */
    person?: boolean;
    /** False where a request need not name a tenant, and is held to no rate. */
    tenant?: boolean;
    /** Further headers that it reads, for /openapi.json. */
    headers?: readonly string[];
    /** What the route does, in a few words for /openapi.json. */
    summary?: string;
    /** False for what must answer under overload (health, metrics). */
    shed?: boolean;
  }
  interface FastifyInstance {
    /**
     * Ends the service's work: not ready any more, then no new requests, what is in flight is answered. Health and
     * metrics answer until the server is closed afterwards.
     */
    drain(): Promise<void>;
  }
}

export const httpErrors = catalogue({
  TUNTAS_HTTP_INVALID: {
    meaning: "A request is not what the route takes.",
    remedy: "Correct what the detail says; the issues, where there are any, name the fields.",
  },
  TUNTAS_HTTP_PERSON: {
    meaning: "A request names nobody, and only a person may make it.",
    remedy: "Sign in; or, behind a proxy, see that it passes on the header that the detail names.",
  },
  TUNTAS_HTTP_TENANT: {
    meaning: "A request does not say whose it is.",
    remedy: "Name the tenant as this service expects it, by 1 to 128 letters, digits and punctuation.",
  },
  TUNTAS_HTTP_TENANT_RATE: {
    meaning: "A tenant makes more requests than it may.",
    remedy: "Ask again after Retry-After seconds; nothing was changed. Other tenants are served meanwhile.",
    retryable: true,
  },
  TUNTAS_HTTP_OPTION: {
    meaning: "An option of the plugin needs another.",
    remedy: "Give both, or neither.",
  },
  TUNTAS_HTTP_NOT_FOUND: {
    meaning: "There is nothing at this address.",
    remedy: "Check the method, the path and the id.",
  },
  TUNTAS_HTTP_KEY_MISSING: {
    meaning: "A mutating route was called without an Idempotency-Key.",
    remedy: "Send a new key, such as a UUID, with each new request, and the same key when you try it again.",
  },
  TUNTAS_HTTP_KEY_INVALID: {
    meaning: "An Idempotency-Key is not one.",
    remedy: "Send 1 to 255 printable ASCII characters, such as a UUID.",
  },
  TUNTAS_HTTP_KEY_REUSED: {
    meaning: "An Idempotency-Key came a second time with another request.",
    remedy: "Send a new key with a new request; nothing was changed.",
  },
  TUNTAS_HTTP_KEY_IN_PROGRESS: {
    meaning: "The first request with this Idempotency-Key is still being worked on.",
    remedy: "Ask again with the same key after Retry-After seconds.",
    retryable: true,
  },
  TUNTAS_HTTP_OVERLOADED: {
    meaning: "The service has more requests than it can answer in time.",
    remedy: "Try again after Retry-After seconds; nothing was changed.",
    retryable: true,
  },
  TUNTAS_HTTP_BUDGET: {
    meaning: "A request took longer than its budget. Whether it took place is not known.",
    remedy:
      "Try again with the same Idempotency-Key, which makes that safe. What takes longer by its nature belongs in a job.",
    retryable: true,
  },
  TUNTAS_HTTP_LONG_ROUTE: {
    meaning: "A route declares a budget in which nobody waits for an answer.",
    remedy:
      "Make it a job: answer 202 with an id, let a worker do it, and tell its status at another address (docs/recipes/long-job.md). Or say why it may: config.longBecause.",
  },
  TUNTAS_HTTP_RESULT: {
    meaning:
      "A route with an Idempotency-Key answered with bytes or a stream, which are not stored and repeated.",
    remedy: "Answer with an object or a string, or set the route's `idempotency` to off.",
  },
  TUNTAS_HTTP_INTERNAL: { meaning: "The service failed.", remedy: "Look for the correlation id in its log." },
  TUNTAS_HTTP_PORT_TAKEN: {
    meaning: "Another process listens on the port.",
    remedy: "End that process, or set the named variable to another port; 0 takes a free one.",
  },
});
