// One attempt at an own task: call the handler, take what it came to as an event of the language, and write that together
// with what the handler wrote. The steps are small on purpose; this is where an effect happens once or twice.
import type { ExecutionIdentity, Happening, Json, StartTask } from "../../../asl/contract.ts";
import { Outcome } from "../../../core/outcome.ts";
import type { Log } from "../../../engine/log.ts";
import type { Database } from "../../../pg/database.ts";
import type { Line } from "../../../pg/lease.ts";
import { isConnectionLost, isTransient } from "../../../pg/faults.ts";
import { workflowErrors } from "../../contract.ts";
import type { TaskDefinition } from "../../declaration.ts";
import { functionOf, isInvoke } from "../../definition/functions.ts";
import { findRecord, type Advance } from "../../store/advance.ts";
import type { Dispatched, DispatchOptions } from "../engine/index.ts";
import { commitOwn, type StepEnding, type StepWriter } from "./commits.ts";
import { OwnContext, visitOf } from "./context.ts";
import { failureOf, ofOutcome, type TaskFailure } from "./failure.ts";
import { report, type Called, type Reported } from "./report.ts";
import { call, enveloped, inputOf, outputOf, timeoutMsOf, type Output } from "./values.ts";

export interface Job {
  readonly executionId: string;
  readonly execution: ExecutionIdentity;
  readonly task: StartTask;
  readonly definition: TaskDefinition;
  /** Counts it while its transaction waits for a connection. */
  readonly line: Line;
}

export interface AttemptDeps {
  readonly database: Database;
  readonly writer: StepWriter;
  readonly log: Log;
  readonly tokenOf: (reference: string) => string;
  readonly dispatch: (
    executionId: string,
    happening: Happening,
    options?: DispatchOptions,
  ) => Promise<Dispatched>;
  /** Whether the execution still waits for the task. */
  readonly isAwaited: (executionId: string, task: number) => Promise<boolean>;
  readonly beat: (executionId: string, task: StartTask) => void;
}

const timerMsMax = 2 ** 31 - 1;
const pauseMs = (tries: number): number => Math.min(50 * 2 ** tries, 5000);
/** Redone so often for the database's sake, an attempt fails by the name that a Retry may take. */
const collisionsMax = 5;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const timeoutOf = ({ definition, task }: Job): number =>
  Math.min(timeoutMsOf(definition), (task.timeoutSeconds ?? Infinity) * 1000, timerMsMax);

const isDuplicate = (cause: unknown): boolean => (cause as { code?: unknown }).code === "23505";

/** What became of one call: written (or late), or to be done again, for the database's sake. */
type Settled = "settled" | Again;

interface Again {
  readonly again: unknown;
}

const settled: Settled = "settled";

export class Attempt {
  readonly job: Job;
  readonly begunAtMs = performance.now();
  /** Whether the history knows of its start. */
  noted = false;
  /** When it has taken too long; whoever watches over the attempts calls `expire`. */
  readonly deadlineMs: number;
  /** Resolves once what it came to is written, or was found to be nobody's business any more. Never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: AttemptDeps;
  readonly #timeoutMs: number;
  #context: OwnContext | undefined;
  #abandoned: unknown;
  #beatAgainMs = 0;
  #stopWaiting: ((called: Called) => void) | undefined;

  constructor(deps: AttemptDeps, job: Job) {
    this.#deps = deps;
    this.job = job;
    this.#timeoutMs = timeoutOf(job);
    this.deadlineMs = this.begunAtMs + this.#timeoutMs;
    this.ended = this.#run();
  }

  get #waits(): boolean {
    return this.job.task.pattern === "waitForTaskToken";
  }

  get #invoked(): boolean {
    return isInvoke(this.job.task.resource);
  }

  /** Aborts the handler and undoes what it wrote: it was cancelled, or belongs to somebody else. */
  abandon(reason: unknown): void {
    this.#abandoned = reason;
    this.#context?.abort(reason);
    this.#stopWaiting?.("abandoned");
  }

  expire(): void {
    this.#stopWaiting?.("expired");
  }

  async #run(): Promise<void> {
    try {
      if (this.job.execution.redriveCount && (await this.#repeat())) return;
      for (let redos = 0; this.#abandoned === undefined; redos++) {
        const input = inputOf(this.job.task.input, this.#invoked);
        const context = this.#newContext(input);
        const begunMs = performance.now();
        const called = await this.#call(context, input);
        const durationMs = performance.now() - begunMs;
        context.end();
        const result = await this.#settle(context, called);
        if (result === "settled") return this.#told({ context, called, durationMs });
        if (!(await this.#mayRedo(context, result, redos))) return;
      }
    } catch (cause) {
      const executionId = this.job.execution.id;
      this.#deps.log.error({ cause, executionId }, "a step could not be written");
    }
  }

  #told(made: Pick<Reported, "context" | "called" | "durationMs">): void {
    if (made.called === "abandoned") return;
    const { task } = this.job;
    report({ task: functionOf(task.resource, task.input) ?? task.stateName, ...made });
  }

  async #mayRedo(context: OwnContext, { again }: Again, redos: number): Promise<boolean> {
    await context.transaction?.rollback();
    if (redos >= collisionsMax && again !== undefined && !isConnectionLost(again)) {
      await this.#fail(failureOf(again));
      return false;
    }
    if (again !== undefined) await sleep(pauseMs(redos) * (0.5 + Math.random() / 2));
    const { executionId, task } = this.job;
    return (
      (await this.#persist(() => this.#deps.isAwaited(executionId, task.task))) && !(await this.#repeat())
    );
  }

  #newContext(input: unknown): OwnContext {
    const { database, log, tokenOf, beat } = this.#deps;
    const { executionId, execution, task, line } = this.job;
    const context = new OwnContext({
      database,
      log,
      execution,
      task,
      input,
      timeoutMs: this.#timeoutMs,
      line,
      taskToken: this.#waits ? tokenOf(task.token) : undefined,
      beat: () => this.#beat(() => beat(executionId, task)),
    });
    this.#context = context;
    return context;
  }

  /** At most four times in the time that a heartbeat has. */
  #beat(beat: () => void): void {
    const nowMs = performance.now();
    if (nowMs < this.#beatAgainMs) return;
    this.#beatAgainMs = nowMs + (this.job.task.heartbeatSeconds ?? 0) * 250;
    beat();
  }

  #call(context: OwnContext, input: unknown): Promise<Called> {
    return new Promise((resolve) => {
      this.#stopWaiting = resolve;
      call(this.job.definition, input, context).then(
        (value) => resolve({ value }),
        (thrown: unknown) => resolve({ thrown }),
      );
    });
  }

  #settle(context: OwnContext, called: Called): Promise<Settled> {
    if (called === "abandoned" || called === "expired") return this.#giveUp(context, called);
    if (!("thrown" in called)) return this.#succeed(context, called.value);
    const { thrown } = called;
    return isTransient(thrown) ? Promise.resolve({ again: thrown }) : this.#undo(context, failureOf(thrown));
  }

