import { expect, test } from "vitest";
import { outcomeOfThrown } from "./outcome.ts";

test("a thrown object is told by its message, else by the names of its fields, never by what they hold", () => {
  const told = (thrown: unknown) => outcomeOfThrown(thrown).message;
  expect(told({ message: "the bank is closed", status: 503 })).toBe("the handler threw the bank is closed");
  expect(told({ status: 503, token: "secret" })).toBe(
    "the handler threw an object with status, token, which is no Error and says no message",
  );
  expect(told(null)).toBe("the handler threw null");
});
