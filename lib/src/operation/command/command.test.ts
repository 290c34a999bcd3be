import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rejected } from "../../core/outcome.ts";
import { openTransaction } from "../../engine/handler/transaction.ts";
import { wrongResult } from "../../core/job-result.ts";
import { ada, given, grace, openOffice } from "./command.fixture.ts";
import { purposes, type Purpose } from "./contract.ts";
import { command } from "./declaration.ts";

type Office = Awaited<ReturnType<typeof openOffice>>;
let office: Office;
beforeAll(async () => void (office = await openOffice()));
beforeEach(() => office.sql(`delete from ${office.schema}.entry`));
afterAll(() => office.close());

const answersOf = (form: readonly { readonly answer: string | null }[]) => form.map(({ answer }) => answer);

test("O-04 O-05 O-06 O-08 O-13 O-14 O-15 C-06 C-12: dry run, approval by the named person, result, evidence; a second time changes nothing", async () => {
  const { platform, declare, run, booked } = office;
  const { commands, operations } = platform;
  const repair = await declare();

  // Asked for before there was a dry run, it cannot be approved, by whichever door.
  const early = await run(repair, { apply: true, approver: "grace" });
  expect(early).toMatchObject({ state: "awaiting_approval", approver: "grace" });
  for (const [act, code] of [
    [grace, "TUNTAS_COMMAND_FORM"],
    [{ ...grace, actor: "ada" }, "TUNTAS_OPERATION_FOUR_EYES"],
    [{ ...grace, actor: "mallory" }, "TUNTAS_COMMAND_FOUR_EYES"],
  ] as const)
    await expect(operations.say("approve", early.id, act)).rejects.toMatchObject({ code });

  const dry = await run(repair);
  expect(dry).toMatchObject({ dryRun: true, state: "completed", invariant: [] });
  expect(dry.result).toMatchObject({
    status: "SUCCEEDED",
    recordsRead: 10,
    recordsWritten: 10,
    recordsSkipped: 0,
  });
  expect(JSON.parse((await commands.output(dry.id))!)).toHaveLength(10);
  expect(await booked()).toBe(0);

  expect((await commands.get(early.id)).questions).toHaveLength(10);
  await operations.say("approve", early.id, grace);
  await operations.settled(early.id);
  const done = await commands.get(early.id);
  expect(done).toMatchObject({ state: "completed", decidedBy: "grace", invariant: [], failure: null });
  expect(wrongResult(done.result)).toEqual([]);
  expect(answersOf(done.records)).toEqual([
    done.id,
    `${repair.name} --case-id case-1 --tenant acme --dry-run=false`,
    repair.digest,
    "0: SUCCEEDED",
    `tuntas:command-run/${done.id}/output`,
    "holds",
    null,
  ]);
  expect(await booked()).toBe(10);

  const close = { actor: "ada", reason: "done", evidence: "" };
  await expect(commands.close(done.id, close)).rejects.toMatchObject({ code: "TUNTAS_COMMAND_FORM" });
  const evidence = "https://tickets/7";
  expect(answersOf((await commands.close(done.id, { ...close, evidence })).records)).not.toContain(null);
  await expect(commands.close(done.id, { ...close, evidence })).rejects.toMatchObject({
    code: "TUNTAS_COMMAND_STATE",
  });

  // The same is the same run; and where it is wanted again, it finds that nothing is left to do.
  const asked = { ...ada, arguments: given, apply: true, approver: "grace" };
  expect(await commands.run(repair.name, asked)).toMatchObject({ status: "duplicate", run: { id: done.id } });
  const again = await commands.run(repair.name, { ...asked, again: true });
  await operations.say("approve", again.run.id, grace);
  await operations.settled(again.run.id);
  expect((await commands.get(again.run.id)).result).toMatchObject({ status: "SUCCEEDED", recordsWritten: 0 });
  expect(await office.sql(`select sum(booked)::int as n from ${office.schema}.entry`)).toEqual([{ n: 10 }]);

  const record = await platform.access.record({ subject: `operation ${done.id}` }, { limit: 10 });
  expect(record.map(({ actor, action }) => `${actor} ${action}`).toReversed()).toEqual([
    "ada command.run",
    "grace operation.approve",
    "ada operation.completed",
    "ada command.close",
  ]);
});

