// One job: how far it is, why it is there, its partitions, who wanted it, and what can be said to it.
import { Link, useParams } from "wouter";
import type { JobView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Acts } from "../../furniture/acts.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { countText, percentText, rateText } from "../../furniture/count.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { JobBadge } from "./badges.tsx";
import { JobActs } from "./job-acts.tsx";
import { batchHref, keyText } from "./links.ts";
import { Partitions } from "./partitions.tsx";
import { Standing } from "./standing.tsx";

function timeOf({ nowMs, state, movedAtMs, begunAtMs, endedAtMs, leftMs }: JobView): Figure {
  if (leftMs !== null) return { name: "Left", value: durationText(leftMs), note: "at its pace" };
  if (endedAtMs !== null && begunAtMs !== null)
    return { name: "Took", value: durationText(endedAtMs - begunAtMs), note: "since it was last begun" };
  return { name: "Since", value: durationText(nowMs - movedAtMs), note: state };
}

function figuresOf(view: JobView): readonly Figure[] {
  const { partitions, perMinute, rows, priority, declared } = view;
  const { done, total, failed, running } = partitions;
  return [
    {
      name: "Done",
      value: percentText(done, total),
      note: `${countText(done)} of ${countText(total)}`,
    },
    { name: "Failed", value: failed, note: "partitions", tone: failed > 0 ? "danger" : undefined },
    {
      name: "Running",
      value: running,
      note: `of ${declared.concurrency} at once`,
    },
    { name: "A minute", value: perMinute === null ? "–" : rateText(perMinute), note: "partitions" },
    timeOf(view),
    { name: "Rows", value: countText(rows), note: "staged" },
    { name: "Priority", value: priority, note: "highest first" },
  ];
}

function Lead({ view }: { readonly view: JobView }) {
  const { state, batch, actor, reason, askedAtMs, declared } = view;
  return (
    <span className="lines">
      <span className="row">
        <JobBadge state={state} />
        <span>
          <Link href={batchHref(batch)}>{batch}</Link> {keyText(view)}
        </span>
        <Owner owner={declared.owner} />
        <Runbook runbook={declared.runbook} />
      </span>
      <span>
        Asked for by <strong>{actor}</strong>, <Instant ms={askedAtMs} />: {reason}
      </span>
    </span>
  );
}

function Asked({ view: { key, input, planHash, declared } }: { readonly view: JobView }) {
  return (
    <section className="card" aria-label="What was asked for">
      <header>
        <h2>What was asked for</h2>
      </header>
      <div className="inside stack">
        <dl className="facts">
          <dt>Key</dt>
          <dd>
            <code>{key}</code>
          </dd>
          <dt>Plan</dt>
          <dd>{planHash === null ? "not made yet" : <code>{planHash}</code>}</dd>
          <dt>Staged in</dt>
          <dd>
            <code>{declared.staging}</code>
          </dd>
        </dl>
        <BodyText label="Input" text={input} />
      </div>
    </section>
  );
}

const tabs = [
  ["partitions", "Partitions"],
  ["input", "Input"],
  ["record", "Record"],
] as const;

function Views({ view }: { readonly view: JobView }) {
  const tab = useTab("view", ["partitions", "input", "record"]);
  return (
    <>
      <Tabs name="view" label="Views of the job" tabs={tabs} />
      {tab === "partitions" && <Partitions view={view} />}
      {tab === "input" && <Asked view={view} />}
      {tab === "record" && <Acts subject={`job ${view.id}`} />}
    </>
  );
}

export default function Job() {
  const { id = "" } = useParams();
  const read = useRead("batch.job", { id });
  const view = read.data?.value;
  return (
    <Page
      title={`Job ${id}`}
      trail={<Link href="/batches">Batches</Link>}
      lead={view && <Lead view={view} />}
      read={read}
      acts={view && <JobActs view={view} />}
    >
      {view && (
        <>
          <Figures label="The job in numbers" figures={figuresOf(view)} />
          <Standing view={view} />
          <Views view={view} />
        </>
      )}
    </Page>
  );
}
