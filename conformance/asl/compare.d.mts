/** Types of the comparer; see README.md for what it ignores. */
export interface Difference {
  readonly path: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}
export interface Comparison {
  readonly ok: boolean;
  readonly diffs: readonly Difference[];
}
export function loadCorpus(dir: string): { readonly file: string; readonly scenario: unknown }[];
export function compareExecution(
  expected: unknown,
  actual: unknown,
  options?: object,
): Comparison & {
  readonly statusOk: boolean;
  readonly outputOk: boolean;
  readonly errorOk: boolean;
  readonly historyOk: boolean | null;
};
export function compareCases(scenario: unknown, outcomes: readonly unknown[]): Comparison;
export function compareResponse(expected: unknown, actual: unknown, scenario?: unknown): Comparison;
export function compareError(
  expected: unknown,
  actual: unknown,
  scenario?: unknown,
): Comparison & { readonly codeOk: boolean };
