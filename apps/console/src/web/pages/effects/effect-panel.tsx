import { useState } from "react";
import type { EffectRow } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Age } from "../../furniture/time.tsx";
import { Settle } from "./settle.tsx";
import { tones } from "./tones.ts";

function Facts({ row }: { readonly row: EffectRow }) {
  return (
    <dl className="facts">
      <dt>Key</dt>
      <dd>
        <code>{row.key}</code>
      </dd>
      <dt>Of</dt>
      <dd>{row.subject ?? row.caller ?? "nobody"}</dd>
      <dt>Called</dt>
      <dd>
        <Age ms={row.calledAgoMs} /> ago, {row.calls} {row.calls === 1 ? "time" : "times"}
      </dd>
      <dt>Reference</dt>
      <dd>{row.reference ?? "none"}</dd>
      <dt>Failure</dt>
      <dd>{row.failureCode === null ? "none" : `${row.failureCode}: ${row.failureMessage}`}</dd>
    </dl>
  );
}

export function EffectPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const effect = useRead("effect", { id });
  const may = useMay()("effect.settle");
  const [settling, setSettling] = useState(false);
  const row = effect.data?.value;
  const open = row && (row.state === "unknown" || row.overdue);
  return (
    <Panel
      label="Side effect"
      onClose={onClose}
      title={
        <>
          <h2>{row ? `${row.provider} ${row.operation}` : "Side effect"}</h2>
          {row && <Badge tone={tones[row.state]}>{row.state}</Badge>}
        </>
      }
    >
      {effect.error && <Failure error={effect.error} />}
      {open && (
        <div className="stack">
          <p>
            Nobody knows what became of this call. Look at {row.provider} by its key, then say what you found;
            until then no work that made it is replayed or redriven.
          </p>
          <div className="row">
            <button
              type="button"
              className="button"
              data-kind="primary"
              disabled={!may}
              onClick={() => setSettling(true)}
            >
              Say what became of it
            </button>
          </div>
        </div>
      )}
      {row && <Facts row={row} />}
      {row && <BodyText label="Request" text={row.request} />}
      {row && <BodyText label="Response" text={row.response} />}
      {row && settling && <Settle row={row} onClose={() => setSettling(false)} />}
    </Panel>
  );
}
