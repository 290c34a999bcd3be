// What `tuntas doctor` says.

export interface Finding {
  /** What was looked at: `node`, `port`, `database`, … */
  readonly check: string;
  /** `problem`: it does not work so. `warning`: it works, and somebody should know. */
  readonly status: "ok" | "warning" | "problem";
  readonly text: string;
  /** What to do; null where nothing is wrong. */
  readonly remedy: string | null;
}

export const ok = (check: string, text: string): Finding => ({ check, status: "ok", text, remedy: null });
export const warning = (check: string, text: string, remedy: string): Finding => ({
  check,
  status: "warning",
  text,
  remedy,
});
export const problem = (check: string, text: string, remedy: string): Finding => ({
  check,
  status: "problem",
  text,
  remedy,
});

/** A coded error as a finding. */
export function findingOf(check: string, cause: unknown): Finding {
  const { code, message, remedy } = cause as { code?: string; message?: string; remedy?: string };
  return problem(check, `${code ?? "error"}: ${message ?? String(cause)}`, remedy ?? "Read the message.");
}
