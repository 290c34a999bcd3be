import { standing, unknownEffects, type EffectRow } from "tuntas/ledger";
import type { Decision } from "../../api/index.ts";
import { grouped } from "../grouped.ts";
import { counted, pageAt, type Look } from "./decision.ts";

function decisionOf(name: string, rows: readonly EffectRow[]): Decision {
  const [{ provider, key, failureMessage }] = rows as [EffectRow, ...EffectRow[]];
  return {
    id: `effect:${name}`,
    kind: "effect",
    urgency: "now",
    title: `Nobody knows what became of ${counted(rows.length, "call")}: ${name}`,
    detail: failureMessage ? `${key}: ${failureMessage}` : `The first is ${key}`,
    owner: null,
    runbook: null,
    ageMs: Math.max(...rows.map((row) => row.calledAgoMs)),
    action: { label: "Find out and say so", href: pageAt("/effects", { provider, state: "unknown" }) },
  };
}

export const effects: Look = {
  name: "side effects whose outcome is unknown",
  async find({ platform }) {
    const rows = await unknownEffects(platform.database);
    return [...grouped(rows, ({ provider, operation }) => `${provider} ${operation}`)].map(([name, rows]) =>
      decisionOf(name, rows),
    );
  },
};

export const discrepancies: Look = {
  name: "discrepancies that wait for a decision",
  async find({ platform }) {
    const open = (await standing(platform.database)).filter((each) => each.state !== "approved");
    const names = [...new Set(open.map((each) => each.name))];
    return names.map((name) => {
      const of = open.filter((each) => each.name === name);
      return {
        id: `discrepancy:${name}`,
        kind: "discrepancy",
        urgency: "soon",
        title: `${counted(of.length, "discrepancy", "discrepancies")} in ${name}`,
        detail: of[0]!.invariant,
        owner: null,
        runbook: null,
        ageMs: null,
        action: { label: "See them", href: pageAt("/effects", { view: "discrepancies", name }) },
      };
    });
  },
};