test("a handler that sets a role for its session leaves it to nobody who gets the connection next", async () => {
  const { platform, declare, run, newRole } = office;
  const databaseRole = await newRole();
  const setting = await declare({
    databaseRole,
    async run(_, { tx }) {
      await tx.query(`set role ${databaseRole}`);
      return { recordsRead: 0, recordsWritten: 0 };
    },
    success: { measure: "nothing", check: () => [] },
  });
  expect(await run(setting)).toMatchObject({ state: "completed" });
  const { id } = await run(setting, { apply: true, approver: "grace" });
  await platform.operations.say("approve", id, grace);
  await platform.operations.settled(id);
  expect(await platform.commands.get(id)).toMatchObject({ state: "completed" });
  const handlers = Array.from({ length: 8 }, () =>
    openTransaction({ database: platform.database, timeoutMs: 5000 }),
  );
  const asked = handlers.map(({ tx }) => tx.query("select current_user = session_user as same"));
  const users = (await Promise.all(asked)).flatMap(({ rows }) => rows as unknown[]);
  await Promise.all(handlers.map((each) => each.rollback()));
  expect(users).toEqual(handlers.map(() => ({ same: true })));
});

test("O-01 O-03 O-11 O-12 C-05 C-08: what is not declared, not granted, not scoped or not what was asked for is refused, and nothing is on record", async () => {
  const { platform, declare, options, sql, newRole, schema } = office;
  const { commands } = platform;
  const repair = await declare();
  const ask = (more: object, name = repair.name) => commands.run(name, { ...ada, arguments: given, ...more });
  const refusals: readonly (readonly [object, string, string])[] = [
    [{ arguments: { ...given, force: true } }, "TUNTAS_COMMAND_ARGUMENTS", "force: unknown"],
    [{ arguments: { tenant: "acme" } }, "TUNTAS_COMMAND_ARGUMENTS", "caseId: missing"],
    [{ arguments: { ...given, caseId: "case-1; drop" } }, "TUNTAS_COMMAND_ARGUMENTS", "caseId: expected"],
    [
      { arguments: { ...given, tenant: "globex" } },
      "TUNTAS_COMMAND_DENIED",
      "granted is acme, asked for globex",
    ],
    [{ role: "viewer" }, "TUNTAS_COMMAND_DENIED", "ada is viewer; operator or admin may run it"],
    [{ reason: " " }, "TUNTAS_COMMAND_FORM", "reason"],
    [{ apply: true }, "TUNTAS_COMMAND_FORM", "approver"],
    [{ apply: true, approver: "ada" }, "TUNTAS_COMMAND_FOUR_EYES", "cannot approve it"],
  ];
  for (const [more, code, text] of refusals)
    await expect(ask(more), text).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
  await expect(ask({}, "rm-everything")).rejects.toMatchObject({ code: "TUNTAS_COMMAND_MISSING" });
  await expect(
    platform.operations.start({ kind: `command ${repair.name}`, selection: {}, ...grace }),
  ).rejects.toMatchObject({ code: "TUNTAS_COMMAND_FORM" });
  expect(await commands.runs({ command: repair.name })).toEqual([]);

  const [{ session_user: ours }] = (await sql("select session_user")) as [{ session_user: string }];
  for (const databaseRole of ["nobody_there", ours]) {
    const shared = await declare({ databaseRole });
    await expect(ask({}, shared.name)).rejects.toMatchObject({ code: "TUNTAS_COMMAND_ROLE" });
  }
  // What a handler may not do as its role fails as a whole.
  const greedy = await declare({ run: (_, { tx }) => tx.query(`delete from ${schema}.event`) as never });
  expect((await office.run(greedy)).result!.warnings[0]).toContain("permission denied");

  // The code has changed between the question and the run.
  const databaseRole = await newRole();
  const before = command(`repair-${databaseRole.slice(-8)}`, options(databaseRole));
  const first = await office.serve(before);
  const { run } = await commands.run(before.name, {
    ...ada,
    arguments: given,
    apply: true,
    approver: "grace",
  });
  await office.run(before);
  await first.stop();
  await office.serve(command(before.name, { ...options(databaseRole), scope: "entries of all cases" }));
  await expect(platform.operations.say("approve", run.id, grace)).rejects.toMatchObject({
    message: expect.stringContaining("What digest?"),
  });
});

