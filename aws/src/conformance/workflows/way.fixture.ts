// A way to AWS Step Functions on which answers to tasks do not arrive until it is healed.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface DeafWay extends AsyncDisposable {
  readonly url: string;
  heal(): void;
}

export async function openDeafWay(to: string): Promise<DeafWay> {
  let deaf = true;
  const server = createServer((given, answer) => {
    const asked = String(given.headers["x-amz-target"]);
    if (deaf && asked.endsWith(".SendTaskSuccess")) return void given.socket.destroy();
    const passed = request(new URL(given.url ?? "/", to), { method: given.method, headers: given.headers });
    passed.on("response", (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    passed.on("error", () => given.socket.destroy());
    given.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heal: () => void (deaf = false),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
