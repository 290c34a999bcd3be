import { countText } from "./count.tsx";

export interface ProgressProps {
  /** Of what, for those who do not see it. */
  readonly of: string;
  readonly done: number;
  readonly total: number;
}

/** How far it is, as a bar and in numbers. */
export const Progress = ({ of, done, total }: ProgressProps) => (
  <span className="progress">
    <progress max={Math.max(1, total)} value={done} aria-label={`Progress of ${of}`} />
    <span className="number">
      {countText(done)} of {countText(total)}
    </span>
  </span>
);
