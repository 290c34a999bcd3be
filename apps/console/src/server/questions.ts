// What an operator asks of a worker, answered from figures. Pure: figures come in, ten answers go out, in a fixed order.
import type { WorkerAnswer } from "../api/index.ts";

/** A figure by now, and what it was before. */
export interface Course {
  readonly now: number;
  readonly before: number;
}

export interface WorkerFigures {
  readonly isDeadLetterQueue: boolean;
  readonly processes: number;
  /** Handlers that may run at once, in all processes. */
  readonly places: number;
  readonly inFlight: number;
  /** Ready messages, now and ten minutes ago. */
  readonly ready: Course;
  readonly oldestSeconds: number;
  /** What the alarm on the oldest message allows. */
  readonly oldestMaxSeconds: number;
  /** Attempts of the last five minutes. */
  readonly attempts: { readonly done: number; readonly failed: number };
  /** Failed attempts as a share, in the last five minutes and in the hour before. */
  readonly failedShare: Course;
  /** Dead letters and quarantined messages, now and an hour ago. */
  readonly dead: Course;
  /** What half of the attempts took at most, lately and in the week; 0 where nothing was measured. */
  readonly middleMs: Course;
  /** How often a process of the queue's was there and then was not, in the last hour. */
  readonly stops: number;
  readonly deployment: Deployment | null;
}

/** The last deployment, and what was done a minute before and after it. */
export interface Deployment {
  readonly text: string;
  readonly minutesAgo: number;
  readonly donePerMinute: Course;
}

const number = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
const percent = (share: number): string => `${number(share * 100)} %`;

function span(seconds: number): string {
  if (seconds < 120) return `${number(seconds)} s`;
  return seconds < 7200 ? `${number(seconds / 60)} min` : `${number(seconds / 3600)} h`;
}

type Answered = readonly [fine: boolean | null, text: string];

const questions: readonly (readonly [question: string, (figures: WorkerFigures) => Answered])[] = [
  [
    "Alive?",
    ({ processes, isDeadLetterQueue }) => {
      if (processes === 0 && isDeadLetterQueue) return [null, "nobody has to work on dead letters"];
      return [processes > 0, processes === 0 ? "no process works on it" : `${number(processes)} at work`];
    },
  ],
  [
    "Processing?",
    ({ attempts: { done }, ready, inFlight, isDeadLetterQueue }) => {
      const waits = ready.now + inFlight;
      if (done > 0) return [true, `${number(done / 5)} done a minute`];
      if (waits === 0 || isDeadLetterQueue) return [null, "nothing to do"];
      return [false, `none done in 5 min, ${number(waits)} there`];
    },
  ],
  [
    "Backlog growing?",
    ({ ready: { now, before } }) => [
      now <= before * 1.2 + 10,
      `${number(now)} now, ${number(before)} ten minutes ago`,
    ],
  ],
  [
    "Oldest too old?",
    ({ oldestSeconds, oldestMaxSeconds, isDeadLetterQueue }) => [
      isDeadLetterQueue ? null : oldestSeconds <= oldestMaxSeconds,
      `${span(oldestSeconds)}; ${span(oldestMaxSeconds)} is the limit`,
    ],
  ],
  [
    "Failures rising?",
    ({ failedShare: { now, before } }) => [
      now <= 0.05 || now <= before * 1.5,
      `${percent(now)} of attempts, ${percent(before)} before`,
    ],
  ],
  [
    "Dead letters rising?",
    ({ dead: { now, before } }) => [now <= before, `${number(now)} now, ${number(before)} an hour ago`],
  ],
  [
    "Downstream slow?",
    ({ middleMs: { now, before } }) => {
      if (now === 0) return [null, "nothing was measured lately"];
      return [
        now <= Math.max(20, before * 2),
        `${number(now)} ms an attempt, ${number(before)} ms in a week`,
      ];
    },
  ],
  [
    "Concurrency used?",
    ({ places, inFlight, ready, processes }) => {
      if (processes === 0) return [null, "nobody is there to use it"];
      const busy = Math.min(inFlight, places);
      return [ready.now < places || busy * 2 >= places, `${number(busy)} of ${number(places)} places busy`];
    },
  ],
  [
    "Stopping often?",
    ({ stops }) => [stops < 3, `${number(stops)} ${stops === 1 ? "stop" : "stops"} in an hour`],
  ],
  [
    "Slower since release?",
    ({ deployment }) => {
      if (!deployment) return [null, "none within a day"];
      const { text, minutesAgo, donePerMinute } = deployment;
      const { now, before } = donePerMinute;
      const paces = `${number(before)} a minute before, ${number(now)} after`;
      return [before < 1 || now >= before * 0.7, `${text}, ${span(minutesAgo * 60)} ago: ${paces}`];
    },
  ],
];

/** The ten answers; `fine` is null where the question does not arise. */
export const answersOf = (figures: WorkerFigures): WorkerAnswer[] =>
  questions.map(([question, answer]) => {
    const [fine, text] = answer(figures);
    return { question, fine, text };
  });
