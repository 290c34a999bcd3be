// Declaring one-off commands. What one must say is checked here as well as by the compiler, so that an untyped declaration is
// refused too, with everything that it leaves out at once.
import { createHash } from "node:crypto";
import { roles } from "../../access/contract.ts";
import { toMs } from "../../core/duration.ts";
import { declaring, placeOfCaller } from "../../core/place.ts";
import { isStorable } from "../../core/text.ts";
import { unknownOptions, type NamesOf } from "../../core/options.ts";
import { dayMs, got, isText, wrongTime, type Finding, wrongName } from "../../engine/findings.ts";
import { canonicalText } from "../../ledger/index.ts";
import {
  commandErrors,
  purposes,
  type ArgumentSpec,
  type ArgumentSpecs,
  type CommandDefinition,
  type CommandOptions,
  type Policy,
  type Program,
} from "./contract.ts";

type AnyOptions = CommandOptions<any>;

const nameForm = /^[a-z][a-z0-9-]{0,59}$/;
const argumentForm = /^[a-z][a-zA-Z0-9]{0,39}$/;
const roleForm = /^[a-z_][a-z0-9_]{0,62}$/;
const digestForm = /^sha256:[0-9a-f]{64}$/;
const variableForm = /^[A-Z_][A-Z0-9_]*$/;
const types = ["text", "number", "choice", "date", "flag"];
const longestMs = 7 * dayMs;

const isFunction = (value: unknown): boolean => typeof value === "function";

export const isProgram = (run: AnyOptions["run"]): run is Program => !isFunction(run);

