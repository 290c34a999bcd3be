// `tuntas explain`: what each shape of work answers to the nine questions that come before any choice of a service.
import type { Answer, Call, Command } from "../command.ts";
import { meantHint } from "tuntas";
import { bold, fitting, pairs, paragraph } from "../render.ts";
import { answersOf, readNext } from "../scaffold/answers.ts";
import { reasonFor, templateOf } from "../scaffold/choice.ts";
import { failuresOf } from "../scaffold/failures.ts";
import { isShapeName, shapeNames, shapeOfKind, shapes, type ShapeName } from "../scaffold/shapes.ts";
import { planOf } from "../scaffold/tests.ts";

/** All shapes, with as many columns as the terminal has room for. */
export const overview = (): string =>
  fitting(
    shapeNames.map((shape) => ({ shape, ...shapes[shape] })),
    {
      shape: ({ shape }) => shape,
      "starts by": ({ startsBy }) => startsBy,
      takes: ({ takes }) => takes,
      "does somebody wait?": ({ waits }) => waits,
      "its state lives in": ({ state }) => state,
      "scales by": ({ scalesBy }) => scalesBy,
      "usually, on AWS": ({ aws }) => aws,
    },
  );

const documentOf = (shape: ShapeName) => ({
  shape,
  ...shapes[shape],
  answers: answersOf(shape),
  failures: failuresOf(shape),
  tests: planOf(shape),
  read: readNext(shape),
});

function explainAll(): Answer {
  const document = shapeNames.map(documentOf);
  const text = [overview(), "One of them whole: tuntas explain worker\nWhich one?        tuntas choose"].join(
    "\n\n",
  );
  return { document, text };
}

function explainOne(shape: ShapeName, word: string): Answer {
  const { when, waits, takes, state, keptBy, aws, kinds } = shapes[shape];
  const called = word === shape ? [] : [`A ${word} has the shape ${shape}.`];
  const text = [
    ...called,
    `${bold(shape)}: ${paragraph(reasonFor(shape), shape.length + 2)}`,
    pairs(Object.entries(answersOf(shape))),
    pairs([
      ["take it where", when],
      ["takes", takes],
      ["somebody waits?", waits],
      ["its state lives in", state],
      ["is kept running by", keptBy],
      ["usually, on AWS", aws],
      ["also called", kinds.join(", ")],
    ]),
    `When it goes wrong:\n${pairs(Object.entries(failuresOf(shape)))}`,
    `To be tested:\n${pairs(Object.entries(planOf(shape, { daemon: word === "daemon" })))}`,
    pairs([
      ["begin", templateOf(shape)],
      ["read", readNext(shape)],
    ]),
  ].join("\n\n");
  return {
    document: documentOf(shape),
    text,
  };
}

/** The shape of that name, or of what people call so. Errors: TUNTAS_CLI_USAGE, with what was probably meant. */
export function shapeOf(call: Call, word: string): ShapeName {
  const shape = isShapeName(word) ? word : shapeOfKind(word);
  if (shape !== undefined) return shape;
  const hint = meantHint(word, [...shapeNames, ...shapeNames.flatMap((name) => shapes[name].kinds)]);
  throw call.wrong(
    `there is no shape ${JSON.stringify(word)}${hint}; the shapes are ${shapeNames.join(", ")}`,
  );
}

export const explain: Command = {
  name: "explain",
  summary:
    "How work of a shape starts, finishes, fails, is repeated, scales, is observed, deployed and isolated, and what it costs; what becomes of it when something goes wrong, and what is to be tested; alone it lists the shapes.",
  arguments: [{ name: "SHAPE", required: false }],
  examples: [
    ["tuntas explain", "the shapes of work"],
    ["tuntas explain worker", "the nine answers of one, its failures and tests, and how to begin"],
    ["tuntas explain saga", "what people call work leads to its shape, too"],
  ],
  async run(call) {
    const [word] = call.positionals;
    return word === undefined ? explainAll() : explainOne(shapeOf(call, word), word);
  },
};
