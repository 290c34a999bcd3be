// `tuntas new` where something is in the way, and what its templates promise. That they compile and pass is in package.test.ts.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { commands } from "./commands/index.ts";
import { findCommand } from "./lookup.ts";
import { run } from "./run.ts";
import { questions } from "./scaffold/choice.ts";
import { codeOf, projectFiles, workFiles } from "./scaffold/files.ts";
import { objectionTo } from "./scaffold/name.ts";
import { shapeNames, shapes } from "./scaffold/shapes.ts";

const root = new URL("../../../", import.meta.url);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tuntas-new-"));
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const there = () => readdirSync(folder, { recursive: true }) as string[];

async function type(...words: string[]): Promise<{ status: number; document: any }> {
  let out = "";
  const printing = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => Boolean((out += String(text))));
  const status = await run([...words, "--json"]);
  printing.mockRestore();
  return { status, document: JSON.parse(out) };
}
const refused = async (...words: string[]) => {
  const before = there();
  const { status, document } = await type("new", ...words);
  expect(there()).toEqual(before);
  return [status, document.error.code, document.error.message] as const;
};

test("T-07 T-42: alone it has a line for each shape; a word for one leads to it", async () => {
  const { document } = await type("new");
  expect(document.map(({ shape }: { shape: string }) => shape)).toEqual(shapeNames);
  for (const each of document) expect(Object.values(each).filter((value) => value === "")).toEqual([]);
  for (const [word, shape] of [
    ["cron", "schedule"],
    ["queue-consumer", "worker"],
    ["saga", "workflow"],
    ["one-off-migration", "command"],
    ["report-generation", "schedule"],
    ["event-projector", "stream"],
    ["reconciliation", "schedule"],
    ["file-processing", "batch"],
    ["long-workflow-step", "workflow"],
    ["operational-task", "command"],
    ["daemon", "service"],
  ])
    expect((await refused(word!))[2]).toContain(`tuntas new ${shape}`);
  const words = shapeNames.flatMap((shape) => [shape, ...shapes[shape].kinds]);
  expect(new Set(words).size).toBe(words.length);
});

test("an unknown shape, a bad name: the exit status says so, and nothing is written", async () => {
  expect(await refused("workr")).toEqual([
    2,
    "TUNTAS_CLI_USAGE",
    expect.stringContaining("did you mean worker?"),
  ]);
  for (const name of [
    "Refunds",
    "re funds",
    "../up",
    "2nd",
    "order",
    "class",
    "await",
    "queue",
    "pg-x",
    "x".repeat(41),
  ])
    expect(await refused("worker", name)).toEqual([
      2,
      "TUNTAS_CLI_USAGE",
      expect.stringContaining("expected a name"),
    ]);
  for (const name of ["x", "refunds", "order-work", "a-1"])
    for (const shape of shapeNames) expect(objectionTo(name, codeOf(shape))).toBeUndefined();
  for (const shape of shapeNames) expect(objectionTo(shapes[shape].template, codeOf(shape))).toBeUndefined();
});

test("a file in the way is named, and nothing is written; neither is a dry run", async () => {
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "orders-seen.ts"), "mine");
  expect(await refused("stream", "orders-seen")).toEqual([
    1,
    "TUNTAS_FILE_EXISTS",
    expect.stringMatching(/found src\/orders-seen\.ts; nothing was written/),
  ]);
  rmSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src"), "a file where a folder is to be");
  expect((await refused("worker", "refunds"))[2]).toMatch(/found src; /);
  rmSync(join(folder, "src"));
  const { document } = await type("new", "worker", "refunds", "--dry-run");
  expect(document.files.map(({ path }: { path: string }) => path)).toContain("src/refunds.ts");
  expect(there()).toEqual([]);
});

