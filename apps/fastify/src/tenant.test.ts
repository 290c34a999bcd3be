// Requests of tenants, over two servers of one service as two processes have them.
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readUsage } from "tuntas/measure";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { tuntasHttp } from "./index.ts";

let kit: TestPlatform;
let servers: readonly FastifyInstance[];

async function serve(): Promise<FastifyInstance> {
  const server = Fastify();
  await server.register(tuntasHttp, {
    platform: kit.platform,
    tenantOf: ({ headers }) => headers["x-tenant"] as string | undefined,
    tenantRates: { perSecond: 0.05, burst: 4, only: { premium: { perSecond: 100 } } },
  });
  server.get("/orders", async ({ tenant }) => ({ tenant }));
  server.get("/public", { config: { tenant: false } }, async ({ tenant }) => ({
    tenant: tenant ?? "nobody",
  }));
  const whose = "select coalesce(nullif(current_setting('app.tenant', true), ''), 'nobody') as tenant";
  server.get("/whose", { config: { tenant: false } }, async ({ tx }) => (await tx.query(whose)).rows[0]);
  return server;
}

beforeAll(async () => {
  kit = await testPlatform();
  servers = await Promise.all([serve(), serve()]);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await kit[Symbol.asyncDispose]();
});

const ask = (server: FastifyInstance, tenant?: string, url = "/orders") =>
  server.inject({ url, headers: tenant === undefined ? {} : { "x-tenant": tenant } });

test("N-04 past its rate a tenant is answered 429 with Retry-After and a problem, by each process; another is served", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(servers[n % 2]!, "A")));
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(4);
  const refused = answers.find(({ statusCode }) => statusCode !== 200)!;
  expect(refused.statusCode).toBe(429);
  expect(refused.headers["content-type"]).toContain("application/problem+json");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(10);
  expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(20);
  expect(refused.json()).toMatchObject({
    type: "urn:tuntas:error:TUNTAS_HTTP_TENANT_RATE",
    title: "Too Many Requests",
    status: 429,
    detail: expect.stringContaining("A makes more requests than it may"),
  });
  const others = await Promise.all(
    ["B", "B", ...Array.from({ length: 20 }, () => "premium")].map((tenant) => ask(servers[0]!, tenant)),
  );
  expect(new Set(others.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(others[0]!.json()).toEqual({ tenant: "B" });
  const { body } = await servers[0]!.inject("/metrics");
  expect(body).toMatch(/^tuntas_http_tenant_refused_total [1-9]/m);
  expect(body).not.toContain("premium");
});

test("N-01 a request that names no tenant, or none that can be one, is refused, save where the route needs none; health answers", async () => {
  for (const tenant of [undefined, "", "a b", "x".repeat(129)]) {
    const response = await ask(servers[0]!, tenant);
    expect([response.statusCode, response.json().code]).toEqual([400, "TUNTAS_HTTP_TENANT"]);
  }
  expect((await ask(servers[0]!, undefined, "/public")).json()).toEqual({ tenant: "nobody" });
  for (let n = 0; n < 6; n++)
    expect((await ask(servers[0]!, "C", "/public")).json()).toEqual({ tenant: "C" });
  expect((await servers[0]!.inject("/livez")).statusCode).toBe(200);
  expect((await ask(servers[0]!, undefined, "/nowhere")).statusCode).toBe(404);
});

test("K-07 N-09 each request counts for its tenant, those that were refused too", async () => {
  await kit.platform.sample();
  const rows = await readUsage(kit.platform.database, { work: "http application" });
  const uses = Object.fromEntries(rows.map(({ tenant, uses: count }) => [tenant, count]));
  expect(uses).toMatchObject({ A: 10, B: 2, premium: 20, C: 6 });
});

test("N-12 the transaction of a request acts for its tenant, and the next one on its connection does not", async () => {
  for (const tenant of ["A", undefined, "B", undefined])
    expect((await ask(servers[0]!, tenant, "/whose")).json()).toEqual({ tenant: tenant ?? "nobody" });
});

test("rates without whose the requests are do not start", async () => {
  const server = Fastify();
  const { platform } = kit;
  await expect(
    server.register(tuntasHttp, { platform, tenantRates: { perSecond: 1 } }),
  ).rejects.toMatchObject({
    code: "TUNTAS_HTTP_OPTION",
  });
});
