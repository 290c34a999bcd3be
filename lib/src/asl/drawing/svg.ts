// A machine as an SVG file: complete in itself, so that a browser, a README and a mail show it, by day and by night.
import { factText, scopeOf, type Arrow, type Scope, type ScopeSpec, type StateBox } from "../graph/index.ts";
import {
  pathOf,
  planOf,
  sizeOf,
  type Placed,
  type Plan,
  type Point,
  type Routed,
  type Size,
} from "./layout.ts";

const marginPx = 28;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

// By type: a hue, and a glyph in a square of 16.
const glyphs: Readonly<Record<string, readonly [tone: string, path: string]>> = {
  Task: ["task", "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z"],
  Choice: ["choice", "M8 1.5 14.5 8 8 14.5 1.5 8z"],
  Wait: ["wait", "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8M8 4.6V8l2.4 1.6"],
  Pass: ["pass", "M2 8h11M9 4l4 4-4 4"],
  Parallel: ["group", "M2 8h2.5C7 8 7 4 9.5 4H13M4.5 8C7 8 7 12 9.5 12H13M11 2l2 2-2 2M11 10l2 2-2 2"],
  Map: ["group", "M2.5 3.5h11M2.5 8h11M2.5 12.5h11"],
  Succeed: ["good", "M2.8 8.6 6.4 12l6.8-7.6"],
  Fail: ["danger", "M3.5 3.5l9 9M12.5 3.5l-9 9"],
};

// The second value of each pair is that of the night.
const colours: readonly (readonly [name: string, day: string, night: string])[] = [
  ["ground", "#ffffff", "#14171c"],
  ["box", "#ffffff", "#1e232b"],
  ["inner", "#f5f7fa", "#191d24"],
  ["edge", "#d3d9e2", "#3a424f"],
  ["line", "#8b95a5", "#7f8a9b"],
  ["text", "#1b2330", "#eceff4"],
  ["muted", "#5f6b7c", "#a2adbd"],
  ["task", "#2f6fed", "#78a6ff"],
  ["choice", "#8a4fd8", "#c39bff"],
  ["wait", "#a96c00", "#efb44d"],
  ["pass", "#5f6b7c", "#a2adbd"],
  ["group", "#0a7f86", "#4fc9cf"],
  ["good", "#1a7f45", "#58cf8b"],
  ["danger", "#c5352c", "#ff8a80"],
];

const palette = (which: 1 | 2): string => colours.map((each) => `--${each[0]}:${each[which]}`).join(";");
const tones = colours.map(([name]) => `.${name}{--tone:var(--${name})}`).join("");

const style = `svg{${palette(1)};font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media (prefers-color-scheme:dark){svg{${palette(2)}}}
${tones}
svg{background:var(--ground)}.ground{fill:var(--ground)}
.state rect{fill:var(--box);stroke:var(--edge);stroke-width:1.25}
.state.inside>rect{fill:var(--inner)}
.state.danger>rect,.state.good>rect{stroke:var(--tone)}
.badge{fill:var(--tone);opacity:.13;stroke:none}
.glyph{fill:none;stroke:var(--tone);stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
text{fill:var(--text);font-size:13.5px;font-weight:600}
.kind{fill:var(--muted);font-size:11.5px;font-weight:400}.note{fill:var(--danger);font-style:italic}
.arrow{fill:none;stroke:var(--line);stroke-width:1.5}
.catch{stroke:var(--danger);stroke-dasharray:5 4}
.label{font-size:11.5px;font-weight:500;fill:var(--muted);text-anchor:middle}
.label.caught{fill:var(--danger);font-style:italic}
.pill{fill:var(--ground)}
.head{fill:var(--line)}.head.caught{fill:var(--danger)}
.dot{fill:var(--line)}.ring{fill:none;stroke:var(--line);stroke-width:1.5}`;

const markers = ["", "caught"].map(
  (kind) =>
    `<marker id="head${kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head ${kind}" d="M0 .8 9.5 5 0 9.2z"/></marker>`,
);

/** How wide a text is, about: nobody can measure it before it is shown. */
const widthOf = (text: string, px: number): number => [...text].length * px;

/** The text, cut to the room that there is; the whole shows where one points at it. */
function fitted(text: string, room: number, px: number): string {
  const charsMax = Math.floor(room / px);
  const chars = [...text];
  return chars.length > charsMax ? `${chars.slice(0, charsMax - 1).join("")}…` : text;
}

/** What the second and further lines of a box are for: errors whose arrows are not drawn. */
type Notes = ReadonlyMap<string, readonly string[]>;

const crowdMin = 3;

/** Where many catches go to one state, their arrows would be all that one sees: all but the last become a line of their box. */
function uncrowded(scope: Scope): { readonly scope: Scope; readonly notes: Notes } {
  const catches = scope.arrows.filter(({ kind }) => kind === "catch");
  const isDropped = (arrow: Arrow): boolean => {
    const same = catches.filter(({ to }) => to === arrow.to);
    return arrow.kind === "catch" && same.length >= crowdMin && arrow !== same.at(-1);
  };
  const notes = new Map<string, string[]>();
  for (const { from, to, label } of catches.filter(isDropped))
    notes.set(from, [...(notes.get(from) ?? []), `${label} → ${to}`]);
  return { scope: { ...scope, arrows: scope.arrows.filter((arrow) => !isDropped(arrow)) }, notes };
}