function isPattern(pattern: unknown): boolean {
  try {
    return isText(pattern) && new RegExp(`^(?:${pattern})$`, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function wrongForm(spec: ArgumentSpec): Finding {
  if (spec.type === "text") return !isPattern(spec.pattern) && "pattern: expected a regular expression";
  if (spec.type === "number")
    return (
      !(Number.isSafeInteger(spec.least) && Number.isSafeInteger(spec.most) && spec.least <= spec.most) &&
      "expected least and most, whole numbers"
    );
  return (
    spec.type === "choice" &&
    !(Array.isArray(spec.of) && spec.of.length > 0 && spec.of.every(isText)) &&
    "of: expected a list of texts"
  );
}

const argumentNames: NamesOf<ArgumentSpec> = {
  meaning: true,
  optional: true,
  type: true,
  pattern: true,
  least: true,
  most: true,
  of: true,
};

function* wrongArguments(specs: ArgumentSpecs | undefined): Generator<Finding> {
  if (typeof specs !== "object" || specs === null)
    return yield `arguments: expected what it takes, {} for nothing, ${got(specs)}`;
  for (const [name, spec] of Object.entries(specs)) {
    const at = `arguments.${name}`;
    yield* unknownOptions(spec, argumentNames, `${at}.`);
    yield (
      (!argumentForm.test(name) || name === "dryRun") &&
      `${at}: expected a name of letters and digits that is not dryRun`
    );
    yield !isText(spec?.meaning) && `${at}.meaning: expected what it means`;
    yield !types.includes(spec?.type) && `${at}.type: expected ${types.join(", ")}, ${got(spec?.type)}`;
    const wrong = spec && wrongForm(spec);
    yield wrong && `${at}: ${wrong}`;
  }
}

function* wrongRun(run: AnyOptions["run"] | undefined): Generator<Finding> {
  if (isFunction(run)) return;
  const { service, digest, program, environment } = (run ?? {}) as Partial<Program>;
  yield (
    !(isText(service) || isText((service as { name?: unknown } | undefined)?.name)) &&
    `run: expected a handler, or a program with the service that it belongs to, ${got(run)}`
  );
  yield (
    !(isText(digest) && digestForm.test(digest)) &&
    `run.digest: expected "sha256:" and 64 digits, which a tag is not, ${got(digest)}`
  );
  yield (
    !(Array.isArray(program) && program.length > 0 && program.every(isText)) &&
    `run.program: expected its words, ${got(program)}`
  );
  yield (
    !(Array.isArray(environment) && environment.every((each) => isText(each) && variableForm.test(each))) &&
    `run.environment: expected names of variables, ${got(environment)}`
  );
}

function* wrongGrants({ mayRun, arguments: specs }: AnyOptions): Generator<Finding> {
  const grants = Object.entries(mayRun ?? {});
  yield grants.length === 0 && `mayRun: expected a role (${roles.join(", ")}) with what it may run it upon`;
  for (const [role, grant] of grants) {
    yield !(roles as readonly string[]).includes(role) && `mayRun.${role}: expected ${roles.join(", ")}`;
    if (grant === "any") continue;
    for (const name of Object.keys(grant ?? {}))
      yield !Object.hasOwn(specs ?? {}, name) && `mayRun.${role}.${name}: it takes no such argument`;
    yield typeof grant !== "object" && `mayRun.${role}: expected "any" or values of arguments, ${got(grant)}`;
  }
}

const said: readonly (readonly [keyof AnyOptions, string])[] = [
  ["does", "what it does, in a sentence"],
  ["scope", "which data it touches"],
  ["rollback", "how it is undone or made good"],
  ["twice", "why a second run changes nothing more"],
  ["owner", "who answers for it"],
  ["runbook", "what they read first"],
];

const optionNames: NamesOf<AnyOptions> = {
  does: true,
  purpose: true,
  scope: true,
  arguments: true,
  run: { service: true, digest: true, program: true, environment: true },
  databaseRole: true,
  mayRun: true,
  timeout: true,
  destructive: true,
  rollback: true,
  success: { measure: true, check: true },
  twice: true,
  owner: true,
  runbook: true,
};

function* findings(name: string, options: AnyOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, 'up to 60 small letters, digits and "-"');
  for (const [field, what] of said)
    yield (
      !(isText(options[field]) && isStorable(options[field])) &&
      `${field}: expected ${what}, ${got(options[field])}`
    );
  yield (
    !purposes.includes(options.purpose) && `purpose: expected ${purposes.join(", ")}, ${got(options.purpose)}`
  );
  yield* wrongArguments(options.arguments);
  yield* wrongRun(options.run);
  yield (
    !(isText(options.databaseRole) && roleForm.test(options.databaseRole)) &&
    `databaseRole: expected the role of the database that it runs as, ${got(options.databaseRole)}`
  );
  yield* wrongGrants(options);
  yield wrongTime("timeout", options.timeout, [100, longestMs]);
  yield typeof options.destructive !== "boolean" && `destructive: expected true or false`;
  yield !isText(options.success?.measure) && `success.measure: expected which figure or line proves it`;
  yield !isFunction(options.success?.check) && `success.check: expected a function`;
}

const twiceIn = (all: readonly string[]): string | undefined =>
  all.find((each, index) => all.indexOf(each) !== index);

/** Of the commands of one application. Errors: TUNTAS_COMMAND_REGISTERED. */
export function checkTogether(commands: readonly CommandDefinition[]): void {
  const name = twiceIn(commands.map((each) => each.name));
  const role = twiceIn(commands.map(({ options }) => options.databaseRole));
  if (name === undefined && role === undefined) return;
  const what = name === undefined ? `run as the role ${role}` : `have the name ${name}`;
  throw commandErrors.error("TUNTAS_COMMAND_REGISTERED", `app: two commands ${what}`);
}

export function policyOf(options: CommandOptions<any>): Policy {
  const { does, purpose, scope, databaseRole, mayRun, destructive, rollback, twice, run } = options;
  const program = isProgram(run)
    ? {
        service: typeof run.service === "string" ? run.service : run.service.name,
        digest: run.digest,
        words: run.program,
      }
    : null;
  return {
    does,
    purpose,
    scope,
    arguments: options.arguments as ArgumentSpecs,
    databaseRole,
    mayRun,
    destructive,
    rollback,
    twice,
    measure: options.success.measure,
    timeoutMs: toMs(options.timeout),
    program,
  };
}

/** What this process is a release of; a number is that of one service's revision, and another service has others. */
function releaseOf({ TUNTAS_REVISION: release = "" }: NodeJS.ProcessEnv): string {
  return /^\d*$/.test(release) ? "" : release;
}

/**
 * Of the declaration, of the text of its functions and of the release that this process is (`TUNTAS_REVISION`, the version that a
 * deployment sets): what these call is pinned by the release alone.
 */
function digestOf(name: string, options: AnyOptions): string {
  const { run, success } = options;
  const code = [isProgram(run) ? "" : String(run), String(success.check), releaseOf(process.env)];
  const text = canonicalText([name, policyOf(options), isProgram(run) ? run.environment : [], code]);
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function declareCommand<const A extends ArgumentSpecs>(
  name: string,
  options: CommandOptions<A>,
): CommandDefinition<A> {
  const found = [...findings(name, options ?? {})].filter(Boolean);
  if (found.length > 0)
    throw commandErrors.error(
      "TUNTAS_COMMAND_OPTIONS",
      `command ${JSON.stringify(name)}: ${found.join("; ")}`,
    );
  return { kind: "command", name, options, digest: digestOf(name, options), place: placeOfCaller() };
}

/** Declares a one-off command. Errors: TUNTAS_COMMAND_OPTIONS, which names everything that is missing. */
export const command = declaring(declareCommand);
