import type { Operated } from "../../../api/index.ts";
import { Link } from "wouter";
import { countText } from "../../furniture/count.tsx";

/** What an operation would do, does, or came to, in one sentence each. */
export function Report({ report, verb }: { readonly report: Operated; readonly verb: string }) {
  if (report.status === "running")
    return (
      <p>
        It runs, for {countText(report.selected)} messages, and goes on when this is closed:{" "}
        <Link href={`/operations?operation=${report.operation}`}>how far it is</Link>.
      </p>
    );
  if (report.status === "planned")
    return (
      <>
        <p>
          <strong>{countText(report.selected)}</strong> messages would be {verb}.
        </p>
        {report.forbidden.map(({ rule, count }) => (
          <p key={rule}>
            {countText(count)} more are left out or refuse it: {rule}.
          </p>
        ))}
      </>
    );
  return (
    <p>
      {countText(report.moved)} messages were {verb}
      {report.skipped > 0 && `; ${countText(report.skipped)} had been moved or received by others meanwhile`}
      {report.status === "aborted" && "; it was aborted before its end"}.
    </p>
  );
}
