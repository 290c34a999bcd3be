// `npm run docs`: writes the pages of docs/reference that are lists of what the code declares: commands, error codes,
// signals. With --check it writes nothing and fails where a page is stale, so that an undocumented code cannot exist.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import prettier from "prettier";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = (path) => import(pathToFileURL(join(root, "lib", "dist", path)).href);

const isSource = (name) => name.endsWith(".ts") && !/\.(test|fixture|d)\.ts$/.test(name);

/** Every source file, with the built file that it becomes and the room that it belongs to. */
function* sources() {
  yield* below(join(root, "lib", "src"), "", (path) => path.split("/")[0]);
  for (const app of readdirSync(join(root, "apps")))
    yield* below(join(root, "apps", app, "src"), `apps/${app}/`, () => app);
  yield* below(join(root, "aws", "src"), "../../aws/dist/", () => "aws");
}

function* below(folder, prefix, roomOf) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true }).map((each) => each.replaceAll("\\", "/"))) {
    if (isSource(name))
      yield { file: join(folder, name), built: prefix + name.replace(/\.ts$/, ".js"), room: roomOf(name) };
  }
}

const makers = {
  catalogue: (value) => typeof value?.error === "function" && typeof value.entries === "object",
  signals: (value) => typeof value?.publish === "function" && typeof value.entries === "object",
  metrics: (value) => typeof value?.entries === "object" && !value.error && !value.publish,
};

/** What all exported lists of this kind declare, as [name, entry, room], in the order of the names. */
async function collect(maker) {
  const found = [];
  for (const source of sources()) {
    if (!new RegExp(`= ${maker}\\(\\{`).test(readFileSync(source.file, "utf8"))) continue;
    const lists = Object.values(await built(source.built)).filter(makers[maker]);
    if (lists.length === 0)
      throw new Error(`${source.file} declares a list that it does not export, so nobody can document it`);
    for (const list of lists)
      for (const [name, entry] of Object.entries(list.entries)) found.push([name, entry, source.room]);
  }
  const twice = found.find(([name], index) => found.findIndex(([other]) => other === name) !== index);
  if (twice) throw new Error(`${twice[0]} is declared twice, the second time by ${twice[2]}`);
  return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const generated = "<!-- Written by `npm run docs` from the code; do not edit. -->";

async function errorsPage() {
  const parts = (await collect("catalogue")).map(
    ([code, { meaning, remedy, retryable }, room]) =>
      `## ${code}\n\n${meaning}\n\n**What to do:** ${remedy}\n\nRaised by ${room}.${retryable ? " Trying again may help." : ""}`,
  );
  return [
    "# Error codes",
    generated,
    "Every error has a stable `code`; its `message` says what was expected and what came, its `remedy` what to do.",
    ...parts,
  ];
}

async function signalsPage() {
  const parts = (await collect("signals")).map(([name, { meaning, fields }, room]) => {
    const list = Object.entries(fields).map(([field, text]) => `- \`${field}\`: ${text}`);
    return `## tuntas.${name}\n\n${meaning}\n\n${list.join("\n")}\n\nFrom ${room}.`;
  });
  return [
    "# Signals",
    generated,
    "Events on `node:diagnostics_channel`, each published after its commit. Subscribe by the channel's name:",
    '```js\nimport { subscribe } from "node:diagnostics_channel";\n\nsubscribe("tuntas.queue.dead", ({ queueId, count }) => page(queueId, count));\n```',
    ...parts,
  ];
}

function metricPart([name, { kind, meaning, labels, from = [], kept }, room]) {
  const facts = [
    `A ${kind} of the ${room} room.`,
    labels.length > 0 ? `Labels: ${labels.map((label) => `\`${label}\``).join(", ")}.` : "",
    from.length > 0
      ? `From ${[...new Set(from.map(({ signal }) => `\`tuntas.${signal}\``))].join(", ")}.`
      : "",
    kept ? "Kept over time." : "",
  ];
  return `## ${name}\n\n${meaning}\n\n${facts.filter(Boolean).join(" ")}`;
}

async function metricsPage() {
  return [
    "# Metrics",
    generated,
    "One name everywhere: on `/metrics` (Prometheus), in the time series behind the charts, in alarms. Counters and histograms are those of the process that is asked; gauges are read from the database and the same everywhere. What is kept over time can be charted and can have an alarm. The HTTP plugin adds `tuntas_http_request_seconds`, `tuntas_http_traces_total`, `tuntas_http_shed_total`, `tuntas_http_in_flight`, `tuntas_event_loop_delay_seconds`, `tuntas_worker_held` and `tuntas_worker_room`.",
    ...(await collect("metrics")).map(metricPart),
  ];
}

const commandPart = (command, { usageOf, optionsOf, statusesOf }) => {
  const list = (pairs) => pairs.map(([name, meaning]) => `- \`${name}\`: ${meaning}`).join("\n");
  const examples = command.examples.map(([line, meaning]) => `# ${meaning}\n${line}`).join("\n");
  return [
    `## tuntas ${command.name}`,
    command.summary,
    `\`\`\`\n${usageOf(command)}\n\`\`\``,
    list(optionsOf(command)),
    `Exit status: ${statusesOf(command)
      .map(([status, meaning]) => `${status} ${meaning}`)
      .join("; ")}.`,
    `\`\`\`sh\n${examples}\n\`\`\``,
  ].join("\n\n");
};

