// The plugin alone, as any Fastify application may take it.
import { Readable } from "node:stream";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { add, readStatus } from "tuntas/outbox";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { z } from "zod";
import { tuntasHttp } from "./index.ts";

let kit: TestPlatform;
let server: FastifyInstance;
let calls = 0;

class OutOfStock extends Error {}

beforeAll(async () => {
  kit = await testPlatform();
  const { platform } = kit;
  await platform.database.transaction(({ client }) =>
    client.query(`create table ${kit.schema}.thing (name text primary key)`),
  );
  const insert = `insert into ${kit.schema}.thing values ($1)`;
  server = Fastify();
  await server.register(tuntasHttp, {
    platform,
    budget: "2s",
    personIn: { name: "X-User", roles: "X-Roles", groups: "X-Groups" },
    callerOf: (request) => String(request.headers["x-caller"] ?? "nobody"),
    statusOf: (error) => (error instanceof OutOfStock ? 409 : undefined),
  });
  server.post<{ Body: { name: string; answer?: number } }>("/things", async (request, reply) => {
    calls++;
    await request.tx.query(insert, [request.body.name]);
    return reply
      .code(request.body.answer ?? 201)
      .header("location", `/things/${request.body.name}`)
      .send({ name: request.body.name });
  });
  server.post("/free", { config: { idempotency: "off" } }, async (request) => ({
    id: request.correlationId,
  }));
  server.post("/stream", async (request, reply) => {
    await request.tx.query(insert, ["streamed"]);
    return reply.send(Readable.from(["a"]));
  });
  server.post("/told", { config: { idempotency: "off" } }, async (request) =>
    add(request.tx, { target: { kind: "function", name: "told" }, payload: "x" }),
  );
  server.post("/control", { config: { idempotency: "off" } }, (request) => request.tx.query("commit"));
  const said = { body: z.object({ size: z.number().default(3) }), headers: ["X-Desk"], summary: "Say it" };
  server.post("/said/:id", { config: { ...said, idempotency: "off" } }, async ({ body }) => ({ body }));
  server.get("/mine", { config: { person: true } }, ({ person }) => person);
  server.get("/whose", ({ person }) => person);
  server.post("/stock", { config: { idempotency: "off" } }, async () => {
    throw new OutOfStock("none left");
  });
  server.post("/secret", { config: { idempotency: "off" } }, async () => {
    throw new Error("password=hunter2");
  });
  server.get(
    "/slow",
    { handlerTimeout: 50 },
    (request) =>
      new Promise((_, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason)),
      ),
  );
});
afterAll(async () => {
  await server.close();
  await kit[Symbol.asyncDispose]();
});

const things = async (name: string): Promise<number> => {
  const [row] = await kit.platform.database.run(
    {
      name: `things_${kit.schema}`,
      text: `select count(*)::int as n from ${kit.schema}.thing where name = $1`,
    },
    [name],
  );
  return row!.n as number;
};

const create = (body: object, headers: Record<string, string> = {}) =>
  server.inject({ method: "POST", url: "/things", headers, payload: body });

test("A-11 who asks is taken from the headers that the proxy sets; a route for persons refuses who is none, before anything", async () => {
  const headers = { "x-user": "ana ", "x-roles": "clerk, supervisor,", "x-groups": "north" };
  const known = await server.inject({ url: "/mine", headers });
  expect(known.json()).toEqual({ name: "ana", roles: ["clerk", "supervisor"], groups: ["north"] });
  for (const url of ["/mine", "/whose"]) {
    const nobody = await server.inject({ url, headers: { "x-user": " " } });
    expect([nobody.statusCode, nobody.json().code]).toEqual([401, "TUNTAS_HTTP_PERSON"]);
    expect(nobody.json().detail).toBe("X-User: expected the name of a person");
  }
  const { paths } = (await server.inject({ url: "/openapi.json" })).json();
  const names = paths["/mine"].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["X-User", "X-Roles", "X-Groups", "X-Correlation-Id"]);
});

test("a body of another type is told which one is expected", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded", "idempotency-key": "typed" };
  const response = await server.inject({ method: "POST", url: "/things", headers, payload: "name=a" });
  expect(response.json()).toMatchObject({ status: 415, detail: expect.stringContaining("application/json") });
});

test("A-04: what is answered under a key is answered again, with its status and its location, and the handler is not called", async () => {
  const first = await create({ name: "a" }, { "idempotency-key": "k-a" });
  const before = calls;
  const second = await create({ name: "a" }, { "idempotency-key": "k-a" });
  expect([second.statusCode, second.body, second.headers.location]).toEqual([201, first.body, "/things/a"]);
  expect(second.headers["idempotency-replayed"]).toBe("true");
  expect(calls).toBe(before);
});

