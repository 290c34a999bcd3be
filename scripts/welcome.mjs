// The page that a browser gets at the gateway's port: where everything is, and what to try first.
const escape = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const page = ({ apiUrl, gatewayUrl, workloads }) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tuntas</title>
<style>body{font:16px/1.6 system-ui;max-width:44rem;margin:3rem auto;padding:0 1rem}pre{background:#8881;padding:1rem;overflow:auto}</style>
<h1>Tuntas runs</h1>
<p>Workloads: ${workloads.map(escape).join(", ")}.</p>
<p>Orders API: <a href="${apiUrl}/readyz">${apiUrl}</a> (<a href="${apiUrl}/metrics">metrics</a>). SQS endpoint: ${gatewayUrl}.</p>
<pre>curl -X POST ${apiUrl}/orders -H 'content-type: application/json' -d '{"customerId":"cust_1"}'
aws --endpoint-url ${gatewayUrl} sqs list-queues</pre>
</html>
`;

/** Answers browsers at / and /console; SDKs and everything else go to the gateway. */
export const welcomePages = (facts) => (request, response) => {
  const wantsPage =
    request.url === "/console" || (request.url === "/" && request.headers.accept?.includes("text/html"));
  if (request.method !== "GET" || !wantsPage) return false;
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(facts()));
  return true;
};
