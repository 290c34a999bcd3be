// State machines as files: what CreateStateMachine refuses, and what it takes and one regrets.
import { limits, validateDefinition } from "../../asl/index.ts";
import type { Definition, JsonDocument, Sighting } from "../contract.ts";
import type { RuleId } from "../rules.ts";
import { checkFolding, type Whose } from "./folding.ts";
import { levelsOf, nextOf } from "./states.ts";

const attemptsMax = 20;
const pollHoursMin = 12;
const waitsForOthers = /\.waitForTaskToken$|:activity:/;
const bounds = ["TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"];

type Detector = (state: Definition, machine: Definition) => string | undefined;

const withoutTimeout: Detector = (state, machine) =>
  state.Type === "Task" &&
  waitsForOthers.test(String(state.Resource)) &&
  ![...bounds.map((field) => state[field]), machine.TimeoutSeconds].some((bound) => bound !== undefined)
    ? `waits for ${String(state.Resource)} without a timeout`
    : undefined;

const withoutDefault: Detector = (state) =>
  state.Type === "Choice" && state.Default === undefined
    ? `chooses between ${(state.Choices as unknown[]).length} rules and has no Default`
    : undefined;

const endless: Detector = (state) => {
  const attempts = ((state.Retry ?? []) as { MaxAttempts?: number }[]).map(
    ({ MaxAttempts = 3 }) => MaxAttempts,
  );
  const most = Math.max(0, ...attempts);
  return most > attemptsMax ? `is tried up to ${most} times again` : undefined;
};

/** How many states lie on the shortest way from the state back to itself; undefined where there is none. */
function roundOf(states: Readonly<Record<string, Definition>>, from: Definition): number | undefined {
  const seen = new Set<Definition>();
  let reached = nextOf(from);
  for (let length = 1; reached.length > 0; length++) {
    const found = reached.flatMap((name) => (states[name] ? [states[name]] : []));
    if (found.includes(from)) return length;
    const fresh = found.filter((state) => !seen.has(state));
    for (const state of fresh) seen.add(state);
    reached = fresh.flatMap(nextOf);
  }
  return undefined;
}

/** What a history has of a round through so many states: two events for each, and three more where a task is called. */
export const eventsOf = (states: number): number => 2 * states + 3;

/** How many states a wait for so many seconds comes round by; undefined where it is in no loop. */
const pollRound = (state: Definition, { States }: Definition): number | undefined =>
  state.Type === "Wait" && typeof state.Seconds === "number"
    ? roundOf(States as Readonly<Record<string, Definition>>, state)
    : undefined;

/** The waits of a machine that come round again, each with how many states a round has. */
export const pollsOf = (machine: Definition): readonly { readonly name: string; readonly round: number }[] =>
  [...levelsOf(machine)].flatMap((states) =>
    Object.entries(states).flatMap(([name, state]) => {
      const round = pollRound(state, machine);
      return round === undefined ? [] : [{ name, round }];
    }),
  );

const tightPoll: Detector = (state, machine) => {
  const round = pollRound(state, machine);
  if (round === undefined || typeof state.Seconds !== "number") return undefined;
  const hours = ((limits.historyEvents / eventsOf(round)) * state.Seconds) / 3600;
  if (hours >= pollHoursMin) return undefined;
  return `waits ${state.Seconds} s in a loop, which fills the history of an execution in ${Math.round(hours * 10) / 10} hours`;
};

const job =
  /:(?:ecs:runTask|batch:submitJob|glue:startJobRun|codebuild:startBuild|athena:startQueryExecution|emr-serverless:startJobRun|sagemaker:create(?:Training|Transform|Processing)Job)(\.\w+)?(?::2)?$/;
const token = /\$\$\.Task\.Token|\$states\.context\.Task\.Token/;

/** Jobs end by themselves; how they are waited for should say so. */
const syncOrToken: Detector = ({ Type, Resource, Parameters, Arguments, Next }) => {
  const found = Type === "Task" ? job.exec(String(Resource)) : undefined;
  if (!found) return undefined;
  const isTold = token.test(JSON.stringify([Parameters, Arguments]));
  if (found[1] === ".waitForTaskToken")
    return isTold ? undefined : `waits for a token that ${String(Resource)} is not given`;
  if (found[1] !== undefined)
    return isTold ? "gives a token to a job that it waits for by its end" : undefined;
  return isTold || Next === undefined ? undefined : `begins ${String(Resource)} and goes on while it runs`;
};

const detectors: Readonly<Partial<Record<RuleId, Detector>>> = {
  "task-without-timeout": withoutTimeout,
  "choice-without-default": withoutDefault,
  "endless-retry": endless,
  "tight-poll": tightPoll,
  "sync-or-token": syncOrToken,
};

/** The line that names the state; a state's name is a key of its own. */
const lineOf = (text: string, name: string): number => {
  const at = text.indexOf(`${JSON.stringify(name)}:`);
  return at < 0 ? 1 : text.slice(0, at).split("\n").length;
};

const checkState = (
  [stateName, state]: readonly [string, Definition],
  machine: Definition,
  { name, placeOf }: Whose,
): Sighting[] =>
  Object.entries(detectors).flatMap(([rule, detect]) => {
    const what = detect(state, machine);
    if (what === undefined) return [];
    const message = `${name}: the state ${JSON.stringify(stateName)} ${what}`;
    return [{ rule: rule as RuleId, name, place: placeOf(stateName), message }];
  });

/** What a machine's states do that is taken, and regretted. */
export const checkStates = (machine: Definition, whose: Whose): Sighting[] => [
  ...[...levelsOf(machine)]
    .flatMap(Object.entries<Definition>)
    .flatMap((each) => checkState(each, machine, whose)),
  ...checkFolding(machine, whose),
];

export function checkMachine({ name, place, text }: JsonDocument): Sighting[] {
  const errors = validateDefinition(text).filter(({ severity }) => severity === "ERROR");
  if (errors.length > 0)
    return errors.map(({ code, message, location }) => ({
      rule: "invalid-machine",
      name,
      place: `${place}:1`,
      message: `${name}: ${code}: ${message}${location === undefined ? "" : ` at ${location}`}`,
    }));
  const placeOf = (state: string) => `${place}:${lineOf(text, state)}`;
  return checkStates(JSON.parse(text) as Definition, { name, placeOf });
}
