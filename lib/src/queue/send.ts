// What `send` of a declared queue does: check the message, make its text, hand it to the client.
import { toSeconds } from "../core/duration.ts";
import { describeIssues, type Schema, type SchemaResult } from "../core/schema.ts";
import { keepsBack } from "../engine/handler/replay.ts";
import { composeMessage } from "./compose.ts";
import type { Sent, Suppressed } from "./contract.ts";
import { defaultScope, queueErrors } from "./contract.ts";
import type { Queues } from "./client/index.ts";
import type { QueueDefinition, SendOptions } from "./declaration.ts";
import { isTenant } from "./tenants.ts";

/** The text of what was given: transforms and defaults of the schema apply when it is received. */
function textOf(name: string, message: unknown, { issues }: SchemaResult<unknown>): string {
  if (issues)
    throw queueErrors.error("TUNTAS_MESSAGE_INVALID", `message to ${name}: ${describeIssues(issues)}`);
  const body = JSON.stringify(message) as string | undefined;
  if (body !== undefined) return body;
  throw queueErrors.error(
    "TUNTAS_MESSAGE_INVALID",
    `message to ${name}: expected something that JSON can hold, got ${typeof message}`,
  );
}

/** The group that is asked for, or that of the message's tenant. Whoever asks for another's would be counted there. */
function groupOf(
  { name, options: { tenant } }: QueueDefinition,
  checked: SchemaResult<unknown>,
  groupId: string | undefined,
): string | undefined {
  if (!tenant || checked.issues) return groupId;
  const whose = tenant(checked.value);
  if (isTenant(whose) && (groupId === undefined || groupId === whose)) return whose;
  throw queueErrors.error(
    "TUNTAS_MESSAGE_GROUP",
    `message to ${name}: expected the group of its tenant, ${JSON.stringify(whose)}, of 1 to 128 letters, digits and punctuation; got ${JSON.stringify(groupId ?? whose)}`,
  );
}

interface Ways extends Pick<Queues, "catalog"> {
  readonly sender: Pick<Queues["sender"], "send" | "sendIn">;
  /** Less than the queue takes: what may be sent to it now. */
  readonly sent?: Schema | undefined;
}

/** Errors: TUNTAS_MESSAGE_INVALID where it is taken, and may not be sent now. */
async function refuseUnsendable({ name }: QueueDefinition, sent: Schema, message: unknown): Promise<void> {
  const { issues } = await sent["~standard"].validate(message);
  if (issues)
    throw queueErrors.error(
      "TUNTAS_MESSAGE_INVALID",
      `message to ${name}: this release of a change does not send it: ${describeIssues(issues)}`,
    );
}

/** Checks and sends; in the caller's transaction where `options.tx` is given. */
export async function sendDeclared(
  queues: Ways,
  definition: QueueDefinition,
  message: unknown,
  options: SendOptions,
): Promise<Sent | Suppressed> {
  const { name } = definition;
  const { tx, delay, correlationId, attributes, groupId, deduplicationId } = options;
  const checking = definition.options.message["~standard"].validate(message);
  const checked = checking instanceof Promise ? await checking : checking;
  if (queues.sent && !checked.issues) await refuseUnsendable(definition, queues.sent, message);
  const body = textOf(name, message, checked);
  const queue = queues.catalog.known(defaultScope, name) ?? (await queues.catalog.get(defaultScope, name));
  const wanted = composeMessage(queue, {
    body,
    attributes: correlationId === undefined ? attributes : { ...attributes, correlationId },
    delaySeconds: delay === undefined ? undefined : toSeconds(delay, "send: delay"),
    groupId: groupOf(definition, checked, groupId),
    deduplicationId,
  });
  if (keepsBack()) return { status: "suppressed", messageId: wanted.messageId, id: "" };
  return tx
    ? queues.sender.sendIn(tx, queue, wanted, defaultScope.account)
    : queues.sender.send(queue, wanted, defaultScope.account);
}
