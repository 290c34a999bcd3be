// From a change of state to people. Announcements go through the outbox: written with the change, delivered after the
// commit, at least once, with a key to tell repeats by; a slow receiver keeps nobody waiting.
import { spawn } from "node:child_process";
import type { Announcement, Target } from "../engine/target.ts";
import type { NewAnnouncement } from "../outbox/contract.ts";
import { httpTarget } from "../outbox/index.ts";
import type { Sql } from "../pg/contract.ts";
import type { AlarmDefinition, AlarmState, Notify } from "./contract.ts";
import { alarmErrors } from "./contract.ts";
import { readDefinitions } from "./store.ts";

export const webhookKind = "alarm-webhook";
export const commandKind = "alarm-command";
/** The name under which shipped alarms announce, where TUNTAS_ALARM_WEBHOOK gives an address. */
const everyAlarm = "(every alarm)";

/** What a receiver gets, as JSON. */
export interface AlarmAnnouncement {
  readonly alarm: string;
  readonly subject: string;
  readonly state: AlarmState;
  readonly previous: AlarmState;
  readonly at: string;
  readonly value: number | null;
  readonly reason: string;
  readonly severity: string;
  readonly owner: string;
  readonly runbook: string;
  /** True where a person tries the way. */
  readonly test: boolean;
}

const nameOf = (alarm: string, index: number): string => `${alarm}/${index}`;

const targetOf = (alarm: string, notify: Notify, index: number) =>
  "target" in notify
    ? notify.target
    : { kind: "webhook" in notify ? webhookKind : commandKind, name: nameOf(alarm, index) };

/** The announcements of a change, one for each receiver; those of one subject keep their order. */
export function announcementsOf(
  { name, options }: AlarmDefinition,
  announcement: AlarmAnnouncement,
): NewAnnouncement[] {
  const declared = options.notify.map((notify, index) => targetOf(name, notify, index));
  const fallback = process.env.TUNTAS_ALARM_WEBHOOK ? [{ kind: webhookKind, name: everyAlarm }] : [];
  const payload = JSON.stringify(announcement);
  const key = `${name} ${announcement.subject}`;
  return (declared.length > 0 ? declared : fallback).map((target) => ({
    target,
    key,
    type: "tuntas.alarm",
    payload,
  }));
}

async function addressOf(sql: Pick<Sql, "run">, name: string): Promise<Extract<Notify, { webhook: string }>> {
  if (name === everyAlarm && process.env.TUNTAS_ALARM_WEBHOOK)
    return { webhook: process.env.TUNTAS_ALARM_WEBHOOK };
  const slash = name.lastIndexOf("/");
  const definitions = await readDefinitions(sql);
  const found = definitions.find((each) => each.name === name.slice(0, slash));
  const notify = found?.options.notify[Number(name.slice(slash + 1))];
  if (notify && "webhook" in notify) return notify;
  throw alarmErrors.error("TUNTAS_ALARM_UNKNOWN", `no alarm declares the webhook ${name} any more`);
}

/** Delivers to webhooks of declared alarms; any process can, also while the declaring application is down. */
export const webhookTarget = (sql: Pick<Sql, "run">): Target => ({
  async deliver(announcement, signal) {
    const { webhook, headers = {} } = await addressOf(sql, announcement.target.name);
    const endpoint = httpTarget({ url: webhook, headers });
    if ("deliver" in endpoint) return endpoint.deliver(announcement, signal);
  },
});

function run(
  [file, ...args]: readonly [string, ...string[]],
  { payload, eventId }: Announcement,
  signal: AbortSignal,
) {
  return new Promise<void>((resolve, reject) => {
    const env = { ...process.env, TUNTAS_EVENT_ID: eventId };
    const child = spawn(file, args, { stdio: ["pipe", "ignore", "ignore"], signal, env });
    const refuse = (why: string) => reject(alarmErrors.error("TUNTAS_ALARM_COMMAND", `${file}: ${why}`));
    child.on("error", (cause) => refuse(cause.message));
    child.on("close", (code, by) => (code === 0 ? resolve() : refuse(`ended with ${by ?? code}`)));
    child.stdin.on("error", () => undefined); // one that does not read is told nothing, which is its choice
    child.stdin.end(payload);
  });
}

/** Binds the commands of declared alarms, which only a process that declares them runs. */
export function commandTargets(
  definitions: readonly AlarmDefinition[],
): { readonly name: string; readonly target: Target }[] {
  return definitions.flatMap(({ name, options }) =>
    options.notify.flatMap((notify, index) =>
      "command" in notify
        ? {
            name: nameOf(name, index),
            target: {
              deliver: async (announcement: Announcement, signal: AbortSignal) =>
                run(notify.command, announcement, signal),
            },
          }
        : [],
    ),
  );
}