test("A-04: a key of one caller says nothing to another", async () => {
  await create({ name: "mine" }, { "idempotency-key": "shared", "x-caller": "anna" });
  const other = await create({ name: "yours" }, { "idempotency-key": "shared", "x-caller": "budi" });
  expect(other.statusCode).toBe(201);
});

test("A-04: after its retention a key is new again", async () => {
  await create({ name: "old" }, { "idempotency-key": "k-old" });
  await kit.advance(25 * 3_600_000);
  const again = await create({ name: "new" }, { "idempotency-key": "k-old" });
  expect(again.statusCode).toBe(201);
});

test("A-09: an answer from 400 on undoes the transaction and leaves the key free", async () => {
  const refused = await create({ name: "b", answer: 422 }, { "idempotency-key": "k-b" });
  expect(refused.statusCode).toBe(422);
  expect(await things("b")).toBe(0);
  expect((await create({ name: "b" }, { "idempotency-key": "k-b" })).statusCode).toBe(201);
  expect(await things("b")).toBe(1);
});

test("A-09: an answer that cannot be stored is refused, and nothing is written", async () => {
  const response = await server.inject({
    method: "POST",
    url: "/stream",
    headers: { "idempotency-key": "k-s" },
  });
  expect([response.statusCode, response.json().code]).toEqual([500, "TUNTAS_HTTP_RESULT"]);
  expect(await things("streamed")).toBe(0);
});

test.each([
  ["/stock", 409, { detail: "none left" }],
  ["/secret", 500, { code: "TUNTAS_HTTP_INTERNAL", detail: "the service failed" }],
  ["/control", 500, { code: "TUNTAS_TX_CONTROL" }],
  ["/nowhere", 404, { code: "TUNTAS_HTTP_NOT_FOUND", instance: "/nowhere" }],
])("A-09: POST %s is a problem with status %i", async (url, status, problem) => {
  const response = await server.inject({ method: "POST", url });
  expect(response.headers["content-type"]).toContain("application/problem+json");
  expect(response.json()).toMatchObject({ status, ...problem });
});

test.each([
  ["no key", {}, "TUNTAS_HTTP_KEY_MISSING"],
  ["an empty key", { "idempotency-key": "" }, "TUNTAS_HTTP_KEY_INVALID"],
  ["a key of 256 characters", { "idempotency-key": "k".repeat(256) }, "TUNTAS_HTTP_KEY_INVALID"],
])("A-04: %s is refused", async (_, headers, code) => {
  const response = await create({ name: "never" }, headers);
  expect([response.statusCode, response.json().code]).toEqual([400, code]);
});

test("A-01: a route over its budget is answered, and its signal aborts", async () => {
  const response = await server.inject({ method: "GET", url: "/slow" });
  expect([response.statusCode, response.json().code, response.headers["retry-after"]]).toEqual([
    503,
    "TUNTAS_HTTP_BUDGET",
    "1",
  ]);
});

test("A-13: a route that is to wait for minutes is refused where it is declared, unless it says why", async () => {
  const declared = Fastify();
  await declared.register(tuntasHttp, { platform: kit.platform });
  const handler = async () => "ready";
  const declare = () => declared.post("/generate-report", { handlerTimeout: 300_000 }, handler);
  expect(declare).toThrow(
    expect.objectContaining({
      code: "TUNTAS_HTTP_LONG_ROUTE",
      message: expect.stringMatching(/POST \/generate-report: expected .* at most 30 s, got 300 s/),
    }),
  );
  const config = { longBecause: "a stream of events", idempotency: "off" as const };
  declared.post("/events", { handlerTimeout: 300_000, config }, handler);
  expect((await declared.inject({ method: "POST", url: "/events" })).body).toBe("ready");
  await declared.close();
});

test("A-22: of two deployments side by side the figures say which one fails", async () => {
  const scrape = async (revision: string, answer: () => unknown) => {
    process.env.TUNTAS_REVISION = revision;
    const deployed = Fastify();
    await deployed.register(tuntasHttp, { platform: kit.platform });
    deployed.get("/order", async () => answer());
    const at = await deployed.listen({ port: 0, host: "127.0.0.1" });
    const get = async (path: string) => (await fetch(at + path)).text();
    for (let n = 0; n < 3; n++) await get("/order");
    const text = await get("/metrics");
    await deployed.close();
    return text.split("\n").filter((line) => line.startsWith("tuntas_http_request_seconds_count"));
  };
  try {
    const good = await scrape("2026.11.3", () => ({}));
    const bad = await scrape("2026.11.4", () => {
      throw new Error("a bad deployment");
    });
    expect(good).toEqual([expect.stringMatching(/revision="2026.11.3".*status="200"\} 3$/)]);
    expect(bad).toEqual([expect.stringMatching(/revision="2026.11.4".*status="500"\} 3$/)]);
  } finally {
    delete process.env.TUNTAS_REVISION;
  }
});