  async #giveUp(context: OwnContext, called: "expired" | "abandoned"): Promise<Settled> {
    const { stateName, task } = this.job.task;
    if (called === "expired")
      context.abort(
        workflowErrors.error("TUNTAS_TASK_LOST", `${stateName} took longer than ${this.#timeoutMs} ms`),
      );
    await context.transaction?.rollback();
    if (called === "expired") await this.#tell({ type: "taskTimedOut", task, clock: "timeout" });
    return settled;
  }

  #fail(failure: TaskFailure): Promise<Settled> {
    return this.#tell({ type: "taskFailed", task: this.job.task.task, ...failure });
  }

  /** Fails, and nothing of what the handler wrote remains. */
  async #undo(context: OwnContext, failure: TaskFailure): Promise<Settled> {
    await context.transaction?.rollback();
    return this.#fail(failure);
  }

  #succeed(context: OwnContext, value: unknown): Promise<Settled> {
    if (value instanceof Outcome) return this.#undo(context, ofOutcome(value));
    let output: Output;
    try {
      output = outputOf(value);
    } catch (cause) {
      return this.#undo(context, failureOf(cause));
    }
    if (context.transaction || context.writes.length > 0) return this.#commit(context, output);
    return this.#tell(this.#happeningOf(output), { handedOver: this.#waits });
  }

  #happeningOf({ value, text }: Output): Happening {
    const { task } = this.job;
    const output = enveloped(value, this.#invoked);
    if (this.#waits) return { type: "taskSubmitted", task: task.task, output };
    const known = output === value ? text : undefined;
    return { type: "taskSucceeded", task: task.task, output, text: known };
  }

  /** The result, the record and what the handler wrote, in one commit; where that is lost the step is done again. */
  async #commit(context: OwnContext, output: Output): Promise<Settled> {
    const came: { ending?: StepEnding } = {};
    const commit = (advance: Advance): Promise<boolean> =>
      this.#write(context, advance).then((ending) => (came.ending = ending) === "committed");
    const result = await this.#deps.dispatch(this.job.executionId, this.#happeningOf(output), {
      handedOver: this.#waits,
      commit,
      record: { visit: visitOf(this.job.task), result: output.text },
    });
    const { ending } = came;
    if (ending === "committed") return settled;
    if (result !== "overtaken") {
      await context.transaction?.rollback();
      return settled;
    }
    const failed = typeof ending === "object" ? ending.cause : undefined;
    if (failed === undefined || isTransient(failed) || isDuplicate(failed)) return { again: failed };
    return this.#fail(failureOf(failed));
  }

  #write({ transaction, writes }: OwnContext, advance: Advance): Promise<StepEnding> {
    return transaction
      ? commitOwn(transaction, writes, advance)
      : this.#deps.writer.add({ advance, writes, timeoutMs: this.#timeoutMs });
  }

  /** Whether this visit was done before, in an advance that then failed: its result is given again. */
  async #repeat(): Promise<boolean> {
    const { executionId, task } = this.job;
    const before = await this.#persist(() => findRecord(this.#deps.database, executionId, visitOf(task)));
    if (before === undefined) return false;
    await this.#tell(this.#happeningOf({ value: JSON.parse(before) as Json, text: before }), {
      handedOver: this.#waits,
    });
    return true;
  }

  #tell(happening: Happening, options?: DispatchOptions): Promise<Settled> {
    const tell = () => this.#deps.dispatch(this.job.executionId, happening, options);
    return tell().then(
      () => settled,
      (cause: unknown) => this.#persist(tell, cause).then(() => settled),
    );
  }

  /** Until it is done: a database that is away must not lose what came of a step. */
  async #persist<T>(work: () => Promise<T>, failed?: unknown): Promise<T> {
    let cause = failed;
    for (let tries = 0; ; tries++) {
      if (cause !== undefined) await this.#pauseAfter(cause, tries);
      try {
        return await work();
      } catch (thrown) {
        cause = thrown;
      }
    }
  }

  /** Throws what trying again will not cure. */
  async #pauseAfter(cause: unknown, tries: number): Promise<void> {
    if (!isTransient(cause) && (cause as { retryable?: boolean }).retryable !== true) throw cause;
    await sleep(pauseMs(tries));
  }
}
