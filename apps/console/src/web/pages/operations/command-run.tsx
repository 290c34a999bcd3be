// A run of a one-off command: what was asked before it, what it came to, what is kept of it, and the act that closes it.
import { useState } from "react";
import type { RunForm } from "../../../api/index.ts";
import { useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { countText } from "../../furniture/count.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Instant } from "../../furniture/time.tsx";

type Answers = RunForm["questions"];

function Form({ title, answers }: { readonly title: string; readonly answers: Answers }) {
  return (
    <section className="stack" aria-label={title}>
      <h3>{title}</h3>
      <dl className="facts">
        {answers.map(({ question, answer }) => (
          <div key={question} style={{ display: "contents" }}>
            <dt>{question}</dt>
            <dd>{answer ?? <Badge tone="warn">missing</Badge>}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const tones: Readonly<Record<string, Tone>> = { SUCCEEDED: "good", PARTIAL: "warn", STOPPED: "idle" };

function Result({ result }: Pick<RunForm, "result">) {
  if (result === null) return null;
  return (
    <section className="stack" aria-label="Result">
      <h3>Result</h3>
      <dl className="facts">
        <dt>Status</dt>
        <dd>
          <Badge tone={tones[result.status] ?? "danger"}>{result.status}</Badge> exit code {result.exitCode}
        </dd>
        <dt>Records</dt>
        <dd className="number">
          {countText(result.recordsRead)} read: {countText(result.recordsWritten)} written,{" "}
          {countText(result.recordsSkipped)} skipped, {countText(result.recordsFailed)} failed
        </dd>
        <dt>Finished</dt>
        <dd>
          <Instant ms={Date.parse(result.finishedAt)} />
        </dd>
        <dt>Output</dt>
        <dd>{result.outputLocation ? <code>{result.outputLocation}</code> : "nothing was made"}</dd>
      </dl>
      {result.warnings.map((warning) => (
        <p className="plan" key={warning}>
          {warning}
        </p>
      ))}
    </section>
  );
}

function Close({ run, onClose }: { readonly run: RunForm; readonly onClose: () => void }) {
  const close = useAct("command.close");
  const [evidence, setEvidence] = useState("");
  const [invariant, setInvariant] = useState("");
  return (
    <Confirm
      title={`Close run ${run.id}`}
      verb="Close it"
      onClose={onClose}
      run={async (reason) => {
        const { id } = run;
        await close.mutateAsync({ id, reason, evidence, ...(invariant && { invariant }) });
        return "All seven records are on it now.";
      }}
    >
      <label className="field">
        <span>Ticket or incident</span>
        <input
          className="input"
          required
          value={evidence}
          onChange={(event) => setEvidence(event.target.value)}
        />
      </label>
      {run.invariant === null && (
        <label className="field">
          <span>
            What you saw in the domain <span className="hint">its own check was not made</span>
          </span>
          <input
            className="input"
            required
            value={invariant}
            onChange={(event) => setInvariant(event.target.value)}
          />
        </label>
      )}
    </Confirm>
  );
}

export function CommandRun({ id }: { readonly id: string }) {
  const read = useRead("command.form", { id });
  const [closing, setClosing] = useState(false);
  const may = useMay();
  const run = read.data?.value;
  if (read.error) return <Failure error={read.error} />;
  if (!run) return null;
  const isOpen = run.result !== null && !run.dryRun && run.closedAtMs === null;
  return (
    <>
      {isOpen && (
        <div className="row">
          <button
            type="button"
            className="button"
            data-kind="primary"
            disabled={!may("operation.run")}
            onClick={() => setClosing(true)}
          >
            Close with evidence
          </button>
        </div>
      )}
      {run.dryRun && <p className="plan">A dry run: nothing that its handler wrote has stayed.</p>}
      <Result result={run.result} />
      <Form title="Before the run" answers={run.questions} />
      {run.result !== null && !run.dryRun && <Form title="After the run" answers={run.records} />}
      {closing && <Close run={run} onClose={() => setClosing(false)} />}
    </>
  );
}
