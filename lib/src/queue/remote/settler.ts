// What attempts came to, for messages that live elsewhere: written here first, in shared commits, each with its fence
// re-checked; then told there, by the receipt of the message's last receive.
import type { Database } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";
import { endDone, endQuarantined, endRejected, letGoOf } from "../store/inbox.ts";
import type { Done, Retry } from "../store/settle.ts";
import { promised, shareEndings, type End, type Settler } from "../worker/settler.ts";

/** What is told there once it is written here. */
export interface Telling {
  ended(claim: Claim): void;
  givenBack(item: Retry): void;
}

export function makeRemoteSettler(database: Database, { ended, givenBack }: Telling): Settler {
  const each =
    <Item>(tell: (item: Item) => void) =>
    (items: readonly Item[]) =>
      items.forEach(tell);
  const done = shareEndings<Done>((items) => endDone(database, items), each(ended));
  const retry = shareEndings<Retry>((items) => letGoOf(database, items), each(givenBack));
  const quarantine = shareEndings<Parameters<Settler["quarantine"]>[0]>(
    (items) => endQuarantined(database, items),
    each(ended),
  );
  const reject = shareEndings<Parameters<Settler["reject"]>[0]>(
    (items) => endRejected(database, items),
    each(ended),
  );

  const by =
    <Item>(gathered: { add(entry: { item: Item; told: any }): void }): End<Item> =>
    (item) =>
      promised((told) => gathered.add({ item, told }));

  return {
    acknowledge: (item, _, told) => done.add({ item, told }),
    done: by(done),
    retry: by(retry),
    quarantine: by(quarantine),
    reject: by(reject),
    idle: async () => {
      await Promise.all([done, retry, quarantine, reject].map((gathered) => gathered.idle()));
    },
  };
}
