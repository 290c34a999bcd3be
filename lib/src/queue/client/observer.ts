// What programs ask of queues all day: cheap, and bounded however deep they are.
import type { QueueRecord, Scope } from "../contract.ts";
import {
  listConsumers,
  listProcesses,
  surveyQueues,
  type LiveProcess,
  type QueueConsumer,
  type QueueSurvey,
  type SurveyPage,
} from "../store/survey.ts";
import { countLeft, locateGroup, readLastId, type Place, type Whereabouts } from "../store/whereabouts.ts";
import type { QueueContext } from "./context.ts";

export interface Observer {
  /** Queues with their depth, age, workers and what waits for a person, in the order of their names. */
  survey(scope: Scope, page: SurveyPage): Promise<QueueSurvey[]>;
  /** The same of every queue there is, however many. */
  surveyAll(scope: Scope): Promise<QueueSurvey[]>;
  /** The live processes with a worker of the queue. */
  consumers(queue: QueueRecord): Promise<QueueConsumer[]>;
  /** Every live process on this database. */
  processes(): Promise<LiveProcess[]>;
  /** Where the message of a group is; undefined where it has ended, or never was. Follows replays, which keep the group. */
  locate(queue: QueueRecord, groupId: string): Promise<Whereabouts | undefined>;
  /** Messages of the queue of that name up to this id, or all, wherever they are; a replay keeps the id. Counts end at 100,000. */
  left(
    scope: Scope,
    of: { readonly name: string; readonly through: string | null },
  ): ReturnType<typeof countLeft>;
  /** The id of the message that was made last. */
  lastId(): Promise<string>;
}

const pageMax = 500;

async function surveyAll(database: QueueContext["database"], scope: Scope): Promise<QueueSurvey[]> {
  const all: QueueSurvey[] = [];
  for (let after = ""; ; after = all.at(-1)!.name) {
    const page = await surveyQueues(database, scope, { search: "", after, limit: pageMax });
    all.push(...page);
    if (page.length < pageMax) return all;
  }
}

export const makeObserver = ({ database }: QueueContext): Observer => ({
  survey: (scope, page) => surveyQueues(database, scope, page),
  surveyAll: (scope) => surveyAll(database, scope),
  consumers: (queue) => listConsumers(database, queue.id),
  processes: () => listProcesses(database),
  locate: (queue, groupId) => locateGroup(database, queue.id, groupId),
  left: (scope, of) => countLeft(database, scope, of),
  lastId: () => readLastId(database),
});

export type { LiveProcess, Place, QueueConsumer, QueueSurvey, SurveyPage, Whereabouts };
