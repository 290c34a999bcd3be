// Which shape a piece of work has: questions in a fixed order, of which the first that is answered with yes decides. The others
// that are answered with yes are shapes of their own inside the same feature.
import { shapes, type ShapeName } from "./shapes.ts";

/** What a question is called on the command line. */
export type Trait =
  | "supports"
  | "clock"
  | "log"
  | "repair"
  | "set"
  | "people"
  | "steps"
  | "by-hand"
  | "caller"
  | "items"
  | "alive";

export interface Question {
  readonly trait: Trait;
  readonly asks: string;
  readonly shape: ShapeName;
  /** Why yes leads there. */
  readonly because: string;
}

export const questions: readonly Question[] = [
  {
    trait: "supports",
    asks: "Does it only support the machines that other work runs on?",
    shape: "service",
    because: "it lives as long as its machine and has no work of its own: a daemon",
  },
  {
    trait: "clock",
    asks: "Is it due by the clock?",
    shape: "schedule",
    because: "each occurrence has a window, so that a late or second run is about the same time",
  },
  {
    trait: "log",
    asks: "Is it a log, in order, which several read, and read again?",
    shape: "stream",
    because: "order and checkpoints are what it is about; where order does not matter it is a worker",
  },
  {
    trait: "repair",
    asks: "Are old records to be put right while everything runs?",
    shape: "backfill",
    because: "it is planned, approved, slow on purpose, and can be stopped in the middle",
  },
  {
    trait: "set",
    asks: "Is it a large set with an end, whose result is seen whole or not at all?",
    shape: "batch",
    because: "partitions are tried again one by one, and promoted together",
  },
  {
    trait: "people",
    asks: "Do people decide in the middle of it?",
    shape: "approval",
    because: "a question has people, a deadline and what happens at it; nothing runs meanwhile",
  },
  {
    trait: "steps",
    asks: "Has it several steps, with waits, or with something to undo?",
    shape: "workflow",
    because: "each step is on the record with its own retry, timeout and undo",
  },
  {
    trait: "by-hand",
    asks: "Does a person run it now and then: a migration, a repair, a diagnosis?",
    shape: "command",
    because: "who, why, with which arguments and with what result are on the record",
  },
  {
    trait: "caller",
    asks: "Does a caller wait for the answer, and is the answer short?",
    shape: "api",
    because: "it answers within its budget; what takes long it only accepts",
  },
  {
    trait: "items",
    asks: "Is it items that have nothing to do with each other?",
    shape: "worker",
    because: "each is tried, retried and laid aside without the others",
  },
  {
    trait: "alive",
    asks: "Must it stay alive: connections, a feed?",
    shape: "service",
    because: "it ends by a signal only, and is replaced when it dies",
  },
];

export const traits: readonly Trait[] = questions.map(({ trait }) => trait);

export interface Choice {
  readonly shape: ShapeName;
  /** The question that decided. */
  readonly by: Question;
  /** Shapes of their own inside the same feature. */
  readonly besides: readonly Question[];
}

/** Undefined where every answer is no. */
export function choose(holds: ReadonlySet<Trait>): Choice | undefined {
  const [by, ...rest] = questions.filter(({ trait }) => holds.has(trait));
  if (by === undefined) return undefined;
  const besides = rest.filter(
    ({ shape }, index) => shape !== by.shape && rest.findIndex((other) => other.shape === shape) === index,
  );
  return { shape: by.shape, by, besides };
}

/** What speaks for it. */
export const reasonFor = (name: ShapeName): string =>
  questions.findLast(({ shape }) => shape === name)!.because;

export const templateOf = (shape: ShapeName): string => `tuntas new ${shape} ${shapes[shape].template}`;
