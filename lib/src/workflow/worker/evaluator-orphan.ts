// Ends the evaluating process once its parent has gone, whatever it is doing.
import { workerData } from "node:worker_threads";

const lookMs = 1000;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookMs);
