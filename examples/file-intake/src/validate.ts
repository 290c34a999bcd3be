// The fourth stage: the whole against what its sender says of the whole. Pure.
import { FileFault } from "./fault.ts";
import type { Trailer } from "./parse.ts";
import type { Payment } from "./transform.ts";

/** By currency: few, however many the payments. Cents beyond 2^53 are possible, so they are bigint. */
export type Totals = Map<string, { payments: number; cents: bigint }>;

export function addTo(totals: Totals, { currency, cents }: Payment): void {
  const total = totals.get(currency) ?? { payments: 0, cents: 0n };
  total.payments += 1;
  total.cents += BigInt(cents);
  totals.set(currency, total);
}

export const paymentsOf = (totals: Totals): number =>
  [...totals.values()].reduce((sum, { payments }) => sum + payments, 0);

export function validate(totals: Totals, trailer: Trailer): void {
  const cents = [...totals.values()].reduce((sum, each) => sum + each.cents, 0n);
  const [found, said] = [
    `${paymentsOf(totals)} payments of ${cents}`,
    `${trailer.payments} payments of ${trailer.cents}`,
  ];
  if (found !== said)
    throw new FileFault("validate", "TOTAL", `the trailer says ${said} cents in all, the file has ${found}`);
}
