import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { add } from "../outbox/client.ts";
import { openPlatform } from "../platform.ts";
import { arranged } from "../schedule/arrangement/arranged.fixture.ts";
import { examine } from "./index.ts";

const databases: string[] = [];
let admin: pg.Client;

beforeAll(async () => {
  admin = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await admin.connect();
});
afterAll(async () => {
  for (const name of databases) await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

async function freshDatabase(encoding = "UTF8"): Promise<string> {
  const name = `doctor_${randomBytes(6).toString("hex")}`;
  await admin.query(`create database ${name} template template0 encoding '${encoding}' locale 'C'`);
  databases.push(name);
  const url = new URL(process.env.DATABASE_URL!);
  url.pathname = `/${name}`;
  return url.href;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const look = (databaseUrl: string | undefined, more = {}) =>
  examine({ databaseUrl, dataDir: "/nowhere/.tuntas", port: 0, ...more });
const find = async (databaseUrl: string | undefined, check: string, more = {}) =>
  (await look(databaseUrl, more)).find((finding) => finding.check === check);

test("finds nothing wrong in an empty database of the embedded server, and leaves it empty", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tuntas-doctor-"));
  const findings = await look(undefined, { dataDir });
  expect(findings.filter((finding) => finding.status !== "ok")).toEqual([]);
  expect(findings.find((finding) => finding.check === "schema")!.text).toContain("not there yet");
  expect((await find(undefined, "schema", { dataDir }))!.text).toContain("not there yet");
  rmSync(dataDir, { recursive: true });
});

test("warns where a crash may lose what was confirmed", async () => {
  const url = await freshDatabase();
  await admin.query(`alter database ${databases.at(-1)} set synchronous_commit = off`);
  expect(await find(url, "durability")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("synchronous_commit off"),
  });
});

test("names a database that does not answer, and one that does not store UTF-8", async () => {
  const gone = `postgres://u@127.0.0.1:${await freePort()}/x`;
  expect(await find(gone, "database")).toMatchObject({
    status: "problem",
    text: expect.stringContaining("TUNTAS_DATABASE_UNREACHABLE"),
  });
  expect(await find(await freshDatabase("SQL_ASCII"), "database")).toMatchObject({
    status: "problem",
    text: expect.stringContaining("SQL_ASCII"),
  });
});

test("names the session that holds an old snapshot, and how to end it", async () => {
  const url = await freshDatabase();
  const holder = new pg.Client({ connectionString: url, application_name: "forgotten" });
  await holder.connect();
  await holder.query("begin isolation level repeatable read");
  const { rows } = await holder.query("select pg_backend_pid() as pid");
  // The server's own sessions may have an older one, but not for long.
  await expect
    .poll(() => find(url, "snapshot", { oldSnapshotSeconds: 0 }))
    .toMatchObject({
      status: "warning",
      text: expect.stringContaining("forgotten"),
      remedy: expect.stringContaining(String(rows[0].pid)),
    });
  await holder.end();
});

test("names queues and dead letters that nobody answers for", async () => {
  const url = await freshDatabase();
  const platform = await openPlatform({ databaseUrl: url });
  const { catalog, sender, receiver } = platform.queues;
  const scope = { account: "000000000000", region: "us-east-1" };
  await catalog.create(scope, "stray-dlq", {});
  const { queue } = await catalog.create(scope, "stray", {
    deadLetterName: "stray-dlq",
    receivesMax: 1,
    visibilitySeconds: 0,
  });
  await sender.send(queue, { messageId: crypto.randomUUID(), body: "x" }, scope.account);
  const receive = () => receiver.receive(queue, { countMax: 1, waitMs: 0, visibilitySeconds: 0 });
  await receive();
  await platform.context.due.sweep();
  await receive();
  const strayed = arranged("stray", { enabled: false });
  await platform.schedules.arrangements.create(strayed, { by: "aws", token: undefined });
  await platform.database.transaction((tx) =>
    add(tx, { target: { kind: "http", name: "partner" }, payload: "{}" }),
  );
  await platform.close();
  expect(await find(url, "owners")).toMatchObject({
    status: "warning",
    text: expect.stringMatching(
      /stray, stray-dlq; schedules without an owner \(.*\): s-[0-9a-f-]+; endpoints without an owner \(.*\): partner$/,
    ),
  });
  expect(await find(url, "dead letters")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("1 of stray"),
  });
});

test("says so where the data directory cannot be used, and where it is not there yet", async () => {
  expect(await find(undefined, "data directory")).toMatchObject({ status: "ok" });
  const folder = mkdtempSync(join(tmpdir(), "tuntas-doctor-"));
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  expect(await find(undefined, "data directory", { dataDir: file })).toMatchObject({
    status: "problem",
    text: expect.stringContaining("TUNTAS_EMBEDDED_DATA_DIR_DENIED"),
  });
  rmSync(folder, { recursive: true });
});

const pgbouncer = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path));

test.skipIf(pgbouncer === undefined)(
  "says that the session lock is off behind a transaction pooler",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tuntas-doctor-"));
    const url = new URL(await freshDatabase());
    const port = await freePort();
    const { username, password, hostname } = url;
    const auth = join(folder, "users.txt");
    const config = join(folder, "pgbouncer.ini");
    writeFileSync(auth, `"${username}" "${decodeURIComponent(password)}"\n`);
    writeFileSync(
      config,
      `[databases]\n* = host=${hostname} port=${url.port || 5432}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
        `auth_type = plain\nauth_file = ${auth}\npool_mode = transaction\nunix_socket_dir =\nignore_startup_parameters = options,extra_float_digits\n`,
    );
    for (const path of [folder, auth, config]) chmodSync(path, 0o755);
    const isRoot = process.getuid?.() === 0;
    const child = isRoot
      ? spawn("setpriv", ["--reuid", idOfNobody(), "--clear-groups", pgbouncer!, config])
      : spawn(pgbouncer!, [config]);
    try {
      while (!(await answers(port))) await sleep(50);
      url.port = String(port);
      expect(await find(url.href, "pooler")).toMatchObject({
        status: "warning",
        text: expect.stringContaining("no session lock"),
      });
    } finally {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  },
);

const idOfNobody = (): string => execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }).trim();

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });
