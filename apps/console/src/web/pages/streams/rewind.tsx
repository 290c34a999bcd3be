// Has a consumer read on from elsewhere: the oldest record, an instant, an offset, the end.
import { useState, type ReactNode } from "react";
import type { BodyOf, ConsumerView, StreamView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { Confirm } from "../../furniture/confirm.tsx";

export interface ConsumerProps {
  readonly view: StreamView;
  readonly consumer: ConsumerView;
}

export interface DialogProps extends ConsumerProps {
  readonly onClose: () => void;
}

export const nameOf = ({ consumer }: ConsumerProps) => ({
  stream: consumer.stream,
  consumer: consumer.name,
});

type Place = BodyOf<"stream.rewind">["to"];

const places: readonly (readonly [Place, string])[] = [
  ["start", "The oldest record that is kept"],
  ["instant", "The first record from an instant on"],
  ["offset", "An offset of one partition"],
  ["end", "The end: what is unread is passed over"],
];

interface Asked {
  readonly to: Place;
  /** As the field of the browser says it: local, without a zone. */
  readonly instant: string;
  readonly partition: string;
  readonly offset: string;
}

function placeOf({ to, instant, partition, offset }: Asked) {
  if (to === "instant") return { to, instantMs: Date.parse(instant) };
  return to === "offset" ? { to, partition: Number(partition), offset: Number(offset) } : { to };
}

function Field({ label, hint, children }: { label: string; hint?: string | undefined; children: ReactNode }) {
  return (
    <label className="field">
      <span>
        {label} {hint !== undefined && <span className="hint">{hint}</span>}
      </span>
      {children}
    </label>
  );
}

interface WhereProps {
  readonly asked: Asked;
  readonly onChange: (change: Partial<Asked>) => void;
}

const FromInstant = ({ asked, onChange }: WhereProps) => (
  <Field label="Instant" hint="your local time">
    <input
      className="input"
      type="datetime-local"
      step={1}
      required
      value={asked.instant}
      onChange={({ target }) => onChange({ instant: target.value })}
    />
  </Field>
);

interface NumberProps {
  readonly label: string;
  readonly value: string;
  readonly range: readonly [min: number, max: number] | undefined;
  readonly onChange: (value: string) => void;
}

const NumberField = ({ label, value, range, onChange }: NumberProps) => (
  <Field label={label} hint={range && `${range[0]} to ${range[1]}`}>
    <input
      className="input number"
      type="number"
      min={range?.[0]}
      max={range?.[1]}
      required
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </Field>
);

function FromOffset({ asked, offsets, onChange }: WhereProps & Pick<StreamView, "offsets">) {
  const kept = offsets[Number(asked.partition)];
  return (
    <div className="row">
      <NumberField
        label="Partition"
        value={asked.partition}
        range={[0, offsets.length - 1]}
        onChange={(partition) => onChange({ partition })}
      />
      <NumberField
        label="Offset"
        value={asked.offset}
        range={kept && [kept.first, kept.next]}
        onChange={(offset) => onChange({ offset })}
      />
    </div>
  );
}

const Where = ({ asked, offsets, onChange }: WhereProps & Pick<StreamView, "offsets">) => (
  <>
    <Field label="Read on from">
      <select
        className="input"
        value={asked.to}
        onChange={({ target }) => onChange({ to: target.value as Place })}
      >
        {places.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
    {asked.to === "instant" && <FromInstant asked={asked} onChange={onChange} />}
    {asked.to === "offset" && <FromOffset asked={asked} offsets={offsets} onChange={onChange} />}
  </>
);

export function Rewind({ onClose, ...of }: DialogProps) {
  const rewind = useAct("stream.rewind");
  const { name } = of.consumer;
  const [asked, setAsked] = useState<Asked>({ to: "start", instant: "", partition: "0", offset: "" });
  return (
    <Confirm
      danger
      title={`Rewind ${name}`}
      verb="Rewind it"
      typeName={name}
      onClose={onClose}
      run={async (reason) => {
        await rewind.mutateAsync({ ...nameOf(of), ...placeOf(asked), reason });
        return "It reads on from there. What it was handling at this moment commits nothing.";
      }}
    >
      <p>
        Its handler sees each record from there on again, told that it is a replay; the record&apos;s id keeps
        an effect single. Other consumers are not touched.
      </p>
      <Where
        asked={asked}
        offsets={of.view.offsets}
        onChange={(change) => setAsked((before) => ({ ...before, ...change }))}
      />
    </Confirm>
  );
}
