// The service that a command names.
import type { Platform } from "tuntas";
import type { Call } from "../../command.ts";
import { withPlatform } from "../../session.ts";

/** Runs `work` with the service of the first argument. Errors: TUNTAS_SERVICE_MISSING. */
export const withService = <T>(
  call: Call,
  work: (platform: Platform, name: string) => Promise<T>,
): Promise<T> => withPlatform((platform) => work(platform, call.argument(0)));
