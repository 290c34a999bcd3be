// What can be done with one message: see all of it, and, where it is dead, send it anew with what was wrong put right.
import { useState } from "react";
import type { Explanation } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";

interface MessageProps {
  readonly message: Explanation;
  readonly onClose: () => void;
}

/** What stands in the place of a value that the role may not see. */
const masked = "•••";

const isDead = ({ state }: Explanation): boolean => state === "dead" || state === "quarantined";

interface RevealProps extends MessageProps {
  readonly onBody: (body: string) => void;
}

function Reveal({ message, onBody, onClose }: RevealProps) {
  const reveal = useAct("message.reveal");
  return (
    <Confirm
      title="See the whole body"
      verb="Show it"
      onClose={onClose}
      run={async (reason) => {
        const { body } = await reveal.mutateAsync({ id: message.messageId, reason });
        if (body !== null) onBody(body);
        return "It is shown until you leave; that you looked is on the record.";
      }}
    >
      <p>It has fields that only some may see.</p>
    </Confirm>
  );
}

const fates = {
  rejected: "The old one is rejected.",
  "being rejected": "The old one is being rejected; see the operations.",
  gone: "Somebody else has dealt with the old one meanwhile.",
} as const;

function Edit({ message, body, onClose }: MessageProps & { readonly body: string }) {
  const resend = useAct("dead.resend");
  const [text, setText] = useState(body);
  return (
    <Confirm
      title="Put it right and send it anew"
      verb="Send it anew"
      onClose={onClose}
      run={async (reason) => {
        const given = { id: message.messageId, body: text, reason };
        const { messageId, old } = await resend.mutateAsync(given);
        return `Sent as ${messageId}. ${fates[old]}`;
      }}
    >
      <p>
        A new message goes to {message.diedIn ?? message.queue} with this body, the old group and attributes.
        The old one is rejected. What its worker did under the key of the old body is not done again.
      </p>
      <label className="field">
        <span>Body</span>
        <textarea
          className="input code"
          rows={10}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </Confirm>
  );
}

export interface MessageActsProps {
  readonly message: Explanation;
  /** As it was revealed; undefined before. */
  readonly revealed: string | undefined;
  readonly onRevealed: (body: string) => void;
}

export function MessageActs({ message, revealed, onRevealed }: MessageActsProps) {
  const may = useMay();
  const [asked, setAsked] = useState<"reveal" | "edit">();
  const close = () => setAsked(undefined);
  const body = revealed ?? message.body;
  const hides = body !== null && body.includes(masked);
  // What an act came to is still to be read once there is nothing to do any more.
  if (asked === undefined && (body === null || (!hides && !isDead(message)))) return null;
  return (
    <div className="row">
      {hides && (
        <button
          type="button"
          className="button"
          disabled={!may("payload.reveal")}
          onClick={() => setAsked("reveal")}
        >
          Show masked fields
        </button>
      )}
      {isDead(message) && (
        <button
          type="button"
          className="button"
          disabled={!may("dlq.replay") || hides}
          title={hides ? "Its masked fields would be lost: show them first" : undefined}
          onClick={() => setAsked("edit")}
        >
          Edit and send anew
        </button>
      )}
      {asked === "reveal" && <Reveal message={message} onBody={onRevealed} onClose={close} />}
      {asked === "edit" && <Edit message={message} body={body ?? ""} onClose={close} />}
    </div>
  );
}
