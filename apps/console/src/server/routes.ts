// Every read and every act by its name. Reads are shared among all who watch; acts are not.
import type { ActName, ReadName } from "../api/index.ts";
import { demand, type Who } from "tuntas/access";
import { consoleErrors } from "../contract.ts";
import { makeFields, type Fields } from "./fields.ts";
import type { ActHandler, ActsOf, Needs, ReadHandler, ReadsOf } from "./needs.ts";
import { alarmActs, alarmReads } from "./rooms/alarms.ts";
import { answerReads } from "./rooms/answers.ts";
import { approvalActs, approvalReads } from "./rooms/approvals.ts";
import { backfillActs, backfillReads } from "./rooms/backfills.ts";
import { batchActs, batchReads } from "./rooms/batches.ts";
import { commandActs, commandReads } from "./rooms/commands.ts";
import { deadLetterActs, deadLetterReads } from "./rooms/dead-letters.ts";
import { homeReads } from "./rooms/home.ts";
import { operationActs, operationReads } from "./rooms/operations.ts";
import { panelReads } from "./rooms/panels.ts";
import { queueActs, queueReads } from "./rooms/queues.ts";
import { recordReads } from "./rooms/record.ts";
import { safetyActs, safetyReads } from "./rooms/safety.ts";
import { scheduleActs, scheduleReads } from "./rooms/schedules.ts";
import { seriesReads } from "./rooms/series.ts";
import { serviceActs, serviceReads } from "./rooms/services.ts";
import { streamActs, streamReads } from "./rooms/streams.ts";
import { tryActs, tryReads } from "./rooms/tries.ts";
import { workflowActs, workflowReads } from "./rooms/workflows.ts";

export interface Routes {
  read(name: string, query: Query, who: Who): Promise<{ readonly value: unknown; readonly ageMs: number }>;
  act(name: string, body: Query, who: Who): Promise<unknown>;
}

type Query = Readonly<Record<string, unknown>>;

const missing = (name: string) => consoleErrors.error("TUNTAS_CONSOLE_MISSING", `nothing is called ${name}`);

/** The parts of a query in one order, so that the same question is the same key. */
const keyOf = (name: string, query: Query, { role }: Who): string =>
  JSON.stringify([name, role, Object.entries(query).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

export function makeRoutes(needs: Needs): Routes {
  const reads: ReadsOf<ReadName> = {
    ...homeReads(needs),
    ...queueReads(needs),
    ...deadLetterReads(needs),
    ...safetyReads(needs),
    ...recordReads(needs),
    ...scheduleReads(needs),
    ...seriesReads(needs),
    ...serviceReads(needs),
    ...streamReads(needs),
    ...batchReads(needs),
    ...backfillReads(needs),
    ...answerReads(needs),
    ...panelReads(needs),
    ...workflowReads(needs),
    ...alarmReads(needs),
    ...approvalReads(needs),
    ...operationReads(needs),
    ...commandReads(needs),
    ...tryReads(needs),
  };
  const acts: ActsOf<ActName> = {
    ...queueActs(needs),
    ...deadLetterActs(needs),
    ...safetyActs(needs),
    ...scheduleActs(needs),
    ...serviceActs(needs),
    ...streamActs(needs),
    ...batchActs(needs),
    ...backfillActs(needs),
    ...alarmActs(needs),
    ...approvalActs(needs),
    ...operationActs(needs),
    ...commandActs(needs),
    ...workflowActs(needs),
    ...tryActs(needs),
  };

  return {
    async read(name, query, who) {
      if (!Object.hasOwn(reads, name)) throw missing(name);
      demand(who, "view");
      const handler = reads[name as ReadName] as ReadHandler<ReadName>;
      return needs.shared.get(keyOf(name, query, who), () => handler(makeFields(query), who));
    },
    async act(name, body, who) {
      if (!Object.hasOwn(acts, name)) throw missing(name);
      const { may, run } = acts[name as ActName] as ActHandler<ActName>;
      demand(who, may);
      const fields: Fields = makeFields(body);
      fields.text("reason");
      return run(fields, who).finally(needs.shared.forget);
    },
  };
}
