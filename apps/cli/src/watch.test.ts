// Users, keys and alarms from the command line.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alarm, app, makeLog, openPlatform, start } from "tuntas";
import { household, type Household } from "./household.fixture.ts";

let home: Household;
beforeAll(async () => void (home = await household()));
afterAll(() => home[Symbol.asyncDispose]());

test("users are added with a password from standard input, listed, changed and removed", async () => {
  const password = "correct horse battery";
  expect(await home.run(["user", "add", "ada", "--role", "admin"], `${password}\n`)).toMatchObject({
    status: 0,
    stdout: "added ada, admin\n",
  });
  expect((await home.run(["user", "add", "bo", "--role", "viewer"], "short")).stderr).toContain(
    "TUNTAS_USER_INVALID",
  );
  await home.run(["user", "add", "bo", "--role", "viewer"], password);
  expect((await home.run(["user", "role", "bo", "approver"])).stdout).toBe("bo is approver\n");
  expect((await home.run(["user", "passwd", "bo"], "another good password")).status).toBe(0);
  const { document } = await home.json(["user", "list"]);
  expect(document).toMatchObject({
    users: [
      { name: "ada", role: "admin" },
      { name: "bo", role: "approver" },
    ],
  });
  expect(JSON.stringify(document)).not.toContain("scrypt");
  expect((await home.run(["user", "remove", "bo"])).stderr).toContain("TUNTAS_CLI_UNCONFIRMED");
  expect((await home.run(["user", "remove", "bo", "--yes"])).status).toBe(0);
  expect((await home.run(["user", "remove", "ada", "--yes"])).stderr).toContain("TUNTAS_USER_LAST_ADMIN");
});

test("a key's secret is shown once, and the key can be revoked", async () => {
  const scopes = ["--scope", "sqs:SendMessage@order-*", "--scope", "console:viewer"];
  const { document: key } = await home.json(["key", "create", "orders-api", ...scopes, "--life", "90d"]);
  expect(key).toMatchObject({ id: expect.stringMatching(/^TUNT[A-Z2-7]{16}$/), secret: expect.any(String) });
  const listed = await home.run(["key", "list"]);
  expect(listed.stdout).toContain("sqs:SendMessage@order-*");
  expect(listed.stdout).not.toContain((key as { secret: string }).secret);
  expect((await home.run(["key", "create", "bad", "--scope", "all"])).stderr).toContain("TUNTAS_KEY_INVALID");
  const { id } = key as { id: string };
  expect((await home.run(["key", "revoke", id, "--yes"])).stdout).toBe(`revoked ${id}\n`);
  expect((await home.run(["key", "revoke", id, "--yes"])).stderr).toContain("TUNTAS_KEY_UNKNOWN");
});

test("V-23: alarms are listed, shown with their runbook's live values, and tried the whole way", async () => {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(String(request.headers["idempotency-key"]));
    request.resume().on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const platform = await openPlatform({ databaseUrl: home.url, log: makeLog() });
  const ordersOld = alarm("orders-old", {
    metric: { name: "tuntas_queue_oldest_age_seconds", labels: { queue: "order-work" } },
    when: { above: 60 },
    of: [3, 5],
    missing: "ignore",
    owner: "orders-team",
    runbook: "runbooks/orders.md",
    notify: [{ webhook: url }],
  });
  await (await start(app({ ordersOld }), { platform, workers: false })).stop();
  await platform.database.transaction(({ client }) =>
    client.query(
      "insert into tuntas.alarm_state values ('dead-letters', 'none', 'INSUFFICIENT_DATA', now(), null, 'nobody has looked')",
    ),
  );
  await platform.close();

  const { document } = await home.json(["alarm", "list"]);
  expect((document as { alarms: unknown[] }).alarms).toContainEqual(
    expect.objectContaining({ name: "orders-old", owner: "orders-team", state: "OK", source: "declared" }),
  );
  const firing = await home.run(["alarm", "list", "--firing"]);
  expect(firing).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^Nothing is in alarm: \d+ of \d+ alarms OK.*\n1 alarm is neither: INSUFFICIENT_DATA.*tuntas alarm list shows them/,
    ),
  });
  const shown = await home.run(["alarm", "show", "oldest-message"]);
  expect(shown.stdout).toMatch(
    /1\. How old is the oldest message\?[^]*5\. How many processes work on it\?[^]*→ /,
  );
  const tried = await home.json(["alarm", "test", "orders-old", "--reason", "does it ring?"]);
  expect(tried).toMatchObject({ status: 0, document: { deliveries: [{ state: "delivered" }] } });
  expect(got).toHaveLength(1);
  expect((await home.run(["alarm", "test", "dead-letters"])).status).toBe(1);
  expect((await home.run(["alarm", "show", "nothing"])).stderr).toContain("TUNTAS_ALARM_UNKNOWN");
  expect((await home.run(["alarm", "remove", "orders-old", "--yes"])).status).toBe(0);
  server.close();
});
