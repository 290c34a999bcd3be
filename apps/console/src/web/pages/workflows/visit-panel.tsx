// One state: each stay in it, what went in and out, and every attempt.
import type { Position, RunView, Visit, VisitAttempt, VisitTexts } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Duration, spanText, Instant } from "../../furniture/time.tsx";
import { kindOf, machineOf, specOf, type StateSpec } from "tuntas/asl/graph";
import { outcomeTones } from "./tones.ts";

const attemptTones: Readonly<Record<VisitAttempt["outcome"], Tone>> = {
  running: "active",
  succeeded: "good",
  failed: "danger",
  "timed out": "danger",
};

function Labelled({ label, text }: { readonly label: string; readonly text: string | null | undefined }) {
  if (text === null || text === undefined) return null;
  return (
    <div className="labelled">
      <h3>{label}</h3>
      <BodyText label={label} text={text} />
    </div>
  );
}

function Attempt({
  attempt,
  number,
  texts,
}: {
  attempt: VisitAttempt;
  number: number;
  texts: VisitTexts | undefined;
}) {
  const { scheduledAtMs, startedAtMs, endedAtMs, outcome, error, cause } = attempt;
  const own = texts?.attempts[number - 1];
  return (
    <li className="stack">
      <span className="row">
        <strong>Attempt {number}</strong>
        <Badge tone={attemptTones[outcome]}>{outcome}</Badge>
        <span className="muted">
          <Instant ms={scheduledAtMs} />
          {startedAtMs !== null && `, taken after ${spanText(startedAtMs - scheduledAtMs)}`}
          {endedAtMs !== null && `, took ${spanText(endedAtMs - (startedAtMs ?? scheduledAtMs))}`}
        </span>
      </span>
      {error !== null && (
        <p className="attempt-error">
          <strong>{error}</strong>
          {cause !== null && ` ${cause}`}
        </p>
      )}
      <Labelled label="Given" text={own?.input} />
      <Labelled label="Answered" text={own?.output} />
    </li>
  );
}

function Attempts({ visit, texts }: { readonly visit: Visit; readonly texts: VisitTexts | undefined }) {
  if (visit.attempts.length === 0) return null;
  return (
    <section className="stack" aria-label="Attempts">
      <h3>Attempts</h3>
      <ol className="stack attempts">
        {visit.attempts.map((attempt, index) => (
          <Attempt key={attempt.scheduledAtMs + index} attempt={attempt} number={index + 1} texts={texts} />
        ))}
      </ol>
    </section>
  );
}

function Facts({ visit, position, nowMs }: { visit: Visit; position: Position | undefined; nowMs: number }) {
  const { enteredAtMs, exitedAtMs, item } = visit;
  return (
    <dl className="facts">
      {item !== null && (
        <>
          <dt>Item</dt>
          <dd className="number">{item}</dd>
        </>
      )}
      <dt>Entered</dt>
      <dd>
        <Instant ms={enteredAtMs} />
      </dd>
      <dt>{exitedAtMs === null ? "For" : "Took"}</dt>
      <dd>
        <Duration ms={(exitedAtMs ?? nowMs) - enteredAtMs} />
      </dd>
      {position && (
        <>
          <dt>Waits</dt>
          <dd>{position.reason}</dd>
        </>
      )}
    </dl>
  );
}

function VisitDetails({ run, visit }: { readonly run: RunView; readonly visit: Visit }) {
  const isOver = visit.exitedAtMs !== null || run.execution.status !== "RUNNING";
  const texts = useRead(
    "run.visit",
    { arn: run.execution.arn, visit: visit.id },
    { everyMs: isOver ? false : 3000 },
  );
  const found = texts.data?.value.id === visit.id ? texts.data.value : undefined;
  const position = run.positions.find(({ state, hold }) => state === visit.state && hold !== "halted");
  const endMs = run.execution.stoppedAtMs ?? run.nowMs;
  return (
    <>
      {texts.error && <Failure error={texts.error} />}
      <Facts visit={visit} position={visit.exitedAtMs === null ? position : undefined} nowMs={endMs} />
      <Labelled label="Input" text={found?.input} />
      <Labelled label="Output" text={found?.output} />
      <Labelled label="Variables" text={found?.assigned} />
      <Attempts visit={visit} texts={found} />
    </>
  );
}

interface ChoiceProps {
  readonly visits: readonly Visit[];
  readonly visit: Visit;
  readonly onVisit: (visit: Visit) => void;
}

const textOf = ({ item, outcome }: Visit, number: number): string =>
  `${number}: ${outcome}${item === null ? "" : `, item ${item}`}`;

function VisitChoice({ visits, visit, onVisit }: ChoiceProps) {
  if (visits.length < 2) return null;
  return (
    <label className="field">
      <span>Stay ({visits.length} in all)</span>
      <select
        className="input"
        value={visit.id}
        onChange={(event) => onVisit(visits.find(({ id }) => id === Number(event.target.value))!)}
      >
        {visits.slice(0, 500).map((each, index) => (
          <option key={each.id} value={each.id}>
            {textOf(each, index + 1)}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface VisitPanelProps {
  readonly run: RunView;
  readonly state: string;
  readonly visit: number | undefined;
  readonly onVisit: (visit: Visit) => void;
  readonly onClose: () => void;
}

const specIn = (definition: string, state: string): StateSpec | undefined => {
  const scope = machineOf(definition);
  return scope && specOf(scope, state);
};

export function VisitPanel({ run, state, visit: wanted, onVisit, onClose }: VisitPanelProps) {
  const visits = run.visits.filter((each) => each.state === state);
  const visit = visits.find(({ id }) => id === wanted) ?? visits.at(-1);
  const spec = specIn(run.definition, state);
  return (
    <Panel
      label="State"
      onClose={onClose}
      title={
        <>
          <h2>
            {state} {visit && <Badge tone={outcomeTones[visit.outcome]}>{visit.outcome}</Badge>}
          </h2>
          <span className="muted">{spec && kindOf(spec)}</span>
        </>
      }
    >
      {visit ? (
        <>
          <VisitChoice visits={visits} visit={visit} onVisit={onVisit} />
          <VisitDetails key={visit.id} run={run} visit={visit} />
        </>
      ) : (
        <p className="muted">The run has not come here.</p>
      )}
      <Labelled label="As defined" text={spec && JSON.stringify(spec)} />
    </Panel>
  );
}
