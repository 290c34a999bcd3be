// What a caller of one-off commands sees: what one is declared by, what is asked before a run, how a run stands and what is
// kept of it, and the error codes.
import type { Role } from "../../access/contract.ts";
import type { Duration } from "../../core/duration.ts";
import { catalogue } from "../../core/error.ts";
import type { JobAccount, JobResult } from "../../core/job-result.ts";
import type { HandlerTx } from "../../engine/handler/contract.ts";
import type { Log } from "../../engine/log.ts";
import type { OperationState } from "../contract.ts";

/** What a command may be for. */
export const purposes = [
  "database migration",
  "data repair",
  "small backfill",
  "export or import",
  "diagnostic",
  "tenant migration",
  "index rebuild",
] as const;
export type Purpose = (typeof purposes)[number];

interface Argument {
  readonly meaning: string;
  readonly optional?: true;
}

/** What an argument may be; anything else is refused. */
export type ArgumentSpec = Argument &
  (
    | {
        readonly type: "text";
        /** A regular expression that the whole of it matches. */ readonly pattern: string;
      }
    | { readonly type: "number"; readonly least: number; readonly most: number }
    | { readonly type: "choice"; readonly of: readonly string[] }
    /** `YYYY-MM-DD` */
    | { readonly type: "date" }
    | { readonly type: "flag" }
  );

export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>;
export type ArgumentValue = string | number | boolean;

type ValueOf<A extends ArgumentSpec> = A extends { readonly type: "number" }
  ? number
  : A extends { readonly type: "flag" }
    ? boolean
    : A extends { readonly type: "choice"; readonly of: readonly (infer One)[] }
      ? One
      : string;

export type ArgumentsOf<A extends ArgumentSpecs> = {
  readonly [Name in keyof A]:
    ValueOf<A[Name]> | (A[Name] extends { readonly optional: true } ? undefined : never);
};

/** Values of an argument that somebody may give: some, or those of a range of numbers or dates, its ends included. */
export type Granted =
  readonly ArgumentValue[] | { readonly from: string | number; readonly to: string | number };

/** What a role may run it upon; an argument that it does not name may be any. */
export type Grant = "any" | Readonly<Record<string, Granted>>;

