// Fifty-nine pieces of work as people name them, each with what holds of it, under the type that it is listed under.
import type { Trait } from "./choice.ts";
import type { ShapeName } from "./shapes.ts";

interface Listed {
  readonly shape: ShapeName | readonly ShapeName[];
  readonly tenants?: true;
  readonly works: Readonly<Record<string, readonly Trait[]>>;
}

const all = (names: readonly string[], ...traits: Trait[]) =>
  Object.fromEntries(names.map((name) => [name, traits]));

export const corpus: Readonly<Record<string, Listed>> = {
  "request/response API": {
    shape: "api",
    works: all(
      [
        "GET /cases/{id}",
        "POST /enforcement-actions",
        "PATCH /investigations/{id}/assignee",
        "GET /reports/{id}/status",
      ],
      "caller",
    ),
  },
  "async worker": {
    shape: "worker",
    works: all(
      [
        "process uploaded file",
        "generate notice document",
        "send notification",
        "synchronize external registry",
        "recompute case risk score",
        "enrich domain event",
        "retry external API call",
      ],
      "items",
    ),
  },
  "scheduled job": {
    shape: "schedule",
    works: {
      "nightly reconciliation": ["clock", "set"],
      "daily report generation": ["clock"],
      "regulatory deadline reminder": ["clock", "items"],
      "cleanup expired sessions": ["clock"],
      "monthly billing close": ["clock", "set"],
      "SLA breach scanner": ["clock"],
      "retry pending external sync": ["clock", "items"],
    },
  },
  "stream consumer": {
    shape: "stream",
    works: {
      "DynamoDB Streams change processor": ["log"],
      "Kinesis event consumer": ["log"],
      "Kafka/MSK consumer": ["log", "alive"],
      "audit event pipeline": ["log"],
      "CDC processor": ["log"],
      "near-real-time projection updater": ["log"],
    },
  },
  "batch job": {
    shape: ["batch", "backfill"],
    works: {
      "annual archive": ["set"],
      "large CSV import": ["set"],
      "scoring 10 million records": ["set"],
      "ETL transform": ["set"],
      "report rebuild": ["repair", "set"],
      "document conversion at scale": ["set"],
      "evidence package generation": ["set"],
    },
  },
  "durable workflow": {
    shape: ["workflow", "approval"],
    works: {
      "onboarding tenant": ["steps"],
      "enforcement case lifecycle": ["people", "steps"],
      "complaint investigation process": ["people", "steps"],
      "payment settlement": ["steps"],
      "document review and approval": ["people", "steps"],
      "external agency synchronization": ["steps"],
      "appeal process": ["people", "steps"],
    },
  },
  "long-running service": {
    shape: "service",
    works: all(
      [
        "REST API",
        "gRPC service",
        "WebSocket service",
        "Kafka consumer group",
        "scheduler service",
        "rule evaluation engine",
        "tenant-specific processing daemon",
      ],
      "alive",
    ),
  },
  "tenant-isolated workload": {
    shape: ["worker", "workflow", "service", "command"],
    tenants: true,
    works: {
      "per-tenant document processing": ["items"],
      "per-tenant regulatory case partition": ["steps"],
      "premium tenant dedicated capacity": ["alive"],
      "isolated execution for sensitive customer": ["by-hand"],
      "noisy tenant protection": ["items"],
    },
  },
  "platform daemon": {
    shape: "service",
    works: all(
      [
        "log collector",
        "metric agent",
        "node agent",
        "service mesh sidecar/control plane",
        "certificate refresher",
        "policy controller",
        "GitOps controller",
        "cluster autoscaler",
        "admission webhook",
      ],
      "supports",
      "alive",
    ),
  },
};
