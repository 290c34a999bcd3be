// A process of a test's own that tells its parent what it does.
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Child {
  readonly child: ChildProcess;
  readonly heard: readonly any[];
  /** Resolves at a message that matches, also one that has come already. */
  told(matches: (message: any) => boolean): Promise<void>;
}

/** Runs the script with the argument, as JSON; resolves once it has told that it is `ready`, rejects where it ends before. */
export async function forkReady(script: URL, argument: object): Promise<Child> {
  const child = fork(fileURLToPath(script), [JSON.stringify(argument)], {
    env: { ...process.env, TUNTAS_LOG_LEVEL: "silent" },
  });
  const heard: any[] = [];
  const listeners = new Set<() => void>();
  child.on("message", (message) => {
    heard.push(message);
    listeners.forEach((listener) => listener());
  });
  const told = (matches: (message: any) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => heard.some(matches) && resolve();
      listeners.add(look);
      look();
    });
  const ended = new Promise<never>((_, reject) =>
    child.once("exit", (status, signal) =>
      reject(new Error(`it ended before it was ready: ${signal ?? status}`)),
    ),
  );
  await Promise.race([told(({ ready }) => ready), ended]);
  return { child, heard, told };
}
