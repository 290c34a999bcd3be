// What npm makes of the package: a command in a checkout, and one from the tarball in an empty folder.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shapeNames, shapes } from "./scaffold/shapes.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const generousMs = 600_000;
const windows = process.platform === "win32";
const run = promisify(execFile);

// As in a shell of its own: not what the npm that runs these tests has set.
const environment = () => {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) && name !== "DATABASE_URL" && name !== "INIT_CWD",
  );
  return { ...Object.fromEntries(own), TUNTAS_PORT: "0" };
};

const npm = (cwd: string, ...args: string[]) => run("npm", args, { cwd, env: environment(), shell: windows });
const npx = (cwd: string, ...args: string[]) =>
  run("npx", ["--no-install", ...args], { cwd, env: environment(), shell: windows });
const quietly = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** What a strict compiler that looks into declaration files too makes of an application; nothing where it is content. */
async function compiled(cwd: string, source: string): Promise<string> {
  await writeFile(join(cwd, "app.mts"), source);
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node"];
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const answer = run(process.execPath, [tsc, ...options, "app.mts"], { cwd });
  return answer.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const application = (statement: string) => `
  import { app, queue, worker, type Schema } from "tuntas";
  import { task, workflow } from "tuntas/workflow";
  declare const message: Schema<{ id: string }, { id: string }>;
  const deadLetter = { after: 3, owner: "a", runbook: "b", retention: "14d" } as const;
  const orders = queue("orders", { message, deadLetter });
  const taking = worker(orders, {
    idempotencyKey: ({ id }) => id,
    timeout: "20s",
    async handle({ id }, { tx }) {
      ${statement}
    },
  });
  export default app({ orders, taking });
  export { task, workflow };`;

let folder: string;
let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[] };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tuntas-package-"));
  const { stdout } = await npm(root, "pack", "-w", "lib", "--json", "--pack-destination", folder);
  [packed] = JSON.parse(stdout);
}, generousMs);
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));

test(
  "the tarball installs in an empty folder, without install scripts; its command runs, serves, and ends with npx",
  { timeout: generousMs },
  async () => {
    const files = packed.files.map((file) => file.path);
    expect(files).toEqual(
      expect.arrayContaining([
        "README.md",
        "LICENSE",
        "bin/tuntas.mjs",
        "sql/0001-queue.sql",
        "dist/apps/cli/main.js",
        "dist/apps/console/web/index.html",
      ]),
    );
    const ours = files.filter((file) => !file.startsWith("templates/"));
    expect(ours.filter((file) => /\.test\.|\.fixture\.|tsbuildinfo/.test(file))).toEqual([]);

    const empty = join(folder, "empty");
    await mkdir(empty);
    await npm(empty, "install", join(folder, packed.filename), "--ignore-scripts", ...quietly);
    expect((await npx(empty, "tuntas", "version")).stdout).toMatch(/^tuntas \d+\.\d+\.\d+\n$/);
    expect(await compiled(empty, application('await tx.query("select $1", [id]);'))).toBe("");
    expect(await compiled(empty, application("await tx.qurey(id);"))).toMatch(
      /^app\.mts.*'qurey'.*'query'\?\n$/,
    );

    const server = spawn("npx", ["--no-install", "tuntas", "serve", "--json"], {
      cwd: empty,
      env: environment(),
      shell: windows,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }))
      if ((text += String(chunk)).endsWith("}\n")) break;
    const { url } = JSON.parse(text) as { url: string };
    expect((await fetch(`${url}/_tuntas/health`)).status).toBe(200);
    server.stdout.resume();
    // npx passes no signal on; the server sees that it is gone, and closes the pipe by ending.
    const ended = once(server.stdout, "close");
    server.kill("SIGKILL");
    await ended;
    await expect(fetch(url)).rejects.toThrow();
  },
);

