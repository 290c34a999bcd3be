import { existsSync } from "node:fs";
import { readDefinition, toMermaid, toOutline } from "tuntas/workflow";
import type { Call, Command } from "../../command.ts";
import { scopeOptions, withPlatform } from "../../session.ts";
import { findMachine } from "./lookup.ts";

type Definition = ReturnType<typeof readDefinition>;

/** The document in a file, or that of a workflow by its name. */
export const definitionOf = (call: Call): Promise<Definition> | Definition => {
  const named = call.argument(0);
  if (existsSync(named)) return readDefinition(named);
  return withPlatform(async (platform) => {
    const { definition } = await findMachine(platform, call, named);
    return JSON.parse(definition) as Definition;
  });
};

export const workflowGraph: Command = {
  name: "workflow graph",
  summary: "Draws a workflow, from its document or its name: as Mermaid, or as an indented list.",
  arguments: [{ name: "FILE|WORKFLOW", required: true }],
  options: { format: { value: "FORMAT", meaning: "mermaid (the default) or text" }, ...scopeOptions },
  examples: [
    ["tuntas workflow graph case-activation.asl.json", "for a README: GitHub draws it"],
    ["tuntas workflow graph CaseActivation --format text", "for a terminal"],
  ],
  async run(call) {
    const format = call.text("format") ?? "mermaid";
    if (format !== "mermaid" && format !== "text")
      throw call.wrong(`--format: expected mermaid or text, got ${JSON.stringify(format)}`);
    const definition = await definitionOf(call);
    const drawn = format === "mermaid" ? toMermaid(definition) : toOutline(definition);
    return { document: { format, drawn }, text: drawn.trimEnd() };
  },
};
