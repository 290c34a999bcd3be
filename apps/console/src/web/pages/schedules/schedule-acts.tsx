// Pause, resume, run a window again.
import { useState } from "react";
import type { Occurrence, ScheduleView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { Instant } from "../../furniture/time.tsx";
import { stateText } from "./badges.tsx";

interface DialogProps {
  readonly view: ScheduleView;
  readonly onClose: () => void;
}

function Pause({ view: { name, running }, onClose }: DialogProps) {
  const pause = useAct("schedule.pause");
  return (
    <Confirm
      title={`Pause ${name}`}
      verb="Pause it"
      onClose={onClose}
      run={async (reason) => {
        await pause.mutateAsync({ schedule: name, reason });
        return "Nothing of it becomes due until somebody resumes it.";
      }}
    >
      <p>
        {running > 0 ? "What runs is finished. " : ""}What passes meanwhile is not made up for by itself; its
        windows can be run by hand. The alarm goes on telling of a success that does not come.
      </p>
    </Confirm>
  );
}

function Resume({ view: { name }, onClose }: DialogProps) {
  const resume = useAct("schedule.resume");
  return (
    <Confirm
      title={`Resume ${name}`}
      verb="Resume it"
      onClose={onClose}
      run={async (reason) => {
        const { nextDueMs } = await resume.mutateAsync({ schedule: name, reason });
        return (
          <>
            It is due next at <Instant ms={nextDueMs} />.
          </>
        );
      }}
    >
      <p>It goes on with its next instant from now. What passed while it was paused is not made up for.</p>
    </Confirm>
  );
}

interface RunProps extends DialogProps {
  /** Whose window; the latest one's where none is named. */
  readonly occurrence?: Occurrence | undefined;
}

export function Run({ view: { name, overlap, running }, occurrence, onClose }: RunProps) {
  const again = useAct("schedule.run");
  const waits = running > 0 && overlap !== "allow";
  return (
    <Confirm
      title={`Run ${name}`}
      verb="Run it"
      onClose={onClose}
      run={async (reason) => {
        const { state, run } = await again.mutateAsync({
          schedule: name,
          reason,
          ...(occurrence && { dueMs: occurrence.dueMs }),
        });
        return `Run ${run} of this window is ${stateText(state)}.`;
      }}
    >
      <p>
        Begins the work for{" "}
        {occurrence ? (
          <>
            the window from <Instant ms={occurrence.windowStartMs} /> to{" "}
            <Instant ms={occurrence.windowEndMs} />
          </>
        ) : (
          "the window that ended last"
        )}
        , with the same input as before. Whether twice is once is up to the work: with the window as its key
        it is.
        {waits && " It waits until what runs has ended."}
      </p>
    </Confirm>
  );
}

const dialogs = { pause: Pause, resume: Resume, run: Run };

export function ScheduleActs({ view }: { readonly view: ScheduleView }) {
  const [asked, setAsked] = useState<keyof typeof dialogs>();
  const may = useMay()("schedule.change");
  const Asking = asked && dialogs[asked];
  const button = (name: keyof typeof dialogs, text: string) => (
    <button type="button" className="button" disabled={!may} onClick={() => setAsked(name)}>
      {text}
    </button>
  );
  return (
    <>
      {button("run", "Run it now")}
      {view.pausedAtMs === null ? button("pause", "Pause") : button("resume", "Resume")}
      {Asking && <Asking view={view} onClose={() => setAsked(undefined)} />}
    </>
  );
}
