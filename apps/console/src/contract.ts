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
  TUNTAS_CONSOLE_API: {
    meaning: "The application's API, which somebody tried from the console, gave no answer.",
    remedy: "See that the application runs and listens at that address.",
    retryable: true,
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
