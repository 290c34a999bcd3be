// A process that stays: always so many copies of it, replaced when one dies, rolled out and back batch by batch.
import { app, service } from "tuntas";

export const priceFeed = service("price-feed", {
  kind: "rest",
  run: { module: "./price-feed.main.js" }, // beside this file when it is built
  version: process.env.GIT_COMMIT ?? "1", // a new one is a new revision
  port: { variable: "PORT" }, // each instance gets a port of its own
  cpu: { request: 256, limit: 1024 }, // 1024 are one processor
  memory: { request: 64, limit: 256 }, // MiB; above the limit it is killed and replaced
  stopTimeout: "30s", // from SIGTERM to SIGKILL
  healthCheck: { http: "/readyz", interval: "5s", timeout: "2s", retries: 3, startPeriod: "30s" },
  rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
  scaling: { min: 2, max: 6, target: { cpuPercent: 60 }, scaleOutCooldown: "30s", scaleInCooldown: "5m" },
});

export default app({ priceFeed });
