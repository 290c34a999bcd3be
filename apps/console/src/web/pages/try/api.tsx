// The application's API: by the form of what it says that it takes, or any method and path.
import { useEffect, useState } from "react";
import { Link } from "wouter";
import type { ApiAnswer, ApiOperation, ApiView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Empty } from "../../furniture/notice.tsx";
import { spanText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { PayloadForm } from "./form/index.tsx";
import { sampleOf } from "./form/model.ts";
import { Choice, Line, Trial } from "./trial.tsx";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const another = "another request";

const keyOf = ({ method, path }: ApiOperation): string => `${method} ${path}`;

type Values = Readonly<Record<string, string>>;

interface Draft {
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly parameters: Values;
  readonly headers: Values;
}

/** Also where the page came over plain HTTP, which has no randomUUID. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

const draftOf = (operation: ApiOperation | undefined): Draft => ({
  method: operation?.method ?? "GET",
  path: operation?.path ?? "/",
  text: operation?.body ? sampleOf(operation.body) : "",
  parameters: {},
  headers: Object.fromEntries(
    (operation?.headers ?? []).map(({ name, required }) => [
      name,
      required && name === "Idempotency-Key" ? newKey() : "",
    ]),
  ),
});

/** The path with its parameters filled in; undefined while one is missing. */
function pathOf({ path, parameters }: Draft): string | undefined {
  const names = parametersOf(path);
  if (names.some((name) => !parameters[name])) return undefined;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}

const toneOf = (status: number): Tone => (status < 300 ? "good" : status < 500 ? "warn" : "danger");

function Came({ answer, asked }: { readonly answer: ApiAnswer; readonly asked: string }) {
  const { status, headers, body, cut, tookMs } = answer;
  return (
    <>
      <header>
        <h2 className="wraps">{asked}</h2>
        <Badge tone={toneOf(status)}>{status}</Badge>
        <span className="muted number">{spanText(tookMs)}</span>
      </header>
      {body === "" ? (
        <p className="muted">An answer without a body.</p>
      ) : (
        <BodyText label="Answer" text={body} />
      )}
      {cut && <p className="muted">There was more; this is its beginning.</p>}
      <details>
        <summary>Headers</summary>
        <BodyText label="Headers" text={JSON.stringify(headers)} />
      </details>
      <p className="muted">
        <Link href="/audit?action=api.call">On the record</Link>
      </p>
    </>
  );
}

interface RequestProps {
  readonly operation: ApiOperation | undefined;
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

function Free({ draft, onChange }: Omit<RequestProps, "operation">) {
  return (
    <div className="pair">
      <Choice
        label="Method"
        value={draft.method}
        choices={methods.map((each) => [each, each])}
        onChange={(method) => onChange({ method })}
      />
      <Line
        label="Path"
        hint="with its query"
        required
        value={draft.path}
        onChange={(path) => onChange({ path })}
      />
    </div>
  );
}

function RequestFields({ operation, draft, onChange }: RequestProps) {
  const { parameters, headers, text, method } = draft;
  const takesBody = operation ? operation.body !== null : method !== "GET";
  return (
    <>
      {!operation && <Free draft={draft} onChange={onChange} />}
      {operation &&
        parametersOf(operation.path).map((name) => (
          <Line
            key={name}
            label={name}
            hint="in the path"
            required
            value={parameters[name] ?? ""}
            onChange={(value) => onChange({ parameters: { ...parameters, [name]: value } })}
          />
        ))}
      {takesBody && (
        <PayloadForm
          label="Body"
          schema={operation?.body ?? null}
          text={text}
          onText={(next) => onChange({ text: next })}
        />
      )}
      {(operation?.headers ?? []).map(({ name, required }) => (
        <Line
          key={name}
          label={name}
          hint={required ? "header" : "header, optional"}
          required={required}
          value={headers[name] ?? ""}
          onChange={(value) => onChange({ headers: { ...headers, [name]: value } })}
        />
      ))}
    </>
  );
}

function Api({ api }: { readonly api: ApiView }) {
  const url = useUrl();
  const wanted = url.get("call");
  const operation =
    wanted === another
      ? undefined
      : (api.operations.find((each) => keyOf(each) === wanted) ?? api.operations[0]);
  const chosen = operation ? keyOf(operation) : another;
  const [draft, setDraft] = useState(() => draftOf(operation));
  useEffect(() => setDraft(draftOf(operation)), [chosen, api.name]);
  const path = pathOf(draft);
  const { method, text } = draft;
  const headers = Object.fromEntries(Object.entries(draft.headers).filter(([, value]) => value !== ""));
  const body =
    path === undefined
      ? undefined
      : { api: api.name, method, path, headers, ...(text && method !== "GET" && { body: text }) };
  const choices = [
    ...api.operations.map(
      (each) => [keyOf(each), [keyOf(each), each.summary].filter(Boolean).join(": ")] as const,
    ),
    [another, "Another request"] as const,
  ];
  const renewKey = (): void =>
    setDraft((before) =>
      before.headers["Idempotency-Key"]
        ? { ...before, headers: { ...before.headers, "Idempotency-Key": newKey() } }
        : before,
    );
  return (
    <Trial
      act="api.call"
      may="api.call"
      verb="Call"
      body={body}
      before="Call the application as a client of it would."
      onDone={renewKey}
      outcome={(answer, asked) => <Came answer={answer} asked={`${asked.method} ${asked.path}`} />}
    >
      <Choice label="Request" value={chosen} choices={choices} onChange={(call) => url.set({ call })} />
      {api.failure !== null && (
        <p className="muted">It does not say what it takes ({api.failure}), so method and path are yours.</p>
      )}
      <RequestFields
        operation={operation}
        draft={draft}
        onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
      />
    </Trial>
  );
}

export default function TryApi() {
  const url = useUrl();
  const apis = useRead("apis", {}, { everyMs: false }).data?.value;
  if (!apis) return null;
  const api = apis.find(({ name }) => name === url.get("api")) ?? apis[0];
  if (!api)
    return (
      <Empty title="The console knows no API.">
        Name it when you start the console: `tuntas serve --api orders=http://127.0.0.1:8080`, or `apis` of
        consolePages.
      </Empty>
    );
  return (
    <>
      {apis.length > 1 && (
        <div className="filters">
          <Choice
            label="API"
            value={api.name}
            choices={apis.map(({ name }) => [name, name])}
            onChange={(name) => url.set({ api: name, call: undefined })}
          />
        </div>
      )}
      <Api key={api.name} api={api} />
    </>
  );
}
