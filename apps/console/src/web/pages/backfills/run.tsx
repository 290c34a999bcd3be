// One run: how far and how fast it is, why it is there, its dry run, what failed, who said what, and what can be said to it.
import { Link, useParams } from "wouter";
import type { BackfillRunView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Acts } from "../../furniture/acts.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { countText, percentText } from "../../furniture/count.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { RunBadge } from "./badges.tsx";
import { DryRun } from "./dry-run.tsx";
import { runsHref } from "./links.ts";
import { Failures, Partitions } from "./parts.tsx";
import { RunActs } from "./run-acts.tsx";
import { isSlowed, Standing, takes } from "./standing.tsx";

function timeOf({ nowMs, askedAtMs, begunAtMs, endedAtMs, leftMs, state }: BackfillRunView): Figure {
  if (leftMs !== null && leftMs > 0)
    return {
      name: "Left",
      value: durationText(leftMs),
      note: state === "running" ? "at its pace" : "at its rate",
    };
  if (endedAtMs !== null && begunAtMs !== null)
    return { name: "Took", value: durationText(endedAtMs - begunAtMs), note: "since its start" };
  return { name: "Since", value: durationText(nowMs - askedAtMs), note: "it was planned" };
}

function figuresOf(view: BackfillRunView): readonly Figure[] {
  const { read, records, handled, final, failed, partitions, perSecond, suppressed, declared } = view;
  const isSlow = isSlowed(view);
  return [
    {
      name: "Read",
      value: percentText(Math.min(read, records), records),
      note: `${countText(read)} of ${countText(records)}`,
    },
    { name: "Handled", value: countText(handled), note: "records" },
    { name: "Failed", value: countText(failed), note: "records", tone: failed > 0 ? "danger" : undefined },
    { name: "Final", value: countText(final), note: "left alone" },
    {
      name: "A second",
      value: isSlow ? takes(view) : perSecond.toLocaleString("en"),
      note: `of ${(isSlow ? perSecond : declared.perSecond).toLocaleString("en")}`,
      tone: isSlow ? "warn" : undefined,
    },
    timeOf(view),
    { name: "Partitions", value: partitions.ended, note: `of ${partitions.total} through` },
    { name: "Kept back", value: countText(suppressed), note: "announcements" },
  ];
}

function Lead({ view }: { readonly view: BackfillRunView }) {
  const { backfill, scope, actor, reason, askedAtMs, approvedBy, declared } = view;
  return (
    <span className="lines">
      <span className="row">
        <RunBadge run={view} />
        <span>
          <Link href={runsHref(backfill)}>{backfill}</Link> <code>{scope}</code>
        </span>
        <Owner owner={declared.owner} />
        <Runbook runbook={declared.runbook} />
      </span>
      <span>
        Asked for by <strong>{actor}</strong>, <Instant ms={askedAtMs} />: {reason}.{" "}
        {approvedBy === null ? (
          "Nobody has approved it."
        ) : (
          <>
            Approved by <strong>{approvedBy}</strong>.
          </>
        )}
      </span>
    </span>
  );
}

const windowText = ({ declared: { window } }: BackfillRunView): string =>
  window === "any" ? "any time" : `${window.from} to ${window.to} ${window.timeZone}`;

function Declared({ view }: { readonly view: BackfillRunView }) {
  const { declared, scope } = view;
  const { table, final, errorShare, slowAbove, abortAbove, runsOn } = declared.policy;
  return (
    <section className="card" aria-label="Scope and limits">
      <header>
        <h2>Scope and limits</h2>
      </header>
      <div className="inside stack">
        <dl className="facts">
          <dt>Table</dt>
          <dd>
            <code>{table}</code>
          </dd>
          <dt>Final</dt>
          <dd>{final === "none" ? "nothing" : <code>{final}</code>}</dd>
          <dt>Rate</dt>
          <dd>{declared.perSecond.toLocaleString("en")} records a second at most, in all processes</dd>
          <dt>Slower</dt>
          <dd>
            where a statement takes more than {slowAbove.database}, or a call more than {slowAbove.downstream}
          </dd>
          <dt>Aborted</dt>
          <dd>
            where more than {errorShare * 100} % fail, or calls take more than {abortAbove}
          </dd>
          <dt>Window</dt>
          <dd>{windowText(view)}</dd>
          <dt>Runs on</dt>
          <dd>{runsOn === null ? "all that run the application" : `the service ${runsOn}`}</dd>
        </dl>
        <BodyText label="Scope" text={scope} />
      </div>
    </section>
  );
}

const tabs = [
  ["dry-run", "Dry run"],
  ["partitions", "Partitions"],
  ["failures", "Failures"],
  ["scope", "Scope and limits"],
  ["record", "Record"],
] as const;

function Views({ view }: { readonly view: BackfillRunView }) {
  const tab = useTab("view", ["dry-run", "partitions", "failures", "scope", "record"]);
  return (
    <>
      <Tabs name="view" label="Views of the run" tabs={tabs} />
      {tab === "dry-run" && <DryRun view={view} />}
      {tab === "partitions" && <Partitions view={view} />}
      {tab === "failures" && <Failures view={view} />}
      {tab === "scope" && <Declared view={view} />}
      {tab === "record" && <Acts subject={`run ${view.id}`} />}
    </>
  );
}

export default function Run() {
  const { id = "" } = useParams();
  const read = useRead("backfill.run", { id });
  const view = read.data?.value;
  return (
    <Page
      title={`Run ${id}`}
      trail={<Link href="/backfills">Backfills</Link>}
      lead={view && <Lead view={view} />}
      read={read}
      acts={view && <RunActs view={view} />}
    >
      {view && (
        <>
          <Figures label="The run in numbers" figures={figuresOf(view)} />
          <Standing view={view} />
          <Views view={view} />
        </>
      )}
    </Page>
  );
}
