// The two processes as services: what each may take, how it is asked whether it is ready, how it is rolled out and scaled.
// Started by `tuntas service run`, deployed by `tuntas service deploy orders-api --app dist/services.js`.
import { app, service } from "tuntas";
import { orderWork } from "./orders.ts";

const rollout = {
  minimumHealthyPercent: 100,
  maximumPercent: 200,
  circuitBreaker: { rollback: true },
} as const;

const healthCheck = {
  http: "/readyz",
  interval: "5s",
  timeout: "4s",
  retries: 3,
  startPeriod: "60s",
} as const;

const limits = {
  cpu: { request: 256, limit: 1024 },
  memory: { request: 128, limit: 512 },
  stopTimeout: "35s",
} as const;

const cooldowns = { scaleOutCooldown: "30s", scaleInCooldown: "5m" } as const;

export const ordersApi = service("orders-api", {
  kind: "rest",
  run: { module: "./api.js" },
  port: { variable: "PORT" },
  ...limits,
  healthCheck,
  rollout,
  scaling: { min: 2, max: 6, target: { cpuPercent: 60 }, ...cooldowns },
});

// What an order takes is written in our own database, whose connections `tuntas budget check` counts.
const target = {
  queue: orderWork,
  backlogPerInstance: 500,
  oldestAge: "2m",
  downstream: "none",
} as const;

export const ordersWorker = service("orders-worker", {
  kind: "consumer-group",
  run: { module: "./worker.js" },
  port: { variable: "APP_ADMIN_PORT" },
  ...limits,
  healthCheck,
  rollout,
  scaling: { min: 1, max: 8, target, ...cooldowns },
});

export default app({ ordersApi, ordersWorker });
