import { expect, test } from "vitest";
import { decodeReceipt, encodeReceipt } from "./receipt.ts";

const receipt = { queueId: 2147483647, id: "999999999999999999", fence: "17", turn: "0" };

test("a handle stands for its claim, and is text that any client passes on", () => {
  const handle = encodeReceipt(receipt);
  expect(decodeReceipt(handle)).toEqual(receipt);
  expect(handle).toMatch(/^[A-Za-z0-9._-]{1,100}$/);
});

test("what no server of ours issued stands for nothing", () => {
  const handle = encodeReceipt(receipt);
  const changed = [...handle].map(
    (_, at) => handle.slice(0, at) + (handle[at] === "1" ? "2" : "1") + handle.slice(at + 1),
  );
  const odd = [
    { ...receipt, id: "007" },
    { ...receipt, id: "-1" },
    { ...receipt, fence: "9".repeat(19) },
    { ...receipt, turn: "1e3" },
  ].map(encodeReceipt);
  const all = [...changed, ...odd, "", "AQEB+handle/of=AWS", `${handle} `, `${handle}${".0".repeat(1000)}`];
  for (const text of all) expect(decodeReceipt(text), text).toBeUndefined();
});