export interface CommandContext {
  /** Holds all that it writes until its end; taken back in a dry run, or where its check finds something wrong. */
  readonly tx: HandlerTx;
  readonly dryRun: boolean;
  readonly run: { readonly id: string; readonly command: string };
  /** The same for every run with these arguments: by it whoever is called finds that it was done. */
  readonly idempotencyKey: string;
  /** Aborts at its timeout, and when a person ends the run. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** What it did, and what it made, which is stored beside the result document. */
export interface CommandAccount extends Omit<JobAccount, "outputLocation"> {
  readonly output?: unknown;
}

export type CommandHandler<A extends ArgumentSpecs> = (
  given: ArgumentsOf<A>,
  context: CommandContext,
) => CommandAccount | Promise<CommandAccount>;

/**
 * A program of a service's released revision. It is given its arguments as `--case-id VALUE`, then `--dry-run=true` or `false`,
 * and writes its result document to the file that `TUNTAS_RESULT` names.
 */
export interface Program {
  readonly service: string | { readonly name: string };
  /** `sha256:` and 64 digits: the `version` of the service's revision, which has been rolled out to its end. */
  readonly digest: string;
  readonly program: readonly [string, ...string[]];
  /** What it gets of the environment of the process that runs it, beside PATH, HOME and what this library gives. */
  readonly environment: readonly string[];
}

export interface CommandOptions<A extends ArgumentSpecs> {
  /** In a sentence. */
  readonly does: string;
  readonly purpose: Purpose;
  /** Which data it touches, in words. */
  readonly scope: string;
  readonly arguments: A;
  readonly run: CommandHandler<A> | Program;
  /** The role of the database that its statements run as: its own, and neither the workers' nor a superuser's. */
  readonly databaseRole: string;
  /** Who may run it, and upon what. */
  readonly mayRun: Readonly<Partial<Record<Role, Grant>>>;
  readonly timeout: Duration;
  /** It takes a dry run, and another person's approval. */
  readonly destructive: boolean;
  /** How it is undone or made good, in words. */
  readonly rollback: string;
  readonly success: {
    /** Which figure or line of a log proves it. */
    readonly measure: string;
    /** Looks at the domain at its end, in the handler's transaction; answers what is wrong, one text each. */
    readonly check: (
      given: ArgumentsOf<A>,
      context: Pick<CommandContext, "tx" | "dryRun" | "signal">,
    ) => readonly string[] | Promise<readonly string[]>;
  };
  /** Why a second run with the same arguments changes nothing more. */
  readonly twice: string;
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
}

export interface CommandDefinition<A extends ArgumentSpecs = ArgumentSpecs> {
  readonly kind: "command";
  readonly name: string;
  readonly options: CommandOptions<A>;
  /** Of the declaration and of what it runs. */
  readonly digest: string;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

/** What code declares of a command, as people see it. */
export interface Policy extends Pick<
  CommandOptions<ArgumentSpecs>,
  | "does"
  | "purpose"
  | "scope"
  | "arguments"
  | "databaseRole"
  | "mayRun"
  | "destructive"
  | "rollback"
  | "twice"
> {
  readonly measure: string;
  readonly timeoutMs: number;
  /** The service, digest and words of a program; null for a handler. */
  readonly program: {
    readonly service: string;
    readonly digest: string;
    readonly words: readonly string[];
  } | null;
}

export interface CommandReport {
  readonly name: string;
  readonly digest: string;
  readonly policy: Policy;
  readonly owner: string;
  readonly runbook: string;
}

/** Something that is asked before a run, or kept after it; null where it is missing. */
export interface Answered {
  readonly question: string;
  readonly answer: string | null;
}

export interface CommandRun {
  readonly id: string;
  readonly command: string;
  readonly digest: string;
  readonly arguments: Readonly<Record<string, ArgumentValue>>;
  readonly dryRun: boolean;
  readonly state: OperationState;
  readonly actor: string;
  readonly reason: string;
  readonly approver: string | null;
  readonly decidedBy: string | null;
  readonly attempts: number;
  readonly timeoutMs: number;
  readonly failure: string | null;
  readonly result: JobResult | null;
  /** What its check found wrong, or the word of a person who looked instead; null where nobody has. */
  readonly invariant: readonly string[] | string | null;
  readonly evidence: string | null;
  readonly closedBy: string | null;
  readonly askedAtMs: number;
  readonly begunAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly closedAtMs: number | null;
}

/** A run with its form: the ten questions before it, the seven records after it. */
export interface RunForm extends CommandRun {
  readonly questions: readonly Answered[];
  readonly records: readonly Answered[];
}

/** One of the ten things that a command is ready by. */
export interface Checked {
  readonly item: string;
  readonly ok: boolean;
  readonly because: string;
}

export interface RunRequest {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly actor: string;
  readonly reason: string;
  /** The role that the actor has. */
  readonly role: Role;
  /** False for a dry run, which is what it is by default: nothing that it writes stays. */
  readonly apply?: boolean | undefined;
  /** Who is to approve it: another person; for a command that is destructive. */
  readonly approver?: string | undefined;
  /** The same key is the same run, however often it is asked for. */
  readonly key?: string | undefined;
  /** Runs it although the same has run before. */
  readonly again?: boolean | undefined;
}

/** `duplicate`: the same has run, or runs, or waits for approval. `conflict`: the key belongs to another request. */
export interface Requested {
  readonly status: "created" | "duplicate" | "conflict";
  readonly run: CommandRun;
}

export const commandErrors = catalogue({
  TUNTAS_COMMAND_OPTIONS: {
    meaning: "The declaration of a one-off command leaves out what must be said, or says what cannot be.",
    remedy:
      "Say what the message names: does, purpose, scope, arguments, run, databaseRole, mayRun, timeout, destructive, rollback, success, twice, owner and runbook have no defaults.",
  },
  TUNTAS_COMMAND_REGISTERED: {
    meaning: "Two commands of an application have the same name, or the same role of the database.",
    remedy: "Give one of them another: a role that two commands share is scoped to neither.",
  },
  TUNTAS_COMMAND_MISSING: {
    meaning: "There is no command of that name, or no run of that number. What no code declares is not run.",
    remedy:
      "See them with `tuntas command list`; a command is there once an application that declares it has started.",
  },
  TUNTAS_COMMAND_ARGUMENTS: {
    meaning: "An argument is missing, is not one that the command takes, or is not what it may be.",
    remedy: "See what it takes with `tuntas command list`.",
  },
  TUNTAS_COMMAND_DENIED: {
    meaning: "Whoever asks has no role that may run the command, or not upon these data.",
    remedy: "Ask somebody who may, or widen `mayRun` in the code, where others review it.",
  },
  TUNTAS_COMMAND_FORM: {
    meaning: "What is asked before a run, or kept after it, is not all there.",
    remedy: "Give what the message names: `tuntas command show RUN` has the whole form.",
  },
  TUNTAS_COMMAND_FOUR_EYES: {
    meaning: "Somebody else than the named approver tried to approve a run, or whoever asks named himself.",
    remedy: "Have the person look at it who is named, or ask anew and name another.",
  },
  TUNTAS_COMMAND_STATE: {
    meaning: "The run is not in a state in which this can be done to it: it ends once, and is not run again.",
    remedy: "See its state with `tuntas command show RUN`; ask for a new run where it is to be tried again.",
  },
  TUNTAS_COMMAND_ROLE: {
    meaning: "The role of the database that a command runs as is missing, is shared, or may do everything.",
    remedy:
      "Make one for the command (`create role … nologin`), grant it what the command needs, and grant it to the role that Tuntas connects as.",
  },
  TUNTAS_COMMAND_DIGEST: {
    meaning:
      "What would run is not what was asked for: the code has changed since, or the program's digest is not that of a released revision.",
    remedy: "Ask for a new run, or deploy the revision of that digest first: a command deploys nothing.",
  },
  TUNTAS_COMMAND_OUTPUT: {
    meaning: "What a command made is longer than is kept.",
    remedy: "Write it to a place of its own, and give that as the output.",
  },
});
