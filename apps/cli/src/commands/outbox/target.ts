// Which target, as the commands of this group name it: KIND:NAME.
import type { TargetName } from "tuntas/outbox";
import type { Call, OptionSpec } from "../../command.ts";

export const targetOption: Readonly<Record<string, OptionSpec>> = {
  target: { value: "KIND:NAME", meaning: "only this target, such as queue:order-work or http:search" },
};

export const targetText = ({ kind, name }: TargetName): string => `${kind}:${name}`;

/** Errors: TUNTAS_CLI_USAGE. */
export function targetOf(call: Call): TargetName | undefined {
  const text = call.text("target");
  if (text === undefined) return undefined;
  const [, kind, name] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (kind !== undefined && name !== undefined) return { kind, name };
  throw call.wrong(`--target: expected KIND:NAME, got ${JSON.stringify(text)}`);
}
