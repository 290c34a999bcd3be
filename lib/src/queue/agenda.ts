// What the queue room asks at each beat: when a delay, a visibility timeout or a move is due, and whether anything is ready
// where somebody sleeps (notifications may be lost).
import { dueAgendum, type Agendum } from "../engine/agenda.ts";
import type { QueueContext } from "./client/context.ts";
import { readyKey, sleepingQueues } from "./client/context.ts";
import { nextDueInstant } from "./store/claim/index.ts";
import { nextMoveInstant } from "./store/move.ts";

const readyQueues = `array(select q from unnest($given) as q where exists (select from tuntas.ready r where r.queue_id = q))`;

export const queueAgenda = ({ waker, due, mailbox }: QueueContext): Agendum[] => [
  mailbox.agendum,
  dueAgendum(`least(${nextDueInstant}, ${nextMoveInstant})`, due.note),
  {
    ask: readyQueues,
    given: { type: "int[]", read: () => sleepingQueues(waker) },
    hear: (queueIds) => (queueIds as number[]).forEach((queueId) => waker.wake(readyKey(queueId))),
  },
];
