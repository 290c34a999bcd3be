// All checklists, and the items of each that a person may be asked.
import type { ListName } from "../contract.ts";
import { api } from "./api.ts";
import { platform } from "./platform.ts";
import { worker } from "./worker.ts";
import { workflow } from "./workflow.ts";

export { api, platform, worker, workflow };
export { commandLines } from "./command.ts";

const asked = { api, worker, workflow, platform, command: [] } as const;

export const askable = (list: ListName): readonly string[] =>
  (asked[list] as readonly { readonly id: string }[]).map(({ id }) => id);
