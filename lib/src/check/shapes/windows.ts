// Windows that move: scheduled work that asks for "the last day from now" instead of for the window that it was given.
import type { Declared, Sighting } from "../contract.ts";
import { isQuery, isWrite, readHandler } from "../calls.ts";
import { textOf } from "../syntax.ts";

const moving = /\b(now\(\)|current_(?:date|timestamp)|localtimestamp)(?:::\w+)?\s*-/i;

/** Where the text of a statement measures back from now, that text. */
function movingWindow(handle: unknown): string | undefined {
  const texts = (readHandler(handle)?.calls ?? [])
    .filter((call) => isQuery(call) || isWrite(call))
    .map((call) => textOf(call.arguments[0]));
  return texts.map((text) => moving.exec(text)?.[0]).find((found) => found !== undefined);
}

export function checkWindows({ schedules, workers, workflows }: Declared): Sighting[] {
  const works = [
    ...workers.map(({ queue: { kind, name }, options, place }) => ({
      kind,
      name,
      place,
      handles: [options.handle],
    })),
    ...workflows.map(({ kind, name, tasks }) => ({
      kind,
      name,
      place: undefined,
      handles: [...tasks.values()].map(({ handle }) => handle as unknown),
    })),
  ];
  return works.flatMap(({ kind, name, place, handles }) => {
    const by = schedules.find(({ options: { target } }) => target.kind === kind && target.name === name);
    const found = by && handles.map(movingWindow).find((each) => each !== undefined);
    if (found === undefined) return [];
    const message = `${name}: the schedule ${by!.name} gives a window, and a statement measures back from ${found}`;
    return [{ rule: "moving-window" as const, name, place, message }];
  });
}
