// Schedules that no code declares, as AWS's API makes, changes and removes them. They have nobody who answers for them, and
// EventBridge's ways where a declaration would have to choose.
import { readNowMs } from "../../pg/clock.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Scope } from "../../queue/contract.ts";
import { audit, pause, resume, rewrite, timingOf } from "../change.ts";
import type { Act, Arranged, Arrangement, Asker, Place } from "../contract.ts";
import { defaultGroup, nameOf } from "../place.ts";
import { arrangedOf, settingsOfArrangement } from "../settings.ts";
import * as rows from "../store.ts";
import type { Turns } from "../turn.ts";
import { answerOnce } from "./request.ts";
import * as store from "./store.ts";

/** Each answers `conflict` where the token belongs to another request. */
export interface Arrangements {
  create(
    arrangement: Arrangement,
    asker: Asker,
  ): Promise<"created" | "exists" | "group missing" | "start passed" | "conflict">;
  /** Takes all of it anew. What code declares is changed there. */
  change(arrangement: Arrangement, asker: Asker): Promise<"changed" | "missing" | "declared" | "conflict">;
  remove(place: Place, asker: Asker): Promise<"removed" | "missing" | "conflict">;
  find(place: Place): Promise<Arranged | undefined>;
  /** Those of an account and region, in the order of groups and names, declared ones too. */
  list(scope: Scope, filter: store.ListFilter): Promise<Arranged[]>;
}

interface Parts {
  readonly database: Sql;
  readonly turns: Turns;
  /** What is due next may be another. */
  readonly onChanged: () => void;
}

/** A start that is just over counts, as for EventBridge. */
const startGraceMs = 5 * 60_000;

const actOf = ({ by }: Asker): Act => ({ by, reason: "asked for over the wire" });

export function makeArrangements({ database, turns, onChanged }: Parts): Arrangements {
  const changing = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await work;
    onChanged();
    return answer;
  };

  return {
    create: (arrangement, asker) =>
      changing(
        answerOnce(
          database,
          { verb: "create", scope: arrangement.place, asker, request: arrangement },
          async (tx) => {
            const { place, enabled } = arrangement;
            const settings = settingsOfArrangement(arrangement);
            if (place.group !== defaultGroup && !(await store.keepGroup(tx, place, place.group)))
              return "group missing";
            const nowMs = await readNowMs(tx);
            const timing = timingOf(settings, nowMs);
            if (settings.startsMs !== null && settings.startsMs < nowMs - startGraceMs) return "start passed";
            if (!(await rows.insertSchedule(tx, settings, timing))) return "exists";
            await audit(tx, "create", settings.name, actOf(asker));
            if (!enabled) await pause(tx, (await rows.lockSchedule(tx, settings.name))!, actOf(asker));
            return "created";
          },
        ),
      ),
    async change(arrangement, asker) {
      const settings = settingsOfArrangement(arrangement);
      // What was due by the expression of before is treated by it.
      await turns.turn(settings.name);
      return changing(
        answerOnce(
          database,
          { verb: "change", scope: arrangement.place, asker, request: arrangement },
          async (tx) => {
            const row = await rows.lockSchedule(tx, settings.name);
            if (!row) return "missing";
            if (row.owner !== null) return "declared";
            await rewrite(tx, { row, settings, act: actOf(asker) });
            const now = (await rows.lockSchedule(tx, settings.name))!;
            await (arrangement.enabled ? resume : pause)(tx, now, actOf(asker));
            return "changed";
          },
        ),
      );
    },
    remove: (place, asker) =>
      answerOnce(database, { verb: "remove", scope: place, asker, request: place }, async (tx) => {
        const name = nameOf(place);
        if (!(await rows.lockSchedule(tx, name))) return "missing";
        await rows.removeSchedule(tx, name);
        await audit(tx, "remove", name, actOf(asker));
        return "removed";
      }),
    async find(place) {
      const row = await store.findArranged(database, nameOf(place));
      return row && arrangedOf(row);
    },
    list: async (scope, filter) => (await store.listArranged(database, scope, filter)).map(arrangedOf),
  };
}
