// Two packers, and what becomes of the parcels of one that is killed.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Platform } from "tuntas";
import { defaultScope } from "tuntas/queue";
import { parcels } from "./shop.ts";

export interface Packers {
  /** Kills the one that packs most, with SIGKILL, and tells how its parcels go on. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL("./packer.js", import.meta.url));
const pause = 100;
const patienceMs = 30_000;

interface Packer {
  readonly name: string;
  readonly child: ChildProcess;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

export function startPackers(platform: Platform, say: (text: string) => void): Packers {
  let stopping = false;
  const packers = new Map<string, Packer>(["packer-1", "packer-2"].map((name) => [name, begin(name)]));

  function begin(name: string): Packer {
    const env = { ...process.env, TUNTAS_PACKER: name };
    const child = fork(program, { env, stdio: ["ignore", "inherit", "inherit", "ipc"], detached: true });
    return { name, child };
  }

  /** The parcels in the hands of each process, by its pid. */
  async function held(): Promise<Map<number, string[]>> {
    const queue = await platform.queues.catalog.get(defaultScope, parcels.name);
    const rows = await platform.queues.inspector.browse(queue, { state: "in_flight", limit: 100 });
    const byPid = new Map<number, string[]>();
    for (const { holder, messageId } of rows) {
      const pid = Number(/\(pid (\d+) /.exec(holder ?? "")?.[1] ?? 0);
      byPid.set(pid, [...(byPid.get(pid) ?? []), messageId]);
    }
    return byPid;
  }

  /** Waits until it is so; false where it takes too long. */
  async function until(isSo: () => Promise<boolean>): Promise<boolean> {
    const end = performance.now() + patienceMs;
    while (performance.now() < end && !stopping) {
      if (await isSo()) return true;
      await sleep(pause);
    }
    return false;
  }

  /** The packer with the most parcels, once each has its share of new ones. */
  async function busiest(): Promise<readonly [Packer, string[]] | undefined> {
    await Promise.all(
      Array.from({ length: 6 }, () =>
        parcels.send({ parcelId: `parcel-${Math.random().toString(36).slice(2, 8)}`, seconds: 8 }),
      ),
    );
    let found: readonly [Packer, string[]] | undefined;
    await until(async () => {
      const inHands = await held();
      const [most] = [...packers.values()]
        .map((packer) => [packer, inHands.get(packer.child.pid!) ?? []] as const)
        .toSorted(([, one], [, other]) => other.length - one.length);
      found = most && most[1].length > 0 ? most : undefined;
      return found !== undefined;
    });
    return found;
  }

  async function watch(pid: number, messageIds: readonly string[], killedAt: number): Promise<void> {
    const isTaken = await until(async () => {
      const now = await held();
      const elsewhere = new Set([...now].filter(([other]) => other !== pid).flatMap(([, ids]) => ids));
      return messageIds.every((id) => elsewhere.has(id));
    });
    const seconds = ((performance.now() - killedAt) / 1000).toFixed(1);
    say(
      isTaken
        ? `${messageIds.length} parcels were taken over ${seconds} s later. See Queues, parcel-packing.`
        : "They were not taken over in time.",
    );
  }

  async function kill(): Promise<void> {
    const found = await busiest();
    if (!found) return say("No packer has a parcel to be killed with; try again.");
    const [{ name, child }, messageIds] = found;
    child.kill("SIGKILL");
    const killedAt = performance.now();
    say(`Killed ${name} (process ${child.pid}) with ${messageIds.length} parcels in its hands.`);
    await watch(child.pid!, messageIds, killedAt);
    if (!stopping) packers.set(name, begin(name));
  }

  async function end({ child }: Packer): Promise<void> {
    if (hasEnded(child)) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
    await exited;
    clearTimeout(timer);
  }

  return {
    kill,
    async stop() {
      stopping = true;
      await Promise.all([...packers.values()].map(end));
    },
  };
}