describe("a run ends once, with its result", () => {
  const apply = { apply: true } as const;
  const tame = { destructive: false };

  test("O-07 it takes too long: TIMED_OUT", async () => {
    const endless = await office.declare({
      ...tame,
      timeout: "200ms",
      run: () => new Promise<never>(() => undefined),
    });
    const run = await office.run(endless, apply);
    expect(run).toMatchObject({ state: "failed", result: { status: "TIMED_OUT", exitCode: 124 } });
    const busy = await office.declare({
      ...tame,
      timeout: "200ms",
      run: (_, { tx }) => tx.query("select pg_sleep(600)") as never,
    });
    expect((await office.run(busy, apply)).result).toMatchObject({ status: "TIMED_OUT" });
  });

  test("a person stops it: STOPPED, and nothing of it stays", async () => {
    const { platform, declare, schema, booked } = office;
    let begun: () => void;
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const long = await declare({
      ...tame,
      async run(_, { tx, signal }) {
        await tx.query(`insert into ${schema}.entry (event_id) values (1)`);
        begun();
        return new Promise<never>((__, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    });
    const { run } = await platform.commands.run(long.name, { ...ada, arguments: given, ...apply });
    await isBegun;
    await expect(platform.operations.say("pause", run.id, grace)).rejects.toMatchObject({
      code: "TUNTAS_COMMAND_STATE",
    });
    await platform.operations.say("abort", run.id, grace);
    const stopped = await platform.commands.get(run.id);
    expect(stopped).toMatchObject({ state: "aborted", result: { status: "STOPPED", exitCode: 143 } });
    expect(await booked()).toBe(0);
    // Nobody has looked at the domain: a person's word stands for the check.
    const close = { actor: "ada", reason: "stopped", evidence: "https://tickets/8" };
    await expect(platform.commands.close(run.id, close)).rejects.toMatchObject({
      message: expect.stringContaining("Domain invariant"),
    });
    await platform.commands.close(run.id, { ...close, invariant: "the case is as it was" });
  });

  test("O-07 the processes that carry it out are replaced again and again: it is begun anew each time, and has not died", async () => {
    const { platform, kit, serve, newRole, options, schema, booked } = office;
    const replaced = 5;
    let calls = 0;
    let begun = (): void => undefined;
    const long = command("repair-replaced", {
      ...options(await newRole()),
      ...tame,
      async run(_, { tx, signal }) {
        await tx.query(`insert into ${schema}.entry (event_id) select id from ${schema}.event`);
        if (++calls > replaced) return { recordsRead: 10, recordsWritten: 10 };
        begun();
        return new Promise<never>((__, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    });
    let asked: string | undefined;
    for (let life = 0; life <= replaced; life++) {
      const isBegun = new Promise<void>((resolve) => (begun = resolve));
      const other = await kit.another();
      const serving = await serve(long, other);
      asked ??= (await platform.commands.run(long.name, { ...ada, arguments: given, ...apply })).run.id;
      if (life === replaced) break;
      await isBegun;
      await serving.stop();
      await other.close();
    }
    await platform.operations.settled(asked!);
    const ended = { state: "completed", failure: null, result: { exitCode: 0 } };
    expect(await platform.commands.get(asked!)).toMatchObject(ended);
    expect(await booked()).toBe(10);
  });

  test("O-18 O-19 O-20: broken sums, a broken invariant, wrong input and an overlap are failures, and take everything back", async () => {
    const { declare, run, booked, schema, platform } = office;
    const write = `insert into ${schema}.entry (event_id) values (1)`;
    const cases = [
      [{ recordsRead: 3, recordsWritten: 1 }, 0, "FAILED", "expected recordsRead (3)"],
      [undefined, 0, "FAILED", "missing result"],
      [{ recordsRead: 1, recordsWritten: 1 }, 1, "FAILED", "event 2 has no entry"],
      [rejected({ code: "CASE_CLOSED", message: "it is closed" }), 2, "FAILED", "CASE_CLOSED: it is closed"],
    ] as const;
    for (const [comes, exitCode, status, text] of cases) {
      const broken = await declare({
        ...tame,
        async run(_, { tx }) {
          await tx.query(write);
          if (comes && "kind" in comes) throw comes;
          return comes as never;
        },
        ...(exitCode !== 1 && { success: { measure: "none", check: () => [] } }),
      });
      const { result, state, id } = await run(broken, apply);
      expect({ state, ...result }, text).toMatchObject({ state: "failed", exitCode, status });
      expect(result!.warnings.join(), text).toContain(text);
      await expect(platform.operations.say("resume", id, grace)).rejects.toMatchObject({
        code: "TUNTAS_COMMAND_STATE",
      });
    }
    expect(await booked()).toBe(0);
  });
});

test("O-15 O-16 a sample of each purpose, run twice: the second changes nothing more", async () => {
  const { sql, schema, newRole, declare, run } = office;
  const databaseRole = await newRole();
  await sql(`create table ${schema}.account (id integer primary key, tenant text not null, cents integer)`);
  await sql(
    `insert into ${schema}.account select n, 'old', case when n > 2 then n end from generate_series(1, 5) n`,
  );
  await sql(`create index account_tenant on ${schema}.account (tenant)`);
  await sql(`alter table ${schema}.account owner to ${databaseRole}`);
  const samples: readonly (readonly [Purpose, string, first: number, second: number])[] = [
    ["database migration", `alter table ${schema}.account add column if not exists note text`, 0, 0],
    ["data repair", `update ${schema}.account set cents = 1 where id = 1 and cents is null`, 1, 0],
    ["small backfill", `update ${schema}.account set cents = 0 where cents is null`, 1, 0],
    ["export or import", `select * from ${schema}.account order by id`, 5, 5],
    ["diagnostic", `select count(*) from ${schema}.account`, 1, 1],
    ["tenant migration", `update ${schema}.account set tenant = 'acme' where tenant = 'old'`, 5, 0],
    ["index rebuild", `reindex index ${schema}.account_tenant`, 0, 0],
  ];
  expect(samples.map(([purpose]) => purpose)).toEqual(purposes);
  for (const [purpose, text, ...counts] of samples) {
    const of = await declare({
      purpose,
      databaseRole,
      destructive: false,
      async run(_, { tx }) {
        const { rows, rowCount } = await tx.query(text);
        const count = rowCount ?? 0;
        return { recordsRead: count, recordsWritten: count, output: rows };
      },
      success: { measure: "its counts", check: () => [] },
    });
    const results = [];
    for (const again of [false, true]) results.push((await run(of, { apply: true, again })).result!);
    expect(
      results.map(({ status, recordsWritten }) => [status, recordsWritten]),
      purpose,
    ).toEqual(counts.map((count) => ["SUCCEEDED", count]));
  }
  expect(await sql(`select tenant, sum(cents)::int as cents from ${schema}.account group by 1`)).toEqual([
    { tenant: "acme", cents: 13 },
  ]);
});

test("law 8: an untyped declaration is told everything that it leaves out", () => {
  expect(() => command("Repair!", {} as never)).toThrow(
    /name of up to 60.*does.*purpose.*arguments.*run.*databaseRole.*mayRun.*timeout.*destructive.*success\.measure.*success\.check/s,
  );
  const program = { service: "cases", digest: "latest", program: ["repair"], environment: [] };
  expect(() => command("repair", { ...office.options("case_repair"), run: program as never })).toThrow(
    /run\.digest: expected "sha256:" and 64 digits, which a tag is not/,
  );
});
