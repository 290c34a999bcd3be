// What processes cost: CPU seconds, memory and handles, as Linux counts them.
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";

const ticksASecond = 100;

const statOf = (pid) => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
};

/** CPU seconds of a thread, to the nanosecond; `stat` counts whole ticks of 10 ms. */
const threadSeconds = (pid, thread) =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e9;

/** CPU seconds of a process's threads that live, and of its children that have ended. */
export function cpuSecondsOf(pid) {
  const stat = statOf(pid);
  const ofChildren = (Number(stat[13]) + Number(stat[14])) / ticksASecond;
  return readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + threadSeconds(pid, thread),
    ofChildren,
  );
}

const parentOf = (pid) => Number(statOf(pid)[1]);

/** CPU seconds of a PostgreSQL server: its first process and all below it. */
export function serverCpuSeconds(postmaster) {
  let sum = cpuSecondsOf(postmaster);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (parentOf(name) === postmaster) sum += cpuSecondsOf(name);
    } catch {
      // It has ended since; its parent has its time.
    }
  }
  return sum;
}

export const handlesOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

export function memoryMbOf(pid) {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kb) / 1024;
}

/** How busy everything on this machine is, beside us. */
export const load = () => loadavg()[0].toFixed(1);
