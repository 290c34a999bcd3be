// A payload to be typed: as a form where its schema gives one, as text always.
import { useEffect, useState } from "react";
import type { JsonSchema } from "../../../../api/index.ts";
import { fieldsOf, parseObject, textOf, valueAt, withValue, type Field } from "./model.ts";

interface FieldProps {
  readonly field: Field;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function JsonInput({ label, value, onChange }: Omit<FieldProps, "field"> & { label: string }) {
  const given = value === undefined ? "" : JSON.stringify(value);
  const [text, setText] = useState(given);
  const [wrong, setWrong] = useState(false);
  useEffect(() => setText(given), [given]);
  const take = (): void => {
    try {
      onChange(text.trim() === "" ? undefined : JSON.parse(text));
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <input
      className="input code"
      aria-label={label}
      aria-invalid={wrong}
      placeholder="JSON"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={take}
    />
  );
}

function TypedInput({ field, value, onChange, label }: FieldProps & { label: string }) {
  const { kind, choices, required } = field;
  if (kind === "json") return <JsonInput label={label} value={value} onChange={onChange} />;
  const asText = value === undefined || value === null ? "" : String(value);
  if (kind === "choice" || kind === "flag")
    return (
      <select
        className="input"
        aria-label={label}
        value={asText}
        onChange={({ target }) =>
          onChange(target.value === "" ? undefined : kind === "flag" ? target.value === "true" : target.value)
        }
      >
        {(!required || kind === "flag" || asText === "") && <option value="">not given</option>}
        {(kind === "flag" ? ["true", "false"] : choices).map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    );
  const isNumber = kind !== "text";
  const taken = (text: string): unknown => {
    if (text === "") return required && !isNumber ? "" : undefined;
    return isNumber ? Number(text) : text;
  };
  return (
    <input
      className={isNumber ? "input number" : "input"}
      type={isNumber ? "number" : "text"}
      step={kind === "integer" ? 1 : "any"}
      aria-label={label}
      value={asText}
      onChange={(event) => onChange(taken(event.target.value))}
    />
  );
}

function FieldRow(props: FieldProps) {
  const { path, required, hint } = props.field;
  const label = path.join(" › ");
  return (
    <div className="field">
      <span>
        {label} <span className="hint">{[hint, !required && "optional"].filter(Boolean).join(", ")}</span>
      </span>
      <TypedInput {...props} label={label} />
    </div>
  );
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

export interface PayloadProps {
  readonly label: string;
  readonly schema: JsonSchema | null;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function TextArea({ label, text, onText }: Omit<PayloadProps, "schema">) {
  return (
    <div className="field">
      <textarea
        className="input code payload-text"
        aria-label={label}
        spellCheck={false}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <span className="hint">
        {isJson(text) ? "JSON" : "Not JSON: it goes out as it is."} {new Blob([text]).size} bytes
      </span>
    </div>
  );
}

export function PayloadForm({ label, schema, text, onText }: PayloadProps) {
  const [asText, setAsText] = useState(false);
  const fields = schema ? fieldsOf(schema) : [];
  const value = parseObject(text);
  const hasForm = fields.length > 0;
  const shows = hasForm && !asText && value !== undefined;
  return (
    <fieldset className="payload">
      <legend>{label}</legend>
      {hasForm && (
        <div className="switch" role="group" aria-label={`${label} as`}>
          {(["Form", "Text"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={shows === (each === "Form")}
              disabled={each === "Form" && value === undefined}
              onClick={() => setAsText(each === "Text")}
            >
              {each}
            </button>
          ))}
        </div>
      )}
      {shows ? (
        fields.map((field) => (
          <FieldRow
            key={field.path.join(".")}
            field={field}
            value={valueAt(value, field.path)}
            onChange={(next) => onText(textOf(withValue(value, field.path, next)))}
          />
        ))
      ) : (
        <TextArea label={label} text={text} onText={onText} />
      )}
    </fieldset>
  );
}
