// Stop, and redrive after a look at what it has left behind.
import { useState } from "react";
import type { Inspection, RunView } from "../../../api/index.ts";
import { useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { Dialog } from "../../furniture/dialog.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Findings, verdictTones } from "./findings.tsx";

interface ActProps {
  readonly run: RunView;
  readonly onClose: () => void;
}

function Stop({ run, onClose }: ActProps) {
  const stop = useAct("workflow.stop");
  const { arn, name } = run.execution;
  const at = run.positions.filter(({ hold }) => hold !== "children").map(({ state }) => state);
  return (
    <Confirm
      danger
      title={`Stop ${name}`}
      verb="Stop it"
      onClose={onClose}
      run={async (reason) => {
        const { status } = await stop.mutateAsync({ arn, reason });
        return status === "stopped" ? "Stopped. It can be redriven from here." : "It had ended before.";
      }}
    >
      <p>
        It stands at <strong>{at.join(", ") || "its beginning"}</strong>. What it calls just now may still
        take place; its answer will not be taken. Nothing that it has done is undone.
      </p>
    </Confirm>
  );
}

const leads: Readonly<Record<Inspection["verdict"], string>> = {
  safe: "It goes on from where it failed, at the definition that it began with. What succeeded is not done again.",
  "reconcile first":
    "Something about it is open. See to it first; your word that it is done goes on the record.",
  forbidden: "It must not be redriven. The reasons say what would be wrong.",
};

function Verdicts({ inspection }: { readonly inspection: Inspection }) {
  return (
    <>
      <p>
        <Badge tone={verdictTones[inspection.verdict]}>{inspection.verdict}</Badge>{" "}
        {leads[inspection.verdict]}
      </p>
      <Findings findings={inspection.findings} />
    </>
  );
}

function Forbidden({
  inspection,
  onClose,
}: {
  readonly inspection: Inspection;
  readonly onClose: () => void;
}) {
  return (
    <Dialog label="Redrive" onClose={onClose}>
      <div className="stack">
        <h2>Redrive {inspection.execution.name}</h2>
        <Verdicts inspection={inspection} />
        <div className="ends">
          <button type="button" className="button" data-kind="primary" onClick={onClose} autoFocus>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** What was seen when the dialog opened is what is decided upon; the server refuses it where that has changed. */
function Redrive({ inspection, onClose }: { readonly inspection: Inspection; readonly onClose: () => void }) {
  const redrive = useAct("workflow.redrive");
  const [reconciled, setReconciled] = useState(false);
  const { execution, verdict } = inspection;
  return (
    <Confirm
      title={`Redrive ${execution.name}`}
      verb="Redrive it"
      onClose={onClose}
      run={async (reason) => {
        await redrive.mutateAsync({ arn: execution.arn, seen: verdict, reconciled, reason });
        return "It goes on. Watch it on its page.";
      }}
    >
      <Verdicts inspection={inspection} />
      {verdict === "reconcile first" && (
        <label className="row">
          <input
            type="checkbox"
            checked={reconciled}
            onChange={(event) => setReconciled(event.target.checked)}
          />
          I have seen to what is open
        </label>
      )}
    </Confirm>
  );
}

function Inspect({ run, onClose }: ActProps) {
  const read = useRead("run.evidence", { arn: run.execution.arn }, { everyMs: false });
  const [seen, setSeen] = useState<Inspection>();
  const found = seen ?? read.data?.value;
  if (found && !seen && !read.isFetching) setSeen(found);
  if (read.error)
    return (
      <Dialog label="Redrive" onClose={onClose}>
        <Failure error={read.error} />
      </Dialog>
    );
  if (!seen) return null;
  return seen.verdict === "forbidden" ? (
    <Forbidden inspection={seen} onClose={onClose} />
  ) : (
    <Redrive inspection={seen} onClose={onClose} />
  );
}

export function RunActs({ run }: { readonly run: RunView }) {
  const [asked, setAsked] = useState<"stop" | "redrive">();
  const may = useMay();
  const { status } = run.execution;
  const close = () => setAsked(undefined);
  return (
    <>
      {status === "RUNNING" && (
        <button
          type="button"
          className="button"
          disabled={!may("workflow.stop")}
          onClick={() => setAsked("stop")}
        >
          Stop
        </button>
      )}
      {status !== "RUNNING" && status !== "SUCCEEDED" && (
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={!may("workflow.redrive")}
          onClick={() => setAsked("redrive")}
        >
          Redrive
        </button>
      )}
      {asked === "stop" && <Stop run={run} onClose={close} />}
      {asked === "redrive" && <Inspect run={run} onClose={close} />}
    </>
  );
}
