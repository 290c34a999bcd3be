import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { acts, may, permissions, roles } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const by = { actor: "test", from: "command line" };
const password = "correct horse battery";

test("the table of permissions: each act has a meaning, an admin may all, a viewer changes nothing", () => {
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

test("who signs in gets a session; a wrong password and an unknown name look the same", async () => {
  const { users, sessions } = kit.platform.access;
  await users.add({ name: "ada", role: "admin", password }, by);
  const from = "10.0.0.1";
  expect(await sessions.signIn({ name: "ada", password: "wrong wrong wrong", from })).toEqual({
    status: "refused",
  });
  expect(await sessions.signIn({ name: "nobody", password, from })).toEqual({ status: "refused" });
  const signed = await sessions.signIn({ name: "ada", password, from });
  if (signed.status !== "signed in") throw new Error(signed.status);
  expect(await sessions.find(signed.token)).toMatchObject({ user: "ada", role: "admin" });
  await sessions.signOut(signed.token, from);
  expect(await sessions.find(signed.token)).toBeUndefined();
});
