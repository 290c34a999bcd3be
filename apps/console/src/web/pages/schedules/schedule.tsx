// One schedule: when it is due, what became of each due instant, why nothing of it runs, and what can be done about it.
import { Link, useParams } from "wouter";
import type { ScheduleView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Acts } from "../../furniture/acts.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { ScheduleBadge, stateText } from "./badges.tsx";
import { targetHref, targetText } from "./links.ts";
import { Occurrences } from "./occurrences.tsx";
import { ScheduleActs } from "./schedule-acts.tsx";
import { Standing } from "./standing.tsx";
import { Timeline } from "./timeline.tsx";
import { ToCome } from "./upcoming.tsx";
import { Zoned } from "./zoned.tsx";

function figuresOf(view: ScheduleView): readonly Figure[] {
  const { nowMs, nextDueMs, pausedAtMs, timeZone, last, lastSuccessAtMs, expectedByMs, overdue } = view;
  const isDue = nextDueMs !== null && pausedAtMs === null;
  return [
    {
      name: "Due next",
      value: isDue ? `in ${durationText(nextDueMs - nowMs)}` : "–",
      note: isDue ? <Zoned ms={nextDueMs} timeZone={timeZone} /> : pausedAtMs === null ? "over" : "paused",
    },
    {
      name: "Last",
      value: last === null ? "–" : stateText(last.state),
      note: last === null ? "none yet" : <Instant ms={last.dueMs} />,
      tone: last?.state === "failed" ? "danger" : undefined,
    },
    {
      name: "Last success",
      value: lastSuccessAtMs === null ? "–" : `${durationText(nowMs - lastSuccessAtMs)} ago`,
      note:
        expectedByMs === null ? (
          "none is expected"
        ) : (
          <>
            next by <Instant ms={expectedByMs} />
          </>
        ),
      tone: overdue ? "danger" : undefined,
    },
    { name: "Running", value: view.running, note: `overlap: ${view.overlap}` },
    { name: "Waiting", value: view.waiting, note: `catch-up: ${view.catchUp}` },
  ];
}

function Lead({ view }: { readonly view: ScheduleView }) {
  const { expression, timeZone, target, owner, runbook } = view;
  return (
    <span className="lines">
      <span className="row">
        <ScheduleBadge schedule={view} />
        <span>
          <code>{expression}</code> in {timeZone}
        </span>
        <span>
          Starts <Link href={targetHref(target)}>{targetText(target)}</Link>
        </span>
      </span>
      <span className="row">
        <Owner owner={owner} />
        <Runbook runbook={runbook} />
      </span>
    </span>
  );
}

const tabs = [
  ["occurrences", "Occurrences"],
  ["to-come", "To come"],
  ["record", "Record"],
] as const;

function Views({ view }: { readonly view: ScheduleView }) {
  const tab = useTab("view", ["occurrences", "to-come", "record"]);
  return (
    <>
      <Tabs name="view" label="Views of the schedule" tabs={tabs} />
      {tab === "occurrences" && (
        <>
          <Timeline view={view} />
          <Occurrences view={view} />
        </>
      )}
      {tab === "to-come" && <ToCome view={view} />}
      {tab === "record" && <Acts subject={`schedule ${view.name}`} />}
    </>
  );
}

export default function Schedule() {
  const { name = "" } = useParams();
  const schedule = decodeURIComponent(name);
  const read = useRead("schedule", { schedule });
  const view = read.data?.value;
  return (
    <Page
      title={schedule}
      trail={<Link href="/schedules">Schedules</Link>}
      lead={view && <Lead view={view} />}
      read={read}
      acts={view && <ScheduleActs view={view} />}
    >
      {view && (
        <>
          <Figures label="The schedule in numbers" figures={figuresOf(view)} />
          <Standing view={view} />
          <Views view={view} />
        </>
      )}
    </Page>
  );
}
