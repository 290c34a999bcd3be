// A disk that is full refuses, aloud, and loses nothing; when there is room again everything goes on by itself.
import { cpSync, mkdtempSync, chmodSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import pg from "pg";
import { z } from "zod";
import { app, start } from "../../app.ts";
import { makeLog } from "../../engine/log.ts";
import { attachEmbedded } from "../../pg/embedded/index.ts";
import { postmastersOf } from "../../pg/embedded/household.fixture.ts";
import { openPlatform } from "../../platform.ts";
import { queue, worker } from "../declaration.ts";
import { folderFor, smallDisk } from "./disk.fixture.ts";

const log = makeLog({}, "stderr");
const deadLetter = { after: 100, owner: "tests", runbook: "none", retention: "14d" } as const;

function newDataDir(): string {
  const folder = mkdtempSync("/tmp/tuntas-full-");
  chmodSync(folder, 0o755);
  return join(folder, "data");
}

/** An application that counts how often it handled each message. */
function counting() {
  const handled = new Map<string, number>();
  const of = queue("filling", { message: z.object({ id: z.string(), text: z.string() }), deadLetter });
  const work = worker(of, {
    idempotencyKey: ({ id }) => id,
    timeout: "20s",
    backoff: { base: "100ms", max: "500ms" },
    handle: ({ id }) => void handled.set(id, (handled.get(id) ?? 0) + 1),
  });
  return { of, definition: app({ of, work }), handled };
}

interface Tried {
  readonly accepted: string[];
  readonly refused: { readonly id: string; readonly code: string; readonly retryable: boolean }[];
}

/** Sends until enough were refused. */
async function sendUntilRefused(
  send: (id: string) => Promise<unknown>,
  tried: Tried,
  refusedMax: number,
): Promise<void> {
  for (let round = 0; tried.refused.length < refusedMax && round < 5000; round++) {
    const id = `${tried.accepted.length + tried.refused.length}`;
    await send(id).then(
      () => tried.accepted.push(id),
      (cause: { code: string; retryable: boolean }) =>
        tried.refused.push({ id, code: cause.code, retryable: cause.retryable }),
    );
  }
}

// Nothing that compresses well.
const text = randomBytes(100_000).toString("base64");

async function runStatements(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

test("a full disk under the tables refuses sends with a coded error, and work goes on when there is room", async (context) => {
  using disk = smallDisk();
  if (!disk) return context.skip("neither mounting a tmpfs nor a small one is possible here");
  const dataDir = newDataDir();
  // The tables are made, and moved while nobody works on them.
  const server = await attachEmbedded({ dataDir });
  await (await openPlatform({ dataDir, log })).close();
  const space = folderFor(statSync(join(dataDir, "cluster")), join(disk.folder, "space"));
  await runStatements(
    server.url,
    `create tablespace small location '${space}'`,
    "alter table all in tablespace pg_default set tablespace small",
    "alter index all in tablespace pg_default set tablespace small",
  );
  await using platform = Object.assign(await openPlatform({ dataDir, log }), {
    [Symbol.asyncDispose]: () => platform.close(),
  });
  await server.detach();
  const { of, definition, handled } = counting();
  await using _running = await start(definition, { platform });
  const tried: Tried = { accepted: [], refused: [] };
  const send = (id: string) => of.send({ id, text }, { delay: "2s" });
  for (const id of ["before 1", "before 2"]) tried.accepted.push(await send(id).then(() => id));

  disk.fill();
  await sendUntilRefused(send, tried, 5);
  expect(tried.refused).toHaveLength(5);
  for (const refused of tried.refused)
    expect(refused).toMatchObject({ code: "TUNTAS_DATABASE_FULL", retryable: true });

  disk.clear();
  await of.send({ id: "after", text });
  await expect.poll(() => handled.size).toBe(tried.accepted.length + 1);
  expect([...handled.keys()].toSorted()).toEqual([...tried.accepted, "after"].toSorted());
  rmSync(join(dataDir, ".."), { recursive: true, force: true, maxRetries: 20 });
});

/** Puts the write-ahead log of a stopped server on the disk. */
function moveLog(dataDir: string, folder: string): void {
  const own = join(dataDir, "cluster", "pg_wal");
  const there = join(folder, "pg_wal");
  cpSync(own, there, { recursive: true });
  const { uid, gid } = statSync(own);
  execFileSync("chown", ["-R", `${uid}:${gid}`, there]);
  renameSync(own, `${own}.before`);
  symlinkSync(there, own);
}

test("a full disk under the write-ahead log stops the server; it is started again until there is room, and nothing is lost", async (context) => {
  using disk = smallDisk();
  if (!disk) return context.skip("neither mounting a tmpfs nor a small one is possible here");
  const dataDir = newDataDir();
  const first = await attachEmbedded({ dataDir });
  await runStatements(
    first.url,
    "alter system set max_wal_size = '32MB'",
    "alter system set min_wal_size = '32MB'",
  );
  await first.detach();
  await expect.poll(() => postmastersOf(dataDir).length).toBe(0);
  moveLog(dataDir, disk.folder);

  const { of, definition, handled } = counting();
  await using _running = await start(definition, { dataDir, log });
  const tried: Tried = { accepted: [], refused: [] };
  disk.fill();
  await sendUntilRefused((id) => of.send({ id, text }), tried, 3);
  expect(tried.accepted.length).toBeGreaterThan(0);
  expect(tried.refused).toHaveLength(3);
  for (const { code, retryable } of tried.refused) {
    expect(["TUNTAS_DATABASE_UNREACHABLE", "TUNTAS_DATABASE_FULL"]).toContain(code);
    expect(retryable).toBe(true);
  }

  disk.clear();
  await expect
    .poll(() =>
      of.send({ id: "after", text }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await expect.poll(() => [...tried.accepted, "after"].filter((id) => !handled.has(id))).toEqual([]);
  rmSync(join(dataDir, ".."), { recursive: true, force: true, maxRetries: 20 });
}, 150_000);
