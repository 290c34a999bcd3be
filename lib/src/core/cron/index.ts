// Cron expressions: what they say, and when they are due in a time zone. Pure: the zones are those of Node's Intl.
export { cronErrors } from "./error.ts";
export { parseExpression, type Expression } from "./expression.ts";
export { leftOut, recurrence, type Recurrence } from "./recurrence.ts";
export { zoneOf, type Zone } from "./zone.ts";
