// The embedded server's whole life, with real processes and real kill -9. Linux only: what runs is read from /proc.
import { afterEach, describe, expect, it } from "vitest";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { attachEmbedded } from "./index.ts";
import { answers, Household, postmastersOf, query, supervisorsOf, until } from "./household.fixture.ts";
import { readRecord } from "./record.ts";

const household = new Household();
afterEach(() => household.clear());

const kill = (pid: number | undefined) => process.kill(pid!, "SIGKILL");
const nothingRuns = (dataDir: string) =>
  supervisorsOf(dataDir).length === 0 && postmastersOf(dataDir).length === 0;
const rows = (url: string) =>
  query<{ n: number }>(url, "select n from kept").then((all) => all.map(({ n }) => n));
const keepOne = (url: string) => query(url, "create table kept as select 1 as n");

describe.runIf(process.platform === "linux")("the embedded server", () => {
  it("starts, durable and in UTF-8, and tells its secrets to nobody else", async () => {
    const dataDir = household.dataDir();
    const server = await attachEmbedded({ dataDir });
    const settings = await query<{ name: string; setting: string }>(
      server.url,
      `select name, setting from pg_settings where name in
        ('fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding', 'password_encryption')
        order by name`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: "on",
      full_page_writes: "on",
      password_encryption: "scram-sha-256",
      server_encoding: "UTF8",
      synchronous_commit: "on",
    });
    expect(server.version).toMatch(/^18\./);
    expect(statSync(join(dataDir, "server.json")).mode & 0o777).toBe(0o600);
    const password = new URL(server.url).password;
    expect(password.length).toBeGreaterThan(20);
    for (const log of ["postgres.log", "supervisor.log"]) {
      expect(readFileSync(join(dataDir, log), "utf8")).not.toContain(password);
    }
    await expect(query(server.url.replace(password, "wrong"), "select 1")).rejects.toMatchObject({
      code: "28P01",
    });
    await server.detach();
  });

  it("is shared by a second process, and survives the first one's end", async () => {
    const dataDir = household.dataDir();
    const first = await household.client(dataDir);
    const second = await household.client(dataDir);
    expect(second.url).toBe(first.url);
    await keepOne(first.url);
    kill(first.process.pid);
    expect(await rows(second.url)).toEqual([1]);
    expect(postmastersOf(dataDir)).toHaveLength(1);
  });

  it("is started once by processes that begin at the same instant", async () => {
    const dataDir = household.dataDir();
    const all = await Promise.all([1, 2, 3, 4].map(() => household.client(dataDir)));
    expect(new Set(all.map(({ url }) => url)).size).toBe(1);
    expect(await answers(all[0]!.url)).toBe(true);
    await until(() => supervisorsOf(dataDir).length === 1);
    expect(postmastersOf(dataDir)).toHaveLength(1);
  });

  it("stops when nobody has been attached for 5 s, and starts again on the same port", async () => {
    const dataDir = household.dataDir();
    const server = await attachEmbedded({ dataDir });
    await keepOne(server.url);
    const detachedAt = performance.now();
    await server.detach();
    await until(() => nothingRuns(dataDir));
    expect(performance.now() - detachedAt).toBeGreaterThan(4_500);
    expect(readRecord(dataDir).live).toBeUndefined();
    const again = await attachEmbedded({ dataDir });
    expect(again.url).toBe(server.url);
    expect(await rows(again.url)).toEqual([1]);
    await again.detach();
  });

  it("is kept by an attachment within the 5 s", async () => {
    const dataDir = household.dataDir();
    const first = await attachEmbedded({ dataDir });
    const [postmaster] = postmastersOf(dataDir);
    await first.detach();
    const second = await attachEmbedded({ dataDir });
    expect(postmastersOf(dataDir)).toEqual([postmaster]);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(postmastersOf(dataDir)).toEqual([postmaster]);
    await second.detach();
  });

  it("is gone within 10 s after kill -9 of everybody attached", async () => {
    const dataDir = household.dataDir();
    const clients = [await household.client(dataDir), await household.client(dataDir)];
    for (const client of clients) kill(client.process.pid);
    await until(() => nothingRuns(dataDir), 10_000);
  });

  it("restarts a PostgreSQL that was killed, on the same port and with its data", async () => {
    const dataDir = household.dataDir();
    const server = await attachEmbedded({ dataDir });
    await keepOne(server.url);
    for (let round = 0; round < 2; round++) {
      const [postmaster] = postmastersOf(dataDir);
      kill(postmaster);
      await until(() => !postmastersOf(dataDir).includes(postmaster!));
      await until(() => answers(server.url));
      expect(await rows(server.url)).toEqual([1]);
      expect(postmastersOf(dataDir)).toHaveLength(1);
    }
    await server.detach();
  });

  it("restarts it although a session of the killed one is still busy", async () => {
    const dataDir = household.dataDir();
    const server = await attachEmbedded({ dataDir });
    const busy = query(server.url, "select count(*) from generate_series(1, 20000000)").catch(() => {});
    await until(
      async () =>
        (await query(server.url, "select 1 from pg_stat_activity where query like 'select count%'")).length >
        0,
    );
    kill(postmastersOf(dataDir)[0]);
    await busy;
    await until(() => answers(server.url));
    await server.detach();
  });

  it("goes on without a break when its supervisor is killed, and still stops at the end", async () => {
    const dataDir = household.dataDir();
    const client = await household.client(dataDir);
    await keepOne(client.url);
    const [postmaster] = postmastersOf(dataDir);
    const [supervisor] = supervisorsOf(dataDir);
    kill(supervisor);
    await until(() => supervisorsOf(dataDir).some((pid) => pid !== supervisor));
    const second = await attachEmbedded({ dataDir });
    expect(second.url).toBe(client.url);
    expect(postmastersOf(dataDir)).toEqual([postmaster]);
    expect(await rows(second.url)).toEqual([1]);
    kill(postmaster);
    await until(() => postmastersOf(dataDir).length === 1 && !postmastersOf(dataDir).includes(postmaster!));
    await until(() => answers(second.url));
    await second.detach();
    kill(client.process.pid);
    await until(() => nothingRuns(dataDir), 10_000);
  });

  it("is adopted after supervisor and clients were all killed", async () => {
    const dataDir = household.dataDir();
    const client = await household.client(dataDir);
    await keepOne(client.url);
    const [postmaster] = postmastersOf(dataDir);
    kill(client.process.pid);
    for (const pid of supervisorsOf(dataDir)) kill(pid);
    await until(() => supervisorsOf(dataDir).length === 0);
    const server = await attachEmbedded({ dataDir });
    expect(postmastersOf(dataDir)).toEqual([postmaster]);
    expect(await rows(server.url)).toEqual([1]);
    await server.detach();
  });

  it("starts after everything was killed at once, PostgreSQL too", async () => {
    const dataDir = household.dataDir();
    const client = await household.client(dataDir);
    await keepOne(client.url);
    kill(client.process.pid);
    for (const pid of [...supervisorsOf(dataDir), ...postmastersOf(dataDir)]) kill(pid);
    const server = await attachEmbedded({ dataDir });
    expect(await rows(server.url)).toEqual([1]);
    expect(postmastersOf(dataDir)).toHaveLength(1);
    await server.detach();
  });

  it("leaves nothing running when its data directory is deleted", async () => {
    const dataDir = household.dataDir();
    await household.client(dataDir);
    // The server may write something more meanwhile.
    rmSync(dataDir, { recursive: true, maxRetries: 20 });
    expect(existsSync(dataDir)).toBe(false);
    await until(() => postmastersOf(dataDir).length === 0);
  });
});
