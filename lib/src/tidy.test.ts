// The style guide as a test: what STYLE.md and ARCHITECTURE.md say about floors, imports, sizes and names, on the
// syntax trees of all sources. Each finding says what to do instead.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

const floors: Record<string, number> = {
  core: 0,
  asl: 0,
  pg: 1,
  engine: 2,
  outbox: 3,
  ledger: 3,
  access: 3,
  series: 3,
  files: 3,
  queue: 4,
  stream: 4,
  schedule: 5,
  batch: 5,
  workflow: 5,
  service: 5,
  operation: 6,
  change: 6,
  alarm: 6,
  check: 7,
  cost: 7,
  doctor: 7,
  measure: 7,
  readiness: 7,
  testing: 7,
};
/** app.ts, platform.ts and index.ts put everything together; what stands beside them may use them. */
const top = 7;
const roomsFrom = 3;

const linesMax = 400;
const functionLinesMax = 50;
const folderFilesMax = 18;
/** A language has many words, each a file of its own. */
const folderFilesMaxOf: Record<string, number> = { "lib/src/asl": 26 };

/** What still has to be brought in order; nothing is ever added here. */
const owed: readonly string[] = [];
const notOwed = (finding: string): boolean => !owed.some((path) => finding.startsWith(path));

interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !["node_modules", "dist", ".tuntas"].includes(entry.name)) yield* walk(path);
    else if (/\.tsx?$/.test(entry.name) && !entry.name.endsWith(".d.ts")) yield path;
  }
}

const isTest = (path: string): boolean => /\.(test|fixture)\.tsx?$/.test(path);

function read(folder: string): Source[] {
  return [...walk(folder)].map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
  });
}

const everything = ["lib/src", "apps", "aws", "examples"].flatMap(read);
const sources = everything.filter(({ path }) => !isTest(path));
const library = sources.filter(({ path }) => path.startsWith("lib/src/"));

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (!clause) return false;
  const named = clause.namedBindings;
  return (
    clause.isTypeOnly ||
    (!clause.name && !!named && ts.isNamedImports(named) && named.elements.every((each) => each.isTypeOnly))
  );
}

function importsOf({ tree }: Source): Import[] {
  return tree.statements.flatMap((node) => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
    if (!node.moduleSpecifier || !ts.isStringLiteral(node.moduleSpecifier)) return [];
    return { from: node.moduleSpecifier.text, typeOnly: isTypeOnly(node) };
  });
}

/** The path of the imported file, from the root; undefined for packages. */
const resolve = ({ path }: Source, { from }: Import): string | undefined =>
  from.startsWith(".") ? relative(root, join(root, dirname(path), from)).replaceAll("\\", "/") : undefined;

const folderOf = (path: string): string => /^lib\/src\/([^/]+)\//.exec(path)?.[1] ?? "";
const floorOf = (path: string): number => (folderOf(path) === "" ? top : (floors[folderOf(path)] ?? NaN));

function* nodes(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodes(child);
}

const lineOf = ({ tree }: Source, position: number): number =>
  tree.getLineAndCharacterOfPosition(position).line + 1;

test("every folder of the library has a floor", () => {
  const unknown = new Set(
    library
      .map(({ path }) => folderOf(path))
      .filter((folder) => folder !== "" && floors[folder] === undefined),
  );
  expect([...unknown], "give the folder a floor here and in ARCHITECTURE.md").toEqual([]);
});

/** Whether a room shows the file to the floors above: its contract, its client, its door and what it declares. */
const isShown = (path: string): boolean =>
  /^lib\/src\/[^/]+\/((contract|client|index|signals|declaration)\.ts|client\/)/.test(path);

test("imports go down: own folder and lower floors, and of a room only what it shows", () => {
  const findings = library.flatMap((source) =>
    importsOf(source).flatMap((each) => {
      const to = resolve(source, each);
      if (to === undefined || folderOf(to) === folderOf(source.path) || floorOf(source.path) >= top)
        return [];
      if (folderOf(to) === "core") return [];
      if (floorOf(to) >= floorOf(source.path))
        return `${source.path} imports ${to}, which is not below it: announce it to a target instead`;
      if (floorOf(to) >= roomsFrom && !isShown(to))
        return `${source.path} looks into ${to}: use the room's contract or client`;
      return [];
    }),
  );
  expect(findings).toEqual([]);
});

test("no file imports itself around a corner", () => {
  const graph = new Map(
    library.map((source) => [
      source.path,
      importsOf(source).flatMap((each) => (each.typeOnly ? [] : (resolve(source, each) ?? []))),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path))
      return void cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles, "move what both need into a third file").toEqual([]);
});

test(`no source has more than ${linesMax} lines`, () => {
  const long = sources.filter(({ text }) => text.split("\n").length > linesMax + 1);
  expect(
    long.map(({ path }) => path),
    "make it a folder of the same name",
  ).toEqual([]);
});

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionDeclaration(node) ||
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node);

/** The lines with code of a function, without those of the functions inside it: each is counted for itself. */
function ownLines(node: ts.Node): number {
  let text = node.getText();
  const cut = (each: ts.Node): void =>
    ts.forEachChild(each, (child) => {
      if (isFunction(child)) text = text.replace(child.getText(), "inner");
      else cut(child);
    });
  cut(node);
  return text.split("\n").filter((line) => !/^\s*(\/\/.*|\/?\*.*)?$/.test(line)).length;
}

