// Where files are: in a folder, or in S3 with the queues in SQS beside it (INTAKE_STORE=s3).
import type { RunOptions } from "tuntas";
import { folderFiles, type Arrival, type FileName, type Files } from "tuntas/files";

export interface Places {
  readonly files: Files;
  /** Where files come in, where that is a folder: S3 tells of its own buckets. */
  readonly inbox: string | undefined;
  readonly results: string;
}

const { INTAKE_STORE, INTAKE_DIR, INTAKE_RESULTS, INTAKE_CREATE_QUEUES } = process.env;
const onS3 = INTAKE_STORE === "s3";
const results = INTAKE_RESULTS || "results";

/** The SDK is loaded only where it is used. */
const aws = onS3 ? await import("@tuntas/aws") : undefined;

export const places: Places = aws
  ? { files: aws.s3Files(), inbox: undefined, results }
  : { files: folderFiles(INTAKE_DIR || ".intake"), inbox: "inbox", results };

/** What a process is started with there. */
export const tier: Pick<RunOptions, "queues"> = aws
  ? { queues: aws.sqs({ create: INTAKE_CREATE_QUEUES === "1" }) }
  : {};

/** The same for the same version of a file, whoever writes it and however often. */
export const outputOf = ({ results }: Pick<Places, "results">, file: Arrival): FileName => ({
  bucket: results,
  key: `${file.bucket}/${file.key}/${file.version.replace(":", "-")}.jsonl`,
});
