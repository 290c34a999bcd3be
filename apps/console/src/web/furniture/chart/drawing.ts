// How a chart is drawn: colours of this theme, axes, marks.
import type uPlot from "uplot";
import type { ChartMark, ChartProps } from "./index.tsx";

export type Palette = (name: string) => string;

const names = ["accent", "danger", "warn", "muted", "line", "text", "surface"];

/** Colours as the browser works them out in this theme. */
export function makePalette(element: HTMLElement): Palette {
  const probe = element.appendChild(document.createElement("i"));
  const known = new Map<string, string>();
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  probe.remove();
  return (name) => known.get(name) ?? "gray";
}

const transparent = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const daySeconds = 86_400;

const timeText = (seconds: number, stepSeconds: number): string =>
  (stepSeconds >= daySeconds ? day : clock).format(new Date(seconds * 1000));

/** Lines where something was changed. Their names stand in the first chart of a group, none upon another. */
export function drawMarks(plot: uPlot, marks: readonly ChartMark[], palette: Palette, named: boolean): void {
  const { ctx, bbox } = plot;
  const dot = devicePixelRatio;
  const ends: number[] = [];
  ctx.save();
  ctx.strokeStyle = palette("muted");
  ctx.fillStyle = palette("text");
  ctx.setLineDash([3 * dot, 3 * dot]);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.font = `${11 * dot}px system-ui, sans-serif`;
  for (const { atMs, text } of marks) {
    const x = plot.valToPos(atMs / 1000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (!named) continue;
    const width = ctx.measureText(text).width + 8 * dot;
    const left = x + width < bbox.left + bbox.width ? x + 4 * dot : x - width + 4 * dot;
    const free = ends.findIndex((end) => end < left);
    const row = free === -1 ? ends.length : free;
    ends[row] = left + width;
    ctx.fillText(text, left, bbox.top + (11 + row * 14) * dot);
  }
  ctx.restore();
}

export interface Drawn {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly palette: Palette;
  /** Tells which instant is pointed at; null where none is. */
  readonly onPoint: (index: number | null) => void;
}

const secondSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800,
];

function axesOf({ textOf, timed, seconds }: ChartProps, palette: Palette): uPlot.Axis[] {
  const plain = {
    stroke: palette("muted"),
    grid: { stroke: palette("line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return [
    {
      ...plain,
      size: timed ? 28 : 6,
      values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => (timed ? timeText(tick, step) : "")),
    },
    {
      ...plain,
      size: 72,
      space: 36,
      values: (_plot, ticks) => ticks.map(textOf),
      ...(seconds && { incrs: secondSteps }),
    },
  ];
}

export function optionsOf(props: ChartProps, { widthPx, heightPx, palette, onPoint }: Drawn): uPlot.Options {
  const { lines, marks = [], group, named = false } = props;
  return {
    width: widthPx,
    height: heightPx,
    cursor: { sync: { key: group }, y: false, points: { size: 7 } },
    legend: { show: false },
    padding: [8, 12, 0, 0],
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] } },
    axes: axesOf(props, palette),
    series: [
      {},
      ...lines.map(({ colour, area, dashed }) => ({
        stroke: palette(colour),
        width: 1.75,
        ...(dashed && { dash: [5, 4] }),
        ...(area && { fill: transparent(palette(colour)) }),
        points: { show: false },
      })),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, marks, palette, named)],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
    },
  };
}
