// Lines over time, several charts on one axis: pointing at one shows the same instant in the others. Deployments and
// changes of configuration stand as lines with their names; where nobody looked there is no line.
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./chart.css";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** The name of a colour of the style: `accent`, `danger`, `warn`, `muted`. */
  readonly colour: "accent" | "danger" | "warn" | "muted";
  /** Filled to the axis below. */
  readonly area?: boolean;
  readonly dashed?: boolean;
}

export interface ChartMark {
  readonly atMs: number;
  readonly text: string;
}

export interface ChartProps {
  /** In words, for whoever cannot see it. */
  readonly label: string;
  readonly atMs: readonly number[];
  readonly lines: readonly Line[];
  readonly marks?: readonly ChartMark[];
  readonly textOf: (value: number) => string;
  /** Charts of one group share the pointer. */
  readonly group: string;
}

const heightPx = 170;

/** Colours as the browser works them out in this theme. */
function makePalette(element: HTMLElement): (name: string) => string {
  const probe = element.appendChild(document.createElement("i"));
  const known = new Map<string, string>();
  const palette = (name: string): string => {
    probe.style.color = `var(--${name})`;
    const colour = known.get(name) ?? getComputedStyle(probe).color;
    known.set(name, colour);
    return colour;
  };
  for (const name of ["accent", "danger", "warn", "muted", "line", "text"]) palette(name);
  probe.remove();
  return (name) => known.get(name) ?? "gray";
}

const transparent = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.1)");

function drawMarks(plot: uPlot, marks: readonly ChartMark[], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { atMs, text } of marks) {
    const x = plot.valToPos(atMs / 1000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const width = ctx.measureText(text).width;
    const left = x + width + 8 < bbox.left + bbox.width ? x + 4 : x - width - 4;
    ctx.fillText(text, left, bbox.top + 12 * devicePixelRatio);
  }
  ctx.restore();
}

function optionsOf(props: ChartProps, widthPx: number, palette: (name: string) => string): uPlot.Options {
  const { lines, marks = [], textOf, group } = props;
  const axis = {
    stroke: palette("muted"),
    grid: { stroke: palette("line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return {
    width: widthPx,
    height: heightPx,
    cursor: { sync: { key: group }, y: false, points: { size: 6 } },
    legend: { live: true },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] } },
    axes: [axis, { ...axis, size: 64, values: (_plot, ticks) => ticks.map(textOf) }],
    series: [
      {},
      ...lines.map(({ name, colour, area, dashed }) => ({
        label: name,
        stroke: palette(colour),
        width: 1.75,
        ...(dashed && { dash: [5, 4] }),
        ...(area && { fill: transparent(palette(colour)) }),
        points: { show: false },
        value: (_plot: uPlot, value: number | null) => (value === null ? "–" : textOf(value)),
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, marks, palette("muted"))] },
  };
}

const dataOf = ({ atMs, lines }: ChartProps): uPlot.AlignedData => [
  atMs.map((at) => at / 1000),
  ...lines.map(({ values }) => [...values]),
];

/** Drawn anew where the theme, the width or what is drawn changes; new values alone only move the lines. */
export function Chart(props: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const current = useRef(props);
  current.current = props;
  const shape = JSON.stringify([props.lines.map(({ name }) => name), props.marks]);
  useEffect(() => {
    const element = frame.current!;
    const draw = (): void => {
      plot.current?.destroy();
      const options = optionsOf(current.current, element.clientWidth, makePalette(element));
      plot.current = new uPlot(options, dataOf(current.current), element);
    };
    draw();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: heightPx }),
    );
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)));
  return <div className="chart" role="img" aria-label={props.label} ref={frame} />;
}
