// A process that keeps what it should let go, until it says so or its memory is full; or one that lets go of it. It runs
// the built code, as in production.
import { subscribe } from "node:diagnostics_channel";
import { makeLog } from "../../../../dist/index.js";
import { watchMemory } from "../../../../dist/engine/process/memory/watch.js";

const leaks = process.argv[2] === "leaks";
const kept = [];
let told = false;
subscribe("tuntas.process.memory_growing", ({ memory }) => (told ||= memory === "heap"));
watchMemory({ log: makeLog(), windowMs: 400 });
// By the time and not by the turn: on a busy machine turns are few, and what it keeps in a window is to be the same.
const perMs = 40;
for (let n = 0, last = performance.now(); !told && (leaks || last < 8000); n++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  const elapsedMs = Math.min(400, performance.now() - last);
  last = performance.now();
  const made = Array.from({ length: elapsedMs * perMs }, (_, index) => ({
    n,
    index,
    text: `order ${n} ${index}`,
  }));
  if (leaks) kept.push(made);
  if (n % 5 === 0) globalThis.gc();
}
