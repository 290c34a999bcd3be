// Where the conformance suite's queues live: what it asks of each tier beside the library itself, which is the same.
import type { RunningApp, StartOptions } from "tuntas";
import type { TestPlatform } from "tuntas/testing";

export interface Depth {
  /** Ready, delayed and in flight. */
  readonly waiting: number;
  /** Bodies in the dead-letter queue. */
  readonly dead: readonly string[];
}

export interface Place extends AsyncDisposable {
  /** The platform of the workers, in whose database their effects are. */
  readonly kit: TestPlatform;
  /** What `start` of an application gets here. */
  readonly options: Pick<StartOptions, "queues">;
  /** The environment and the parts of a process of its own. */
  readonly child: { readonly env: NodeJS.ProcessEnv; readonly parts: object };
  /** Longer than this, and the claim of a worker that died is over. */
  readonly leaseMs: number;
  /** Sends a text as somebody would who knows no schema. */
  sendText(queue: string, body: string): Promise<void>;
  depth(queue: string): Promise<Depth>;
  /** Takes what is worked on from its workers and has it given out again, as if its lease had run out. */
  rob(queue: string): Promise<void>;
}

export interface Tier {
  readonly name: string;
  open(): Promise<Place>;
}

export type { RunningApp };
