// A label for each parcel: one, whatever dies meanwhile.
import { app, queue, rejected, worker } from "tuntas";
import { z } from "zod";

export const parcelLabel = queue("parcel-label", {
  message: z.object({ parcelId: z.string().min(1), country: z.string().length(2) }),
  visibilityTimeout: "60s",
  deadLetter: {
    after: 5,
    retention: "14d",
    owner: "parcel-label-team",
    runbook: "runbooks/parcel-label.md",
  },
});

export const parcelLabelWorker = worker(parcelLabel, {
  idempotencyKey: ({ parcelId }) => parcelId, // two messages about one parcel are one label
  timeout: "20s",
  concurrency: 16,
  async handle({ parcelId, country }, { tx, log }) {
    log.info({ event: "label.begun", parcelId }, "a label is made");
    if (country === "AQ") return rejected({ code: "NO_POST", message: "no post goes to Antarctica" });
    // Commits together with the acknowledgement, or not at all.
    await tx.query("insert into parcel_label.label (parcel_id, country) values ($1, $2)", [
      parcelId,
      country,
    ]);
  },
});

export default app(
  { parcelLabel, parcelLabelWorker },
  { migrations: { schema: "parcel_label", folder: new URL("../migrations/parcel-label/", import.meta.url) } },
);
