// What instances print, with real processes that print into the files that are turned under them.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { forgetOutputs, outputsKept, readOutput, staleOutputs, turnOutput } from "./output.ts";
import { startHeld } from "./worker/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "tuntas-output-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

test("a process goes on printing while its file is turned: the disk that it takes is bounded, and its end is whole", async () => {
  const output = join(folder, "web", "1.log");
  const bytesMax = 100_000;
  const script = `
    const print = (line) => require("fs").writeSync(1, line + "\\n");
    let n = 0;
    setInterval(() => { for (let i = 0; i < 1000; i++) print("line " + n++); }, 1);
    process.on("SIGTERM", () => { print("end"); process.exit(0); });`;
  const words = [process.execPath, "-e", script];
  const held = await startHeld({ words, directory: folder, environment: process.env, output });
  const ended = once(held!.child, "exit");
  held!.release();
  for (let turns = 0; turns < 3; await new Promise((resolve) => setImmediate(resolve))) {
    if (statSync(output).size <= bytesMax) continue;
    turnOutput(output, bytesMax);
    turns++;
    expect(statSync(`${output}.1`).size).toBeLessThanOrEqual(2 * bytesMax + (1 << 20));
  }
  held!.child.kill("SIGTERM");
  await ended;
  const [earlier, latest] = [`${output}.1`, output].map((path) => readFileSync(path, "utf8"));
  const numbers = `${earlier}${latest}`.match(/^line (\d+)$/gm)!.map((line) => Number(line.slice(5)));
  expect(numbers.slice(1).every((number, index) => number > numbers[index]!)).toBe(true);
  expect(latest).toMatch(/(^|\n)end\n$/);
  expect(readdirSync(join(folder, "web"))).toEqual(["1.log", "1.log.1"]);
});

test("what cannot be kept is cut all the same: on a full disk that is what makes room", () => {
  const path = join(folder, "3.log");
  mkdirSync(`${path}.1`);
  writeFileSync(path, "x".repeat(50));
  turnOutput(path, 20);
  expect(statSync(path).size).toBe(0);
});

test("the last that was printed is read in whole lines, over both files", async () => {
  const path = join(folder, "2.log");
  expect(await readOutput(path, 100)).toEqual({ status: "missing", path });
  writeFileSync(path, "three\nfour\n");
  expect(await readOutput(path, 100)).toEqual({ status: "read", text: "three\nfour\n", more: false });
  writeFileSync(`${path}.1`, "one\ntwo\n");
  expect(await readOutput(path, 100)).toEqual({
    status: "read",
    text: "one\ntwo\nthree\nfour\n",
    more: false,
  });
  expect(await readOutput(path, 17)).toEqual({ status: "read", text: "two\nthree\nfour\n", more: true });
  expect(await readOutput(path, 8)).toEqual({ status: "read", text: "four\n", more: true });
  writeFileSync(path, "x".repeat(50));
  expect(await readOutput(path, 20)).toEqual({ status: "read", text: "x".repeat(20), more: true });
});

test("of instances that ended the newest keep what they printed; those that live always do", async () => {
  const ids = Array.from({ length: outputsKept + 3 }, (_, index) => 95 + index);
  const names = ["notes.txt", ...ids.flatMap((id) => [`${id}.log`, `${id}.log.1`])];
  const isLive = (id: string) => id === "95";
  expect(staleOutputs(names, isLive)).toEqual(["97.log", "97.log.1", "96.log", "96.log.1"]);
  const service = mkdtempSync(join(folder, "many-"));
  for (const name of names) writeFileSync(join(service, name), "");
  await forgetOutputs(service, isLive);
  expect(readdirSync(service)).toHaveLength(names.length - 4);
  await forgetOutputs(join(folder, "nothing"), isLive);
});
