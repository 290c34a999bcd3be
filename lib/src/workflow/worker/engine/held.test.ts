// What a process holds of its executions is bounded, and what goes on stays longest.
import { expect, test } from "vitest";
import type { ExecutionState } from "../../../asl/contract.ts";
import { compileMachine } from "../../../asl/index.ts";
import { testPlatform } from "../../../testing/index.ts";
import { makeDefinitions } from "../definitions.ts";
import { makeHeld, type Held } from "./held.ts";

const machine = compileMachine({ StartAt: "P", States: { P: { Type: "Pass", End: true } } });
const state = (status: ExecutionState["status"]): ExecutionState => ({
  execution: { id: "", name: "", roleArn: null, startTime: "", machineId: "", machineName: "" },
  status,
  lastEventId: 1,
  serial: 0,
  branches: [],
});
const execution = (id: number, status: ExecutionState["status"] = "RUNNING"): Held => ({
  id: String(id),
  seq: 1,
  revision: "1",
  processor: null,
  history: true,
  machine,
  isOwn: undefined,
  state: state(status),
});

test("a thousand executions are held; those that went on meanwhile outlast those that only wait", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const held = makeHeld(database, makeDefinitions(database));
  for (let id = 0; id < 1000; id++) held.keep(execution(id));
  held.keep(execution(0));
  for (let id = 1000; id < 1010; id++) held.keep(execution(id));
  const left = Array.from({ length: 1010 }, (_, id) => held.get(String(id))?.id).filter(Boolean);
  expect(left).toHaveLength(1000);
  expect(left).toContain("0");
  expect(left).not.toContain("1");
  held.keep(execution(0, "SUCCEEDED"));
  expect(held.get("0")).toBeUndefined();
  expect(await held.load("999999")).toBeUndefined();
});
