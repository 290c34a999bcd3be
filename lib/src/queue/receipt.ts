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
  const text = [version, queueId, id, fence, turn].join(".");
  return Buffer.from(`${text}.${check(text)}`).toString("base64url");
}

/** The claim that the handle stands for, or undefined where no server of ours issued it. */
export function decodeReceipt(handle: string): Receipt | undefined {
  if (handle.length > handleMax) return undefined;
  const parts = Buffer.from(handle, "base64url").toString("latin1").split(".");
  if (parts.length !== 6 || parts[0] !== version) return undefined;
  if (!parts.slice(1, 5).every((part) => /^\d{1,19}$/.test(part))) return undefined;
  if (check(parts.slice(0, 5).join(".")) !== parts[5]) return undefined;
  return { queueId: Number(parts[1]), id: parts[2]!, fence: parts[3]!, turn: parts[4]! };
}
