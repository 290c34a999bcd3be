import { useState } from "react";
import type { Operation, RecordedItem } from "../../../api/index.ts";
import { useAct, usePages, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { countText } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Progress } from "../../furniture/progress.tsx";
import { Instant } from "../../furniture/time.tsx";
import { CommandRun } from "./command-run.tsx";
import { StateBadge } from "./state-badge.tsx";

type Verb = "approve" | "decline" | "pause" | "resume" | "abort";

/** What can be said to an operation in each state. */
const verbs: Readonly<Partial<Record<Operation["state"], readonly Verb[]>>> = {
  awaiting_approval: ["approve", "decline"],
  running: ["pause", "abort"],
  paused: ["resume", "abort"],
  failed: ["resume", "abort"],
};

const commandVerbs: typeof verbs = { awaiting_approval: ["approve", "decline"], running: ["abort"] };

/** A run of a one-off command, which ends once. */
const isCommand = ({ kind }: Operation): boolean => kind.startsWith("command ");

const texts: Readonly<Record<Verb, string>> = {
  approve: "It begins as soon as it is approved. Whoever asked for it cannot approve it.",
  decline: "It never begins.",
  pause: "It stops after what it is doing now, and goes on when somebody resumes it.",
  resume: "It goes on where it stopped.",
  abort: "It stops for good after what it is doing now. What was done stays done.",
};

const capital = (verb: string): string => verb[0]!.toUpperCase() + verb.slice(1);

function Say({ operation, verb, onClose }: { operation: Operation; verb: Verb; onClose: () => void }) {
  const decide = useAct("operation.decide");
  const steer = useAct("operation.steer");
  return (
    <Confirm
      title={`${capital(verb)} ${operation.kind}`}
      verb={capital(verb)}
      danger={verb === "abort"}
      onClose={onClose}
      run={async (reason) => {
        const { id } = operation;
        const { state } =
          verb === "approve" || verb === "decline"
            ? await decide.mutateAsync({ id, verb, reason })
            : await steer.mutateAsync({ id, verb, reason });
        return `It is ${state} now.`;
      }}
    >
      <p>{texts[verb]}</p>
    </Confirm>
  );
}

function Rate({ operation, onClose }: { operation: Operation; onClose: () => void }) {
  const change = useAct("operation.rate");
  const [rate, setRate] = useState(String(operation.perSecond ?? ""));
  return (
    <Confirm
      title={`Rate of ${operation.kind}`}
      verb="Set it"
      onClose={onClose}
      run={async (reason) => {
        const given = { id: operation.id, reason, ...(rate && { perSecond: Number(rate) }) };
        const { perSecond } = await change.mutateAsync(given);
        return perSecond === null ? "As fast as it goes now." : `${perSecond} a second now.`;
      }}
    >
      <label className="field">
        <span>
          At most so many a second <span className="hint">as fast as it goes where it is empty</span>
        </span>
        <input
          className="input number"
          type="number"
          min={1}
          max={100_000}
          value={rate}
          onChange={(event) => setRate(event.target.value)}
        />
      </label>
    </Confirm>
  );
}

function Acts({ operation }: { readonly operation: Operation }) {
  const [verb, setVerb] = useState<Verb | "rate">();
  const may = useMay();
  const offered = (isCommand(operation) ? commandVerbs : verbs)[operation.state] ?? [];
  return (
    <>
      {offered.length > 0 && (
        <div className="row">
          {offered.map((each, index) => (
            <button
              key={each}
              type="button"
              className="button"
              data-kind={index === 0 ? "primary" : undefined}
              disabled={
                !may(each === "approve" || each === "decline" ? "operation.approve" : "operation.abort")
              }
              onClick={() => setVerb(each)}
            >
              {capital(each)}
            </button>
          ))}
          {!isCommand(operation) && (
            <button
              type="button"
              className="button"
              disabled={!may("operation.abort")}
              onClick={() => setVerb("rate")}
            >
              Rate
            </button>
          )}
        </div>
      )}
      {verb === "rate" && <Rate operation={operation} onClose={() => setVerb(undefined)} />}
      {verb && verb !== "rate" && (
        <Say operation={operation} verb={verb} onClose={() => setVerb(undefined)} />
      )}
    </>
  );
}

function Facts({ operation }: { readonly operation: Operation }) {
  const { done, refused, skipped, selected, actor, reason, askedAtMs, decidedBy, endedAtMs, perSecond } =
    operation;
  return (
    <dl className="facts">
      {!isCommand(operation) && (
        <>
          <dt>Progress</dt>
          <dd>
            <Progress of={operation.kind} done={done + refused + skipped} total={selected} />
          </dd>
          <dt>Outcomes</dt>
          <dd className="number">
            {countText(done)} done, {countText(refused)} refused, {countText(skipped)} skipped, of{" "}
            {countText(selected)}
          </dd>
          <dt>Rate</dt>
          <dd>{perSecond === null ? "as fast as it goes" : `${perSecond} a second`}</dd>
        </>
      )}
      <dt>Who and why</dt>
      <dd>
        {actor}: {reason}
      </dd>
      <dt>Asked</dt>
      <dd>
        <Instant ms={askedAtMs} />
      </dd>
      <dt>Decided by</dt>
      <dd>{decidedBy ?? (operation.state === "awaiting_approval" ? "nobody yet" : "nobody needed to")}</dd>
      <dt>Ended</dt>
      <dd>
        <Instant ms={endedAtMs} />
      </dd>
    </dl>
  );
}

const columns: readonly Column<RecordedItem>[] = [
  { key: "item", head: "Thing", cell: ({ item }) => <code>{item}</code> },
  { key: "outcome", head: "Outcome", width: "6.5rem", cell: ({ outcome }) => outcome },
  {
    key: "reason",
    head: "Why",
    width: "11rem",
    cell: ({ reason }) => reason ?? <span className="zero">–</span>,
  },
];

function Items({ id }: { readonly id: string }) {
  const items = usePages("operation.items", { id });
  if (items.items.length === 0) return null;
  return (
    <section className="stack">
      <h3>What became of each</h3>
      <List
        label="Things"
        list={items}
        columns={columns}
        keyOf={({ number }) => String(number)}
        empty={["Nothing yet."]}
      />
    </section>
  );
}

export function OperationPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const read = useRead("operation", { id });
  const operation = read.data?.value;
  return (
    <Panel
      label="Operation"
      onClose={onClose}
      title={
        <>
          <h2>{operation?.kind ?? "Operation"}</h2>
          {operation && <StateBadge state={operation.state} />}
        </>
      }
    >
      {read.error && <Failure error={read.error} />}
      {operation && (
        <>
          <Acts operation={operation} />
          {operation.failure !== null && <p className="plan">{operation.failure}</p>}
          <Facts operation={operation} />
          {isCommand(operation) ? (
            <CommandRun id={id} />
          ) : (
            <>
              <BodyText label="Selection" text={JSON.stringify(operation.selection)} />
              <Items id={id} />
            </>
          )}
        </>
      )}
    </Panel>
  );
}
