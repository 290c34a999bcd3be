// What a person who writes an application wants to see while it runs: that something was done. One line for all that came
// to the same within a moment, so that a burst is a line and not a flood. It reads the signals, which cost nothing elsewhere.
import { subscribe } from "node:diagnostics_channel";

const momentMs = 250;

type Fields = Readonly<Record<string, unknown>>;
type Said = readonly [of: string, came: string, count?: number];

/** By signal: whose it is, what it came to, and how many; nothing of attempts that failed, since the log says why. */
const worthTelling: Readonly<Record<string, (fields: Fields) => Said | false>> = {
  "worker.attempt": ({ queue, outcome }) =>
    (outcome === "done" || outcome === "duplicate") && [`queue ${queue}`, outcome],
  "workflow.attempt": ({ workflow, state, outcome }) =>
    outcome === "succeeded" && [`workflow ${workflow}`, `${state} succeeded`],
  "workflow.ended": ({ workflow, status }) => [`workflow ${workflow}`, String(status)],
  "stream.handled": ({ stream, consumer, count }) => [
    `stream ${stream}`,
    `${consumer} handled`,
    Number(count),
  ],
  "schedule.started": ({ schedule }) => [`schedule ${schedule}`, "started"],
  "batch.completed": ({ batch }) => [`batch ${batch}`, "promoted"],
};

/** Says from now on what is done in this process: `queue purchases: done × 3, duplicate`. */
export function tellNews(say: (line: string) => void): void {
  const news = new Map<string, Map<string, number>>();

  function tell(): void {
    for (const [of, counts] of news) {
      const parts = [...counts].map(([came, count]) => (count === 1 ? came : `${came} × ${count}`));
      say(`${of}: ${parts.join(", ")}`);
    }
    news.clear();
  }

  function note(said: Said | false): void {
    if (!said) return;
    const [of, came, count = 1] = said;
    if (news.size === 0) setTimeout(tell, momentMs);
    const counts = news.get(of) ?? new Map<string, number>();
    news.set(of, counts.set(came, (counts.get(came) ?? 0) + count));
  }

  for (const [name, read] of Object.entries(worthTelling))
    subscribe(`tuntas.${name}`, (fields) => note(read(fields as Fields)));
}