const notePx = 16;

const sizeWith =
  (notes: Notes) =>
  (box: StateBox): Size => {
    const { width, height } = sizeOf(box);
    const own = notes.get(box.name) ?? [];
    const widest = Math.max(0, ...own.map((note) => widthOf(note, 6.1) + 70));
    return { width: Math.max(width, Math.min(widest, 320)), height: height + own.length * notePx };
  };

function linesOf({ box: { name, spec }, width, height }: Placed, notes: readonly string[]): string {
  const room = width - 62;
  const top = (height - 34 - notes.length * notePx) / 2 + 13;
  const more = notes.map(
    (note, index) =>
      `<text class="kind note" x="48" y="${top + 17 + (index + 1) * notePx}">${escaped(fitted(note, room, 6.1))}</text>`,
  );
  return `<text x="48" y="${top}">${escaped(fitted(name, room, 8.6))}</text>
<text class="kind" x="48" y="${top + 17}">${escaped(fitted(factText(name, spec), room, 6.2))}</text>${more.join("")}`;
}

function boxOf(placed: Placed, notes: readonly string[] = []): string {
  const { box, x, y, width } = placed;
  const { name, spec, inside } = box;
  const [tone, glyph] = glyphs[spec.Type] ?? glyphs.Task!;
  const isGroup = inside.length > 0;
  const top = isGroup ? 11 : 15;
  const kind = factText(name, spec);
  const lines = isGroup
    ? `<text x="48" y="29">${escaped(name)}<tspan class="kind" dx="9">${escaped(kind)}</tspan></text>`
    : linesOf(placed, notes);
  const tip = [name, kind, ...notes, spec.Comment].filter(Boolean).join("\n");
  return `<g class="state ${tone}${isGroup ? " inside" : ""}" transform="translate(${round(x)} ${round(y)})"><title>${escaped(tip)}</title>
<rect width="${round(width)}" height="${round(placed.height)}" rx="10"/>
<circle class="badge" cx="26" cy="${top + 14}" r="14"/><path class="glyph" transform="translate(18 ${top + 6})" d="${glyph}"/>
${lines}</g>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
const rounded = (points: readonly Point[]): Point[] =>
  points.map(({ x, y }) => ({ x: round(x), y: round(y) }));

function lineOf({ arrow, points }: Routed): string {
  const isCatch = arrow.kind === "catch";
  const marker = isCatch ? "headcaught" : "head";
  return `<path class="arrow${isCatch ? " catch" : ""}" d="${pathOf(rounded(points))}" marker-end="url(#${marker})"/>`;
}

function labelOf({ arrow, label }: Routed): string {
  if (arrow.label === null || label === null) return "";
  const width = widthOf(arrow.label, 6.1) + 10;
  const { x, y } = { x: round(label.x), y: round(label.y) };
  const caught = arrow.kind === "catch" ? " caught" : "";
  return `<rect class="pill" x="${round(x - width / 2)}" y="${y - 9}" width="${round(width)}" height="18" rx="9"/><text class="label${caught}" x="${x}" y="${y + 4}">${escaped(arrow.label)}</text>`;
}

function dotsOf({ start, end }: Plan): string {
  const at = (point: Point) => `cx="${round(point.x)}" cy="${round(point.y)}"`;
  const first = start ? `<circle class="dot" ${at(start)} r="12"><title>Start</title></circle>` : "";
  const last = end
    ? `<g><title>End</title><circle class="ring" ${at(end)} r="12"/><circle class="dot" ${at(end)} r="7"/></g>`
    : "";
  return first + last;
}

/** The definition as the text of an SVG file, light or dark as its reader's screen is. */
export function toSvg(
  definition: ScopeSpec & { readonly Comment?: string },
  title = "State machine",
): string {
  const { scope, notes } = uncrowded(scopeOf(definition));
  const plan = planOf(scope, sizeWith(notes));
  const [width, height] = [Math.ceil(plan.width) + 2 * marginPx, Math.ceil(plan.height) + 2 * marginPx];
  const groups = plan.boxes.filter(({ box }) => box.inside.length > 0);
  const single = plan.boxes.filter(({ box }) => box.inside.length === 0);
  const about = definition.Comment === undefined ? title : `${title}: ${definition.Comment}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(about)}">
<title>${escaped(about)}</title>
<style>${style}</style>
<defs>${markers.join("")}</defs>
<rect class="ground" width="${width}" height="${height}"/>
<g transform="translate(${marginPx} ${marginPx})">
${groups.map((group) => boxOf(group)).join("\n")}
${plan.arrows.map(lineOf).join("\n")}
${single.map((each) => boxOf(each, notes.get(each.box.name))).join("\n")}
${plan.arrows.map(labelOf).filter(Boolean).join("\n")}
${dotsOf(plan)}
</g>
</svg>
`;
}
