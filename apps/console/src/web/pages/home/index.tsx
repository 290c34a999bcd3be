// How the whole is, in one line; then what needs a person, each with whose it is, how old it is and the one next act.
import type { HomeView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { useSession } from "../../api/session.ts";
import { countText } from "../../furniture/count.tsx";
import { Figures } from "../../furniture/figures.tsx";
import { Page } from "../../furniture/page.tsx";
import { ageText } from "../../furniture/time.tsx";
import { Decisions } from "./decisions.tsx";
import { Checks } from "./checks.tsx";
import "./home.css";

function Health({ health }: Pick<HomeView, "health">) {
  const { processes, queues, ready, inFlight, delayed, dead, oldestAgeMs, outboxWaiting } = health;
  return (
    <Figures
      compact
      label="The whole installation"
      figures={[
        { name: "Oldest", value: oldestAgeMs === null ? "–" : ageText(oldestAgeMs) },
        { name: "Ready", value: countText(ready) },
        { name: "In flight", value: countText(inFlight) },
        { name: "Delayed", value: countText(delayed) },
        { name: "Dead", value: countText(dead) },
        { name: "Outbox", value: countText(outboxWaiting) },
        { name: "Queues", value: countText(queues) },
        {
          name: "Processes",
          value: countText(processes),
          ...(processes === 0 && { tone: "danger" as const }),
        },
      ]}
    />
  );
}

const summary = ({ decisions }: HomeView): string => {
  const now = decisions.filter((each) => each.urgency === "now").length;
  if (decisions.length === 0) return "Nothing waits for a person.";
  return now === 0
    ? `${decisions.length} to decide, none of it urgent.`
    : `${decisions.length} to decide, ${now} of it now.`;
};

/** What else runs beside it, such as the application of a demonstration. */
function Beside() {
  const links = Object.entries(useSession().data?.links ?? {});
  if (links.length === 0) return null;
  return (
    <p className="row muted">
      Beside it:
      {links.map(([name, address]) => (
        <a key={name} href={address} target="_blank" rel="noreferrer">
          {name}
        </a>
      ))}
    </p>
  );
}

export default function Home() {
  const home = useRead("home", {});
  const view = home.data?.value;
  return (
    <Page title="Needs a decision" lead={view && summary(view)} read={home}>
      {view && (
        <>
          <Health health={view.health} />
          <Decisions decisions={view.decisions} />
          <Checks checks={view.checks} calm={view.decisions.length === 0} />
          <Beside />
        </>
      )}
    </Page>
  );
}
