// One attempt at a task of a machine elsewhere, within the attempt at its message. What it came to is handed over as statements,
// so that it commits with the handler's writes, the end of the message and the record that this token was worked on.
import type { Write } from "../../engine/handler/contract.ts";
import { isTuntasError } from "../../core/error.ts";
import { Outcome, retry } from "../../core/outcome.ts";
import { isTransient } from "../../pg/faults.ts";
import type { Database } from "../../pg/database.ts";
import { limits } from "../../asl/index.ts";
import type { Log } from "../../engine/log.ts";
import { announcing } from "../../outbox/client.ts";
import type { Context } from "../../queue/index.ts";
import { workflowErrors } from "../contract.ts";
import type { TaskDefinition, WorkflowDefinition } from "../declaration.ts";
import { workflowSignals } from "../signals.ts";
import { hashToken, nameOf } from "../token.ts";
import { failureOf } from "../worker/own/failure.ts";
import { report, type Called } from "../worker/own/report.ts";
import { call, enveloped, inputOf, outputOf, timeoutMsOf } from "../worker/own/values.ts";
import { RemoteContext } from "./context.ts";
import type { Answer, OpenMachines, TaskMessage } from "./contract.ts";
import { isRepeated, repeatOf } from "./state.ts";
import { findEarlier, keeping, type TaskRow } from "./store.ts";
import { answerTargetOf } from "./tell.ts";

export interface AttemptParts {
  readonly workflow: WorkflowDefinition;
  readonly database: Database;
  readonly machines: Pick<OpenMachines, "heartbeat">;
  readonly seal: (token: string) => Buffer;
  readonly log: Log;
}

/** The machine does not wait for this task. */
class NotAwaited extends Error {
  override readonly name = "NotAwaited";
}

class Expired extends Error {
  override readonly name = "Expired";
}

const lost = (message: string) => workflowErrors.error("TUNTAS_TASK_LOST", message);
/** Redone so often for the database's sake, a task fails by the name that a Retry may take. */
const collisionsMax = 5;
/** So often it is asked whether a task without a heartbeat is still waited for. */
const lookEveryMs = 10_000;
const timerMsMax = 2 ** 31 - 1;

export class RemoteAttempt {
  readonly #parts: AttemptParts;
  readonly #message: TaskMessage;
  readonly #attempt: Context;
  readonly #definition: TaskDefinition;
  readonly #input: unknown;
  readonly #context: RemoteContext;
  readonly #row: Omit<TaskRow, "answer" | "fate">;
  readonly #begunAtMs = performance.now();
  #called: Called | undefined;
  /** The machine does not wait for it any more. */
  #isLost = false;
  #beatAgainMs = 0;
  #giveUp: (reason: unknown) => void = () => undefined;

