// An evidence package from request to receipt. Nothing of it is seen before all of it is there.
import { app, consumer, endpoint, stream, task, workflow } from "tuntas";
import { effect } from "tuntas/ledger";
import { add } from "tuntas/outbox";
import { executionInput, machine, shape, type JobDone } from "tuntas/workflow";
import { z } from "zod";
import { court, deliverTo } from "./court.ts";
import { putFile } from "./files.ts";
import { evidenceParts, gatherParts } from "./gathering.ts";
import { evidencePages, renderPdf } from "./rendering.ts";
import { ids, migrations, team } from "./settings.ts";
import {
  commitPackage,
  filesOf,
  findPackage,
  insertPackage,
  setDelivered,
  setFailed,
  type NewPackage,
  type Tx,
} from "./store.ts";

/** Who hears of a package that is ready. */
export const requesters = endpoint("requesters", {
  url: () => process.env.COURT_URL && `${process.env.COURT_URL}/notices`,
  timeout: "5s",
  retry: { refusals: 10, base: "1s", max: "5m" },
  permanentStatus: [410, 422],
  ...team,
});

const event = z.enum(["requested", "committed", "delivered", "failed"]);

export const packageEvents = stream("package-events", {
  record: z.object({ packageId: z.string(), event }),
  partitions: 4,
  key: "package id: what becomes of a package is seen in its order",
  retention: "30d",
  ...team,
});

const tell = (tx: Tx, packageId: string, what: z.infer<typeof event>) =>
  packageEvents.append({ packageId, event: what }, { key: packageId, tx });

export const auditTrail = consumer(packageEvents, {
  name: "audit-trail",
  from: "start",
  batch: 100,
  onBadRecord: "park",
  retry: { attempts: 5 },
  timeout: "20s",
  lagWithin: "1m",
  handle: ({ id, appendedAtMs, value }, { tx }) =>
    tx.query(
      `insert into evidence.audit (record, package_id, event, at) values ($1, $2, $3, to_timestamp($4::float8 / 1000))
       on conflict (record) do nothing`,
      [id, value.packageId, value.event, appendedAtMs],
    ),
});

/** Every file with its hash, in a file that has one itself: from here on the package is whole, and what it is. */
const commitAll = task({
  input: ids,
  idempotent: true,
  async handle({ packageId }, { tx }) {
    const { caseId, requestedBy } = (await findPackage(tx, packageId))!;
    const files = await filesOf(tx, packageId);
    const manifest = { packageId, caseId, requestedBy, files };
    const { sha256 } = await putFile(Buffer.from(JSON.stringify(manifest, undefined, 2)));
    await commitPackage(tx, packageId, sha256);
    await tell(tx, packageId, "committed");
    return { files: files.length };
  },
});

/** Outside: the intent is on record before the call, and an answer that was lost is asked for. */
const deliver = task({
  input: ids,
  idempotent: true,
  timeout: "30s",
  async handle({ packageId }, context) {
    const { manifest } = (await findPackage(context.database, packageId))!;
    const { response } = await effect(
      context,
      {
        provider: court,
        operation: "deliver",
        key: packageId,
        subject: packageId,
        request: { manifest },
        reference: ({ receipt }: { receipt: string }) => receipt,
      },
      ({ key, signal }) => deliverTo(key, manifest!, signal),
    );
    await setDelivered(context.tx, packageId, response.receipt);
    await tell(context.tx, packageId, "delivered");
    return { receipt: response.receipt };
  },
});

const markFailed = task({
  input: z.object({ packageId: z.string(), failure: z.string() }),
  idempotent: true,
  async handle({ packageId, failure }, { tx }) {
    await setFailed(tx, packageId, failure);
    await tell(tx, packageId, "failed");
  },
});

/** By the outbox: told after the commit, again until it is taken. */
const notify = task({
  input: ids,
  idempotent: true,
  async handle({ packageId }, { tx }) {
    const { requestedBy, status } = (await findPackage(tx, packageId))!;
    const payload = JSON.stringify({ packageId, requestedBy, status });
    await add(tx, { target: requesters, key: packageId, type: "PackageReady", payload });
  },
});

/** As long as a registry may be closed. */
const untilDelivered = [
  { errors: ["States.TaskFailed", "States.Timeout"], interval: "5s", attempts: 500, intervalMax: "10m" },
] as const;

export const evidencePackage = workflow("EvidencePackage", {
  accepts: { "workflow-unreconciled": "row, execution and steps are each one commit" },
  definition: machine({ input: ids })
    .aside(shape<{ readonly packageId: string; readonly failure: string }>(), (flow) =>
      flow.task("Mark failed", markFailed).fail("Failed", { error: "PackageFailed" }),
    )
    // One branch, so that one Catch is for all of it.
    .parallel("Make the package", [
      (flow) =>
        flow
          .callback("Gather the parts", gatherParts, {
            returns: shape<JobDone>(),
            timeout: "1h",
            input: executionInput,
          })
          .callback("Render the PDF", renderPdf, {
            returns: shape<JobDone>(),
            timeout: "2h",
            input: executionInput,
          })
          .task("Commit the package", commitAll, { input: executionInput })
          .task("Deliver it", deliver, { input: executionInput, retry: untilDelivered })
          .task("Notify", notify, { input: executionInput })
          .end(),
    ])
    .catch(
      ["States.ALL"],
      { output: ($) => ({ packageId: $.context.Execution.Input.packageId, failure: $.error.Error }) },
      (flow) => flow.next("Mark failed"),
    )
    .end(),
});

/** The request, its first record and its process are one commit. */
export async function request(tx: Tx, asked: NewPackage): Promise<void> {
  await insertPackage(tx, asked);
  await tell(tx, asked.packageId, "requested");
  await evidencePackage.start({ packageId: asked.packageId }, { name: asked.packageId, tx });
}

export default app(
  { packageEvents, auditTrail, evidenceParts, evidencePages, evidencePackage, court, requesters },
  { migrations },
);

/** What the renderer runs: pages, and nothing else. */
export const renderer = app({ evidencePages }, { migrations });
