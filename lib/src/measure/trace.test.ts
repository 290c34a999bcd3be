import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  BasicTracerProvider,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { app, queue, start, worker } from "../index.ts";
import { workflow } from "../workflow/index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { findTracing, fromTraceHeader, toTraceHeader } from "./trace.ts";

const exporter = new InMemorySpanExporter();
let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
beforeEach(() => exporter.reset());
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  trace.disable();
  context.disable();
  propagation.disable();
});

const spansOf = (kind: SpanKind): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.kind === kind);

/** W3C's propagator, which the API leaves to the SDK. */
const w3c = {
  inject(ctx: any, carrier: any, setter: any) {
    const found = trace.getSpanContext(ctx);
    if (found) setter.set(carrier, "traceparent", `00-${found.traceId}-${found.spanId}-0${found.traceFlags}`);
  },
  extract(ctx: any, carrier: any, getter: any) {
    const [, traceId, spanId, flags] =
      /^00-(\w{32})-(\w{16})-(\w\w)$/.exec(String(getter.get(carrier, "traceparent"))) ?? [];
    return traceId
      ? trace.setSpanContext(ctx, { traceId, spanId: spanId!, traceFlags: Number(flags), isRemote: true })
      : ctx;
  },
  fields: () => ["traceparent"],
};

test("where nobody registered an SDK nothing is wrapped", () => {
  expect(findTracing()).toBeUndefined();
});

test("V-12: a send is a producer's span, an attempt a consumer's, linked; what the handler does is within it", async () => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(w3c);
  const orders = queue("traced-orders", {
    message: z.object({ good: z.boolean() }),
    deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
  });
  const work = worker(orders, {
    idempotencyKey: "none",
    timeout: "5s",
    backoff: { base: "1h", max: "1h" },
    handle({ good }, { correlationId, attributes }) {
      expect([correlationId, attributes.traceparent]).toEqual(["c-1", expect.stringMatching(/^00-/)]);
      trace.getTracer("test").startSpan("inside").end();
      if (!good) throw new Error("no");
    },
  });
  await using running = await start(app({ orders, work }), { platform: kit.platform });
  void running;
  const asker = trace.getTracer("test").startSpan("request");
  await context.with(trace.setSpan(context.active(), asker), async () => {
    await orders.send({ good: true }, { correlationId: "c-1" });
    await orders.send({ good: false }, { correlationId: "c-1" });
  });
  asker.end();
  await expect.poll(() => spansOf(SpanKind.CONSUMER).length).toBe(2);
  const sends = spansOf(SpanKind.PRODUCER);
  const attempts = spansOf(SpanKind.CONSUMER);
  const inside = exporter.getFinishedSpans().filter(({ name }) => name === "inside");
  for (const send of sends) {
    expect(send.name).toBe("send traced-orders");
    expect(send.spanContext().traceId).toBe(asker.spanContext().traceId);
    expect(send.attributes).toMatchObject({
      "messaging.system": "tuntas",
      "messaging.operation.type": "send",
      "messaging.destination.name": "traced-orders",
      "messaging.message.conversation_id": "c-1",
      "messaging.message.id": expect.any(String),
    });
  }
  for (const attempt of attempts) {
    const send = sends.find(
      (each) => each.attributes["messaging.message.id"] === attempt.attributes["messaging.message.id"],
    )!;
    expect(attempt.links.map(({ context: linked }) => linked.spanId)).toEqual([send.spanContext().spanId]);
    expect(attempt.spanContext().traceId).not.toBe(send.spanContext().traceId);
    expect(inside.some((span) => span.spanContext().traceId === attempt.spanContext().traceId)).toBe(true);
  }
  expect(attempts.map(({ status }) => status.code).toSorted()).toEqual([
    SpanStatusCode.UNSET,
    SpanStatusCode.ERROR,
  ]);
});

test("V-12: an execution carries its starter's trace, and each step links to it", async () => {
  const flow = workflow("Traced", {
    definition: {
      StartAt: "Work",
      States: {
        Work: { Type: "Task", Resource: "arn:aws:lambda:us-east-1:000000000000:function:work", End: true },
      },
    },
    tasks: { work: async () => ({ done: true }) },
  });
  await using running = await start(app({ flow }), { platform: kit.platform });
  void running;
  await flow.start({});
  await expect
    .poll(() => spansOf(SpanKind.CONSUMER).map(({ name }) => name))
    .toEqual(["process Traced Work"]);
  const [step] = spansOf(SpanKind.CONSUMER);
  const [started] = spansOf(SpanKind.PRODUCER);
  expect(step!.links.map(({ context: linked }) => linked.spanId)).toEqual([started!.spanContext().spanId]);
  expect(step!.attributes["tuntas.workflow.state"]).toBe("Work");
});

test("the trace header is read as it is written", () => {
  const given = { traceId: "0123456789abcdef0123456789abcdef", spanId: "0123456789abcdef", traceFlags: 1 };
  expect(fromTraceHeader(toTraceHeader(given))).toEqual({ ...given, isRemote: true });
  expect(fromTraceHeader("Root=nonsense")).toBeUndefined();
});
