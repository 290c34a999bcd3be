import { expect, test } from "vitest";
import { readableLine } from "./line.ts";

const read = (fields: object) =>
  readableLine(JSON.stringify({ level: 40, time: "2026-01-02T03:04:05.678Z", ...fields }), false);

test("a line for a person has the hour, the level, what was said and the facts, and no event's name", () => {
  const line = read({ event: "worker.failed", queue: "orders", cause: { code: "E1" }, msg: "it failed" });
  expect(line).toMatch(/^\d\d:\d\d:05 warn {2}it failed {2}queue=orders cause=\{"code":"E1"\}\n$/);
});

test("of a stack it shows the frames that are the person's own, and all where none is", () => {
  const own = "    at award (file:///home/app.mjs:7:9)";
  const foreign = "    at run (/home/node_modules/x/index.js:1:1)";
  expect(read({ msg: "no", stack: ["Error: no", own, foreign].join("\n") })).toMatch(
    / no\n {6}at award .*\n$/,
  );
  expect(read({ msg: "no", cause: { message: "no", stack: `Error: no\n${foreign}` } })).toMatch(
    /cause=\{"message":"no"\}\n {6}at run .*\n$/,
  );
});
