// One queue: its seven numbers, who works on it, what lies in it, and what can be done to it.
import { Link, useParams } from "wouter";
import type { QueueView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { countText } from "../../furniture/count.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page, sourceOf } from "../../furniture/page.tsx";
import { ageText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { Consumers } from "./consumers.tsx";
import { MessagePanel } from "./message-panel.tsx";
import { Messages } from "./messages.tsx";
import { QueueActs } from "./queue-acts.tsx";
import { QueueBadge } from "./queue-badge.tsx";
import { Signs } from "./signs.tsx";
import "./queues.css";

function figuresOf({ survey }: QueueView): readonly Figure[] {
  const {
    oldestAgeMs,
    ready,
    inFlight,
    delayed,
    dead,
    quarantined,
    consumers,
    concurrency,
    globalConcurrency,
  } = survey;
  const cap = globalConcurrency ?? concurrency;
  return [
    { name: "Oldest waiting", value: oldestAgeMs === null ? "–" : ageText(oldestAgeMs) },
    {
      name: "Backlog per worker",
      value: consumers === 0 ? "–" : countText(Math.ceil(ready / consumers)),
      note: `${countText(ready)} ready`,
    },
    {
      name: "In flight",
      value: countText(inFlight),
      note: cap > 0 ? `of ${countText(cap)} at once` : "no worker",
    },
    { name: "Delayed", value: countText(delayed), note: "or waiting to be tried again" },
    {
      name: "Workers",
      value: countText(consumers),
      note: consumers === 0 ? "nobody works on it" : "live processes",
    },
    {
      name: "Dead letters",
      value: countText(dead),
      note: survey.deadLetterName === null ? "no dead-letter queue" : `in ${survey.deadLetterName}`,
    },
    { name: "Quarantined", value: countText(quarantined) },
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
  const found = view.data?.value;
  const message = url.get("message");
  return (
    <Page
      title={queue}
      trail={<Link href="/queues">Queues</Link>}
      lead={found && <Lead survey={found.survey} />}
      source={sourceOf(view)}
      acts={found && <QueueActs view={found} />}
    >
      {found && (
        <>
          <Figures label="The queue in numbers" figures={figuresOf(found)} />
          <Signs queue={queue} />
          <Messages survey={found.survey} />
          <Consumers consumers={found.consumers} />
        </>
      )}
      {message !== undefined && <MessagePanel id={message} onClose={() => url.set({ message: undefined })} />}
    </Page>
  );
}
