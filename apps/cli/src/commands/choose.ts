// `tuntas choose`: which shape a piece of work has, by questions in a fixed order; on a terminal one after another, else by options.
import { createInterface, type Interface } from "node:readline/promises";
import type { Answer, Call, Command } from "../command.ts";
import { bold, pairs, paragraph } from "../render.ts";
import { choose, questions, templateOf, traits, type Choice, type Trait } from "../scaffold/choice.ts";

const ofTenants = "Does it belong to tenants, whose data or load must not meet?";

interface Answered {
  readonly holds: ReadonlySet<Trait>;
  readonly tenants: boolean;
}

const answered = (call: Call): Answered => ({
  holds: new Set(traits.filter((trait) => call.flag(trait))),
  tenants: call.flag("tenants"),
});

async function isYes(asking: Interface, question: string): Promise<boolean> {
  const answer = await asking.question(`${paragraph(question)} [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}

/** Asks until one is answered with yes. Errors: TUNTAS_CLI_USAGE where the terminal is left before. */
async function ask(call: Call): Promise<Answered> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (const { trait, asks } of questions)
      if (await isYes(asking, asks))
        return { holds: new Set([trait]), tenants: await isYes(asking, ofTenants) };
    return { holds: new Set(), tenants: false };
  } catch {
    throw call.wrong("expected an answer to each question; it was left before");
  } finally {
    asking.close();
  }
}

const besidesText = ({ besides }: Choice): string[] =>
  besides.length === 0
    ? []
    : [
        "It has more than one shape. Give each a queue, an owner and a runbook of its own:",
        pairs(besides.map(({ shape, because }) => [shape, because] as const)),
      ];

const tenantsText = "Put the tenant into its key and into every query; see docs/recipes/tenants.md.";

function answerTo({ holds, tenants }: Answered): Answer {
  const choice = choose(holds);
  if (choice === undefined) {
    const text =
      "None fits: what starts it, and who misses it when it does not run? See tuntas explain for the shapes.";
    return { document: { shape: null, tenants }, text: paragraph(text), status: 1 };
  }
  const { shape, by, besides } = choice;
  const text = [
    `${bold(shape)}: ${paragraph(by.because, shape.length + 2)}`,
    ...besidesText(choice),
    ...(tenants ? [paragraph(tenantsText)] : []),
    pairs([
      ["understand", `tuntas explain ${shape}`],
      ["begin", templateOf(shape)],
    ]),
  ].join("\n\n");
  const parts = besides.map(({ shape: part, trait, because }) => ({ shape: part, trait, because }));
  return {
    document: { shape, trait: by.trait, because: by.because, tenants, besides: parts },
    text,
  };
}

const isTerminal = (call: Call): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true && !call.flag("json");

export const chooseShape: Command = {
  name: "choose",
  summary:
    "Says which shape a piece of work has, and why: questions in a fixed order, of which the first answered with yes decides. Asks on a terminal; by options elsewhere.",
  options: {
    ...Object.fromEntries(questions.map(({ trait, asks }) => [trait, { meaning: asks }])),
    tenants: { meaning: ofTenants },
  },
  examples: [
    ["tuntas choose", "asks, on a terminal"],
    ["tuntas choose --items", "a worker: items that have nothing to do with each other"],
    ["tuntas choose --steps --caller --items", "a workflow, with an api before it and a worker beside it"],
  ],
  no: "every answer is no",
  async run(call) {
    const given = answered(call);
    if (given.holds.size > 0) return answerTo(given);
    if (isTerminal(call)) return answerTo(await ask(call));
    throw call.wrong(
      `expected what holds of it, of ${traits.map((trait) => `--${trait}`).join(", ")}; on a terminal it asks`,
    );
  },
};
