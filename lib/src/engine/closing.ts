// Ending in the reverse order of the beginning: each thing is closed before what it stands on.

export interface Closing {
  /** Runs at the end, before everything that was added earlier. */
  add(step: () => unknown): void;
  /** Runs all steps, once, however often it is called; a step that fails does not keep the others from running. */
  close(): Promise<void>;
}

export function makeClosing(): Closing {
  const steps: (() => unknown)[] = [];
  let closed: Promise<void> | undefined;

  async function run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of steps.toReversed()) {
      try {
        await step();
      } catch (cause) {
        failures.push(cause);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    add: (step) => void steps.push(step),
    close: () => (closed ??= run()),
  };
}
