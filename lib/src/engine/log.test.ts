// What the log of a process says, by the built code in a process of its own.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const library = new URL("../../dist/index.js", import.meta.url).href;

function logged(level: string, code: string): { readonly stdout: string; readonly stderr: string } {
  const program = `import { makeLog } from ${JSON.stringify(library)}; ${code}`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { ...process.env, TUNTAS_LOG_LEVEL: level },
  });
}

test("a duration is told to a tenth, and an empty level is the level of one that is not set", () => {
  const { stdout } = logged("", "makeLog().info({ durationMs: 58.877715999999964 }, 'done')");
  expect(JSON.parse(stdout)).toMatchObject({ level: 30, durationMs: 58.9, msg: "done" });
});

test("a level that the log does not have is refused by name", () => {
  const { stderr } = logged(
    "wran",
    "try { makeLog() } catch ({ code, message }) { console.error(code, message) }",
  );
  expect(stderr).toBe(
    'TUNTAS_LOG_LEVEL_INVALID TUNTAS_LOG_LEVEL: expected debug, info, warn, error, fatal, silent, got "wran"; did you mean warn?\n',
  );
});
