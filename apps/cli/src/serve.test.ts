import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { household, printed, type Household } from "./household.fixture.ts";

let home: Household;
let folder: string;

beforeAll(async () => {
  home = await household();
  folder = await mkdtemp(join(tmpdir(), "tuntas-dev-"));
  await mkdir(join(folder, "node_modules"));
  await symlink(
    fileURLToPath(new URL("../../../lib", import.meta.url)),
    join(folder, "node_modules", "tuntas"),
  );
  await symlink(
    fileURLToPath(new URL("../../../node_modules/zod", import.meta.url)),
    join(folder, "node_modules", "zod"),
  );
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});

const sqs = (url: string, action: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
    body: JSON.stringify(body),
  }).then((response) => response.json() as Promise<any>);

test("serve answers SQS on the port that it prints, is healthy, and ends with 0 at SIGTERM", async () => {
  const server = home.begin(["serve", "--json"]);
  const { url, port, pid } = JSON.parse(await printed(server, /\n\}\n$/));
  expect({ url, pid }).toEqual({ url: `http://127.0.0.1:${port}`, pid: server.pid });
  expect((await fetch(`${url}/_tuntas/health`)).status).toBe(200);
  const { QueueUrl } = await sqs(url, "CreateQueue", { QueueName: "wire" });
  await sqs(url, "SendMessage", { QueueUrl, MessageBody: "hello" });
  expect((await home.json(["message", "peek", "wire"])).document).toMatchObject([{ body: "hello" }]);
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
});

test("serve on a taken port says so, names the variable, and does not start", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const ended = await home.run(["serve", "--port", String(port)]);
  other.close();
  expect(ended).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringMatching(/^TUNTAS_PORT_TAKEN: .*TUNTAS_PORT/),
  });
  expect((await home.run(["serve", "--port", "many"])).status).toBe(2);
});

const application = (reply: string) => `
  import { app, queue, worker } from "tuntas";
  import { z } from "zod";
  const greetings = queue("greetings", { message: z.object({ n: z.number() }), deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" } });
  const greeter = worker(greetings, { idempotencyKey: "none", timeout: "5s", handle });
  function handle({ n }) {
    if (n < 0) throw new Error("below zero");
    console.log("${reply} " + n);
  }
  export default app({ greetings, greeter });
`;

test("dev runs an application and restarts it when its file changes, also after one that does not load", async () => {
  const file = join(folder, "app.mjs");
  await writeFile(file, application("hello"));
  const dev = home.begin(["dev", file], { TUNTAS_LOG_LEVEL: "warn" });
  await printed(dev, /gateway +http/);
  await home.run(["message", "send", "greetings", '{"n":1}']);
  let complaint = "";
  dev.stderr!.on("data", (chunk) => (complaint += String(chunk)));
  await printed(dev, /hello 1/);
  while (!complaint.includes("queue greetings: done\n")) await once(dev.stderr!, "data");
  await home.run(["message", "send", "greetings", '{"n":-1}']);
  while (!/"stack":"Error: below zero\\n +at [^"]*app\.mjs:/.test(complaint)) await once(dev.stderr!, "data");

  await writeFile(file, "export default app({");
  while (!complaint.includes("waiting for a change")) await once(dev.stderr!, "data");
  expect(complaint).toMatch(/TUNTAS_APP_FAILED: .*app\.mjs/);

  await writeFile(file, application("goodbye"));
  await home.run(["message", "send", "greetings", '{"n":2}']);
  await printed(dev, /goodbye 2/);
  dev.kill("SIGTERM");
  expect(await once(dev, "exit")).toEqual([0, null]);
});

test("the application that dev runs ends with it, whatever ended it", async () => {
  const file = join(folder, "orphan.mjs");
  await writeFile(file, application("hello"));
  const dev = home.begin(["dev", file]);
  await printed(dev, /gateway +http/);
  // The child holds the write end of the pipe too: it closes when both are gone.
  const gone = once(dev.stdout!, "close");
  dev.kill("SIGKILL");
  await gone;
});
