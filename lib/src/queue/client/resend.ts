// A dead letter put right: a message with another body goes to where it died, and it ends, in one transaction. So there is
// one of the two at any time, whatever dies between.
import type { Attribute } from "../attributes.ts";
import { composeMessage } from "../compose.ts";
import type { Scope } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { writeAudit } from "../store/audit.ts";
import { readFacts } from "../store/inspect.ts";
import type { Catalog } from "./catalog.ts";
import type { QueueContext } from "./context.ts";
import type { DeadLetter, DeadLetters } from "./dead-letters.ts";
import type { Sender } from "./send.ts";

export interface Correction {
  /** Of the dead letter. */
  readonly messageId: string;
  readonly body: string;
  /** Those of the dead letter where they are not given. */
  readonly attributes?: Readonly<Record<string, string | Attribute>> | undefined;
  /** Who does it and why; both go on the record. */
  readonly actor: string;
  readonly from?: string | undefined;
  readonly reason: string;
}

/** `gone`: it does not wait for a person any more, and nothing was sent. */
export type Resent = { readonly status: "sent"; readonly messageId: string } | { readonly status: "gone" };

/**
 * Errors: TUNTAS_RESEND_TARGET where it cannot go to where it died, and those of a message that the queue does not take.
 */
export type Resend = (scope: Scope, correction: Correction) => Promise<Resent>;

const endedAs = "EDITED_AND_SENT_ANEW";

interface Rooms {
  readonly catalog: Catalog;
  readonly sender: Sender;
  readonly deadLetters: DeadLetters;
}

export function makeResend({ database }: QueueContext, { catalog, sender, deadLetters }: Rooms): Resend {
  /** The new message, and the queue that takes it. */
  async function replacementOf(scope: Scope, letter: DeadLetter, { body, attributes }: Correction) {
    if (letter.queue === null)
      throw queueErrors.error(
        "TUNTAS_RESEND_TARGET",
        `the queue that ${letter.messageId} died in is deleted`,
      );
    const queue = await catalog.get(scope, letter.queue);
    const old = await readFacts(database, letter.id);
    const message = composeMessage(queue, {
      body,
      attributes: attributes ?? (JSON.parse(old?.attributes ?? "{}") as Record<string, Attribute>),
      groupId: letter.groupId ?? undefined,
      // Once, also where somebody asks for it twice.
      ...(queue.fifo && { deduplicationId: `resent-${letter.messageId}` }),
    });
    return { queue, message };
  }

  return async (scope, correction) => {
    const { messageId, actor, from, reason } = correction;
    const [letter] = await deadLetters.page(scope, { messageIds: [messageId] }, "0", 1);
    if (!letter) return { status: "gone" };
    const { queue, message } = await replacementOf(scope, letter, correction);
    const ended = await database.transaction(async (tx) => {
      const [result] = await deadLetters.rejectIn(tx, [letter], endedAs, reason);
      if (result!.outcome !== "done") return false;
      const sent = await sender.sendIn(tx.client, queue, message, scope.account);
      if (sent.status !== "created")
        throw queueErrors.error(
          "TUNTAS_RESEND_TARGET",
          `${messageId} was sent anew before, as ${sent.messageId}`,
        );
      const details = {
        queue: queue.name,
        messageId: sent.messageId,
        messageIds: [messageId],
        ...(from && { from }),
      };
      await writeAudit(tx, { actor, action: "dlq.resend", subject: `message ${messageId}`, reason, details });
      return true;
    });
    if (!ended) return { status: "gone" };
    deadLetters.announceRejected([letter]);
    return { status: "sent", messageId: message.messageId };
  };
}
