// A process of the storm: serves the consumers that it is told of, those that come later too. Its handler writes what it did into
// the transaction of the checkpoint, by `tx` or by `write`; finds some records bad while they are; and kills its process now and
// then, in the middle of what else runs there. Its argument: where, how often it dies, and what to serve.
import { app, consumer, openPlatform, poison, start, stream } from "../../lib/dist/index.js";

const { databaseUrl, schema, name, who, dies, partitions, consumers } = JSON.parse(process.argv[2]);
const record = { "~standard": { version: 1, vendor: "storm", validate: (value) => ({ value }) } };
const insert = `insert into ${schema}.storm_event (kind, consumer, partition, "offset", key, n) values ('effect', $1, $2, $3, $4, $5)`;

// One way a process: of one commit, what is handed over comes after what is written at once.
const writesItself = process.pid % 2 === 0;

const platform = await openPlatform({ databaseUrl, schema, name: who });

async function serve({ name: called, from }, partitionsNow) {
  const of = stream(name, {
    record,
    partitions: partitionsNow,
    key: "account",
    retention: "1m",
    owner: "sim",
    runbook: "sim/README.md",
  });
  const reader = consumer(of, {
    name: called,
    from,
    batch: 5,
    onBadRecord: "park",
    retry: { attempts: 100, base: "5ms", max: "50ms" },
    timeout: "2s",
    lagWithin: "5m",
    async handle({ key, partition, offset, value: { n, isBad } }, context) {
      if (Math.random() < dies) process.kill(process.pid, "SIGKILL");
      if (
        isBad &&
        (await context.tx.query(`select mended from ${schema}.storm_state`)).rows[0].mended === false
      )
        return poison({ code: "BAD" });
      const values = [called, partition, offset, key, n];
      if (writesItself) await context.tx.query(insert, values);
      else context.write(insert, values);
    },
  });
  await start(app({ of, reader }), { platform });
}

process.on("message", (told) => {
  serve(told, told.partitions).catch((cause) => process.send({ failed: String(cause?.stack ?? cause) }));
});
for (const each of consumers) await serve(each, partitions);
process.send({ ready: true });
