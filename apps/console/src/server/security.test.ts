// What a stranger, a page of another site, a wrong role and a clumsy client get: a coded refusal, and nothing is changed.
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type Gateway } from "tuntas/gateway";
import { defaultScope } from "tuntas/queue";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { consolePages } from "../index.ts";

const webFolder = fileURLToPath(new URL("../../../../lib/dist/apps/console/web/", import.meta.url));

let kit: TestPlatform;
let gateway: Gateway;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.queues.catalog.create(defaultScope, "work", {});
  const apis = () => ({
    self: `http://127.0.0.1:${gateway.port}/console/api`,
    nobody: "http://127.0.0.1:1",
  });
  const pages = consolePages({ platform: kit.platform, webFolder, apis });
  gateway = await startGateway({ platform: kit.platform, port: 0, pages });
});
afterAll(async () => {
  await gateway.close();
  await kit[Symbol.asyncDispose]();
});

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** As a client asks that sets what it likes, Host and Origin included. */
function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port: gateway.port, path, method, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      asked.on("error", reject);
      asked.end(body);
    },
  );
}

const json = { "content-type": "application/json", "x-tuntas-csrf": "local" };
const pause = (headers: Readonly<Record<string, string>>, more: object = {}) =>
  ask("/console/api/queue.pause", {
    method: "POST",
    headers,
    body: JSON.stringify({ queue: "work", reason: "a test", ...more }),
  });

const codeOf = ({ text }: { text: string }): string => (JSON.parse(text) as { code: string }).code;
const isPaused = async () => {
  kit.platform.queues.catalog.forget();
  return (await kit.platform.queues.catalog.get(defaultScope, "work")).pausedAtMs !== null;
};

test("every answer forbids scripts and styles of others, frames and guessed types, and JSON is not stored", async () => {
  for (const path of ["/console/", "/console/api/session", "/console/api/nothing", "/console/nothing"]) {
    const { headers } = await ask(path, { headers: { accept: "text/html" } });
    expect(headers["content-security-policy"]).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers["content-security-policy"]).not.toMatch(/unsafe-/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cache-control"]).toBe("no-store");
  }
});

test("a page of another site that has its own name point here sees nothing (DNS rebinding)", async () => {
  for (const path of ["/console/", "/console/api/home"]) {
    const answer = await ask(path, { headers: { host: "evil.example", accept: "text/html" } });
    expect([answer.status, codeOf(answer)]).toEqual([421, "TUNTAS_ACCESS_HOST"]);
  }
});

test.each<[string, Record<string, string>]>([
  ["without the header that no form can send", { "content-type": "application/json" }],
  ["from another origin", { ...json, origin: "https://evil.example" }],
  ["from a sandboxed frame", { ...json, origin: "null" }],
  ["that the browser calls cross-site", { ...json, "sec-fetch-site": "cross-site" }],
])("an act %s is refused and changes nothing", async (_what, headers) => {
  const answer = await pause(headers);
  expect([answer.status, codeOf(answer)]).toEqual([403, "TUNTAS_ACCESS_FORGED"]);
  expect(await isPaused()).toBe(false);
});

test.each<[string, Record<string, string>, object, RegExp]>([
  ["as a form", { ...json, "content-type": "text/plain" }, {}, /content-type/],
  ["without a reason", json, { reason: "" }, /reason/],
  ["on no queue", json, { queue: 7 }, /queue/],
])("an act %s is refused by name", async (_what, headers, body, names) => {
  const answer = await pause(headers, body);
  expect([answer.status, codeOf(answer)]).toEqual([400, "TUNTAS_CONSOLE_REQUEST"]);
  expect(answer.text).toMatch(names);
  expect(await isPaused()).toBe(false);
});

