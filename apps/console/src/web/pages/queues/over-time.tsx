// What was done and how old the oldest was, on one axis, with what was changed meanwhile.
import { lazy, Suspense } from "react";
import type { QueueSeries } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { countText, rateText } from "../../furniture/count.tsx";
import { Empty } from "../../furniture/notice.tsx";
import { durationText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";

const Chart = lazy(() => import("../../furniture/chart/index.tsx").then(({ Chart }) => ({ default: Chart })));

const ranges = [
  ["15", "15 minutes"],
  ["60", "1 hour"],
  ["360", "6 hours"],
  ["1440", "1 day"],
  ["10080", "7 days"],
] as const;

const usual = "60";

function Range() {
  const url = useUrl();
  return (
    <select
      className="input"
      aria-label="How far back"
      value={url.get("minutes") ?? usual}
      onChange={({ target }) => url.set({ minutes: target.value === usual ? undefined : target.value })}
    >
      {ranges.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

const age = (seconds: number): string => (seconds === 0 ? "0" : durationText(seconds * 1000));

const latest = (values: readonly (number | null)[]): number =>
  values.findLast((value) => value !== null) ?? 0;

function Charts({ series }: { readonly series: QueueSeries }) {
  const { atMs, donePerMinute, failedPerMinute, ready, oldestAgeSeconds } = series;
  const marks = series.marks
    .filter(({ kind }) => kind !== "gap")
    .map(({ atMs: at, text, kind }) => ({
      atMs: at,
      text: kind === "deployment" ? `deployed ${text}` : text,
    }));
  return (
    <div className="over-time">
      <Chart
        group="queue"
        named
        label={`Attempts a minute: ${rateText(latest(donePerMinute))} done, ${rateText(latest(failedPerMinute))} not, at last`}
        atMs={atMs}
        marks={marks}
        textOf={rateText}
        lines={[
          { name: "Done a minute", values: donePerMinute, colour: "accent", area: true },
          { name: "Not done a minute", values: failedPerMinute, colour: "danger", dashed: true },
        ]}
      />
      <Chart
        group="queue"
        label={`Ready messages: ${countText(latest(ready))} at last`}
        atMs={atMs}
        marks={marks}
        textOf={(value) => countText(Math.round(value))}
        lines={[{ name: "Ready", values: ready, colour: "accent", area: true }]}
      />
      <Chart
        group="queue"
        timed
        seconds
        label={`Age of the oldest: ${age(latest(oldestAgeSeconds))} at last`}
        atMs={atMs}
        marks={marks}
        textOf={age}
        lines={[{ name: "Oldest", values: oldestAgeSeconds, colour: "warn", area: true }]}
      />
    </div>
  );
}

export function OverTime({ queue }: { readonly queue: string }) {
  const minutes = useUrl().get("minutes") ?? usual;
  const series = useRead("queue.series", { queue, minutes }, { everyMs: 10_000 }).data?.value;
  return (
    <section className="card" aria-label="Over time">
      <header>
        <h2>Over time</h2>
        <Range />
      </header>
      {series && series.atMs.length > 1 ? (
        <div className="inside">
          <Suspense fallback={<div className="chart" />}>
            <Charts series={series} />
          </Suspense>
        </div>
      ) : (
        <Empty title="No figures yet.">They are taken every ten seconds, while something changes.</Empty>
      )}
    </section>
  );
}
