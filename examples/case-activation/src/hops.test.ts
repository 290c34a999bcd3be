// The way of one case through all that takes part, in the rows and lines that each of them leaves: what the README
// draws. And what kind of state lies where.
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePrometheus } from "tuntas/measure";
import { openHouse, type House } from "./house.fixture.ts";

let house: House;
let caseId: string;
let arn: string;

beforeAll(async () => {
  house = await openHouse();
  caseId = await house.open();
  await house.reaches(caseId, "NEEDS_APPROVAL");
  await house.decide(caseId, "approve");
  ({ arn } = await house.execution(caseId));
}, 60_000);
afterAll(() => house[Symbol.asyncDispose]());

const row = async (text: string, ...values: unknown[]) => (await house.query(text, values))[0];

test("P-47 the trace of one case shows every hop, and each names the one before", async () => {
  // API → database and outbox, in one commit.
  const command = await row("select * from cases.command where case_id = $1", caseId);
  const asked = await row("select * from tuntas.workflow_start where command_id = $1", command.command_id);
  // One instant, that of the transaction, for both.
  const told = await row(
    `select o.* from cases.command c join tuntas.outbox_published o on o.key = c.execution_name and o.created_at = c.accepted_at
     where c.case_id = $1`,
    caseId,
  );
  expect(told).toMatchObject({ target_kind: "workflow", type: "StartExecution", reference: arn });
  // Publisher → state machine.
  const execution = await row("select * from tuntas.execution where arn = $1", arn);
  expect([asked.execution_arn, command.execution_name]).toEqual([arn, execution.name]);
  const times = [command.accepted_at, told.created_at, told.published_at, execution.stopped_at];
  expect(times).toEqual(times.toSorted((a: Date, b: Date) => a.getTime() - b.getTime()));
  // State machine → participants: a step each, with the record that it left in the history.
  const history = await house.kit.platform.workflows.executions
    .find(arn)
    .then((found) => house.kit.platform.workflows.executions.history(found!));
  const entered = history.flatMap(({ type, ...event }) =>
    type === "TaskStateEntered" ? [(event.stateEnteredEventDetails as { name: string }).name] : [],
  );
  const steps = await house.query(
    "select visit from tuntas.execution_history where execution_id = $1 and visit is not null order by seq",
    [execution.id],
  );
  expect(entered).toHaveLength(9);
  expect(steps.length).toBeGreaterThanOrEqual(6);
  // Participants → database: the case's own account of it.
  const audit = await house.query("select * from cases.case_audit where case_id = $1 order by version", [
    caseId,
  ]);
  expect(audit.map(({ to_status }) => to_status).at(-1)).toBe("ACTIVE");
  // Participants → state machine: the worker's, the supervisor's and the post's answers.
  const check = await row("select * from cases.duplicate_check where case_id = $1", caseId);
  const approval = await row("select * from tuntas.approval where subject = $1", caseId);
  const notice = await row("select * from cases.notice where case_id = $1", caseId);
  const answers = await house.query(
    "select target_kind as kind, key from tuntas.outbox_published where target_kind <> 'workflow' order by id",
  );
  expect(answers).toEqual([
    { kind: "task", key: check.token_reference },
    { kind: "approval", key: approval.id },
    { kind: "task", key: notice.token_reference },
  ]);
  expect(approval).toMatchObject({ status: "approved", execution_arn: arn });
  expect(approval.told_at).not.toBeNull();
  // Participants → the outside, once, on record.
  expect(await row("select * from tuntas.side_effect where subject = $1", caseId)).toMatchObject({
    state: "succeeded",
    caller: arn,
    calls: 1,
  });
  // Logs: the request by the correlation id that stands with the command, the steps by the command's own id.
  const request = house.log.find(({ correlationId }) => correlationId === command.correlation_id);
  expect(request).toMatchObject({ event: "http.request", method: "POST", route: "/cases" });
  const lines = house.log.filter(({ commandId }) => commandId === command.command_id);
  expect(lines.map(({ stateName }) => stateName)).toEqual(
    expect.arrayContaining(["ReserveCaseNumber", "SendNotice", "MarkActive"]),
  );
  expect(lines.every(({ executionId }) => executionId === arn)).toBe(true);
  // Metrics of all of them.
  const { database, tally } = house.kit.platform;
  const prometheus = makePrometheus({ database, tally });
  const metrics = await prometheus.render();
  prometheus.close();
  for (const room of ["workflow", "queue", "outbox"])
    expect(metrics).toMatch(new RegExp(`^tuntas_${room}_`, "m"));
});

test("P-10 no domain table holds a task's token: what it refers to answers nothing", async () => {
  const columns = await house.query(
    "select table_schema, table_name, column_name from information_schema.columns where table_schema in ('cases', 'post') and column_name ~ 'token'",
  );
  expect(columns.map(({ column_name }) => column_name)).toEqual(["token_reference", "token_reference"]);
  const waiting = await house.open();
  await house.reaches(waiting, "NEEDS_APPROVAL");
  const { token_reference } = await row(
    "select token_reference from tuntas.approval where subject = $1 and status = 'pending'",
    waiting,
  );
  const answer = await house.kit.platform.workflows.activities.succeed(token_reference, {
    decision: "APPROVED",
  });
  expect(answer.status).toBe("gone");
  expect((await house.reaches(waiting, "NEEDS_APPROVAL")).status).toBe("NEEDS_APPROVAL");
});
