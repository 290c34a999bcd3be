// The one-off checklist is the one of the operation room (`tuntas command check`): ten things that a declaration must say anyway.
import type { Checked, CommandDefinition } from "../../operation/command/contract.ts";
import type { Line } from "../contract.ts";

export const commandLines = (
  { name }: CommandDefinition,
  checked: readonly Checked[] | undefined,
): readonly Line[] =>
  checked?.map(({ item, ok, because }, index) => ({
    id: `${index + 1}`,
    says: item,
    status: ok ? "met" : "unmet",
    looked: `tuntas command check ${name}`,
    found: because,
    asks: null,
  })) ?? [
    {
      id: "known",
      says: "the database knows it",
      status: "unmet",
      looked: "commands of the database",
      found: "no process has run the application that declares it",
      asks: null,
    },
  ];
