import { expect, test } from "vitest";
import { persevere } from "./patience.ts";

test("what comes about in the end is answered", async () => {
  let tries = 0;
  const third = async () => {
    if (++tries < 3) throw new Error("not yet");
    return "here";
  };
  expect(await persevere("it comes", third, 10_000)).toBe("here");
});

test("what never comes about fails with the last reason", async () => {
  const never = () => Promise.reject(new Error("the wire is down"));
  await expect(persevere("it comes", never, 200)).rejects.toMatchObject({
    message: expect.stringMatching(/^it comes: not within 200 ms and \d+ tries$/),
    cause: { message: "the wire is down" },
  });
});

test("a try that never ends is no reason to wait for ever", async () => {
  const hangs = () => new Promise<never>(() => undefined);
  await expect(persevere("it comes", hangs, 200)).rejects.toMatchObject({
    message: "it comes: not within 200 ms and 1 tries",
    cause: "no try has ended",
  });
});
