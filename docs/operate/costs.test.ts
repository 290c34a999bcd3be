// The commands of the page run as they stand, by the built command.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { blocksOf, openKitchen } from "../recipes/kitchen.fixture.ts";

const command = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const page = new URL("costs.md", import.meta.url);
const [estimate, given, refused, lab, polling] = blocksOf(page, "sh");

const application = `
import { queue, service, worker } from "tuntas";
import { z } from "zod";
const mail = queue("mail", { message: z.object({ to: z.string() }),
  deadLetter: { after: 5, owner: "mails", runbook: "runbooks/mails.md", retention: "14d" } });
export const mailWorker = worker(mail, { idempotencyKey: "none", timeout: "5s", handle() {} });
export const mailer = service("mailer", {
  kind: "consumer-group", run: { module: "./mailer.js" },
  cpu: { request: 256, limit: 1024 }, memory: { request: 128, limit: 512 }, stopTimeout: "30s",
  healthCheck: { presence: true, interval: "5s", timeout: "4s", retries: 3 },
  rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
  scaling: { min: 2, max: 4, scaleOutCooldown: "30s", scaleInCooldown: "5m",
    target: { queue: mail, backlogPerInstance: 100, oldestAge: "1m", downstream: "none" } },
});
`;

test("K-01 K-02 K-04 K-05 K-06 docs/operate/costs.md", { timeout: 240_000 }, async () => {
  const kitchen = await openKitchen("costs");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "costs-"));
  writeFileSync(join(folder, "app.mjs"), application);
  const tuntas = `tuntas() { ${JSON.stringify(process.execPath)} ${JSON.stringify(command)} "$@"; }`;
  const shell = (block: string) => {
    const env = { ...process.env, DATABASE_URL: kitchen.url };
    return promisify(execFile)("bash", ["-ec", `${tuntas}\n${block}`], { cwd: folder, env });
  };
  try {
    const { stdout } = await shell(estimate!);
    const drivers = stdout.match(/^[a-zA-Z ]+?(?= {2,}\d+\.\d\d )/gm);
    expect(drivers).toEqual([
      "compute",
      "idle polling",
      "queue calls",
      "NAT traffic",
      "logs",
      "metrics",
      "transitions",
      "images",
      "data transfer",
      "load balancers",
      "NAT gateways",
      "endpoints",
    ]);
    expect(stdout).toMatch(/^compute .* declared +2 mailer of 1 vCPU, 2 GB$/m);
    const { work, standing, total, savings } = JSON.parse((await shell(given!)).stdout);
    const costs = [...work, ...standing].map(({ cost }: { cost: number }) => cost);
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(total);
    // 30 million messages, three calls each, four in one.
    expect(work[2]).toMatchObject({ driver: "queue calls", cost: expect.closeTo(9), basis: ["given"] });
    expect(savings[0]).toMatchObject({ driver: "compute", what: expect.stringContaining("mailer") });
    await expect(shell(refused!)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("TUNTAS_COST_EVIDENCE"),
    });
    expect((await shell(lab!)).stdout).toBe("0 services stopped, 0 instances running\n");
    expect((await shell(polling!)).stdout).toMatch(/^polling +60 +180 .*\ncallback +0 +1 /m);
    writeFileSync(join(folder, "next-year.json"), '{ "messges": 1 }');
    await expect(shell(given!.replace(/^echo.*$/m, ""))).rejects.toMatchObject({
      stdout: expect.stringContaining("did you mean messages?"),
    });
  } finally {
    rmSync(folder, { recursive: true });
    await kitchen.close();
  }
});
