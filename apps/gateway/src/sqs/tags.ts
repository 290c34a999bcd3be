// The tags of a queue. Source: API_TagQueue.
import { isStorable } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { findQueue } from "./address.ts";
import { invalid, missing, required, sqsError } from "./errors.ts";
import type { shapes } from "./shapes.ts";

type Tags = Readonly<Record<string, string>>;
type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const countMax = 50;
const keyMax = 128;
const valueMax = 256;

/** Those that a queue of this name is to have beside the `present` ones. */
export function checkTags(name: string, tags: Tags, present: Tags = {}): void {
  checkCount(name, [...Object.keys(present), ...Object.keys(tags)]);
  for (const [key, value] of Object.entries(tags)) {
    if (key.length < 1 || key.length > keyMax || !isStorable(key)) {
      throw invalid(
        key.slice(0, keyMax),
        "TagKey",
        "Tag keys must be between 1 and 128 characters in length.",
      );
    }
    if (value.length > valueMax || !isStorable(value)) {
      throw invalid(
        value.slice(0, valueMax),
        "TagValue",
        "Tag values must be between 0 and 256 characters in length.",
      );
    }
  }
}

function checkCount(name: string, keys: readonly string[]): void {
  if (new Set(keys).size > countMax)
    throw sqsError("invalidParameterValue", `Too many tags added for queue ${name}.`);
}

export async function tagQueue({ queues: { catalog } }: Rooms, call: Call, input: Input<"tagQueue">) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const tags = required(input.Tags, "Tags");
  if (Object.keys(tags).length === 0) throw missing("Tags");
  checkTags(queue.name, tags, await catalog.tags(queue));
  await catalog.tag(queue, tags);
}

export async function untagQueue({ queues: { catalog } }: Rooms, call: Call, input: Input<"untagQueue">) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const keys = required(input.TagKeys, "TagKeys");
  if (keys.length === 0) {
    throw sqsError("invalidParameterValue", "Tag keys must be between 1 and 128 characters in length.");
  }
  await catalog.untag(queue, keys.filter(isStorable));
}

export async function listQueueTags({ queues: { catalog } }: Rooms, call: Call, input: Input<"queueUrl">) {
  const tags = await catalog.tags(await findQueue(catalog, call, input.QueueUrl));
  return Object.keys(tags).length > 0 ? { Tags: tags } : {};
}
