// What a controller relies on: it says that it is ready, answers, and ends in order at SIGTERM.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { watchProcess } from "tuntas/testing";

const main = fileURLToPath(new URL("./price-feed.main.js", import.meta.url));

test("it is ready, answers, and ends with 0 at SIGTERM", async () => {
  const instance = watchProcess(
    spawn(process.execPath, [main], { env: { ...process.env, PORT: "0", TUNTAS_LOG_LEVEL: "info" } }),
  );
  const { port } = await instance.line("service.ready");
  const get = (path: string) => fetch(`http://127.0.0.1:${port as number}${path}`);
  assert.equal((await get("/readyz")).status, 200);
  assert.deepEqual(await (await get("/")).json(), { apple: 3 });
  instance.child.kill("SIGTERM");
  assert.deepEqual(await instance.ended, { status: 0, signal: null });
  await assert.rejects(get("/readyz"));
});
