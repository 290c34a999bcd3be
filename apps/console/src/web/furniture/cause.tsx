interface CauseProps {
  readonly code: string | null;
  readonly reason: string | null;
}

/** Why something failed, in a cell; whole on hover. */
export function Cause({ code, reason }: CauseProps) {
  if (code === null) return <span className="zero">–</span>;
  return (
    <span title={`${code}: ${reason}`}>
      <strong>{code}</strong> <span className="muted">{reason}</span>
    </span>
  );
}
