// The frame of every page: its title, what can be done, and how old what it shows is.
import { useEffect, useState, type ReactNode } from "react";
import type { UseQueryResult } from "@tanstack/react-query";
import { ApiError, type Dated } from "../api/client.ts";
import { Failure } from "./notice.tsx";
import { ageText } from "./time.tsx";

export type Source = Pick<UseQueryResult<Dated<unknown>, Error>, "error"> & {
  readonly readAtMs: number | undefined;
};

/** What a page shows, as its frame needs to know it. */
export const sourceOf = ({ data, error }: UseQueryResult<Dated<unknown>, Error>): Source => ({
  readAtMs: data?.readAtMs,
  error,
});

const oldMs = 10_000;

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

function Fresh({ readAtMs, error }: Source) {
  const now = useNow(1000);
  if (readAtMs === undefined) return null;
  const ageMs = Math.max(0, now - readAtMs);
  const state = error ? "lost" : ageMs > oldMs ? "old" : "live";
  const text = state === "live" ? "Live" : `As of ${ageText(ageMs)} ago`;
  return (
    <span className="fresh" data-state={state}>
      {text}
    </span>
  );
}

function Disconnected({ error, readAtMs }: Source) {
  if (!error || readAtMs === undefined) return null;
  const detail = error instanceof ApiError ? error.problem.detail : error.message;
  return (
    <div className="banner" role="alert">
      <strong>Disconnected.</strong> {detail} What you see is old; this page goes on by itself.
    </div>
  );
}

export interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly trail?: ReactNode;
  readonly acts?: ReactNode;
  readonly source?: Source;
  readonly children?: ReactNode;
}

export function Page({ title, lead, trail, acts, source, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Tuntas`;
  }, [title]);
  const failed = source?.error && source.readAtMs === undefined;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {trail && <span className="trail">{trail}</span>}
          <h1>{title}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        <div className="page-acts">
          {source && <Fresh {...source} />}
          {acts}
        </div>
      </header>
      {source && <Disconnected {...source} />}
      {failed ? <Failure error={source.error as ApiError} /> : children}
    </div>
  );
}
