// A declared HTTP endpoint, with a real server that is killed in the middle.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { app, start } from "../app.ts";
import type { JoiningTarget, Target } from "../engine/target.ts";
import { refusal } from "../core/refusal.fixture.ts";
import { testDatabase } from "../testing/index.ts";
import { addAll, listParked, readStatus } from "./client.ts";
import type { EndpointOptions } from "./contract.ts";
import { endpoint, endpointTarget } from "./declaration.ts";
import { outboxItems } from "./operator.ts";
import { retryAfterMs } from "./retry-after.ts";

const script = new URL("endpoint.fixture.mjs", import.meta.url);
const owned = { owner: "crm-team", runbook: "runbooks/crm.md" } as const;

test("an endpoint that is killed in the middle gets everything, in order by key, with its secret; what is permanent is parked at once", async () => {
  await using database = await testDatabase();
  const first = database.run(script);
  const { port } = await first.line("ready");
  let token = "first";
  const crm = endpoint("crm", {
    url: () => `http://127.0.0.1:${String(port)}/notices`,
    headers: { authorization: () => `Bearer ${token}` },
    timeout: "2s",
    retry: { refusals: 2, base: "1ms", max: "1ms" },
    permanentStatus: [422],
    ...owned,
  });
  const running = await start(app({ crm }), { databaseUrl: database.url });
  const { database: sql } = running.platform;
  const rows = Array.from({ length: 60 }, (_, index) => ({
    target: crm,
    key: `k${index % 3}`,
    payload: index === 30 ? "never" : index === 31 ? "late" : String(index),
  }));
  await sql.transaction((tx) => addAll(tx, rows));
  await first.line(({ body }) => body === "9");
  await first.kill();
  token = "second";
  const second = database.run(script, { PORT: String(port) });
  await expect
    .poll(async () => (await readStatus(sql)).targets[0]?.waiting ?? 0, { timeout: 60_000 })
    .toBe(0);

  const took = [...first.lines, ...second.lines].filter(({ event }) => event === "took");
  const numbers = took.filter(({ status }) => status === 204).map(({ body }) => Number(body));
  expect(new Set(numbers).size).toBe(58);
  for (const key of [0, 1, 2]) {
    const firstTimes = [...new Set(numbers.filter((number) => number % 3 === key))];
    expect(firstTimes).toEqual(firstTimes.toSorted((a, b) => a - b));
  }
  // What was on its way at the death came again, under the same id.
  const idsOf = (body: unknown) =>
    new Set(took.filter((each) => each.body === body).map(({ id }) => id)).size;
  expect(took.every(({ body }) => idsOf(body) === 1)).toBe(true);
  expect(first.lines.filter(({ authorization }) => authorization === "Bearer first").length).toBeGreaterThan(
    0,
  );
  expect(second.lines.at(-1)).toMatchObject({ authorization: "Bearer second" });
  const parked = await listParked(sql);
  expect(parked.map(({ payload, refusals, failureCode }) => [payload, refusals, failureCode])).toEqual([
    ["never", 1, "TUNTAS_OUTBOX_PERMANENT"],
    ["late", 2, "TUNTAS_OUTBOX_REFUSED"],
  ]);
  expect(parked[0]).toMatchObject(owned);
  await running.stop();
});

test("an endpoint without an address yet has its announcements wait, under its owner's name", async () => {
  await using database = await testDatabase();
  const crm = endpoint("crm", {
    url: () => process.env.NO_SUCH_ADDRESS,
    timeout: "2s",
    retry: { refusals: 2, base: "1ms", max: "1ms" },
    permanentStatus: [],
    ...owned,
  });
  await using running = await start(app({ crm }), { databaseUrl: database.url });
  const { database: sql } = running.platform;
  await sql.transaction((tx) => addAll(tx, [{ target: crm, payload: "waits" }]));
  const failure = "select failure_code as code, refusals, parked_at from tuntas.outbox";
  await expect
    .poll(() => database.query(failure))
    .toEqual([{ code: "TUNTAS_OUTBOX_UNAVAILABLE", refusals: 0, parked_at: null }]);
  // Each of the places that a person looks at says whose it is.
  for (const row of [...(await outboxItems(sql)), ...(await readStatus(sql)).targets])
    expect(row).toMatchObject(owned);
  // Another deployment has another owner; what goes to no declared endpoint has none.
  await (await start(app({ crm: valid("crm") }), { databaseUrl: database.url })).stop();
  await sql.transaction((tx) => addAll(tx, [{ target: { kind: "http", name: "stray" }, payload: "x" }]));
  const owners = (await readStatus(sql)).targets.map(({ target, owner }) => [target.name, owner]);
  expect(owners).toEqual([
    ["crm", "partners-team"],
    ["stray", null],
  ]);
});

