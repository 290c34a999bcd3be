// A definition as a picture: Mermaid's flowchart, which GitHub, editors and the console draw.
import type { Json, JsonObject } from "../asl/contract.ts";
import { functionOf, parametersOf } from "./definition/functions.ts";

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];

const quoted = (text: string): string => `"${text.replaceAll('"', "#quot;").replaceAll("\n", " ")}"`;

/** Mermaid's brackets, by what a state does. */
const shapes: Readonly<Record<string, readonly [string, string]>> = {
  Choice: ["{", "}"],
  Wait: ["([", "])"],
  Succeed: ["((", "))"],
  Fail: ["((", "))"],
};

function labelOf(name: string, state: JsonObject): string {
  if (state.Type !== "Task") return `${name}<br/><small>${String(state.Type)}</small>`;
  const resource = String(state.Resource);
  const called = functionOf(resource, parametersOf(state)) ?? resource.split(":").slice(5).join(":");
  const waits = resource.endsWith(".waitForTaskToken") ? " and wait for its answer" : "";
  return `${name}<br/><small>${called || resource}${waits}</small>`;
}

/** What a rule of a Choice asks, as far as one line holds it. */
function conditionOf({ Next: _next, Output: _output, Assign: _assign, ...rule }: JsonObject): string {
  if (typeof rule.Condition === "string") return rule.Condition.replace(/^\{%\s*|\s*%\}$/g, "");
  const [operator, value] = Object.entries(rule).find(([key]) => key !== "Variable") ?? ["", ""];
  if (rule.Variable === undefined) return operator;
  return `${String(rule.Variable)} ${operator} ${JSON.stringify(value)}`;
}

function edgesOf(name: string, state: JsonObject): Edge[] {
  const edges: Edge[] = [];
  const add = (to: Json | undefined, label?: string) => {
    if (typeof to === "string") edges.push({ from: name, to, ...(label === undefined ? {} : { label }) });
  };
  for (const rule of listOf(state.Choices)) add(rule.Next, conditionOf(rule));
  add(state.Default, "else");
  add(state.Next);
  for (const catcher of listOf(state.Catch)) add(catcher.Next, (catcher.ErrorEquals as string[]).join(", "));
  return edges;
}

function innerOf(state: JsonObject): readonly JsonObject[] {
  return [...listOf(state.Branches), state.ItemProcessor, state.Iterator].filter(isObject);
}

/** Gives every state a short id of its own, since names may hold anything and repeat in branches. */
class Picture {
  readonly lines: string[] = ["flowchart TD"];
  #count = 0;

  draw(machine: JsonObject, indent: string): void {
    const states = Object.entries(machine.States as JsonObject).filter(
      (entry): entry is [string, JsonObject] => isObject(entry[1]),
    );
    const ids = new Map(states.map(([name]) => [name, `s${this.#count++}`]));
    for (const [name, state] of states) this.#state({ name, state, id: ids.get(name)! }, indent);
    for (const [name, state] of states)
      for (const { to, label } of edgesOf(name, state)) {
        const arrow = label === undefined ? "-->" : `-->|${quoted(label)}|`;
        this.lines.push(`${indent}${ids.get(name)} ${arrow} ${ids.get(to) ?? quoted(to)}`);
      }
    const start = `${ids.get(machine.StartAt as string)}`;
    this.lines.push(`${indent}start${start}(( )) --> ${start}`);
  }

  #state({ name, state, id }: { name: string; state: JsonObject; id: string }, indent: string): void {
    const inner = innerOf(state);
    if (inner.length === 0) {
      const [open, close] = shapes[state.Type as string] ?? ["[", "]"];
      this.lines.push(`${indent}${id}${open}${quoted(labelOf(name, state))}${close}`);
      return;
    }
    this.lines.push(`${indent}subgraph ${id} [${quoted(`${name} (${String(state.Type)})`)}]`);
    for (const machine of inner) this.draw(machine, `${indent}  `);
    this.lines.push(`${indent}end`);
  }
}

/** The definition as Mermaid text. */
export function toMermaid(definition: JsonObject): string {
  const picture = new Picture();
  picture.draw(definition, "  ");
  return `${picture.lines.join("\n")}\n`;
}

/** The definition as an indented list: each state with where it goes. */
export function toOutline(definition: JsonObject, indent = ""): string {
  const states = Object.entries(definition.States as JsonObject);
  return states
    .filter((entry): entry is [string, JsonObject] => isObject(entry[1]))
    .map(([name, state]) => {
      const mark = name === definition.StartAt ? "▶" : "•";
      const ways = edgesOf(name, state).map(({ to, label }) => (label ? `${to} (${label})` : to));
      const head = `${indent}${mark} ${name} [${String(state.Type)}]${ways.length > 0 ? ` → ${ways.join(", ")}` : ""}\n`;
      return (
        head +
        innerOf(state)
          .map((machine) => toOutline(machine, `${indent}    `))
          .join("")
      );
    })
    .join("");
}