test("the first page comes to whoever asks for it; another address is a page only to a browser", async () => {
  const any = { headers: { accept: "*/*" } };
  const front = await ask("/console/", any);
  expect([front.status, front.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect((await ask("/console/queues", any)).status).toBe(404);
});

test("names of prototypes are no reads and no acts", async () => {
  for (const name of ["constructor", "toString", "valueOf"]) {
    expect((await ask(`/console/api/${name}`)).status).toBe(404);
    expect((await ask(`/console/api/${name}`, { method: "POST", headers: json, body: "{}" })).status).toBe(
      404,
    );
  }
});

test("no path leads out of the pages", async () => {
  for (const path of [
    "/console/../package.json",
    "/console/..%2f..%2fpackage.json",
    "/console/%2e%2e/%2e%2e/server/index.js",
    "/console/assets/..%5c..%5cserver%5cindex.js",
    "/console//etc/passwd",
  ]) {
    const { status, text } = await ask(path);
    expect({ path, status }).toEqual({ path, status: expect.toSatisfy((code: number) => code >= 400) });
    expect(text).not.toMatch(/root:|"name"|import /);
  }
});

test("a body beyond 2 MiB is refused", async () => {
  const answer = await pause(json, { filler: "x".repeat(3 * 1024 * 1024) }).catch(
    (cause: { code: string }) => cause,
  );
  if ("code" in answer) return expect(["ECONNRESET", "EPIPE"]).toContain(answer.code);
  expect([answer.status, codeOf(answer)]).toEqual([413, "TUNTAS_CONSOLE_TOO_LARGE"]);
});

test("a client that never ends its request keeps nobody waiting", async () => {
  const slow = connect(gateway.port, "127.0.0.1");
  slow.write(
    "POST /console/api/queue.pause HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n",
  );
  slow.write("X-Tuntas-Csrf: local\r\nContent-Length: 1000\r\n\r\n{");
  const began = performance.now();
  expect((await ask("/console/api/session")).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(5000);
  slow.destroy();
});

test("only APIs that the console was started with are called, and no path leads out of them (SSRF)", async () => {
  const call = (body: object) =>
    ask("/console/api/api.call", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ reason: "a test", method: "GET", path: "/", ...body }),
    });
  const own = `http://127.0.0.1:${gateway.port}`;
  const foreign = await call({ api: own });
  expect([foreign.status, codeOf(foreign)]).toEqual([404, "TUNTAS_CONSOLE_MISSING"]);
  for (const path of ["@evil.example/", "http://evil.example/", "/../_tuntas/health", "/%2e%2e/%2e%2e/x"]) {
    const answer = await call({ api: "self", path });
    expect([path, answer.status, codeOf(answer)]).toEqual([path, 400, "TUNTAS_CONSOLE_REQUEST"]);
  }
  const nobody = await call({ api: "nobody" });
  expect([nobody.status, codeOf(nobody)]).toEqual([502, "TUNTAS_CONSOLE_API"]);
  const answer = JSON.parse((await call({ api: "self", path: "/session" })).text) as { status: number };
  expect(answer.status).toBe(200);
});

test("an act leaves who did it and why on the record", async () => {
  const reason = `a test ${randomUUID()}`;
  expect((await pause(json, { reason })).status).toBe(200);
  const [row] = await kit.platform.access.record({ search: reason }, { limit: 1 });
  expect(row).toMatchObject({ actor: "local", action: "queue.pause", subject: "queue work", reason });
  await ask("/console/api/queue.resume", {
    method: "POST",
    headers: json,
    body: JSON.stringify({ queue: "work", reason }),
  });
});

test("once there is a user, everybody signs in, and a viewer changes nothing", async () => {
  const { access } = kit.platform;
  const by = { actor: "test", from: "test" };
  const password = "a long enough password";
  await access.users.add({ name: "root", role: "admin", password }, by);
  await access.users.add({ name: "vera", role: "viewer", password }, by);
  await access.users.add({ name: "omar", role: "operator", password }, by);

  const stranger = await ask("/console/api/home");
  expect([stranger.status, codeOf(stranger)]).toEqual([401, "TUNTAS_ACCESS_UNKNOWN"]);
  expect((await pause(json)).status).toBe(401);

  const signIn = (name: string, given: string) =>
    ask("/console/api/sign-in", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ name, password: given }),
    });
  expect((await signIn("vera", "a wrong but long one")).status).toBe(401);

  const sessionOf = async (name: string) => {
    const cookie = String((await signIn(name, password)).headers["set-cookie"]);
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const cookieHeader = { cookie: cookie.split(";")[0]! };
    const view = await ask("/console/api/session", { headers: cookieHeader });
    const { token } = JSON.parse(view.text) as { token: string };
    return { ...json, ...cookieHeader, "x-tuntas-csrf": token };
  };
  const vera = await sessionOf("vera");
  expect((await ask("/console/api/home", { headers: vera })).status).toBe(200);
  const tried = (name: string, body: object) =>
    ask(`/console/api/${name}`, { method: "POST", headers: vera, body: JSON.stringify(body) });
  for (const refused of [
    await pause(vera),
    await tried("message.send", { queue: "work", body: "a", reason: "a test" }),
    await tried("workflow.start", { machine: "any", input: "{}", reason: "a test" }),
    await tried("api.call", { api: "self", method: "GET", path: "/session", reason: "a test" }),
  ])
    expect([refused.status, codeOf(refused)]).toEqual([403, "TUNTAS_ACCESS_DENIED"]);

  const omar = await sessionOf("omar");
  const foreignToken = await pause({ ...omar, "x-tuntas-csrf": vera["x-tuntas-csrf"] });
  expect([foreignToken.status, codeOf(foreignToken)]).toEqual([403, "TUNTAS_ACCESS_FORGED"]);
  expect(await isPaused()).toBe(false);
  expect((await pause(omar)).status).toBe(200);
  const [row] = await access.record({ action: "queue.pause" }, { limit: 1 });
  expect(row!.actor).toBe("omar");

  await ask("/console/api/sign-out", { method: "POST", headers: omar, body: "{}" });
  expect((await ask("/console/api/home", { headers: omar })).status).toBe(401);
});
