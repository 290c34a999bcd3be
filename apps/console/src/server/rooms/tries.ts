// Trying things from the page: sending a message, calling the application's API.
import { defaultScope, composeMessage } from "tuntas/queue";
import type { TryActs, TryReads } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import { callApi, describeApi } from "../apis.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { scopeOf } from "./queues.ts";

const delayMaxSeconds = 900;

export const tryReads = ({ platform: { access, queues }, apis }: Needs): ReadsOf<keyof TryReads> => ({
  async "message.fate"(query) {
    const found = await queues.inspector.explain(query.text("id"));
    if (!found) return { message: null };
    const { state, queue, reasons } = found;
    return { message: { state, queue, reasons } };
  },
  async "payload.schema"(query) {
    const { schema } = await access.payload(query.oneOf("kind", ["queue", "workflow"]), query.text("name"));
    return { schema: schema === null ? null : JSON.parse(schema) };
  },
  apis: () => Promise.all(Object.entries(apis()).map(([name, url]) => describeApi(name, url))),
});

/** Errors: TUNTAS_CONSOLE_MISSING. */
function addressOf({ apis }: Needs, name: string): string {
  const known = apis();
  if (Object.hasOwn(known, name)) return known[name]!;
  throw consoleErrors.error(
    "TUNTAS_CONSOLE_MISSING",
    `api: expected one of ${Object.keys(known).join(", ") || "none, as the console was started without any"}`,
  );
}

export function tryActs(needs: Needs): ActsOf<keyof TryActs> {
  const { access, queues } = needs.platform;
  return {
    "message.send": {
      may: "message.send",
      async run(body, who) {
        const queue = await queues.catalog.get(scopeOf(body), body.text("queue"));
        const message = composeMessage(queue, {
          body: body.text("body"),
          attributes: body.named("attributes"),
          groupId: body.optional("groupId"),
          deduplicationId: body.optional("deduplicationId"),
          delaySeconds: body.integer("delaySeconds", { min: 0, max: delayMaxSeconds }),
        });
        const sent = await queues.sender.send(queue, message, defaultScope.account);
        await access.audit({
          actor: who.name,
          from: who.from,
          action: "message.send",
          subject: `queue ${queue.name}`,
          reason: body.text("reason"),
          details: { status: sent.status, messageId: sent.messageId },
        });
        return sent;
      },
    },
    "api.call": {
      may: "api.call",
      async run(body, who) {
        const api = body.text("api");
        const request = {
          method: body.oneOf("method", ["GET", "POST", "PUT", "PATCH", "DELETE"]),
          path: body.text("path"),
          headers: body.named("headers"),
          body: body.optional("body"),
        };
        const address = addressOf(needs, api);
        // Before the call: it may take place without an answer.
        await access.audit({
          actor: who.name,
          from: who.from,
          action: "api.call",
          subject: `api ${api}`,
          reason: body.text("reason"),
          details: { method: request.method, path: request.path },
        });
        return callApi(address, request);
      },
    },
  };
}
