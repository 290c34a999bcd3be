// In plain JavaScript nothing but the function itself can say that it does not know an option, which it would ignore.
import { expect, test } from "vitest";
import { batch } from "./batch/declaration.ts";
import { app, start } from "./app.ts";
import { isTuntasError } from "./core/error.ts";
import type { Schema } from "./core/schema.ts";
import { downstream } from "./engine/outside/downstream.ts";
import { runUntilSignal } from "./engine/service.ts";
import {
  claimLease,
  compensation,
  effect,
  once,
  provider,
  registerCompensation,
  reserve,
  takeIn,
  timing,
} from "./ledger/index.ts";
import { httpTarget } from "./outbox/index.ts";
import { shareCommits } from "./pg/share.ts";
import { openPlatform } from "./platform.ts";
import { queue } from "./queue/declaration.ts";
import { stream } from "./stream/declaration.ts";
import { testPlatform, testWorkflow } from "./testing/index.ts";
import { workflow } from "./workflow/declaration.ts";

const any: Schema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
const looked = { owner: "shop-team", runbook: "runbooks/shop.md" };
const words = queue("words", { message: any, deadLetter: { after: 5, retention: "14d", ...looked } });
const facts = stream("facts", { record: any, partitions: 1, key: "of", retention: "1d", ...looked });
const flow = workflow("Flow", { definition: { StartAt: "End", States: { End: { Type: "Succeed" } } } });
const settle = batch("settle", {
  input: any,
  partitions: () => [{ key: "all" }],
  handle: () => undefined,
  validate: () => [],
  promote: () => undefined,
  staging: { table: "staged", kept: "0s" },
  retry: { attempts: 1, base: "1s", max: "1s" },
  timeout: "1m",
  concurrency: 1,
  priority: 0,
  runsOn: "anywhere",
  ...looked,
});
const undo = compensation({ name: "undo", undo: async () => undefined });
const sql = {} as never;
const run = async () => undefined as never;

/** Every public function that takes options and is no declaration (those are in declarations.test.ts). */
const functions: Readonly<Record<string, (options: never) => unknown>> = {
  start: (options) => start(app({}), options),
  app: (options) => app({}, options),
  openPlatform,
  runUntilSignal: (options) => runUntilSignal(run, options),
  shareCommits: (options) => shareCommits(sql, options),
  provider,
  timing,
  compensation,
  registerCompensation: (options) => registerCompensation(sql, undo, options),
  'downstream "post"': (options) => downstream("post", options),
  once: (options) => once(sql, options, run),
  takeIn: (options) => takeIn(sql, options, run),
  effect: (options) => effect({ database: sql }, options, run),
  reserve: (options) => reserve(sql, options),
  claimLease: (options) => claimLease(sql, options),
  httpTarget,
  send: (options) => words.send({}, options),
  append: (options) => facts.append({}, options),
  "start of workflow Flow": (options) => flow.start({}, options),
  "start of batch settle": (options) => settle.start({}, options),
  testPlatform,
  testWorkflow: (options) => testWorkflow(flow, options),
};

const refusalOf = async (call: () => unknown): Promise<string> => {
  try {
    await call();
  } catch (cause) {
    if (isTuntasError(cause)) return `${cause.code} ${cause.message}`;
    throw cause;
  }
  return "nothing was refused";
};

test.each(Object.entries(functions))(
  "%s refuses an option that it does not know, before anything",
  async (name, call) => {
    const told = await refusalOf(() => call({ zzzzzzzzzzzz: 1 } as never));
    expect(told).toMatch(/^TUNTAS_OPTION_UNKNOWN /);
    expect(told).toContain(`${name}: zzzzzzzzzzzz: there is no such option; known are `);
  },
);

test.each([
  ["start", { wokers: false }, "workers"],
  ["send", { groupID: "a" }, "groupId"],
  ["provider", { breakerFailure: 2 }, "breakerFailures"],
  ['downstream "post"', { breaker: { trialM: 1 } }, "trialMs"],
] as const)("%s asks which one was meant by %j", async (name, given, meant) => {
  expect(await refusalOf(() => functions[name]!(given as never))).toContain(`did you mean ${meant}?`);
});
