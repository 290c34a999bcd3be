// Structured logs: one JSON line an event, by pino, and a readable one on a terminal. Secrets never get in: what could
// hold one is redacted by name.
import { isatty } from "node:tty";
import pino from "pino";
import { tenth } from "../core/duration.ts";
import { catalogue, isTuntasError } from "../core/error.ts";
import { meantHint } from "../core/nearest.ts";
import { readableLine } from "./log/line.ts";

export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error" | "child" | "flush">;

const secretNames = [
  "password",
  "authorization",
  "token",
  "secret",
  "*.password",
  "*.authorization",
  "*.token",
  "*.secret",
];

function serializeCause(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { code, remedy } = cause as { code?: unknown; remedy?: unknown };
  return {
    message: cause.message,
    ...(code !== undefined && { code }),
    ...(remedy !== undefined && { remedy }),
    // Ours says what to do; of any other one wants to know where it comes from.
    ...(!isTuntasError(cause) && { stack: cause.stack }),
  };
}

/** On standard output, or on standard error where a program's answer stands on the former. */
export type LogPlace = "stdout" | "stderr";

// One for all logs of the process, so that their lines keep their order. Written behind the caller's back, since a write
// is dear; `flush` waits for it, which pino offers only where a minimum is set.
const destinations: Partial<Record<LogPlace, pino.DestinationStream>> = {};
const destinationOf = (place: LogPlace): pino.DestinationStream =>
  (destinations[place] ??= openDestination(place === "stdout" ? 1 : 2));

const written: Record<string, number> = {};

/** What this process has logged, in characters by level: all that a log's place of keeping is paid for. */
export const loggedByLevel = (): Readonly<Record<string, number>> => written;

const levelNames = pino.levels.labels;

/** pino begins each line with the number of its level: `{"level":30,`. */
function countLine(line: string): void {
  const level = levelNames[Number(line.slice(9, 11))] ?? "other";
  written[level] = (written[level] ?? 0) + line.length;
}

function openDestination(dest: 1 | 2): pino.DestinationStream {
  const inner = pino.destination({ dest, sync: false, minLength: 1 });
  const isTerminal = isatty(dest);
  const coloured = process.env.NO_COLOR === undefined;
  const counted = {
    write(line: string) {
      countLine(line);
      return inner.write(isTerminal ? readableLine(line, coloured) : line);
    },
    flush: (done: (cause?: Error) => void) => inner.flush(done),
    flushSync: () => inner.flushSync(),
  };
  return counted;
}

export const logErrors = catalogue({
  TUNTAS_LOG_LEVEL_INVALID: {
    meaning: "The variable TUNTAS_LOG_LEVEL is none of the levels that a log can have.",
    remedy: "Set it to debug, info, warn, error, fatal or silent, or leave it out.",
  },
});

const levels = ["debug", "info", "warn", "error", "fatal", "silent"];

/** Errors: TUNTAS_LOG_LEVEL_INVALID. */
function levelOfEnvironment(): string {
  const level = process.env.TUNTAS_LOG_LEVEL || "info";
  if (levels.includes(level)) return level;
  throw logErrors.error(
    "TUNTAS_LOG_LEVEL_INVALID",
    `TUNTAS_LOG_LEVEL: expected ${levels.join(", ")}, got ${JSON.stringify(level)}${meantHint(level, levels)}`,
  );
}

/** The log of this process; level from `TUNTAS_LOG_LEVEL`, `info` by default. Errors: TUNTAS_LOG_LEVEL_INVALID. */
export function makeLog(fields: Readonly<Record<string, unknown>> = {}, place: LogPlace = "stdout"): Log {
  const options: pino.LoggerOptions = {
    level: levelOfEnvironment(),
    base: fields,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: secretNames,
    serializers: { cause: serializeCause, durationMs: tenth },
  };
  return pino(options, destinationOf(place));
}
