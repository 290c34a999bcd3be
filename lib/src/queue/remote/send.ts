// Sending to a queue that lives elsewhere: at once, or with the caller's transaction, which announces the message to the
// outbox; the relay then hands it over, at least once, in the order of its group.
import { add } from "../../outbox/client.ts";
import type { Announcement, Receipt, Target } from "../../engine/target.ts";
import { inSchema } from "../../pg/join.ts";
import type { Database } from "../../pg/database.ts";
import type { NewMessage, QueueRecord, Sent } from "../contract.ts";
import type { Sender } from "../client/send.ts";
import { messageOf } from "../client/target.ts";
import { queueSignals } from "../signals.ts";
import type { Remote } from "./contract.ts";

/** The outbox target of messages that were composed for such a queue. */
export const remoteKind = "remote-queue";

async function hand({ id }: QueueRecord, remote: Remote, message: NewMessage): Promise<Sent> {
  const sent = await remote.send(message);
  queueSignals.publish("queue.sent", { queueId: id, count: 1 });
  return sent;
}

export const remoteSender = (
  { schema }: Pick<Database, "schema">,
  remote: Remote,
): Pick<Sender, "send" | "sendIn"> => ({
  send: (queue, message) => hand(queue, remote, message),
  async sendIn(tx, { name }, message) {
    const { messageId, groupId } = message;
    await add(inSchema(tx, schema), {
      target: { kind: remoteKind, name },
      eventId: messageId,
      payload: JSON.stringify(message),
      ...(groupId !== undefined && { key: groupId }),
    });
    return { status: "created", messageId, id: messageId };
  },
});

/** Takes announcements of both kinds: messages composed above, and what is announced to the queue by its name. */
export function remoteTarget(queue: QueueRecord, remote: Remote): Target {
  const read = (announcement: Announcement): NewMessage =>
    announcement.target.kind === remoteKind
      ? (JSON.parse(announcement.payload) as NewMessage)
      : messageOf(queue, announcement);
  return {
    async deliver(announcement): Promise<Receipt> {
      const { status, messageId } = await hand(queue, remote, read(announcement));
      return { status, reference: messageId };
    },
  };
}
