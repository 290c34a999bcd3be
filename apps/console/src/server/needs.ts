// What the routes work with.
import type { Platform } from "tuntas";
import type { Act, Who } from "tuntas/access";
import type { ActName, Acts, ReadName, Reads } from "../api/index.ts";
import type { Chronicles } from "./chronicle/followed.ts";
import type { Fields } from "./fields.ts";
import type { Shared } from "./shared.ts";

export type ConsolePlatform = Pick<
  Platform,
  | "access"
  | "alarms"
  | "backfills"
  | "batches"
  | "commands"
  | "context"
  | "database"
  | "log"
  | "operations"
  | "queues"
  | "schedules"
  | "series"
  | "services"
  | "streams"
  | "targets"
  | "waker"
  | "workflows"
>;

export interface Needs {
  readonly platform: ConsolePlatform;
  readonly shared: Shared;
  readonly chronicles: Chronicles;
  readonly version: string;
  /** The application's APIs by name; only these are called. */
  readonly apis: () => Readonly<Record<string, string>>;
  readonly links: () => Readonly<Record<string, string>>;
}

export type ReadHandler<N extends ReadName> = (query: Fields, who: Who) => Promise<Reads[N]["answer"]>;

export interface ActHandler<N extends ActName> {
  /** What the role must allow. */
  readonly may: Act;
  readonly run: (body: Fields, who: Who) => Promise<Acts[N]["answer"]>;
}

export type ReadsOf<N extends ReadName> = { readonly [K in N]: ReadHandler<K> };
export type ActsOf<N extends ActName> = { readonly [K in N]: ActHandler<K> };
