// The states of a machine, and where each goes next.
import type { Definition } from "../contract.ts";

export type States = Readonly<Record<string, Definition>>;

/** The states of the machine itself, and of each branch and map in it. */
export function* levelsOf(machine: Definition): Generator<States> {
  const states = (machine.States ?? {}) as States;
  yield states;
  for (const { Iterator, ItemProcessor, Branches } of Object.values(states))
    for (const each of [Iterator, ItemProcessor, ...((Branches as Definition[]) ?? [])])
      if (each) yield* levelsOf(each as Definition);
}

/** Where it may go: on, by a choice, or by a catch. */
export const nextOf = (state: Definition): string[] => {
  const choices = ((state.Choices ?? []) as { Next?: string }[]).concat((state.Catch ?? []) as []);
  return [state.Next, state.Default, ...choices.map(({ Next }) => Next)].filter(
    (next) => typeof next === "string",
  );
};
