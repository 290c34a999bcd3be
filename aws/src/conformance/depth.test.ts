// What waits in Amazon SQS is seen where queues are listed and services are scaled, as what waits here.
import { expect, test } from "vitest";
import { defaultScope } from "tuntas/queue";
import { openSqs } from "./sqs.fixture.ts";
import { gate, work } from "./work.fixture.ts";

test("a list of queues has the depth of those that live elsewhere", { timeout: 120_000 }, async () => {
  await using place = await openSqs();
  const { promise: held, open } = gate();
  await using it = await work(place, { concurrency: 1, handle: () => held });
  for (const id of ["a", "b", "c", "d"]) await it.queue.send({ id });
  const { observer } = place.kit.platform.queues;
  const only = { only: it.queue.name, search: "", after: "", limit: 1 };
  await expect
    .poll(
      async () => {
        const [queue] = await observer.survey(defaultScope, only);
        return queue!.ready + queue!.inFlight;
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(4);
  open();
});
