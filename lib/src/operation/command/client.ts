// The asking side of one-off commands: what may be asked for is decided here, in the transaction that puts it on record. A run
// is carried out by whichever process declares the command.
import { randomUUID } from "node:crypto";
import { isTuntasError } from "../../core/error.ts";
import { concluded } from "../../core/job-result.ts";
import { writeAudit } from "../../engine/audit.ts";
import { canonicalText, requestHash } from "../../ledger/index.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import type { Services } from "../../service/client.ts";
import type { Rule } from "../client.ts";
import type { Act, Operation } from "../contract.ts";
import { findByKey, insertOperation } from "../store.ts";
import { beyond, readArguments } from "./arguments.ts";
import { checkRole, findReleased } from "./checks.ts";
import {
  commandErrors,
  type ArgumentValue,
  type Checked,
  type CommandDefinition,
  type CommandReport,
  type CommandRun,
  type Requested,
  type RunForm,
  type RunRequest,
} from "./contract.ts";
import { policyOf } from "./declaration.ts";
import { checklistOf, isCommandKind, kindOf, lineOf, missingOf, questionsOf, recordsOf } from "./state.ts";
import * as store from "./store.ts";

export interface CloseOptions extends Act {
  /** A link to the ticket or incident. */
  readonly evidence: string;
  /** What a person saw who looked at the domain, where the command's own check was not made. */
  readonly invariant?: string | undefined;
}

export interface Commands {
  /** Puts what code declares on record. */
  declare(all: readonly CommandDefinition[]): Promise<void>;
  list(): Promise<CommandReport[]>;
  /**
   * Asks for a run: a dry run unless it is to be applied. Errors: TUNTAS_COMMAND_MISSING, _ARGUMENTS, _DENIED, _ROLE, _DIGEST,
   * _FORM, _FOUR_EYES.
   */
  run(name: string, request: RunRequest): Promise<Requested>;
  /** Whether it is ready to be run: ten things. Errors: TUNTAS_COMMAND_MISSING. */
  check(name: string): Promise<Checked[]>;
  /** The newest first. */
  runs(filter?: store.RunFilter): Promise<CommandRun[]>;
  /** A run with its questions and records. Errors: TUNTAS_COMMAND_MISSING. */
  get(id: string): Promise<RunForm>;
  /** What it made, or printed; null for nothing. Errors: TUNTAS_COMMAND_MISSING. */
  output(id: string): Promise<string | null>;
  /** Puts the last of the seven records on it. Errors: TUNTAS_COMMAND_FORM where one is missing, TUNTAS_COMMAND_STATE. */
  close(id: string, options: CloseOptions): Promise<RunForm>;
}

interface CommandsOptions {
  readonly database: Sql;
  readonly services: Pick<Services, "describe">;
  readonly announce: () => void;
}

type Values = Readonly<Record<string, ArgumentValue>>;

const stoppedBefore: readonly CommandRun["state"][] = ["awaiting_approval", "running", "completed"];

/** What a check says; null where it says nothing. Errors: those that say something about the moment. */
const wrongOf = (check: Promise<unknown>): Promise<string | null> =>
  check.then(
    () => null,
    (cause: unknown) => {
      if (isTuntasError(cause) && !cause.retryable) return cause.message;
      throw cause;
    },
  );

const missing = (what: string, details: { readonly name?: string } = {}) =>
  commandErrors.error("TUNTAS_COMMAND_MISSING", `there is no ${what}`, { details });

function demandText(given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given))
    if (typeof value !== "string" || value.trim() === "")
      throw commandErrors.error(
        "TUNTAS_COMMAND_FORM",
        `expected ${name} to say something, got ${JSON.stringify(value)}`,
      );
}

