// Old records put right while the shop is open: a dry run, four eyes, slices with checkpoints, a rate that gives way.
import { app, backfill } from "tuntas";
import { z } from "zod";

export const priceCorrection = backfill("price-correction", {
  // Which records a run is about: without a scope there is no run.
  scope: z.object({ shop: z.string().min(1) }),
  partitions: () => [{ key: "all" }],
  records: {
    table: "price_correction.invoice",
    key: ["issued_at", "id"], // the order that it goes in; an index has it
    columns: ["id", "cents", "fee"],
    where: ({ shop }) => ({ text: "shop = $1", values: [shop] }),
    final: "status = 'paid'", // looked at under a lock: what is paid meanwhile is left alone
  },

  // A slice is one commit: what is written here, the checkpoint and the counts.
  async handle(records, { tx, dryRun, log }) {
    log.info({ event: "slice.begun", records: records.length, dryRun }, "fees are corrected");
    await tx.query(
      `update price_correction.invoice set fee = u.fee
       from unnest($1::bigint[], $2::int[]) as u(id, fee) where invoice.id = u.id`,
      [records.map(({ id }) => id), records.map(({ cents }) => Math.ceil(cents * 0.029))],
    );
  },

  throttle: { perSecond: 5000, slowAbove: { database: "40ms", downstream: "500ms" } },
  abort: { errorShare: 0.001, downstream: "5s" },
  window: "any", // or { from: "21:00", to: "06:00", timeZone: "Asia/Jakarta" }
  async verify({ tx, run }) {
    const { rows } = await tx.query(
      `select count(*)::int as wrong from price_correction.invoice
       where shop = $1 and status <> 'paid' and fee <> ceil(cents * 0.029)`,
      [run.scope.shop],
    );
    return rows[0].wrong === 0 ? [] : [`${rows[0].wrong} invoices have another fee`];
  },
  rollback: {
    plan: "the fee is rounded down again",
    undo: (records, { tx }) =>
      tx.query("update price_correction.invoice set fee = floor(cents * 0.029) where id = any($1)", [
        records.map(({ id }) => id),
      ]),
  },
  timeout: "20s", // of a slice
  concurrency: 1,
  runsOn: "anywhere",
  owner: "price-correction-team",
  runbook: "runbooks/price-correction.md",
});

export default app(
  { priceCorrection },
  {
    migrations: {
      schema: "price_correction",
      folder: new URL("../migrations/price-correction/", import.meta.url),
    },
  },
);
