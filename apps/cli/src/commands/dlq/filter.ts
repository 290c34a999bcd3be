// Which dead letters: the options that the commands of this group share.
import type { Platform } from "tuntas";
import type { DeadPlace, TriageFilter } from "tuntas/queue";
import type { Call, OptionSpec } from "../../command.ts";
import { actorOption, findQueue, scopeOf, scopeOptions } from "../../session.ts";

export const filterOptions: Readonly<Record<string, OptionSpec>> = {
  queue: {
    value: "QUEUE",
    meaning: "the queue that they died in, or the dead-letter queue that they lie in",
  },
  place: { value: "PLACE", meaning: "dead (in a dead-letter queue) or quarantined" },
  outcome: { value: "OUTCOME", meaning: "how the last attempt ended: retry, poison, unknown, …" },
  code: { value: "CODE", meaning: "the code of the last failure" },
  fingerprint: {
    value: "TEXT",
    meaning: "the failure's message without its variable parts, as `tuntas dlq list` shows it",
  },
  "schema-version": { value: "VERSION", meaning: "the version of the message" },
  id: { value: "MESSAGE-ID", meaning: "this message", multiple: true },
  since: { value: "WHEN", meaning: "failed last since then: 2h (ago), or 2026-11-29T10:00:00Z" },
  until: { value: "WHEN", meaning: "failed last until then" },
  ...scopeOptions,
};

/** What an operation needs besides: how far, who and why. */
export const operationOptions: Readonly<Record<string, OptionSpec>> = {
  ...filterOptions,
  all: { meaning: "all of them: needed where nothing else chooses" },
  limit: { value: "N", meaning: "at most so many, the oldest first" },
  "dry-run": { meaning: "only say what would be done" },
  reason: { value: "TEXT", meaning: "why, for the record (required)" },
  ...actorOption,
};

function whenMs(call: Call, option: string): number | undefined {
  const value = call.text(option);
  if (value === undefined) return undefined;
  const instantMs = /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instantMs) ? Date.now() - call.durationMs(option)! : instantMs;
}

function placeOf(call: Call): DeadPlace | undefined {
  const place = call.text("place");
  if (place === undefined || place === "dead" || place === "quarantined") return place;
  throw call.wrong(`--place: expected dead or quarantined, got ${JSON.stringify(place)}`);
}

function idsOf(call: Call): readonly string[] | undefined {
  const ids = call.texts("id");
  const bad = ids.find((id) => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id));
  if (bad !== undefined) throw call.wrong(`--id: expected a message id (UUID), got ${JSON.stringify(bad)}`);
  return ids.length === 0 ? undefined : ids;
}

export const filterOf = (call: Call): TriageFilter => ({
  queue: call.text("queue"),
  place: placeOf(call),
  outcome: call.text("outcome"),
  code: call.text("code"),
  fingerprint: call.text("fingerprint"),
  schemaVersion: call.text("schema-version"),
  messageIds: idsOf(call),
  sinceMs: whenMs(call, "since"),
  untilMs: whenMs(call, "until"),
});

/** The same for an operation, which must not mean everything by accident. Errors: TUNTAS_CLI_USAGE. */
export function selectionOf(call: Call): TriageFilter {
  const filter = filterOf(call);
  const chosen = Object.values(filter).some((value) => value !== undefined);
  if (!chosen && !call.flag("all")) throw call.wrong("say which (--queue, --code, --id, …), or --all");
  return filter;
}

/** A mistyped queue has nothing that waits, and would look like good news. Errors: TUNTAS_QUEUE_MISSING. */
export async function checkQueue(platform: Platform, call: Call): Promise<void> {
  const name = call.text("queue");
  if (name !== undefined) await findQueue(platform, scopeOf(call), name);
}
