// The processes of the simulation: they die and are followed by others without a trace.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openWire, type Wire } from "./fault/proxy.ts";
import { Node } from "./process.ts";
import { scope } from "./world.ts";

let kit: TestPlatform;
let wire: Wire;
beforeAll(async () => {
  kit = await testPlatform();
  wire = await openWire(kit.databaseUrl);
});
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await wire[Symbol.asyncDispose]();
});

test("a process that is followed while it works ends itself, and not the one that follows", async () => {
  const node = new Node(wire, kit.schema);
  await node.begin();
  const { catalog } = kit.platform.queues;
  const work = await catalog.get(scope, "work");
  // Its end takes as long as this attempt, so that the next life has begun before.
  await node.queues.work.send({ id: randomUUID(), mode: "hang" });
  await expect.poll(() => catalog.countInFlight(work, 1)).toBe(1);
  node.renew();
  await node.ended();
  await node.queues.followUp.send({ id: randomUUID() });
  await node.end();
  await expect.poll(() => wire.serverPorts()).toEqual([]);
});

test("a process that is turned away for want of connections is told so, and begins when there are some", async () => {
  wire.turnAway(60_000);
  const refused = openPlatform({ databaseUrl: wire.url, schema: kit.schema });
  await expect(refused).rejects.toMatchObject({ code: "TUNTAS_DATABASE_FULL" });
  const node = new Node(wire, kit.schema);
  const begun = node.begin();
  wire.heal();
  await begun;
  await node.end();
});

test("a process that cannot begin says so", async () => {
  const node = new Node(wire, kit.schema);
  wire.refuse(60_000);
  await expect(node.begin(500)).rejects.toThrow(/^a process begins: not within 500 ms/);
  wire.heal();
});
