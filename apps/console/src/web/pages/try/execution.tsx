// An execution of a machine, with an input and, where one likes, a name.
import { useState } from "react";
import { Link } from "wouter";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { useUrl } from "../../furniture/url.ts";
import { runHref } from "../workflows/links.ts";
import { statusText, statusTones } from "../workflows/tones.ts";
import { PayloadForm } from "./form/index.tsx";
import { usePayload } from "./message.tsx";
import { Choice, Line, Trial } from "./trial.tsx";

const titles = {
  created: "Started",
  duplicate: "Started before, with the same input",
  conflict: "Not started: the name is taken",
} as const;

const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(":") + 1);

function Came({ arn, status }: { readonly arn: string; readonly status: keyof typeof titles }) {
  const run = useRead("run", { arn }, { everyMs: 1000 }).data?.value;
  return (
    <>
      <header>
        <h2>{titles[status]}</h2>
        {run && <Badge tone={statusTones[run.execution.status]}>{statusText(run.execution.status)}</Badge>}
      </header>
      <p>
        <Link href={runHref(arn)}>{nameOf(arn)}</Link>
      </p>
      {run?.positions[0] && (
        <p className="muted">
          At {run.positions[0].state}: {run.positions[0].reason}
        </p>
      )}
    </>
  );
}

export default function TryExecution() {
  const url = useUrl();
  const machines = useRead("machines", {}, { everyMs: 10_000 }).data?.value.items ?? [];
  const machine = url.get("machine") ?? machines[0]?.name ?? "";
  const { schema, text, setText } = usePayload("workflow", machine);
  const [name, setName] = useState("");
  return (
    <Trial
      act="workflow.start"
      may="workflow.start"
      verb="Start"
      body={machine === "" ? undefined : { machine, input: text, ...(name && { name }) }}
      before="Start an execution, and follow it to its end."
      outcome={({ arn, status }) => <Came arn={arn} status={status} />}
    >
      <Choice
        label="Machine"
        value={machine}
        choices={machines.map((each) => [each.name, each.name])}
        onChange={(next) => url.set({ machine: next })}
      />
      <PayloadForm label="Input" schema={schema} text={text} onText={setText} />
      <Line
        label="Name"
        hint="a repeat with the same input finds it while it runs; a new one where it is empty"
        value={name}
        onChange={setName}
      />
    </Trial>
  );
}
