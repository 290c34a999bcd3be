import { expect, test } from "vitest";
import { toMermaid, toOutline } from "./graph.ts";

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
  s0["Check<br/><small>check</small>"]
  s1{"Decide<br/><small>Choice</small>"}
  subgraph s2 ["Both (Parallel)"]
    s4["One<br/><small>Pass</small>"]
    starts4(( )) --> s4
  end
  s3(("Late<br/><small>Fail</small>"))
  s0 --> s1
  s0 -->|"States.Timeout"| s3
  s1 -->|"$.status StringEquals #quot;CLEAR#quot;"| s2
  s1 -->|"else"| s3
  starts0(( )) --> s0
`);
});

test("and a list", () => {
  expect(toOutline(definition)).toBe(`▶ Check [Task] → Decide, Late (States.Timeout)
• Decide [Choice] → Both ($.status StringEquals "CLEAR"), Late (else)
• Both [Parallel]
    ▶ One [Pass]
• Late [Fail]
`);
});
