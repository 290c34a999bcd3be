// Whether other processes work on this database. Who is alone need not tell anybody what it has sent: a notification costs
// nearly as much as a shared commit. Who comes says so once it listens; that the others have gone is seen by the beat.
import type { Agendum } from "../agenda.ts";

export interface Company {
  readonly agendum: Agendum;
  /** Whether anybody else may be there. */
  isThere(): boolean;
  /** Somebody has come, or may have come unnoticed. */
  came(): void;
}

export function makeCompany(): Company {
  let there = true;
  return {
    // Its own row, and one more; that of a dead process goes when it is taken over.
    agendum: {
      ask: "select count(*) > 1 from (select from tuntas.process limit 2) p",
      hear: (answer) => void (there = answer === true),
    },
    isThere: () => there,
    came: () => void (there = true),
  };
}
