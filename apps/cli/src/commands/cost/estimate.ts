import type { CostLine, Estimate, Saving } from "tuntas/cost";
import type { Answer, Call, Command } from "../../command.ts";
import { gatherFiles } from "../../declared.ts";
import { bold, paragraph, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { figuresOf, pricesOf, pricesOption } from "./files.ts";

const daysDefault = 7;
const daysMax = 15;
const savingsShown = 10;

const money = (amount: number): string => amount.toFixed(2);

const linesText = (lines: readonly CostLine[], currency: string): string =>
  table(lines, {
    driver: ({ driver }) => driver,
    [currency]: ({ cost }) => money(cost),
    share: ({ share }) => `${(share * 100).toFixed(1)} %`,
    basis: ({ basis }) => basis.join(", "),
    "what is paid for": ({ quantity }) => quantity,
  });

const savingText = ({ driver, saves, what }: Saving): string =>
  `- ${paragraph(`${driver}: ${money(saves)}, ${what}`, 2)}`;

/** What it rests on, and how much to believe of it. */
function restsOn({ region, asOf, hours, measuredHours }: Estimate): string {
  const caution = measuredHours < 24 ? "; less than a day says little of a month" : "";
  const seen =
    measuredHours === 0
      ? "nothing was measured here yet"
      : `measured here in ${measuredHours} hours and scaled to a month${caution}`;
  return paragraph(
    `A month of ${hours} hours on AWS at list prices of ${region}, ${asOf}, without free tiers, discounts and the database; ${seen}.`,
  );
}

function textOf(estimate: Estimate): string {
  const { work, standing, total, currency, savings } = estimate;
  const sum = (lines: readonly CostLine[]) => money(lines.reduce((all, { cost }) => all + cost, 0));
  const shown = savings.slice(0, savingsShown);
  return [
    restsOn(estimate),
    `${bold(`The work: ${sum(work)} ${currency}`)}\n${linesText(work, currency)}`,
    `${bold(`What stands around it: ${sum(standing)} ${currency}`)}\n${linesText(standing, currency)}`,
    `${bold(`Together: ${money(total)} ${currency} a month`)}`,
    ...(shown.length > 0 ? [`${bold("What would save most")}\n${shown.map(savingText).join("\n")}`] : []),
  ].join("\n\n");
}

async function run(call: Call): Promise<Answer> {
  const { estimate, readCostFacts, withoutMetric } = await import("tuntas/cost");
  const [declared, figures, prices] = await Promise.all([
    gatherFiles(call.texts("app")),
    figuresOf(call),
    pricesOf(call),
  ]);
  const days = call.count("days", [1, daysMax]) ?? daysDefault;
  const facts = await withPlatform((platform) =>
    readCostFacts(platform, { declared, days, figures, prices }),
  );
  const without = call.texts("without").map((name) => withoutMetric(facts, name));
  const made = estimate(facts);
  const asked = without.map(savingText).join("\n");
  return {
    document: { ...made, ...(without.length > 0 && { without }) },
    text: asked === "" ? textOf(made) : `${textOf(made)}\n\n${bold("As asked")}\n${asked}`,
  };
}

export const costEstimate: Command = {
  name: "cost estimate",
  summary:
    "Estimates what the work costs a month on AWS: nine drivers of the work and three of what stands around it, each with its share and whether it was measured, declared or assumed, and what would save most.",
  options: {
    app: {
      value: "FILE",
      meaning:
        "the application's built file, or a state machine as JSON; without it the services that are deployed here",
      multiple: true,
    },
    days: {
      value: "COUNT",
      meaning: `measured figures of so many days; ${daysDefault} by default, ${daysMax} are kept`,
    },
    figures: {
      value: "FILE",
      meaning: "what nobody can see from here, and the traffic to come: a JSON object of numbers",
    },
    prices: pricesOption,
    without: {
      value: "METRIC",
      meaning:
        "what leaving this metric out would save; refused for one that shows that data is lost, doubled or corrupted",
      multiple: true,
    },
  },
  examples: [
    ["tuntas cost estimate --app dist/orders.js --app dist/services.js", "what will it cost, and why?"],
    ["tuntas cost estimate --figures next-year.json --json", "with ten times the traffic"],
  ],
  run,
};
