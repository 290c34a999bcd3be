// The one way to the server: typed by the contract that both sides share.
import type {
  ActName,
  AnswerOf,
  BodyOf,
  OutcomeOf,
  Problem,
  QueryOf,
  ReadName,
  SessionView,
} from "../../api/index.ts";

/** An answer, and when the server read it from the database, by this browser's clock. */
export interface Dated<T> {
  readonly value: T;
  readonly readAtMs: number;
}

export class ApiError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const base = "/console/api/";

const unreachable: Problem = {
  status: 0,
  title: "unreachable",
  code: "unreachable",
  detail: "The server does not answer.",
  remedy: "See that it runs; this page goes on by itself once it does.",
};

async function ask(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(base + path, { ...init, cache: "no-store", credentials: "same-origin" }).catch(
    (cause: unknown) => {
      if (init.signal?.aborted) throw cause;
      throw new ApiError(unreachable);
    },
  );
  if (response.ok) return response;
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  throw new ApiError(problem ?? { ...unreachable, status: response.status });
}

const searchOf = (query: object): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given as [string, string][])}`;
};

export async function read<N extends ReadName>(
  name: N,
  query: QueryOf<N>,
  signal?: AbortSignal,
): Promise<Dated<AnswerOf<N>>> {
  const response = await ask(name + searchOf(query), signal ? { signal } : {});
  const ageMs = Number(response.headers.get("x-tuntas-age-ms") ?? 0);
  return { value: (await response.json()) as AnswerOf<N>, readAtMs: Date.now() - ageMs };
}

let session: Promise<SessionView> | undefined;

/** Who looks. Errors: an ApiError of status 401 where somebody has to sign in first. */
export function readSession(): Promise<SessionView> {
  session = ask("session", {}).then((response) => response.json() as Promise<SessionView>);
  session.catch(() => (session = undefined));
  return session;
}

const post = (name: string, body: object, token: string): Promise<Response> =>
  ask(name, {
    method: "POST",
    headers: { "content-type": "application/json", "x-tuntas-csrf": token },
    body: JSON.stringify(body),
  });

/** Changes something. */
export async function act<N extends ActName>(name: N, body: BodyOf<N>): Promise<OutcomeOf<N>> {
  const { token } = await (session ?? readSession());
  return (await (await post(name, body, token)).json()) as OutcomeOf<N>;
}

export const signIn = (name: string, password: string): Promise<Response> =>
  post("sign-in", { name, password }, "sign-in");

export const signOut = (): Promise<Response> => post("sign-out", {}, "sign-out");
