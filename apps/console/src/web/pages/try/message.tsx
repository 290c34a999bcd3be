// A message to a queue: by the form of its schema, or any text, as somebody careless would send it.
import { useEffect, useMemo, useState } from "react";
import { Link } from "wouter";
import type { QueueSurvey } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { useUrl } from "../../furniture/url.ts";
import { queueHref, stateTones } from "../queues/links.ts";
import { PayloadForm } from "./form/index.tsx";
import { sampleOf } from "./form/model.ts";
import { Choice, Line, Trial } from "./trial.tsx";

interface Extras {
  readonly groupId: string;
  readonly deduplicationId: string;
  readonly delay: string;
  readonly attributes: string;
}

const noExtras: Extras = { groupId: "", deduplicationId: "", delay: "", attributes: "" };

/** `name=value` lines as attributes; undefined where a line is none. */
function attributesOf(text: string): Record<string, string> | undefined {
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1)] as const);
  return pairs.every(([name]) => name !== "") ? Object.fromEntries(pairs) : undefined;
}

interface MoreProps {
  readonly queue: QueueSurvey | undefined;
  readonly extras: Extras;
  readonly onChange: (extras: Extras) => void;
}

function Attributes({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <label className="field">
      <span>
        Attributes <span className="hint">name=value, one a line; optional</span>
      </span>
      <textarea
        className="input code"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function More({ queue, extras, onChange }: MoreProps) {
  const fifo = queue?.name.endsWith(".fifo") ?? false;
  const line = (name: keyof Extras, label: string, hint: string) => ({
    label,
    hint,
    value: extras[name],
    onChange: (value: string) => onChange({ ...extras, [name]: value }),
  });
  const attributes = (
    <Attributes value={extras.attributes} onChange={(value) => onChange({ ...extras, attributes: value })} />
  );
  if (fifo)
    return (
      <>
        <div className="pair">
          <Line required {...line("groupId", "Group", "its messages keep their order")} />
          <Line {...line("deduplicationId", "Deduplication id", "the body's hash, if the queue takes it")} />
        </div>
        {attributes}
      </>
    );
  return (
    <details className="more">
      <summary>Group, delay, attributes</summary>
      <div className="pair">
        <Line {...line("groupId", "Group", "each group gets its turn; optional")} />
        <Line {...line("delay", "Delay", "seconds, at most 900; optional")} type="number" max={900} />
      </div>
      {attributes}
    </details>
  );
}

function Came({ queue, messageId, status }: { queue: string; messageId: string; status: string }) {
  const [over, setOver] = useState(false);
  const fate = useRead("message.fate", { id: messageId }, { everyMs: over ? false : 1000 }).data?.value;
  const found = fate?.message;
  const isGone = fate?.message === null;
  useEffect(() => setOver(isGone), [isGone]);
  return (
    <>
      <header>
        <h2>{status === "duplicate" ? "A duplicate: not sent again" : "Sent"}</h2>
        {found && <Badge tone={stateTones[found.state]}>{found.state.replace("_", " ")}</Badge>}
        {isGone && <Badge tone="good">done</Badge>}
      </header>
      <p>
        To <Link href={queueHref(queue)}>{queue}</Link>
      </p>
      {isGone ? (
        <p className="muted">
          A worker has done it, and it is gone. <code>{messageId}</code>
        </p>
      ) : (
        <p>
          <Link href={`${queueHref(found?.queue ?? queue)}?message=${messageId}`}>
            <code>{messageId}</code>
          </Link>
        </p>
      )}
      {found?.reasons[0] && <p className="muted">{found.reasons[0].text}</p>}
    </>
  );
}

function useQueues(): readonly QueueSurvey[] {
  const all = useRead("queues", {}, { everyMs: 10_000 }).data?.value.items ?? [];
  return all.filter(({ isDeadLetterQueue }) => !isDeadLetterQueue);
}

/** The payload as it was typed; until somebody types, a sample of what the queue or machine takes. */
export function usePayload(kind: "queue" | "workflow", name: string) {
  const read = useRead("payload.schema", { kind, name }, { enabled: name !== "", everyMs: false });
  const schema = read.isPlaceholderData ? undefined : read.data?.value.schema;
  const sample = useMemo(
    () => (schema === undefined ? "{}" : sampleOf(schema)),
    [name, schema === undefined],
  );
  const [typed, setTyped] = useState<{ readonly name: string; readonly text: string }>();
  const text = typed?.name === name ? typed.text : sample;
  return { schema: schema ?? null, text, setText: (text: string) => setTyped({ name, text }) };
}

export default function TryMessage() {
  const url = useUrl();
  const queues = useQueues();
  const name = url.get("queue") ?? queues[0]?.name ?? "";
  const { schema, text, setText } = usePayload("queue", name);
  const [extras, setExtras] = useState(noExtras);
  const attributes = attributesOf(extras.attributes);
  const { groupId, deduplicationId, delay } = extras;
  const body =
    name === "" || text === "" || attributes === undefined
      ? undefined
      : {
          queue: name,
          body: text,
          attributes,
          ...(groupId && { groupId }),
          ...(deduplicationId && { deduplicationId }),
          ...(delay && { delaySeconds: Number(delay) }),
        };
  return (
    <Trial
      act="message.send"
      may="message.send"
      verb="Send"
      body={body}
      before="Send a message, and see whether it waits, runs, fails or is done."
      outcome={({ messageId, status }, asked) => (
        <Came queue={asked.queue} messageId={messageId} status={status} />
      )}
    >
      <Choice
        label="Queue"
        value={name}
        choices={queues.map((queue) => [queue.name, queue.name])}
        onChange={(queue) => url.set({ queue })}
      />
      <PayloadForm label="Body" schema={schema} text={text} onText={setText} />
      <More queue={queues.find((queue) => queue.name === name)} extras={extras} onChange={setExtras} />
    </Trial>
  );
}
