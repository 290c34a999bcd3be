// Alarms, how they stand, and their runbooks with what the figures say now.
import type { AlarmActs, AlarmReads } from "../../api/index.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const historyMax = 50;

export const alarmReads = ({ platform: { alarms } }: Needs): ReadsOf<keyof AlarmReads> => ({
  alarms: () => alarms.list(),
  "alarm.runbook": (query) => alarms.runbook(query.text("name"), query.optional("subject") ?? ""),
  "alarm.history": (query) =>
    alarms.history({
      name: query.text("name"),
      subject: query.optional("subject") ?? "",
      limit: historyMax,
    }),
});

export const alarmActs = ({ platform: { alarms } }: Needs): ActsOf<keyof AlarmActs> => ({
  "alarm.test": {
    may: "alarm.test",
    async run(body, { name: actor, from }) {
      const announced = await alarms.test(body.text("name"), { actor, from, reason: body.text("reason") });
      return { receivers: announced.length };
    },
  },
});
