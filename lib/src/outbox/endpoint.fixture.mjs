// An HTTP endpoint as a process of its own, for endpoint.test.ts: says each request that it took, then answers it. Arguments: port.
import { createServer } from "node:http";

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { authorization, "idempotency-key": id } = request.headers;
  const status = body.includes("never") ? 422 : body.includes("late") ? 400 : 204;
  process.stdout.write(`${JSON.stringify({ event: "took", id, body, authorization, status })}\n`, () =>
    response.writeHead(status).end(),
  );
});
server.listen(Number(process.env.PORT), "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ event: "ready", port: server.address().port })}\n`),
);
