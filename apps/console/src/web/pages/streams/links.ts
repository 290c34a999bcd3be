import type { ConsumerView } from "../../../api/index.ts";

export const streamHref = (name: string): string => `/streams/${encodeURIComponent(name)}`;

/** A consumer among those of its stream, or what it has parked. */
export const consumerHref = (
  { stream, name }: Pick<ConsumerView, "stream" | "name">,
  view?: "parked",
): string =>
  `${streamHref(stream)}?${view === undefined ? "" : `view=${view}&`}consumer=${encodeURIComponent(name)}`;
