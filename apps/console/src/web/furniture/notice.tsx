import type { ReactNode } from "react";
import type { ApiError } from "../api/client.ts";

/** Nothing is there, which is an answer: it says what that means. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** What went wrong, by its code, and what to do about it. */
export function Failure({ error }: { readonly error: ApiError }) {
  const { problem } = error;
  return (
    <div className="failure" role="alert">
      <strong>{problem?.detail ?? error.message}</strong>
      {problem && (
        <span>
          {problem.remedy} <code>{problem.code}</code>
        </span>
      )}
    </div>
  );
}