test("V-01: rate, times, errors by class, dependencies, saturation, revision and trace coverage are on the metrics page", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await server.inject({ method: "POST", url: "/secret", headers: { traceparent } });
  await server.inject({ method: "POST", url: "/stock" });
  const { body } = await server.inject("/metrics");
  expect(body).toMatch(/tuntas_http_request_seconds_count\{.*route="\/secret",status="\d{3}"\} \d+/);
  expect(body).toMatch(/tuntas_http_request_seconds_bucket\{le="0.5",.*route="\/secret"/);
  expect(body).toMatch(/tuntas_http_requests_total\{service="application",class="\dxx"\} \d+/);
  expect(body).toContain("# TYPE tuntas_side_effect_seconds histogram");
  for (const saturation of ["tuntas_http_in_flight", "tuntas_event_loop_delay_seconds"])
    expect(body).toMatch(new RegExp(`^${saturation} [0-9.e-]+$`, "m"));
  expect(body).toMatch(/tuntas_process_memory_bytes\{service="application"\} [1-9]/);
  expect(body).toMatch(/tuntas_process_cpu_seconds_total\{service="application"\} [0-9.]+/);
  expect(body).toMatch(/tuntas_build_info\{version="v\d+[^"]*",revision="none"\} 1/);
  expect(body).toMatch(/tuntas_http_traces_total\{traced="yes"\} 1/);
  expect(body).toMatch(/tuntas_http_traces_total\{traced="no"\} \d+/);
});

test("A-03: a correlation id that would break a log or a header is replaced by a new one", async () => {
  for (const hostile of ["a b", "x".repeat(200), "\u00e9"]) {
    const { headers } = await server.inject({
      method: "POST",
      url: "/free",
      headers: { "x-correlation-id": hostile },
    });
    expect(headers["x-correlation-id"]).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test("V-15: the outbox's age and rows are figures of the metrics page, by target", async () => {
  const target = { kind: "function", name: "nobody-takes-it" };
  await kit.platform.database.transaction((tx) => add(tx, { target, payload: "x" }));
  const metrics = async () => (await server.inject("/metrics")).body;
  // Whoever has just asked left figures that count as fresh for a while.
  await expect
    .poll(metrics)
    .toContain('tuntas_outbox_rows{kind="function",name="nobody-takes-it",state="waiting"} 1');
  expect(await metrics()).toMatch(
    /tuntas_outbox_oldest_age_seconds\{kind="function",name="nobody-takes-it"\} \d+\.\d+/,
  );
});

test("G-07: an announcement joins the request's transaction, in whatever schema that is", async () => {
  expect((await server.inject({ method: "POST", url: "/told" })).json()).toMatchObject({
    eventId: expect.any(String),
  });
  const { targets } = await readStatus(kit.platform.database);
  expect(targets).toContainEqual(
    expect.objectContaining({ target: { kind: "function", name: "told" }, waiting: 1 }),
  );
});

test("a route's schema checks its body and makes it what the handler gets", async () => {
  const say = (payload: object) => server.inject({ method: "POST", url: "/said/a", payload });
  expect((await say({})).json()).toEqual({ body: { size: 3 } });
  const refused = await say({ size: "big" });
  expect(refused.statusCode).toBe(400);
  expect(refused.json()).toMatchObject({ code: "TUNTAS_HTTP_INVALID", issues: [{ path: "size" }] });
});

test("/openapi.json tells what each route takes, and leaves health and metrics out", async () => {
  const { paths, openapi } = (await server.inject("/openapi.json")).json();
  expect(openapi).toBe("3.1.0");
  expect(Object.keys(paths)).not.toContain("/livez");
  expect(paths["/said/{id}"].post).toMatchObject({
    summary: "Say it",
    parameters: [{ name: "id", in: "path" }, { name: "X-Desk", in: "header" }, { name: "X-Correlation-Id" }],
    requestBody: {
      content: { "application/json": { schema: { properties: { size: { type: "number" } } } } },
    },
  });
  expect(paths["/things"].post.parameters).toContainEqual(
    expect.objectContaining({ name: "Idempotency-Key", required: true }),
  );
});
