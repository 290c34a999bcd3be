// The first stage: whether it is a file that anything is to be made of, before any of it is parsed.
import { isTuntasError } from "tuntas";
import { nameText, sumOf, verified, type Arrival, type FileFacts } from "tuntas/files";
import { FileFault } from "./fault.ts";

const contentTypes = ["text/csv", "application/csv"];

/** Whether what its store knows of it is as it must be. Pure. */
export function checkFacts(file: Arrival, facts: FileFacts | undefined): FileFacts {
  if (!facts) throw new FileFault("check", "MISSING", `${nameText(file)} is not there any more`);
  const [type] = (facts.contentType ?? "(none)").toLowerCase().split(";");
  if (!contentTypes.includes(type!.trim()))
    throw new FileFault("check", "TYPE", `expected ${contentTypes.join(" or ")}, got ${type}`);
  if (facts.bytes !== file.bytes)
    throw new FileFault("check", "SIZE", `told of with ${file.bytes} bytes, is there with ${facts.bytes}`);
  return facts;
}

/** Reads all of it once, so that a damaged file is called so, and not by what its damage looks like to the parser. */
export async function checkSum(
  file: Arrival,
  facts: FileFacts,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    await sumOf(verified(content, file, facts));
  } catch (cause) {
    if (!isTuntasError(cause, "TUNTAS_FILE_CHECKSUM")) throw cause;
    throw new FileFault("check", "SUM", cause.message);
  }
}
