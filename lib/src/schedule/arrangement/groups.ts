// Groups of schedules: a name space within an account and region, with tags. Each has the group `default`, whether
// somebody has made one or not.
import { writeAudit } from "../../engine/audit.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import type { Scope } from "../../queue/contract.ts";
import type { Asker, Group } from "../contract.ts";
import { defaultGroup } from "../place.ts";
import { answerOnce } from "./request.ts";
import * as store from "./store.ts";

type Tags = Readonly<Record<string, string>>;

/** Those that ask with a token are answered `conflict` where it belongs to another request. */
export interface Groups {
  create(place: GroupPlace, tags: Tags, asker: Asker): Promise<"created" | "exists" | "conflict">;
  /** With the schedules in it. */
  remove(place: GroupPlace, asker: Asker): Promise<"removed" | "missing" | "conflict">;
  find(place: GroupPlace): Promise<Group | undefined>;
  /** In the order of their names. */
  list(
    scope: Scope,
    page: { readonly prefix?: string; readonly after?: string; readonly limit: number },
  ): Promise<Group[]>;
  /** Writes the tags that the function makes of those that are there. */
  retag(place: GroupPlace, change: (tags: Tags) => Tags): Promise<"changed" | "missing">;
}

export interface GroupPlace extends Scope {
  readonly name: string;
}

export function makeGroups(database: Sql): Groups {
  const ensureDefault = (sql: Pick<Sql, "run">, scope: Scope) =>
    store.createGroup(sql, scope, defaultGroup, {});

  const audit = (tx: Tx, verb: string, { name }: GroupPlace, { by }: Asker) =>
    writeAudit(tx, {
      actor: by,
      action: `schedule-group.${verb}`,
      subject: `schedule-group ${name}`,
      reason: "asked for over the wire",
      details: {},
    });

  return {
    create: (place, tags, asker) =>
      answerOnce(
        database,
        { verb: "create-group", scope: place, asker, request: { ...place, tags } },
        async (tx) => {
          if (place.name === defaultGroup) await ensureDefault(tx, place);
          if (!(await store.createGroup(tx, place, place.name, tags))) return "exists";
          await audit(tx, "create", place, asker);
          return "created";
        },
      ),
    remove: (place, asker) =>
      answerOnce(database, { verb: "remove-group", scope: place, asker, request: place }, async (tx) => {
        const group = await store.holdGroup(tx, place, place.name);
        if (!group) return "missing";
        await store.removeGroup(tx, group);
        await audit(tx, "remove", place, asker);
        return "removed";
      }),
    async find(place) {
      if (place.name === defaultGroup) await ensureDefault(database, place);
      return store.findGroup(database, place, place.name);
    },
    async list(scope, page) {
      await ensureDefault(database, scope);
      return store.listGroups(database, scope, page);
    },
    async retag(place, change) {
      if (place.name === defaultGroup) await ensureDefault(database, place);
      return database.transaction(async (tx) => {
        const group = await store.holdGroup(tx, place, place.name);
        if (!group) return "missing";
        await store.writeGroupTags(tx, group, change(group.tags));
        return "changed";
      });
    },
  };
}
