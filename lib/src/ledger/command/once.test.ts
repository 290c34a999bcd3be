import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PoolClient } from "pg";
import { isTuntasError } from "../../core/error.ts";
import type { Queryable } from "../../pg/contract.ts";
import { inSchema } from "../../pg/join.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { requestHash } from "../canonical.ts";
import { takeIn } from "../inbox.ts";
import { once, rejection, type OnceOptions } from "./once.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  const client = await kit.platform.database.handlerClient();
  await client.query(`create table ${kit.schema}.effect (name text)`);
  client.release();
});
afterAll(() => kit[Symbol.asyncDispose]());

interface Open {
  readonly tx: Queryable;
  end(how: "commit" | "rollback"): Promise<void>;
}

/** A user's own transaction on a plain `pg` client. */
async function open(): Promise<Open> {
  const client: PoolClient = await kit.platform.database.handlerClient();
  await client.query("begin");
  return {
    tx: inSchema(client, kit.schema),
    async end(how) {
      await client.query(how);
      client.release();
    },
  };
}

const write = (tx: Queryable, name: string) =>
  tx.query(`insert into ${kit.schema}.effect values ($1)`, [name]);

async function count(name: string): Promise<number> {
  const client = await kit.platform.database.handlerClient();
  const { rows } = await client.query(`select count(*)::int as n from ${kit.schema}.effect where name = $1`, [
    name,
  ]);
  client.release();
  return rows[0].n;
}

async function attempt(name: string, request: unknown, options: Partial<OnceOptions> = {}) {
  const { tx, end } = await open();
  try {
    const answer = await once(tx, { scope: "test", key: name, request, ...options }, async () => {
      await write(tx, name);
      return { at: new Date(0), big: "9007199254740993" };
    });
    await end("commit");
    return answer;
  } catch (cause) {
    await end("rollback");
    throw cause;
  }
}

