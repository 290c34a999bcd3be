// The figures of a rule by requests, as the HTTP plugin announces them and the time series keeps them.
import { channel } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { makeRequests } from "./figures.ts";

test("X-08: requests of the last minute are shared out over the instances that run; those of other services are not counted", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const requestsOf = makeRequests(platform.series);
  const look = (running: number) => requestsOf("door", { nowMs: Date.now() + 1000, running });
  expect(await look(2)).toBe(0);
  const request = channel("tuntas.http.request");
  for (const service of ["door", "other"])
    for (let each = 0; each < 12; each++)
      request.publish({ service, class: "2xx", route: "/", durationMs: 5 });
  await expect.poll(() => platform.sample().then(() => look(2)), { timeout: 60_000, interval: 100 }).toBe(6);
  expect(await look(0)).toBe(12);
});
