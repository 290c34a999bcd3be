// The outside to try the example with: a scoring service that can be taken down, and a mailbox that shows what came.
import Fastify, { type FastifyInstance } from "fastify";

type Scoring = "up" | "down" | "slow";

export interface Town {
  readonly server: FastifyInstance;
  /** `down`: it answers 503; `slow`: it does not answer until it is up or down again. */
  setScoring(state: Scoring): void;
  /** Notices by their keys: each is there once. */
  readonly notices: ReadonlyMap<string, { readonly event: string }>;
}

/** Sets SCORING_URL and OFFICERS_URL of this process, where they are not set. */
export async function openTown(): Promise<Town> {
  const server = Fastify();
  const notices = new Map<string, { event: string }>();
  let scoring: Scoring = "up";
  let whoWait: (() => void)[] = [];
  server.post<{ Body: { subject: string } }>("/scores", async ({ body }, reply) => {
    if (scoring === "slow") await new Promise<void>((resolve) => void whoWait.push(resolve));
    if (scoring === "down") return reply.code(503).send();
    return { risk: /threat|danger|fire/i.test(body.subject) ? 95 : 10 };
  });
  server.post<{ Body: { event: string } }>("/notices", async ({ body, headers }) => {
    notices.set(String(headers["idempotency-key"]), body);
    return {};
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  process.env.SCORING_URL ||= url;
  process.env.OFFICERS_URL ||= url;
  return {
    server,
    notices,
    setScoring(state) {
      scoring = state;
      if (state === "slow") return;
      for (const goOn of whoWait) goOn();
      whoWait = [];
    },
  };
}
