// Where packages go: a court's registry outside of this application. It takes a package once for a key.
import Fastify, { type FastifyInstance } from "fastify";
import { provider, refusal } from "tuntas/ledger";

interface Receipt {
  readonly receipt: string;
}

const url = (key = ""): string => `${process.env.COURT_URL}/packages/${key}`;

export async function deliverTo(key: string, manifest: string, signal: AbortSignal): Promise<Receipt> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url(key), {
    method: "PUT",
    headers,
    body: JSON.stringify({ manifest }),
    signal,
  });
  if (response.status >= 400 && response.status < 500) throw refusal("COURT_REFUSED", await response.text());
  if (!response.ok) throw new Error(`the court answers ${response.status}`);
  return (await response.json()) as Receipt;
}

/** An answer that was lost is asked for; nothing is sent again before that. */
export const court = provider({
  name: "court",
  timeout: "10s",
  reconcile: {
    async deliver({ key }, signal) {
      const response = await fetch(url(key), { signal });
      if (response.status === 404) return { state: "absent" };
      if (!response.ok) return { state: "unknown" };
      const answer = (await response.json()) as Receipt;
      return { state: "succeeded", response: answer, reference: answer.receipt };
    },
  },
});

export interface Court {
  readonly server: FastifyInstance;
  /** The manifests that it has, by key. */
  readonly taken: ReadonlyMap<string, string>;
  /** What requesters were told, by the notice's id. */
  readonly notices: ReadonlyMap<string, { readonly packageId: string }>;
}

/** A court and the requesters' mailbox to try the example with; sets COURT_URL. */
export async function openCourt(): Promise<Court> {
  const server = Fastify();
  const taken = new Map<string, string>();
  const notices = new Map<string, { packageId: string }>();
  server.post<{ Body: { packageId: string } }>("/notices", async ({ body, headers }) => {
    notices.set(String(headers["idempotency-key"]), body);
    return {};
  });
  type ByKey = { Params: { key: string }; Body: { manifest: string } };
  server.put<ByKey>("/packages/:key", async ({ params: { key }, body }, reply) => {
    if ((taken.get(key) ?? body.manifest) !== body.manifest)
      return reply.code(409).send("there is another one under this key");
    taken.set(key, body.manifest);
    return { receipt: `R-${key}` };
  });
  server.get<ByKey>("/packages/:key", async ({ params: { key } }, reply) =>
    taken.has(key) ? { receipt: `R-${key}` } : reply.code(404).send(),
  );
  process.env.COURT_URL = await server.listen({ host: "127.0.0.1", port: 0 });
  return { server, taken, notices };
}
