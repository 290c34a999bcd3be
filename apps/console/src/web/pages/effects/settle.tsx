import { useState } from "react";
import type { BodyOf, EffectRow } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { Confirm } from "../../furniture/confirm.tsx";

type Found = BodyOf<"effect.settle">["found"];

const choices: readonly (readonly [Found, string])[] = [
  ["succeeded", "It took place."],
  ["absent", "It never arrived: the call may be made again."],
  ["refused", "It arrived and was refused for good."],
];

/** A person's word on a call that nobody knows the end of. */
export function Settle({ row, onClose }: { readonly row: EffectRow; readonly onClose: () => void }) {
  const settle = useAct("effect.settle");
  const [found, setFound] = useState<Found>("succeeded");
  const [reference, setReference] = useState("");
  return (
    <Confirm
      title={`What became of ${row.key}?`}
      verb="Say so"
      onClose={onClose}
      run={async (reason) => {
        const { state } = await settle.mutateAsync({
          id: row.id,
          found,
          reason,
          ...(reference && { reference }),
        });
        return `It is ${state} now.`;
      }}
    >
      <fieldset className="choices">
        <legend>What {row.provider} has of it</legend>
        {choices.map(([value, text]) => (
          <label key={value} className="row">
            <input type="radio" name="found" checked={found === value} onChange={() => setFound(value)} />
            {text}
          </label>
        ))}
      </fieldset>
      {found === "succeeded" && (
        <label className="field">
          <span>
            Reference <span className="hint">what {row.provider} calls it, if anything</span>
          </span>
          <input className="input" value={reference} onChange={(event) => setReference(event.target.value)} />
        </label>
      )}
    </Confirm>
  );
}
