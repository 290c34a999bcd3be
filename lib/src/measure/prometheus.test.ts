// What a scraper reads, taken apart by a library that did not write it.
// @ts-expect-error it comes without types
import parsePrometheus from "parse-prometheus-text-format";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, queue, start, task, worker, workflow, poison } from "../index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { makePrometheus, metricEntries, type Prometheus } from "./index.ts";

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly labels?: Record<string, string>;
    readonly value?: string;
    readonly buckets?: Record<string, string>;
    readonly count?: string;
  }[];
}

let kit: TestPlatform;
let prometheus: Prometheus;
beforeAll(async () => {
  kit = await testPlatform();
  prometheus = makePrometheus(kit.platform);
});
afterAll(async () => {
  prometheus.close();
  await kit[Symbol.asyncDispose]();
});

const scrape = async (): Promise<Map<string, Family>> =>
  new Map((parsePrometheus(await prometheus.render()) as Family[]).map((family) => [family.name, family]));

function valueOf(
  families: Map<string, Family>,
  name: string,
  labels: Record<string, string>,
): number | undefined {
  const found = families
    .get(name)
    ?.metrics.find(({ labels: own = {} }) =>
      Object.entries(labels).every(([label, value]) => own[label] === value),
    );
  return found?.value === undefined ? undefined : Number(found.value);
}

test("V-02 V-07: the worker's figures are there, by the queue's name", async () => {
  const orders = queue("scraped", {
    message: z.object({ good: z.boolean() }),
    poison: "quarantine",
    deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
  });
  const work = worker(orders, {
    idempotencyKey: "none",
    timeout: "5s",
    concurrency: 7,
    handle: ({ good }) => {
      if (!good) throw poison({ code: "BAD_ORDER", message: "no" });
    },
  });
  await using running = await start(app({ orders, work }), { platform: kit.platform });
  void running;
  await Promise.all([true, true, false].map((good) => orders.send({ good })));
  await expect
    .poll(
      async () => {
        const families = await scrape();
        return {
          sent: valueOf(families, "tuntas_queue_messages_total", { queue: "scraped", event: "sent" }),
          done: valueOf(families, "tuntas_worker_attempts_total", { queue: "scraped", outcome: "done" }),
          poison: valueOf(families, "tuntas_worker_poison_messages_total", {
            queue: "scraped",
            code: "BAD_ORDER",
          }),
          waiting: valueOf(families, "tuntas_queue_dead_letters", { queue: "scraped" }),
          places: valueOf(families, "tuntas_worker_places", { queue: "scraped" }),
          processes: valueOf(families, "tuntas_worker_processes", { queue: "scraped" }),
        };
      },
      { interval: 300 },
    )
    .toEqual({ sent: 3, done: 2, poison: 1, waiting: 1, places: 7, processes: 1 });
  const histogram = (await scrape()).get("tuntas_worker_attempt_seconds")!;
  expect(histogram.type).toBe("HISTOGRAM");
  expect(histogram.metrics[0]).toMatchObject({ buckets: { "+Inf": "3" } });
});

test("V-05 V-14 V-29 executions by their end, attempts by state and error, retries, durations", async () => {
  class Away extends Error {}
  class Broken extends Error {}
  const end = { End: true, Type: "Task" } as const;
  const scrapedFlow = workflow("scraped-flow", {
    definition: {
      StartAt: "First",
      States: {
        First: {
          ...end,
          Resource: "first",
          End: false,
          Next: "Second",
          Retry: [{ ErrorEquals: ["Away"], IntervalSeconds: 1, MaxAttempts: 2 }],
        },
        Second: { ...end, Resource: "second" },
      },
    },
    tasks: {
      first: task({
        idempotent: true,
        handle: (input: { fails: boolean }, { attempt }) => {
          if (attempt === 1) throw new Away("not yet");
          return input;
        },
      }),
      second: ({ fails }: { fails: boolean }) => {
        if (fails) throw new Broken("for good");
      },
    },
  });
  await using running = await start(app({ scrapedFlow }), { platform: kit.platform });
  void running;
  await Promise.all([false, true].map((fails) => scrapedFlow.start({ fails })));
  const labels = { workflow: "scraped-flow" };
  const attempts = (families: Map<string, Family>, state: string, error: string) =>
    valueOf(families, "tuntas_workflow_attempts_total", { ...labels, state, error });
  const executions = (families: Map<string, Family>, status: string) =>
    valueOf(families, "tuntas_workflow_executions_total", { ...labels, status });
  const figures = async () => {
    await kit.advance(1000);
    const families = await scrape();
    return {
      retried: attempts(families, "First", "Away"),
      first: attempts(families, "First", ""),
      second: attempts(families, "Second", ""),
      broken: attempts(families, "Second", "Broken"),
      started: executions(families, "STARTED"),
      succeeded: executions(families, "SUCCEEDED"),
      failed: executions(families, "FAILED"),
    };
  };
  await expect
    .poll(figures, { interval: 300 })
    .toEqual({ retried: 2, first: 2, second: 1, broken: 1, started: 2, succeeded: 1, failed: 1 });
  const text = await prometheus.render();
  expect(text).toMatch(/tuntas_workflow_attempt_seconds_count\{workflow="scraped-flow",state="First"\} 4/);
});

test("every metric of the catalogue is exposed with its kind and meaning", async () => {
  const families = await scrape();
  for (const [name, { kind, meaning }] of metricEntries)
    expect(families.get(name), name).toMatchObject({ type: kind.toUpperCase(), help: meaning });
});
