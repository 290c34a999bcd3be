export interface ReasonProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Why somebody does it: every act asks. */
export const Reason = ({ value, onChange }: ReasonProps) => (
  <label className="field">
    <span>
      Why <span className="hint">goes on the record, with your name</span>
    </span>
    <textarea
      className="input"
      rows={2}
      required
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
        if (key === "Enter" && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit();
      }}
    />
  </label>
);
