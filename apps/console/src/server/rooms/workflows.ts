// Workflows: machines, executions, one run in full, and what can be done to it.
import { randomUUID } from "node:crypto";
import {
  machineArn,
  workflowErrors,
  type ExecutionRecord,
  type ExecutionStatus,
  type HistoryEvent,
  type MachineRecord,
  type Verdict,
} from "tuntas/workflow";
import type { Who } from "tuntas/access";
import type { RunEvent, RunView, VisitTexts, WorkflowActs, WorkflowReads } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import { textsOf } from "../chronicle/texts.ts";
import { detailsOf, visitsOf } from "../chronicle/visits.ts";
import type { Fields } from "../fields.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged, scopeOf } from "./queues.ts";

const pageMax = 100;
const eventsMax = 500;
const visitsMax = 5000;
const everything = { limit: 1000, offset: 0 };

const statuses: readonly ExecutionStatus[] = ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"];
const verdicts: readonly Verdict[] = ["safe", "reconcile first", "forbidden"];
const spans = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 } as const;
type Span = keyof typeof spans;

const missing = (what: string) => consoleErrors.error("TUNTAS_CONSOLE_MISSING", what);

async function machineOf({ platform }: Needs, fields: Fields): Promise<MachineRecord> {
  const name = fields.text("machine");
  const machine = await platform.workflows.machines.find(scopeOf(fields), name);
  if (machine) return machine;
  throw missing(`there is no state machine ${name}`);
}

async function executionOf({ platform }: Needs, fields: Fields): Promise<ExecutionRecord> {
  const arn = fields.text("arn");
  const execution = await platform.workflows.executions.find(arn);
  if (execution) return execution;
  throw workflowErrors.error("TUNTAS_EXECUTION_MISSING", `expected the ARN of an execution, got ${arn}`);
}

const machineNameOf = ({ machineArn: arn }: ExecutionRecord): string => arn.split(":")[6] ?? "";

/** Bodies of one execution as the role may see them. */
function maskingOf(needs: Needs, who: Who, execution: ExecutionRecord) {
  const mask = makeMasking(needs, who, "workflow");
  const machine = machineNameOf(execution);
  return <T extends string | null>(text: T): Promise<T> => mask(machine, text);
}

/** An execution runs what it began with, whatever became of its machine. */
async function definitionOf({ platform }: Needs, { revision }: ExecutionRecord): Promise<string> {
  return (await platform.workflows.machines.atRevision(revision))?.definition ?? "{}";
}

async function runOf(needs: Needs, fields: Fields, who: Who): Promise<RunView> {
  const { executions, observer, nowMs } = needs.platform.workflows;
  const execution = await executionOf(needs, fields);
  const mask = maskingOf(needs, who, execution);
  const [definition, { chronicle }, positions, mapRuns, input, output] = await Promise.all([
    definitionOf(needs, execution),
    needs.chronicles.follow(execution),
    observer.positions(execution),
    executions.mapRuns(execution, everything),
    mask(execution.input),
    mask(execution.output),
  ]);
  const visits = visitsOf(chronicle, execution.status);
  return {
    execution: { ...execution, input, output },
    machine: machineNameOf(execution),
    definition,
    visits: visits.slice(0, visitsMax),
    cut: visits.length > visitsMax,
    positions,
    mapRuns,
    nowMs: nowMs(),
  };
}

async function textsIn(needs: Needs, fields: Fields, who: Who): Promise<VisitTexts> {
  const execution = await executionOf(needs, fields);
  const visit = Number(fields.optionalId("visit") ?? 0);
  const events = await needs.chronicles.eventsFrom(execution, visit);
  const { chronicle } = await needs.chronicles.follow(execution);
  const texts = textsOf(chronicle, events, visit);
  if (!texts) throw missing("no state was entered by that event");
  const mask = maskingOf(needs, who, execution);
  const [input, output, assigned, attempts] = await Promise.all([
    mask(texts.input),
    mask(texts.output),
    mask(texts.assigned),
    Promise.all(
      texts.attempts.map(async (each) => ({
        input: await mask(each.input),
        output: await mask(each.output),
      })),
    ),
  ]);
  return { id: texts.id, input, output, assigned, attempts };
}

/** The texts inside of an event are masked as the same texts are elsewhere. */
async function detailsText(
  event: HistoryEvent,
  mask: <T extends string | null>(text: T) => Promise<T>,
): Promise<string | null> {
  const entries = Object.entries(detailsOf(event));
  if (entries.length === 0) return null;
  const shown = entries.map(async ([name, value]) => [
    name,
    ["input", "output", "parameters"].includes(name) && typeof value === "string" ? await mask(value) : value,
  ]);
  return JSON.stringify(Object.fromEntries(await Promise.all(shown)));
}

