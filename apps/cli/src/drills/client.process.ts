// A consumer as one writes it for SQS: it receives over the wire, calls a downstream that takes its time, books the effect under
// the message's own key, and deletes the message. Given GATEWAY, QUEUE_URL, VISIBILITY_SECONDS and DOWNSTREAM_MS.
import { setTimeout as pause } from "node:timers/promises";
import { makeLog, openPlatform, runMain, runUntilSignal } from "tuntas";
import { once } from "tuntas/ledger";

const { GATEWAY, QUEUE_URL, VISIBILITY_SECONDS, DOWNSTREAM_MS, TUNTAS_DATA_DIR } = process.env;

interface Received {
  readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
}

async function call(action: string, given: object): Promise<unknown> {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
  const body = JSON.stringify({ QueueUrl: QUEUE_URL, ...given });
  const response = await fetch(GATEWAY!, { method: "POST", headers, body });
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
}

runMain(async () => {
  const log = makeLog({ service: "drill-client" });
  const platform = await openPlatform({
    dataDir: TUNTAS_DATA_DIR!,
    name: "drill client",
    watches: false,
    log,
  });
  let open = true;
  runUntilSignal(
    async () => {
      open = false;
      await platform.close();
    },
    { log },
  );

  const book = (id: string) =>
    platform.database.transaction(({ client }) =>
      once(client, { scope: "drill.effect", key: id, request: { id } }, async () => {
        await client.query("insert into drill.effect (id) values ($1)", [id]);
        return { booked: id };
      }),
    );

  log.info({ event: "service.ready" }, "receives");
  while (open) {
    const asked = { WaitTimeSeconds: 1, VisibilityTimeout: Number(VISIBILITY_SECONDS) };
    const { Messages: [message] = [] } = (await call("ReceiveMessage", asked)) as Received;
    if (!message) continue;
    const { id } = JSON.parse(message.Body) as { id: string };
    log.info({ event: "work.begun", id }, "the downstream is called");
    const began = performance.now();
    await pause(Number(DOWNSTREAM_MS));
    const { status } = await book(id);
    await call("DeleteMessage", { ReceiptHandle: message.ReceiptHandle });
    const durationMs = Math.round(performance.now() - began);
    log.info({ event: "work.ended", id, status, durationMs }, "it answered");
  }
});
