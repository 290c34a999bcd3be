// The windows of a schedule on one line, each in the state that it has come to, and below them when the work ran. A gap is
// one: somebody paused it.
import type { Occurrence, ScheduleView } from "../../../api/index.ts";
import { Mark, type Tone } from "../../furniture/badge.tsx";
import { durationText } from "../../furniture/time.tsx";
import { occurrenceTones, stateText } from "./badges.tsx";
import { keyOf } from "./links.ts";
import "./schedules.css";

const pastMax = 20;
const futureMax = 3;

interface Tile {
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: Occurrence["state"] | "to come";
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What each window has come to: its last run counts. */
function pastOf(occurrences: readonly Occurrence[]): Tile[] {
  const byDue = Map.groupBy(occurrences, ({ dueMs }) => dueMs);
  return [...byDue.values()]
    .slice(0, pastMax)
    .map(([last]) => ({ fromMs: last!.windowStartMs, toMs: last!.windowEndMs, state: last!.state }))
    .toReversed();
}

function futureOf({ pausedAtMs, upcoming, occurrences }: ScheduleView): Tile[] {
  if (pausedAtMs !== null) return [];
  const [first, second] = upcoming;
  const period = first && second ? second.dueMs - first.dueMs : 0;
  const covered = occurrences[0]?.windowEndMs ?? (first?.dueMs ?? 0) - period;
  return upcoming.slice(0, futureMax).map(({ dueMs }, index) => ({
    fromMs: upcoming[index - 1]?.dueMs ?? covered,
    toMs: dueMs,
    state: "to come" as const,
  }));
}

const toneOf = (state: Tile["state"]): Tone => (state === "to come" ? "idle" : occurrenceTones[state]);
const wordOf = (state: Tile["state"]): string => (state === "to come" ? state : stateText(state));

const clamped = (ms: number, { fromMs, toMs }: Span): number =>
  ((Math.min(Math.max(ms, fromMs), toMs) - fromMs) / (toMs - fromMs)) * 100;

const place = (part: Span, span: Span) => ({
  left: `${clamped(part.fromMs, span)}%`,
  width: `${clamped(part.toMs, span) - clamped(part.fromMs, span)}%`,
});

const local = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

const ticks = [0, 0.25, 0.5, 0.75, 1] as const;

function Axis({ span }: { readonly span: Span }) {
  return (
    <div className="timeline-track" data-lane="axis">
      {ticks.map((part) => (
        <b key={part} style={{ left: `${part * 100}%` }} data-at={part}>
          {local.format(span.fromMs + (span.toMs - span.fromMs) * part)}
        </b>
      ))}
    </div>
  );
}

interface WindowsProps {
  readonly tiles: readonly Tile[];
  readonly span: Span;
  readonly nowMs: number;
}

function Windows({ tiles, span, nowMs }: WindowsProps) {
  return (
    <div className="timeline-track" data-lane="windows">
      {tiles.map(({ state, ...part }) => (
        <i
          key={part.toMs}
          data-tone={toneOf(state)}
          data-state={state}
          style={place(part, span)}
          title={`${local.format(part.fromMs)} to ${local.format(part.toMs)}: ${wordOf(state)}`}
        >
          {state !== "to come" && <Mark tone={toneOf(state)} />}
        </i>
      ))}
      <u style={{ left: `${clamped(nowMs, span)}%` }} />
    </div>
  );
}

function Work({ view, span }: { readonly view: ScheduleView; readonly span: Span }) {
  const begun = view.occurrences.flatMap((each) => {
    const { startedAtMs, endedAtMs, state } = each;
    if (startedAtMs === null) return [];
    return [{ key: keyOf(each), state, fromMs: startedAtMs, toMs: endedAtMs ?? view.nowMs }];
  });
  return (
    <div className="timeline-track" data-lane="work">
      {begun
        .filter(({ toMs }) => toMs >= span.fromMs)
        .map(({ key, state, ...part }) => (
          <i
            key={key}
            data-tone={toneOf(state)}
            style={place(part, span)}
            title={`${wordOf(state)}: ${durationText(part.toMs - part.fromMs)}`}
          />
        ))}
    </div>
  );
}

function Legend({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <ul className="row timeline-legend">
      {[...Map.groupBy(tiles, ({ state }) => state)].map(([state, all]) => (
        <li key={state} data-tone={toneOf(state)}>
          <Mark tone={toneOf(state)} /> {all.length} {wordOf(state)}
        </li>
      ))}
    </ul>
  );
}

export function Timeline({ view }: { readonly view: ScheduleView }) {
  const tiles = [...pastOf(view.occurrences), ...futureOf(view)];
  if (tiles.length === 0) return null;
  const span = {
    fromMs: tiles[0]!.fromMs,
    toMs: Math.max(tiles.at(-1)!.toMs, view.nowMs),
  };
  return (
    <section className="card timeline" aria-label="Windows">
      <header>
        <h2>Windows</h2>
        <Legend tiles={tiles} />
      </header>
      <div className="inside timeline-lanes" aria-hidden="true">
        <span>Window</span>
        <Windows tiles={tiles} span={span} nowMs={view.nowMs} />
        <span>Work</span>
        <Work view={view} span={span} />
        <span />
        <Axis span={span} />
      </div>
    </section>
  );
}
