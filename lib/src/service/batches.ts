// A deployment's log as people think of it: batch after batch, each with its instances, their health and their ends.
import type { Batch, BatchInstance, ServiceEvent, StopReason } from "./contract.ts";

type Course = { -readonly [K in keyof BatchInstance]: BatchInstance[K] };

interface Begun {
  readonly atMs: number;
  readonly instances: Course[];
  readonly replaced: string[];
}

const newCourse = (id: string): Course => ({
  id,
  startedAtMs: null,
  healthyAtMs: null,
  stoppedAtMs: null,
  stopReason: null,
});

function apply(course: Course, { event, atMs, detail }: ServiceEvent): void {
  if (event === "started") course.startedAtMs = atMs;
  else if (event === "health" && detail.health === "healthy") course.healthyAtMs ??= atMs;
  else if (event === "stopping" || event === "stopped")
    course.stopReason ??= (detail.stopReason as StopReason | undefined) ?? null;
  if (event === "stopped") course.stoppedAtMs = atMs;
}

/** What happened to the deployment's own instances goes to their batch; earlier ones go with the batch that replaced them. */
export function batchesOf(deploymentId: string, events: readonly ServiceEvent[]): Batch[] {
  const batches: Begun[] = [];
  const courses = new Map<string, Course>();
  for (const event of events) {
    const { instanceId: id, atMs } = event;
    const own = event.deploymentId === deploymentId;
    if (own && event.event === "batch") batches.push({ atMs, instances: [], replaced: [] });
    const batch = batches.at(-1);
    if (id === null || !batch) continue;
    if (!own) {
      if (event.event === "stopping" && event.detail.stopReason === "deployment") batch.replaced.push(id);
      continue;
    }
    const known = courses.get(id) ?? newCourse(id);
    if (!courses.has(id)) batch.instances.push(known);
    courses.set(id, known);
    apply(known, event);
  }
  return batches;
}
