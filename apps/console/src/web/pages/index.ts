// Every page: where it is, what it is called, and the keys that go there. Each is loaded when it is first looked at.
import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import type { IconName } from "../furniture/icon.tsx";

export interface PageEntry {
  /** In the address, below /console. */
  readonly path: string;
  readonly title: string;
  readonly view: LazyExoticComponent<ComponentType>;
}

export interface NavigationEntry extends PageEntry {
  readonly group: string;
  readonly icon: IconName;
  /** Pressed after g. */
  readonly key: string;
}

/** What stands in the navigation, in its order. */
export const navigation: readonly NavigationEntry[] = [
  {
    path: "/",
    title: "Home",
    group: "",
    icon: "home",
    key: "h",
    view: lazy(() => import("./home/index.tsx")),
  },
  {
    path: "/approvals",
    title: "Approvals",
    group: "",
    icon: "approval",
    key: "a",
    view: lazy(() => import("./approvals/index.tsx")),
  },
  {
    path: "/queues",
    title: "Queues",
    group: "Work",
    icon: "queue",
    key: "q",
    view: lazy(() => import("./queues/index.tsx")),
  },
  {
    path: "/workflows",
    title: "Workflows",
    group: "Work",
    icon: "workflow",
    key: "w",
    view: lazy(() => import("./workflows/index.tsx")),
  },
  {
    path: "/schedules",
    title: "Schedules",
    group: "Work",
    icon: "schedule",
    key: "c",
    view: lazy(() => import("./schedules/index.tsx")),
  },
  {
    path: "/streams",
    title: "Streams",
    group: "Work",
    icon: "stream",
    key: "m",
    view: lazy(() => import("./streams/index.tsx")),
  },
  {
    path: "/batches",
    title: "Batches",
    group: "Work",
    icon: "batch",
    key: "b",
    view: lazy(() => import("./batches/index.tsx")),
  },
  {
    path: "/backfills",
    title: "Backfills",
    group: "Work",
    icon: "backfill",
    key: "f",
    view: lazy(() => import("./backfills/index.tsx")),
  },
  {
    path: "/services",
    title: "Services",
    group: "Work",
    icon: "service",
    key: "s",
    view: lazy(() => import("./services/index.tsx")),
  },
  {
    path: "/processes",
    title: "Processes",
    group: "Work",
    icon: "process",
    key: "p",
    view: lazy(() => import("./processes/index.tsx")),
  },
  {
    path: "/try",
    title: "Try it",
    group: "Work",
    icon: "play",
    key: "y",
    view: lazy(() => import("./try/index.tsx")),
  },
  {
    path: "/dead-letters",
    title: "Dead letters",
    group: "Safety",
    icon: "dead",
    key: "d",
    view: lazy(() => import("./dead-letters/index.tsx")),
  },
  {
    path: "/outbox",
    title: "Outbox",
    group: "Safety",
    icon: "outbox",
    key: "o",
    view: lazy(() => import("./outbox/index.tsx")),
  },
  {
    path: "/effects",
    title: "Side effects",
    group: "Safety",
    icon: "effect",
    key: "e",
    view: lazy(() => import("./effects/index.tsx")),
  },
  {
    path: "/reservations",
    title: "Reservations",
    group: "Safety",
    icon: "reserve",
    key: "r",
    view: lazy(() => import("./reservations/index.tsx")),
  },
  {
    path: "/operations",
    title: "Operations",
    group: "Record",
    icon: "operation",
    key: "t",
    view: lazy(() => import("./operations/index.tsx")),
  },
  {
    path: "/alarms",
    title: "Alarms",
    group: "Record",
    icon: "alarm",
    key: "l",
    view: lazy(() => import("./alarms/index.tsx")),
  },
  {
    path: "/audit",
    title: "Audit",
    group: "Record",
    icon: "audit",
    key: "u",
    view: lazy(() => import("./audit/index.tsx")),
  },
];

/** What one gets to from another page. */
const further: readonly PageEntry[] = [
  { path: "/queues/:name", title: "Queue", view: lazy(() => import("./queues/queue.tsx")) },
  { path: "/schedules/:name", title: "Schedule", view: lazy(() => import("./schedules/schedule.tsx")) },
  { path: "/streams/:name", title: "Stream", view: lazy(() => import("./streams/stream.tsx")) },
  { path: "/batches/:id", title: "Job", view: lazy(() => import("./batches/job.tsx")) },
  { path: "/backfills/:id", title: "Run", view: lazy(() => import("./backfills/run.tsx")) },
  { path: "/services/:name", title: "Service", view: lazy(() => import("./services/service.tsx")) },
  {
    path: "/workflows/run/:arn",
    title: "Execution",
    view: lazy(() => import("./workflows/run.tsx")),
  },
  {
    path: "/workflows/:name",
    title: "Machine",
    view: lazy(() => import("./workflows/machine.tsx")),
  },
];

export const pages: readonly PageEntry[] = [...navigation, ...further];