async function eventsOf(needs: Needs, fields: Fields, who: Who) {
  const after = Number(fields.optionalId("after") ?? 0);
  const execution = await executionOf(needs, fields);
  const mask = maskingOf(needs, who, execution);
  const events = await needs.chronicles.eventsFrom(execution, after + 1);
  const { chronicle } = await needs.chronicles.follow(execution);
  const wanted = events.slice(0, eventsMax + 1);
  const rows = wanted.map(async (event): Promise<RunEvent> => {
    const { id, previousEventId, type, timestamp } = event;
    const state = chronicle.visitOf(id)?.state ?? null;
    return {
      id,
      previousEventId,
      type,
      atMs: timestamp * 1000,
      state,
      details: await detailsText(event, mask),
    };
  });
  return paged(await Promise.all(rows), eventsMax, (last) => String(last.id));
}

export function workflowReads(needs: Needs): ReadsOf<keyof WorkflowReads> {
  const { machines, observer, nowMs, redrives } = needs.platform.workflows;
  return {
    async machines(query) {
      const page = { search: query.optional("search") ?? "", after: query.optional("after") ?? "" };
      const rows = await observer.machines(scopeOf(query), { ...page, limit: pageMax + 1 });
      return paged(rows, pageMax, (last) => last.name);
    },
    async machine(query) {
      const record = await machineOf(needs, query);
      const [versions, aliases] = await Promise.all([
        machines.versions(record, everything),
        machines.aliases(record, everything),
      ]);
      return { record, versions, aliases };
    },
    async executions(query) {
      const within = query.choice("within", Object.keys(spans) as Span[]);
      const rows = await observer.executions(scopeOf(query), {
        machine: query.optional("machine"),
        status: query.choice("status", statuses),
        namePrefix: query.optional("name"),
        error: query.optional("error"),
        mapRunArn: query.optional("mapRun"),
        startedFromMs: within && nowMs() - spans[within],
        before: query.optionalId("after"),
        limit: pageMax + 1,
      });
      return paged(rows, pageMax, (last) => last.id);
    },
    run: (query, who) => runOf(needs, query, who),
    "run.visit": (query, who) => textsIn(needs, query, who),
    "run.events": (query, who) => eventsOf(needs, query, who),
    async "run.evidence"(query, who) {
      const inspection = await redrives.inspect(query.text("arn"));
      const mask = maskingOf(needs, who, inspection.execution);
      const [input, output] = await Promise.all([
        mask(inspection.execution.input),
        mask(inspection.execution.output),
      ]);
      return { ...inspection, execution: { ...inspection.execution, input, output } };
    },
  };
}

/** The input as it is, where it is JSON. Errors: TUNTAS_CONSOLE_REQUEST. */
function inputOf(body: Fields): string {
  const input = body.text("input");
  try {
    JSON.parse(input);
    return input;
  } catch (cause) {
    throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", `input: expected JSON: ${(cause as Error).message}`);
  }
}

export function workflowActs(needs: Needs): ActsOf<keyof WorkflowActs> {
  const { access, workflows } = needs.platform;
  return {
    "workflow.start": {
      may: "workflow.start",
      async run(body, who) {
        const input = inputOf(body);
        const wanted = body.text("machine");
        const target = await workflows.machines.resolve(machineArn(scopeOf(body), wanted));
        if (!target) throw missing(`there is no state machine ${wanted}`);
        const name = body.optional("name") ?? randomUUID();
        if (!/^[\w.-]{1,80}$/.test(name))
          throw consoleErrors.error(
            "TUNTAS_CONSOLE_REQUEST",
            `name: expected 1 to 80 letters, digits, ".", "-" and "_", got ${JSON.stringify(name).slice(0, 100)}`,
          );
        const { status, arn } = await workflows.executions.start({ target, name, input });
        const act = {
          action: "workflow.start",
          subject: arn,
          reason: body.text("reason"),
          details: { status },
        };
        await access.audit({ actor: who.name, from: who.from, ...act });
        return { status, arn };
      },
    },
    "workflow.stop": {
      may: "workflow.stop",
      async run(body, who) {
        const execution = await executionOf(needs, body);
        const reason = body.text("reason");
        const act = { action: "workflow.stop", subject: execution.arn, reason };
        await access.audit({ actor: who.name, from: who.from, ...act });
        const failure = { error: "Tuntas.StoppedByOperator", cause: `${who.name}: ${reason}` };
        return { status: (await workflows.executions.stop(execution, failure)) ? "stopped" : "ended before" };
      },
    },
    "workflow.redrive": {
      may: "workflow.redrive",
      async run(body, who) {
        const seen = body.oneOf("seen", verdicts);
        const decision = {
          by: who.name,
          reason: body.text("reason"),
          seen,
          reconciled: body.flag("reconciled"),
        };
        const { status } = await workflows.redrives.redrive(body.text("arn"), decision);
        return { status };
      },
    },
  };
}
