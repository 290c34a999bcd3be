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

const usualMs = 2000;

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

/** What is older than this is not now any more, and says so. */
export const oldMs = 10_000;

export interface ReadOptions {
  readonly everyMs?: number | false;
  readonly enabled?: boolean;
  /** Stands beside the page, which is not old because this is. */
  readonly aside?: boolean;
}

/** Figures that are taken less often have a time of their own beside them. */
const metaOf = ({ everyMs = usualMs, aside = false }: ReadOptions) => ({
  live: !aside && everyMs !== false && everyMs < oldMs,
});

/** What is read once is read until there is an answer. */
function nextMs({ everyMs = usualMs }: ReadOptions, error: ApiError | null): number | false {
  if (!error) return everyMs;
  return mayRecover(error) && (everyMs || usualMs);
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
    refetchInterval: ({ state }) => nextMs(options, state.error),
    placeholderData: (before) => before,
    meta: metaOf(options),
  });
}

/** A list, as its frame needs to know it. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** Whether there has been an answer. */
  readonly isRead: boolean;
  readonly hasMore: boolean;
  /** Reads the next page, where there is one and it is not on its way. */
  readonly onEnd?: (() => void) | undefined;
  readonly error: ApiError | null;
}

/** The list that a read answers. */
export function listOf<A extends object, T>(
  { data, error }: UseQueryResult<Dated<A>, ApiError>,
  itemsOf: (answer: A) => readonly T[],
): Listed<T> {
  const answer = data?.value;
  return {
    items: answer ? itemsOf(answer) : [],
    isRead: answer !== undefined,
    hasMore: answer !== undefined && "more" in answer && answer.more === true,
    error,
  };
}

type PagedName = { [N in ReadName]: AnswerOf<N> extends Paged<unknown> ? N : never }[ReadName];
type ItemOf<N extends PagedName> = AnswerOf<N> extends Paged<infer T> ? T : never;

/** A list that grows as it is scrolled; its pages are read again together. */
export function usePages<N extends PagedName>(
  name: N,
  query: Omit<QueryOf<N>, "after">,
  options: ReadOptions = {},
): Listed<ItemOf<N>> {
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
        : (options.everyMs ?? usualMs),
    enabled: options.enabled ?? true,
    meta: metaOf(options),
  });
  // Asked for again while it is on its way, a page would be read again.
  const mayGoOn = pages.hasNextPage && !pages.isFetchingNextPage;
  return {
    items: pages.data?.pages.flatMap(({ value }) => (value as Paged<ItemOf<N>>).items) ?? [],
    isRead: pages.data !== undefined,
    hasMore: pages.hasNextPage,
    onEnd: mayGoOn ? () => void pages.fetchNextPage() : undefined,
    error: pages.error as ApiError | null,
  };
}

export interface Screen {
  /** When the oldest of it was read; undefined before anything was. */
  readonly readAtMs: number | undefined;
  readonly error: ApiError | null;
}

type Answer = Dated<unknown> | { readonly pages: readonly Dated<unknown>[] };
const readAtOf = (answer: Answer): number =>
  "pages" in answer ? Math.min(...answer.pages.map(({ readAtMs }) => readAtMs)) : answer.readAtMs;

/** All that is on the screen and is kept fresh, as one. */
export function lookAtScreen(client: QueryClient): Screen {
  const states = client
    .getQueryCache()
    .findAll({ predicate: ({ observers }) => observers.some(({ options }) => options.meta?.live === true) })
    .map(({ state }) => state);
  const read = states.flatMap(({ data }) => (data === undefined ? [] : [readAtOf(data as Answer)]));
  return {
    readAtMs: read.length === 0 ? undefined : Math.min(...read),
    error: (states.find(({ error }) => error !== null)?.error as ApiError | undefined) ?? null,
  };
}

/** Does something, then reads everything that is on the screen again. */
export function useAct<N extends ActName>(name: N) {
  const client = useQueryClient();
  return useMutation<OutcomeOf<N>, ApiError, BodyOf<N>>({
    mutationFn: (body) => act(name, body),
    onSettled: () => client.invalidateQueries(),
  });
}
