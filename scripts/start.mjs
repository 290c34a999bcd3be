// `npm start`: the demonstration. The orders application, its worker, case activation, the AWS gateway and the console in one
// process, on the embedded PostgreSQL unless DATABASE_URL names another; beside them a shop with something in every state.
import { existsSync } from "node:fs";
import { openPlatform, runMain, runUntilSignal } from "tuntas";
import { consolePages } from "tuntas/console";
import { startGateway } from "tuntas/gateway";
import { startCases } from "../examples/case-activation/dist/start.js";
import { startDemonstration } from "../examples/demonstration/dist/main.js";
import { integer } from "../examples/orders/dist/config.js";
import { startOrders } from "../examples/orders/dist/main.js";

// At a terminal the day of the shop would be a wall of warnings: what it shows stands in the console. A log collector gets all.
process.env.TUNTAS_LOG_LEVEL ??= process.stdout.isTTY ? "fatal" : "info";

const isTerminal = process.stdin.isTTY && process.stdout.isTTY;

const text = ({ apiUrl, casesUrl, gatewayUrl, workloads }, seconds) => `
Tuntas runs (ready in ${seconds} s).

  Console    ${gatewayUrl}/console/
  Orders API ${apiUrl}
  Cases API  ${casesUrl}
  SQS        AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any \\
             aws --endpoint-url ${gatewayUrl} sqs list-queues
  Workloads  ${workloads.join(", ")}
  Try        curl -X POST ${apiUrl}/orders -H 'content-type: application/json' -d '{"customerId":"cust_1"}'
  End        Ctrl-C${isTerminal ? "\n  Keys       k kills a worker, p sends poison, l a burst of orders; ? lists them" : ""}
`;

function sayWhatStarts({ DATABASE_URL, TUNTAS_DATA_DIR }) {
  if (DATABASE_URL) return;
  const dataDir = TUNTAS_DATA_DIR || ".tuntas";
  console.error(
    existsSync(dataDir)
      ? "Starting PostgreSQL ..."
      : `Starting PostgreSQL on a new database in ${dataDir} (made once) ...`,
  );
}

runMain(async () => {
  sayWhatStarts(process.env);
  const platform = await openPlatform({ name: "demonstration" });
  // The orders come first: whoever waits for `npm start` waits for them.
  const orders = await startOrders(platform);
  const apiUrl = `http://127.0.0.1:${orders.port}`;
  let casesUrl;
  const gateway = await startGateway({
    platform,
    port: integer("TUNTAS_PORT", 4566, { min: 0, max: 65535 }),
    pages: consolePages({
      platform,
      apis: () => ({ Orders: apiUrl, ...(casesUrl && { Cases: casesUrl }) }),
      links: () => ({ "Orders API": apiUrl, Metrics: `${apiUrl}/metrics` }),
    }),
  });
  const cases = await startCases(platform, {
    host: "127.0.0.1",
    port: integer("CASES_PORT", 0, { min: 0, max: 65535 }),
    variable: "CASES_PORT",
  });
  casesUrl = `http://127.0.0.1:${cases.port}`;
  const shop = await startDemonstration(platform, { ordersUrl: apiUrl, casesUrl });

  runUntilSignal(
    async () => {
      await shop.stop();
      await Promise.all([orders.stop(), cases.stop(), gateway.close()]);
      await platform.close();
    },
    { log: platform.log },
  );
  const facts = {
    apiUrl,
    casesUrl,
    gatewayUrl: `http://127.0.0.1:${gateway.port}`,
    workloads: orders.workloads,
  };
  console.log(text(facts, (performance.now() / 1000).toFixed(1)));
});