test("in a project that is there its files are left, and what it lacks is said", async () => {
  const mine = '{ "name": "mine", "dependencies": { "tuntas": "0.1.0" } }';
  writeFileSync(join(folder, "package.json"), mine);
  await type("new", "worker", "refunds");
  const { document } = await type("new", "api", "claim-intake");
  expect(document.kept).toEqual([
    ".dockerignore",
    "Dockerfile",
    ".gitignore",
    "package.json",
    "tsconfig.json",
  ]);
  const linesOf = ({ next }: { next: string[][] }) => next.map(([line]) => line);
  expect(linesOf(document).slice(0, 4)).toEqual([
    "npm install fastify@5.12.8 zod@4.6.7",
    expect.stringMatching(/^npm install --save-dev @types\/node@\S+ typescript@\S+$/),
    "npm pkg set type=module",
    "npx tsc && node --test dist/claim-intake.test.js", // it has no script, or one of its own
  ]);
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(mine);
  expect(there()).toEqual(expect.arrayContaining(["src/refunds.main.ts", "src/claim-intake.server.ts"]));

  const { devDependencies } = JSON.parse(
    projectFiles("api", "x").find(({ path }) => path === "package.json")!.text,
  );
  const dependencies = { tuntas: "0.1.0", zod: "4.6.7" };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ type: "module", dependencies, devDependencies }),
  );
  expect(linesOf((await type("new", "worker", "claims")).document).slice(0, 2)).toEqual([
    "npm install",
    "npx tsc && node --test dist/claims.test.js",
  ]);
});

test.each(shapeNames)(
  "%s: another name leaves nothing of the template's, and what it says to type is there",
  (shape) => {
    const files = [...projectFiles(shape, "other-name"), ...workFiles(shape, "other-name")];
    const { template } = shapes[shape];
    const left = new RegExp(`${template}|${template.replace("-", "_")}|first-work|parcel-label`);
    expect(files.filter(({ path, text }) => left.test(`${path}\n${text}`)).map(({ path }) => path)).toEqual(
      [],
    );
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "package.json",
        "src/other-name.main.ts",
        "src/other-name.test.ts",
        "runbooks/other-name.md",
      ]),
    );
    const lines = [...files.map(({ text }) => text), ...shapes[shape].tries.map(([line]) => line)]
      .flatMap((text) => [...text.matchAll(/npx tuntas ([^`\n]+)/g)])
      .map(([, line]) => line!.split(" "));
    for (const words of lines) {
      const { command } = findCommand(commands, words);
      const given = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
      const known = [...Object.keys(command.options ?? {}), "yes", "help"];
      expect(
        given.filter((option) => !known.includes(option)),
        words.join(" "),
      ).toEqual([]);
    }
    expect(lines.length).toBeGreaterThan(0);
  },
);

test("what new projects depend on is what we test with", () => {
  const read = (path: string) => JSON.parse(readFileSync(fileURLToPath(new URL(path, root)), "utf8"));
  const { dependencies, devDependencies } = read("lib/templates/project/package.json");
  const { devDependencies: ours } = read("package.json");
  const { dependencies: orders } = read("examples/orders/package.json");
  for (const name of ["@types/node", "typescript"]) expect(devDependencies[name]).toBe(ours[name]);
  expect(dependencies).toEqual(orders);
});

test("docs/learn/shapes.md has the table as it is", () => {
  const page = readFileSync(fileURLToPath(new URL("docs/learn/shapes.md", root)), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` .*\|$/gm)].map(([row]) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const wanted = shapeNames.map((name) => {
    const { startsBy, waits, takes, state, scalesBy, aws } = shapes[name];
    return [`\`${name}\``, startsBy, waits, takes, state, scalesBy, aws];
  });
  expect(rows).toEqual(wanted);
  const asked = [...page.matchAll(/^\d+\. .*? An? `(\w+)`/gm)].map(([, name]) => name);
  expect(asked).toEqual(questions.map(({ shape }) => shape));
});

test.each(shapeNames)(
  "D-03: the image of %s runs as a user of its own, with a bounded heap, and opens the one port that is served",
  (shape) => {
    const files = [...projectFiles(shape, "other-name"), ...workFiles(shape, "other-name")];
    const textOf = (path: string) => files.find((file) => file.path === path)!.text;
    const stages = textOf("Dockerfile")
      .split(/^FROM /m)
      .slice(1);
    expect(stages).toHaveLength(2);
    const [build, image] = stages.map((stage) =>
      stage
        .split("\n")
        .slice(1)
        .filter((line) => /^[A-Z]+ /.test(line)),
    );
    expect(build).toContain("RUN npm ci --ignore-scripts");
    const serves = files.some(({ path }) => path.endsWith(".server.ts"));
    expect(image).toEqual([
      ...(serves
        ? ["ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080", "EXPOSE 8080"]
        : ["ENV NODE_ENV=production"]),
      "WORKDIR /app",
      "COPY --from=build /app ./",
      "USER 10001:10001",
      'CMD ["node", "--max-old-space-size-percentage=70", "dist/other-name.main.js"]',
    ]);
    const left = textOf(".dockerignore").split("\n");
    expect(left).toEqual(expect.arrayContaining(["node_modules/", ".git/", ".tuntas/", ".env*"]));
  },
);