/** The arguments that it is run with. Errors: TUNTAS_COMMAND_ARGUMENTS, TUNTAS_COMMAND_DENIED. */
function admit({ name, policy }: CommandReport, { arguments: given, actor, role }: RunRequest): Values {
  const { values, wrong } = readArguments(policy.arguments, given);
  if (wrong.length > 0) throw commandErrors.error("TUNTAS_COMMAND_ARGUMENTS", `${name}: ${wrong.join("; ")}`);
  const grant = policy.mayRun[role];
  const refused =
    grant === undefined ? [`${Object.keys(policy.mayRun).join(" or ")} may run it`] : beyond(grant, values);
  if (refused.length > 0)
    throw commandErrors.error("TUNTAS_COMMAND_DENIED", `${name}: ${actor} is ${role}; ${refused.join("; ")}`);
  return values;
}

/** Who is to approve it; null where nobody needs to. Errors: TUNTAS_COMMAND_FORM, TUNTAS_COMMAND_FOUR_EYES. */
function approverOf({ name, policy }: CommandReport, { apply, approver, actor }: RunRequest): string | null {
  if (!apply || !policy.destructive) return null;
  demandText({ [`approver of the destructive command ${name}`]: approver });
  if (approver !== actor) return approver!;
  throw commandErrors.error(
    "TUNTAS_COMMAND_FOUR_EYES",
    `${actor} asks for ${name}, and so cannot approve it`,
  );
}

const dryRunStates: readonly CommandRun["state"][] = ["completed"];
const rehearsalOf = async (sql: Pick<Sql, "run">, id: string) =>
  store.findSame(sql, await store.hashOf(sql, id), { dryRun: true, states: dryRunStates });

async function formOf(sql: Pick<Sql, "run">, run: CommandRun): Promise<RunForm> {
  const report = (await store.readCommands(sql)).find(({ name }) => name === run.command)!;
  const questions = questionsOf(run, report, await rehearsalOf(sql, run.id));
  return { ...run, questions, records: recordsOf(run) };
}

/** A person ended it before it did: that is its result. */
async function concludeStopped(tx: Tx, run: CommandRun, { actor, reason }: Act): Promise<void> {
  const finishedAtMs = await store.nowMs(tx);
  const result = concluded({
    jobId: run.id,
    exitCode: 143,
    startedAtMs: run.begunAtMs ?? finishedAtMs,
    finishedAtMs,
    account: undefined,
    failure: `stopped by ${actor}: ${reason}`,
  });
  await store.concludeRun(tx, run.id, { result, output: null, invariant: null });
}

/** What commands add to the words that are said to operations. */
export const commandRule: Rule = async (tx, verb, { id, kind }, act) => {
  if (!isCommandKind(kind)) return;
  const run = (await store.findRun(tx, id))!;
  if (verb === "pause" || verb === "resume")
    throw commandErrors.error(
      "TUNTAS_COMMAND_STATE",
      `run ${id} of ${run.command} cannot ${verb}: it ends once`,
    );
  if (run.result !== null)
    throw commandErrors.error(
      "TUNTAS_COMMAND_STATE",
      `run ${id} of ${run.command} has ended: it cannot ${verb}`,
    );
  if (verb !== "approve") return concludeStopped(tx, run, act);
  if (act.actor !== run.approver)
    throw commandErrors.error(
      "TUNTAS_COMMAND_FOUR_EYES",
      `run ${id} waits for ${run.approver}, and ${act.actor} tried to approve it`,
    );
  const lacking = missingOf((await formOf(tx, run)).questions);
  if (lacking.length > 0)
    throw commandErrors.error(
      "TUNTAS_COMMAND_FORM",
      `run ${id}: without an answer are: ${lacking.join(" ")}`,
    );
};

