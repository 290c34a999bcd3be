import type { Polling, PriceTable } from "tuntas/cost";
import type { Call, Command } from "../../command.ts";
import { table } from "../../render.ts";
import { pricesOf, pricesOption } from "./files.ts";

interface Row {
  readonly waits: string;
  readonly checks: number;
  readonly transitions: number;
  readonly late: string;
}

function textOf(of: Polling, { currency }: PriceTable, executions: number): string {
  const rows: Row[] = [
    { waits: "polling", checks: of.checks, transitions: of.transitions, late: `${of.lateSeconds} s` },
    { waits: "callback", checks: 0, transitions: of.callbackTransitions, late: "0 s" },
  ];
  const share = `${(of.historyShare * 100).toFixed(1)} % of the events that an execution may have`;
  return [
    table(rows, {
      "": ({ waits }) => waits,
      checks: ({ checks }) => checks,
      transitions: ({ transitions }) => transitions,
      "notices the end late by": ({ late }) => late,
    }),
    `${of.extraTransitions} transitions more an execution: ${of.extraCost.toFixed(2)} ${currency} a month for ${executions}; the rounds take ${share}.`,
  ].join("\n");
}

async function run(call: Call) {
  const { comparePolling } = await import("tuntas/cost");
  const seconds = (name: string): number => {
    call.required(name);
    const ms = call.durationMs(name)!;
    if (ms < 1000) throw call.wrong(`--${name}: expected a second or more, as a Wait has whole seconds`);
    return ms / 1000;
  };
  const executions = call.count("executions") ?? 1;
  const states = call.count("states", [2, 100]) ?? 3;
  const prices = await pricesOf(call);
  const of = comparePolling(
    { everySeconds: seconds("every"), forSeconds: seconds("for"), states, executions },
    prices,
  );
  return { document: of, text: textOf(of, prices, executions) };
}

export const costPolling: Command = {
  name: "cost polling",
  summary:
    "Compares a state machine that asks again and again whether a job is done with one that is called back.",
  options: {
    every: { value: "DURATION", meaning: "how long each round waits" },
    for: { value: "DURATION", meaning: "how long the job takes" },
    states: { value: "COUNT", meaning: "states of a round: 3 by default, a Wait, the question and a Choice" },
    executions: { value: "COUNT", meaning: "executions a month; 1 by default" },
    prices: pricesOption,
  },
  examples: [
    [
      "tuntas cost polling --every 30s --for 30m --executions 10000",
      "what does it cost to ask every 30 s about jobs of half an hour?",
    ],
  ],
  run,
};
