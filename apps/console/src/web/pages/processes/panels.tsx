// What a service, its workers and its releases are like now: nine, nine and six figures.
import type { PanelFigure, PanelsView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Figures } from "../../furniture/figures.tsx";
import { Failure } from "../../furniture/notice.tsx";

const panels: readonly (readonly [keyof PanelsView, string])[] = [
  ["api", "API"],
  ["workers", "Workers"],
  ["release", "Release"],
];

const shown = ({ name, value, note, fine }: PanelFigure) => ({
  name,
  value: value ?? <span className="zero">–</span>,
  note,
  tone: fine === false ? ("danger" as const) : undefined,
});

export function Panels() {
  const read = useRead("panels", {}, { everyMs: 5000 });
  const view = read.data?.value;
  if (read.error && !view) return <Failure error={read.error} />;
  return panels.map(([panel, title]) => (
    <section key={panel} className="stack panel-figures" aria-label={title}>
      <h2>{title}</h2>
      <Figures label={title} figures={(view?.[panel] ?? []).map(shown)} />
    </section>
  ));
}
