// The text of a receipt handle: which claim it stands for, and a check that tells a mistyped or foreign handle from an
// old one. It is no secret: whoever may call the API may also receive.
import type { Receipt } from "./store/receipt.ts";

const version = "2";

// Four numbers of 18 digits, what stands between them, and their check: no handle is longer.
const handleMax = 96;

function check(text: string): string {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0).toString(36);
}

export function encodeReceipt({ queueId, id, fence, turn }: Receipt): string {
  const text = `${version}.${queueId}.${id}.${fence}.${turn}`;
  return `${text}.${check(text)}`;
}

// As numbers are written, and none that a bigint cannot hold.
const count = "(0|[1-9][0-9]{0,17})";
const form = new RegExp(`^${version}[.]${count}[.]${count}[.]${count}[.]${count}[.]([0-9a-z]{1,7})$`);

/** The claim that the handle stands for, or undefined where no server of ours issued it. */
export function decodeReceipt(handle: string): Receipt | undefined {
  const [, queueId, id, fence, turn, sum] = (handle.length <= handleMax && form.exec(handle)) || [];
  if (sum === undefined || check(handle.slice(0, -1 - sum.length)) !== sum) return undefined;
  return { queueId: Number(queueId), id: id!, fence: fence!, turn: turn! };
}
