// What a command is: a record that says what it takes, what it does, and how to use it. The parser, the help and
// docs/reference/cli.md all read the same record.
import type { Duration } from "tuntas";
import { toMs } from "tuntas";
import { usageError } from "./errors.ts";

export interface OptionSpec {
  /** The name of the value in the help, such as NAME; absent for a flag. */
  readonly value?: string;
  readonly meaning: string;
  readonly multiple?: boolean;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly required: boolean;
  readonly many?: boolean;
}

/** What a command came to. The document is what `--json` prints, the text what a person reads. */
export interface Answer {
  readonly document: unknown;
  readonly text: string;
  /** 1 where the answer is no, or something was found wrong. */
  readonly status?: 0 | 1;
}

export interface Command {
  /** One or two words: `serve`, `queue list`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Command lines and what they do. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** When the exit status is 1. */
  readonly no?: string;
  /** True where it removes something: it is refused without `--yes`. */
  readonly destructive?: boolean;
  readonly run: (call: Call) => Promise<Answer | undefined>;
}

/** A command line as it was understood. */
export class Call {
  readonly command: Command;
  readonly positionals: readonly string[];
  private readonly values: Readonly<Record<string, unknown>>;

  constructor(command: Command, positionals: readonly string[], values: Readonly<Record<string, unknown>>) {
    this.command = command;
    this.positionals = positionals;
    this.values = values;
  }

  /** The argument at this place; the parser has seen that a required one is there. */
  argument(index: number): string {
    return this.positionals[index]!;
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }

  texts(name: string): readonly string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }

  /** Errors: TUNTAS_CLI_USAGE where it is not given. */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === "") throw this.wrong(`--${name} is required`);
    return value;
  }

  /** A whole number. Errors: TUNTAS_CLI_USAGE. */
  count(
    name: string,
    [least, most]: readonly [number, number] = [1, Number.MAX_SAFE_INTEGER],
  ): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
    throw this.wrong(`--${name}: expected a whole number ${range}, got ${JSON.stringify(value)}`);
  }

  /** The number of a row, as an argument. Errors: TUNTAS_CLI_USAGE. */
  rowId(index: number): string {
    const value = this.argument(index);
    if (/^[1-9]\d{0,17}$/.test(value)) return value;
    throw this.wrong(`expected the number of a row, got ${JSON.stringify(value)}`);
  }

  /** One of some words. Errors: TUNTAS_CLI_USAGE. */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.text(name);
    if (value === undefined || (words as readonly string[]).includes(value)) return value as Word | undefined;
    throw this.wrong(`--${name}: expected ${words.join(", ")}, got ${JSON.stringify(value)}`);
  }

  /** A duration such as 30s. Errors: TUNTAS_CLI_USAGE. */
  durationMs(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    try {
      return toMs(value as Duration);
    } catch {
      throw this.wrong(`--${name}: expected a duration such as 30s or 4d, got ${JSON.stringify(value)}`);
    }
  }

  wrong(message: string): Error {
    return usageError(this.command.name, `tuntas ${this.command.name}: ${message}`);
  }
}
