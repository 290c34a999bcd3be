// What S3 tells of files, as it lies in a queue: straight from the bucket, or by EventBridge. Pure. What is no news of a new file
// (the test event that S3 sends when notifications are set up, a deletion) is read as no file, since it is no fault either.
// Source: Amazon S3 User Guide, "Event message structure" and "EventBridge event message structure".
import type { Schema, SchemaResult } from "../core/schema.ts";
import type { Arrival } from "./contract.ts";

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

class Unreadable extends Error {}

function arrivalOf(bucket: unknown, key: unknown, object: Fields): Arrival {
  const { size, eTag, etag = eTag, versionId, "version-id": version = versionId } = object;
  if (typeof bucket !== "string" || typeof key !== "string" || bucket === "" || key === "")
    throw new Unreadable("expected the names of a bucket and an object");
  if (typeof size !== "number" || !(size >= 0)) throw new Unreadable("expected the object's size");
  const named = typeof version === "string" && version !== "null";
  if (!named && typeof etag !== "string") throw new Unreadable("expected the object's version or its ETag");
  return { bucket, key, version: named ? version : `etag:${String(etag)}`, bytes: size };
}

/** A bucket's own notices have keys as in a form: `+` is a space. */
function decoded(key: unknown): unknown {
  try {
    return typeof key === "string" ? decodeURIComponent(key.replaceAll("+", " ")) : key;
  } catch {
    throw new Unreadable("expected the object's key to be URL-encoded");
  }
}

/** One of a bucket's own notices. */
function arrivalsOfRecord(record: unknown): Arrival[] {
  const { eventName, s3 } = fieldsOf(record);
  if (typeof eventName !== "string") throw new Unreadable("expected `eventName` of each record");
  if (!eventName.replace(/^s3:/, "").startsWith("ObjectCreated:")) return [];
  const { bucket, object } = fieldsOf(s3);
  const facts = fieldsOf(object);
  return [arrivalOf(fieldsOf(bucket).name, decoded(facts.key), facts)];
}

function arrivalsOf(value: unknown): Arrival[] {
  const { Records, Event, source, detail, "detail-type": detailType } = fieldsOf(value);
  if (Array.isArray(Records)) return Records.flatMap(arrivalsOfRecord);
  if (Event === "s3:TestEvent") return [];
  if (source !== "aws.s3") throw new Unreadable("expected a notice of S3, direct or by EventBridge");
  if (detailType !== "Object Created") return [];
  const { bucket, object } = fieldsOf(detail);
  const facts = fieldsOf(object);
  return [arrivalOf(fieldsOf(bucket).name, facts.key, facts)];
}

function validate(value: unknown): SchemaResult<readonly Arrival[]> {
  try {
    return { value: arrivalsOf(value) };
  } catch (cause) {
    if (cause instanceof Unreadable) return { issues: [{ message: cause.message }] };
    throw cause;
  }
}

/** The message of a queue to which S3 tells of files: a handler gets the files that have come, none for a test event. */
export const s3Notice: Schema<unknown, readonly Arrival[]> = {
  "~standard": { version: 1, vendor: "tuntas", validate },
};
