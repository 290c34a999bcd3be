// One queue: its seven numbers, who works on it, what lies in it, and what can be done to it.
import { Link, useParams } from "wouter";
import type { QueuePace, QueueView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { countText, rateText } from "../../furniture/count.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { ageText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { Answers } from "./answers.tsx";
import { Consumers } from "./consumers.tsx";
import { MessagePanel } from "./message-panel.tsx";
import { Messages } from "./messages.tsx";
import { OverTime } from "./over-time.tsx";
import { QueueActs } from "./queue-acts.tsx";
import { QueueBadge } from "./queue-badge.tsx";
import { Signs } from "./signs.tsx";
import { Tenants } from "./tenants.tsx";
import "./queues.css";

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** The seven numbers, in a fixed order. */
function figuresOf({ survey }: QueueView, pace: QueuePace | undefined): readonly Figure[] {
  const { oldestAgeMs, ready, inFlight, delayed, dead, quarantined, consumers, concurrency } = survey;
  const cap = survey.globalConcurrency ?? concurrency;
  return [
    { name: "Oldest waiting", value: oldestAgeMs === null ? "–" : ageText(oldestAgeMs) },
    {
      name: "Per worker",
      value: consumers === 0 ? "–" : countText(Math.ceil(ready / consumers)),
      note: `${countText(ready)} for ${countText(consumers)}`,
    },
    {
      name: "In flight",
      value: countText(inFlight),
      note: cap > 0 ? `${countText(cap)} handled at once` : "no worker",
    },
    { name: "Done a minute", value: pace ? rateText(pace.donePerMinute) : "–", note: "in the last 5 min" },
    {
      name: "Tried again",
      value: pace === undefined || pace.retryShare === null ? "–" : percent(pace.retryShare),
      note: "of attempts",
    },
    { name: "Delayed", value: countText(delayed), note: "or to be retried" },
    { name: "Dead", value: countText(dead + quarantined), note: `${countText(quarantined)} quarantined` },
  ];
}

function Lead({ survey }: Pick<QueueView, "survey">) {
  const { owner, runbook, name, dead, quarantined } = survey;
  return (
    <span className="row">
      <QueueBadge queue={survey} />
      <span>
        Owner <Owner owner={owner} />
      </span>
      <span>
        Runbook <Runbook runbook={runbook} />
      </span>
      {dead + quarantined > 0 && (
        <Link href={`/dead-letters?queue=${encodeURIComponent(name)}`}>Triage what died here</Link>
      )}
    </span>
  );
}

export default function Queue() {
  const { name = "" } = useParams();
  const url = useUrl();
  const queue = decodeURIComponent(name);
  const view = useRead("queue", { queue });
  const pace = useRead("queue.pace", { queue }, { everyMs: 10_000 }).data?.value;
  const found = view.data?.value;
  const message = url.get("message");
  return (
    <Page
      title={queue}
      trail={<Link href="/queues">Queues</Link>}
      lead={found && <Lead survey={found.survey} />}
      read={view}
      acts={found && <QueueActs view={found} />}
    >
      {found && (
        <>
          <Figures label="The queue in numbers" figures={figuresOf(found, pace)} />
          <Answers queue={queue} />
          <Signs queue={queue} />
          <OverTime queue={queue} />
          <Tenants queue={queue} />
          <Messages survey={found.survey} />
          <Consumers consumers={found.consumers} />
        </>
      )}
      {message !== undefined && <MessagePanel id={message} onClose={() => url.set({ message: undefined })} />}
    </Page>
  );
}
