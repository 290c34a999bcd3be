// A service that a command names, or an error that names the nearest.
import { isTuntasError, type Platform, nearest } from "tuntas";
import { serviceErrors } from "tuntas/service";
import type { Call } from "../../command.ts";
import { withPlatform } from "../../session.ts";

/** Runs `work` with the service of the first argument. Errors: TUNTAS_SERVICE_MISSING. */
export const withService = <T>(
  call: Call,
  work: (platform: Platform, name: string) => Promise<T>,
): Promise<T> =>
  withPlatform(async (platform) => {
    const name = call.argument(0);
    try {
      return await work(platform, name);
    } catch (cause) {
      if (!isTuntasError(cause, "TUNTAS_SERVICE_MISSING")) throw cause;
      const all = await platform.services.list();
      const meant = nearest(
        name,
        all.map((service) => service.name),
      );
      if (meant === undefined) throw cause;
      throw serviceErrors.error("TUNTAS_SERVICE_MISSING", `${cause.message}; did you mean ${meant}?`, {
        cause,
      });
    }
  });
