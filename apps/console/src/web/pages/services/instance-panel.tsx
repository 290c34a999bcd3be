import { useState } from "react";
import type { InstanceView, Output } from "../../../api/index.ts";
import { useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import { InstanceBadge } from "./badges.tsx";

interface InstanceProps {
  readonly service: string;
  readonly instance: InstanceView;
}

interface PanelProps extends InstanceProps {
  readonly onClose: () => void;
}

function StopOne({ service, instance: { id }, onClose }: PanelProps) {
  const stop = useAct("service.stop-instance");
  return (
    <Confirm
      danger
      title={`Stop instance ${id}`}
      verb="Stop it"
      onClose={onClose}
      run={async (reason) => {
        await stop.mutateAsync({ service, id, reason });
        return "It gets nothing new and is asked to end; another takes its place.";
      }}
    >
      <p>
        It gets SIGTERM, and SIGKILL where it has not ended by its stop timeout. As many as before are to run,
        so another is started.
      </p>
    </Confirm>
  );
}

function Printed({ output, host }: { readonly output: Output; readonly host: string }) {
  if (output.status === "missing")
    return (
      <p className="muted">
        It is not to be read from here: on {host}, see <code>{output.path}</code>. This console reads it where
        it runs beside <code>tuntas service run</code>, with the same TUNTAS_DATA_DIR; of instances that ended
        the last ten are kept.
      </p>
    );
  if (output.text === "") return <p className="muted">Nothing yet.</p>;
  return (
    <pre className="body-text output" tabIndex={0} aria-label="What it printed">
      {output.more && "…\n"}
      {output.text}
    </pre>
  );
}

function OutputOf({ service, instance: { id, host } }: InstanceProps) {
  const may = useMay()("service.output");
  const read = useRead("service.output", { service, id }, { enabled: may });
  const output = read.data?.value;
  return (
    <section className="stack">
      <h3>What it printed last</h3>
      {!may && <p className="muted">Your role does not read it: what programs print may hold anything.</p>}
      {read.error && !output && <Failure error={read.error} />}
      {output && <Printed output={output} host={host} />}
    </section>
  );
}

export function InstancePanel({ service, instance, onClose }: PanelProps) {
  const { id, state, pid, port, host, revision, deploymentId, startedAtMs, ended } = instance;
  const may = useMay()("service.deploy");
  const [stopping, setStopping] = useState(false);
  const runs = state === "starting" || state === "running";
  return (
    <Panel
      label="Instance"
      onClose={onClose}
      title={
        <>
          <h2>Instance {id}</h2>
          <InstanceBadge instance={instance} />
        </>
      }
    >
      <dl className="facts">
        <dt>Process</dt>
        <dd>{pid === null ? "none yet" : `${pid} on ${host}`}</dd>
        <dt>Port</dt>
        <dd>{port ?? "none"}</dd>
        <dt>Revision</dt>
        <dd>
          {revision}, of deployment {deploymentId}
        </dd>
        <dt>Started</dt>
        <dd>
          <Instant ms={startedAtMs} />
        </dd>
        {ended !== null && (
          <>
            <dt>End</dt>
            <dd>{ended}</dd>
          </>
        )}
      </dl>
      <div className="row">
        <button type="button" className="button" disabled={!may || !runs} onClick={() => setStopping(true)}>
          Stop it
        </button>
      </div>
      <OutputOf service={service} instance={instance} />
      {stopping && <StopOne service={service} instance={instance} onClose={() => setStopping(false)} />}
    </Panel>
  );
}
