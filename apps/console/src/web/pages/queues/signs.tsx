import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";

/** What looks as if something poisoned the queue; nothing where nothing does. */
export function Signs({ queue }: { readonly queue: string }) {
  const signs = useRead("queue.signs", { queue }, { everyMs: 10_000 }).data?.value.signs ?? [];
  if (signs.length === 0) return null;
  return (
    <section className="card" aria-label="Signs of trouble">
      <header>
        <h2>Signs of trouble</h2>
      </header>
      <ul className="inside reasons">
        {signs.map(({ code, text }) => (
          <li key={code}>
            <Badge tone="warn">{code.toLowerCase().replaceAll("_", " ")}</Badge>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
