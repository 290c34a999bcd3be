// Tuntas's gateway for the peers' harness: `tuntas serve` as it is, on the harness's PostgreSQL. The client of scenario
// `sqs` is the harness's own, so it is taken from there: TUNTAS_BENCH_HARNESS, else where the harness was started.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const bin = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const harness = process.env.TUNTAS_BENCH_HARNESS ?? process.cwd();

/** Resolves with the document that `tuntas serve --json` prints once it listens. */
function listening(child) {
  return new Promise((done, failed) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      try {
        done(JSON.parse(text));
      } catch {
        // Not all of it is there yet.
      }
    });
    child.once("exit", (code) => failed(new Error(`tuntas serve ended with ${code}: ${text}`)));
  });
}

const exited = (child) =>
  child.exitCode === null && child.signalCode === null
    ? new Promise((done) => child.once("exit", done))
    : undefined;

export default {
  name: "tuntas-sqs",
  needs: "pg",
  durability: "synchronous_commit=on",
  variants: { default: {} },
  start: (env) =>
    spawn(process.execPath, [bin, "serve", "--json"], { env, stdio: ["ignore", "pipe", "inherit"] }),
  async setup(ctx) {
    const env = { ...process.env, NODE_ENV: "production", DATABASE_URL: ctx.url, TUNTAS_PORT: "0" };
    ctx.server = this.start(env);
    const { url } = await listening(ctx.server);
    ctx.svc = { info: { url }, pid: ctx.server.pid };
  },
  async run(ctx, options) {
    const client = pathToFileURL(resolve(harness, "lib/sqs.mjs"));
    return (await import(client.href)).run(ctx, options);
  },
  async teardown(ctx) {
    ctx.server?.kill("SIGTERM");
    await exited(ctx.server);
  },
};
