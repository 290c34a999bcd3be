import { catalogue } from "../error.ts";

export const cronErrors = catalogue({
  TUNTAS_CRON_INVALID: {
    meaning: "A schedule's expression does not say when, or one of its fields does not fit.",
    remedy:
      "Write cron(minutes hours day-of-month month day-of-week year) as for EventBridge Scheduler, rate(5 minutes), at(2026-03-01T09:00:00), or the five fields of crontab; the message names the field.",
  },
  TUNTAS_CRON_NEVER: {
    meaning: "The expression is well formed, but no date between 1970 and 2199 fits it.",
    remedy: "Look at day and month together: 30 February and a fifth Monday of a short month do not exist.",
  },
  TUNTAS_TIME_ZONE_INVALID: {
    meaning: "A time zone is not one that this Node.js knows.",
    remedy: 'Write its IANA name, such as "Asia/Jakarta" or "UTC", or a fixed offset such as "+07:00".',
  },
  TUNTAS_LOCAL_TIME_MISSING: {
    meaning:
      "The clocks of the zone jump over the local time of a one-time schedule, so it would never come.",
    remedy: "Choose a local time before or after the change of the clocks.",
  },
});
