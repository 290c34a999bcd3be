// What this process counted since it last told, as samples of the time series.
import type { Sql } from "../pg/contract.ts";
import { readQueueLabels } from "../queue/store/gauges.ts";
import type { Sample } from "../series/contract.ts";
import { labelsText } from "../series/state.ts";
import { idValuesOf, labelsOf, metricEntries } from "./catalogue.ts";
import type { Count, Tally } from "./tally.ts";

export interface Counted {
  readonly samples: readonly Sample[];
  /** Called once they are written: from then on they are told. */
  told(): void;
}

export interface Counts {
  /** What is new since the last that was told. */
  fresh(): Promise<Counted>;
  /** The names of the queues that the counts speak of, as far as they are known. */
  queueLabels(): ReadonlyMap<string, string>;
}

interface Growth {
  readonly count: Count;
  readonly total: number;
  readonly by: number;
}

/** One sample a series: two counts may have the same labels, such as those of deleted queues. */
function merge(samples: readonly Sample[]): Sample[] {
  const merged = new Map<string, Sample>();
  for (const sample of samples) {
    const key = `${sample.name} ${labelsText(sample.labels)}`;
    merged.set(key, { ...sample, value: sample.value + (merged.get(key)?.value ?? 0) });
  }
  return [...merged.values()];
}

export function makeCounts(database: Pick<Sql, "run">, tally: Tally): Counts {
  const told = new Map<Count, number>();
  const labels = new Map<string, string>();

  const grown = (): Growth[] =>
    [...tally.counts()].flatMap((count) => {
      const { name, total } = count;
      const by = total - (told.get(count) ?? 0);
      return by > 0 && metricEntries.get(name)!.kept ? [{ count, total, by }] : [];
    });

  async function learn(growth: readonly Growth[]): Promise<void> {
    const ids = growth.flatMap(({ count }) => idValuesOf(count.name, count.values));
    const missing = [...new Set(ids)].filter((id) => /^\d+$/.test(id) && !labels.has(id));
    if (missing.length === 0) return;
    for (const [id, label] of await readQueueLabels(database, missing)) labels.set(id, label);
  }

  return {
    queueLabels: () => labels,
    async fresh() {
      const growth = grown();
      await learn(growth);
      const samples = growth.map(({ count: { name, values }, by }): Sample => ({
        name,
        kind: "counter",
        labels: labelsOf(name, values, labels),
        value: by,
      }));
      return {
        samples: merge(samples),
        told: () => growth.forEach(({ count, total }) => told.set(count, total)),
      };
    },
  };
}
