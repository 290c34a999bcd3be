// Pause, resume, limits, purge.
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import type { QueueLimits, QueueView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { countText } from "../../furniture/count.tsx";
import { useMay } from "../../api/session.ts";
import { durationText } from "../../furniture/time.tsx";

type Asked = "pause" | "resume" | "purge" | "limits" | undefined;

interface DialogProps {
  readonly view: QueueView;
  readonly onClose: () => void;
}

function Pause({ view: { survey }, onClose }: DialogProps) {
  const pause = useAct("queue.pause");
  return (
    <Confirm
      title={`Pause ${survey.name}`}
      verb="Pause"
      onClose={onClose}
      run={async (reason) => {
        await pause.mutateAsync({ queue: survey.name, reason });
        return "Paused. Workers get nothing of it until somebody resumes it.";
      }}
    >
      <p>
        Workers finish what they hold ({countText(survey.inFlight)}) and get nothing new. Messages can still
        be sent.
      </p>
    </Confirm>
  );
}

function Resume({ view: { survey }, onClose }: DialogProps) {
  const resume = useAct("queue.resume");
  return (
    <Confirm
      title={`Resume ${survey.name}`}
      verb="Resume"
      onClose={onClose}
      run={async (reason) => {
        await resume.mutateAsync({ queue: survey.name, reason });
        return "Resumed. Workers take from it again.";
      }}
    >
      <p>
        {countText(survey.ready)} messages wait. It was paused by {survey.pausedBy}.
      </p>
    </Confirm>
  );
}

function Purge({ view: { survey }, onClose }: DialogProps) {
  const purge = useAct("queue.purge");
  const total = survey.ready + survey.inFlight + survey.delayed;
  return (
    <Confirm
      danger
      title={`Purge ${survey.name}`}
      verb="Delete every message"
      typeName={survey.name}
      onClose={onClose}
      run={async (reason) => {
        const { status } = await purge.mutateAsync({ queue: survey.name, reason });
        return status === "purged"
          ? "Every message of it is gone."
          : "It was purged within the last 60 seconds; nothing was deleted now.";
      }}
    >
      <p>
        Deletes about <strong>{countText(total)}</strong> messages for good, those in flight included. What
        lies in its dead-letter queue and in quarantine stays.
      </p>
    </Confirm>
  );
}

interface Limit {
  readonly name: keyof QueueLimits;
  readonly text: string;
  readonly min: number;
  readonly max: number;
}

const limits: readonly Limit[] = [
  { name: "visibilitySeconds", text: "Visibility timeout, seconds", min: 0, max: 43_200 },
  { name: "delaySeconds", text: "Delay of each message, seconds", min: 0, max: 900 },
  { name: "retentionSeconds", text: "Retention, seconds", min: 60, max: 1_209_600 },
  { name: "receiveWaitSeconds", text: "Wait of a receive, seconds", min: 0, max: 20 },
  { name: "receivesMax", text: "Receives before it is a dead letter", min: 1, max: 1000 },
];

type Values = Readonly<Record<string, string>>;

function Fields({
  view,
  values,
  onChange,
}: Pick<DialogProps, "view"> & { values: Values; onChange: (values: Values) => void }): ReactNode {
  return limits
    .filter(({ name }) => name !== "receivesMax" || view.record.deadLetterName !== null)
    .map(({ name, text, min, max }) => (
      <label className="field" key={name}>
        <span>
          {text}{" "}
          <span className="hint">
            {name.endsWith("Seconds") && values[name]
              ? durationText(Number(values[name]) * 1000)
              : `${min} to ${max}`}
          </span>
        </span>
        <input
          className="input number"
          type="number"
          min={min}
          max={max}
          value={values[name] ?? ""}
          onChange={(event) => onChange({ ...values, [name]: event.target.value })}
        />
      </label>
    ));
}

function Limits({ view, onClose }: DialogProps) {
  const configure = useAct("queue.limits");
  const { record } = view;
  const before = Object.fromEntries(limits.map(({ name }) => [name, String(record[name] ?? "")]));
  const [values, setValues] = useState<Values>(before);
  const changed = Object.entries(values).filter(([name, value]) => value !== "" && value !== before[name]);
  return (
    <Confirm
      title={`Limits of ${record.name}`}
      verb="Change them"
      onClose={onClose}
      run={async (reason) => {
        if (changed.length === 0) return "Nothing was different, so nothing was changed.";
        const settings = Object.fromEntries(changed.map(([name, value]) => [name, Number(value)]));
        await configure.mutateAsync({ queue: record.name, reason, ...settings });
        return `Changed: ${changed.map(([name, value]) => `${name} ${before[name] || "none"} → ${value}`).join(", ")}.`;
      }}
    >
      <p className="muted">What code declares is set again at its next start; change it there too.</p>
      <Fields view={view} values={values} onChange={setValues} />
    </Confirm>
  );
}

const dialogs = { pause: Pause, resume: Resume, purge: Purge, limits: Limits };

export function QueueActs({ view }: { readonly view: QueueView }) {
  const [asked, setAsked] = useState<Asked>();
  const may = useMay();
  const paused = view.survey.pausedAtMs !== null;
  const Asking = asked && dialogs[asked];
  return (
    <>
      {may("message.send") && (
        <Link className="button" href={`/try?queue=${encodeURIComponent(view.survey.name)}`}>
          Send
        </Link>
      )}
      <button
        type="button"
        className="button"
        disabled={!may("queue.pause")}
        onClick={() => setAsked(paused ? "resume" : "pause")}
      >
        {paused ? "Resume" : "Pause"}
      </button>
      <button
        type="button"
        className="button"
        disabled={!may("queue.configure")}
        onClick={() => setAsked("limits")}
      >
        Limits
      </button>
      <button
        type="button"
        className="button"
        disabled={!may("queue.purge")}
        onClick={() => setAsked("purge")}
      >
        Purge
      </button>
      {Asking && <Asking view={view} onClose={() => setAsked(undefined)} />}
    </>
  );
}
