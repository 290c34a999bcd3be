// The console's own errors. What the rooms refuse keeps the room's code.
import { catalogue } from "tuntas";

export const consoleErrors = catalogue({
  TUNTAS_CONSOLE_REQUEST: {
    meaning: "The console was asked something that it cannot read.",
    remedy: "Correct the field that the message names.",
  },
  TUNTAS_CONSOLE_MISSING: {
    meaning: "The console has nothing of that name.",
    remedy: "Start from /console; it may have ended, or been deleted, since the page was drawn.",
  },
  TUNTAS_CONSOLE_HOST: {
    meaning: "A server on this machine alone was asked under a name that is not this machine's.",
    remedy: "Open http://127.0.0.1 or http://localhost with the port.",
  },
  TUNTAS_CONSOLE_FORGED: {
    meaning: "A request that changes something did not come from the console's own pages.",
    remedy: "Send the token of /console/api/session in x-tuntas-csrf, as JSON, from the same origin.",
  },
  TUNTAS_CONSOLE_UNKNOWN: {
    meaning: "Nobody is signed in, or the session has ended.",
    remedy: "Sign in again.",
  },
  TUNTAS_CONSOLE_DENIED: {
    meaning: "The role of whoever asks does not allow this act.",
    remedy: "Ask somebody with the role that the message names.",
  },
  TUNTAS_CONSOLE_FAILED: {
    meaning: "The console met an error that it did not expect.",
    remedy: "Try again; if it repeats, report it with the server's log.",
    retryable: true,
  },
  TUNTAS_CONSOLE_TOO_LARGE: {
    meaning: "A request to the console has a body that is too large.",
    remedy: "Send less at once.",
  },
});
