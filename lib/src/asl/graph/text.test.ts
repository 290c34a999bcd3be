import { expect, test } from "vitest";
import { calledBy, conditionText } from "./model.ts";
import { toMermaid, toOutline } from "./text.ts";

const definition = {
  StartAt: "Check",
  States: {
    Check: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke",
      Parameters: { FunctionName: "check" },
      Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Late" }],
      Next: "Decide",
    },
    Decide: {
      Type: "Choice",
      Choices: [{ Variable: "$.status", StringEquals: "CLEAR", Next: "Both" }],
      Default: "Late",
    },
    Both: {
      Type: "Parallel",
      Branches: [{ StartAt: "One", States: { One: { Type: "Pass", End: true } } }],
      End: true,
    },
    Late: { Type: "Fail" },
  },
};

test("P-48 a definition is a picture", () => {
  expect(toMermaid(definition)).toBe(`flowchart TD
  s0["Check<br/><small>Function · check</small>"]
  s1{"Decide<br/><small>Choice</small>"}
  subgraph s2 ["Both (Parallel)"]
    s4["One<br/><small>Pass</small>"]
    starts4(( )) --> s4
  end
  s3(("Late<br/><small>Fail</small>"))
  s0 --> s1
  s0 -->|"States.Timeout"| s3
  s1 -->|"status = #quot;CLEAR#quot;"| s2
  s1 -->|"otherwise"| s3
  starts0(( )) --> s0
`);
});

test("and a list", () => {
  expect(toOutline(definition)).toBe(`▶ Check [Function · check] → Decide, Late (States.Timeout)
• Decide [Choice] → Both (status = "CLEAR"), Late (otherwise)
• Both [Parallel]
    ▶ One [Pass]
• Late [Fail]
`);
});

const called = (spec: object) => calledBy({ Type: "Task", ...spec });
test("what a Task calls is read off its resource", () => {
  expect([
    called({ Resource: "arn:aws:lambda:us-east-1:123456789012:function:work:3" }),
    called({ Resource: "work" }),
    called({ Resource: "arn:aws:states:::lambda:invoke", Arguments: { FunctionName: "work:live" } }),
    called({ Resource: "arn:aws:states:::lambda:invoke", Parameters: { "FunctionName.$": "$.f" } }),
    called({ Resource: "arn:aws:states:us-east-1:123456789012:activity:count" }),
    called({ Resource: "arn:aws:states:::states:startExecution.sync:2" }),
  ]).toEqual(["work", "work", "work", undefined, "count", "states:startExecution"]);
});

test.each([
  [{ Condition: "{% ($states.input.n > 5) %}" }, "n > 5"],
  [{ Variable: "$.n", NumericGreaterThanEquals: 5 }, "n ≥ 5"],
  [{ Variable: "$.n", IsPresent: false }, "n is not present"],
  [{ Not: { Variable: "$.n", StringMatches: "a*" } }, 'not n like "a*"'],
  [
    {
      And: [
        { Variable: "$.a", BooleanEquals: true },
        { Variable: "$.b", NumericLessThanPath: "$.c" },
      ],
    },
    'a = true and b < "$.c"',
  ],
])("a condition in a few words: %j", (rule, text) => expect(conditionText(rule)).toBe(text));

test("a condition of white space is read at once", () => {
  expect(conditionText({ Condition: `{% ${" ".repeat(300_000)}` })).toMatch(/^\{%/);
  expect(conditionText({ Condition: `{%${" ".repeat(300_000)}$n > 5 %}` })).toBe("$n > 5");
});
