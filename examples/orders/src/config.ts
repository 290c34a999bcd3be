// What can be set from outside, read once, with a clear word where a value makes no sense. The README lists it.
import { catalogue, type Duration } from "tuntas";

export const configErrors = catalogue({
  ORDERS_CONFIG: {
    meaning: "An environment variable has a value that makes no sense.",
    remedy: "Correct or unset it; the README lists them all.",
  },
});

const { env } = process;

/** Reads a whole number. Errors: ORDERS_CONFIG. */
export function integer(
  name: string,
  fallback: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const text = env[name];
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw configErrors.error(
    "ORDERS_CONFIG",
    `${name}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`,
  );
}

/** On AWS a queue is named by its URL, whose last part is its name; here the name alone will do. */
const queueName = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

const port = { min: 0, max: 65_535 };

export const listenOptions = () => ({
  host: env.HOST || "127.0.0.1",
  port: integer("PORT", 8080, port),
  variable: "PORT",
});

export const apiConfig = () => ({
  inFlightMax: integer("APP_IN_FLIGHT_MAX", 512, { min: 1, max: 100_000 }),
  budget: `${integer("APP_REQUEST_BUDGET_MS", 10_000, { min: 1, max: 600_000 })}ms` as Duration,
});

export const workerConfig = () => ({
  /** Undefined: no health and metrics page. */
  adminPort: env.APP_ADMIN_PORT ? integer("APP_ADMIN_PORT", 0, port) : undefined,
});

export const queueConfig = {
  name: queueName(env.APP_QUEUE_URL || "order-work"),
  visibilityTimeout: `${integer("APP_VISIBILITY_TIMEOUT_SECONDS", 60, { min: 0, max: 43_200 })}s` as Duration,
  receivesMax: integer("APP_MAX_RECEIVES", 5, { min: 1, max: 1000 }),
  /** Orders that one worker process handles at a time. */
  messagesMax: integer("APP_MAX_MESSAGES", 5, { min: 1, max: 1000 }),
};