  /** Errors: a `retry` where this application has no such task. */
  constructor(given: AttemptParts, message: TaskMessage, attempt: Context) {
    const { workflow, seal } = given;
    const definition = workflow.tasks.get(message.task);
    if (!definition) throw unknownTask(workflow.name, message.task);
    this.#parts = given;
    this.#message = message;
    this.#attempt = attempt;
    this.#definition = definition;
    this.#input = inputOf(message.input, message.invoke);
    this.#row = {
      ...rowOf(message),
      workflow: workflow.name,
      token: seal(message.token),
      waitsUntilMs: this.#endMs,
    };
    const { visit, reference } = this.#row;
    const beat = () => this.#beatNow();
    const parts = {
      workflowName: workflow.name,
      message,
      input: this.#input,
      visit,
      reference,
      attempt,
      beat,
    };
    this.#context = new RemoteContext(parts);
  }

  /** Does the work, and hands over what it came to; throws what `instead` is then asked about. */
  async run(): Promise<void> {
    const before = isRepeated(this.#message) && (await findEarlier(this.#parts.database, this.#row));
    const again = before && repeatOf(this.#message, before);
    if (again) return this.#handOver(this.#answering(again));
    await this.#checkAwaited();
    if (this.#message.waits) await this.#keepWaiting();
    const value = await this.#within(call(this.#definition, this.#input, this.#context));
    if (value instanceof Outcome) throw value;
    this.#called = { value };
    if (!this.#message.waits) this.#handOver(this.#answering(this.#answerOf(value)));
  }

  /** What is written where it failed; undefined where the message is to come back. */
  instead(cause: unknown): readonly Write[] | undefined {
    if (cause instanceof NotAwaited || this.#isLost) return [this.#keeping(undefined, "closed")];
    if (isTransient(cause) && this.#attempt.attempt < collisionsMax) return undefined;
    if (cause instanceof Expired || isTuntasError(cause, "TUNTAS_ATTEMPT_TIMEOUT")) return this.#expired();
    this.#called = { thrown: cause };
    return this.#answering(failureOf(cause));
  }

  #expired(): readonly Write[] {
    const why = `${this.#message.state} took too long`;
    this.#called = "expired";
    this.#context.abort(lost(why));
    return this.#answering({ error: "States.Timeout", cause: why });
  }

  /** Tells, once what it came to is committed. */
  ended(): void {
    const { workflow } = this.#parts;
    const { state, execution, task } = this.#message;
    const context = this.#context;
    const durationMs = performance.now() - this.#begunAtMs;
    if (this.#called) return report({ task, context, called: this.#called, durationMs });
    if (!this.#isLost) return;
    const facts = { workflow: workflow.name, state, arn: execution, fate: "closed" };
    workflowSignals.publish("workflow.answered", facts);
    this.#parts.log.warn(facts, "a task was taken that its execution does not wait for any more");
  }

  #keeping(answer: Answer | undefined, fate: TaskRow["fate"]): Write {
    return keeping(this.#parts.database, { ...this.#row, answer, fate });
  }

  /** The statements of an answer: what it is, and that it is to be told. */
  #answering(answer: Answer): readonly Write[] {
    const { database, workflow } = this.#parts;
    const { reference } = this.#row;
    return [
      this.#keeping(answer, "answered"),
      announcing(database, {
        target: answerTargetOf(workflow.name),
        key: reference,
        payload: JSON.stringify({ reference }),
      }),
    ];
  }

  #handOver(writes: readonly Write[]): void {
    for (const { text, values } of writes) this.#attempt.write(text, values);
  }

  /** Before the handler's own statements, so that what it asks people may refer to it. */
  async #keepWaiting(): Promise<void> {
    const { text, values } = this.#keeping(undefined, "waiting");
    await this.#attempt.tx.query(text, [...values]);
  }

  #answerOf(value: unknown): Answer {
    const output = enveloped(outputOf(value).value, this.#message.invoke);
    const bytes = Buffer.byteLength(JSON.stringify(output));
    if (bytes <= limits.dataBytes) return { output };
    const error = "States.DataLimitExceeded";
    const cause = `the task '${this.#message.state}' returned a result of ${bytes} bytes, more than ${limits.dataBytes}`;
    return { error, cause };
  }

  /** A task that has waited too long, or was taken before and then lost, may be nobody's business any more. */
  async #checkAwaited(): Promise<void> {
    if (this.#leftMs() <= 0) this.#lose("it timed out before it was taken");
    if (this.#attempt.attempt > 1) await this.#beat();
    if (this.#isLost) throw new NotAwaited();
  }

  /** When the machine stops waiting; the message was sent as the task began. */
  get #endMs(): number {
    return this.#attempt.sentAtMs + this.#message.timeoutSeconds * 1000;
  }

  #leftMs(): number {
    return this.#endMs - (performance.timeOrigin + performance.now());
  }

  #lose(why: string): void {
    this.#isLost = true;
    this.#context.abort(lost(`${this.#message.state}: ${why}`));
    this.#giveUp(new NotAwaited());
  }

  /** At most four times in the time that a heartbeat has. */
  #beatNow(): void {
    const nowMs = performance.now();
    if (nowMs < this.#beatAgainMs) return;
    this.#beatAgainMs = nowMs + this.#message.heartbeatSeconds * 250;
    void this.#beat();
  }

  async #beat(): Promise<void> {
    try {
      const fate = await this.#parts.machines.heartbeat(this.#message.token);
      if (fate === "closed") this.#lose("its execution does not wait for it any more");
    } catch (cause) {
      this.#parts.log.debug({ cause, state: this.#message.state }, "a heartbeat was not taken");
    }
  }

  /** The handler's result, unless it takes too long or is found to be nobody's business any more. */
  async #within(work: Promise<unknown>): Promise<unknown> {
    const timeoutMs = Math.min(timeoutMsOf(this.#definition), this.#leftMs(), timerMsMax);
    const timer = setTimeout(() => this.#giveUp(new Expired()), timeoutMs);
    // With a heartbeat of its own the state says how often it wants to hear of the handler.
    const looking =
      this.#message.heartbeatSeconds > 0 ? undefined : setInterval(() => void this.#beat(), lookEveryMs);
    try {
      return await Promise.race([work, new Promise((_, reject) => (this.#giveUp = reject))]);
    } finally {
      clearTimeout(timer);
      clearInterval(looking);
    }
  }
}

/** Names one visit of a state, whatever the attempt: as much as a document can say of it. */
function visitOf({ execution, state, enteredAt, item, input }: TaskMessage): string {
  const what = hashToken(JSON.stringify(input)).toString("base64url").slice(0, 22);
  return `${execution}/${state}#${enteredAt}/${item >= 0 ? `${item}/` : ""}${what}`;
}

const rowOf = (message: TaskMessage) => ({
  reference: nameOf(message.token),
  visit: visitOf(message),
  task: message.task,
  state: message.state,
  executionArn: message.execution,
  redrives: message.redrives,
  retries: message.retries,
});

const unknownTask = (workflow: string, task: string): Outcome =>
  retry({
    code: "TUNTAS_TASK_UNKNOWN",
    message: `workflow ${workflow} of this application has no task ${task}; one of another revision may`,
    after: "10s",
  });
