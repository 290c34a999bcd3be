import fc from "fast-check";
import { expect, test } from "vitest";
import type { AlarmState, MissingData } from "./contract.ts";
import { judge, type Period } from "./state.ts";

const kinds: Readonly<Record<string, Period>> = { "0": "good", X: "breaching", "-": "missing" };
const periodsOf = (text: string): Period[] => text.split(" ").map((each) => kinds[each]!);
const policies: MissingData[] = ["missing", "ignore", "breaching", "notBreaching"];

// The tables of "Configuring how CloudWatch alarms treat missing data"; `=` retains the current state.
test.each([
  ["0 - X - X", 3, "OK OK OK OK"],
  ["- - - - 0", 3, "OK OK OK OK"],
  ["- - - - -", 3, "INSUFFICIENT_DATA = ALARM OK"],
  ["0 X X - X", 3, "ALARM ALARM ALARM ALARM"],
  ["- - X - -", 3, "ALARM = ALARM OK"],
  ["0 - X - X", 2, "ALARM ALARM ALARM ALARM"],
  ["0 0 X 0 X", 2, "ALARM ALARM ALARM ALARM"],
  ["0 - X - -", 2, "OK OK ALARM OK"],
  ["- - - - 0", 2, "OK OK ALARM OK"],
  ["- - - - X", 2, "ALARM = ALARM OK"],
] as const)("CloudWatch: %s with %i of 3", (text, needed, states) => {
  for (const current of ["OK", "ALARM", "INSUFFICIENT_DATA"] as AlarmState[]) {
    const judged = policies.map((missing) =>
      judge({ periods: periodsOf(text), of: [needed, 3], missing, current }),
    );
    expect(judged).toEqual(states.split(" ").map((state) => (state === "=" ? current : state)));
  }
});

const period = fc.constantFrom<Period>("good", "breaching", "missing");
const situation = fc
  .tuple(
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 0, max: 4 }),
    fc.array(period, { minLength: 0, maxLength: 12 }),
  )
  .map(([needed, more, periods]) => ({ of: [needed, needed + more] as const, periods }));
const currents = fc.constantFrom<AlarmState>("OK", "ALARM", "INSUFFICIENT_DATA");

test("with all periods there, M of N alone decides, whatever the policy and the state", () => {
  fc.assert(
    fc.property(situation, fc.constantFrom(...policies), currents, ({ of, periods }, missing, current) => {
      const full = [...Array<Period>(of[1]).fill("good"), ...periods.filter((each) => each !== "missing")];
      const expected =
        full.slice(-of[1]).filter((each) => each === "breaching").length >= of[0] ? "ALARM" : "OK";
      expect(judge({ periods: full, of, missing, current })).toBe(expected);
    }),
  );
});

test("one more period beyond the bound never ends an alarm, and one more within it never begins one", () => {
  fc.assert(
    fc.property(situation, fc.constantFrom(...policies), currents, ({ of, periods }, missing, current) => {
      const judged = (all: readonly Period[]) => judge({ periods: all, of, missing, current });
      const worse = periods.map((each) => (each === "good" ? "breaching" : each));
      const better = periods.map((each) => (each === "breaching" ? "good" : each));
      if (judged(periods) === "ALARM") expect(judged(worse)).toBe("ALARM");
      if (judged(periods) === "OK" && current === "OK") expect(judged(better)).toBe("OK");
    }),
  );
});

test("only `ignore` looks at the state before, only `missing` knows of insufficient data", () => {
  fc.assert(
    fc.property(situation, fc.constantFrom(...policies), ({ of, periods }, missing) => {
      const all = (["OK", "ALARM", "INSUFFICIENT_DATA"] as const).map((current) =>
        judge({ periods, of, missing, current }),
      );
      if (missing !== "ignore") expect(new Set(all).size).toBe(1);
      if (missing !== "ignore" && missing !== "missing") expect(all).not.toContain("INSUFFICIENT_DATA");
    }),
  );
});
