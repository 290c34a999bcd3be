import type { Requested, RunForm } from "tuntas/operation";
import type { Reasoned } from "./basics.ts";

export type { Requested, RunForm };

export interface CommandReads {
  "command.form": { query: { readonly id: string }; answer: RunForm };
}

interface Asked extends Reasoned {
  readonly name: string;
  /** By name, as text. */
  readonly arguments: Readonly<Record<string, string>>;
  /** A dry run where it is not given. */
  readonly apply?: boolean;
  readonly approver?: string;
  readonly again?: boolean;
}

interface Closing extends Reasoned {
  readonly id: string;
  readonly evidence: string;
  /** What a person saw, where the command's own check was not made. */
  readonly invariant?: string;
}

export interface CommandActs {
  /** Asks for a run, with the role of whoever is signed in. */
  "command.run": { body: Asked; answer: Requested };
  "command.close": { body: Closing; answer: RunForm };
}
