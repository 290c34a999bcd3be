// What a task of a machine that runs elsewhere is, and whether it was done before. Pure.
import type { Answer, AnswerFate } from "./contract.ts";

/** A task of an earlier attempt at the same visit, as it was left. */
export interface Earlier {
  readonly redrives: number;
  readonly retries: number;
  readonly answer: Answer | undefined;
  readonly fate: AnswerFate | "waiting" | "answered";
}

type Rank = Pick<Earlier, "redrives" | "retries">;

const isBefore = (a: Rank, b: Rank): boolean =>
  a.redrives < b.redrives || (a.redrives === b.redrives && a.retries < b.retries);

/** Only what is tried again can have been done before. */
export const isRepeated = ({ redrives, retries }: Rank): boolean => redrives + retries > 0;

const succeeded = ({ answer }: Earlier): boolean => answer !== undefined && "output" in answer;

/**
 * The answer to give again, without the work. A success that the machine did not take is this visit's: it timed out before it
 * was told. One that it took is this visit's only after a redrive, where what came behind the task had failed. Items of a Map
 * that are alike in everything have one visit; so the attempts of the last rank before this one must all agree.
 */
export function repeatOf(message: Rank, rows: readonly Earlier[]): Answer | undefined {
  const earlier = rows.filter((row) => isBefore(row, message));
  const untaken = earlier.find((row) => succeeded(row) && row.fate !== "accepted");
  if (untaken) return untaken.answer;
  const last = earlier.filter((row) => !earlier.some((other) => isBefore(row, other)));
  const [first] = last;
  if (!first?.answer) return undefined;
  if (last.every(succeeded)) return first.redrives < message.redrives ? first.answer : undefined;
  const isFinal = last.every(({ answer }) => answer !== undefined && !("output" in answer) && answer.final);
  return isFinal && first.redrives === message.redrives ? first.answer : undefined;
}
