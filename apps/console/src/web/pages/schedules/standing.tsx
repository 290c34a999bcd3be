// Why nothing of a schedule runs, or what does: who paused it, what waits for what, what could not be begun.
import { Link } from "wouter";
import type { Occurrence, ScheduleView } from "../../../api/index.ts";
import { Points, type Point } from "../../furniture/points.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";

/** It waits for a time of its own: its flexible window, or until it is tried again. */
function heldBack({ dueMs, beginAtMs, tries, reason }: Occurrence): Point {
  const what = (
    <>
      The one of <Instant ms={dueMs} />
    </>
  );
  if (tries === 0)
    return [
      "idle",
      "waiting",
      <>
        {what} begins at <Instant ms={beginAtMs} />, within its flexible window.
      </>,
    ];
  return [
    "warn",
    "not begun",
    <>
      {what} could not be begun, {tries} {tries === 1 ? "time" : "times"}
      {reason !== null && `: ${reason}`}. It is tried again at <Instant ms={beginAtMs} />.
    </>,
  ];
}

function* pointsOf(view: ScheduleView): Generator<Point> {
  const { nowMs, occurrences, overdue, expectedByMs, pausedAtMs, pausedBy, pausedReason, nextDueMs } = view;
  if (overdue)
    yield [
      "danger",
      "overdue",
      <>
        A success was expected by <Instant ms={expectedByMs} />, and none was seen:{" "}
        <Link href="/alarms?search=schedule-overdue">the alarm</Link> tells its owner.
      </>,
    ];
  if (pausedAtMs !== null)
    yield [
      "warn",
      "paused",
      <>
        By <strong>{pausedBy}</strong> since <Instant ms={pausedAtMs} />: {pausedReason}. Nothing becomes due
        until somebody resumes it; what passes meanwhile is not made up for.
      </>,
    ];
  const running = occurrences.filter(({ state }) => state === "started").toReversed();
  for (const { dueMs, startedAtMs } of running)
    yield [
      "active",
      "running",
      <>
        The one of <Instant ms={dueMs} />, for {durationText(nowMs - (startedAtMs ?? nowMs))}.
      </>,
    ];
  const waiting = occurrences.filter(({ state }) => state === "waiting").toReversed();
  for (const each of waiting) if (each.beginAtMs !== null) yield heldBack(each);
  const inTurn = waiting.filter(({ beginAtMs }) => beginAtMs === null).length;
  if (inTurn > 0) yield ["idle", "waiting", `${inTurn} until what runs has ended: they may not overlap.`];
  if (pausedAtMs !== null) return;
  if (nextDueMs === null) yield ["idle", "over", "Nothing of it is due any more."];
  else
    yield [
      "idle",
      "not due",
      <>
        Due next at <Instant ms={nextDueMs} />, in {durationText(nextDueMs - nowMs)}.
      </>,
    ];
}

export function Standing({ view }: { readonly view: ScheduleView }) {
  const title = view.running > 0 ? "What runs, and what waits" : "Why is this not running?";
  return <Points title={title} points={[...pointsOf(view)]} />;
}
