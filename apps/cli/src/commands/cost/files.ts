// The two files of an estimate: prices of one's own, and figures that nobody can see from here.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Figures, PriceTable } from "tuntas/cost";
import type { Call, OptionSpec } from "../../command.ts";
import { requireFile } from "../../dev/load.ts";

/** Errors: TUNTAS_CLI_USAGE for what is no JSON, those of a file that is not there. */
function jsonOf(call: Call, option: string): unknown {
  const file = call.text(option);
  if (file === undefined) return undefined;
  requireFile(resolve(file));
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw call.wrong(`--${option}: expected JSON in ${file}: ${(cause as Error).message}`);
  }
}

export const pricesOption: OptionSpec = {
  value: "FILE",
  meaning: "your own table, as tuntas cost prices prints one; an example of us-east-1 by default",
};

/** Errors: TUNTAS_COST_PRICES. */
export async function pricesOf(call: Call): Promise<PriceTable> {
  const { checkPrices, examplePrices } = await import("tuntas/cost");
  const given = jsonOf(call, "prices");
  return given === undefined ? examplePrices : checkPrices(given);
}

/** Errors: TUNTAS_COST_FIGURES. */
export async function figuresOf(call: Call): Promise<Figures> {
  const { checkFigures } = await import("tuntas/cost");
  return checkFigures(jsonOf(call, "figures") ?? {});
}
