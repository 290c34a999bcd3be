// The table of processes: from /proc, and from `ps` where there is none.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { factsOfPs, readByPs, readProcesses } from "./processes.ts";

// The layout that the manual of macOS gives to these columns: minutes and hundredths, KiB, and ctime's date.
const macos = `
    1     1  22416  12:42.07 Ss   Mon Nov 24 08:12:01 2025
  388   388 187520 1029:33.44 S    Mon Nov 24 08:12:09 2025
71204 71190      0   0:00.00 Z    Sun Nov 30 23:59:59 2025
71210 71190   3120   0:00.03 R+   Sun Nov 30 23:59:59 2025
`;

test("ps on macOS is read: time beyond the hour, no zombies, the start as identity", () => {
  const minute = 60;
  expect(factsOfPs(macos)).toEqual([
    {
      pid: 1,
      group: 1,
      memoryBytes: 22_416 * 1024,
      cpuSeconds: 12 * minute + 42.07,
      identity: "Mon Nov 24 08:12:01 2025",
    },
    {
      pid: 388,
      group: 388,
      memoryBytes: 187_520 * 1024,
      cpuSeconds: 1029 * minute + 33.44,
      identity: "Mon Nov 24 08:12:09 2025",
    },
    {
      pid: 71_210,
      group: 71_190,
      memoryBytes: 3120 * 1024,
      cpuSeconds: 0.03,
      identity: "Sun Nov 30 23:59:59 2025",
    },
  ]);
});

test("POSIX's times are read, with and without hours and days", () => {
  const seconds = ["00:07", "01:02:03", "2-01:02:03"].map(
    (time) => factsOfPs(`1 1 1 ${time} S Mon Nov 24 08:12:01 2025`)[0]!.cpuSeconds,
  );
  expect(seconds).toEqual([7, 3723, 2 * 86_400 + 3723]);
});

test.runIf(process.platform === "linux")("ps and /proc say the same of a real process", async () => {
  const script = "process.stdout.write('.'); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", script], { detached: true });
  try {
    await once(child.stdout, "data");
    const [byPs, table] = [await readByPs(), await readProcesses()];
    const [one] = byPs.filter(({ pid }) => pid === child.pid);
    const [other] = table.get(child.pid!)!;
    expect(one).toMatchObject({ pid: child.pid, group: other!.group });
    expect(one!.memoryBytes / other!.memoryBytes).toBeCloseTo(1, 0);
    expect(one!.identity).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/);
  } finally {
    child.kill("SIGKILL");
  }
});
