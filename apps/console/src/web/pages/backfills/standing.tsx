// Why a run is where it is and what would move it on; what slows it; what its verification found; and how it is undone.
import type { ReactNode } from "react";
import type { BackfillRunView, RunState } from "../../../api/index.ts";
import { counted } from "../../furniture/count.tsx";
import { Points, type Point } from "../../furniture/points.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { standingOf } from "./badges.tsx";

/** Since when, and who said so why; where it came there by itself, why is in its failure. */
function Since({ view: { lastAct } }: { readonly view: BackfillRunView }) {
  if (lastAct === null) return null;
  return (
    <>
      {" "}
      Since <Instant ms={lastAct.atMs} />
      {lastAct.actor !== "tuntas" && (
        <>
          , by <strong>{lastAct.actor}</strong>: {lastAct.reason}
        </>
      )}
    </>
  );
}

/** Records a second that it takes now. */
export const takes = ({ perSecond, pace }: BackfillRunView): string =>
  Math.max(1, Math.round(perSecond * pace)).toLocaleString("en");

const isWrong = ({ failure }: BackfillRunView): boolean =>
  failure?.startsWith("TUNTAS_BACKFILL_UNVERIFIED") ?? false;

function troubleText(view: BackfillRunView): string {
  const { failure, declared } = view;
  return isWrong(view)
    ? `${declared.owner} answers for what its verification found; mend it, then verify it again.`
    : `${failure ?? "Nobody noted why"}. ${declared.owner} answers for it; mend the cause, then resume it.`;
}

function pausedText(view: BackfillRunView): string {
  const { pause, declared } = view;
  if (pause === "window")
    return declared.window === "any"
      ? "Its window is closed; it goes on by itself."
      : `It goes on by itself from ${declared.window.from} to ${declared.window.to} ${declared.window.timeZone}.`;
  if (pause === "person") return "Nothing more of it is begun until somebody resumes it.";
  return troubleText(view);
}

const texts: Readonly<Record<RunState, (view: BackfillRunView) => ReactNode>> = {
  planning: () => "Its partitions are listed, twice, and compared, and their records counted.",
  planned: () => "It is tried out next: make a dry run.",
  sampling: () => "It is tried out with some of its records; all of that is taken back.",
  sampled: ({ actor }) => `Another person than ${actor} looks at the dry run and approves it.`,
  approved: ({ approvedBy }) => `Approved by ${approvedBy}. It begins when somebody starts it.`,
  running: (view) => (
    <>
      {takes(view)} records a second
      {view.leftMs === null ? "." : `; about ${durationText(view.leftMs)} are left at this pace.`}
    </>
  ),
  paused: pausedText,
  verifying: () => "All its records are through. What was done is looked at.",
  completed: ({ failed }) =>
    failed === 0
      ? "All its records are through."
      : `All its records are through; ${counted(failed, "record")} failed, and changed nothing.`,
  aborted: ({ failure, handled }) =>
    `${failure ?? "A person ended it."} ${counted(handled, "record")} stay handled; its scope may be planned again.`,
  rolling_back: () => "What was done is undone, from the beginning to the checkpoints.",
  rolled_back: ({ handled }) => `${counted(handled, "record")} were handled and are undone.`,
};

/** Whether something slows it now. */
export const isSlowed = ({ pace, state }: BackfillRunView): boolean =>
  pace < 1 && (state === "running" || state === "rolling_back");

/** What is slow, with how long it takes and how long it may. */
function slowText(view: BackfillRunView): string {
  const { databaseMs, downstreamMs, perSecond, declared } = view;
  const { database, downstream } = declared.policy.slowAbove;
  const seen = [
    databaseMs === null ? [] : `a statement ${durationText(databaseMs)} (slow above ${database})`,
    downstreamMs === null
      ? []
      : `a call of a downstream ${durationText(downstreamMs)} (slow above ${downstream})`,
  ].flat();
  return `It takes ${takes(view)} of ${perSecond.toLocaleString("en")} records a second: ${seen.join(", ")}.`;
}

function verificationOf(view: BackfillRunView): readonly Point[] {
  if (isWrong(view)) return [["danger", "wrong", view.failure]];
  return view.state === "completed" ? [["good", "verified", "Its verification found nothing wrong."]] : [];
}

const undoText = ({ declared: { policy } }: BackfillRunView): string =>
  `${policy.rollback}. ${policy.undo ? "Undo does it record by record, to the checkpoints." : "No undo is declared: it is done by hand."}`;

function pointsOf(view: BackfillRunView): readonly Point[] {
  const [tone, word] = standingOf(view);
  const state = (
    <>
      {texts[view.state](view)}
      <Since view={view} />
    </>
  );
  return [
    [tone, word, state],
    ...(isSlowed(view) ? ([["warn", "slowed", slowText(view)]] as const) : []),
    ...verificationOf(view),
    ["idle", "undo", undoText(view)],
  ];
}

export const Standing = ({ view }: { readonly view: BackfillRunView }) => (
  <Points title="How it stands" points={pointsOf(view)} />
);
