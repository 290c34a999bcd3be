// Traces, by OpenTelemetry's API alone: whoever registers an SDK before the application starts gets spans, whoever does
// not pays nothing. A send is a producer's span, its context travels in the message's attributes (`traceparent`); an
// attempt is a consumer's span in a trace of its own, joined by a link, since one message may be handled many times, long
// after. A workflow carries its starter's context as Step Functions does, in the execution's trace header, and each step
// links to it. Attributes are those of the messaging conventions 1.27, pinned here because they are still in development.
import {
  context,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Link,
  type Span,
  type SpanContext,
  type Tracer,
} from "@opentelemetry/api";
import { isTuntasError } from "../core/error.ts";
import { Outcome } from "../core/outcome.ts";
import type { SendOptions, WorkerDefinition } from "../queue/declaration.ts";
import type { StartOptions, TaskContext, WorkflowDefinition } from "../workflow/declaration.ts";

export interface Tracing {
  /** Sends under a producer's span, whose context goes along. */
  send<T extends { readonly messageId: string }>(
    queue: string,
    options: SendOptions,
    send: (options: SendOptions) => Promise<T>,
  ): Promise<T>;
  /** Starts an execution under a producer's span, whose context goes along. */
  start<T>(workflow: string, options: StartOptions, start: (options: StartOptions) => Promise<T>): Promise<T>;
  /** The worker, each of its attempts in a consumer's span. */
  worker(worker: WorkerDefinition): WorkerDefinition;
  /** The workflow, each of its steps in a consumer's span; `traceHeaderOf` says what an execution was started with. */
  workflow(workflow: WorkflowDefinition, traceHeaderOf: TraceHeaderOf): WorkflowDefinition;
}

type TraceHeaderOf = (executionArn: string) => Promise<string | null | undefined>;

/** A tracer where somebody registered an SDK. */
function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const isBare =
    provider instanceof ProxyTracerProvider && provider.getDelegateTracer("tuntas") === undefined;
  return isBare ? undefined : trace.getTracer("tuntas");
}

const messagingOf = (type: "send" | "process", destination: string, more: Attributes): Attributes => ({
  "messaging.system": "tuntas",
  "messaging.operation.type": type,
  "messaging.operation.name": type,
  "messaging.destination.name": destination,
  ...more,
});

/** The context that a carrier of W3C's headers names. */
function linksOf(carrier: Readonly<Record<string, string>>): Link[] {
  const found = trace.getSpanContext(propagation.extract(context.active(), carrier));
  return found ? [{ context: found }] : [];
}

const xrayForm = /Root=1-([0-9a-f]{8})-([0-9a-f]{24});Parent=([0-9a-f]{16});Sampled=([01])/i;

/** The context in the form of X-Amzn-Trace-Id, as executions carry it. */
export const toTraceHeader = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `Root=1-${traceId.slice(0, 8)}-${traceId.slice(8)};Parent=${spanId};Sampled=${traceFlags & TraceFlags.SAMPLED}`;

export function fromTraceHeader(header: string): SpanContext | undefined {
  const [, epoch, rest, spanId, sampled] = xrayForm.exec(header) ?? [];
  if (epoch === undefined) return undefined;
  const traceFlags = sampled === "1" ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return {
    traceId: `${epoch}${rest}`.toLowerCase(),
    spanId: spanId!.toLowerCase(),
    traceFlags,
    isRemote: true,
  };
}

function fail(span: Span, cause: unknown): void {
  const { message = String(cause) } = cause as Partial<Error>;
  if (isTuntasError(cause)) span.setAttribute("error.type", cause.code);
  else if (cause instanceof Outcome) span.setAttribute("tuntas.outcome", cause.kind);
  else span.recordException(cause as Error);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Runs `work` in the span and ends it with what that came to. */
async function within<T>(span: Span, work: () => T): Promise<Awaited<T>> {
  try {
    const value = await context.with(trace.setSpan(context.active(), span), work);
    if (value instanceof Outcome) span.setAttribute("tuntas.outcome", value.kind);
    return value;
  } catch (cause) {
    fail(span, cause);
    throw cause;
  } finally {
    span.end();
  }
}

interface Consumed {
  readonly name: string;
  readonly attributes: Attributes;
  readonly links: Link[];
}

function makeTracing(tracer: Tracer): Tracing {
  const produce = (destination: string, more: Attributes): Span =>
    tracer.startSpan(`send ${destination}`, {
      kind: SpanKind.PRODUCER,
      attributes: messagingOf("send", destination, more),
    });

  const consume = <T>({ name, attributes, links }: Consumed, work: () => T): Promise<Awaited<T>> =>
    within(tracer.startSpan(name, { kind: SpanKind.CONSUMER, root: true, links, attributes }), work);

  function step(workflow: string, task: TaskContext, links: Link[]): Consumed {
    const attributes = messagingOf("process", workflow, {
      "messaging.message.conversation_id": task.correlationId,
      "tuntas.workflow.execution": task.execution.arn,
      "tuntas.workflow.state": task.stateName,
      "tuntas.attempt": task.attempt,
    });
    return { name: `process ${workflow} ${task.stateName}`, attributes, links };
  }

  return {
    send(queue, options, send) {
      const { correlationId } = options;
      const span = produce(
        queue,
        correlationId === undefined ? {} : { "messaging.message.conversation_id": correlationId },
      );
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), span), carrier);
      const traced = { ...options, attributes: { ...carrier, ...options.attributes } };
      return within(span, async () => {
        const sent = await send(traced);
        span.setAttribute("messaging.message.id", sent.messageId);
        return sent;
      }) as ReturnType<typeof send>;
    },
    start(workflow, options, start) {
      const span = produce(workflow, {});
      const traced = { traceHeader: toTraceHeader(span.spanContext()), ...options };
      return within(span, () => start(traced)) as ReturnType<typeof start>;
    },
    worker(worker) {
      const { queue, options } = worker;
      const { handle } = options;
      return {
        ...worker,
        options: {
          ...options,
          handle: (message, attempt) => {
            const attributes = messagingOf("process", queue.name, {
              "messaging.message.id": attempt.messageId,
              ...(attempt.correlationId !== undefined && {
                "messaging.message.conversation_id": attempt.correlationId,
              }),
              "tuntas.attempt": attempt.attempt,
              ...(attempt.tenant !== undefined && { "tuntas.tenant": attempt.tenant }),
            });
            const links = linksOf(attempt.attributes);
            return consume({ name: `process ${queue.name}`, attributes, links }, () =>
              handle(message, attempt),
            );
          },
        },
      };
    },
    workflow(workflow, traceHeaderOf) {
      const tasks = [...workflow.tasks].map(([name, definition]) => {
        const handle = async (input: unknown, task: TaskContext) => {
          const started = fromTraceHeader((await traceHeaderOf(task.execution.arn)) ?? "");
          const links = started ? [{ context: started }] : [];
          return consume(step(workflow.name, task, links), () => definition.handle(input, task));
        };
        return [name, { ...definition, handle }] as const;
      });
      return { ...workflow, tasks: new Map(tasks) };
    },
  };
}

/** Undefined where nobody registered an SDK: then nothing is wrapped at all. */
export function findTracing(): Tracing | undefined {
  const tracer = findTracer();
  return tracer && makeTracing(tracer);
}
