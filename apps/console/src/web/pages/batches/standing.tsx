// Why a job is where it is, what would move it on, and what its end left: the manifest.
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { JobState, JobView } from "../../../api/index.ts";
import { counted } from "../../furniture/count.tsx";
import { Points } from "../../furniture/points.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { jobTones } from "./badges.tsx";
import { batchHref, jobHref } from "./links.ts";

/** Who brought it there, and why; only where it was a person. */
function Said({ view: { lastAct, movedAtMs }, verb }: { view: JobView; verb: "pause" | "cancel" }) {
  if (lastAct?.action !== `batch.${verb}`) return <Instant ms={movedAtMs} />;
  return (
    <>
      <Instant ms={movedAtMs} />, by <strong>{lastAct.actor}</strong>: {lastAct.reason}
    </>
  );
}

function Failed({ view: { id, failure, partitions, planHash, declared } }: { readonly view: JobView }) {
  const { failed } = partitions;
  return (
    <>
      {failure ?? "Nobody noted why."}. Nothing was promoted.{" "}
      {failed > 0 ? (
        <>
          Mend the cause of <Link href={jobHref(id, "failed")}>what failed</Link>, then retry: only that is
          done again.
        </>
      ) : planHash === null ? (
        "Mend how its partitions are listed, then retry."
      ) : (
        "Mend the cause, then retry: no partition is done again. Where what is staged is wrong, cancel it and start anew."
      )}{" "}
      {declared.owner} answers for it.
    </>
  );
}

const texts: Readonly<Record<JobState, (view: JobView) => ReactNode>> = {
  planning: () => "The list of its partitions is made, twice, and compared.",
  waiting: ({ batch, priority }) => (
    <>
      It waits for its turn: <Link href={batchHref(batch)}>jobs of {batch}</Link> run one at a time, the one
      with the highest priority next; this one has {priority}.
    </>
  ),
  running: ({ partitions: { running, pending }, declared, leftMs }) => (
    <>
      {running} of at most {declared.concurrency} partitions are worked on, {pending} wait
      {leftMs === null ? "." : `; about ${durationText(leftMs)} are left at this pace.`}
    </>
  ),
  promoting: () => "All its partitions are done. What they staged is validated, then promoted in one commit.",
  completed: ({ manifest }) =>
    manifest && (
      <>
        Promoted <Instant ms={manifest.promotedAtMs} />, in one commit with its manifest:{" "}
        {counted(manifest.rows, "row")} of {counted(manifest.partitions, "partition")},{" "}
        <code>{manifest.hash}</code>
      </>
    ),
  failed: (view) => <Failed view={view} />,
  paused: (view) => (
    <>
      Since <Said view={view} verb="pause" />. Nothing more of it is begun until somebody resumes it.
    </>
  ),
  cancelled: (view) => (
    <>
      <Said view={view} verb="cancel" />. Nothing was promoted.
    </>
  ),
};

const titles: Readonly<Partial<Record<JobState, string>>> = {
  running: "How it goes on",
  completed: "What it came to",
  cancelled: "What it came to",
};

export function Standing({ view }: { readonly view: JobView }) {
  const title = titles[view.state] ?? "Why does it not go on?";
  return <Points title={title} points={[[jobTones[view.state], view.state, texts[view.state](view)]]} />;
}
