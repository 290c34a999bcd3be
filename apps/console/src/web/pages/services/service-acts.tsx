// Deploy, roll back, scale, stop.
import { useState } from "react";
import type { RevisionView, ServiceView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";

interface DialogProps {
  readonly view: ServiceView;
  readonly onClose: () => void;
}

const doneBy = ({ controlled, host }: Pick<ServiceView, "controlled" | "host">): string =>
  controlled ? "" : ` Nobody runs the services of ${host}: it waits for tuntas service run there.`;

interface DeployProps extends DialogProps {
  readonly revision: RevisionView;
}

export function Deploy({ view, revision: { revision, definition, changes }, onClose }: DeployProps) {
  const deploy = useAct("service.deploy");
  const anew = revision === view.revision;
  const version = definition.version === null ? "" : ` (${definition.version})`;
  return (
    <Confirm
      title={`Deploy revision ${revision}${version} of ${view.name}`}
      verb="Deploy"
      onClose={onClose}
      run={async (reason) => {
        const { deployment } = await deploy.mutateAsync({
          service: view.name,
          revision,
          reason,
          ...(anew && { force: true }),
        });
        return `Deployment ${deployment.id} is under way.${doneBy(view)}`;
      }}
    >
      <p>
        {anew
          ? "It runs already: its instances are replaced by such of the same definition"
          : "Its instances take the place of the others"}
        , batch by batch, each healthy before the next. What fails is rolled back.
      </p>
      {changes.length > 0 && (
        <ul className="plan" aria-label="What this revision changed">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      )}
    </Confirm>
  );
}

function RollBack({ view, onClose }: DialogProps) {
  const rollback = useAct("service.rollback");
  return (
    <Confirm
      title={`Roll ${view.name} back`}
      verb="Roll back"
      onClose={onClose}
      run={async (reason) => {
        const { deployment } = await rollback.mutateAsync({ service: view.name, reason });
        return `Deployment ${deployment.id} brings revision ${deployment.revision} back.${doneBy(view)}`;
      }}
    >
      <p>
        Deploys the revision that was completed last before revision {view.revision}, batch by batch; what
        runs serves until then.
      </p>
    </Confirm>
  );
}

function Scale({ view, onClose }: DialogProps) {
  const scale = useAct("service.scale");
  const { min, max, target } = view.current.definition.scaling;
  const [count, setCount] = useState(String(view.desired));
  return (
    <Confirm
      title={`Scale ${view.name}`}
      verb="Scale"
      onClose={onClose}
      run={async (reason) => {
        const { desired } = await scale.mutateAsync({ service: view.name, count: Number(count), reason });
        return `${desired} are to run now.${doneBy(view)}`;
      }}
    >
      <p>
        {target === null
          ? "Its revision has no other count than this one; deploy one with another rule."
          : "The scaling rule goes on from there, within its bounds."}
      </p>
      <label className="field">
        <span>
          Instances{" "}
          <span className="hint">
            {min} to {max}, {view.desired} now
          </span>
        </span>
        <input
          className="input number"
          type="number"
          min={min}
          max={max}
          required
          value={count}
          onChange={(event) => setCount(event.target.value)}
        />
      </label>
    </Confirm>
  );
}

function Stop({ view, onClose }: DialogProps) {
  const stop = useAct("service.stop");
  return (
    <Confirm
      danger
      title={`Stop ${view.name}`}
      verb="Stop every instance"
      typeName={view.name}
      onClose={onClose}
      run={async (reason) => {
        await stop.mutateAsync({ service: view.name, reason });
        return `None is to run until somebody deploys or scales it.${doneBy(view)}`;
      }}
    >
      <p>
        Each of the {view.running} instances gets nothing new, then SIGTERM, and SIGKILL after{" "}
        {view.current.definition.stopTimeoutMs / 1000} s. Nothing serves after that.
      </p>
    </Confirm>
  );
}

const dialogs = { scale: Scale, rollback: RollBack, stop: Stop };

const buttons = [
  ["scale", "Scale"],
  ["rollback", "Roll back"],
  ["stop", "Stop"],
] as const;

export function ServiceActs({ view }: { readonly view: ServiceView }) {
  const [asked, setAsked] = useState<keyof typeof dialogs>();
  const may = useMay()("service.deploy");
  const Asking = asked && dialogs[asked];
  return (
    <>
      {buttons.map(([name, text]) => (
        <button
          key={name}
          type="button"
          className="button"
          disabled={!may || (name === "stop" && !view.active)}
          onClick={() => setAsked(name)}
        >
          {text}
        </button>
      ))}
      {Asking && <Asking view={view} onClose={() => setAsked(undefined)} />}
    </>
  );
}
