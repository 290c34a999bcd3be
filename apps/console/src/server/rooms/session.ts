// Who is looking, and what the pages need to know before anything else.
import type { Needs, ReadsOf } from "../needs.ts";

/** What the pages offer; the access room says which of it a role may do. */
const offered = [
  "queue.pause",
  "queue.configure",
  "queue.purge",
  "dlq.replay",
  "dlq.reject",
  "outbox.return",
  "effect.settle",
  "approval.decide",
  "operation.run",
  "operation.approve",
  "operation.abort",
  "workflow.start",
  "workflow.stop",
  "workflow.redrive",
  "message.send",
];

export const sessionReads = ({ access, token, version, links }: Needs): ReadsOf<"session"> => ({
  session: async (_query, { name, role }) => ({
    name,
    role,
    acts: offered.filter((act) => access.may(role, act)),
    token,
    version,
    links: links(),
  }),
});
