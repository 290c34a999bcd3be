// Trying things: a message to a queue, a call of the application's API. An execution is started by `workflow.start`.
import type { JsonSchema } from "tuntas";
import type { Sent } from "tuntas/queue";
import type { None, Reasoned } from "./basics.ts";
import type { Explanation, QueueName } from "./queues.ts";

export type { JsonSchema };

/** Something that the API takes, from its OpenAPI document. */
export interface ApiOperation {
  readonly method: string;
  /** With its parameters in braces: `/orders/{orderId}`. */
  readonly path: string;
  readonly summary: string;
  readonly headers: readonly { readonly name: string; readonly required: boolean }[];
  /** Of a JSON body; null where it takes none, or nothing is known of it. */
  readonly body: JsonSchema | null;
}

export interface ApiView {
  readonly name: string;
  readonly url: string;
  readonly operations: readonly ApiOperation[];
  /** Why it does not say what it takes; method and path are typed then. */
  readonly failure: string | null;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether there was more of it than is shown. */
  readonly cut: boolean;
  readonly tookMs: number;
}

/** Where a message is; that it is nowhere any more is an answer too. */
export interface Fate {
  readonly message: Pick<Explanation, "state" | "queue" | "reasons"> | null;
}

export interface TryReads {
  "message.fate": { query: { readonly id: string }; answer: Fate };
  /** What a queue's messages or a workflow's inputs are, as code declares it; null where it does not. */
  "payload.schema": {
    query: { readonly kind: "queue" | "workflow"; readonly name: string };
    answer: { readonly schema: JsonSchema | null };
  };
  apis: { query: None; answer: readonly ApiView[] };
}

export interface TryActs {
  "message.send": {
    body: QueueName &
      Reasoned & {
        readonly body: string;
        /** Of type String. */
        readonly attributes?: Readonly<Record<string, string>>;
        readonly groupId?: string;
        readonly deduplicationId?: string;
        readonly delaySeconds?: number;
      };
    answer: Sent;
  };
  "api.call": {
    body: Reasoned & {
      /** One of those that the console was started with. */
      readonly api: string;
      readonly method: string;
      /** Below the API's address. */
      readonly path: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };
    answer: ApiAnswer;
  };
}
