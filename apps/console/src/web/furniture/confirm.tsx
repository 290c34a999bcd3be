// The one way to do something that matters: it says first what will happen and to how many, asks why, and for what
// cannot be undone has the name typed. Afterwards it says what it came to.
import { useEffect, useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./notice.tsx";
import { Reason } from "./reason.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** What it does, and what it does not. */
  readonly children: ReactNode;
  readonly verb: string;
  readonly danger?: boolean;
  /** Must be typed before it can be done. */
  readonly typeName?: string;
  /** Counts what it would do, without doing it. */
  readonly plan?: (() => Promise<ReactNode>) | undefined;
  /** What changes the plan: it is made anew when this does. */
  readonly planKey?: string;
  /** Does it for this reason; answers what it came to, in words. */
  readonly run: (reason: string) => Promise<ReactNode>;
  readonly onClose: () => void;
}

type Phase =
  | { readonly name: "asking"; readonly error?: ApiError }
  | { readonly name: "running" }
  | { readonly name: "done"; readonly outcome: ReactNode };

const asError = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError({ status: 0, title: "", code: "failed", detail: String(cause), remedy: "Try again." });

function Plan({
  plan,
  planKey,
}: Required<Pick<ConfirmProps, "planKey">> & { plan: () => Promise<ReactNode> }) {
  const [text, setText] = useState<ReactNode>("Counting …");
  useEffect(() => {
    let current = true;
    plan().then(
      (found) => current && setText(found),
      (cause: unknown) => current && setText(<Failure error={asError(cause)} />),
    );
    return () => {
      current = false;
    };
    // Counted anew only when what is asked changes.
  }, [planKey]);
  return (
    <div className="plan" aria-live="polite">
      {text}
    </div>
  );
}

function Done({ outcome, onClose }: { readonly outcome: ReactNode; readonly onClose: () => void }) {
  return (
    <>
      <div className="plan" role="status">
        {outcome}
      </div>
      <div className="ends">
        <button type="button" className="button" data-kind="primary" onClick={onClose} autoFocus>
          Close
        </button>
      </div>
    </>
  );
}

export function Confirm(props: ConfirmProps) {
  const { title, children, verb, danger, typeName, plan, planKey = "", run, onClose } = props;
  const [phase, setPhase] = useState<Phase>({ name: "asking" });
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const ready = reason.trim() !== "" && (typeName === undefined || typed === typeName);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setPhase({ name: "running" });
    run(reason.trim()).then(
      (outcome) => setPhase({ name: "done", outcome }),
      (cause: unknown) => setPhase({ name: "asking", error: asError(cause) }),
    );
  };
  return (
    <Dialog label={title} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {phase.name === "done" ? (
          <Done outcome={phase.outcome} onClose={onClose} />
        ) : (
          <>
            <div className="stack">{children}</div>
            {plan && <Plan plan={plan} planKey={planKey} />}
            {typeName !== undefined && (
              <label className="field">
                <span>
                  Type <code>{typeName}</code> to confirm
                </span>
                <input className="input" value={typed} onChange={(event) => setTyped(event.target.value)} />
              </label>
            )}
            <Reason value={reason} onChange={setReason} />
            {phase.name === "asking" && phase.error && <Failure error={phase.error} />}
            <div className="ends">
              <button type="button" className="button" onClick={onClose}>
                Cancel
              </button>
              <button
                className="button"
                data-kind={danger ? "danger" : "primary"}
                disabled={!ready || phase.name === "running"}
              >
                {phase.name === "running" ? "Working …" : verb}
              </button>
            </div>
          </>
        )}
      </form>
    </Dialog>
  );
}
