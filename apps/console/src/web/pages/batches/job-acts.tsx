// Pause, resume, retry what failed, cancel.
import { useState, type ReactNode } from "react";
import type { JobVerb, JobView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { counted } from "../../furniture/count.tsx";

interface Saying {
  readonly button: string;
  readonly verb: string;
  /** What it does, and what it does not. */
  readonly text: (view: JobView) => ReactNode;
  readonly told: string;
}

const sayings: Readonly<Record<JobVerb, Saying>> = {
  retry: {
    button: "Retry what failed",
    verb: "Retry it",
    text: ({ partitions: { failed, done }, planHash }) =>
      planHash === null
        ? "Makes its plan again."
        : failed > 0
          ? `Tries ${counted(failed, "partition")} again, and nothing else: the ${done} that are done are not touched. Then it is validated and promoted.`
          : "Validates and promotes again what is staged; no partition is done again.",
    told: "It goes on when it is its turn.",
  },
  resume: {
    button: "Resume",
    verb: "Resume it",
    text: ({ partitions: { pending, done } }) =>
      `Waits for its turn again, then goes on with ${counted(pending, "partition")}; the ${done} that are done stay done.`,
    told: "It goes on when it is its turn.",
  },
  pause: {
    button: "Pause",
    verb: "Pause it",
    text: ({ partitions: { running } }) =>
      `Begins nothing more; ${running === 0 ? "nothing of it runs now" : `${counted(running, "partition")} under way are finished`}. The next job of the batch may take its turn.`,
    told: "Nothing more of it is begun until somebody resumes it.",
  },
  cancel: {
    button: "Cancel",
    verb: "Cancel it",
    text: () =>
      "Ends it for good: what runs is aborted, and nothing is promoted. Its input may then be started again, as a new job.",
    told: "It has ended. Nothing of it was promoted.",
  },
};

interface DialogProps {
  readonly view: JobView;
  readonly verb: JobVerb;
  readonly onClose: () => void;
}

export function Say({ view, verb, onClose }: DialogProps) {
  const say = useAct("batch.say");
  const { button, verb: text, text: about, told } = sayings[verb];
  return (
    <Confirm
      title={`${button}: job ${view.id} of ${view.batch}`}
      verb={text}
      onClose={onClose}
      {...(verb === "cancel" && { danger: true, typeName: view.batch })}
      run={async (reason) => {
        await say.mutateAsync({ id: view.id, verb, reason });
        return told;
      }}
    >
      <p>{about(view)}</p>
    </Confirm>
  );
}

export function JobActs({ view }: { readonly view: JobView }) {
  const [asked, setAsked] = useState<JobVerb>();
  const may = useMay()("batch.change");
  return (
    <>
      {(Object.keys(sayings) as JobVerb[])
        .filter((verb) => view.verbs.includes(verb))
        .map((verb) => (
          <button
            key={verb}
            type="button"
            className="button"
            data-kind={verb === "retry" || verb === "resume" ? "primary" : undefined}
            disabled={!may}
            onClick={() => setAsked(verb)}
          >
            {sayings[verb].button}
          </button>
        ))}
      {asked && <Say view={view} verb={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
