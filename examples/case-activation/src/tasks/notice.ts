// The notice: written, handed to the post once, and waited for until its receipt comes back.
import { task } from "tuntas";
import { confirm, effect, provider, renew } from "tuntas/ledger";
import { answerTask } from "tuntas/workflow";
import {
  awaitAcknowledgement as leaveWord,
  holdOpen,
  caseOf,
  findNotice,
  generateNotice as writeNotice,
  markSent,
} from "../store.ts";
import { askPost, postLetter, type Letter } from "../post.ts";
import { caseIds, move } from "./ids.ts";

export const post = provider({
  name: "post",
  timeout: "5s",
  reconcile: { letter: (row) => askPost(row.key) },
});

/** As long as the acknowledgement may take, and a day more for the step after it. */
const holdsFor = "15d";

export const generateNotice = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const { reservationId } = await caseOf(ctx.tx, caseId);
    await move(ctx, { caseId, name: "generateNotice" });
    await writeNotice(ctx.tx, { noticeId: `NOTICE-${caseId}`, caseId });
    await renew(ctx.tx, reservationId!, holdsFor);
  },
});

/** The call comes before the transaction, with its intent on record: a lost answer is asked for, never sent again. */
export const sendNotice = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const noticeId = `NOTICE-${caseId}`;
    const { reference } = await effect(
      ctx,
      {
        provider: post,
        operation: "letter",
        key: noticeId,
        subject: caseId,
        request: { noticeId },
        reference: (letter: Letter) => letter.reference,
      },
      ({ key, signal }) => postLetter(key, signal),
    );
    await markSent(ctx.tx, noticeId, reference!);
    await move(ctx, { caseId, name: "sendNotice" });
  },
});

export const awaitAcknowledgement = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, { tx, tokenReference }) {
    // Else whoever cancels the case at this moment would find nobody who waits.
    await holdOpen(tx, caseId);
    const isThere = await leaveWord(tx, caseId, tokenReference!);
    // It came before anybody waited.
    if (isThere)
      await answerTask(tx, { tokenReference: tokenReference!, output: { status: "ACKNOWLEDGED" } });
  },
});

export const markActive = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const { tx } = ctx;
    await move(ctx, { caseId, name: "activate" });
    const { status, caseNumber, reservationId } = await caseOf(tx, caseId);
    await confirm(tx, reservationId!);
    const { noticeId, deliveryStatus } = (await findNotice(tx, caseId))!;
    const summary = { caseNumber, noticeId, deliveryStatus };
    return { caseId, finalStatus: status, completedAt: new Date().toISOString(), summary };
  },
});