describe("command record", () => {
  test("G-02 G-05 G-08 a repeat gets the first result, equal to what the first caller got", async () => {
    const first = await attempt("a", { x: 1 });
    expect(first).toEqual({
      status: "created",
      outcome: "done",
      result: { at: "1970-01-01T00:00:00.000Z", big: "9007199254740993" },
    });
    expect(await attempt("a", { x: 1 })).toEqual({ ...first, status: "duplicate" });
    expect(await count("a")).toBe(1);
  });

  test("G-06 idem-03 another request under the key is a conflict that shows both hashes; key order is none", async () => {
    await attempt("b", { id: "A", meta: { x: 1, y: 2 } });
    expect(await attempt("b", { meta: { y: 2, x: 1 }, id: "A" })).toMatchObject({ status: "duplicate" });
    const storedHash = requestHash({ id: "A", meta: { x: 1, y: 2 } });
    const other = { id: "A", meta: { x: 2, y: 2 } };
    expect(await attempt("b", other)).toMatchObject({
      status: "conflict",
      storedHash,
      requestHash: requestHash(other),
      error: { code: "TUNTAS_COMMAND_CONFLICT" },
    });
    expect(await count("b")).toBe(1);
  });

  test("G-03 G-07 a rollback leaves neither the change nor its record", async () => {
    const { tx, end } = await open();
    await once(tx, { scope: "test", key: "c", request: 1 }, () => write(tx, "c").then(() => 1));
    await end("rollback");
    expect(await count("c")).toBe(0);
    expect(await attempt("c", 1)).toMatchObject({ status: "created" });
  });

  test("G-04 G-05 while another transaction is at it the answer is retryable and comes at once", async () => {
    const owner = await open();
    await once(owner.tx, { scope: "test", key: "d", request: 1 }, () =>
      write(owner.tx, "d").then(() => "first"),
    );
    const startedAt = performance.now();
    const second = await attempt("d", 1).catch((cause: unknown) => cause);
    expect(isTuntasError(second, "TUNTAS_COMMAND_IN_PROGRESS") && second.retryable).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2500);
    await owner.end("commit");
    expect(await attempt("d", 1)).toMatchObject({ status: "duplicate", result: "first" });
    expect(await count("d")).toBe(1);
  });

  test("a repeat that is still open does not keep others from the stored result", async () => {
    await attempt("d2", 1);
    const reader = await open();
    await once(reader.tx, { scope: "test", key: "d2", request: 1 }, () => 0);
    expect(await attempt("d2", 1)).toMatchObject({ status: "duplicate" });
    await reader.end("commit");
  });

  test("G-04 of forty at once one runs, and the others get its result or are told to come back", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => attempt("e", 1).catch((cause: unknown) => cause)),
    );
    const created = answers.filter((answer) => (answer as { status?: string }).status === "created");
    expect(created).toHaveLength(1);
    for (const answer of answers) {
      expect(
        isTuntasError(answer, "TUNTAS_COMMAND_IN_PROGRESS") ||
          ["created", "duplicate"].includes((answer as { status: string }).status),
      ).toBe(true);
    }
    expect(await count("e")).toBe(1);
  });

  test("G-09 a business no is a stored result: its writes commit and every repeat gets it", async () => {
    const decide = async () => {
      const { tx, end } = await open();
      const answer = await once(tx, { scope: "test", key: "f", request: 1 }, async () => {
        await write(tx, "f");
        return rejection({ code: "OUTSIDE_JURISDICTION" });
      });
      await end("commit");
      return answer;
    };
    const first = await decide();
    expect(first).toEqual({
      status: "created",
      outcome: "rejected",
      result: { code: "OUTSIDE_JURISDICTION" },
    });
    expect(await decide()).toEqual({ ...first, status: "duplicate" });
    expect(await count("f")).toBe(1);
  });

  test("a function that throws leaves no record even if the caller commits", async () => {
    const { tx, end } = await open();
    const failing = once(tx, { scope: "test", key: "g", request: 1 }, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    await end("commit");
    expect(await attempt("g", 1)).toMatchObject({ status: "created" });
  });

  test("a client without a transaction is refused, and leaves no record", async () => {
    const client = await kit.platform.database.handlerClient();
    const options = { scope: "test", key: "h", request: 1 };
    await expect(once(inSchema(client, kit.schema), options, () => 1)).rejects.toMatchObject({
      code: "TUNTAS_TX_MISSING",
    });
    client.release();
    expect(await attempt("h", 1)).toMatchObject({ status: "created" });
  });

  test("what JSON cannot hold, and keys that text cannot, are refused before anything is written", async () => {
    for (const request of [NaN, 1n, () => 1, Symbol("x")])
      await expect(attempt("i", request)).rejects.toMatchObject({ code: "TUNTAS_REQUEST_INVALID" });
    for (const key of ["", "a\0b", "x".repeat(513), "\ud800"])
      await expect(attempt(key, 1)).rejects.toMatchObject({ code: "TUNTAS_REQUEST_INVALID" });
  });

  test("retention: after it the key is free, whether or not a sweep has been by", async () => {
    await attempt("j", 1, { retention: "1h" });
    await kit.advance(3_600_001);
    expect(await attempt("j", 2, { retention: "1h" })).toMatchObject({ status: "created" });
    expect(await count("j")).toBe(2);
  });

  test("G-14 an inbox takes a message in once, by source and id", async () => {
    const receive = (source: string) =>
      kit.platform.database.transaction((tx) =>
        takeIn(tx, { source, id: "7" }, () => write(tx.client, "inbox").then(() => source)),
      );
    expect(await receive("a")).toMatchObject({ status: "created", result: "a" });
    expect(await receive("a")).toMatchObject({ status: "duplicate", result: "a" });
    expect(await receive("b")).toMatchObject({ status: "created" });
    expect(await count("inbox")).toBe(2);
  });
});

test("H-08 a decision that was made is answered again, with one transition", async () => {
  const transitions = () => count("approved");
  const approve = async (by: string) => {
    const { tx, end } = await open();
    const answer = await once(
      tx,
      { scope: "approvals.decide", key: "approval-1", request: { decision: "APPROVED" } },
      async () => {
        await write(tx, "approved");
        return { decision: "APPROVED", by };
      },
    );
    await end("commit");
    return answer;
  };
  expect(await approve("ana")).toMatchObject({ status: "created", result: { by: "ana" } });
  expect(await approve("ben")).toMatchObject({
    status: "duplicate",
    result: { decision: "APPROVED", by: "ana" },
  });
  expect(await transitions()).toBe(1);
});

test("G-04 a record that was committed between look and lock fails the transaction, so that nothing is done twice", async () => {
  const { tx, end } = await open();
  const answer = once(tx, { scope: "test", key: "raced", request: 1 }, async () => {
    await write(tx, "raced");
    // As a writer does that was faster than the look's snapshot: its record is there, its lock is gone.
    const client = await kit.platform.database.handlerClient();
    await client.query(
      `insert into ${kit.schema}.command (scope, key, request_hash, created_at, expires_at) values ('test', 'raced', 'x', now(), now() + interval '1 year')`,
    );
    client.release();
  });
  await expect(answer).rejects.toMatchObject({ code: "TUNTAS_COMMAND_IN_PROGRESS" });
  await end("commit");
  expect(await count("raced")).toBe(0);
});
