// Designs on a page: what is open, what is found, what is not, and what the result says.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, gather } from "tuntas/check";
import { task, workflow } from "tuntas/workflow";
import { afterAll, expect, test, vi } from "vitest";
import { blankPage, readPage } from "./review/page.ts";
import { asked, questions, type Asked, type Heading, headings } from "./review/questions.ts";
import { longestSeconds, reviewOf, type Review } from "./review/review.ts";
import { smellEntries, smells, symptoms, symptomsOf, type SmellId, type Symptom } from "./review/smells.ts";
import { run } from "./run.ts";
import { failuresOf } from "./scaffold/failures.ts";
import { shapeNames, shapes } from "./scaffold/shapes.ts";
import { planOf } from "./scaffold/tests.ts";

const folder = mkdtempSync(join(tmpdir(), "review-"));
afterAll(() => rmSync(folder, { recursive: true }));

const enrichment: Record<Asked, string> = {
  type: "An async event enrichment worker.",
  several: "No.",
  trigger: "An order event.",
  waits: "Nobody.",
  takes: "p99 200 ms, at most 10 s",
  duplicate: "Once by eventId; a second one finds its key.",
  partial: "It has one effect, a row, in one transaction.",
  scales: "The age of the oldest event.",
  downstream: "The enrichment database: 50 connections.",
  terminal: "a dead-letter queue, and a failure event",
  audit: "Which event changed which order.",
  isolation: "A role of its own on the enrichment database.",
  operator: "orders-team, by runbooks/enrichment.md",
  timeout: "The attempt is over and is tried again.",
  outage: "Tried again with backoff, then a dead letter.",
  overload: "Events wait.",
  badInput: "Set aside at once.",
  crash: "Another instance does it again.",
  badDeploy: "Rolled back by its alarm.",
  traits: "short-lived, stateless, idempotent by eventId, bursty",
  service: "Lambda, triggered by an EventBridge rule",
  protection: "reserved concurrency 20, for the enrichment database",
  signals: "invocation errors, duration, throttles, downstream latency",
};

const pageOf = (answers: Partial<Record<Heading, string>>): string =>
  [
    "# Review: event-enrichment",
    ...Object.entries(answers).map(([key, text]) => `## ${headings[key as Heading]}\n\n${text}`),
  ].join("\n\n");

const review = (answers: Partial<Record<Heading, string>>): Review => reviewOf(readPage(pageOf(answers)));
const ticked = (...seen: Symptom[]) => ({
  symptoms: seen.map((each) => `- [x] ${symptoms[each]}`).join("\n"),
});
const found = (...seen: Symptom[]) =>
  review({ ...enrichment, ...ticked(...seen) }).findings.map(({ id }) => id);

async function type(page: string, ...words: string[]): Promise<{ status: number; text: string }> {
  let text = "";
  const file = join(folder, "design.md");
  writeFileSync(file, page);
  const printing = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((written) => Boolean((text += String(written))));
  const status = await run(["review", file, ...words]);
  printing.mockRestore();
  return { status, text: text.replaceAll(file, "design.md") };
}

test("T-36 the sample: bursty, stateless, short enrichment by event id is approved, with a result that can be argued with", async () => {
  const { status, text } = await type(pageOf(enrichment));
  expect(text).toBe(
    `event-enrichment: approved

  type                     worker
  traits                   short-lived, stateless, idempotent by eventId, bursty
  runs on                  Lambda, triggered by an EventBridge rule
  protects its downstream  reserved concurrency 20, for the enrichment database
  fails for good           a dead-letter queue, and a failure event
  tracks                   invocation errors, duration, throttles, downstream latency

To be tested:
  duplicate  the same message twice: one effect
  poison     a message that nothing can use: quarantined with its reason, good ones go on
  retry      the downstream fails, then works: done, once, after the backoff
  shutdown   SIGTERM in the middle: it finishes and exits 0; kill -9: done by another, once
  backlog    more than it can do: nothing is lost, the oldest is back within its objective, the downstream bears it
`,
  );
  expect(status).toBe(0);
});

