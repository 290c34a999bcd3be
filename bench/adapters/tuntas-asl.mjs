// The language alone for the peers' harness: the same ten Pass and Choice states that its in-memory interpreter runs,
// decided by `next` with their whole history, and nothing kept.
import { randomUUID } from "node:crypto";
import { compileMachine, next } from "../../lib/dist/asl/index.js";

const states = 10;

function stateOf(index) {
  const isLast = index === states - 1;
  const following = isLast ? { End: true } : { Next: `s${index + 1}` };
  const isChoice = index % 2 === 1 && !isLast;
  return isChoice
    ? {
        Type: "Choice",
        Choices: [{ Variable: "$.n", NumericGreaterThan: 1000, Next: `s${states - 1}` }],
        Default: `s${index + 1}`,
      }
    : { Type: "Pass", Parameters: { "n.$": "$.n", k: index }, ...following };
}

const account = "arn:aws:states:us-east-1:000000000000";

/** Decides one execution from its start to its end, as the engine does for each that waits for nothing. */
async function execute(machine, name) {
  const nowMs = Date.now();
  const execution = {
    id: `${account}:execution:bench:${name}`,
    name,
    roleArn: null,
    startTime: new Date(nowMs).toISOString(),
    redriveCount: 0,
    machineId: `${account}:stateMachine:bench`,
    machineName: "bench",
  };
  const event = { type: "started", execution, input: { n: 5 }, nowMs, seed: randomUUID() };
  const { state, events } = await next(machine, undefined, event);
  if (state.status !== "SUCCEEDED" || events.length !== 2 + 2 * states)
    throw new Error(`it came to ${state.status}`);
}

export default {
  name: "tuntas-asl",
  durability: "none (memory)",
  variants: { default: {} },
  async run(_ctx, { seconds, inflight }) {
    const named = Array.from({ length: states }, (_, index) => [`s${index}`, stateOf(index)]);
    const machine = compileMachine({ StartAt: "s0", States: Object.fromEntries(named) });
    const begunMs = performance.now();
    const endMs = begunMs + seconds * 1000;
    let count = 0;
    const one = async () => {
      while (performance.now() < endMs) await execute(machine, `run-${count++}`);
    };
    await Promise.all(Array.from({ length: inflight }, one));
    const took = (performance.now() - begunMs) / 1000;
    return {
      unit: "executions/s",
      states,
      inflight,
      rate: Math.round(count / took),
      states_rate: Math.round((count * states) / took),
    };
  },
};
