import { expect, test } from "vitest";
import { testPlatform } from "../testing/index.ts";
import { takeDuty } from "./duty.ts";

test("whoever has a duty and does not know of it takes it again, and nobody else does", async () => {
  await using kit = await testPlatform({ watches: false });
  const other = await kit.another({ watches: false });
  const { database, processId } = kit.platform;
  const take = (id: string) => takeDuty(database, "sweeping the yard", id);
  expect(await take(processId())).toEqual({ untilMs: null });
  await kit.advance(5000);
  expect(await take(other.processId())).toBeUndefined();
  // Since then nobody has done it.
  const again = await take(processId());
  expect((await kit.platform.series.nowMs()) - again!.untilMs!).toBeGreaterThan(4900);
});