test(
  "in a checkout the command is linked by npm ci, says what to run before the build, and runs after it",
  { timeout: generousMs },
  async () => {
    const checkout = join(folder, "checkout");
    const manifests = ["package.json", "package-lock.json", "lib/package.json", "lib/bin"];
    for (const group of ["apps", "examples"]) {
      const paths = (await readdir(join(root, group))).map((name) => `${group}/${name}/package.json`);
      manifests.push(...paths.filter((path) => existsSync(join(root, path))));
    }
    for (const path of manifests) await cp(join(root, path), join(checkout, path), { recursive: true });
    await npm(checkout, "ci", "--ignore-scripts", "--omit=dev", ...quietly);

    await expect(npx(checkout, "tuntas", "version")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("npm run build"),
    });
    await mkdir(dirname(join(checkout, "lib", "dist")), { recursive: true });
    await symlink(join(root, "lib", "dist"), join(checkout, "lib", "dist"), "junction");
    expect((await npx(checkout, "tuntas", "version", "--json")).stdout).toContain('"tuntas"');
  },
);

/** Parsed once for all projects: what they have in common is nearly everything. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles a project as its own tsconfig.json says; answers what is wrong with it. */
function build(project: string): string[] {
  const { config } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, project);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (path, ...more) => {
    if (!parsed.has(path)) parsed.set(path, read(path, ...more));
    return parsed.get(path);
  };
  const program = ts.createProgram(fileNames, options, host);
  const found = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

/** What `node --test` ends with, in TAP on Node 20 and in its own words since. */
const somePassed = /^[#ℹ] pass [1-9]/m;

describe("E-17 T-10: tuntas new", () => {
  const first = "worker";
  let home: string;
  const projectOf = (shape: string) => join(home, shape);
  const begin = (shape: string, cwd: string) =>
    run(process.execPath, [join(home, "node_modules/tuntas/bin/tuntas.mjs"), "new", shape], { cwd });

  // One installation for all: a project is looked for its packages in the folders above, too.
  beforeAll(async () => {
    home = join(folder, "home");
    await mkdir(home);
    const { devDependencies } = JSON.parse(
      await readFile(join(root, "lib/templates/project/package.json"), "utf8"),
    );
    const { dependencies } = JSON.parse(await readFile(join(root, "examples/orders/package.json"), "utf8"));
    const { tuntas: _, ...others } = { ...dependencies, ...devDependencies } as Record<string, string>;
    const packages = Object.entries(others).map(([name, version]) => `${name}@${version}`);
    await npm(home, "install", join(folder, packed.filename), ...packages, "--ignore-scripts", ...quietly);
    for (const shape of shapeNames) {
      await mkdir(projectOf(shape));
      await begin(shape, projectOf(shape));
    }
  }, generousMs);

  test(
    "in an empty folder: npm test passes at once, on the server that comes along",
    { timeout: generousMs },
    async () => {
      const { stdout } = await npm(projectOf(first), "test");
      expect(stdout).toMatch(/^[#ℹ] fail 0$/m);
      expect(stdout).toMatch(somePassed);
    },
  );

  describe.concurrent("for each shape", () => {
    test.each(shapeNames.filter((shape) => shape !== first))(
      "%s: it compiles, and its test passes",
      async (shape) => {
        const project = projectOf(shape);
        expect(build(project)).toEqual([]);
        const file = `dist/${shapes[shape].template}.test.js`;
        const ran = await run(process.execPath, ["--test", file], {
          cwd: project,
          env: { ...environment(), DATABASE_URL: process.env.DATABASE_URL },
        });
        expect(ran.stdout).toMatch(somePassed);
      },
      generousMs,
    );
  });

  test("what was written is in order by `tuntas check`, and imports nothing that its package.json lacks", async () => {
    const files = shapeNames.map((shape) => `${shape}/dist/${shapes[shape].template}.js`);
    expect((await npx(home, "tuntas", "check", ...files)).stdout).toMatch(/0 errors, 0 warnings/);
    for (const shape of shapeNames) {
      const { dependencies } = JSON.parse(await readFile(join(projectOf(shape), "package.json"), "utf8"));
      const sources = await readdir(join(projectOf(shape), "src"));
      const texts = await Promise.all(
        sources.map((name) => readFile(join(projectOf(shape), "src", name), "utf8")),
      );
      const imported = texts.flatMap((text) =>
        [...text.matchAll(/ from "([a-z]+)(?:\/[a-z]+)?"/g)].map(([, name]) => name),
      );
      expect(new Set(imported)).toEqual(new Set(Object.keys(dependencies)));
    }
  });
});
