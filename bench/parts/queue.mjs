// The queue that benchmarks send to, and a worker of it whose handler does nothing.
import { queue, worker } from "../../lib/dist/index.js";

const any = { "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value }) } };
const deadLetter = { after: 5, owner: "bench", runbook: "bench/README.md", retention: "14d" };

export const makeQueue = (name) => queue(name, { message: any, deadLetter });

export const makeWorker = (of, handle) => worker(of, { idempotencyKey: "none", timeout: "60s", handle });

export const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };
