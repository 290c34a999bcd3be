import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import {
  acts,
  csrfOf,
  makeGuard,
  may,
  permissions,
  roles,
  securityHeaders,
  sessionCookie,
  type Role,
} from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const by = { actor: "test", from: "command line" };
const password = "correct horse battery";
const access = () => kit.platform.access;

/** Every text that the tables of this room and the record hold. */
async function everythingStored(): Promise<string> {
  const tables = ["access_user", "access_session", "access_key", "audit"];
  const parts = await kit.platform.database.transaction(async (tx) => {
    const texts: string[] = [];
    for (const table of tables)
      texts.push(
        JSON.stringify((await tx.client.query(`select t::text from ${kit.schema}.${table} t`)).rows),
      );
    return texts;
  });
  return parts.join("\n");
}

test("the table of permissions: an admin may all, a viewer changes nothing, only approvers decide", () => {
  for (const act of acts) expect(may("admin", act), act).toBe(true);
  expect(acts.filter((act) => may("viewer", act))).toEqual(["view", "audit.read"]);
  expect(acts.filter((act) => may("approver", act) && !may("operator", act))).toEqual([
    "payload.reveal",
    "approval.decide",
    "discrepancy.decide",
    "operation.approve",
  ]);
  for (const { roles: allowed } of Object.values(permissions))
    expect(roles).toEqual(expect.arrayContaining([...allowed]));
});

test("on this machine, without users, whoever is here is the owner; pages of other sites are not", async () => {
  const guard = makeGuard({ access: access(), host: "127.0.0.1", secure: false });
  const ask = (method: string, headers: Record<string, string>) =>
    guard.demand(
      { method, headers: { host: "localhost:4566", ...headers }, from: "127.0.0.1" },
      "queue.pause",
    );
  expect((await ask("GET", {})).who).toMatchObject({ name: "local", role: "admin", via: "loopback" });
  expect((await ask("POST", { "x-tuntas-csrf": "1" })).who.name).toBe("local");
  const forged = { code: "TUNTAS_ACCESS_FORGED" };
  await expect(ask("POST", {})).rejects.toMatchObject(forged);
  await expect(ask("POST", { "x-tuntas-csrf": "1", origin: "https://evil.example" })).rejects.toMatchObject(
    forged,
  );
  await expect(ask("POST", { "x-tuntas-csrf": "1", origin: "null" })).rejects.toMatchObject(forged);
  await expect(ask("POST", { "x-tuntas-csrf": "1", "sec-fetch-site": "same-site" })).rejects.toMatchObject(
    forged,
  );
  // A name of somebody else's that points here.
  await expect(ask("GET", { host: "evil.example:4566" })).rejects.toMatchObject({
    code: "TUNTAS_ACCESS_HOST",
  });
});

async function signIn(name: string, from = "10.0.0.1"): Promise<string> {
  const signed = await access().sessions.signIn({ name, password, from });
  if (signed.status !== "signed in") throw new Error(signed.status);
  return signed.token;
}

const add = (name: string, role: Role) => access().users.add({ name, role, password }, by);

test("who signs in gets a session; a wrong password and an unknown name look the same", async () => {
  const { sessions } = access();
  await add("ada", "admin");
  const from = "10.0.0.1";
  const wrong = { name: "ada", password: "wrong wrong wrong", from };
  expect(await sessions.signIn(wrong)).toEqual({ status: "refused" });
  expect(await sessions.signIn({ name: "nobody", password, from })).toEqual({ status: "refused" });
  const token = await signIn("ada");
  expect(await sessions.find(token)).toMatchObject({ user: "ada", role: "admin" });
  await sessions.signOut(token, from);
  expect(await sessions.find(token)).toBeUndefined();
});

test("a request is judged by its session: no cookie, a wrong role, a forged or stale token", async () => {
  await add("vera", "viewer");
  const guard = makeGuard({ access: access(), host: "0.0.0.0", secure: true });
  const token = await signIn("vera");
  const cookie = sessionCookie(token, { secure: true });
  expect(cookie).toMatch(/^__Host-tuntas=.*HttpOnly; SameSite=Strict; Secure$/);
  const headers = { host: "console.example", cookie: cookie.split(";")[0]! };
  const ask = (method: string, more: Record<string, string>, act: "view" | "queue.pause" = "view") =>
    guard.demand({ method, headers: { ...headers, ...more }, from: "10.0.0.1" }, act);
  await expect(ask("GET", { cookie: "" })).rejects.toMatchObject({ code: "TUNTAS_ACCESS_UNKNOWN" });
  await expect(ask("GET", { cookie: `tuntas-session=${token}` })).rejects.toMatchObject({
    code: "TUNTAS_ACCESS_UNKNOWN",
  });
  const { who, csrf } = await ask("GET", {});
  expect(who).toEqual({ name: "vera", role: "viewer", via: "session", from: "10.0.0.1" });
  expect(csrf).toBe(csrfOf(token));
  await expect(ask("GET", {}, "queue.pause")).rejects.toMatchObject({ code: "TUNTAS_ACCESS_DENIED" });
  await expect(ask("POST", {})).rejects.toMatchObject({ code: "TUNTAS_ACCESS_FORGED" });
  await expect(ask("POST", { "x-tuntas-csrf": csrfOf("another") })).rejects.toMatchObject({
    code: "TUNTAS_ACCESS_FORGED",
  });
  const own = { "x-tuntas-csrf": csrf!, origin: "https://console.example", "sec-fetch-site": "same-origin" };
  expect((await ask("POST", own)).who.name).toBe("vera");
  await access().users.setRole("vera", "operator", by);
  await expect(ask("GET", {})).rejects.toMatchObject({ code: "TUNTAS_ACCESS_UNKNOWN" });
});

