// Who looks, and what they may do. The server decides it again at each act.
import { useQuery } from "@tanstack/react-query";
import type { SessionView } from "../../api/index.ts";
import { type ApiError, readSession } from "./client.ts";

export const sessionKey = ["session"];

export const useSession = () =>
  useQuery<SessionView, ApiError>({ queryKey: sessionKey, queryFn: readSession, staleTime: 60_000 });

/** Whether whoever looks may do this. */
export function useMay(): (act: string) => boolean {
  const acts = useSession().data?.acts ?? [];
  return (act) => acts.includes(act);
}
