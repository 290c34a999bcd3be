// Declaring an HTTP endpoint that announcements go to. It is a target by itself: `add(tx, { target: crm, … })`.
import { toMs } from "../core/duration.ts";
import { unknownOptions, type NamesOf } from "../core/options.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import { isStorable } from "../core/text.ts";
import { got, isText, wrongName, wrongNumber, wrongTime, type Finding } from "../engine/findings.ts";
import type { Target } from "../engine/target.ts";
import type { EndpointDefinition, EndpointOptions } from "./contract.ts";
import { outboxErrors } from "./contract.ts";
import { httpTarget } from "./http.ts";

const nameForm = /^[a-z0-9][a-z0-9-]{0,79}$/;

const optionNames: NamesOf<EndpointOptions> = {
  url: true,
  headers: true,
  timeout: true,
  retry: { refusals: true, base: true, max: true },
  permanentStatus: true,
  duplicateStatus: true,
  owner: true,
  runbook: true,
};

/** What a claimed row may take at most: after 60 s it is somebody else's. */
const timeoutMaxMs = 30_000;

function isHttp(url: unknown): boolean {
  if (typeof url !== "string" || !/^https?:/i.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === "" && password === "";
}

/** The address without what may be secret. */
const bare = (url: unknown): unknown => (typeof url === "string" ? url.replace(/\/\/[^/]*@/, "//…@") : url);

const areStatuses = (list: unknown, [min, max]: readonly [number, number]): boolean =>
  Array.isArray(list) && list.every((each) => Number.isInteger(each) && each >= min && each <= max);

function* wrongRetry(retry: EndpointOptions["retry"] | undefined): Generator<Finding> {
  yield wrongNumber("retry.refusals", retry?.refusals, [1, 1000]);
  yield wrongTime("retry.base", retry?.base, [1, 3_600_000], "1s");
  yield wrongTime("retry.max", retry?.max, [1, 24 * 3_600_000], "5m");
}

function* unowned(options: EndpointOptions): Generator<Finding> {
  const meanings = { owner: "who acts when it refuses something for good", runbook: "what they read first" };
  for (const [field, meaning] of Object.entries(meanings)) {
    const value = options[field as keyof typeof meanings];
    yield !(isText(value) && isStorable(value)) && `${field}: expected ${meaning}, ${got(value)}`;
  }
}

function* findings(name: string, options: EndpointOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, "up to 80 lower-case letters, digits and hyphens");
  const { url, headers = {}, permanentStatus, duplicateStatus = [] } = options;
  yield (
    typeof url !== "function" &&
    !isHttp(url) &&
    `url: expected http(s) without a password, or a function that says it, ${got(bare(url))}`
  );
  const wrongHeader = Object.entries(headers).find(
    ([, value]) => typeof value !== "string" && typeof value !== "function",
  );
  yield (
    wrongHeader &&
    `headers.${wrongHeader[0]}: expected a text, or a function that says it, ${got(wrongHeader[1])}`
  );
  yield wrongTime("timeout", options.timeout, [10, timeoutMaxMs], "5s");
  yield* wrongRetry(options.retry);
  yield* unowned(options);
  yield (
    !areStatuses(permanentStatus, [400, 499]) &&
    `permanentStatus: expected a list of 4xx, which may be empty, ${got(permanentStatus)}`
  );
  yield (
    !areStatuses(duplicateStatus, [200, 499]) &&
    `duplicateStatus: expected a list of statuses, ${got(duplicateStatus)}`
  );
}

function declareEndpoint(name: string, options: EndpointOptions): EndpointDefinition {
  const found = [...findings(name, options ?? {})].filter(Boolean);
  if (found.length > 0)
    throw outboxErrors.error(
      "TUNTAS_OUTBOX_OPTIONS",
      `endpoint ${JSON.stringify(name)}: ${found.join("; ")}`,
    );
  return { kind: "http", name, options, place: placeOfCaller() };
}

/** Declares an endpoint. Errors: TUNTAS_OUTBOX_OPTIONS, which names everything that is missing. */
export const endpoint = declaring(declareEndpoint);

/** The target that a declared endpoint is, with its own limits. */
export function endpointTarget({ options }: EndpointDefinition): Target {
  const { retry, timeout, owner: _, runbook: __, ...rest } = options;
  return {
    ...httpTarget({ ...rest, timeout }),
    timeoutMs: toMs(timeout),
    refusals: {
      refusalsMax: retry.refusals,
      backoff: { baseMs: toMs(retry.base), maxMs: toMs(retry.max) },
    },
  };
}
