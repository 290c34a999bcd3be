// Every command of the README that tries the example, as it stands, on the built application.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { expect, test } from "vitest";
import { toSvg } from "tuntas/asl/drawing";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const blocks = [
  ...readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, text]) => text!);
const [, words, good, grave, refused, withdrawn, killed, expired] = blocks;

async function onServer(text: string): Promise<void> {
  const admin = new pg.Client(process.env.DATABASE_URL);
  await admin.connect();
  await admin.query(text);
  await admin.end();
}

/** Runs it until it says where it listens. */
async function listen(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ["examples/case-activation/dist/main.js"], { cwd: root, env });
  let text = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    const url = /listens on (http:\/\/[^"\s]+)/.exec((text += String(chunk)))?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error(`it ended: ${text}`);
}

test("the README's picture is that of the document", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const drawn = toSvg(JSON.parse(read("../case-activation.asl.json")), "case-activation");
  expect(read("../case-activation.svg") === drawn, "tuntas workflow graph … --svg … draws it anew").toBe(
    true,
  );
});

test("what the README says to try comes out as it says", { timeout: 300_000 }, async () => {
  const name = `readme_${randomBytes(4).toString("hex")}`;
  await onServer(`create database ${name}`);
  const database = new URL(process.env.DATABASE_URL!);
  database.pathname = `/${name}`;
  const env = { ...process.env, DATABASE_URL: database.href, PORT: "0", TUNTAS_LOG_LEVEL: "info" };
  let running = await listen(env);
  const shell = async (...parts: (string | undefined)[]) => {
    const options = { cwd: root, env: { ...env, B: running.url } };
    return (await promisify(execFile)("bash", ["-ec", [words, ...parts].join("\n")], options)).stdout;
  };
  try {
    expect(await shell(good)).toMatch(/is ACTIVE\nDRAFT by ana[\s\S]*ACTIVE by/);
    expect(await shell(grave)).toMatch(/"signed"[\s\S]*TUNTAS_APPROVAL_OWN[\s\S]*"decided"[\s\S]*is ACTIVE/);
    expect((await shell(refused)).match(/is CANCELLED/g)).toHaveLength(2);
    expect(await shell(withdrawn)).toMatch(/CASE-[0-9a-f]+'? ?\][\s\S]*is CANCELLED/);
    const patient = /CASE-\S+/.exec(await shell(killed))![0];
    running.child.kill("SIGKILL");
    await once(running.child, "exit");
    running = await listen(env);
    expect(await shell(`decide ${patient} ben approve`, `becomes ${patient} ACTIVE`)).toContain("is ACTIVE");
    const npx = `npx() { shift; ${JSON.stringify(process.execPath)} lib/bin/tuntas.mjs "$@"; }`;
    expect(await shell(npx, expired)).toMatch(/7 d [\s\S]*ExpireCase/);
  } finally {
    running.child.kill("SIGKILL");
    await onServer(`drop database ${name} with (force)`);
  }
});
