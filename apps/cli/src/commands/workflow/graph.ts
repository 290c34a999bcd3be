import { existsSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { toMermaid, toOutline } from "tuntas/asl/graph";
import { readDefinition } from "tuntas/workflow";
import type { Call, Command } from "../../command.ts";
import { loadApplication } from "../../dev/load.ts";
import { scopeOptions, withPlatform } from "../../session.ts";
import { findMachine } from "./lookup.ts";

type Definition = ReturnType<typeof readDefinition>;

const isModule = (file: string): boolean => /\.[cm]?[jt]s$/.test(file);

/** What an application's file declares; with more than one workflow `FILE#NAME` says which. */
async function declaredIn(call: Call, file: string, name: string | undefined): Promise<Definition> {
  const { parts } = await loadApplication(resolve(file));
  const workflows = Object.values(parts).filter((part) => part.kind === "workflow");
  const found =
    name === undefined && workflows.length === 1
      ? workflows[0]
      : workflows.find((each) => each.name === name);
  if (found) return found.definition;
  const names = workflows.map((each) => `${file}#${each.name}`).join(", ") || "none";
  throw call.wrong(
    `expected one workflow in ${file}, by ${file}#NAME where it has several; it has: ${names}`,
  );
}

/** The document in a file, what an application declares, or that of a workflow by its name. */
export const definitionOf = (call: Call): Promise<Definition> | Definition => {
  const named = call.argument(0);
  const [file = "", name] = named.split("#");
  if (isModule(file)) return declaredIn(call, file, name);
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
    ["tuntas workflow graph dist/cases.js", "what an application declares; FILE#NAME where it has several"],
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