export function makeCommands({ database, services, announce }: CommandsOptions): Commands {
  async function find(id: string): Promise<CommandRun> {
    const run = /^\d{1,18}$/.test(id) ? await store.findRun(database, id) : undefined;
    if (run) return run;
    throw missing(`run ${JSON.stringify(id)} of a command`);
  }

  async function declared(name: string): Promise<CommandReport> {
    const known = (await store.readCommands(database)).find((each) => each.name === name);
    if (known) return known;
    throw missing(`command ${JSON.stringify(name)}: only what code declares is run`, { name });
  }

  const get = async (id: string): Promise<RunForm> => formOf(database, await find(id));

  /** The run that this request is one with. */
  async function meet(tx: Tx, request: string, of: RunRequest & { readonly hash: string }) {
    const known = of.key === undefined ? undefined : await findByKey(tx, of.key);
    if (known) return { id: known.id, status: known.request === request ? "duplicate" : "conflict" } as const;
    if (!of.apply || of.again || of.key !== undefined) return undefined;
    const same = await store.findSame(tx, of.hash, { dryRun: false, states: stoppedBefore });
    return same && ({ id: same.id, status: "duplicate" } as const);
  }

  async function insert(tx: Tx, report: CommandReport, request: RunRequest) {
    const [values, approver] = [admit(report, request), approverOf(report, request)];
    await checkRole(tx, report.policy);
    const { name, digest, policy } = report;
    const dryRun = !request.apply;
    const hash = requestHash([name, digest, values]);
    const selection = { command: name, arguments: values, dryRun, digest };
    const text = canonicalText(selection);
    const known = await meet(tx, text, { ...request, hash });
    if (known) return known;
    const { key = randomUUID(), actor, reason } = request;
    const kind = kindOf(name);
    const state: Operation["state"] = approver === null ? "running" : "awaiting_approval";
    const operation = {
      key,
      kind,
      request: text,
      selection,
      actor,
      reason,
      state,
      selected: 1,
      perSecond: null,
    };
    const id = (await insertOperation(tx, operation))!;
    const { timeoutMs } = policy;
    const run = {
      id,
      command: name,
      digest,
      arguments: values,
      dryRun,
      approver,
      timeoutMs,
      requestHash: hash,
    };
    await store.insertRun(tx, run);
    const details = { line: lineOf(run), digest, role: request.role, approver, state };
    await writeAudit(tx, { actor, action: "command.run", subject: `operation ${id}`, reason, details });
    return { id, status: "created" } as const;
  }

  return {
    async declare(all) {
      await database.transaction(async (tx) => {
        for (const { name, digest, options } of all.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
          const { owner, runbook } = options;
          await store.declareCommand(tx, { name, digest, policy: policyOf(options), owner, runbook });
        }
      });
    },
    list: () => store.readCommands(database),
    async run(name, request) {
      demandText({ actor: request.actor, reason: request.reason });
      await findReleased(services, (await declared(name)).policy);
      const { status, id } = await database.transaction(async (tx) =>
        insert(tx, (await store.lockCommand(tx, name))!, request),
      );
      announce();
      return { status, run: await find(id) };
    },
    async check(name) {
      const report = await declared(name);
      const [role, released] = await Promise.all([
        wrongOf(checkRole(database, report.policy)),
        wrongOf(findReleased(services, report.policy)),
      ]);
      return checklistOf(report, { role, released });
    },
    runs: (filter = {}) => store.readRuns(database, filter),
    get,
    async output(id) {
      await find(id);
      return store.readOutput(database, id);
    },
    async close(id, { actor, reason, evidence, invariant = null }) {
      const run = await find(id);
      demandText({ evidence, ...(invariant !== null && { invariant }) });
      const lacking = missingOf(recordsOf({ ...run, evidence, invariant: run.invariant ?? invariant }));
      if (lacking.length > 0)
        throw commandErrors.error(
          "TUNTAS_COMMAND_FORM",
          `run ${id} cannot be closed without: ${lacking.join(", ")}`,
        );
      await database.transaction(async (tx) => {
        if (!(await store.closeRun(tx, id, { evidence, invariant, by: actor })))
          throw commandErrors.error(
            "TUNTAS_COMMAND_STATE",
            `run ${id} was closed by ${run.closedBy ?? "another"}`,
          );
        const details = { evidence, invariant };
        await writeAudit(tx, { actor, action: "command.close", subject: `operation ${id}`, reason, details });
      });
      return get(id);
    },
  };
}
