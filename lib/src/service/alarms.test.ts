// Deployments that are tied to alarms, with real processes and alarms that really go off.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { alarm } from "../alarm/index.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Rollout } from "./index.ts";
import { names, newName, openStage, web } from "./stage.fixture.ts";

const stage = openStage();
const { control, deploy, running, logOf } = stage;

const tied = (alarms: NonNullable<Rollout["alarms"]>): Rollout => ({
  minimumHealthyPercent: 100,
  maximumPercent: 200,
  circuitBreaker: { rollback: true },
  deregistrationDelay: "0s",
  alarms,
});

/** An alarm that goes off as soon as anything lies in its queue, and what puts something there. */
async function errors() {
  const { alarms, queues } = stage.kit.platform;
  const name = `errors-${randomUUID().slice(0, 8)}`;
  const { queue } = await queues.catalog.create(defaultScope, name, {});
  const declared = alarm(name, {
    metric: { name: "tuntas_queue_depth", labels: { queue: name, state: "ready" } },
    when: { above: 0 },
    of: [1, 1],
    period: "10s",
    missing: "notBreaching",
    owner: "tests",
    runbook: "none",
    notify: [],
  });
  await alarms.declare("tests", [declared]);
  return {
    declared,
    raise: () => queues.sender.send(queue, { messageId: randomUUID(), body: "refused" }, "test"),
  };
}

test("D-15: an alarm that goes off during a deployment fails it and brings back what was completed before; the next is not held to it", async () => {
  const host = control();
  const name = newName();
  const { declared, raise } = await errors();
  const { services } = stage.kit.platform;
  const rollout = (bakeTime: "1s" | "10m") => tied({ names: [declared], rollback: true, bakeTime });
  expect(await deploy(web(name, { version: "1", rollout: rollout("1s") }), host)).toMatchObject({
    state: "completed",
  });
  const [baking, completed] = (await logOf(name)).slice(-2);
  expect([baking!.event, completed!.event]).toEqual(["baking", "completed"]);
  expect(completed!.atMs - baking!.atMs).toBeGreaterThanOrEqual(1000);

  const { deployment } = await services.deploy(web(name, { version: "2", rollout: rollout("10m") }), {
    actor: "ada",
    host,
  });
  await expect.poll(async () => names(await logOf(name)).at(-1)).toBe("baking");
  await raise();
  await expect
    .poll(async () => {
      await stage.kit.advance(10_000);
      await stage.kit.platform.sample();
      return (await services.deployment(name, deployment.id)).state;
    })
    .toBe("failed");
  const [back] = (await services.describe(name)).deployments;
  expect(back).toMatchObject({ rollbackOf: deployment.id, revision: 1, actor: `alarm ${declared.name}` });
  expect(await services.settled(back!.id)).toMatchObject({ state: "completed" });
  expect((await running(name)).map(({ revision }) => revision)).toEqual([1]);
  const seen = names(await logOf(name));
  expect(seen.slice(seen.indexOf("alarm"), seen.indexOf("alarm") + 2)).toEqual(["alarm", "rollback"]);

  // The alarm is still in ALARM: what mends it must be let in.
  const third = await deploy(web(name, { version: "3", rollout: rollout("1s") }), host);
  expect(third).toMatchObject({ state: "completed", revision: 3 });
});

test("D-15: a service that is tied to an alarm that nobody has declared is not deployed", async () => {
  const name = newName();
  const rollout = tied({ names: ["dead-letters", "eror-rate"], rollback: true });
  const { services } = stage.kit.platform;
  await expect(services.deploy(web(name, { rollout }), { actor: "ada" })).rejects.toMatchObject({
    code: "TUNTAS_SERVICE_ALARM",
    message: `${name}: nobody has declared eror-rate`,
  });
  await expect(services.describe(name)).rejects.toMatchObject({ code: "TUNTAS_SERVICE_MISSING" });
});
