// What holds a stream's consumers back: a bad record, nobody there, too many records, one key that has most of them.
import { Link } from "wouter";
import type { ConsumerView, Hot, StreamView } from "../../../api/index.ts";
import { counted } from "../../furniture/count.tsx";
import { Points, type Point } from "../../furniture/points.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { consumerHref } from "./links.ts";

const Of = ({ consumer }: { readonly consumer: ConsumerView }) => (
  <Link href={consumerHref(consumer)}>{consumer.name}</Link>
);

function* pointsOf(consumer: ConsumerView): Generator<Point> {
  const { standing, members, lag, lagMs, lagWithinMs, parked, partitions } = consumer;
  for (const { partition, nextOffset, code, reason, stoppedAtMs } of partitions)
    if (stoppedAtMs !== null)
      yield [
        "danger",
        "stopped",
        <>
          <Of consumer={consumer} /> does not go past offset {nextOffset} of partition {partition}, since{" "}
          <Instant ms={stoppedAtMs} />: <strong>{code}</strong> {reason}. Mend the cause and resume, or skip
          the record.
        </>,
      ];
  if (members === 0 && lag > 0)
    yield [
      "danger",
      "nobody reads",
      <>
        No live process has <Of consumer={consumer} />: start an application that declares it.{" "}
        {counted(lag, "record")} unread.
      </>,
    ];
  else if (standing === "behind")
    yield [
      "warn",
      "behind",
      <>
        <Of consumer={consumer} />: the oldest of {counted(lag, "unread record")} is{" "}
        {durationText(lagMs ?? 0)} old, and may be {durationText(lagWithinMs)}.{" "}
        {counted(members, "process", "processes")} {members === 1 ? "reads" : "read"} it, of{" "}
        {partitions.length} at most.
      </>,
    ];
  if (parked > 0)
    yield [
      "warn",
      "parked",
      <>
        <Of consumer={consumer} /> has gone past{" "}
        <Link href={consumerHref(consumer, "parked")}>{counted(parked, "record")}</Link> that it could not
        handle.
      </>,
    ];
}

const hotPoint = ({ partition, key, times }: Hot): Point => [
  "warn",
  "hot",
  <>
    Partition {partition} gets {times.toFixed(1)} times its share of the records; most have the key{" "}
    <strong>{key}</strong>. Only a finer key spreads them.
  </>,
];

const nothing = (readers: number): Point =>
  readers === 0
    ? ["idle", "not read", "No consumer is declared; records are kept for their retention."]
    : ["good", "on time", "Every consumer reads, and is as close behind as it has to be."];

export function Standing({ view: { readers, hot } }: { readonly view: StreamView }) {
  const found = [...readers.flatMap((each) => [...pointsOf(each)]), ...hot.map(hotPoint)];
  const points = found.length > 0 ? found : [nothing(readers.length)];
  return <Points title="How it stands" points={points} />;
}
