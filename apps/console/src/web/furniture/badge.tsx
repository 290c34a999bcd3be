import type { ReactNode } from "react";

export type Tone = "good" | "active" | "warn" | "danger" | "idle";

// Each tone has a shape of its own, so that nobody has to tell colours apart.
const shapes: Readonly<Record<Tone, ReactNode>> = {
  good: <path d="M1.5 5.3 4 7.8l4.5-5" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  active: <circle cx="5" cy="5" r="3.4" fill="currentColor" />,
  warn: <path d="M5 1 9.4 9H.6L5 1Z" fill="currentColor" />,
  danger: <rect x="1" y="1" width="8" height="8" rx="1" fill="currentColor" />,
  idle: <circle cx="5" cy="5" r="3" fill="none" stroke="currentColor" strokeWidth="1.6" />,
};

/** The shape of a tone alone, beside a word. */
export const Mark = ({ tone }: { readonly tone: Tone }) => (
  <svg viewBox="0 0 10 10" aria-hidden="true" focusable="false">
    {shapes[tone]}
  </svg>
);

/** A state in a word, with a shape and a colour. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      <Mark tone={tone} />
      {children}
    </span>
  );
}
