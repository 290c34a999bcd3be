// TestState beyond what was recorded: what its documentation says of Map states and of mocks.
import { describe, expect, it } from "vitest";
import { testState, type TestStateRequest } from "./test-state.ts";

const map = {
  Type: "Map",
  ItemsPath: "$.ids",
  ItemSelector: { "id.$": "$$.Map.Item.Value", "at.$": "$$.Map.Item.Index", "of.$": "$.name" },
  ItemProcessor: {
    ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
    StartAt: "P",
    States: { P: { Type: "Pass", End: true } },
  },
  End: true,
};
const ask = (definition: object, more: Partial<TestStateRequest> = {}) =>
  testState(
    { definition: JSON.stringify(definition), inspectionLevel: "DEBUG", ...more },
    { nowMs: 0, seed: "s" },
  );
const inspected = async (definition: object, more: Partial<TestStateRequest>) => {
  const { inspectionData, ...rest } = await ask(definition, { mock: { result: "[]" }, ...more });
  const shown = Object.entries(inspectionData ?? {}).filter(([name]) => name.startsWith("afterItem"));
  return {
    ...rest,
    ...Object.fromEntries(shown.map(([name, text]) => [name, JSON.parse(text as string) as unknown])),
  };
};
const input = JSON.stringify({ ids: ["a", "b"], name: "n" });
const selected = [
  { id: "a", at: 0, of: "n" },
  { id: "b", at: 1, of: "n" },
];

describe("a Map", () => {
  it("shows its items, what is selected of each, and the batches", async () => {
    expect(await inspected({ ...map, ItemBatcher: { MaxItemsPerBatch: 1 } }, { input })).toEqual({
      status: "SUCCEEDED",
      output: "[]",
      afterItemsPath: ["a", "b"],
      afterItemSelector: selected,
      afterItemBatcher: selected.map((each) => ({ Items: [each] })),
    });
  });

  it("selects with a context object of the caller's", async () => {
    const context = JSON.stringify({ State: { Name: "Mine" } });
    const ItemSelector = { "id.$": "$$.Map.Item.Value", "state.$": "$$.State.Name" };
    expect((await inspected({ ...map, ItemSelector }, { input, context })) as object).toMatchObject({
      afterItemSelector: [
        { id: "a", state: "Mine" },
        { id: "b", state: "Mine" },
      ],
    });
  });

  it("reads the data of its reader as its source holds it", async () => {
    const { ItemsPath: _path, ...rest } = map;
    const reading = (ReaderConfig: object) => ({
      ...rest,
      ItemReader: { Resource: "arn:aws:states:::s3:getObject", ReaderConfig, Parameters: {} },
      ItemSelector: { "id.$": "$$.Map.Item.Value" },
    });
    const reads = (config: object, mapItemReaderData: string) =>
      inspected(reading(config), { input, stateConfiguration: { mapItemReaderData } });
    expect(await reads({ InputType: "CSV", CSVHeaderLocation: "FIRST_ROW" }, "k,v\na,1\n")).toMatchObject({
      afterItemSelector: [{ id: { k: "a", v: "1" } }],
    });
    expect(await reads({ InputType: "JSON", ItemsPointer: "/in" }, '{"in":[5]}')).toMatchObject({
      afterItemsPointer: [5],
      afterItemSelector: [{ id: 5 }],
    });
    expect(await reads({ InputType: "JSON" }, "no")).toMatchObject({
      status: "FAILED",
      error: "States.ItemReaderFailed",
    });
  });
});

it("takes a mocked result or a mocked error, not both", async () => {
  const mock = { result: "[]", errorOutput: { error: "E" } };
  await expect(ask(map, { input, mock })).rejects.toMatchObject({ code: "ValidationException" });
});

it.each([
  ["arn:aws:states:::sqs:sendMessage.waitForTaskToken", { QueueUrl: "q", MessageBody: "m" }],
  ["arn:aws:states:::ecs:runTask.sync", { TaskDefinition: "t" }],
  ["arn:aws:states:us-east-1:000000000000:activity:work", {}],
])("%s needs a mock: nobody would answer", async (Resource, Parameters) => {
  const state = { Type: "Task", Resource, Parameters, End: true };
  await expect(ask(state)).rejects.toMatchObject({ code: "InvalidDefinition" });
  expect(await ask(state, { mock: { result: "{}" } })).toMatchObject({ status: "SUCCEEDED" });
});
