// What a dry run found: in figures, and some records before and after.
import type { BackfillRunView, Sample } from "../../../api/index.ts";
import { useMay } from "../../api/session.ts";
import { counted } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Empty } from "../../furniture/notice.tsx";
import type { Column } from "../../furniture/table.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";

type Change = Sample["changes"][number];
type Columns = Readonly<Record<string, unknown>>;

/** `fee: 3 → 4`, of each column that is another one after; a record may be gone. */
function changeText({ before, after }: Change): string {
  if (after === null) return "is not there any more";
  const [was, is] = [(before ?? {}) as Columns, after as Columns];
  const texts = Object.keys(is)
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
    .map((name) => `${name}: ${JSON.stringify(was[name])} → ${JSON.stringify(is[name])}`);
  return texts.length === 0 ? "stays as it is" : texts.join(", ");
}

const columns: readonly Column<Change>[] = [
  { key: "record", head: "Record", width: "14rem", cell: ({ record }) => <strong>{record}</strong> },
  {
    key: "change",
    head: "What the handler would change",
    cell: (change) => <span title={changeText(change)}>{changeText(change)}</span>,
  },
  {
    key: "before",
    head: "As it is",
    wideOnly: true,
    cell: ({ before }) => <code title={JSON.stringify(before)}>{JSON.stringify(before)}</code>,
  },
];

function Facts({ sample }: { readonly sample: Sample }) {
  const { handled, final, failed, suppressed, tookMs, atMs } = sample;
  return (
    <dl className="facts">
      <dt>Tried</dt>
      <dd>
        <Instant ms={atMs} />, in {durationText(tookMs)}; all of it was taken back
      </dd>
      <dt>Handled</dt>
      <dd>{counted(handled, "record")}</dd>
      <dt>Final</dt>
      <dd>{counted(final, "record")} that are left alone</dd>
      <dt>Failed</dt>
      <dd>{counted(failed, "record")}</dd>
      <dt>Kept back</dt>
      <dd>{counted(suppressed, "announcement")} that nobody gets, of the run neither</dd>
    </dl>
  );
}

export function DryRun({ view: { sample } }: { readonly view: BackfillRunView }) {
  const may = useMay();
  const maySee = may("batch.change") || may("operation.approve");
  if (sample === null)
    return (
      <Empty title="It was not tried out yet.">A dry run calls the handler and takes everything back.</Empty>
    );
  return (
    <section className="card" aria-label="What the dry run found">
      <header>
        <h2>What the dry run found</h2>
      </header>
      <div className="inside">
        <Facts sample={sample} />
      </div>
      <List
        label="Records before and after"
        list={{ items: sample.changes, isRead: true, hasMore: false, error: null }}
        columns={columns}
        keyOf={({ record }) => record}
        empty={[
          maySee ? "It handled no record." : "Records are not shown.",
          !maySee && "What is in them is for those who decide: operators and approvers.",
        ]}
      />
    </section>
  );
}
