// What lies in a queue, state by state, without receiving it.
import type { LiveMessage, LiveState, QueueSurvey } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { countText } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { Age, Duration, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";

const first: readonly Column<LiveMessage>[] = [
  { key: "id", head: "Message", width: "22rem", cell: ({ messageId }) => <code>{messageId}</code> },
  { key: "age", head: "Age", width: "7rem", align: "right", cell: ({ ageMs }) => <Age ms={ageMs} /> },
];

const last: readonly Column<LiveMessage>[] = [
  {
    key: "receives",
    head: "Received",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ receives }) => `${receives} ×`,
  },
  {
    key: "code",
    head: "Last failure",
    width: "13rem",
    wideOnly: true,
    cell: ({ code }) => (code ? <code>{code}</code> : <span className="zero">–</span>),
  },
  { key: "body", head: "Body", wideOnly: true, cell: ({ body }) => <code className="muted">{body}</code> },
];

const own: Readonly<Record<LiveState, readonly Column<LiveMessage>[]>> = {
  ready: [],
  in_flight: [
    {
      key: "held",
      head: "Held for",
      width: "7rem",
      align: "right",
      cell: ({ heldForMs }) => <Duration ms={heldForMs} />,
    },
    {
      key: "holder",
      head: "By",
      width: "14rem",
      wideOnly: true,
      cell: ({ holder }) => holder ?? "a receipt",
    },
  ],
  delayed: [
    { key: "until", head: "Ready at", width: "11rem", cell: ({ untilMs }) => <Instant ms={untilMs} /> },
  ],
};

const nothing: Readonly<Record<LiveState, string>> = {
  ready: "Nothing waits.",
  in_flight: "Nobody holds a message.",
  delayed: "Nothing is delayed or waits for another try.",
};

export function Messages({ survey }: { readonly survey: QueueSurvey }) {
  const url = useUrl();
  const state = useTab<LiveState>("state", ["ready", "in_flight", "delayed"]);
  const messages = usePages("queue.messages", { queue: survey.name, state });
  return (
    <section className="stack" aria-label="Messages">
      <Tabs
        name="state"
        label="State of the messages"
        tabs={[
          ["ready", `Ready ${countText(survey.ready)}`],
          ["in_flight", `In flight ${countText(survey.inFlight)}`],
          ["delayed", `Delayed ${countText(survey.delayed)}`],
        ]}
      />
      <List
        label={`Messages, ${state.replace("_", " ")}`}
        list={messages}
        columns={[...first, ...own[state], ...last]}
        keyOf={({ id }) => id}
        selected={messages.items.find(({ messageId }) => messageId === url.get("message"))?.id}
        onOpen={({ messageId }) => url.set({ message: messageId }, "push")}
        empty={[nothing[state]]}
      />
    </section>
  );
}
