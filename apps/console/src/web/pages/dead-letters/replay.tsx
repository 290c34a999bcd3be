import { useState } from "react";
import type { BodyOf, DeadGroup } from "../../../api/index.ts";
import { act } from "../../api/client.ts";
import { useAct } from "../../api/hooks.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { countText } from "../../furniture/count.tsx";
import { filterOf } from "./cause.tsx";
import { Report } from "./report.tsx";

interface Options {
  readonly destination: string;
  readonly perSecond: string;
  readonly effectChecked: boolean;
}

function Fields({
  group,
  options,
  onChange,
}: {
  readonly group: DeadGroup;
  readonly options: Options;
  readonly onChange: (options: Options) => void;
}) {
  return (
    <>
      <label className="field">
        <span>
          To queue <span className="hint">{group.queue ?? "name one: the old one is deleted"}</span>
        </span>
        <input
          className="input"
          placeholder={group.queue ?? ""}
          value={options.destination}
          onChange={(event) => onChange({ ...options, destination: event.target.value.trim() })}
        />
      </label>
      <label className="field">
        <span>
          At most a second <span className="hint">as fast as it goes where empty</span>
        </span>
        <input
          className="input number"
          type="number"
          min={1}
          value={options.perSecond}
          onChange={(event) => onChange({ ...options, perSecond: event.target.value })}
        />
      </label>
      {group.outcome === "unknown" && (
        <label className="row">
          <input
            type="checkbox"
            checked={options.effectChecked}
            onChange={(event) => onChange({ ...options, effectChecked: event.target.checked })}
          />
          <span>I have looked on the other side: the effect did not take place.</span>
        </label>
      )}
    </>
  );
}

/** Puts the messages of one cause back to work, once each, after a count of what that is. */
export function Replay({ group, onClose }: { readonly group: DeadGroup; readonly onClose: () => void }) {
  const replay = useAct("dead.replay");
  const [options, setOptions] = useState<Options>({ destination: "", perSecond: "", effectChecked: false });
  const { destination, perSecond, effectChecked } = options;
  const body = (reason: string): BodyOf<"dead.replay"> => ({
    ...filterOf(group),
    reason,
    effectChecked,
    ...(destination && { destination }),
    ...(perSecond && { perSecond: Number(perSecond) }),
  });
  return (
    <Confirm
      title={`Replay ${countText(group.count)} messages`}
      verb="Replay"
      onClose={onClose}
      planKey={JSON.stringify([destination, effectChecked])}
      plan={async () => (
        <Report
          verb="replayed"
          report={await act("dead.replay", { ...body("counted only"), dryRun: true })}
        />
      )}
      run={async (reason) => <Report verb="replayed" report={await replay.mutateAsync(body(reason))} />}
    >
      <p>
        Body, attributes and ids stay, so what was already done is not done twice by a worker with an
        idempotency key.
      </p>
      <Fields group={group} options={options} onChange={setOptions} />
    </Confirm>
  );
}
