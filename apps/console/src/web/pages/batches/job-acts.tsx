// Pause, resume, retry what failed, cancel.
import type { JobVerb, JobView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { counted } from "../../furniture/count.tsx";
import { Say, Sayings, type Saying } from "../../furniture/sayings.tsx";

const sayings: Readonly<Record<JobVerb, Saying<JobView>>> = {
  retry: {
    button: "Retry what failed",
    verb: "Retry it",
    primary: true,
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
    primary: true,
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
    final: true,
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

export function SayToJob({ view, verb, onClose }: DialogProps) {
  const say = useAct("batch.say");
  return (
    <Say
      saying={sayings[verb]}
      view={view}
      to={`job ${view.id} of ${view.batch}`}
      name={view.batch}
      say={(reason) => say.mutateAsync({ id: view.id, verb, reason })}
      onClose={onClose}
    />
  );
}

export function JobActs({ view }: { readonly view: JobView }) {
  const may = useMay()("batch.change");
  return (
    <Sayings
      sayings={sayings}
      verbs={view.verbs}
      may={() => may}
      dialog={(verb, onClose) => <SayToJob view={view} verb={verb} onClose={onClose} />}
    />
  );
}