test("T-34 T-39 the record has thirteen answers and nine failures; with any one of them blank it is not approved", async () => {
  const { text } = await type(pageOf(enrichment), "--json");
  const [record] = JSON.parse(text) as [Review];
  expect(Object.keys(questions)).toHaveLength(13);
  for (const key of Object.keys(questions))
    expect(record.answers[key as Asked]).toBe(enrichment[key as Asked]);
  expect(Object.values(record.failures)).toHaveLength(9);
  expect(Object.values(record.failures)).not.toContain(null);
  for (const key of Object.keys(asked) as Asked[])
    for (const nothing of ["", "TBD", "<!-- later -->", "?"]) {
      const { approved, open } = review({ ...enrichment, [key]: nothing });
      expect({ approved, open }).toEqual({ approved: false, open: [{ question: key, asks: asked[key] }] });
    }
  expect(review({ ...enrichment, crash: "…" }).failures["crash mid-work"]).toBeNull();
  expect(review({ ...enrichment, operator: "Nobody." }).open).toMatchObject([{ question: "operator" }]);
});

test("T-35 a service's name is no result, alone on the page or under its heading", async () => {
  const { status, text } = await type("# Enrichment\n\nUse Lambda.\n");
  expect(status).toBe(1);
  expect(text).toContain('design.md:1: only-a-service: "Use Lambda."');
  expect(review({ service: "Lambda" }).findings).toMatchObject([{ id: "only-a-service", line: 3 }]);
  expect(reviewOf(readPage("# A readme\n\nOf several\nlines.")).findings).toEqual([]);
  expect(review({ service: "Lambda", traits: "bursty" }).findings).toEqual([]);
});

test("T-34 several types: each other one is named, for a page of its own; an unknown type and an unknown symptom are told", () => {
  expect(review({ ...enrichment, several: "Yes: an api accepts, a workflow leads." })).toMatchObject({
    shape: "worker",
    besides: ["workflow", "api"],
    approved: true,
  });
  expect(review({ ...enrichment, type: "platform daemon" })).toMatchObject({
    shape: "service",
    tests: planOf("service", { daemon: true }),
  });
  expect(review({ ...enrichment, type: "a microservitude" }).findings).toMatchObject([
    { id: "unknown-type" },
  ]);
  expect(review({ ...enrichment, symptoms: "- [x] It is slow\n- [ ] It is blue" }).findings).toMatchObject([
    { id: "unknown-symptom", message: '"It is slow" is none of the symptoms.' },
  ]);
});

test("T-11 T-12 T-14 T-16 T-18 T-20 each smell is found by its symptoms, and by one of them alone it is not", () => {
  for (const [id, { seen, needs, sure }] of smellEntries) {
    const needed = needs ? [needs] : [];
    expect(found(...needed, ...seen.slice(0, sure))).toEqual([id]);
    expect(found(...needed, ...seen)).toContain(id);
    expect(found(...needed, ...seen.slice(0, sure - 1))).toEqual([]);
    expect(new Set([...needed, ...seen]).size).toBe(seen.length + needed.length);
  }
  const used = new Set(shapeNames.flatMap(symptomsOf));
  expect(Object.keys(symptoms).filter((each) => !used.has(each as Symptom))).toEqual([]);
});

test("T-11 a design that is all requests is found, and what it should be", () => {
  const design = ticked(
    "placeholderEndpoints",
    "polledAnyway",
    "handMadeRetries",
    "statusTableGrows",
    "hardToRecover",
  );
  const { findings, approved } = review({ ...enrichment, type: "REST API", ...design });
  expect(approved).toBe(false);
  expect(findings).toMatchObject([{ id: "everything-is-rest", begin: "worker" }]);
  expect(findings[0]!.message).toContain(symptoms.statusTableGrows);
});

test("T-13 A-13 E-14 a report that is generated within its request is found by its time, with the way out in three parts", () => {
  const report = {
    ...enrichment,
    type: "API: POST /generate-report",
    takes: "usually 20 s, up to 5 minutes",
  };
  const { findings } = review(report);
  expect(findings).toMatchObject([
    {
      id: "request-should-be-async",
      message: expect.stringContaining('It can run "usually 20 s, up to 5 minutes"'),
      begin: "api",
      fix: [
        expect.stringContaining("an id at once"),
        expect.stringMatching(/a worker or a workflow/),
        expect.stringMatching(/ask for its status.*an event/),
      ],
    },
  ]);
  expect(review({ ...report, takes: "at most 900 ms" }).findings).toEqual([]);
  expect(review({ ...report, type: "worker" }).findings).toEqual([]);
  expect(["5 m", "300s", "0.1 hours", "10 MB"].map(longestSeconds)).toEqual([300, 300, 360, 0]);
});

