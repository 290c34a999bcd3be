// What is kept of a history is not what is read of it: whatever the events, they come back as they were.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HistoryEvent } from "../../asl/contract.ts";
import { detailsKey } from "../../asl/index.ts";
import { eventsOf, eventsText, stepIn } from "./events.ts";

const types = ["ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "PassStateExited"];
const text = fc.string({ maxLength: 40, unit: "binary" });
const details = fc.dictionary(
  fc.constantFrom("input", "output", "name", "resource", "timeoutInSeconds"),
  fc.oneof(
    text,
    fc.integer(),
    fc.constant("a text of more than twelve characters"),
    fc.dictionary(text, text),
  ),
  { maxKeys: 4 },
);

const events = fc
  .tuple(
    fc.integer({ min: 1, max: 25_000 }),
    fc.array(
      fc.record({
        type: fc.constantFrom(...types),
        details: fc.option(details, { nil: undefined }),
        back: fc.integer({ min: 1, max: 3 }),
        timestamp: fc.constantFrom(1764447600.123, 1764447601),
      }),
      { minLength: 1, maxLength: 30 },
    ),
  )
  .map(([first, all]): HistoryEvent[] =>
    all.map(({ type, details: given, back, timestamp }, index) => ({
      id: first + index,
      previousEventId: first + index - back,
      timestamp,
      type,
      ...(given && { [detailsKey(type)]: given }),
    })),
  );

test("law 9: whatever the events of an advance are, they come back as they were", () => {
  fc.assert(
    fc.property(events, (given) => {
      expect(eventsOf(eventsText(given))).toEqual(given);
    }),
  );
});

test("a step's result comes back, whatever stands beside it, and also alone", () => {
  fc.assert(
    fc.property(fc.oneof(events, fc.constant([])), text, (given, result) => {
      const kept = eventsText(given, { result, atMs: 5000 });
      expect(eventsOf(kept)).toEqual(given);
      expect(stepIn(kept)).toEqual({ result, atMs: 1000 * (given[0]?.timestamp ?? 5) });
    }),
  );
});

test("a text that many events show is kept once", () => {
  const shown = JSON.stringify({ order: "x".repeat(1000) });
  const given = ["TaskStateExited", "TaskStateEntered", "LambdaFunctionScheduled"].map(
    (type, index): HistoryEvent => {
      const head: HistoryEvent = { id: 7 + index, previousEventId: 6 + index, timestamp: 1, type };
      return { ...head, [detailsKey(type)]: { input: shown } };
    },
  );
  expect(eventsText(given).length).toBeLessThan(1300);
  expect(eventsOf(eventsText(given))).toEqual(given);
});
