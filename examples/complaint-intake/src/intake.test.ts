// What the README promises: eight outcomes, an outage that nobody who complains notices, and a kill at the worst moment.
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start, type RunningApp } from "tuntas";
import { toOutline } from "tuntas/asl/graph";
import { testDatabase, testPlatform, type TestDatabase, type TestPlatform } from "tuntas/testing";
import intake, { complaintIntake } from "./intake.ts";
import { makeNaive } from "./naive.ts";
import { makeServer } from "./server.ts";
import { openTown, type Town } from "./town.ts";

let town: Town;
beforeAll(async () => {
  town = await openTown();
});
afterAll(() => town.server.close());

const fire = { complainant: "ana", subject: "threat of fire in the yard" };
const noise = { complainant: "ben", subject: "noise at night" };
const dayMs = 86_400_000;

describe("in one process", () => {
  let database: TestDatabase;
  let kit: TestPlatform;
  let running: RunningApp;
  let server: FastifyInstance;
  beforeAll(async () => {
    database = await testDatabase();
    kit = await testPlatform({ databaseUrl: database.url, schema: "tuntas" });
    running = await start(intake, { platform: kit.platform });
    server = await makeServer(running);
  });
  afterAll(async () => {
    await server.close();
    await running.stop();
    await kit[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const complain = async (complaint: object, key: string, to = server) =>
    to.inject({
      method: "POST",
      url: "/complaints",
      payload: complaint,
      headers: { "idempotency-key": key },
    });
  const accepted = async (complaint: object, key: string): Promise<string> => {
    const response = await complain(complaint, key);
    expect(response.statusCode).toBe(202);
    return response.json().caseId;
  };
  const show = async (caseId: string) => (await server.inject(`/complaints/${caseId}`)).json();
  const eventsOf = async (caseId: string): Promise<string[]> =>
    (await show(caseId)).history.map(({ event }: { event: string }) => event);
  const asSupervisor = { "x-user": "sari", "x-roles": "supervisor" };
  const escalations = async () =>
    (await server.inject({ url: "/escalations", headers: asSupervisor })).json() as {
      id: string;
      subject: string;
      evidence: unknown;
    }[];
  const decide = (id: string, given: "approve" | "reject", headers: Record<string, string> = asSupervisor) =>
    server.inject({
      method: "POST",
      url: `/escalations/${id}/decision`,
      payload: { decision: given, reason: "looked at it" },
      headers: { ...headers, "idempotency-key": `decide ${id} ${headers["x-user"]}` },
    });
  test("E-02: a complaint has its eight outcomes, each of them to be seen", async () => {
    const first = await accepted(fire, "fire 1"); // 1 accepted, 3 a case
    expect((await complain({ complainant: "ana" }, "invalid")).statusCode).toBe(400); // 2 validated
    const caseId = await accepted(fire, "fire 2");
    await expect
      .poll(() => show(caseId))
      .toMatchObject({ status: "ESCALATED", risk: 95, duplicates: [first] }); // 4 scored, 5 checked
    await expect.poll(async () => (await show(caseId)).officerNotifiedAt).not.toBeNull(); // 6 notified
    const waiting = await database.query(
      `select from tuntas.execution where name = $1 and status = 'RUNNING'`,
      [caseId],
    );
    expect(waiting).toHaveLength(2); // 7 the intake, and the clock
    const question = (await escalations()).find(({ subject }) => subject === caseId)!; // 8 escalated
    expect(question.evidence).toEqual({ subject: fire.subject, risk: 95, duplicates: [first] });
    expect((await decide(question.id, "approve", { "x-user": "eve", "x-roles": "clerk" })).statusCode).toBe(
      403,
    );
    expect((await decide(question.id, "approve")).statusCode).toBe(200);
    await expect.poll(() => eventsOf(caseId)).toContain("opened");
    expect((await eventsOf(caseId)).toSorted()).toEqual(
      ["checked", "escalated", "opened", "received", "scored"].toSorted(),
    );
  });

  test("E-02: what a supervisor dismisses is dismissed, and what nobody decides in time is told to the officers", async () => {
    const [dismissed, forgotten] = [await accepted(fire, "fire 3"), await accepted(fire, "fire 4")];
    await expect
      .poll(async () => (await escalations()).map(({ subject }) => subject))
      .toEqual(expect.arrayContaining([dismissed, forgotten]));
    await decide((await escalations()).find(({ subject }) => subject === dismissed)!.id, "reject");
    await expect.poll(async () => (await show(dismissed)).status).toBe("DISMISSED");
    await kit.advance(5 * dayMs + 1000);
    await expect.poll(() => eventsOf(forgotten)).toContain("overdue");
    await expect
      .poll(() => [...town.notices.values()])
      .toContainEqual({ caseId: forgotten, event: "overdue" });
    expect((await show(dismissed)).overdueAt).toBeNull();
  });

  test("E-03 E-06: scoring is slow, then down: six ways in which one request that does everything fails, and this does not", async () => {
    const naive = makeNaive(kit.platform.database);
    const [naiveFire, ownFire] = [
      { ...fire, subject: "fire, naive" },
      { ...fire, subject: "fire, product" },
    ];
    const casesOf = async ({ subject }: { subject: string }): Promise<string[]> =>
      (await database.query("select case_id from intake.complaint where subject = $1", [subject])).map(
        ({ case_id }) => case_id,
      );
    const escalated = async () => (await escalations()).map(({ subject }) => subject);
    const clocks = (cases: readonly string[]) =>
      database.query("select from tuntas.execution where name = any($1) and status = 'RUNNING'", [cases]);

    // 1 Latency: it answers when the slowest of all that it needs has answered.
    town.setScoring("slow");
    const waiting = complain({ ...fire, subject: "fire, slow" }, "slow", naive);
    expect((await complain(ownFire, "once")).statusCode).toBe(202);
    expect(await Promise.race([waiting, "still waiting"])).toBe("still waiting");
    town.setScoring("up");
    expect((await waiting).statusCode).toBe(201);

    // 2 An outage of scoring is an outage of intake. 3 Whoever tries again has complained again.
    town.setScoring("down");
    const statuses = { naive: [] as number[], product: [] as number[] };
    for (let attempt = 0; attempt < 3; attempt++) {
      statuses.naive.push((await complain(naiveFire, "once", naive)).statusCode);
      statuses.product.push((await complain(ownFire, "once")).statusCode);
    }
    expect(statuses).toEqual({ naive: [500, 500, 500], product: [202, 202, 202] });
    const [naives, own] = [await casesOf(naiveFire), await casesOf(ownFire)];
    expect([naives.length, own.length]).toEqual([3, 1]);
    town.setScoring("up");

    // 4 The clock is in the memory of a process, or nowhere. 5 Nobody who could decide sees what is to be decided.
    naives.push(...(await casesOf({ subject: "fire, slow" })));
    await expect.poll(escalated).toContain(own[0]);
    expect(await clocks(own)).toHaveLength(2);
    expect(await clocks(naives)).toEqual([]);
    expect((await escalated()).filter((caseId) => naives.includes(caseId))).toEqual([]);

    // 6 How far each of them has got, nobody can say.
    await expect.poll(() => eventsOf(own[0]!)).toHaveLength(4);
    for (const caseId of naives) expect(await eventsOf(caseId)).toEqual([]);
    await naive.close();
  });

  test("E-04 E-05: each part is in its room, and the process is one graph", () => {
    expect(Object.entries(intake.parts).map(([name, { kind }]) => `${kind} ${name}`)).toMatchInlineSnapshot(`
      [
        "stream caseEvents",
        "consumer auditTrail",
        "consumer notifyOfficers",
        "queue officerNotices",
        "worker officerNotifier",
        "queue duplicateChecks",
        "worker duplicateChecker",
        "workflow complaintIntake",
        "workflow answerClock",
      ]
    `);
    expect(toOutline(complaintIntake.definition as never)).toMatchInlineSnapshot(`
      "▶ Assess [Parallel] → Assessed
          ▶ Score risk [Function · Score-risk]
          ▶ Check duplicates [Function, waits for an answer · Check-duplicates]
      • Assessed [Pass] → High risk?
      • High risk? [Choice] → Ask the supervisor (risk >= 80), Open the case (otherwise)
      • Ask the supervisor [Function, waits for an answer · Ask-the-supervisor] → Pursue it?, Nobody dismissed it (States.Timeout)
      • Nobody dismissed it [Pass] → Pursue it?
      • Pursue it? [Choice] → Dismiss the case (decision = "REJECTED"), Open the case (otherwise)
      • Dismiss the case [Function · Dismiss-the-case]
      • Open the case [Function · Open-the-case]
      "
    `);
  });
});

test("E-06: killed after the 202, with scoring down, a complaint is assessed by the next process, once", async () => {
  await using database = await testDatabase();
  town.setScoring("down");
  const main = new URL("../dist/main.js", import.meta.url);
  const first = database.run(main);
  const { port } = await first.line("service.ready");
  const response = await fetch(`http://127.0.0.1:${port as number}/complaints`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "noise" },
    body: JSON.stringify(noise),
  });
  expect(response.status).toBe(202);
  await first.kill();
  town.setScoring("up");
  database.run(main);
  const open = () =>
    database.query("select case_id, risk, duplicates from intake.complaint where status = 'OPEN'");
  await expect.poll(open).toMatchObject([{ risk: 10, duplicates: [] }]);
  const audit = () =>
    database.query("select event, count(*)::int as times from intake.audit group by 1 order by 1");
  await expect
    .poll(audit)
    .toEqual(["checked", "opened", "received", "scored"].map((event) => ({ event, times: 1 })));
});
