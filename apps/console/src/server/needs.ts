// What the routes work with.
import type { Platform } from "tuntas";
import type { ActName, Acts, ReadName, Reads } from "../api/index.ts";
import type { Access, Who } from "./access.ts";
import type { Fields } from "./fields.ts";
import type { Shared } from "./shared.ts";

export type ConsolePlatform = Pick<
  Platform,
  "database" | "queues" | "workflows" | "context" | "targets" | "log"
>;

export interface Needs {
  readonly platform: ConsolePlatform;
  readonly access: Access;
  readonly shared: Shared;
  readonly token: string;
  readonly version: string;
  readonly links: () => Readonly<Record<string, string>>;
}

export type ReadHandler<N extends ReadName> = (query: Fields, who: Who) => Promise<Reads[N]["answer"]>;

export interface ActHandler<N extends ActName> {
  /** What the role must allow. */
  readonly may: string;
  readonly run: (body: Fields, who: Who) => Promise<Acts[N]["answer"]>;
}

export type ReadsOf<N extends ReadName> = { readonly [K in N]: ReadHandler<K> };
export type ActsOf<N extends ActName> = { readonly [K in N]: ActHandler<K> };