async function cliPage() {
  const { commands } = await built("apps/cli/commands/index.js");
  const help = await built("apps/cli/help.js");
  return [
    "# The command",
    generated,
    "`tuntas help` and `tuntas help COMMAND` say the same. The database is `DATABASE_URL`, else an embedded PostgreSQL under `TUNTAS_DATA_DIR` (`.tuntas` by default). Nothing asks back, but for `tuntas choose` and a password on a terminal: what removes something needs `--yes`. With `--json` the answer, or the error, is one JSON document on standard output.",
    ...commands.map((command) => commandPart(command, help)),
  ];
}

async function checkPage() {
  const { rules } = await built("check/index.js");
  const parts = Object.entries(rules).map(
    ([id, { severity, smell, why, fix }]) =>
      `## ${id}\n\n${severity}: ${smell}\n\n**Why it hurts:** ${why}\n\n**What to do:** ${fix}`,
  );
  return [
    "# The rules of tuntas check",
    generated,
    "`tuntas check app.mjs` reads what the file exports (queues, workers, `timing`, applications) and state machines as JSON, and names every place where a rule is broken, with file and line. An error or a warning makes the exit status 1; an advice does not.",
    "It reads a handler's text and runs none of it. What a handler does in functions that it calls elsewhere is not seen.",
    'What is meant so is accepted where it is declared, with a reason that is printed each time: `accepts: { "no-idempotency": "setting a flag twice is harmless" }`.',
    ...parts,
  ];
}

async function limitsPage() {
  const { limits, limitMeanings } = await built("asl/index.js");
  const rows = Object.entries(limitMeanings).map(
    ([name, meaning]) => `| \`${name}\` | ${limits[name].toLocaleString("en")} | ${meaning} |`,
  );
  return [
    "# Limits of workflows",
    generated,
    "Those of AWS Step Functions, so that what runs here runs there.",
    ["| limit | value | what happens |", "| --- | ---: | --- |", ...rows].join("\n"),
  ];
}

async function shapesPage() {
  const { shapeNames, shapes } = await built("apps/cli/scaffold/shapes.js");
  const { answersOf, readNext } = await built("apps/cli/scaffold/answers.js");
  const { failuresOf } = await built("apps/cli/scaffold/failures.js");
  const { planOf } = await built("apps/cli/scaffold/tests.js");
  const table = (pairs) =>
    ["| | |", "| --- | --- |", ...Object.entries(pairs).map((pair) => `| ${pair.join(" | ")} |`)].join("\n");
  const part = (shape) => {
    const { when, waits, takes, state, keptBy, aws } = shapes[shape];
    const answers = {
      ...answersOf(shape),
      takes,
      "somebody waits?": waits,
      "its state lives in": state,
      "is kept running by": keptBy,
      "usually, on AWS": aws,
    };
    return [
      `## ${shape}`,
      when,
      table(answers),
      "When it goes wrong:",
      table(failuresOf(shape)),
      "To be tested:",
      table(planOf(shape)),
      `Read on: [${readNext(shape)}](../../${readNext(shape)}).`,
    ].join("\n\n");
  };
  return [
    "# The shapes of work",
    generated,
    "What each answers for before anybody names a service; `tuntas explain SHAPE` says the same. Which one it is: `tuntas choose`, or [the questions](../learn/shapes.md).",
    ...shapeNames.map(part),
  ];
}

const kinds = {
  control: "Control state: which work goes on, and who does it.",
  domain: "Domain state: what is true of the business. Applications have theirs in tables of their own.",
  integration: "Integration state: what goes between.",
  observability: "Observability: what happened, how much and how long.",
};

function tablesPage() {
  const schema = readFileSync(join(root, "lib", "sql", "schema.sql"), "utf8");
  const tables = [...schema.matchAll(/^-- (\w+): (.+)\ncreate table tuntas\.(\w+) /gm)];
  const parts = Object.entries(kinds).map(([kind, meaning]) => {
    const rows = tables
      .filter(([, of]) => of === kind)
      .map(([, , holds, name]) => `| \`${name}\` | ${holds} |`);
    return `## ${kind}\n\n${meaning}\n\n${["| table | holds |", "| --- | --- |", ...rows].join("\n")}`;
  });
  return [
    "# Tables",
    generated,
    "Four kinds of state are kept apart, and each table says which it holds (`\\dt+ tuntas.*` shows it too). No token of a task stands in a table of the domain: there is a reference at most, which answers nothing.",
    ...parts,
  ];
}

const pages = {
  "check.md": checkPage,
  "cli.md": cliPage,
  "errors.md": errorsPage,
  "limits.md": limitsPage,
  "shapes.md": shapesPage,
  "metrics.md": metricsPage,
  "signals.md": signalsPage,
  "tables.md": tablesPage,
};
const check = process.argv.includes("--check");
const stale = [];
for (const [name, page] of Object.entries(pages)) {
  const path = join(root, "docs", "reference", name);
  const config = await prettier.resolveConfig(path);
  const text = await prettier.format((await page()).join("\n\n"), { ...config, parser: "markdown" });
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (check) stale.push(`docs/reference/${name}`);
  else writeFileSync(path, text);
}
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Write them again with: npm run docs`);
  process.exit(1);
}
