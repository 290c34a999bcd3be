// The body of an act: JSON, small, an object.
import type { IncomingMessage } from "node:http";
import { consoleErrors } from "../../contract.ts";

const bodyBytesMax = 2 * 1024 * 1024;

const tooLarge = () =>
  consoleErrors.error("TUNTAS_CONSOLE_TOO_LARGE", `expected at most ${bodyBytesMax} bytes`);

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers["content-length"]) > bodyBytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Errors: TUNTAS_CONSOLE_TOO_LARGE, TUNTAS_CONSOLE_REQUEST. */
export async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "content-type: expected application/json");
  const value = parse((await readBytes(request)).toString("utf8"));
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "body: expected a JSON object");
}
