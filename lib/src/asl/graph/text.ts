// A machine as text: Mermaid's flowchart, which GitHub and editors draw, and an indented list for a terminal.
import { factText, scopeOf, type Arrow, type Scope, type ScopeSpec, type StateBox } from "./model.ts";

const quoted = (text: string): string => `"${text.replaceAll('"', "#quot;").replaceAll("\n", " ")}"`;

/** Mermaid's brackets, by what a state does. */
const shapes: Readonly<Record<string, readonly [string, string]>> = {
  Choice: ["{", "}"],
  Wait: ["([", "])"],
  Succeed: ["((", "))"],
  Fail: ["((", "))"],
};

/** Gives every state a short id of its own, since names may hold anything. */
class Picture {
  readonly lines: string[] = ["flowchart TD"];
  #count = 0;

  draw(scope: Scope, indent: string): void {
    const ids = new Map(scope.boxes.map(({ name }) => [name, `s${this.#count++}`]));
    for (const box of scope.boxes) this.#state(box, ids.get(box.name)!, indent);
    for (const { from, to, label } of scope.arrows) {
      const arrow = label === null ? "-->" : `-->|${quoted(label)}|`;
      this.lines.push(`${indent}${ids.get(from)} ${arrow} ${ids.get(to)}`);
    }
    const start = ids.get(scope.startAt);
    this.lines.push(`${indent}start${start}(( )) --> ${start}`);
  }

  #state({ name, spec, inside }: StateBox, id: string, indent: string): void {
    if (inside.length === 0) {
      const [open, close] = shapes[spec.Type] ?? ["[", "]"];
      const text = quoted(`${name}<br/><small>${factText(name, spec)}</small>`);
      this.lines.push(`${indent}${id}${open}${text}${close}`);
      return;
    }
    this.lines.push(`${indent}subgraph ${id} [${quoted(`${name} (${factText(name, spec)})`)}]`);
    for (const scope of inside) this.draw(scope, `${indent}  `);
    this.lines.push(`${indent}end`);
  }
}

/** The definition as Mermaid text. */
export function toMermaid(definition: ScopeSpec): string {
  const picture = new Picture();
  picture.draw(scopeOf(definition), "  ");
  return `${picture.lines.join("\n")}\n`;
}

const wayText = ({ to, label }: Arrow): string => (label === null ? to : `${to} (${label})`);

function outline(scope: Scope, indent: string): string {
  return scope.boxes
    .map(({ name, spec, inside }) => {
      const ways = scope.arrows.filter(({ from }) => from === name).map(wayText);
      const mark = name === scope.startAt ? "▶" : "•";
      const where = ways.length > 0 ? ` → ${ways.join(", ")}` : "";
      const rest = inside.map((each) => outline(each, `${indent}    `)).join("");
      return `${indent}${mark} ${name} [${factText(name, spec)}]${where}\n${rest}`;
    })
    .join("");
}

/** The definition as an indented list: each state with where it goes. */
export const toOutline = (definition: ScopeSpec): string => outline(scopeOf(definition), "");
