// Items of a Map as types: where they come from, what each iteration or child is given of them, how many failures are borne,
// and where the results go.
import type { JsonObject } from "../../asl/contract.ts";
import type { Expressible, Expression, Ref, Resolved } from "./expression.ts";
import type { Made, Scope } from "./options.ts";

/** Items in S3; `s3Items`, `s3Objects` and `s3Inventory` make one. */
export interface Reader<Item> {
  readonly reader: JsonObject;
  readonly item?: Item;
}

export type Items<Start, Current, Vars, Item> = (
  scope: Scope<Start, Current, Vars>,
) => Expression<readonly Item[]>;

export interface ItemScope<Start, Current, Vars, Item> extends Scope<Start, Current, Vars> {
  readonly item: Ref<Item>;
  readonly index: Ref<number>;
}

/** Items, each of which is made into something else before it is given on. */
export interface Selected<Start, Current, Vars, Item, E extends Expressible> {
  readonly items: Items<Start, Current, Vars, Item>;
  readonly select: (scope: ItemScope<Start, Current, Vars, Item>) => E;
}

type Count<Start, Current, Vars> = number | Made<Start, Current, Vars, number>;

/** Where the results are written, with a manifest. */
export interface Written {
  readonly bucket: string | Expression<string>;
  readonly prefix?: string | Expression<string>;
  /** NONE (the default) describes each child's execution, COMPACT is their outputs, FLATTEN the items of those that are lists. */
  readonly transformation?: "NONE" | "COMPACT" | "FLATTEN";
  readonly type?: "JSON" | "JSONL";
}

/** A run of children: what is not said is as for a list of items, each in a child, none of which may fail. */
export interface Run<Start, Current, Vars, Item, E extends Expressible, T, W> {
  readonly items: Items<Start, Current, Vars, Item> | Reader<Item>;
  readonly select?: (scope: ItemScope<Start, Current, Vars, Item>) => E;
  /** How many children may fail: a number, a share such as "5%", or both. Those that failed are described among the results. */
  readonly tolerate?: T;
  /** Where the results go instead of to the next state; "flattened": lists that children give are put into one. */
  readonly results?: W;
}

export type Tolerated =
  | number
  | `${number}%`
  | {
      readonly count?: number | Expression<number>;
      readonly percentage?: number | Expression<number>;
    };

/** A run whose children work on several items each. */
export interface BatchedRun<Start, Current, Vars, Item, E extends Expressible, T, W, B> extends Run<
  Start,
  Current,
  Vars,
  Item,
  E,
  T,
  W
> {
  readonly batch: {
    readonly items?: Count<Start, Current, Vars>;
    /** Bytes of a child's input. */
    readonly bytes?: Count<Start, Current, Vars>;
    /** What each child is given beside its items. */
    readonly input?: (scope: Scope<Start, Current, Vars>) => B;
  };
}

/** What a batched child is given. */
export type Batch<Item, B> = { readonly Items: readonly Item[] } & ([B] extends [never]
  ? unknown
  : { readonly BatchInput: Resolved<B> });

/** What is known of a child that failed. */
export interface FailedChild {
  readonly Status: "FAILED" | "TIMED_OUT" | "ABORTED";
  readonly ExecutionArn: string;
  readonly Name: string;
  readonly Input: string;
  readonly Error?: string;
  readonly Cause?: string;
}

interface WrittenResults {
  readonly MapRunArn: string;
  readonly ResultWriterDetails: { readonly Bucket: string; readonly Key: string };
}

type Flat<T> = T extends readonly (infer Item)[] ? Item : T;

/** What the run gives to the next state. */
export type RunResult<Each, T, W> = [W] extends [never]
  ? readonly ([T] extends [never] ? Each : Each | FailedChild)[]
  : W extends "flattened"
    ? readonly ([T] extends [never] ? Flat<Each> : Flat<Each> | FailedChild)[]
    : WrittenResults;
