import { expect, test } from "vitest";
import { makeClosing } from "./closing.ts";

test("the last that began ends first, once, and a step that fails is told after the others ran", async () => {
  const order: string[] = [];
  const closing = makeClosing();
  closing.add(() => order.push("database"));
  closing.add(async () => {
    order.push("listener");
    throw new Error("the listener would not");
  });
  closing.add(() => order.push("worker"));
  await expect(Promise.all([closing.close(), closing.close()])).rejects.toThrow("would not");
  await expect(closing.close()).rejects.toThrow("would not");
  expect(order).toEqual(["worker", "listener", "database"]);
});
