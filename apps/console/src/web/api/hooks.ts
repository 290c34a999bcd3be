// Reads that keep themselves fresh, and acts that refresh them. Polling stops while the tab is hidden.
import {
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import type { ActName, AnswerOf, BodyOf, OutcomeOf, Paged, QueryOf, ReadName } from "../../api/index.ts";
import { act, ApiError, read, type Dated } from "./client.ts";
import { sessionKey } from "./session.ts";

const everyMs = 2000;

/** Asked again and again only where the server may come back by itself. */
const mayRecover = (cause: unknown): boolean =>
  !(cause instanceof ApiError) || cause.problem.status === 0 || cause.problem.status >= 500;

/** A session that has ended shows itself at whatever is read next. */
function onError(cause: unknown): void {
  if (cause instanceof ApiError && cause.problem.status === 401)
    void queryClient.resetQueries({ queryKey: sessionKey });
}

const queryCache = new QueryCache({
  onError: (cause, query) => query.queryKey[0] !== sessionKey[0] && onError(cause),
});

export const queryClient: QueryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: {
      retry: false,
      refetchIntervalInBackground: false,
      refetchOnWindowFocus: true,
      networkMode: "always",
      staleTime: 500,
    },
    mutations: { networkMode: "always" },
  },
});

export interface ReadOptions {
  readonly everyMs?: number | false;
  readonly enabled?: boolean;
}

export function useRead<N extends ReadName>(
  name: N,
  query: QueryOf<N>,
  options: ReadOptions = {},
): UseQueryResult<Dated<AnswerOf<N>>, ApiError> {
  return useQuery({
    queryKey: [name, query],
    queryFn: ({ signal }) => read(name, query, signal),
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) =>
      state.error && !mayRecover(state.error) ? false : (options.everyMs ?? everyMs),
    placeholderData: (before) => before,
  });
}

type PagedName = { [N in ReadName]: AnswerOf<N> extends Paged<unknown> ? N : never }[ReadName];
type ItemOf<N extends PagedName> = AnswerOf<N> extends Paged<infer T> ? T : never;

/** A list that grows as it is scrolled; its pages are read again together. */
export function usePages<N extends PagedName>(
  name: N,
  query: Omit<QueryOf<N>, "after">,
  options: ReadOptions = {},
) {
  const pages = useInfiniteQuery({
    queryKey: [name, "pages", query],
    queryFn: ({ signal, pageParam }) =>
      read(name, { ...query, ...(pageParam !== null && { after: pageParam }) } as QueryOf<N>, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ value }) => (value as Paged<unknown>).next,
    // Everything that was scrolled to would be read again: beyond a few pages the list stands still until it is asked.
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > 3 || (state.error && !mayRecover(state.error))
        ? false
        : (options.everyMs ?? everyMs),
    enabled: options.enabled ?? true,
  });
  const items = pages.data?.pages.flatMap(({ value }) => (value as Paged<ItemOf<N>>).items) ?? [];
  // Asked for again while it is on its way, a page would be read again.
  const mayGoOn = pages.hasNextPage && !pages.isFetchingNextPage;
  const more = mayGoOn ? () => void pages.fetchNextPage() : undefined;
  return { ...pages, items, more, readAtMs: pages.data?.pages[0]?.readAtMs };
}

/** Does something, then reads everything that is on the screen again. */
export function useAct<N extends ActName>(name: N) {
  const client = useQueryClient();
  return useMutation<OutcomeOf<N>, ApiError, BodyOf<N>>({
    mutationFn: (body) => act(name, body),
    onSettled: () => client.invalidateQueries(),
  });
}