test("what an endpoint does not take is told without its secret, in the row and in the error", async () => {
  const parts = {
    timeout: "2s",
    retry: { refusals: 2, base: "1ms", max: "1ms" },
    permanentStatus: [],
    ...owned,
  } as const;
  const announcement = { eventId: "1", key: null, type: null, payload: "{}", target: { name: "crm" } };
  const told = async (more: Pick<EndpointOptions, "url" | "headers">) => {
    const target = endpointTarget(endpoint("crm", { ...parts, ...more })) as Exclude<Target, JoiningTarget>;
    const failure = await target.deliver(announcement as never, AbortSignal.timeout(5000)).then(
      () => undefined,
      (cause: unknown) => cause as Error,
    );
    expect(failure).toMatchObject({ code: "TUNTAS_OUTBOX_UNAVAILABLE" });
    expect(inspect(failure, { depth: 9 })).not.toContain("s3cret");
    return failure!.message;
  };
  const closed = "http://127.0.0.1:1/notices";
  expect(await told({ url: `${closed}?token=s3cret` })).toContain(`no answer from ${closed}: `);
  expect(await told({ url: () => "http://me:s3cret@127.0.0.1:1/" })).toContain("a password in it");
  expect(await told({ url: () => "s3cret" })).toContain("is no URL");
  const authorization = () => "Bearer s3cret\ns3cret";
  expect(await told({ url: closed, headers: { authorization } })).toContain("headers.authorization");
  const declared = refusal(() => endpoint("crm", { ...parts, url: "https://me:s3cret@crm.example/" }));
  expect(declared).toContain("url: expected http(s) without a password");
  expect(declared).not.toContain("s3cret");
});

test("an endpoint that asks to be left alone is, by all that goes there, and the row says until when", async () => {
  await using database = await testDatabase();
  const came: { body: string; at: number }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    came.push({ body, at: performance.now() });
    if (came.length === 1) response.writeHead(429, { "retry-after": "3" }).end();
    else response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const crm = endpoint("crm", {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    timeout: "2s",
    retry: { refusals: 2, base: "1ms", max: "1ms" },
    permanentStatus: [],
    ...owned,
  });
  await using running = await start(app({ crm }), { databaseUrl: database.url });
  const { database: sql } = running.platform;
  const announce = (payload: string) => sql.transaction((tx) => addAll(tx, [{ target: crm, payload }]));
  await announce("first");
  const item = async () => (await outboxItems(sql))[0];
  await expect
    .poll(async () => (await item())?.failureMessage)
    .toContain("got 429, to be asked again after 3 s");
  expect((await item())!.dueInMs).toBeGreaterThan(1000);
  await announce("second");
  await expect.poll(() => came.map(({ body }) => body).toSorted()).toEqual(["first", "first", "second"]);
  for (const { at } of came.slice(1)) expect(at - came[0]!.at).toBeGreaterThan(2900);
  server.close();
});

test("Retry-After is seconds or a date, compared with the answer's own, and at most an hour", () => {
  const now = Date.parse("Tue, 01 Dec 2026 00:00:00 GMT");
  const told = (said: string | null, answered: string | null = null) => retryAfterMs(said, answered, now);
  expect([told("0"), told(" 120 "), told("999999999999")]).toEqual([0, 120_000, 3_600_000]);
  expect(told("Tue, 01 Dec 2026 00:01:00 GMT")).toBe(60_000);
  expect(told("Tue, 01 Dec 2026 00:01:00 GMT", "Tue, 01 Dec 2026 00:00:50 GMT")).toBe(10_000);
  expect(told("Mon, 30 Nov 2026 00:00:00 GMT")).toBe(0);
  expect(told("Fri, 31 Dec 2027 23:59:59 GMT")).toBe(3_600_000);
  for (const nothing of [null, "", "soon", "-5", "1.5", "2026-12-01"]) expect(told(nothing)).toBeUndefined();
});

test("an endpoint says everything that is wrong with its declaration at once", () => {
  const told = refusal(() =>
    endpoint("CRM", { url: "ftp://crm", headers: { a: 1 }, timeout: "5m", permanentStatus: [500] } as never),
  );
  for (const part of [
    'endpoint "CRM": expected a name of up to 80',
    "url: expected http(s)",
    "headers.a: expected a text",
    "timeout: expected a duration from",
    "retry.refusals: expected a whole number",
    "permanentStatus: expected a list of 4xx",
    "owner: expected who acts when it refuses something for good, got undefined",
    "runbook: expected what they read first, got undefined",
  ])
    expect(told).toContain(part);
  expect(() => app({ a: valid("crm"), b: valid("crm") })).toThrow("two endpoints have the name crm");
});

const valid = (name: string) =>
  endpoint(name, {
    url: "https://crm.example/notices",
    timeout: "5s",
    retry: { refusals: 10, base: "1s", max: "5m" },
    permanentStatus: [410, 422],
    ...owned,
    owner: "partners-team",
  });
