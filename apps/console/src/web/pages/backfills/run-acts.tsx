// What can be said to a run: the verbs of `tuntas backfill`.
import { useState } from "react";
import type { BackfillRunView, RunVerb } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { counted } from "../../furniture/count.tsx";
import { Say, Sayings, type Saying } from "../../furniture/sayings.tsx";

const sayings: Readonly<Record<RunVerb, Saying<BackfillRunView>>> = {
  approve: {
    button: "Approve",
    verb: "Approve it",
    primary: true,
    text: ({ records, actor, sample }) =>
      `Lets ${counted(records, "record")} be changed as the dry run says, in which ${sample?.failed ?? 0} failed. Nothing begins before it is started, and ${actor}, who planned it, cannot approve it.`,
    told: "Approved. It begins when somebody starts it.",
  },
  start: {
    button: "Start",
    verb: "Start it",
    primary: true,
    text: ({ records, perSecond }) =>
      `Begins with ${counted(records, "record")}, ${perSecond.toLocaleString("en")} a second at most, as long as its window is open.`,
    told: "It has begun.",
  },
  verify: {
    button: "Verify again",
    verb: "Verify it",
    primary: true,
    text: () =>
      "Looks again at what was done, and completes it where nothing is wrong. No record is handled.",
    told: "It is verified again.",
  },
  resume: {
    button: "Resume",
    verb: "Resume it",
    primary: true,
    text: ({ read, records }) =>
      `Goes on behind the last commit: ${read.toLocaleString("en")} of ${counted(records, "record")} are not looked at again.`,
    told: "It goes on.",
  },
  "dry-run": {
    button: "Dry run",
    verb: "Try it out",
    text: () =>
      "Calls the handler with records from all over the scope and takes everything back; an approval that was given before does not count any more.",
    told: "It is tried out; what is found stands here then.",
  },
  pause: {
    button: "Pause",
    verb: "Pause it",
    text: () => "Begins nothing more; slices under way are finished, and it rests at its checkpoints.",
    told: "Nothing more of it is begun until somebody resumes it.",
  },
  rate: {
    button: "Change the rate",
    verb: "Change it",
    text: ({ declared }) =>
      `Up to ${declared.perSecond.toLocaleString("en")} a second, which code declares; from the next slice on.`,
    told: "The next slice keeps to it.",
  },
  abort: {
    button: "Abort",
    verb: "Abort it",
    final: true,
    text: ({ handled }) =>
      `Ends it for good: ${counted(handled, "record")} stay handled, what is under way is taken back. Its scope may then be planned again.`,
    told: "It has ended. What was done stays done.",
  },
  rollback: {
    button: "Undo",
    verb: "Undo it",
    final: true,
    text: ({ handled, failed, declared }) =>
      `Undoes ${counted(handled + failed, "record")}, from the beginning to the checkpoints, at the same rate: ${declared.policy.rollback}.`,
    told: "It is rolled back.",
  },
};

interface SayToRunProps {
  readonly view: BackfillRunView;
  readonly verb: RunVerb;
  readonly onClose: () => void;
}

function useSaying({ view: { id }, verb }: SayToRunProps, perSecond: number) {
  const [say, approve, rate] = [useAct("backfill.say"), useAct("backfill.approve"), useAct("backfill.rate")];
  return (reason: string): Promise<unknown> => {
    if (verb === "approve") return approve.mutateAsync({ id, reason });
    if (verb === "rate") return rate.mutateAsync({ id, reason, perSecond });
    return say.mutateAsync({ id, verb, reason });
  };
}

function SayToRun(props: SayToRunProps) {
  const { view, verb, onClose } = props;
  const [perSecond, setPerSecond] = useState(String(view.perSecond));
  return (
    <Say
      saying={sayings[verb]}
      view={view}
      to={`run ${view.id} of ${view.backfill}`}
      name={view.backfill}
      say={useSaying(props, Number(perSecond))}
      onClose={onClose}
    >
      {verb === "rate" && (
        <label className="field">
          <span>Records a second</span>
          <input
            className="input number"
            type="number"
            min={1}
            max={view.declared.perSecond}
            required
            value={perSecond}
            onChange={(event) => setPerSecond(event.target.value)}
          />
        </label>
      )}
    </Say>
  );
}

export function RunActs({ view }: { readonly view: BackfillRunView }) {
  const may = useMay();
  // Where nothing is left to do, to resume it is to verify it.
  const { verbs } = view;
  const shown = verbs.includes("verify") ? verbs.filter((verb) => verb !== "resume") : verbs;
  return (
    <Sayings
      sayings={sayings}
      verbs={shown}
      may={(verb) => may(verb === "approve" ? "operation.approve" : "batch.change")}
      dialog={(verb, onClose) => <SayToRun view={view} verb={verb} onClose={onClose} />}
    />
  );
}
