import { expect, test } from "vitest";
import { selectionText } from "./report.ts";

test("whom an operation takes in is told in words", () => {
  const filter = {
    queue: "order-work",
    code: "DB_DOWN",
    messageIds: ["a", "b"],
    untilMs: 1_796_063_339_485.111,
  };
  expect(selectionText({ filter, place: undefined })).toBe(
    "queue order-work, code DB_DOWN, message ids a,b, until 2026-11-30T18:28:59Z",
  );
});
