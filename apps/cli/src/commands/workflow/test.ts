import { readFileSync } from "node:fs";
import { testWorkflow, type Mock, type WorkflowTestResult } from "tuntas/testing";
import type { Call, Command } from "../../command.ts";
import { requireFile } from "../../dev/load.ts";
import { facts, printable, table } from "../../render.ts";
import { scopeOptions } from "../../session.ts";
import { definitionOf } from "./graph.ts";

const parse = (call: Call, name: string, text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw call.wrong(`--${name}: expected JSON, got ${JSON.stringify(text.slice(0, 60))}`);
  }
};

/** Mocks of the file, and those of the line, which win. */
function mocksOf(call: Call): Record<string, Mock> {
  const mocks: Record<string, Mock> = {};
  const file = call.text("mocks");
  if (file !== undefined) {
    requireFile(file);
    Object.assign(mocks, parse(call, "mocks", readFileSync(file, "utf8")));
  }
  for (const each of call.texts("mock")) {
    const [name = "", ...json] = each.split("=");
    mocks[name] = parse(call, "mock", json.join("=")) as Mock;
  }
  return mocks;
}

/** 2 d 1 h 0 m 3 s, without what is nothing at the front. */
function span(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  let left = ms;
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${unit}`);
  }
  return [...parts, `${left / 1000} s`].join(" ");
}

function render({ path, status, error, cause, output, durationMs }: WorkflowTestResult): string {
  const steps = table(path, { after: ({ afterMs }) => span(afterMs), state: ({ state }) => state });
  const shown = output === undefined ? undefined : printable(JSON.stringify(output));
  return `${steps}\n\n${facts({ status, "virtual time": span(durationMs), error, cause, output: shown })}`;
}

export const workflowTest: Command = {
  name: "workflow test",
  summary: "Runs a whole workflow with mocked tasks on a virtual clock, and prints the path that it took.",
  arguments: [{ name: "FILE|WORKFLOW", required: true }],
  options: {
    input: { value: "JSON", meaning: "what it is given; {} by default" },
    mock: {
      value: "NAME=JSON",
      multiple: true,
      meaning:
        'what a state or function comes to: {"returns": …}, {"fails": {"error": …}} or {"never": true}, each with {"after": "2d"}, or a list of these, one an attempt',
    },
    mocks: { value: "FILE", meaning: "a JSON file of mocks by name" },
    expect: { value: "STATUS", meaning: "the status that it must end with; SUCCEEDED by default" },
    ...scopeOptions,
  },
  examples: [
    [
      `tuntas workflow test case.asl.json --mock 'Approve={"after":"2d","returns":{"decision":"APPROVED"}}'`,
      "two days pass at once",
    ],
    ["tuntas workflow test case.asl.json --mocks late.json --expect FAILED --json", "in CI"],
  ],
  no: "it ended otherwise than expected",
  async run(call) {
    const input = parse(call, "input", call.text("input") ?? "{}");
    const result = await testWorkflow(await definitionOf(call), { input, mocks: mocksOf(call) });
    const isExpected = result.status === (call.text("expect") ?? "SUCCEEDED");
    return { document: result, text: render(result), status: isExpected ? 0 : 1 };
  },
};
