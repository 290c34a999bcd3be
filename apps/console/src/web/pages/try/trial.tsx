// The frame of each trial: what is asked on the left, what came of it on the right, the newest first.
import { useState, type FormEvent, type ReactNode } from "react";
import type { ActName, BodyOf, OutcomeOf } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Empty, Failure } from "../../furniture/notice.tsx";
import { Reason } from "../../furniture/reason.tsx";

export interface TrialProps<N extends ActName> {
  readonly act: N;
  /** What the role must allow. */
  readonly may: string;
  readonly verb: string;
  /** What is asked; undefined while something is missing. */
  readonly body: Omit<BodyOf<N>, "reason"> | undefined;
  readonly children: ReactNode;
  readonly outcome: (answer: OutcomeOf<N>, body: Omit<BodyOf<N>, "reason">) => ReactNode;
  /** What stands there before anything was tried. */
  readonly before: string;
  readonly onDone?: () => void;
}

interface Tried<N extends ActName> {
  readonly number: number;
  readonly answer: OutcomeOf<N>;
  readonly body: Omit<BodyOf<N>, "reason">;
}

const keptMax = 10;

export function Trial<N extends ActName>(props: TrialProps<N>) {
  const { act, verb, body, children, outcome, before, onDone } = props;
  const doing = useAct(act);
  const allowed = useMay()(props.may);
  const [reason, setReason] = useState("to try it");
  const [tried, setTried] = useState<readonly Tried<N>[]>([]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!body) return;
    doing.mutate({ ...body, reason } as BodyOf<N>, {
      onSuccess(answer) {
        setTried((all) => [{ number: (all[0]?.number ?? 0) + 1, answer, body }, ...all].slice(0, keptMax));
        onDone?.();
      },
    });
  };
  return (
    <div className="trial">
      <form className="card" onSubmit={submit}>
        {children}
        <Reason value={reason} onChange={setReason} />
        {doing.error && <Failure error={doing.error} />}
        <div className="row">
          <button
            className="button"
            data-kind="primary"
            disabled={!allowed || !body || doing.isPending || reason.trim() === ""}
          >
            {doing.isPending ? "Working …" : verb}
          </button>
          {!allowed && <span className="muted">Your role may not do this.</span>}
        </div>
      </form>
      <section className="stack" aria-label="What came of it" aria-live="polite">
        {tried.length === 0 ? (
          <Empty title="Nothing tried yet.">{before}</Empty>
        ) : (
          tried.map(({ number, answer, body: asked }) => (
            <article className="card came" key={number}>
              {outcome(answer, asked)}
            </article>
          ))
        )}
      </section>
    </div>
  );
}

export interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

/** One of a few, also one that the list does not hold. */
export function Choice({ label, value, choices, onChange }: ChoiceProps) {
  const all = choices.some(([each]) => each === value) ? choices : [[value, value] as const, ...choices];
  return (
    <label className="field">
      <span>{label}</span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {all.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface LineProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly required?: boolean;
  readonly type?: "number";
  readonly max?: number;
}

export function Line({ label, hint, value, onChange, required = false, ...more }: LineProps) {
  return (
    <label className="field">
      <span>
        {label} {hint && <span className="hint">{hint}</span>}
      </span>
      <input
        className="input"
        required={required}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        {...more}
        {...(more.type && { min: 0 })}
      />
    </label>
  );
}
