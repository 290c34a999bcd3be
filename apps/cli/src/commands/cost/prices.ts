import type { Command } from "../../command.ts";

export const costPrices: Command = {
  name: "cost prices",
  summary:
    "Prints the example table of prices as JSON, with its region and day: a file to put your own numbers in.",
  examples: [["tuntas cost prices > prices.json", "then replace its numbers, and give it by --prices"]],
  async run() {
    const { examplePrices } = await import("tuntas/cost");
    return { document: examplePrices, text: JSON.stringify(examplePrices, undefined, 2) };
  },
};
