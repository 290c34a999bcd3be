// Makes the database agree with what code declares: the queue, its dead-letter queue, the settings of both.
import type { QueueRecord, QueueSettings } from "./contract.ts";
import { defaultScope } from "./contract.ts";
import type { Catalog } from "./client/catalog.ts";
import type { QueueDefinition } from "./declaration.ts";
import { deadLetterNameOf, deadLetterSettingsOf, settingsOf } from "./declaration.ts";

const differs = (queue: QueueRecord, settings: QueueSettings): boolean =>
  (Object.keys(settings) as (keyof QueueSettings)[]).some((key) => queue[key] !== settings[key]);

async function ensure(catalog: Catalog, name: string, settings: QueueSettings): Promise<QueueRecord> {
  const { status, queue } = await catalog.create(defaultScope, name, settings);
  return status === "exists" && differs(queue, settings) ? catalog.update(queue, settings) : queue;
}

export async function ensureQueue(catalog: Catalog, definition: QueueDefinition): Promise<QueueRecord> {
  await ensure(catalog, deadLetterNameOf(definition.name), deadLetterSettingsOf(definition));
  return ensure(catalog, definition.name, settingsOf(definition));
}
