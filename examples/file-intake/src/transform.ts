// The third stage: a row into a payment, and a payment into a line of the output. Pure.
import { FileFault } from "./fault.ts";
import type { Row } from "./parse.ts";

export interface Payment {
  readonly reference: string;
  readonly account: string;
  readonly currency: string;
  readonly cents: number;
}

export function toPayment({ line, fields }: Row): Payment {
  const [reference, account, currency, amount] = fields as [string, string, string, string];
  const wrong = (what: string) => new FileFault("transform", "FIELD", `line ${line}: ${what}`);
  if (reference === "" || account === "") throw wrong("a payment needs a reference and an account");
  if (!/^[A-Z]{3}$/.test(currency)) throw wrong(`expected a currency such as IDR, got ${currency}`);
  const parts = /^(\d{1,12})(?:\.(\d{2}))?$/.exec(amount);
  if (!parts) throw wrong(`expected an amount such as 12 or 12.30, got ${amount}`);
  return { reference, account, currency, cents: Number(parts[1]) * 100 + Number(parts[2] ?? 0) };
}

/** In an order of its own, so that the same payment is the same text. */
export const lineOf = ({ reference, account, currency, cents }: Payment): string =>
  `${JSON.stringify({ reference, account, currency, cents })}\n`;