test("T-15 a worker that should be a workflow gets the beginning of its machine, which is one", async () => {
  const steps = "1. Reserve a number\n2. take the money!\n3. Tell the customer";
  const design = { ...enrichment, steps, ...ticked("hiddenCompensation", "retriesDiffer") };
  const [finding] = review(design).findings;
  expect(finding).toMatchObject({ id: "worker-should-be-workflow", fix: { length: 3 } });
  const definition = finding!.definition as { StartAt: string; States: Record<string, never> };
  const text = JSON.stringify(definition);
  expect(check(gather([], [{ name: "Begun", place: "begun.asl.json", text }]))).toEqual([]);
  const handle = task({ idempotent: true, handle: () => undefined });
  const tasks = { reserveANumber: handle, takeTheMoney: handle, tellTheCustomer: handle };
  expect(() => workflow("Begun", { definition, tasks })).not.toThrow();
  expect(Object.keys(definition.States)).toEqual([
    "ReserveANumber",
    "TakeTheMoney",
    "TellTheCustomer",
    "HandedToAPerson",
  ]);
  expect((await type(pageOf(design))).text).toContain('"StartAt": "ReserveANumber"');
  expect(review({ ...design, steps: "" }).findings[0]).not.toHaveProperty("definition");
});

test("T-48 a status column is enough for a simple lifecycle, and none where it waits, undoes or is called back", () => {
  expect(found("statusDecides")).toEqual([]);
  for (const need of smells["status-column-as-workflow"].seen)
    expect(found("statusDecides", need)).toEqual(["status-column-as-workflow"]);
  expect(found("waitsLong", "calledBack")).toEqual([]);
});

test("what is meant so is accepted with its reason, which is told each time", async () => {
  const events = { ...enrichment, type: "api", takes: "2 hours" };
  const meant = "- `request-should-be-async`: a stream of events, which ends when the browser goes";
  const { status, text } = await type(pageOf({ ...events, meant }));
  expect(status).toBe(0);
  expect(text).toContain(
    "accepted: request-should-be-async: a stream of events, which ends when the browser goes",
  );
  expect(review({ ...events, meant: "- everything-is-rest: why not" }).approved).toBe(false);
  expect(review({ ...events, meant: "- request-should-be-async:" }).approved).toBe(false);
});

test("a blank page asks everything, is read back as it is, and nothing of a code block counts as a heading", () => {
  for (const shape of shapeNames) {
    const page = readPage(blankPage(shape));
    const { open, shape: read, findings } = reviewOf(page);
    expect(read).toBe(shape);
    expect(findings).toEqual([]);
    // The type is given, and the failures stand there as the library has them.
    expect(open).toHaveLength(23 - 7);
  }
  const { sections } = readPage(
    `# X\n\n\`\`\`sh\n## ${asked.audit}\n\`\`\`\n\n## 11. WHAT MUST BE AUDITED\n\nAll.`,
  );
  expect([...sections.keys()]).toEqual(["audit"]);
  expect(sections.get("audit")).toMatchObject({ line: 7, text: "All." });
});

test("T-38 T-39 T-40 each shape has its tests, its nine failures and an answer to the eight questions of control", () => {
  for (const shape of shapeNames) {
    expect(Object.keys(planOf(shape)).length).toBeGreaterThanOrEqual(3);
    const failures = Object.values(failuresOf(shape));
    expect(failures).toHaveLength(9);
    expect(failures.filter((cell) => cell.trim() === "")).toEqual([]);
  }
  const names = (shape: (typeof shapeNames)[number], more = {}) =>
    Object.keys(planOf(shape, more)).join(", ");
  expect(names("worker")).toBe("duplicate, poison, retry, shutdown, backlog");
  expect(names("schedule")).toBe("overlap, missed run, time zone, window replay");
  expect(names("service", { tenants: true, daemon: true })).toBe(
    "SIGTERM, soak, rolling update, data isolation, noisy neighbour, upgrade, fails open or closed, privilege",
  );
  // Who keeps the desired count; the other seven are among the nine answers and where its state lives.
  const reference = readFileSync(new URL("../../../docs/reference/shapes.md", import.meta.url), "utf8");
  expect(reference.match(/\| is kept running by +\|/g)).toHaveLength(shapeNames.length);
});

test("T-31 the services for what a schedule starts: a call, a container, several steps, heavy computing", () => {
  for (const service of ["Lambda", "RunTask", "Step Functions", "Batch"])
    expect(shapes.schedule.aws).toContain(service);
});

test("the ways out that findings name are there", () => {
  for (const [, { fix }] of smellEntries)
    for (const [path] of fix.join(" ").matchAll(/docs\/\S+\.md/g))
      expect(() => readFileSync(new URL(`../../../${path}`, import.meta.url))).not.toThrow();
  const ids: SmellId[] = smellEntries.map(([id]) => id);
  expect(ids).toHaveLength(7);
});
