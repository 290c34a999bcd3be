// What programs ask of queues all day: cheap, and bounded however deep they are.
import type { QueueRecord } from "../contract.ts";
import { defaultScope } from "../contract.ts";
import {
  locateGroup,
  readDepths,
  type Place,
  type QueueDepth,
  type Whereabouts,
} from "../store/whereabouts.ts";
import type { QueueContext } from "./context.ts";

export interface Observer {
  /** The depths of the first 200 queues by name; counts end at 100,000. */
  depths(): Promise<QueueDepth[]>;
  /** Where the message of a group is; undefined where it has ended, or never was. Follows replays, which keep the group. */
  locate(queue: QueueRecord, groupId: string): Promise<Whereabouts | undefined>;
}

const queuesMax = 200;

export const makeObserver = ({ database }: QueueContext): Observer => ({
  depths: () => readDepths(database, defaultScope, queuesMax),
  locate: (queue, groupId) => locateGroup(database, queue.id, groupId),
});

export type { Place, QueueDepth, Whereabouts };
