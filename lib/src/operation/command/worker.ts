// The doing side: a run is refused, or carried out to its result. What its handler writes, its result and its end are one commit;
// whatever dies before that leaves a run that has written nothing, and that another process begins anew.
import { hostname } from "node:os";
import { concluded, isGood } from "../../core/job-result.ts";
import { isTuntasError } from "../../core/error.ts";
import type { Log } from "../../engine/log.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import type { Database } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";
import type { Services } from "../../service/client.ts";
import type { Hold, OperationKind } from "../contract.ts";
import { readArguments, wordsOf } from "./arguments.ts";
import { checkRole, findReleased, type Released } from "./checks.ts";
import { commandErrors, type CommandDefinition, type CommandRun, type Policy } from "./contract.ts";
import { isProgram, policyOf } from "./declaration.ts";
import { callHandler, checkDomain, failureOf, type Attempt, type Outcome } from "./handler.ts";
import { runProgram } from "./program.ts";
import { commandSignals } from "./signals.ts";
import { kindOf } from "./state.ts";
import * as store from "./store.ts";

export interface CommandWorkerOptions {
  readonly database: Database;
  readonly services: Pick<Services, "describe">;
  readonly log: Log;
}

const attemptsMax = 5;
const [wrongInput, killed] = [2, 137];

const locationOf = (id: string): string => `tuntas:command-run/${id}/output`;

/** The account with where its output lies: what the run names itself, else what is stored beside it. */
function located({ account, output = null }: Outcome, id: string): unknown {
  if (typeof account !== "object" || account === null || output === null) return account;
  return { outputLocation: locationOf(id), ...account };
}

/** The end of a run: its result document, and what the engine of operations is to know. */
async function endingOf(sql: Runner, { run, begun }: Attempt, outcome: Outcome) {
  const result = concluded({
    jobId: run.id,
    exitCode: outcome.exitCode,
    account: located(outcome, run.id),
    failure: outcome.failure,
    startedAtMs: begun.begunAtMs,
    finishedAtMs: await store.nowMs(sql),
  });
  const good = isGood(result);
  const why = good ? null : `${result.status}: ${result.warnings[0] ?? `exit code ${result.exitCode}`}`;
  return {
    good,
    conclusion: { result, output: outcome.output ?? null, invariant: outcome.invariant ?? null },
    end: {
      state: good ? ("completed" as const) : ("failed" as const),
      failure: why,
      result: {
        item: run.command,
        outcome: good ? ("done" as const) : ("refused" as const),
        reason: why ?? undefined,
      },
    },
  };
}

type Ending = Awaited<ReturnType<typeof endingOf>>;

/** Puts the end on record in the transaction. False where somebody has stopped it or taken it over. */
async function putEnd(tx: Runner, { hold, run }: Attempt, { end, conclusion }: Ending): Promise<boolean> {
  if (!(await hold.end(tx, end))) return false;
  await store.concludeRun(tx, run.id, conclusion);
  return true;
}

function tell({ run, begun }: Attempt, { conclusion: { result } }: Ending): void {
  const { command, id: operationId, dryRun } = run;
  const durationMs = Math.max(0, Date.parse(result.finishedAt) - begun.begunAtMs);
  const { status, exitCode } = result;
  commandSignals.publish("command.ended", { command, operationId, status, exitCode, dryRun, durationMs });
}

