// What must hold once everything has ended, whatever went wrong on the way. Each answers what is amiss, or nothing.
import { scope, type World } from "./world.ts";

interface Found {
  /** How often each effect happened. */
  readonly times: ReadonlyMap<string, number>;
  /** The effects in the order in which they happened. */
  readonly order: readonly string[];
}

async function find(world: World): Promise<Found> {
  const rows = (await world.ask("select id from tuntas.effect order by n")) as { id: string }[];
  const times = new Map<string, number>();
  for (const { id } of rows) times.set(id, (times.get(id) ?? 0) + 1);
  return { times, order: rows.map(({ id }) => id) };
}

const leavesEffect = (mode: string): boolean => mode !== "reject" && mode !== "poison";

function everyPromiseKept({ promised }: World, { times }: Found): string[] {
  const wanted = [...promised.messages].filter(([, mode]) => leavesEffect(mode)).map(([id]) => id);
  const announced = [...promised.messages]
    .filter(([, mode]) => mode === "announce")
    .map(([id]) => `after ${id}`);
  return [...wanted, ...announced, ...promised.executions]
    .filter((id) => !times.has(id))
    .map((id) => `lost: ${id} was accepted and has no effect`);
}

const nothingTwice = (_: World, { times }: Found): string[] =>
  [...times].filter(([, count]) => count > 1).map(([id, count]) => `doubled: ${id} has ${count} effects`);

function nothingUnasked({ promised }: World, { times }: Found): string[] {
  const forbidden = [...promised.messages].filter(([, mode]) => !leavesEffect(mode)).map(([id]) => id);
  const orphans = [...times.keys()].filter((id) => id.startsWith("after ") && !times.has(id.slice(6)));
  return [...forbidden.filter((id) => times.has(id)), ...orphans].map((id) => `unasked: ${id} has an effect`);
}

function groupsInOrder({ promised }: World, { order }: Found): string[] {
  return [...promised.groups].flatMap(([group, count]) => {
    const places = order.filter((id) => id.startsWith(`${group}/`));
    const wanted = Array.from({ length: count }, (_, place) => `${group}/${place}`);
    return places.join() === wanted.join() ? [] : [`order: group ${group} was handled as ${places.join()}`];
  });
}

/** Which tables must be empty: what ended leaves nothing behind that somebody would trip over. */
const leftOver = `select * from (
  select 'ready' as what, count(*)::int as n from tuntas.ready
  union all select 'delayed', count(*)::int from tuntas.delayed
  union all select 'in flight', count(*)::int from tuntas.held
  union all select 'bodies', count(*)::int from tuntas.message
  union all select 'failures', count(*)::int from tuntas.failure f where not exists (select from tuntas.quarantine q where q.id = f.id)
  union all select 'locks', count(*)::int from tuntas.entity_lock
  union all select 'due', count(*)::int from tuntas.workflow_due
  union all select 'calls', count(*)::int from tuntas.workflow_call
  union all select 'outbox', count(*)::int from tuntas.outbox
) as t where n > 0`;

async function nothingLeft(world: World): Promise<string[]> {
  const rows = (await world.ask(leftOver)) as { what: string; n: number }[];
  return rows.map(({ what, n }) => `left over: ${n} of ${what}`);
}

async function poisonIsKept(world: World): Promise<string[]> {
  const wanted = [...world.promised.messages].filter(([, mode]) => mode === "poison").map(([id]) => id);
  const rows = (await world.ask("select body from tuntas.quarantine")) as { body: string }[];
  const kept = new Set(rows.map(({ body }) => (JSON.parse(body) as { id: string }).id));
  return wanted.filter((id) => !kept.has(id)).map((id) => `lost: ${id} is poison and not in quarantine`);
}

/** An execution ended once, and its history tells its one path without a gap. */
const path =
  "ExecutionStarted TaskStateEntered WaitStateEntered WaitStateExited PassStateEntered ExecutionSucceeded";

async function executionsEnded({ kit, promised, machine: name }: World): Promise<string[]> {
  const { machines, executions } = kit.platform.workflows;
  const machine = (await machines.find(scope, name))!;
  const all = await executions.list(machine, {}, { limit: 1000, offset: 0 });
  const amiss = await Promise.all(
    all.map(async (execution) => {
      const events = await executions.history(execution);
      const told = events.map(({ type }) => type).join(" ");
      const gap = events.findIndex(({ id }, index) => id !== index + 1);
      const inOrder = path.split(" ").every((type) => told.split(type).length === 2);
      if (execution.status === "SUCCEEDED" && inOrder && gap < 0) return [];
      return [`execution: ${execution.name} is ${execution.status}: ${told}`];
    }),
  );
  const known = new Set(all.map(({ name }) => name));
  const lost = [...promised.executions].filter((name) => !known.has(name));
  return [...amiss.flat(), ...lost.map((name) => `lost: execution ${name}`)];
}

const holders = `select q.name as queue, f.owner_id::text as owner, count(*)::int as n, max(f.receives) as receives,
    extract(epoch from tuntas.now() - min(f.claimed_at))::int as seconds,
    exists (select from tuntas.process p where p.id = f.owner_id and p.expires_at > tuntas.now()) as lives
  from tuntas.held f join tuntas.queue q on q.id = f.queue_id group by q.name, f.owner_id`;

/** Who holds what, and what each process knows of it: for a world that does not come to rest. */
export async function tellHolders(world: World): Promise<string[]> {
  const rows = await world.ask(holders);
  const failures = await world.ask(
    "select code, message, count(*)::int as n from tuntas.failure group by 1, 2",
  );
  return [
    ...rows.map((row) => `held: ${JSON.stringify(row)}`),
    ...failures.map((row) => `failed: ${JSON.stringify(row)}`),
    ...world.nodes.map((node) => `process ${node.platform.processId()}: ${JSON.stringify(node.active())}`),
  ];
}

/** Everything that is amiss in a world that has come to rest. */
export async function findAmiss(world: World): Promise<string[]> {
  const found = await find(world);
  const pure = [everyPromiseKept, nothingTwice, nothingUnasked, groupsInOrder].flatMap((each) =>
    each(world, found),
  );
  return [
    ...pure,
    ...(await nothingLeft(world)),
    ...(await poisonIsKept(world)),
    ...(await executionsEnded(world)),
  ];
}
