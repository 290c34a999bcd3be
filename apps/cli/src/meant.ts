// The name that was probably meant, where a command names something that is not there.
import { isTuntasError, meantHint, TuntasError, type Platform } from "tuntas";
import { defaultScope } from "tuntas/queue";

type Named = readonly { readonly name: string }[];

const namesBy: Readonly<Record<string, (platform: Platform) => Promise<Named>>> = {
  TUNTAS_SCHEDULE_MISSING: ({ schedules }) => schedules.list(),
  TUNTAS_STREAM_MISSING: ({ streams }) => streams.list(),
  TUNTAS_SERVICE_MISSING: ({ services }) => services.list(),
  TUNTAS_BATCH_MISSING: ({ batches }) => batches.list(),
  TUNTAS_BACKFILL_MISSING: ({ backfills }) => backfills.list(),
  TUNTAS_COMMAND_MISSING: ({ commands }) => commands.list(),
  TUNTAS_WORKFLOW_MISSING: ({ workflows }) =>
    workflows.machines.list(defaultScope, { limit: 1000, offset: 0 }),
};

/** The same error, with the nearest name there is; any other error as it came. */
export async function withMeant(platform: Platform, cause: unknown): Promise<unknown> {
  if (!isTuntasError(cause) || typeof cause.details.name !== "string") return cause;
  const names = (await namesBy[cause.code]?.(platform)) ?? [];
  const hint = meantHint(
    cause.details.name,
    names.map(({ name }) => name),
  );
  if (hint === "") return cause;
  const { code, message, remedy, retryable, details } = cause;
  return new TuntasError(code, `${message}${hint}`, { meaning: "", remedy, retryable }, { cause, details });
}
