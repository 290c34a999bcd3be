import { useState } from "react";
import type { InboxItem } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useSession } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";

export type Word = "approve" | "reject";

export interface DecideProps {
  readonly item: InboxItem;
  readonly word: Word;
  readonly onClose: () => void;
}

function InPlaceOf({
  item,
  value,
  onChange,
}: {
  item: InboxItem;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <label className="field">
      <span>
        In the place of <span className="hint">nobody signs in here, so say who answers</span>
      </span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {item.deciders.map(({ kind, name, active }) => (
          <option key={kind + name} value={`${kind}:${name}`} disabled={!active}>
            {kind === "person" ? name : `the ${kind} ${name}`}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Signs with a yes or a no, for a reason. With the last signature the execution goes on. */
export function Decide({ item, word, onClose }: DecideProps) {
  const decide = useAct("approval.decide");
  const signedIn = useSession().data?.signedIn ?? false;
  const first = item.deciders.find(({ active }) => active) ?? item.deciders[0];
  const [as, setAs] = useState(first ? `${first.kind}:${first.name}` : "");
  const approves = word === "approve";
  return (
    <Confirm
      title={`${approves ? "Approve" : "Reject"}: ${item.subject}`}
      verb={approves ? "Approve" : "Reject"}
      danger={!approves}
      onClose={onClose}
      run={async (reason) => {
        const answer = { id: item.id, decision: word, reason, ...(!signedIn && as && { as }) };
        const { status, missing } = await decide.mutateAsync(answer);
        return status === "signed"
          ? `Signed. ${missing} more must sign before the execution goes on.`
          : "Decided. The execution is told after the commit, and told again should that be lost.";
      }}
    >
      <p>
        {item.task} in {item.workflow}, asked by {item.requestedBy}.
      </p>
      {!signedIn && <InPlaceOf item={item} value={as} onChange={setAs} />}
    </Confirm>
  );
}
