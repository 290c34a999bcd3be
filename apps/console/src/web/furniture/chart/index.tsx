// Lines over time, several charts below each other on one axis: pointing at one shows the same instant in the others.
// Deployments and changes of configuration stand as lines with their names; where nobody looked there is no line.
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { makePalette, optionsOf } from "./drawing.ts";
import "./chart.css";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** The name of a colour of the style. */
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
  /** Whether the marks have their names here. */
  readonly named?: boolean;
  /** Whether the times stand below. */
  readonly timed?: boolean;
  readonly textOf: (value: number) => string;
  /** Values are seconds: lines stand at whole minutes and hours. */
  readonly seconds?: boolean;
  /** Charts of one group share the pointer. */
  readonly group: string;
}

const heightsPx = { timed: 132, bare: 110 };

const dataOf = ({ atMs, lines }: ChartProps): uPlot.AlignedData => [
  atMs.map((at) => at / 1000),
  ...lines.map(({ values }) => [...values]),
];

/** Draws anew where the theme, the width or what is drawn changes; new values alone only move the lines. */
function usePlot(props: ChartProps, onPoint: (index: number | null) => void) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const current = useRef(props);
  current.current = props;
  const shape = JSON.stringify([props.lines.map(({ name }) => name), props.marks]);
  useEffect(() => {
    const element = frame.current!;
    const heightPx = current.current.timed ? heightsPx.timed : heightsPx.bare;
    const draw = (): void => {
      plot.current?.destroy();
      const drawn = { widthPx: element.clientWidth, heightPx, palette: makePalette(element), onPoint };
      plot.current = new uPlot(optionsOf(current.current, drawn), dataOf(current.current), element);
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
  }, [shape, onPoint]);
  useEffect(() => plot.current?.setData(dataOf(props)));
  return frame;
}

const valueAt = ({ values }: Line, index: number | null): number | null =>
  index === null ? (values.findLast((value) => value !== null) ?? null) : (values[index] ?? null);

export function Chart(props: ChartProps) {
  const [index, setIndex] = useState<number | null>(null);
  const frame = usePlot(props, setIndex);
  return (
    <div className="chart" role="img" aria-label={props.label}>
      <div className="chart-names" aria-hidden="true">
        {props.lines.map((line) => {
          const value = valueAt(line, index);
          return (
            <span key={line.name} className="chart-name" data-colour={line.colour} data-dashed={line.dashed}>
              {line.name} <strong className="number">{value === null ? "–" : props.textOf(value)}</strong>
            </span>
          );
        })}
      </div>
      <div ref={frame} />
    </div>
  );
}
