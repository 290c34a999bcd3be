// `npm start`: the demonstration. The orders application, its worker, the SQS gateway and the console in one process, on the
// embedded PostgreSQL unless DATABASE_URL names another.
import { existsSync } from "node:fs";
import { openPlatform, runMain, runUntilSignal } from "tuntas";
import { consolePages } from "tuntas/console";
import { startGateway } from "tuntas/gateway";
import { databaseOptions, integer } from "../examples/orders/dist/config.js";
import { startOrders } from "../examples/orders/dist/main.js";

// A person at a terminal gets the few lines below; a log collector gets every event.
process.env.TUNTAS_LOG_LEVEL ??= process.stdout.isTTY ? "warn" : "info";

const text = ({ apiUrl, gatewayUrl, workloads }, seconds) => `
Tuntas runs (ready in ${seconds} s).

  Console    ${gatewayUrl}/console/
  Orders API ${apiUrl}
  SQS        AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any \\
             aws --endpoint-url ${gatewayUrl} sqs list-queues
  Workloads  ${workloads.join(", ")}
  Try        curl -X POST ${apiUrl}/orders -H 'content-type: application/json' -d '{"customerId":"cust_1"}'
  End        Ctrl-C
`;

runMain(async () => {
  const { databaseUrl, dataDir = ".tuntas" } = databaseOptions();
  if (databaseUrl === undefined)
    console.error(
      existsSync(dataDir)
        ? "Starting PostgreSQL ..."
        : `Starting PostgreSQL on a new database in ${dataDir} (made once) ...`,
    );
  const platform = await openPlatform({ ...databaseOptions(), name: "demonstration" });
  const orders = await startOrders(platform);
  const apiUrl = `http://127.0.0.1:${orders.port}`;
  const facts = () => ({
    apiUrl,
    gatewayUrl: `http://127.0.0.1:${gateway.port}`,
    workloads: orders.workloads,
  });
  const gateway = await startGateway({
    platform,
    port: integer("TUNTAS_PORT", 4566, { min: 0, max: 65535 }),
    pages: consolePages({
      platform,
      links: () => ({ "Orders API": apiUrl, Metrics: `${apiUrl}/metrics` }),
    }),
  });

  runUntilSignal(
    async () => {
      await Promise.all([orders.stop(), gateway.close()]);
      await platform.close();
    },
    { log: platform.log },
  );
  console.log(text(facts(), (performance.now() / 1000).toFixed(1)));
});