test(`no function has more than ${functionLinesMax} lines of its own`, () => {
  const findings = sources.flatMap((source) =>
    [...nodes(source.tree)]
      .filter((node) => isFunction(node) && ownLines(node) > functionLinesMax)
      .map((node) => `${source.path}:${lineOf(source, node.getStart())} has ${ownLines(node)} lines`),
  );
  expect(findings.filter(notOwed), "take steps out, each with a name").toEqual([]);
});

test("no name says nothing", () => {
  const banned = /(^|\/|[-.])(utils?|helpers?|common|managers?|misc)([-./]|$)/;
  expect(
    everything.map(({ path }) => path).filter((path) => banned.test(path)),
    "give the thing its noun",
  ).toEqual([]);
});

test(`no folder has more than ${folderFilesMax} sources`, () => {
  const counts = new Map<string, number>();
  for (const { path } of library) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const full = [...counts]
    .filter(([folder, count]) => count > (folderFilesMaxOf[folder] ?? folderFilesMax))
    .map(([folder, count]) => `${folder}: ${count}`);
  expect(full, "put what belongs together into a folder below").toEqual([]);
});

const isPure = (path: string): boolean => /^lib\/src\/(core|asl)\//.test(path) || path.endsWith("/state.ts");
const impure: [RegExp, string][] = [
  [/^(new Date\(\)|Date\.now\(\)|performance\.now\(\))$/, "take the time as an argument"],
  [/^Math\.random\(\)$/, "take the random number as an argument"],
  [/^(setTimeout|setInterval|setImmediate|fetch)\(/, "answer what is to be done, and let a worker do it"],
];

test("core, asl and every state.ts know no clock, no random and no IO", () => {
  const findings = library
    .filter(({ path }) => isPure(path))
    .flatMap((source) => [
      ...importsOf(source)
        .filter(({ from, typeOnly }) => from.startsWith("node:") && !typeOnly)
        .map(({ from }) => `${source.path} imports ${from}: hand it in`),
      ...[...nodes(source.tree)]
        .filter((node) => ts.isCallExpression(node) || ts.isNewExpression(node))
        .flatMap((node) => {
          const hit = impure.find(([pattern]) => pattern.test(node.getText()));
          return hit
            ? `${source.path}:${lineOf(source, node.getStart())} calls ${node.getText().slice(0, 30)}: ${hit[1]}`
            : [];
        }),
    ]);
  expect(findings.filter(notOwed)).toEqual([]);
});

test("apps, aws and examples use public subpaths only", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "lib/package.json"), "utf8")) as { exports: object };
  const isPublic = (from: string) => Object.hasOwn(exports, from.replace(/^tuntas/, "."));
  const findings = everything
    .filter(({ path }) => /^(apps|aws|examples)\//.test(path))
    .flatMap((source) =>
      importsOf(source)
        .filter(
          (each) =>
            /(^|\/)lib\/(src|dist)\//.test(resolve(source, each) ?? "") ||
            (/^tuntas(\/|$)/.test(each.from) && !isPublic(each.from)),
        )
        .map(({ from }) => `${source.path} imports ${from}: use a subpath that lib/package.json exports`),
    );
  expect(findings).toEqual([]);
});

/** The names that `catalogue({...})` or `signals({...})` list. */
const listed = (maker: string): string[] =>
  library.flatMap(({ tree }) =>
    [...nodes(tree)].flatMap((node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== maker) return [];
      const [entries] = node.arguments;
      if (!entries || !ts.isObjectLiteralExpression(entries)) return [];
      return entries.properties.flatMap((property) =>
        property.name ? property.name.getText().replaceAll('"', "") : [],
      );
    }),
  );

test.each([
  ["catalogue", "errors.md", ""],
  ["signals", "signals.md", "tuntas."],
])("everything that %s lists stands in docs/reference/%s", (maker, file, prefix) => {
  const text = readFileSync(join(root, "docs/reference", file), "utf8");
  const missing = listed(maker).filter((name) => !text.includes(`## ${prefix}${name}\n`));
  expect(listed(maker).length).toBeGreaterThan(10);
  expect(missing, "run `npm run docs`").toEqual([]);
});

/** `select id::text … order by id` sorts by the text that it shows: 9 after 10, and a limit keeps the wrong rows. */
const sortsText = (statement: string): boolean =>
  /\border by id\b/.test(statement) && /\bid::text\b(?! as)|\$\{\w*[cC]olumns\}/.test(statement);

/** The places of statements of which it is true. */
const statementsThat = (is: (statement: string) => boolean): string[] =>
  library
    .filter(({ path }) => !isTest(path))
    .flatMap((source) => [...nodes(source.tree)].map((node) => ({ source, node })))
    .filter(
      ({ node }) => (ts.isTemplateExpression(node) || ts.isStringLiteralLike(node)) && is(node.getText()),
    )
    .map(({ source, node }) => `${source.path}:${lineOf(source, node.getStart())}`);

test("no statement sorts by the text of an id", () => {
  expect(statementsThat(sortsText), "say whose id it is: order by audit.id").toEqual([]);
});

test("milliseconds of instants come from pg/instant.ts, which loses none of them", () => {
  expect(statementsThat((text) => /extract\(epoch.*::float8 \* 1000/.test(text))).toEqual([]);
});
