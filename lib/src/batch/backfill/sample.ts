// A dry run: the handler is called with records from all over the run, under a savepoint that is rolled back, and what it
// would change, keep back and fail at is put on record for the person who approves.
import { beginReplay, endReplay, newReplay } from "../../engine/handler/replay.ts";
import { join } from "../../pg/join.ts";
import type { BackfillContext, BackfillDefinition, FailedRecord, Sample } from "./contract.ts";
import { nameOf, readPage, readRecords, type Found, type KeyTypes } from "./records.ts";
import { handleAll } from "./slice.ts";

const recordsMax = 200;
const partitionsMax = 20;
const changesMax = 5;
const failuresMax = 20;

interface SampleOf {
  readonly definition: BackfillDefinition;
  readonly types: KeyTypes;
  readonly inputs: readonly { readonly key: string; readonly input: string }[];
  /** Of a call, for the partition. */
  readonly contextOf: (partition: string) => BackfillContext;
}

/** Evenly spread over all of them. */
const spread = <T>(all: readonly T[], max: number): readonly T[] =>
  all.length <= max
    ? all
    : Array.from({ length: max }, (_, index) => all[Math.floor((index * all.length) / max)]!);

async function changesOf(
  { definition, types }: SampleOf,
  context: BackfillContext,
  looked: readonly Found[],
) {
  const cursors = looked.map(({ cursor }) => cursor);
  const read = () => readRecords(context.tx, definition, { types, cursors });
  const before = await read();
  return async (failed: readonly FailedRecord[]) => {
    const after = await read();
    return cursors
      .map(nameOf)
      .filter((record) => !failed.some((each) => each.record === record))
      .map((record) => ({ record, before: before.get(record), after: after.get(record) ?? null }));
  };
}

/** Calls the handler; all that it has written is still there. */
async function tryOut(of: SampleOf): Promise<Omit<Sample, "tookMs" | "atMs">> {
  const { definition, types, inputs } = of;
  const picked = spread(inputs, partitionsMax);
  const limit = Math.ceil(recordsMax / Math.max(1, picked.length));
  const replay = newReplay();
  const failures: FailedRecord[] = [];
  const changes: Sample["changes"][number][] = [];
  let [read, final] = [0, 0];
  for (const { key, input } of picked) {
    const context = of.contextOf(key);
    const page = { after: null, until: null, limit };
    const { scope } = context.run;
    const found = await readPage(context.tx, definition, {
      scope,
      partition: JSON.parse(input),
      types,
      page,
    });
    const todo = found.filter((each) => !each.final);
    const look = await changesOf(of, context, todo.slice(0, Math.max(0, changesMax - changes.length)));
    const failed = await handleAll(todo, { handle: definition.options.handle, context, replay });
    changes.push(...(await look(failed)));
    failures.push(...failed);
    read += found.length;
    final += found.length - todo.length;
  }
  const failed = failures.length;
  return {
    handled: read - final - failed,
    final,
    failed,
    suppressed: replay.suppressed,
    failures: failures.slice(0, failuresMax),
    changes,
  };
}

/** What a dry run finds. Nothing of it stays. */
export async function takeSample(of: SampleOf): Promise<Omit<Sample, "atMs">> {
  const { tx } = of.contextOf("");
  const runner = join(tx);
  await tx.query("savepoint tuntas_sample");
  const begunAt = performance.now();
  await beginReplay(runner);
  const found = await tryOut(of);
  // What is checked only at a commit is to be found here, too.
  await tx.query("set constraints all immediate");
  const suppressed = found.suppressed + (await endReplay(runner));
  await tx.query("rollback to savepoint tuntas_sample");
  return { ...found, suppressed, tookMs: Math.round(performance.now() - begunAt) };
}
