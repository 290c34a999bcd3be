// The post, which nobody kills: it takes a letter once for a key, counts how often it is asked, and sends the receipt
// again and again until the API takes it.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Post {
  readonly url: string;
  /** How often each letter was posted. */
  readonly posts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const receiptsEveryMs = 200;

export async function openPost(apiUrl: string): Promise<Post> {
  const posts = new Map<string, number>();
  const open = new Set<string>();

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const say = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method === "POST") {
      const key = String(request.headers["idempotency-key"]);
      posts.set(key, (posts.get(key) ?? 0) + 1);
      open.add(key);
      return say(200, { reference: `POST-${key}` });
    }
    const key = decodeURIComponent(request.url!.split("/").at(-1)!);
    return posts.has(key) ? say(200, { reference: `POST-${key}` }) : say(404, {});
  }

  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let closed = false;
  const receipt = async (key: string): Promise<void> => {
    const options = { method: "POST", signal: AbortSignal.timeout(5000) };
    const response = await fetch(`${apiUrl}/receipts/${encodeURIComponent(key)}`, options).catch(
      () => undefined,
    );
    if (response?.ok) open.delete(key);
  };
  async function sendReceipts(): Promise<void> {
    while (!closed) {
      await Promise.all([...open].slice(0, 20).map(receipt));
      await new Promise((resolve) => setTimeout(resolve, receiptsEveryMs));
    }
  }
  const sending = sendReceipts();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    async close() {
      closed = true;
      await sending;
      server.closeAllConnections();
      server.close();
    },
  };
}
