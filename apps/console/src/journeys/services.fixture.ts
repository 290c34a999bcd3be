// The shop's long-running processes: one that serves in its first revision, since the second does not start, and one that
// a person has stopped. All of them are real processes of this machine.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Platform } from "tuntas";
import { outputsDefault, runServices, service, type ServiceDefinition } from "tuntas/service";

const script = fileURLToPath(new URL("instance.fixture.mjs", import.meta.url));

const shopService = (name: string, version: string, currency = "EUR"): ServiceDefinition =>
  service(name, {
    kind: "rest",
    run: { module: script },
    version,
    environment: { CURRENCY: currency },
    port: { variable: "PORT" },
    cpu: { request: 128, limit: 1024 },
    memory: { request: 64, limit: 256 },
    stopTimeout: "20s",
    healthCheck: { http: "/readyz", interval: "500ms", timeout: "5s", retries: 3, startPeriod: "30s" },
    rollout: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
      deregistrationDelay: "0s",
    },
    scaling: {
      min: 1,
      max: 3,
      target: { cpuPercent: 300 },
      scaleOutCooldown: "30s",
      scaleInCooldown: "1h",
    },
  });

/** Runs them until it is disposed of. What they print lies below TUNTAS_DATA_DIR, where the console looks for it. */
export async function openServices({ services, ...platform }: Platform): Promise<AsyncDisposable> {
  const before = process.env.TUNTAS_DATA_DIR;
  const folder = mkdtempSync(join(tmpdir(), "tuntas-shop-"));
  process.env.TUNTAS_DATA_DIR = folder;
  const controller = runServices(
    { ...platform, services },
    { host: "shop-1", outputs: outputsDefault(), scaleEveryMs: 1000 },
  );
  const deploy = async (of: ServiceDefinition, actor: string, reason: string) => {
    const { deployment } = await services.deploy(of, { actor, reason, host: "shop-1" });
    return services.settled(deployment.id);
  };
  await Promise.all([
    deploy(shopService("storefront", "2026.11.3"), "dewi", "the autumn release"),
    deploy(shopService("price-feed", "14"), "mira", "the first"),
  ]);
  await services.stop("price-feed", { actor: "mira", reason: "the supplier's API is down until Monday" });
  await services.scale("storefront", 2, { actor: "dewi", reason: "the sale begins" });
  await deploy(shopService("storefront", "2026.11.4", "euro"), "rizal", "prices in the customer's currency");
  const [rolledBack] = (await services.describe("storefront")).deployments;
  await services.settled(rolledBack!.id);
  return {
    async [Symbol.asyncDispose]() {
      await controller.close();
      process.env.TUNTAS_DATA_DIR = before;
      if (before === undefined) delete process.env.TUNTAS_DATA_DIR;
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
