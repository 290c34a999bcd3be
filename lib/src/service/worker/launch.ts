// From a revision to a command line and its environment.
import { resolve } from "node:path";
import type { Instance, Revision } from "../contract.ts";
import { outputOf } from "../output.ts";
import type { Command } from "./processes.ts";

/** What of the memory limit the heap of JavaScript may have; the rest is for code, stacks and buffers. */
const heapShare = 0.75;

function wordsOf({ run, directory, memory }: Revision): string[] {
  if ("command" in run) return [...run.command];
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(memory.limit * heapShare))}`;
  return [process.execPath, heap, resolve(directory, run.module), ...(run.args ?? [])];
}

/** The controller's own, without what npm adds to it, and what tells an instance which it is. */
export function environmentOf(definition: Revision, { id, service, revision, port }: Instance) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    TUNTAS_SERVICE: service,
    TUNTAS_REVISION: definition.version ?? String(revision),
    TUNTAS_INSTANCE: id,
    ...definition.environment,
    ...(definition.portVariable !== null && { [definition.portVariable]: String(port) }),
  };
}

export const commandOf = (definition: Revision, instance: Instance, outputs: string): Command => ({
  words: wordsOf(definition),
  directory: definition.directory,
  environment: environmentOf(definition, instance),
  output: outputOf(outputs, instance),
});
