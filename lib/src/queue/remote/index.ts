// The door for whoever brings a service in which declared queues may live (`tuntas/queue/remote`), as `@tuntas/aws` does.
export { coalescer, type Coalescer } from "../../core/coalesce.ts";
export { backoffMs, type Backoff } from "../../core/backoff.ts";
export { isUnavailable } from "../../engine/unavailable.ts";
export { toSeconds } from "../../core/duration.ts";
export { readHoldings, type Holdings } from "../../engine/process/holdings.ts";
export { deadLetterNameOf } from "../declaration.ts";
export type {
  Held,
  OpenService,
  QueueService,
  Received,
  Remote,
  RemoteMessage,
  ServiceParts,
  Wanted,
} from "./contract.ts";
