import { useState } from "react";
import type { InboxItem } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useSession } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";

export type Word = "approve" | "reject" | "escalate" | "withdraw";

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

const titles: Readonly<Record<Word, string>> = {
  approve: "Approve",
  reject: "Reject",
  escalate: "Escalate",
  withdraw: "Withdraw",
};

const meanings: Readonly<Record<Word, string>> = {
  approve: "With the last signature the execution goes on.",
  reject: "One no is enough. The execution goes its way for a no.",
  escalate: "Those to whom it would be escalated later may decide now.",
  withdraw: "It ends without a decision; its task fails by ApprovalWithdrawn.",
};

function useSay(id: string, word: Word) {
  const decide = useAct("approval.decide");
  const escalate = useAct("approval.escalate");
  const withdraw = useAct("approval.withdraw");
  return async (reason: string, as: string | undefined): Promise<string> => {
    const given = { id, reason, ...(as && { as }) };
    if (word === "escalate") {
      await escalate.mutateAsync(given);
      return "Escalated: others may sign now.";
    }
    if (word === "withdraw") {
      await withdraw.mutateAsync(given);
      return "Withdrawn. The execution is told after the commit.";
    }
    const { status, missing } = await decide.mutateAsync({ ...given, decision: word });
    return status === "signed"
      ? `Signed. ${missing} more must sign before the execution goes on.`
      : "Decided. The execution is told after the commit, and told again should that be lost.";
  };
}

/** A word about a question, for a reason. */
export function Decide({ item, word, onClose }: DecideProps) {
  const signedIn = useSession().data?.signedIn ?? false;
  const first = item.deciders.find(({ active }) => active) ?? item.deciders[0];
  const [as, setAs] = useState(first ? `${first.kind}:${first.name}` : "");
  const say = useSay(item.id, word);
  return (
    <Confirm
      title={`${titles[word]}: ${item.subject}`}
      verb={titles[word]}
      danger={word === "reject" || word === "withdraw"}
      onClose={onClose}
      run={(reason) => say(reason, signedIn ? undefined : as)}
    >
      <p>
        {item.task} in {item.workflow}, asked by {item.requestedBy}. {meanings[word]}
      </p>
      {!signedIn && <InPlaceOf item={item} value={as} onChange={setAs} />}
    </Confirm>
  );
}
