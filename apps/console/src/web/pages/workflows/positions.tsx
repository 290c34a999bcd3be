// Why a run goes no further, line by line.
import type { Position } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Age, durationText, Instant } from "../../furniture/time.tsx";

const tones: Readonly<Partial<Record<Position["hold"], Tone>>> = {
  retry: "warn",
  token: "warn",
  activity: "warn",
  halted: "danger",
};

function Until({ ms, nowMs }: { readonly ms: number | null; readonly nowMs: number }) {
  if (ms === null) return null;
  return (
    <span className="muted">
      The clock moves it {ms > nowMs ? `in ${durationText(ms - nowMs)}` : "now"}: <Instant ms={ms} />.
    </span>
  );
}

function Line({ position, nowMs }: { readonly position: Position; readonly nowMs: number }) {
  const { path, state, hold, reason, remedy, untilMs, sinceMs, retries } = position;
  return (
    <li>
      <Badge tone={tones[hold] ?? "active"}>{hold}</Badge>
      <div>
        <strong>{[...path, state].join(" › ")}</strong>{" "}
        <span className="muted">
          for <Age ms={Math.max(0, nowMs - sinceMs)} />
          {retries > 0 && `, tried again ${retries} times`}
        </span>
        <div>
          {reason} <Until ms={untilMs} nowMs={nowMs} />
        </div>
        {remedy !== null && <div className="muted">{remedy}</div>}
      </div>
    </li>
  );
}

const shownMax = 12;

export function Positions({
  positions,
  nowMs,
}: {
  readonly positions: readonly Position[];
  readonly nowMs: number;
}) {
  const waiting = positions.filter(({ hold }) => hold !== "children" && hold !== "halted");
  if (waiting.length === 0) return null;
  return (
    <section className="card" aria-label="Why is this not moving?">
      <header>
        <h2>Why is this not moving?</h2>
      </header>
      <ul className="inside positions">
        {waiting.slice(0, shownMax).map((position) => (
          <Line key={position.branch} position={position} nowMs={nowMs} />
        ))}
        {waiting.length > shownMax && <li className="muted">and {waiting.length - shownMax} more</li>}
      </ul>
    </section>
  );
}
