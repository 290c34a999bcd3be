// What can be done with one message: see all of it, and, where it is dead, send it anew with what was wrong put right.
import { useState } from "react";
import type { BodyOf, Explanation } from "../../../api/index.ts";
import { ApiError } from "../../api/client.ts";
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

const form = (attributes: string | null): string => {
  try {
    return JSON.stringify(JSON.parse(attributes ?? "{}"), null, 2);
  } catch {
    return "{}"; // whoever writes in SQL may have given anything
  }
};

const refused = (detail: string): ApiError =>
  new ApiError({
    status: 422,
    title: "",
    code: "attributes",
    detail,
    remedy: "Correct them, then send it anew.",
  });

type Attributes = NonNullable<BodyOf<"dead.resend">["attributes"]>;

/** Errors: an ApiError that says where the text is no JSON. */
function attributesOf(text: string): Attributes {
  try {
    return JSON.parse(text) as Attributes;
  } catch (cause) {
    throw refused(`The attributes are not JSON: ${(cause as Error).message}`);
  }
}

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly rows: number;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

const Text = ({ label, hint, rows, value, onChange }: TextProps) => (
  <label className="field">
    <span>
      {label} {hint && <span className="hint">{hint}</span>}
    </span>
    <textarea
      className="input code"
      rows={rows}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
);

function Edit({ message, body, onClose }: MessageProps & { readonly body: string }) {
  const resend = useAct("dead.resend");
  const [text, setText] = useState(body);
  const [attributes, setAttributes] = useState(() => form(message.attributes));
  return (
    <Confirm
      title="Put it right and send it anew"
      verb="Send it anew"
      onClose={onClose}
      run={async (reason) => {
        const given = { id: message.messageId, body: text, attributes: attributesOf(attributes), reason };
        const resent = await resend.mutateAsync(given);
        if (resent.status === "gone") return "Nothing was sent: somebody else has dealt with it meanwhile.";
        return `Sent as ${resent.messageId}, and the old one is rejected.`;
      }}
    >
      <p>
        A new message goes to {message.diedIn ?? message.queue} and the old one is rejected: both, or neither.
        What its worker did under the key of the old body is not done again.
      </p>
      <Text label="Body" rows={10} value={text} onChange={setText} />
      <Text
        label="Attributes"
        hint="with their types, as SQS has them"
        rows={attributes === "{}" ? 1 : 6}
        value={attributes}
        onChange={setAttributes}
      />
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
