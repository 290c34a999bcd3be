// Definitions are compiled once a process, however many executions begin at the same moment.
import { expect, test } from "vitest";
import type { Row, Statement } from "../../pg/contract.ts";
import { testPlatform } from "../../testing/index.ts";
import { app, start } from "../../app.ts";
import { workflow } from "../declaration.ts";
import { makeDefinitions } from "./definitions.ts";

test("two thousand executions that begin at once ask for their definition once", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const flow = workflow("asked-once", {
    definition: { StartAt: "P", States: { P: { Type: "Pass", End: true } } },
  });
  await using running = await start(app({ flow }), { platform });
  const { arn } = await flow.start({});
  const { executions } = running.platform.workflows;
  const { revision } = (await executions.find(arn))!;
  let statements = 0;
  const definitions = makeDefinitions({
    run<R extends Row>(wanted: Statement, values?: readonly unknown[]) {
      statements++;
      return platform.database.run<R>(wanted, values);
    },
  });
  const all = await Promise.all(Array.from({ length: 2000 }, () => definitions.get(revision, null)));
  expect(new Set(all).size).toBe(1);
  expect(statements).toBe(1);
});
