// Connections for transactions that follow one another closely. Whoever has sent the last statements of one passes the
// connection on before they are answered, so that the next transaction's first statements go out in the same write: the
// server wakes up once for both, and so does this process. The server does one after the other in any case; where the
// first fails it leaves an aborted transaction behind, in which nothing can begin, and whoever comes next says so.
import type pg from "pg";
import { sendBurst, type BurstAnswer, type BurstStatement } from "./burst.ts";
import { isPoolBusy } from "./faults.ts";
import { dropClient, streamOf } from "./wire.ts";

export interface Lease {
  readonly client: pg.PoolClient;
  /** Resolves once the transaction before it on this connection has been answered; absent where there was none. */
  readonly before: Promise<unknown> | undefined;
  /** Sends the statements that end the transaction; from now on the connection may be another's. */
  end(statements: readonly BurstStatement[]): Promise<BurstAnswer>;
  /** Keeps the connection from being passed on; false where somebody else has it already. */
  keep(): boolean;
  /** Gives the connection back, unless somebody else has it; a broken one is closed, whatever runs on it. */
  release(broken: boolean): void;
}

/** Those of one kind who borrow, and how many of them wait for a connection. */
export interface Line {
  waiting: number;
}

export interface Lender {
  /** Waits for as long as all are out: it is for the borrower's own time to say what is too long. */
  borrow(line?: Line): Promise<Lease>;
}

interface Waiter {
  readonly resolve: (lease: Lease) => void;
  readonly reject: (cause: unknown) => void;
  readonly line: Line | undefined;
}

/** What is sent on the connection before the event loop turns goes out in one write. */
function corkForNow(client: pg.PoolClient): void {
  const stream = streamOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** `passes`: whether connections are passed on at all; behind a pooler the next transaction may be on another session. */
export function makeLender(pool: pg.Pool, passes: boolean): Lender {
  const waiting: Waiter[] = [];
  /** Connections whose last statements are sent, and that nobody has taken over yet. */
  const ending: Leased[] = [];
  let asked = 0;

  /** Others who wait for the pool's connections come first. */
  const isWanted = (): boolean => pool.waitingCount > asked;

  function nextWaiter(): Waiter | undefined {
    const waiter = waiting.shift();
    if (waiter?.line) waiter.line.waiting--;
    return waiter;
  }

  class Leased implements Lease {
    readonly client: pg.PoolClient;
    readonly before: Promise<unknown> | undefined;
    private isMine = true;
    private answered: Promise<unknown> | undefined;

    constructor(client: pg.PoolClient, before?: Promise<unknown>) {
      this.client = client;
      this.before = before;
    }

    end(statements: readonly BurstStatement[]): Promise<BurstAnswer> {
      corkForNow(this.client);
      const { answered, isWhole } = sendBurst(this.client, statements);
      this.answered = answered;
      if (!passes || !isWhole || isWanted()) return answered;
      const waiter = nextWaiter();
      if (waiter) waiter.resolve(this.passOn());
      else ending.push(this);
      return answered;
    }

    passOn(): Leased {
      this.isMine = false;
      return new Leased(this.client, this.answered);
    }

    keep(): boolean {
      const place = ending.indexOf(this);
      if (place >= 0) ending.splice(place, 1);
      return this.isMine;
    }

    release(broken: boolean): void {
      if (!this.keep()) return;
      this.isMine = false;
      if (broken) return dropClient(this.client);
      const waiter = isWanted() ? undefined : nextWaiter();
      if (waiter) waiter.resolve(new Leased(this.client));
      else this.client.release();
    }
  }

  function connect(): void {
    asked++;
    pool.connect().then(
      (client) => {
        asked--;
        const waiter = nextWaiter();
        if (waiter) waiter.resolve(new Leased(client));
        else client.release();
      },
      (cause: unknown) => {
        asked--;
        if (!isPoolBusy(cause)) nextWaiter()?.reject(cause);
        else if (asked < waiting.length) connect();
      },
    );
  }

  return {
    borrow(line) {
      const isFree = pool.idleCount > 0 || pool.totalCount < pool.options.max;
      const last = isFree ? undefined : ending.shift();
      if (last) return Promise.resolve(last.passOn());
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject, line });
        if (line) line.waiting++;
        if (asked < waiting.length) connect();
      });
    },
  };
}
