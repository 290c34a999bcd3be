// One service: whether it is as it should be, its deployment, its instances, its rule, and what can be done about it.
import { Link, useParams } from "wouter";
import type { ServiceView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { ServiceBadge } from "./badges.tsx";
import { History } from "./history.tsx";
import { Instances } from "./instances.tsx";
import { mebibytes } from "./links.ts";
import { Record } from "./record.tsx";
import { LatestDeployment } from "./rollout.tsx";
import { Scaling } from "./scaling.tsx";
import { ServiceActs } from "./service-acts.tsx";

/** The largest that was measured; undefined while none was. */
const largest = (values: readonly (number | null)[]): number | undefined => {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
};

function figuresOf(view: ServiceView): readonly Figure[] {
  const { healthy, desired, running, failures, instances, current, revision } = view;
  const live = instances.filter(({ state }) => state === "running");
  const memory = largest(live.map(({ memoryBytes }) => memoryBytes));
  const cpu = largest(live.map(({ cpuUnits }) => cpuUnits));
  const { definition } = current;
  return [
    {
      name: "Healthy",
      value: `${healthy} of ${desired}`,
      note: `${running} started`,
      tone: healthy < desired ? "warn" : undefined,
    },
    { name: "Revision", value: revision, note: definition.version ?? "no version" },
    { name: "Most CPU", value: cpu ?? "–", note: `of ${definition.cpu.limit} units each` },
    {
      name: "Most memory",
      value: memory === undefined ? "–" : mebibytes(memory),
      note: `of ${definition.memory.limit} MiB each`,
    },
    {
      name: "Failed in a row",
      value: failures,
      note: "since one was healthy",
      tone: failures > 0 ? "warn" : undefined,
    },
  ];
}

function Lead({ view }: { readonly view: ServiceView }) {
  const { kind, host, controlled } = view;
  return (
    <span className="row">
      <ServiceBadge service={view} />
      <span>{kind}</span>
      <span>
        Runs on {host}
        {!controlled && (
          <>
            , where nobody runs services: start <code>tuntas service run</code>
          </>
        )}
      </span>
    </span>
  );
}

const tabs = [
  ["now", "Now"],
  ["history", "Deployments and revisions"],
  ["record", "Record"],
] as const;

function Views({ view }: { readonly view: ServiceView }) {
  const tab = useTab("view", ["now", "history", "record"]);
  return (
    <>
      <Tabs name="view" label="Views of the service" tabs={tabs} />
      {tab === "now" && (
        <>
          <LatestDeployment
            deployment={view.rollout}
            alarms={view.current.definition.rollout.alarms?.names ?? []}
          />
          <Instances view={view} />
          <Scaling view={view} />
        </>
      )}
      {tab === "history" && <History view={view} />}
      {tab === "record" && <Record service={view.name} />}
    </>
  );
}

export default function Service() {
  const { name = "" } = useParams();
  const service = decodeURIComponent(name);
  const read = useRead("service", { service });
  const view = read.data?.value;
  return (
    <Page
      title={service}
      trail={<Link href="/services">Services</Link>}
      lead={view && <Lead view={view} />}
      read={read}
      acts={view && <ServiceActs view={view} />}
    >
      {view && (
        <>
          <Figures label="The service in numbers" figures={figuresOf(view)} />
          <Views view={view} />
        </>
      )}
    </Page>
  );
}
