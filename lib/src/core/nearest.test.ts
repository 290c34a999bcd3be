import { expect, test } from "vitest";
import { distance, nearest } from "./nearest.ts";

test("the nearest word is one that was probably meant", () => {
  expect(distance("replya", "replay")).toBe(1);
  expect(nearest("queue lsit", ["queue list", "queue show"])).toBe("queue list");
  expect(nearest("--qeue", ["--queue", "--code"])).toBe("--queue");
  expect(nearest("wombat", ["serve", "dev"])).toBeUndefined();
});
