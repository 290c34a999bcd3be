// `tuntas explain`: what each shape of work answers to the nine questions that come before any choice of a service.
import type { Answer, Call, Command } from "../command.ts";
import { meantHint } from "../errors.ts";
import { bold, fitting, pairs, paragraph } from "../render.ts";
import { answersOf, readNext } from "../scaffold/answers.ts";
import { reasonFor, templateOf } from "../scaffold/choice.ts";
import { isShapeName, shapeNames, shapeOfKind, shapes, type ShapeName } from "../scaffold/shapes.ts";

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

function explainAll(): Answer {
  const document = shapeNames.map((shape) => ({ shape, ...shapes[shape], answers: answersOf(shape) }));
  const text = [overview(), "One of them whole: tuntas explain worker\nWhich one?        tuntas choose"].join(
    "\n\n",
  );
  return { document, text };
}

function explainOne(shape: ShapeName, word: string): Answer {
  const { when, waits, takes, state, aws, kinds } = shapes[shape];
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
      ["usually, on AWS", aws],
      ["also called", kinds.join(", ")],
    ]),
    pairs([
      ["begin", templateOf(shape)],
      ["read", readNext(shape)],
    ]),
  ].join("\n\n");
  return {
    document: { shape, ...shapes[shape], answers: answersOf(shape), read: readNext(shape) },
    text,
  };
}

/** The shape of that name, or of what people call so. Errors: TUNTAS_CLI_USAGE, with what was probably meant. */
function shapeOf(call: Call, word: string): ShapeName {
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
    "How work of a shape starts, finishes, fails, is repeated, scales, is observed, deployed and isolated, and what it costs; alone it lists the shapes.",
  arguments: [{ name: "SHAPE", required: false }],
  examples: [
    ["tuntas explain", "the shapes of work"],
    ["tuntas explain worker", "the nine answers of one, and how to begin"],
    ["tuntas explain saga", "what people call work leads to its shape, too"],
  ],
  async run(call) {
    const [word] = call.positionals;
    return word === undefined ? explainAll() : explainOne(shapeOf(call, word), word);
  },
};
