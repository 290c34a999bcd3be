import { describe, expect, test } from "vitest";
import {
  finalStatuses,
  guard,
  statuses,
  transitions,
  type Status,
  type TransitionName,
} from "./transitions.ts";

const names = Object.keys(transitions) as TransitionName[];

describe("P-16 the case's transitions", () => {
  test.each(names)("%s moves from its own statuses only", (name) => {
    const { from, to } = transitions[name] as { from: readonly Status[]; to: Status };
    for (const status of statuses) {
      const expected = from.includes(status)
        ? "moves"
        : status === to
          ? "was so already"
          : ["CANCELLED", "EXPIRED"].includes(status)
            ? "over"
            : "invalid";
      expect(guard(name, status), status).toBe(expected);
    }
  });

  test("P-15 nothing leaves a final status", () => {
    for (const name of names)
      for (const status of finalStatuses) expect(guard(name, status)).not.toBe("moves");
  });

  test("every status but the first can be reached from the first", () => {
    const reached = new Set<Status>(["DRAFT"]);
    for (let before = 0; before !== reached.size;) {
      before = reached.size;
      for (const { from, to } of Object.values(transitions) as { from: readonly Status[]; to: Status }[])
        if (from.some((status) => reached.has(status))) reached.add(to);
    }
    expect([...reached].toSorted()).toEqual([...statuses].toSorted());
  });

  test("a case that is not over can be cancelled and can expire; a rejected one can only be cancelled", () => {
    for (const status of statuses.filter((each) => !finalStatuses.includes(each)))
      expect(guard("cancel", status)).toBe("moves");
    expect(guard("expire", "NEEDS_APPROVAL")).toBe("moves");
    expect(guard("expire", "REJECTED")).toBe("invalid");
  });
});
