import { existsSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { toMermaid, toOutline } from "tuntas/asl/graph";
import { readDefinition } from "tuntas/workflow";
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

const draw = (definition: Definition, format: string): string =>
  (format === "mermaid" ? toMermaid : toOutline)(definition as never).trimEnd();

export const workflowGraph: Command = {
  name: "workflow graph",
  summary:
    "Draws a workflow, from its document or its name: as Mermaid, as an indented list, or as a picture.",
  arguments: [{ name: "FILE|WORKFLOW", required: true }],
  options: {
    format: { value: "FORMAT", meaning: "mermaid (the default) or text" },
    svg: { value: "FILE", meaning: "writes a picture to this file instead, for a browser, light and dark" },
    ...scopeOptions,
  },
  examples: [
    ["tuntas workflow graph case-activation.asl.json", "for a README: GitHub draws it"],
    ["tuntas workflow graph CaseActivation --format text", "for a terminal"],
    ["tuntas workflow graph CaseActivation --svg case.svg", "for a browser, a page, a mail"],
  ],
  async run(call) {
    const format = call.text("format") ?? "mermaid";
    if (format !== "mermaid" && format !== "text")
      throw call.wrong(`--format: expected mermaid or text, got ${JSON.stringify(format)}`);
    const definition = await definitionOf(call);
    const file = call.text("svg");
    if (file === undefined) {
      const drawn = draw(definition, format);
      return { document: { format, drawn }, text: drawn };
    }
    const { toSvg } = await import("tuntas/asl/drawing");
    const title = basename(call.argument(0)).replace(/(\.asl)?\.(json|ya?ml)$/, "");
    writeFileSync(file, toSvg(definition as never, title));
    return { document: { format: "svg", file }, text: `The picture is in ${file}.` };
  },
};