export function makeCommandKind({ database, services, log }: CommandWorkerOptions) {
  /** Another process may declare what was asked for, beside this one. Errors: TUNTAS_COMMAND_DIGEST. */
  async function checkDigest({ digest }: CommandDefinition, run: CommandRun): Promise<void> {
    if (run.digest === digest) return;
    const latest = (await store.readCommands(database)).find(({ name }) => name === run.command);
    if (latest?.digest === run.digest)
      throw new Unavailable("it waits for a process that declares it as it is");
    throw commandErrors.error(
      "TUNTAS_COMMAND_DIGEST",
      `asked for was ${run.digest}, and this process declares ${digest}`,
    );
  }

  /** What keeps it from running, on this machine or at all. Errors: TUNTAS_COMMAND_DIGEST, _ROLE, _ARGUMENTS. */
  async function admit(definition: CommandDefinition, policy: Policy, run: CommandRun) {
    await checkDigest(definition, run);
    const { wrong } = readArguments(policy.arguments, run.arguments);
    if (wrong.length > 0) throw commandErrors.error("TUNTAS_COMMAND_ARGUMENTS", wrong.join("; "));
    await checkRole(database, policy);
    const released = await findReleased(services, policy);
    if (released && released.host !== hostname())
      throw new Unavailable(`it runs on ${released.host}, where its service is`);
    return run.attempts >= attemptsMax
      ? { exitCode: killed, failure: `none of ${attemptsMax} attempts came to an end` }
      : released;
  }

  /** A refusal is a result: the input is wrong, and another try cannot help. */
  async function admitted(definition: CommandDefinition, policy: Policy, run: CommandRun) {
    try {
      return await admit(definition, policy, run);
    } catch (cause) {
      if (!isTuntasError(cause) || cause.retryable) throw cause;
      return { exitCode: wrongInput, failure: `${cause.code}: ${cause.message}` };
    }
  }

  async function launch(attempt: Attempt, policy: Policy, { revision }: Released): Promise<Outcome> {
    const { definition, run, begun, hold } = attempt;
    const { run: program } = definition.options;
    if (!isProgram(program)) throw new Error(`${definition.name} is no program`);
    const { exitCode, printed, account } = await runProgram({
      revision,
      words: [...program.program, ...wordsOf(run.arguments, run.dryRun)],
      inherited: program.environment,
      environment: {
        TUNTAS_RUN: run.id,
        TUNTAS_DRY_RUN: String(run.dryRun),
        TUNTAS_IDEMPOTENCY_KEY: begun.requestHash,
        PGOPTIONS: `-c role=${policy.databaseRole}`,
      },
      timeoutMs: policy.timeoutMs,
      signal: hold.signal,
    });
    hold.signal.throwIfAborted();
    const invariant = await checkDomain(database, attempt, policy);
    const broken = invariant.length > 0 && exitCode === 0;
    return {
      exitCode: broken ? 1 : exitCode,
      account,
      output: printed === "" ? null : printed.replaceAll("\0", "\uFFFD"),
      invariant,
      ...(broken && { failure: `the domain invariant is broken: ${invariant.join("; ")}` }),
    };
  }

  async function conclude(attempt: Attempt, outcome: Outcome): Promise<void> {
    const ending = await endingOf(database, attempt, outcome);
    if (await database.transaction((tx) => putEnd(tx, attempt, ending))) tell(attempt, ending);
  }

  /** Undefined where it was concluded in the handler's own commit. */
  async function work(
    attempt: Attempt,
    policy: Policy,
    found: Awaited<ReturnType<typeof admitted>>,
  ): Promise<Outcome | undefined> {
    if (found && "exitCode" in found) return { ...found, account: undefined };
    if (found) return launch(attempt, policy, found);
    return callHandler(database, { attempt, policy }, async (tx, outcome) => {
      const ending = await endingOf(tx, attempt, outcome);
      if (!ending.good || attempt.run.dryRun) return undefined;
      if (!(await putEnd(tx, attempt, ending))) throw new Error("the run is in other hands");
      return () => tell(attempt, ending);
    });
  }

  async function perform(definition: CommandDefinition, policy: Policy, hold: Hold): Promise<void> {
    const run: CommandRun = (await store.findRun(database, hold.id))!;
    // An attempt counts once nothing keeps it from running here.
    const found = await admitted(definition, policy, run);
    const begun = await store.beginRun(database, hold.id);
    const attempt: Attempt = {
      definition,
      run,
      begun,
      hold,
      log: log.child({ command: run.command, operationId: run.id }),
    };
    try {
      const outcome = await work(attempt, policy, found).catch((cause: unknown) => failureOf(cause, attempt));
      if (outcome) await conclude(attempt, outcome);
    } catch (cause) {
      // Of five deployments meanwhile it has not died.
      if (hold.closing.aborted) await store.giveBackAttempt(database, run.id);
      throw cause;
    }
  }

  /** What carries out the runs of a command. */
  return (definition: CommandDefinition): OperationKind => {
    const policy = policyOf(definition.options);
    return {
      name: kindOf(definition.name),
      survey: () =>
        Promise.reject(
          commandErrors.error(
            "TUNTAS_COMMAND_FORM",
            `${definition.name} is a command: \`tuntas command run ${definition.name}\` asks what is to be asked`,
          ),
        ),
      page: () => Promise.resolve({ items: [], end: true }),
      perform: (hold) => perform(definition, policy, hold),
    };
  };
}
