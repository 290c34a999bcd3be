// The frame of every page: its title, what can be done, and how old what it shows is.
import { useEffect, useState, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { ApiError } from "../api/client.ts";
import { lookAtScreen, oldMs, type Screen } from "../api/hooks.ts";
import { Failure } from "./notice.tsx";
import { ageText } from "./time.tsx";

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

function Fresh({ now, screen: { readAtMs, error } }: { readonly now: number; readonly screen: Screen }) {
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

function Disconnected({ error, readAtMs }: Screen) {
  if (!error || readAtMs === undefined) return null;
  return (
    <div className="banner" role="alert">
      <strong>Disconnected.</strong> {error.problem.detail} What you see is old; this page goes on by itself.
    </div>
  );
}

export interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly trail?: ReactNode;
  readonly acts?: ReactNode;
  /** The one thing that the page is about: where it cannot be read, there is no page. */
  readonly read?: { readonly data: unknown; readonly error: ApiError | null };
  readonly children?: ReactNode;
}

export function Page({ title, lead, trail, acts, read, children }: PageProps) {
  const client = useQueryClient();
  const now = useNow(1000);
  const screen = lookAtScreen(client);
  useEffect(() => {
    document.title = `${title} · Tuntas`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {trail && <span className="trail">{trail}</span>}
          <h1>{title}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        <div className="page-acts">
          <Fresh now={now} screen={screen} />
          {acts}
        </div>
      </header>
      <Disconnected {...screen} />
      {read?.error && read.data === undefined ? <Failure error={read.error} /> : children}
    </div>
  );
}
