// The text of a receipt handle: which claim it stands for, and a check that tells a mistyped or foreign handle from an
// old one. It is no secret: whoever may call the API may also receive.
import type { Receipt } from "./store/receipt.ts";

const version = "1";

// Four numbers of 19 digits, what stands between them and their check, as base64: no handle is longer.
const handleMax = 128;

function check(text: string): string {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
  return hash.toString(36);
}

export function encodeReceipt({ queueId, id, fence, turn }: Receipt): string {
  const text = `${version}.${queueId}.${id}.${fence}.${turn}`;
  return Buffer.from(`${text}.${check(text)}`, "latin1").toString("base64url");
}

const form = /^(\d+)\.(\d{1,19})\.(\d{1,19})\.(\d{1,19})\.(\d{1,19})\.([^.]*)$/;

/** The claim that the handle stands for, or undefined where no server of ours issued it. */
export function decodeReceipt(handle: string): Receipt | undefined {
  if (handle.length > handleMax) return undefined;
  const text = Buffer.from(handle, "base64url").toString("latin1");
  const [, of, queueId, id, fence, turn, sum] = form.exec(text) ?? [];
  if (of !== version || check(text.slice(0, -1 - sum!.length)) !== sum) return undefined;
  return { queueId: Number(queueId), id: id!, fence: fence!, turn: turn! };
}
