// A lesson as a newcomer follows it: its files in an empty folder, its commands in its order, on the built package.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openKitchen, type Kitchen } from "../recipes/kitchen.fixture.ts";

const command = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));

export interface Lesson extends Kitchen {
  /** The block in a shell of its own, in which npx runs what was built; what it printed. */
  shell(block: string): Promise<string>;
  /** What a block of `npx tuntas dev` runs, without a watcher in between, so that it can be killed whole; once it is ready. */
  develop(block: string): Promise<ChildProcess>;
}

export async function openLesson(): Promise<Lesson> {
  const kitchen = await openKitchen("lesson");
  const options = {
    cwd: kitchen.folder,
    env: { ...process.env, TUNTAS_PORT: "0", DATABASE_URL: kitchen.url },
  };
  return {
    ...kitchen,
    async shell(block) {
      const npx = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(command)} "$@"; }`;
      const ran = promisify(execFile)("bash", ["-ec", `${npx}\n${block}`], options);
      return (
        await ran.catch((cause: Error & { stdout?: string }) => {
          throw new Error(`${cause.message}\n${cause.stdout}`);
        })
      ).stdout;
    },
    async develop(block) {
      const given = block.trim().split(" ").slice(2);
      const child = spawn(process.execPath, [command, ...given, "--once"], options);
      child.stderr.resume();
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false }))
        if (String(chunk).includes("http://")) break;
      child.stdout.resume();
      return child;
    },
  };
}