test("a session that nobody uses ends after an hour, and any after twelve", async () => {
  const { sessions } = access();
  const idle = await signIn("ada");
  await kit.advance(61 * 60_000);
  expect(await sessions.find(idle)).toBeUndefined();
  const used = await signIn("ada");
  for (let hours = 0; hours < 12.5; hours += 0.5) {
    await sessions.find(used);
    await kit.advance(30 * 60_000);
  }
  expect(await sessions.find(used)).toBeUndefined();
});

test("tries are limited, in all processes together, also with the right password", async () => {
  await add("eve", "viewer");
  const other = (await kit.another()).access;
  const attempt = (of: typeof other, given: string) =>
    of.sessions.signIn({ name: "eve", password: given, from: "10.9.9.9" });
  const tries = await Promise.all(
    Array.from({ length: 8 }, (_, index) => attempt(index % 2 ? other : access(), "not the password")),
  );
  expect(tries.filter(({ status }) => status === "refused")).toHaveLength(5);
  expect(tries.filter(({ status }) => status === "limited")).toHaveLength(3);
  expect(await attempt(other, password)).toMatchObject({
    status: "limited",
    retryAfterSeconds: expect.any(Number),
  });
  await kit.advance(5 * 60_000 + 1000);
  expect((await attempt(other, password)).status).toBe("signed in");
});

test("an unknown name takes as long to refuse as a wrong password", async () => {
  const { isPassword, hashPassword } = await import("./password.ts");
  const hash = await hashPassword(password);
  expect(await isPassword(password, hash)).toBe(true);
  const cpuOf = async (work: () => Promise<boolean>) => {
    const before = process.cpuUsage();
    expect(await work()).toBe(false);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await isPassword("x", undefined);
  const wrong = await cpuOf(() => isPassword("wrong", hash));
  const unknown = await cpuOf(() => isPassword("wrong", undefined));
  expect(unknown / wrong).toBeGreaterThan(0.4);
  expect(unknown / wrong).toBeLessThan(2.5);
});

test("the last admin stays; names, roles and passwords are checked", async () => {
  const { users } = access();
  await expect(users.remove("ada", by)).rejects.toMatchObject({ code: "TUNTAS_USER_LAST_ADMIN" });
  await expect(users.setRole("ada", "viewer", by)).rejects.toMatchObject({ code: "TUNTAS_USER_LAST_ADMIN" });
  await expect(add("ada", "viewer")).rejects.toMatchObject({ code: "TUNTAS_USER_EXISTS" });
  await expect(users.remove("nobody", by)).rejects.toMatchObject({ code: "TUNTAS_USER_MISSING" });
  for (const wrong of [
    { name: "a b", role: "viewer" as const, password },
    { name: "short", role: "viewer" as const, password: "short" },
    { name: "root", role: "owner" as Role, password },
  ])
    await expect(users.add(wrong, by)).rejects.toMatchObject({ code: "TUNTAS_USER_INVALID" });
});

test("C-09: no secret is stored, and every act is on the record with who and from where", async () => {
  const key = await access().keys.create({ name: "machine", scopes: ["sqs:*"] }, by);
  const token = await signIn("ada");
  const stored = await everythingStored();
  for (const secret of [key.secret, token, password, csrfOf(token)]) expect(stored).not.toContain(secret);
  for (const action of ["user.add", "user.role", "key.create", "session.begin", "session.refused"])
    expect(stored).toContain(action);
  expect(stored).toContain("10.0.0.1");
});

test("a key is known by its bearer or not at all; what it may do at the console is its scope", async () => {
  const { keys } = access();
  const guard = makeGuard({ access: access(), host: "0.0.0.0", secure: false });
  const viewer = await keys.create({ name: "dashboard", scopes: ["console:viewer"] }, by);
  const ask = (bearer: string, act: "view" | "queue.pause") =>
    guard.demand(
      { method: "POST", headers: { host: "x", authorization: `Bearer ${bearer}` }, from: "10.1.1.1" },
      act,
    );
  expect((await ask(`${viewer.id}.${viewer.secret}`, "view")).who).toMatchObject({
    name: "dashboard",
    via: "key",
  });
  await expect(ask(`${viewer.id}.${viewer.secret}`, "queue.pause")).rejects.toMatchObject({
    code: "TUNTAS_ACCESS_DENIED",
  });
  await expect(ask(`${viewer.id}.${"x".repeat(40)}`, "view")).rejects.toMatchObject({
    code: "TUNTAS_ACCESS_UNKNOWN",
  });
  const short = await keys.create({ name: "short", scopes: ["console:viewer"], lifeSeconds: 60 }, by);
  await kit.advance(61_000);
  const other = (await kit.another()).access;
  expect(await other.keys.ofBearer(`Bearer ${short.id}.${short.secret}`)).toBeUndefined();
  expect(await other.keys.ofBearer(`Bearer ${viewer.id}.${viewer.secret}`)).toMatchObject({
    name: "dashboard",
  });
  for (const scopes of [[], ["everything"], ["console:root"]])
    await expect(keys.create({ name: "bad", scopes }, by)).rejects.toMatchObject({
      code: "TUNTAS_KEY_INVALID",
    });
});

test("every page says what it may load, and who may frame it: nobody", () => {
  const headers = securityHeaders({ secure: true });
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["strict-transport-security"]).toBeDefined();
  expect(securityHeaders({ secure: false })["strict-transport-security"]).toBeUndefined();
});
