import { useRead } from "./hooks.ts";

/** Whether whoever looks may do this; the server decides it again. */
export function useMay(): (act: string) => boolean {
  const acts = useRead("session", {}, { everyMs: 60_000 }).data?.value.acts ?? [];
  return (act) => acts.includes(act);
}
