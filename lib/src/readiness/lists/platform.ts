// The platform checklist: eleven items. Of AWS's part of it only people can speak.
import type { Evidence, Facts, Item } from "../contract.ts";
import { met, unknown, unmet } from "../evidence.ts";

function digests(_of: undefined, { services }: Facts): Evidence {
  const looked = "revisions that run";
  const running = [...services.values()].map(({ report }) => report).filter(({ active }) => active);
  if (running.length === 0) return unknown(looked, "no service is deployed here");
  const without = running.filter(({ definition }) => definition.version === null).map(({ name }) => name);
  return without.length === 0
    ? met(looked, running.map(({ name, definition }) => `${name} ${definition.version}`).join(", "))
    : unmet(looked, `${without.join(", ")} without a version`);
}

function runbooks(_of: undefined, { alarms }: Facts): Evidence {
  const looked = "alarms of the database";
  if (alarms.length === 0) return unmet(looked, "none");
  const without = alarms.filter(({ runbook }) => runbook === "").map(({ name }) => name);
  const names = new Set(alarms.map(({ name }) => name));
  return without.length === 0
    ? met(looked, `${names.size}, each with its runbook`)
    : unmet(looked, `without a runbook: ${without.join(", ")}`);
}

/** What is there and nobody declared has come past the code. */
function drift(_of: undefined, { examined }: Facts): Evidence {
  const owners = examined.find(({ check }) => check === "owners");
  if (!owners) return unknown("tuntas doctor", "no database to look into");
  return owners.status === "ok"
    ? met("tuntas doctor: owners", owners.text)
    : unmet("tuntas doctor: owners", owners.text);
}

export const platform: readonly Item<undefined>[] = [
  {
    id: "digests",
    says: "deployed by digest or commit",
    asks: "How is what runs tied to what was built?",
    look: digests,
  },
  { id: "scans", says: "images are scanned", asks: "What scans images, and what is refused?" },
  { id: "lifecycle", says: "old images go", asks: "Which images are kept, and for how long?" },
  {
    id: "network",
    says: "private connectivity was tried",
    asks: "Who reaches the database and the outside on which way, and when was that tried?",
  },
  { id: "network-cost", says: "its cost is known", asks: "What do endpoints and NAT cost a month?" },
  { id: "log-retention", says: "logs have a retention", asks: "How long is which log kept?" },
  { id: "dashboards", says: "there are dashboards", asks: "Where does who is called at night look first?" },
  { id: "alarms", says: "every alarm has a runbook", asks: "Which do not?", look: runbooks },
  { id: "as-code", says: "all of it is code", asks: "Which code makes databases, networks and roles?" },
  { id: "drift", says: "nothing is made by hand", asks: "What was made by hand?", look: drift },
  { id: "teardown", says: "taking it down is written down", asks: "Where, and what must not be left?" },
];
