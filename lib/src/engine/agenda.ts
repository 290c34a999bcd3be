// What the heartbeat asks the database on behalf of the rooms. All of it is part of the one statement that a process
// sends each second, so that nobody polls for himself: an idle process costs that statement and nothing else.
import { ms } from "../pg/instant.ts";

export interface Agendum {
  /**
   * An SQL expression, evaluated once a second in every process: it must come from the end of an index. `$given` stands
   * for what `given` answers.
   */
  readonly ask: string;
  /** Read before each beat; with the SQL type of its value. */
  readonly given?: { readonly type: string; readonly read: () => unknown };
  /** Gets the answer, as the driver reads it. */
  readonly hear: (answer: unknown) => void;
}

/** In how many ms the instant is (negative: it has passed); null for no instant. */
export const inMs = (instant: string): string => ms(`${instant} - tuntas.now()`);

/** Asks when something is next due, and notes it where there is anything. */
export const dueAgendum = (instant: string, note: (inMs: number) => void): Agendum => ({
  ask: inMs(instant),
  hear: (answer) => {
    if (answer !== null) note(answer as number);
  },
});

/** Asks whether there is work, and wakes where there is. */
export const workAgendum = (rows: string, wake: () => void): Agendum => ({
  ask: `exists (${rows})`,
  hear: (answer) => {
    if (answer === true) wake();
  },
});

/** The beat's further columns; their parameters come after the first `parameters`. */
export function agendaColumns(agenda: readonly Agendum[], parameters: number): string {
  let count = parameters;
  return agenda
    .map(({ ask, given }, index) => {
      const text = given ? ask.replaceAll("$given", `$${++count}::${given.type}`) : ask;
      return `, (${text}) as "answer${index}"`;
    })
    .join("");
}

/** The parameters of `agendaColumns`, as they are now. */
export const givenNow = (agenda: readonly Agendum[]): unknown[] =>
  agenda.flatMap(({ given }) => (given ? [given.read()] : []));
