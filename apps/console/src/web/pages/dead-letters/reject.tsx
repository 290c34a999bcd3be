import { useState } from "react";
import type { DeadGroup } from "../../../api/index.ts";
import { act } from "../../api/client.ts";
import { useAct } from "../../api/hooks.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { countText } from "../../furniture/count.tsx";
import { filterOf } from "./cause.tsx";
import { Report } from "./report.tsx";

/** Ends the messages of one cause, each with the reason. */
export function Reject({ group, onClose }: { readonly group: DeadGroup; readonly onClose: () => void }) {
  const reject = useAct("dead.reject");
  const [code, setCode] = useState("");
  const body = (reason: string) => ({ ...filterOf(group), reason, ...(code && { code }) });
  return (
    <Confirm
      danger
      title={`Reject ${countText(group.count)} messages`}
      verb="End them"
      onClose={onClose}
      plan={async () => (
        <Report verb="ended" report={await act("dead.reject", { ...body("counted only"), dryRun: true })} />
      )}
      run={async (reason) => <Report verb="ended" report={await reject.mutateAsync(body(reason))} />}
    >
      <p>They end as rejected, for good. What they were, and why they ended, stays on the record.</p>
      <label className="field">
        <span>
          Code <span className="hint">REJECTED_BY_OPERATOR where empty</span>
        </span>
        <input
          className="input"
          pattern="[A-Z][A-Z0-9_]*"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      </label>
    </Confirm>
  );
}
